/* The logs of a dataset that lie in the directory of logs. One process of each node lists
 * it, and tells the others of its node; so a directory that all nodes see is read once by
 * each of them. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "burst.h"

static int make_room_for_logs(struct burst_found *f)
{
    void *grown =
        base_grow(f->logs, &f->capacity, f->n + 1, sizeof(struct burst_reader *));
    if (grown != NULL) f->logs = grown;
    return grown == NULL ? NC_ENOMEM : NC_NOERR;
}

static void tell_left(const struct burst *b, const char *path, const char *why)
{
    char line[PATH_MAX + 100];
    snprintf(line, sizeof line, "left alone: %s, %s", path, why);
    trace_stats_tell(b->base.ds, line);
}

/* What another user has put here is nobody's business, unless that is who has the
 * dataset: then values may be missing from it that only he can bring there. */
static int pass_by(const struct burst *b, const char *path, int64_t user)
{
    if (b->file.fd >= 0 && user != (int64_t)geteuid() && user == burst_file_owner(b))
        return base_error_set(NC_EBADLOG,
                              "log %s is that of user %lld, whose dataset this is, and "
                              "who has to recover it",
                              path, (long long)user);
    tell_left(b, path, "which is no file of this user's");
    return NC_NOERR;
}

/* Another opening, or ncmpilog, works on it: `err` has words that say which. A process
 * that replays a log notes in its head how far it is. (When the log was written to tells
 * nothing: some mounts move that time when it is opened for writing, see base_fs.h.) */
static void note_contested(struct burst_found *f, const char *path, int err)
{
    enum { HEAD = 65536 };
    f->contested++;
    snprintf(f->words, sizeof f->words, "%s", base_error_detail(err));
    unsigned char *head = base_malloc(HEAD);
    int fd = base_open_own(path, O_RDONLY | O_NOFOLLOW);
    int64_t n = head != NULL && fd >= 0 ? base_read_some(fd, 0, head, HEAD) : 0;
    if (n > 0) f->progress = base_hash(head, (size_t)n, f->progress);
    if (fd >= 0) (void)close(fd);
    base_free(head);
}

static int add_found_log(const struct burst *b, struct burst_found *f, const char *path)
{
    enum burst_busy busy = BURST_FREE;
    int64_t user = 0;
    int err = make_room_for_logs(f);
    if (err != NC_NOERR) return err;
    switch (burst_whose(path, &user)) {
    case BURST_NOBODYS:
        return NC_NOERR; /* gone */
    case BURST_OTHERS:
        return pass_by(b, path, user);
    case BURST_OURS:
        break;
    }
    err = burst_reader_open(path, BURST_READ_LOCK, &f->logs[f->n], &busy);
    if (busy == BURST_READ) note_contested(f, path, err);
    if (busy == BURST_UNSEEN) return err;
    if (busy != BURST_FREE || err == NC_ENOENT) return NC_NOERR;
    if (err == NC_NOERR) f->n++;
    return err;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* The rank in a log's name, behind the token. */
static long rank_in(const char *name, const char *prefix)
{
    const char *dot = strchr(name + strlen(prefix), '.');
    long rank = dot == NULL ? 0 : strtol(dot + 1, NULL, 10);
    return rank < 0 ? 0 : rank; /* it is none of ours */
}

/* ---- listing: the first process of a node reads the directory ---- */

/* A part of the dataset's logs: their names, each with its NUL, one after the other. Of
 * fixed size, whatever the number of logs and of processes. */
struct page {
    int used;
    bool more; /* there may be another one */
    char names[8160];
};

struct listing {
    DIR *dir; /* NULL: it is another process that reads it, or there is none */
    bool meta;
    char prefix[256];
    char held[NAME_MAX + 1]; /* a name that the last page had no room for; "": none */
};

static struct listing start_listing(const struct burst *b, bool meta)
{
    struct listing l = {.meta = meta};
    burst_log_prefix(b, l.prefix, sizeof l.prefix);
    if (b->node->rank == 0) l.dir = opendir(b->dir); /* no directory, no logs */
    return l;
}

/* The next name of those that are asked for; NULL: there is none. */
static const char *next_name(const struct listing *l)
{
    struct dirent *entry;
    while (l->dir != NULL && (entry = readdir(l->dir)) != NULL)
        if (strncmp(entry->d_name, l->prefix, strlen(l->prefix)) == 0 &&
            has_ending(entry->d_name, ".meta") == l->meta)
            return entry->d_name;
    return NULL;
}

static void fill_page(struct listing *l, struct page *p)
{
    const char *name = l->held[0] == '\0' ? next_name(l) : l->held;
    for (p->used = 0; name != NULL; name = next_name(l)) {
        size_t length = strlen(name) + 1;
        if ((size_t)p->used + length > sizeof p->names) break;
        memcpy(p->names + p->used, name, length);
        p->used += (int)length;
    }
    p->more = name != NULL;
    snprintf(l->held, sizeof l->held, "%s", name == NULL ? "" : name);
}

static void end_listing(struct listing *l)
{
    if (l->dir != NULL) closedir(l->dir);
}

/* Which directory that is, where other nodes know it by the same number; 0: they may not.
 */
static int64_t number_of_entries(DIR *dir)
{
    struct stat st;
    int fd = dir == NULL ? -1 : dirfd(dir);
    return fd >= 0 && base_fs_shared(fd) && fstat(fd, &st) == 0 ? (int64_t)st.st_ino : 0;
}

typedef int each_fn(const struct burst *b, struct burst_found *f, const char *path,
                    long rank);

/* Calls each(path, rank in its name) for all of a page; the first error. */
static int for_each_of(const struct burst *b, const struct listing *l,
                       const struct page *p, struct burst_found *f, each_fn *each)
{
    char path[PATH_MAX];
    int first = NC_NOERR;
    for (const char *name = p->names; name < p->names + p->used;
         name += strlen(name) + 1) {
        snprintf(path, sizeof path, "%s/%.*s", b->dir, NAME_MAX, name);
        int err = each(b, f, path, rank_in(name, l->prefix));
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* For the dataset's metadata logs that a node sees, on each of its processes. */
static int for_each_log_all(const struct burst *b, struct burst_found *f, each_fn *each)
{
    struct listing l = start_listing(b, true);
    struct page p = {.more = true};
    int first = NC_NOERR;
    f->directory = number_of_entries(l.dir);
    while (p.more) {
        fill_page(&l, &p);
        int mpi = MPI_Bcast(&p, sizeof p, MPI_BYTE, 0, b->node->comm);
        if (mpi != MPI_SUCCESS) p.used = p.more = 0;
        int err = mpi != MPI_SUCCESS ? base_mpi_error(mpi, NC_EMPI, "MPI_Bcast")
                                     : for_each_of(b, &l, &p, f, each);
        if (first == NC_NOERR) first = err;
    }
    end_listing(&l);
    return first;
}

/* For them, or for the other files of the dataset's logs, on the first process of a node
 * alone. */
static void for_each_file(const struct burst *b, bool meta, each_fn *each)
{
    struct listing l = start_listing(b, meta);
    struct page p = {.more = l.dir != NULL};
    while (p.more) {
        fill_page(&l, &p);
        for_each_of(b, &l, &p, NULL, each);
    }
    end_listing(&l);
}

/* ---- taking ---- */

/* What a killed program has left over can go, but for values without their entries. */
static int sweep_directory(const struct burst *b, struct burst_found *f, const char *path,
                           long rank)
{
    int64_t user;
    (void)f, (void)rank;
    if (burst_whose(path, &user) == BURST_OURS &&
        burst_left(path, true) == BURST_LEFT_VALUES)
        tell_left(b, path, "whose metadata log is gone");
    return NC_NOERR;
}

static bool is_mine(const struct burst *b, long rank)
{
    return rank % b->base.ds->nprocs == b->base.ds->rank;
}

static int take_mine(const struct burst *b, struct burst_found *f, const char *path,
                     long rank)
{
    return is_mine(b, rank) ? add_found_log(b, f, path) : NC_NOERR;
}

/* This process's share of what the node sees. */
static int take_any(const struct burst *b, struct burst_found *f, const char *path,
                    long rank)
{
    bool share = rank % b->node->nprocs == b->node->rank;
    return share && !is_mine(b, rank) ? add_found_log(b, f, path) : NC_NOERR;
}

void burst_let_go(struct burst_found *f)
{
    for (int i = 0; i < f->n; i++)
        burst_reader_close(f->logs[i]);
    base_free(f->logs);
    f->logs = NULL;
    f->n = 0;
    f->capacity = 0;
}

/* As the file has it now: who recovered it may just have made it longer; and who
 * redefines it beside this reader has a mark there. */
static int64_t records_in_file(const struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    unsigned char field[8], head[4 + sizeof field];
    int width = cdf_encode_numrecs(ds->header.format, 0, field);
    if (ds->rank != 0 || ds->netcdf4 || b->file.fd < 0 ||
        base_read_at(b->file.fd, ds->base, head, 4 + width, b->path) != NC_NOERR ||
        cdf_is_moving(head, sizeof head))
        return 0;
    int64_t n = cdf_decode_numrecs(ds->header.format, head);
    return n > 0 ? n : 0;
}

/* What processes agree on, the maximum of each: are there several nodes, and which
 * directory does each have? */
enum { CONTESTED, APART, DIRECTORY, OPPOSITE, NFOUND };

static void tell_found(const struct burst *b, const struct burst_found *f, int64_t *all)
{
    bool first = b->node->rank == 0;
    all[CONTESTED] = f->contested;
    all[APART] = b->node->nprocs < b->base.ds->nprocs;
    all[DIRECTORY] = first ? f->directory : INT64_MIN;
    all[OPPOSITE] = first ? -f->directory : INT64_MIN;
}

/* May there be a log that the process it belongs to does not see? Not on one node, nor
 * where all nodes have the same directory. */
static bool may_miss(const int64_t *all)
{
    bool same = all[DIRECTORY] != 0 && all[DIRECTORY] == -all[OPPOSITE];
    return all[APART] && !same;
}

/* Each process takes those logs that are its own by their numbers. Those that no such
 * process sees, if that may be, the processes of a node share that does (what is locked
 * then, is so by the others of this opening). None, where another opening has one. */
static int take_logs_all(struct burst *b, struct burst_found *f)
{
    struct dataset *ds = b->base.ds;
    int64_t all[NFOUND];
    *f = (struct burst_found){0};
    int err = for_each_log_all(b, f, take_mine);
    tell_found(b, f, all);
    err = dataset_agree_all(ds, err, NULL, all, NFOUND);
    if (err == NC_NOERR && all[CONTESTED] == 0 && may_miss(all))
        err = for_each_log_all(b, f, take_any);
    f->contested = all[CONTESTED];
    int64_t records = records_in_file(b);
    err = dataset_agree_all(ds, err, NULL, &records, 1);
    if (records > ds->header.numrecs && ds->header.nrecord_vars > 0)
        ds->header.numrecs = records;
    return err;
}

/* How a process waits for others that recover the dataset. */
struct vigil {
    unsigned seed;
    int64_t longest;   /* milliseconds of the next pause at most */
    uint64_t progress; /* of the logs that are contested here, as they were last */
    double since;      /* process 0: when something had gone on last */
};

/* All wait a moment. *over: nothing has gone on for as long as the hint allows. */
static int wait_all(const struct burst *b, const struct burst_found *f, struct vigil *v,
                    bool *over)
{
    enum { LONGEST = 1000 };
    const struct dataset *ds = b->base.ds;
    bool first = ds->rank == 0;
    bool patient = MPI_Wtime() - v->since < (double)ds->hints.redef_wait;
    int64_t all[] = {first ? 1 + rand_r(&v->seed) % v->longest : 0,
                     f->progress != v->progress, first && !patient};
    v->progress = f->progress;
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, all, 3);
    *over = all[2] && !all[1];
    if (err != NC_NOERR || *over) return err;
    if (all[1]) v->since = MPI_Wtime();
    const struct timespec pause = {all[0] / 1000, all[0] % 1000 * 1000000};
    nanosleep(&pause, NULL);
    v->longest = v->longest * 2 < LONGEST ? v->longest * 2 : LONGEST;
    return NC_NOERR;
}

/* The one that has a log contested, or several, say who is at it; the others hear it from
 * them (burst_share_words_all). */
static int give_search_up(const struct burst *b, const struct burst_found *f)
{
    if (f->words[0] == '\0') return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s, and nothing has gone on there for %lld seconds (hint "
                          "nc_redef_wait_seconds)",
                          f->words, (long long)b->base.ds->hints.redef_wait);
}

/* Another opening that recovers the dataset has its logs locked, as long as it lives: it
 * is waited for, until it has removed them or is dead, or stands still for too long.
 * Nobody waits with a lock, and two openings do not try again at the same times, so that
 * none keeps the other from all. */
int burst_find_all(struct burst *b, struct burst_found *f)
{
    struct vigil v = {.seed = (unsigned)b->base.ds->rank + (unsigned)getpid(),
                      .longest = 5,
                      .since = MPI_Wtime()};
    bool over = false;
    int err;
    for_each_file(b, false, sweep_directory);
    while ((err = take_logs_all(b, f)) == NC_NOERR && f->contested > 0) {
        burst_let_go(f);
        err = wait_all(b, f, &v, &over);
        if (err != NC_NOERR) return err;
        if (over) return give_search_up(b, f);
    }
    return err;
}

static int discard(const struct burst *b, struct burst_found *f, const char *path,
                   long rank)
{
    enum burst_busy busy;
    struct burst_reader *r;
    int64_t user;
    (void)b, (void)f, (void)rank;
    if (burst_whose(path, &user) != BURST_OURS) return NC_NOERR;
    burst_reader_open(path, BURST_READ_LOCK, &r, &busy);
    if (busy == BURST_FREE) burst_remove(path, true);
    burst_reader_close(r);
    return NC_NOERR;
}

void burst_discard(struct burst *b)
{
    for_each_file(b, true, discard);
    for_each_file(b, false, sweep_directory);
}
