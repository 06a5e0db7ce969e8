/* Simulates the caches of the nodes. The plan's mount determines what a node caches:
 *
 *     SIM_COHERENT  nothing: each call accesses the servers (sim_disk.c)
 *     SIM_THROUGH   FUSE: pages, sizes and names; writes go to the servers immediately
 *     SIM_BACK      FUSE with a write-back cache: whole pages are written later, and the
 *                   node trusts the file size that it has cached
 *     SIM_MOOSE     FUSE whose client caches writes until a sync or a close
 *     SIM_GLUSTER   like SIM_MOOSE, but the client also caches the data that it reads,
 *                   and the file size, for one second
 *     SIM_CEPH      FUSE whose client is coherent; only pages are cached
 *     SIM_NFS       close-to-open: pages and sizes are revalidated at an open, at a lock
 *                   and after three seconds; writes are cached until a sync, a close or
 *                   an unlock
 *
 * FUSE behaves as in Linux (fs/fuse/file.c, dir.c): O_DIRECT bypasses the kernel's page
 * cache, but not the client's cache below it. At random times a node writes back or
 * evicts something earlier than it has to. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { FUSE = 0x65735546, NFS = 0x6969, GPFS = 0x47504653 };

static const struct kind {
    const char *name;
    uint32_t type;
    double attributes, names; /* lifetimes of cached attributes and names, in seconds */
    bool pages_stay;          /* whether cached pages survive an open */
    bool back, late,
        reads; /* kernel delays writes; client delays writes; client caches reads */
} kinds[SIM_MOUNTS] = {
    [SIM_COHERENT] = {"gpfs", GPFS, 0, 0, false, false, false, false},
    [SIM_THROUGH] = {"fuse.through", FUSE, 5, 5, true, false, false, false},
    [SIM_BACK] = {"fuse.back", FUSE, 1, 1, false, true, false, false},
    [SIM_MOOSE] = {"fuse.mfs", FUSE, 1, 1, false, false, true, false},
    [SIM_GLUSTER] = {"fuse.glusterfs", FUSE, 1, 1, false, false, true, true},
    [SIM_CEPH] = {"fuse.ceph-fuse", FUSE, 0, 0, true, false, false, false},
    [SIM_NFS] = {"nfs4", NFS, 3, 0, false, false, true, false},
};

struct page {
    int64_t number, n; /* page number; bytes of the page before the end of the file */
    double until;
    bool dirty;
    unsigned char bytes[SIM_PAGE];
    struct page *next;
};

/* A node's cache for one file. */
struct kept {
    int node, opens;
    struct sim_file *file;
    struct page *pages;               /* the kernel's page cache */
    int64_t size, version;            /* file size and version cached by the kernel */
    double modified, changed, until;  /* cached times; their expiry time, 0 if stale */
    bool known;                       /* whether the kernel has cached attributes */
    struct page *images;              /* pages in the client's read cache */
    int64_t client_size;              /* file size cached by the client */
    double client_until;              /* expiry time of that size */
    struct sim_write *writes, **last; /* cached writes, oldest first */
    struct kept *next;
};
static struct kept *all;

struct name {
    int node;
    char path[256];
    struct sim_file *file;
    double until;
    struct name *next;
};
static struct name *names;

static int failures[SIM_PROCESSES]; /* how often each node has failed; part of its boot
                                     * id */

static const struct kind *kind(void)
{
    return &kinds[sim_the_plan()->mount];
}

const char *sim_mount_name(enum sim_mount mount)
{
    return kinds[mount].name;
}

int64_t sim_mount_type(void)
{
    return kind()->type;
}

bool sim_mount_loses(enum sim_mount mount)
{
    return kinds[mount].late || kinds[mount].back;
}

static bool by_fuse(void)
{
    return kind()->type == FUSE;
}

/* Returns true with probability 1/n. */
static bool chance(uint64_t n)
{
    static uint64_t state;
    if (state == 0) state = sim_the_plan()->seed * 17 + 3;
    return sim_draw(&state, n) == 0;
}

static void drop_pages(struct page **p, int64_t from, int64_t to)
{
    while (*p != NULL) {
        struct page *old = *p;
        if (old->number * SIM_PAGE >= to || (old->number + 1) * SIM_PAGE <= from) {
            p = &old->next;
            continue;
        }
        *p = old->next;
        free(old);
    }
}

static struct page *page_in(struct page *p, int64_t number)
{
    while (p != NULL && p->number != number)
        p = p->next;
    return p;
}

static struct page *add_page(struct page **list, int64_t number)
{
    struct page *p = sim_room(sizeof *p);
    p->number = number;
    p->next = *list;
    return *list = p;
}

/* Reduces n so that the range [at, at + n) does not extend beyond the page that
 * contains `at`. */
static int64_t piece(int64_t at, int64_t n)
{
    int64_t rest = SIM_PAGE - at % SIM_PAGE;
    return n < rest ? n : rest;
}

/* ---- the client ---- */

/* Applies cached writes to the *got bytes that were read from the servers, and extends
 * *got if a cached write ends beyond them. */
static void overlay(const struct kept *k, int64_t at, unsigned char *bytes, int64_t n,
                    int64_t *got)
{
    for (const struct sim_write *w = k->writes; w != NULL; w = w->next) {
        int64_t from = w->at > at ? w->at : at;
        int64_t to = w->at + w->n < at + n ? w->at + w->n : at + n;
        if (from >= to) continue;
        if (from - at > *got) memset(bytes + *got, 0, (size_t)(from - at - *got));
        memcpy(bytes + from - at, w->bytes + from - w->at, (size_t)(to - from));
        if (to - at > *got) *got = to - at;
    }
}

/* Reads bytes from one page through the client's cache, in which a page is valid for one
 * second. */
static int64_t read_image(struct kept *k, int64_t at, void *bytes, int64_t n)
{
    struct page *p = page_in(k->images, at / SIM_PAGE);
    if (p == NULL) p = add_page(&k->images, at / SIM_PAGE);
    if (p->until <= sim_clock()) {
        p->n = sim_file_read(k->file, p->number * SIM_PAGE, p->bytes, SIM_PAGE);
        p->until = sim_clock() + 1;
    }
    int64_t there = p->n - at % SIM_PAGE;
    if (there <= 0) return 0;
    if (n > there) n = there;
    memcpy(bytes, p->bytes + at % SIM_PAGE, (size_t)n);
    return n;
}

/* Returns the largest end offset of the cached writes, or `end` if that is larger. */
static int64_t written_end(const struct kept *k, int64_t end)
{
    for (const struct sim_write *w = k->writes; w != NULL; w = w->next)
        if (w->at + w->n > end) end = w->at + w->n;
    return end;
}

static int64_t client_size(struct kept *k)
{
    if (!kind()->reads || sim_clock() >= k->client_until) {
        k->client_size = k->file->now.size;
        k->client_until = sim_clock() + 1;
    }
    return written_end(k, k->client_size);
}

static int64_t client_read(struct kept *k, int64_t at, void *bytes, int64_t n)
{
    const int64_t end = client_size(k), kept = written_end(k, 0);
    int64_t done = 0;
    if (n > end - at) n = end - at;
    while (done < n) {
        int64_t most = piece(at + done, n - done);
        unsigned char *to = (unsigned char *)bytes + done;
        int64_t got = kind()->reads ? read_image(k, at + done, to, most)
                                    : sim_file_read(k->file, at + done, to, most);
        overlay(k, at + done, to, most, &got);
        if (got < most && kept < at + done + most) return done + got; /* end of file */
        memset(to + got, 0, (size_t)(most - got));
        done += most;
    }
    return done;
}

/* Sends one cached write to the servers. */
static void send(struct kept *k, const struct sim_write *w)
{
    struct page *p = page_in(k->images, w->page);
    sim_file_write(k->file, w->at, w->bytes, w->n);
    if (p == NULL) return;
    int64_t at = w->at % SIM_PAGE;
    if (at > p->n) memset(p->bytes + p->n, 0, (size_t)(at - p->n));
    memcpy(p->bytes + at, w->bytes, (size_t)w->n);
    if (at + w->n > p->n) p->n = at + w->n;
}

/* Sends a page's cached writes to the servers, or all cached writes if `page` is -1. */
static void send_page(struct kept *k, int64_t page)
{
    struct sim_write **p = &k->writes;
    while (*p != NULL) {
        struct sim_write *w = *p;
        if (page >= 0 && w->page != page) {
            p = &w->next;
            continue;
        }
        send(k, w);
        *p = w->next;
        free(w->bytes);
        free(w);
    }
    k->last = p;
}

static void client_forget(struct kept *k)
{
    drop_pages(&k->images, 0, INT64_MAX);
    k->client_until = 0;
}

static void client_settle(struct kept *k)
{
    send_page(k, -1);
    client_forget(k);
}

static void client_write(struct kept *k, int64_t at, const void *bytes, int64_t n)
{
    if (!kind()->late) {
        sim_file_write(k->file, at, bytes, n);
        return;
    }
    for (int64_t done = 0, most; done < n; done += most) {
        most = piece(at + done, n - done);
        struct sim_write *w = sim_room(sizeof *w);
        *w = (struct sim_write){
            .page = (at + done) / SIM_PAGE, .at = at + done, .n = most};
        w->bytes = sim_room((size_t)most);
        memcpy(w->bytes, (const char *)bytes + done, (size_t)most);
        *k->last = w;
        k->last = &w->next;
    }
}

/* ---- the kernel's page cache ---- */

/* Writes back an entire dirty page, up to the end of the file. This overwrites any data
 * that other nodes have written to the page. */
static void write_back(struct kept *k, struct page *p)
{
    int64_t at = p->number * SIM_PAGE;
    int64_t n = k->size - at < SIM_PAGE ? k->size - at : SIM_PAGE;
    if (p->dirty && n > 0) client_write(k, at, p->bytes, n);
    p->dirty = false;
}

static void write_all_back(struct kept *k)
{
    for (struct page *p = k->pages; p != NULL; p = p->next)
        write_back(k, p);
}

static void forget_pages(struct kept *k, int64_t from, int64_t to)
{
    write_all_back(k);
    drop_pages(&k->pages, from, to);
}

/* Sends all dirty data to the servers. */
static void flush(struct kept *k)
{
    write_all_back(k);
    client_settle(k);
}

/* At random, writes back or evicts a page, as a node may do at any time. */
static void go_on(struct kept *k)
{
    if (k->writes != NULL && chance(8)) send_page(k, k->writes->page);
    if (k->pages != NULL && chance(16))
        forget_pages(k, k->pages->number * SIM_PAGE, (k->pages->number + 1) * SIM_PAGE);
}

static struct kept *kept_on(int node, struct sim_file *f)
{
    struct kept *k = all;
    while (k != NULL && (k->node != node || k->file != f))
        k = k->next;
    if (k == NULL) {
        k = sim_room(sizeof *k);
        *k = (struct kept){.node = node, .file = f, .next = all};
        k->last = &k->writes;
        all = k;
    }
    go_on(k);
    return k;
}

static struct kept *kept_of(struct sim_file *f)
{
    return kept_on(sim_self()->node, f);
}

/* Revalidates the cached size and times. Evicts the pages if the kernel notices a
 * change. */
static void ask(struct kept *k)
{
    int64_t size = client_size(k);
    const struct sim_file *f = k->file;
    k->until = sim_clock() + kind()->attributes;
    if (kind()->back && k->known) return;
    bool other = by_fuse() ? size != k->size : f->version != k->version;
    if (k->known && other) forget_pages(k, 0, INT64_MAX);
    k->known = true;
    k->size = size;
    k->version = f->version;
    k->modified = f->modified;
    k->changed = f->changed;
}

static void ask_if_due(struct kept *k)
{
    if (!k->known || sim_clock() >= k->until) ask(k);
}

/* Updates the cached attributes after a write. */
static void wrote(struct kept *k, int64_t end)
{
    if (end > k->size) k->size = end;
    if (kind()->back) k->modified = k->changed = sim_clock();
    if (by_fuse()) k->until = 0;
}

/* Returns a page, reading it first if necessary. If a read returns less data than the
 * cached file size implies, FUSE in the kernel concludes that the file has shrunk. */
static struct page *filled_page(struct kept *k, int64_t number)
{
    struct page *p = page_in(k->pages, number);
    if (p != NULL) return p;
    p = add_page(&k->pages, number);
    int64_t at = number * SIM_PAGE, n = client_read(k, at, p->bytes, SIM_PAGE);
    memset(p->bytes + n, 0, (size_t)(SIM_PAGE - n));
    if (by_fuse() && !kind()->back && n < SIM_PAGE && k->size > at + n) k->size = at + n;
    return p;
}

static int64_t read_pages(struct kept *k, int64_t at, void *bytes, int64_t n)
{
    int64_t done = 0;
    if (at + n > k->size || !by_fuse()) ask_if_due(k);
    while (done < n && at + done < k->size) {
        const struct page *p = filled_page(k, (at + done) / SIM_PAGE);
        int64_t most = piece(at + done, n - done), there = k->size - at - done;
        if (most > there) most = there;
        if (most <= 0) break;
        memcpy((char *)bytes + done, p->bytes + (at + done) % SIM_PAGE, (size_t)most);
        done += most;
    }
    return done;
}

static void write_pages(struct kept *k, int64_t at, const void *bytes, int64_t n)
{
    for (int64_t done = 0, most; done < n; done += most) {
        const char *from = (const char *)bytes + done;
        most = piece(at + done, n - done);
        struct page *p = kind()->back ? filled_page(k, (at + done) / SIM_PAGE)
                                      : page_in(k->pages, (at + done) / SIM_PAGE);
        if (p != NULL) memcpy(p->bytes + (at + done) % SIM_PAGE, from, (size_t)most);
        if (kind()->back) p->dirty = true;
        if (kind()->back && at + done + most > k->size) k->size = at + done + most;
    }
    if (!kind()->back) client_write(k, at, bytes, n);
}

/* ---- functions called by sim_system.c ---- */

int64_t sim_node_read(struct sim_file *f, bool direct, int64_t at, void *bytes, int64_t n)
{
    if (kind()->type == GPFS) return sim_file_read(f, at, bytes, n);
    struct kept *k = kept_of(f);
    if (!k->known) ask(k);
    if (!direct || !by_fuse()) return read_pages(k, at, bytes, n);
    if (at + n > k->size) ask_if_due(k);
    write_all_back(k);
    if (at >= k->size) return 0;
    int64_t done = client_read(k, at, bytes, n);
    if (done == n || at + done >= k->size) return done;
    return done + read_pages(k, at + done, (char *)bytes + done, n - done);
}

void sim_node_write(struct sim_file *f, bool direct, int64_t at, const void *bytes,
                    int64_t n)
{
    if (kind()->type == GPFS) {
        sim_file_write(f, at, bytes, n);
        return;
    }
    struct kept *k = kept_of(f);
    if (!k->known) ask(k);
    if (!direct || !by_fuse()) {
        write_pages(k, at, bytes, n);
    } else {
        forget_pages(k, at, at + n);
        client_write(k, at, bytes, n);
    }
    wrote(k, at + n);
}

/* If a direct write beyond the end of the file fails, the kernel truncates the file to
 * its cached size. */
void sim_node_write_failed(struct sim_file *f, bool direct, int64_t end)
{
    if (!by_fuse() || !direct) return;
    struct kept *k = kept_of(f);
    if (k->known && end > k->size) sim_node_resize(f, k->size);
}

void sim_node_resize(struct sim_file *f, int64_t size)
{
    if (kind()->type == GPFS) {
        sim_file_resize(f, size);
        return;
    }
    struct kept *k = kept_of(f);
    forget_pages(k, 0, INT64_MAX);
    client_settle(k);
    sim_file_resize(f, size);
    k->known = true;
    k->size = size;
    wrote(k, size);
}

/* Allocates space, and extends the file if it is shorter than `end`. Updates the file's
 * times. */
void sim_node_reserve(struct sim_file *f, int64_t end)
{
    if (kind()->type == GPFS) {
        if (end > f->now.size) sim_file_resize(f, end);
        return;
    }
    struct kept *k = kept_of(f);
    flush(k);
    f->modified = f->changed = sim_clock();
    if (end > f->now.size) sim_file_resize(f, end);
    if (!k->known) ask(k);
    wrote(k, end);
}

void sim_node_sync(struct sim_file *f, int64_t from, int64_t to)
{
    if (kind()->type != GPFS) flush(kept_of(f));
    sim_file_sync_range(f, from, to);
}

/* After a failed sync, may drop the node's cached writes, but only if the node has a
 * single open file description for the file. Processes with other descriptions would not
 * get the error, and could not learn of the loss. */
void sim_node_sync_failed(struct sim_file *f)
{
    if (!kind()->late || !chance(2)) return;
    struct kept *k = kept_of(f);
    if (k->writes == NULL || k->opens > 1) return;
    sim_lost_writes();
    sim_writes_drop(&k->writes, &k->last);
    client_forget(k);
    forget_pages(k, 0, INT64_MAX);
}

void sim_node_locked(struct sim_file *f)
{
    if (kind()->type != NFS) return;
    struct kept *k = kept_of(f);
    forget_pages(k, 0, INT64_MAX);
    ask(k);
}

void sim_node_unlocks(struct sim_file *f)
{
    if (kind()->type == NFS) flush(kept_of(f));
}

/* Called when a file is opened. If the node has no other open file description for the
 * file, it may have evicted the file's attributes. */
void sim_node_opened(struct sim_file *f)
{
    if (kind()->type == GPFS) return;
    struct kept *k = kept_of(f);
    if (k->opens++ == 0 && chance(2)) k->known = false;
    if (!by_fuse()) k->until = 0; /* close-to-open consistency */
    ask_if_due(k);
    if (by_fuse() && !kind()->pages_stay) forget_pages(k, 0, INT64_MAX);
}

void sim_node_closed(struct sim_file *f, int node, bool last)
{
    if (kind()->type == GPFS) return;
    struct kept *k = kept_on(node, f);
    flush(k);
    if (last) k->opens--;
}

void sim_node_asks(struct sim_file *f)
{
    if (kind()->type != GPFS) ask(kept_of(f));
}

bool sim_node_look(struct sim_file *f, struct sim_look *l)
{
    *l = (struct sim_look){f->now.size, f->modified, f->changed};
    if (kind()->type == GPFS) return true;
    struct kept *k = kept_of(f);
    bool due = !k->known || sim_clock() >= k->until;
    if (due && f->links == 0 && k->opens == 0) return false;
    ask_if_due(k);
    *l = (struct sim_look){written_end(k, k->size), k->modified, k->changed};
    return true;
}

/* ---- name cache ---- */

static struct name *name_of(const char *path)
{
    struct name *n = names;
    while (n != NULL && (n->node != sim_self()->node || strcmp(n->path, path) != 0))
        n = n->next;
    return n;
}

void sim_node_named(const char *path)
{
    if (kind()->names <= 0 || sim_self() == NULL) return;
    struct name *n = name_of(path);
    if (n == NULL) {
        n = sim_room(sizeof *n);
        n->node = sim_self()->node;
        strncpy(n->path, path, sizeof n->path - 1);
        n->next = names;
        names = n;
    }
    n->file = sim_name_find(path);
    n->until = n->file != NULL ? sim_clock() + kind()->names : 0;
}

struct sim_file *sim_node_find(const char *path)
{
    if (kind()->names <= 0 || sim_self() == NULL) return sim_name_find(path);
    const struct name *n = name_of(path);
    if (n != NULL && sim_clock() < n->until) return n->file;
    sim_node_named(path);
    return sim_name_find(path);
}

/* ---- failures ---- */

static void lose(struct kept *k)
{
    drop_pages(&k->pages, 0, INT64_MAX);
    drop_pages(&k->images, 0, INT64_MAX);
    sim_writes_drop(&k->writes, &k->last);
    k->until = k->client_until = 0;
    k->known = false;
}

int sim_failures(int node)
{
    return failures[node];
}

void sim_nodes_fail(int node)
{
    if (node >= 0 && sim_mount_loses(sim_the_plan()->mount)) failures[node]++;
    for (struct kept *k = all; k != NULL; k = k->next)
        if (node < 0 || k->node == node) lose(k);
    for (struct name *n = names; n != NULL; n = n->next)
        if (node < 0 || n->node == node) n->until = 0;
}
