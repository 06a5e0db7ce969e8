/* One ordinary file of the dataset at its close, by all processes.
 *
 * The file is made beside the master, under a name that tells the dataset's token; when
 * all of it is on its device it takes the master's name, and the subfiles go. A job that
 * is killed leaves the dataset as it was before the rename, and the joined file, with
 * subfiles that nobody refers to, after it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_share.h"
#include "blob.h"
#include "region.h"

enum { PIECE = 4 << 20 }; /* bytes moved at a time */

struct joining {
    struct blob *b;
    struct driver_dataset ds; /* the new file */
    struct driver *to;
    char *values;
    int64_t turn, first, end; /* pieces; the share of this process */
};

/* NULL: no memory. The caller frees it. */
char *blob_join_path(const char *master, const struct cdf_envelope *e)
{
    size_t size = strlen(master) + 48;
    char *path = base_malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s.joining-%016" PRIx64, master, e->token[0] ^ e->token[1]);
    return path;
}

/* ---- the values ---- */

/* n elements of a record, from `at` on. Zeros need not be written: the file is new, and
 * gets its size when it is closed. */
static int move_piece(struct joining *j, int varid, int64_t record, int64_t at, int64_t n)
{
    const struct cdf_var *v = &j->ds.header.vars[varid];
    int64_t size = cdf_type_size(v->type);
    struct region *where = region_block(at * size, n * size);
    union {
        struct driver_request r;
        unsigned char
            room[sizeof(struct driver_request) + DRIVER_RAW_SLAB * sizeof(int64_t)];
    } one = {.r = {.buf = j->values,
                   .varid = varid,
                   .type = (unsigned char)conv_type_of(v->type),
                   .raw = true}};
    struct driver_request *r = &one.r;
    if (where == NULL) return NC_ENOMEM;
    r->slab[0] = (int64_t)(intptr_t)where;
    r->slab[1] = n;
    r->slab[2] = record;
    int err = blob_get(&j->b->base, &r, 1);
    if (err == NC_NOERR && !base_is_zero(j->values, n * size))
        err = driver_put(j->to, &r, 1);
    region_free(where);
    return err;
}

/* A variable's values of one record, in pieces, of which this process's are moved; if
 * there is no memory for any they are only counted. */
static int move_record(struct joining *j, int varid, int64_t record)
{
    const struct cdf_var *v = &j->ds.header.vars[varid];
    int64_t most = PIECE / cdf_type_size(v->type);
    int err = NC_NOERR;
    for (int64_t at = 0; at < v->nelems && err == NC_NOERR; at += most, j->turn++) {
        int64_t n = v->nelems - at < most ? v->nelems - at : most;
        if (j->turn >= j->first && j->turn < j->end)
            err = move_piece(j, varid, record, at, n);
    }
    return err;
}

static int each_piece(struct joining *j)
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
static int move_share(struct joining *j)
{
    j->first = j->end = 0;
    (void)each_piece(j); /* counts */
    j->first = base_share_begin(j->turn, j->ds.nprocs, j->ds.rank);
    j->end = base_share_begin(j->turn, j->ds.nprocs, j->ds.rank + 1);
    return each_piece(j);
}

/* ---- the file ---- */

static int describe(struct joining *j, char *path)
{
    const struct driver_dataset *master = j->b->base.ds;
    blob_sub_describe(j->b, &j->ds);
    j->ds.comm = master->comm;
    j->ds.rank = master->rank;
    j->ds.nprocs = master->nprocs;
    j->ds.path = j->ds.full = path;
    j->ds.whole = true;
    j->values = base_malloc(PIECE);
    cdf_init(&j->ds.header, master->header.format);
    int err = cdf_copy(&j->ds.header, &master->header);
    for (int id = 0; err == NC_NOERR && id < j->ds.header.nvars; id++)
        j->ds.header.vars[id].fill = false; /* all comes from the dataset */
    return err == NC_NOERR && j->values == NULL ? NC_ENOMEM : err;
}

/* Agreed. */
static int make_file_all(struct joining *j)
{
    int err = blob_sub_bottom(j->b)->create_all(&j->ds, NC_CLOBBER, NULL, &j->to);
    if (err != NC_NOERR) return err;
    err = driver_enddef_all(j->to, NULL);
    int own = err == NC_NOERR ? move_share(j) : err;
    err = driver_agree_all(&j->ds, own, NULL, NULL, 0);
    if (err == NC_NOERR) {
        driver_hold_records(&j->ds, j->ds.header.numrecs);
        err = driver_sync_all(j->to);
    }
    int closed = driver_close_all(j->to);
    if (err == NC_NOERR) err = closed;
    return own != NC_NOERR ? own : err;
}

int blob_join_all(struct blob *b)
{
    struct joining j = {.b = b};
    char *path = blob_join_path(b->path, &b->facts);
    int own = path == NULL ? NC_ENOMEM : describe(&j, path);
    int err = driver_agree_all(b->base.ds, own, NULL, NULL, 0);
    if (err == NC_NOERR) err = own = make_file_all(&j);
    err = driver_agree_all(b->base.ds, err, NULL, NULL, 0);
    if (err != NC_NOERR && b->base.ds->rank == 0 && path != NULL) (void)unlink(path);
    cdf_free(&j.ds.header);
    base_free(j.values);
    base_free(path);
    return own != NC_NOERR ? own : err;
}

int blob_join_finish(const char *master, const struct cdf_envelope *e, int error)
{
    char *path = blob_join_path(master, e);
    int err = path == NULL ? NC_ENOMEM : NC_NOERR;
    if (err == NC_NOERR && error != NC_NOERR) {
        (void)unlink(path);
        err = error;
    }
    if (err == NC_NOERR && rename(path, master) != 0)
        err = base_error_system(NC_EFILE, "renaming", path);
    if (err == NC_NOERR) err = base_sync_directory(master);
    if (err == NC_NOERR) err = blob_sub_remove(master, e);
    base_free(path);
    return err;
}
