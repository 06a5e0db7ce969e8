/* One ordinary file of the dataset at its close, by all processes.
 *
 * The file is made beside the master, under a name that tells the dataset's token; when
 * all of it is on its device it takes the master's name, and the subfiles go. A job that
 * is killed leaves the dataset as it was before the rename, and the joined file, with
 * subfiles that nobody refers to, after it.
 *
 * Where the close is deferred a thread of each process moves its share of the values
 * behind it. It calls no MPI, so that any level of thread support does: each file that it
 * needs is open before, by a descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "node.h"
#include "base_rights.h"
#include "base_share.h"
#include "base_worker.h"
#include "blob.h"
#include "blob_source.h"
#include "blob_hold.h"
#include "file_descriptor.h"
#include "region.h"

enum { PIECE = 4 << 20 }; /* bytes moved at a time */

struct blob_join {
    struct blob *b;
    struct dataset ds; /* the new file */
    struct driver *to;
    char *path;
    char *values;
    int64_t turn, first, end; /* pieces; the share of this process */
    bool behind;              /* a thread has it */
    bool moved;               /* and is through */
    struct base_worker worker;
    atomic_bool unwanted; /* it need not go on */
    int err;              /* what the thread met with */
    char words[1024];
};

/* ---- the values ---- */

/* n elements of a record, from `at` on. Zeros need not be written: the file is new, and
 * gets its size when it is closed. */
static int move_piece(struct blob_join *j, int varid, int64_t record, int64_t at,
                      int64_t n)
{
    const struct cdf_var *v = &j->ds.header.vars[varid];
    int64_t size = cdf_type_size(v->type);
    struct region *where = region_block(at * size, n * size);
    union {
        struct access_request r;
        unsigned char
            room[sizeof(struct access_request) + ACCESS_RAW_SLAB * sizeof(int64_t)];
    } one = {.r = {.buf = j->values,
                   .varid = varid,
                   .type = (unsigned char)conv_type_of(v->type),
                   .raw = true}};
    struct access_request *r = &one.r;
    if (where == NULL) return NC_ENOMEM;
    r->slab[0] = (int64_t)(intptr_t)where;
    r->slab[1] = n;
    r->slab[2] = record;
    int err = blob_get(&j->b->base, &r, 1);
    if (err == NC_NOERR && !base_is_zero(j->values, n * size))
        err = driver_call(j->to, put, &r, 1);
    region_free(where);
    return err;
}

/* A variable's values of one record, in pieces, of which this process's are moved; if
 * there is no memory for any they are only counted. */
static int move_record(struct blob_join *j, int varid, int64_t record)
{
    const struct cdf_var *v = &j->ds.header.vars[varid];
    int64_t most = PIECE / cdf_type_size(v->type);
    int err = NC_NOERR;
    for (int64_t at = 0; at < v->nelems && err == NC_NOERR; at += most, j->turn++) {
        int64_t n = v->nelems - at < most ? v->nelems - at : most;
        if (j->turn >= j->first && j->turn < j->end && !j->unwanted)
            err = move_piece(j, varid, record, at, n);
    }
    return err;
}

static int each_piece(struct blob_join *j)
{
    const struct cdf_header *h = &j->ds.header;
    int err = NC_NOERR;
    j->turn = 0;
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++)
        if (!h->vars[id].is_record) err = move_record(j, id, 0);
    for (int64_t record = 0; record < h->numrecs && err == NC_NOERR; record++)
        for (int id = 0; id < h->nvars && err == NC_NOERR; id++)
            if (h->vars[id].is_record) err = move_record(j, id, record);
    return err;
}

/* Shares lie together: a process needs few maps at a time then. */
static int move_share(struct blob_join *j)
{
    j->first = j->end = 0;
    (void)each_piece(j); /* counts */
    j->first = base_share_begin(j->turn, j->ds.nprocs, j->ds.rank);
    j->end = base_share_begin(j->turn, j->ds.nprocs, j->ds.rank + 1);
    return each_piece(j);
}

/* ---- behind the close ---- */

/* Are its values moved by a descriptor, which is open? */
static bool has_descriptor(struct driver *d)
{
    return d != NULL && driver_call(d, background.defer) == DRIVER_READY;
}

bool blob_join_may_wait(struct blob *b)
{
    struct blob_sub *s;
    bool may =
        b->join != NULL && has_descriptor(b->base.lower) && has_descriptor(b->join->to);
    for (int64_t i = 0; i < b->facts.nsubfiles && may; i++)
        may = blob_sub_get(b, (int)i, &s) == NC_NOERR && has_descriptor(s->driver);
    return may;
}

/* All of the share at once; the lock is for nothing that it touches. */
static bool move_behind(void *of)
{
    struct blob_join *j = of;
    if (j->moved) return false;
    j->moved = true;
    base_worker_unlock(&j->worker);
    j->err = move_share(j);
    if (j->err == NC_NOERR && !j->unwanted)
        j->err = base_sync_data(j->ds.lent->fd, j->path);
    snprintf(j->words, sizeof j->words, "%s", base_error_detail(j->err));
    base_worker_lock(&j->worker);
    return false;
}

void blob_join_start(struct blob *b)
{
    struct blob_join *j = b->join;
    base_worker_init(&j->worker);
    j->behind = base_worker_start(&j->worker, move_behind, j);
    if (!j->behind) base_worker_stop(&j->worker);
}

/* Is done, or was; without a thread now. */
static int finish_share(struct blob_join *j)
{
    if (!j->behind) return move_share(j);
    base_worker_stop(&j->worker);
    return j->words[0] == '\0' ? j->err : base_error_set(j->err, "%s", j->words);
}

/* ---- the file ---- */

static int describe_joined(struct blob_join *j, struct blob *b)
{
    const struct dataset *master = b->base.ds;
    blob_sub_describe(b, &j->ds);
    j->b = b;
    j->ds.comm = master->comm;
    j->ds.rank = master->rank;
    j->ds.nprocs = master->nprocs;
    j->ds.path = j->ds.full = j->path = blob_source_joining(b->path, &b->facts);
    j->ds.whole = true;
    j->ds.node = node_new();
    j->values = base_malloc(PIECE);
    cdf_init(&j->ds.header, master->header.format);
    int err = cdf_copy(&j->ds.header, &master->header);
    for (int id = 0; err == NC_NOERR && id < j->ds.header.nvars; id++)
        j->ds.header.vars[id].fill = false; /* all comes from the dataset */
    bool short_of = j->path == NULL || j->values == NULL || j->ds.node == NULL;
    return short_of ? NC_ENOMEM : err;
}

static void free_join(struct blob_join *j)
{
    if (j == NULL) return;
    cdf_free(&j->ds.header);
    base_free(j->ds.node); /* it was not found, or has been left */
    base_free(j->values);
    base_free(j->path);
    base_free(j);
}

/* Process 0's: nobody else writes to the dataset, and there is an empty file that nobody
 * may read who may not read that. */
static int make_way(struct blob_join *j)
{
    struct blob *b = j->b;
    if (b->hold.fd < 0) return NC_NOERR;
    int err = blob_hold_join(b);
    if (err == NC_NOERR && unlink(j->path) != 0 && errno != ENOENT)
        err = base_error_system(NC_EFILE, "removing", j->path);
    return err == NC_NOERR ? blob_hold_make_file(b->hold.fd, j->path) : err;
}

/* With all definitions and no values. Agreed. */
static int make_file_all(struct blob_join *j)
{
    int err = driver_registry[0]->create_all(&j->ds, NC_CLOBBER, NULL, &j->to);
    if (err != NC_NOERR) return err;
    err = driver_call(j->to, enddef_all, NULL);
    if (err != NC_NOERR) (void)driver_call(j->to, close_all, false);
    return err;
}

int blob_join_begin_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct blob_join *j = base_calloc(1, sizeof *j);
    int own = j == NULL ? NC_ENOMEM : describe_joined(j, b);
    if (own == NC_NOERR) own = make_way(j);
    int err = dataset_agree_all(ds, own, NULL, NULL, 0);
    if (err != NC_NOERR || j == NULL) {
        if (own == NC_NOERR && b->hold.fd >= 0) (void)unlink(j->path);
        free_join(j);
        return own != NC_NOERR ? own : err;
    }
    err = make_file_all(j);
    if (err == NC_NOERR) {
        b->join = j;
        return NC_NOERR;
    }
    if (ds->rank == 0) (void)unlink(j->path);
    node_leave_all(&j->ds);
    free_join(j);
    return err;
}

/* A header that has become shorter may leave a dataset without variables longer than it
 * tells; so is the one file then. By process 0, when all values are there. */
static int keep_length(const struct blob_join *j)
{
    const struct dataset *master = j->b->base.ds;
    struct stat st;
    if (stat(master->full, &st) != 0)
        return base_error_system(NC_EFILE, "looking at", master->full);
    int fd = base_open(j->path, O_RDWR);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", j->path);
    int err = base_extend(fd, st.st_size - (off_t)master->base, j->path);
    (void)close(fd);
    return err;
}

int blob_join_end_all(struct blob *b, int error)
{
    struct dataset *ds = b->base.ds;
    struct blob_join *j = b->join;
    j->unwanted = ds->deleted;
    int own = error == NC_NOERR ? finish_share(j) : error;
    int err = dataset_agree_all(&j->ds, own, NULL, NULL, 0);
    if (err == NC_NOERR && !ds->deleted) {
        own = ds->rank == 0 ? keep_length(j) : NC_NOERR;
        dataset_hold_records(&j->ds, j->ds.header.numrecs);
        err = driver_call(j->to, sync_all);
        if (own != NC_NOERR) err = own;
    }
    int closed = driver_call(j->to, close_all, false);
    if (err == NC_NOERR) err = closed;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (ds->rank == 0 && (err != NC_NOERR || ds->deleted)) (void)unlink(j->path);
    b->join = NULL;
    node_leave_all(&j->ds);
    free_join(j);
    return own != NC_NOERR ? own : err;
}

/* The dataset may have got another name behind its close, or another file its name. */
static int check_master(const char *master, const struct cdf_envelope *e)
{
    struct cdf_envelope now;
    bool same = blob_source_envelope(master, &now) == NC_NOERR &&
                memcmp(now.token, e->token, sizeof now.token) == 0;
    if (same) return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: it is not the dataset any more that was closed",
                          master);
}

/* They may have changed while it was made. */
static int take_rights(const char *master, const char *path)
{
    int from = base_open(master, O_RDONLY);
    int to = from < 0 ? -1 : base_open(path, O_RDONLY);
    int err = to < 0 ? base_error_system(NC_EFILE, "opening", from < 0 ? master : path)
                     : base_rights_copy(from, to, path);
    if (from >= 0) (void)close(from);
    if (to >= 0) (void)close(to);
    return err;
}

int blob_join_finish(const char *master, const struct cdf_envelope *e, int error)
{
    char *path = blob_source_joining(master, e);
    int err = path == NULL ? NC_ENOMEM : error;
    if (err == NC_NOERR) err = check_master(master, e);
    if (err == NC_NOERR) err = take_rights(master, path);
    if (err == NC_NOERR && rename(path, master) != 0)
        err = base_error_system(NC_EFILE, "renaming", path);
    if (err != NC_NOERR && path != NULL) (void)unlink(path);
    if (err == NC_NOERR) err = base_sync_directory(master);
    if (err == NC_NOERR) err = blob_remove_subfiles(master, e);
    base_free(path);
    return err;
}
