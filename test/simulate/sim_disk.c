/* Simulates the file system's servers. A write stores its data in the servers' memory,
 * where all nodes can read it. A sync writes the data to disk. For each file, this module
 * stores the current bytes, the bytes on disk, and a list of the writes that are not on
 * disk yet. It does the same for file names. A power failure preserves an arbitrary
 * subset of the pending writes. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static struct sim_file *files;
static int64_t inodes = 100;

struct name {
    char *path;
    struct sim_file *file; /* the file that has the name; NULL if the name was removed */
    bool joined;           /* whether it must reach the disk together with the next
                            * change */
};
static struct names {
    struct name *at;
    int n, room;
} now;
/* Name changes that are not on disk yet, in order; names that are on disk. */
static struct names pending, safe;
static int cuts; /* number of power failures */

static void *grown(void *array, size_t bytes)
{
    void *more = realloc(array, bytes);
    if (more == NULL) sim_fail(SIM_BROKEN, "no memory for the simulation");
    return more;
}

/* ---- bytes ---- */

static void set_size(struct sim_bytes *b, int64_t size)
{
    if (size > b->room) {
        b->room = 2 * size;
        b->at = grown(b->at, (size_t)b->room);
    }
    if (size > b->size) memset(b->at + b->size, 0, (size_t)(size - b->size));
    b->size = size;
}

static void apply(struct sim_bytes *b, const struct sim_write *w, int64_t n)
{
    if (w->page < 0) {
        set_size(b, w->at);
        return;
    }
    if (w->at + n > b->size) set_size(b, w->at + n);
    memcpy(b->at + w->at, w->bytes, (size_t)n);
}

void sim_writes_drop(struct sim_write **first, struct sim_write ***last)
{
    while (*first != NULL) {
        struct sim_write *w = *first;
        *first = w->next;
        free(w->bytes);
        free(w);
    }
    *last = first;
}

/* ---- files ---- */

struct sim_file *sim_file_new(unsigned mode)
{
    struct sim_file *f = grown(NULL, sizeof *f);
    *f = (struct sim_file){.inode = inodes++, .mode = mode, .next = files};
    f->last = &f->pending;
    f->modified = f->changed = sim_clock();
    return files = f;
}

static void add(struct sim_file *f, int64_t page, int64_t at, const void *bytes,
                int64_t n)
{
    struct sim_write *w = grown(NULL, sizeof *w);
    *w = (struct sim_write){.page = page, .at = at, .n = n};
    if (n > 0) memcpy(w->bytes = grown(NULL, (size_t)n), bytes, (size_t)n);
    *f->last = w;
    f->last = &w->next;
    apply(&f->now, w, n);
    f->modified = f->changed = sim_clock();
    f->version++;
}

int64_t sim_file_read(const struct sim_file *f, int64_t at, void *bytes, int64_t n)
{
    if (at >= f->now.size) return 0;
    if (n > f->now.size - at) n = f->now.size - at;
    memcpy(bytes, f->now.at + at, (size_t)n);
    return n;
}

/* Splits a write into pages. Each page reaches the disk atomically and independently of
 * the others. */
void sim_file_write(struct sim_file *f, int64_t at, const void *bytes, int64_t n)
{
    const unsigned char *from = bytes;
    for (int64_t end = at + n, next; at < end; from += next - at, at = next) {
        next = (at / SIM_PAGE + 1) * SIM_PAGE;
        if (next > end) next = end;
        add(f, at / SIM_PAGE, at, from, next - at);
    }
}

void sim_file_resize(struct sim_file *f, int64_t size)
{
    add(f, -1, size, NULL, 0);
}

void sim_file_sync(struct sim_file *f)
{
    sim_file_sync_range(f, 0, INT64_MAX);
}

/* Flushes to disk, in order, all pending writes that overlap a range, and all pending
 * changes to the file's size. */
void sim_file_sync_range(struct sim_file *f, int64_t from, int64_t to)
{
    struct sim_write **p = &f->pending;
    while (*p != NULL) {
        struct sim_write *w = *p;
        if (w->page >= 0 && (w->at >= to || w->at + w->n <= from)) {
            p = &w->next;
            continue;
        }
        apply(&f->safe, w, w->n);
        *p = w->next;
        free(w->bytes);
        free(w);
    }
    f->last = p;
}

/* ---- names ---- */

static void append(struct names *names, const char *path, struct sim_file *f, bool joined)
{
    if (names->n == names->room) {
        names->room = 2 * names->room + 8;
        names->at = grown(names->at, (size_t)names->room * sizeof *names->at);
    }
    char *copy = grown(NULL, strlen(path) + 1);
    names->at[names->n++] = (struct name){strcpy(copy, path), f, joined};
}

static void set_name(struct names *names, const char *path, struct sim_file *f)
{
    int i = 0;
    while (i < names->n && strcmp(names->at[i].path, path) != 0)
        i++;
    if (i < names->n)
        names->at[i].file = f;
    else
        append(names, path, f, false);
}

struct sim_file *sim_name_find(const char *path)
{
    for (int i = 0; i < now.n; i++)
        if (strcmp(now.at[i].path, path) == 0) return now.at[i].file;
    return NULL;
}

const char *sim_name(int i)
{
    for (int k = 0; k < now.n; k++)
        if (now.at[k].file != NULL && i-- == 0) return now.at[k].path;
    return NULL;
}

static void change_name(const char *path, struct sim_file *f, bool joined)
{
    struct sim_file *old = sim_name_find(path);
    if (f != NULL) f->links++;
    if (old != NULL) old->links--;
    set_name(&now, path, f);
    append(&pending, path, f, joined); /* even if another change to the name is pending */
}

void sim_name_set(const char *path, struct sim_file *f)
{
    change_name(path, f, false);
}

void sim_name_move(const char *from, const char *to)
{
    change_name(to, sim_name_find(from), true);
    change_name(from, NULL, false);
}

/* Flushes the first `n` pending name changes to disk, and one more if the n-th is the
 * first half of a rename. Discards the rest. */
static void keep_names(int n)
{
    if (n > 0 && pending.at[n - 1].joined) n++;
    for (int i = 0; i < pending.n; i++) {
        if (i < n) set_name(&safe, pending.at[i].path, pending.at[i].file);
        free(pending.at[i].path);
    }
    pending.n = 0;
}

void sim_names_sync(void)
{
    keep_names(pending.n);
}

/* ---- power failures ---- */

/* Decides whether a pending write survives. For each page and for the file size, either
 * all pending writes survive, or none, or those up to a random one. */
static bool survives(const struct sim_write *w, uint64_t cut, int64_t all, int64_t i)
{
    uint64_t chance = cut ^ (uint64_t)(w->page + 1) * 0x9E3779B97F4A7C15u;
    uint64_t kind = sim_draw(&chance, 4);
    if (kind < 2) return kind == 0;
    return i < (int64_t)sim_draw(&chance, (uint64_t)all + 1);
}

static void cut_file(struct sim_file *f, uint64_t *chance)
{
    const uint64_t cut = sim_draw(chance, UINT64_MAX);
    int64_t all = 0, i = 0;
    for (const struct sim_write *w = f->pending; w != NULL; w = w->next)
        all++;
    for (const struct sim_write *w = f->pending; w != NULL; w = w->next)
        if (survives(w, cut, all, i++)) apply(&f->safe, w, w->n);
    sim_writes_drop(&f->pending, &f->last);
    set_size(&f->now, f->safe.size);
    if (f->safe.size > 0) memcpy(f->now.at, f->safe.at, (size_t)f->safe.size);
}

int sim_boots(void)
{
    return cuts;
}

void sim_power_cut(uint64_t *chance)
{
    cuts++;
    for (struct sim_file *f = files; f != NULL; f = f->next) {
        cut_file(f, chance);
        f->links = 0;
        f->locks = NULL;
    }
    keep_names((int)sim_draw(chance, (uint64_t)pending.n + 1));
    now.n = 0;
    for (int i = 0; i < safe.n; i++) {
        set_name(&now, safe.at[i].path, safe.at[i].file);
        if (safe.at[i].file != NULL) safe.at[i].file->links++;
    }
}
