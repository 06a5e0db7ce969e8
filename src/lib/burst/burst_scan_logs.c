/* Finds and locks the logs of a dataset, each on one process. The first process of each
 * node reads the directory and broadcasts the names to its node. Each process opens the
 * logs whose ranks map to it. If nodes may have different directories, a log may be
 * invisible to the process that it maps to, so the processes of each node then divide the
 * remaining logs among themselves. If another opening is replaying a log, all locks are
 * released, and the search is repeated until that opening ends. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "base_number.h"
#include "burst.h"

static void report_skipped(const struct burst *b, const char *path, const char *why)
{
    char line[PATH_MAX + 100];
    snprintf(line, sizeof line, "log skipped: %s, %s", path, why);
    trace_stats_add_line(b->base.ds, line);
}

/* Skips a file that belongs to another user. Fails if that user owns the dataset, because
 * the log may have values that only its owner can replay. */
static int skip_log(const struct burst *b, const char *path, int64_t user)
{
    if (b->file.handle.fd >= 0 && user != (int64_t)geteuid() &&
        user == burst_file_owner(&b->file))
        return base_error_set(
            NC_EBADLOG,
            "log %s belongs to user %lld, who owns this dataset and must replay the log",
            path, (long long)user);
    report_skipped(b, path, "which belongs to another user");
    return NC_NOERR;
}

/* Records that another opening, or ncmpilog, is replaying a log; the message of `err`
 * names that process. Its progress shows in the notes in the log's head. (The
 * modification time would not do: some mounts change it when the log is opened for
 * writing, see base_fs.h.) */
static void note_contested(struct burst_found *f, const char *path, int err)
{
    enum { HEAD = 65536 };
    f->contested++;
    snprintf(f->message, sizeof f->message, "%s", base_error_detail(err));
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
    void *grown =
        base_grow(f->logs, &f->capacity, f->n + 1, sizeof(struct burst_reader *));
    if (grown == NULL) return NC_ENOMEM;
    f->logs = grown;
    switch (burst_get_owner(path, &user)) {
    case BURST_NO_FILE:
        return NC_NOERR; /* it has been removed in the meantime */
    case BURST_FOREIGN:
        return skip_log(b, path, user);
    case BURST_OWN:
        break;
    }
    int err = burst_reader_open(path, BURST_READ_LOCK, &f->logs[f->n], &busy);
    if (busy == BURST_READ) note_contested(f, path, err);
    if (busy == BURST_UNSEEN) return err;
    if (busy != BURST_FREE || err == NC_ENOENT) return NC_NOERR;
    if (err == NC_NOERR) f->n++;
    return err;
}

/* Returns the rank in a log's name, which follows the token. */
static long rank_in(const char *name, const char *prefix)
{
    const char *dot = strchr(name + strlen(prefix), '.');
    long rank = dot == NULL ? 0 : strtol(dot + 1, NULL, 10);
    return rank < 0 ? 0 : rank; /* not one of our names */
}

/* ---- listing: the first process of a node reads the directory ---- */

/* Some names of the dataset's logs, each terminated by NUL. The size of a page does not
 * depend on the number of logs or processes. */
struct page {
    int used;
    bool more; /* another page may follow */
    char names[8160];
};

struct listing {
    DIR *dir; /* NULL except on a node's first process, and if there is no directory */
    bool meta;
    char prefix[256];
    char held[NAME_MAX +
              1]; /* a name that did not fit into the last page; empty if none */
};

static struct listing start_listing(const struct burst *b, bool meta)
{
    struct listing l = {.meta = meta};
    burst_file_log_prefix(&b->file, l.prefix, sizeof l.prefix);
    if (b->node->rank == 0) l.dir = opendir(b->file.dir); /* no directory, so no logs */
    return l;
}

/* Returns the next file name of the listed kind; NULL at the end. */
static const char *next_name(const struct listing *l)
{
    struct dirent *entry;
    while (l->dir != NULL && (entry = readdir(l->dir)) != NULL)
        if (strncmp(entry->d_name, l->prefix, strlen(l->prefix)) == 0 &&
            burst_has_ending(entry->d_name, ".meta") == l->meta)
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

/* Returns the directory's inode if other nodes see the same directory; otherwise 0. */
static int64_t shared_inode(DIR *dir)
{
    struct stat st;
    int fd = dir == NULL ? -1 : dirfd(dir);
    return fd >= 0 && base_fs_is_shared(fd) && fstat(fd, &st) == 0 ? (int64_t)st.st_ino
                                                                   : 0;
}

typedef int each_fn(const struct burst *b, struct burst_found *f, const char *path,
                    long rank);

/* Calls each(path, rank) for all names of a page. Returns the first error. */
static int for_each_of(const struct burst *b, const struct listing *l,
                       const struct page *p, struct burst_found *f, each_fn *each)
{
    char path[PATH_MAX];
    int first = NC_NOERR;
    for (const char *name = p->names; name < p->names + p->used;
         name += strlen(name) + 1) {
        snprintf(path, sizeof path, "%s/%.*s", b->file.dir, NAME_MAX, name);
        int err = each(b, f, path, rank_in(name, l->prefix));
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* On all processes of the node, calls `each` for the metadata logs that the node sees. */
static int for_each_log_all(const struct burst *b, struct burst_found *f, each_fn *each)
{
    struct listing l = start_listing(b, true);
    struct page p = {.more = true};
    int first = NC_NOERR;
    f->directory = shared_inode(l.dir);
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

/* On the node's first process only, calls `each` for the metadata logs or, if not `meta`,
 * for the other files of the dataset's logs. */
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

/* ---- opening ---- */

/* Removes what a killed program left, except values whose metadata log is missing. */
static int remove_leftovers(const struct burst *b, struct burst_found *f,
                            const char *path, long rank)
{
    int64_t user;
    (void)f, (void)rank;
    if (burst_get_owner(path, &user) == BURST_OWN &&
        burst_orphans(path, true) == BURST_LEFT_VALUES)
        report_skipped(b, path, "whose metadata log is missing");
    return NC_NOERR;
}

/* Opens a log if it maps to this process. If f->nearby, opens it instead if it maps to
 * another process and belongs to this process's share of such logs. */
static int open_own_log(const struct burst *b, struct burst_found *f, const char *path,
                        long rank)
{
    bool own = rank % b->base.ds->nprocs == b->base.ds->rank;
    bool share = !own && rank % b->node->nprocs == b->node->rank;
    return (f->nearby ? share : own) ? add_found_log(b, f, path) : NC_NOERR;
}

void burst_found_free(struct burst_found *f)
{
    for (int i = 0; i < f->n; i++)
        burst_reader_close(f->logs[i]);
    base_free(f->logs);
    f->logs = NULL;
    f->n = 0;
    f->capacity = 0;
}

/* Returns the number of records in the file, which another opening may just have raised
 * by a replay; 0 if unknown, e.g. while a job that redefines the dataset marks it. */
static int64_t records_in_file(const struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    unsigned char field[8], head[4 + sizeof field];
    int width = cdf_encode_numrecs(ds->header.format, 0, field);
    if (ds->rank != 0 || ds->netcdf4 || b->file.handle.fd < 0 ||
        base_read_at(b->file.handle.fd, ds->base, head, 4 + width, b->file.path) !=
            NC_NOERR ||
        cdf_is_moving(head, sizeof head))
        return 0;
    int64_t n = cdf_decode_numrecs(ds->header.format, head);
    return n > 0 ? n : 0;
}

/* Opens the logs. First, each process opens the logs that map to it. There may be several
 * nodes that do not see the same directory, so that some logs are invisible to these
 * processes. In that case the processes of each node then share the rest; any of these
 * logs that is already locked was locked by this opening. Skips the second step if
 * another opening has locked a log. */
static int open_logs_all(struct burst *b, struct burst_found *f)
{
    enum { CONTESTED, APART, DIRECTORY, OPPOSITE, NVALUES };
    struct dataset *ds = b->base.ds;
    bool first = b->node->rank == 0;
    *f = (struct burst_found){0};
    int err = for_each_log_all(b, f, open_own_log);
    int64_t all[NVALUES] = {f->contested, b->node->nprocs < ds->nprocs,
                            first ? f->directory : INT64_MIN,
                            first ? -f->directory : INT64_MIN};
    err = dataset_agree_all(ds, err, NULL, all, NVALUES);
    bool same = all[DIRECTORY] != 0 && all[DIRECTORY] == -all[OPPOSITE];
    f->nearby = all[APART] && !same;
    if (err == NC_NOERR && all[CONTESTED] == 0 && f->nearby)
        err = for_each_log_all(b, f, open_own_log);
    f->contested = all[CONTESTED];
    int64_t records = records_in_file(b);
    err = dataset_agree_all(ds, err, NULL, &records, 1);
    if (records > ds->header.numrecs && ds->header.nrecord_vars > 0)
        ds->header.numrecs = records;
    return err;
}

/* State of a process that is waiting for another opening. */
struct waiting {
    unsigned seed;
    int64_t longest;   /* upper bound of the next pause in milliseconds */
    uint64_t progress; /* burst_found.progress at the last pause; covers only logs that
                        * this process found contested */
    double since;      /* on process 0, time of the last progress */
};

/* Pauses on all processes. Sets *over to true if the other opening has made no progress
 * for as long as the hint allows. */
static int pause_all(const struct burst *b, const struct burst_found *f,
                     struct waiting *v, bool *over)
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
    base_sleep_us(all[0] * 1000);
    v->longest = v->longest * 2 < LONGEST ? v->longest * 2 : LONGEST;
    return NC_NOERR;
}

/* Returns an error on the processes that have seen a contested log. burst_share_error_all
 * passes the message to the other processes. */
static int report_no_progress(const struct burst *b, const struct burst_found *f)
{
    if (f->message[0] == '\0') return NC_NOERR;
    return base_error_set(
        NC_EFILE,
        "%s, and has made no progress for %lld seconds (hint nc_redef_wait_seconds)",
        f->message, (long long)b->base.ds->hints.redef_wait);
}

/* While another opening recovers the dataset, it holds locks on the dataset's logs. This
 * opening waits until those logs are gone, or until the other one has died or has made no
 * progress for too long. No process waits while holding a lock, and the pauses are
 * random, so two openings cannot block each other forever. */
int burst_scan_logs_all(struct burst *b, struct burst_found *f)
{
    struct waiting v = {.seed = (unsigned)b->base.ds->rank + (unsigned)getpid(),
                        .longest = 5,
                        .since = MPI_Wtime()};
    bool over = false;
    int err;
    for_each_file(b, false, remove_leftovers);
    while ((err = open_logs_all(b, f)) == NC_NOERR && f->contested > 0) {
        burst_found_free(f);
        err = pause_all(b, f, &v, &over);
        if (err != NC_NOERR) return err;
        if (over) return report_no_progress(b, f);
    }
    return err;
}

static int remove_old_log(const struct burst *b, struct burst_found *f, const char *path,
                          long rank)
{
    enum burst_busy busy;
    struct burst_reader *r;
    int64_t user;
    (void)b, (void)f, (void)rank;
    if (burst_get_owner(path, &user) != BURST_OWN) return NC_NOERR;
    burst_reader_open(path, BURST_READ_LOCK, &r, &busy);
    if (busy == BURST_FREE) burst_remove(path, true);
    burst_reader_close(r);
    return NC_NOERR;
}

void burst_remove_old_logs(struct burst *b)
{
    for_each_file(b, true, remove_old_log);
    for_each_file(b, false, remove_leftovers);
}
