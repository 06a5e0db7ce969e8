/* Opening a dataset that another library put into subfiles: it gets the definitions of
 * the whole, and each of its variables a decomposition, so that all else of the layer
 * reads it as it reads its own. */
#include <stdio.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"

/* ---- the definitions ---- */

static bool is_complete(const char *path, const struct cdf_header *h)
{
    struct stat st;
    return stat(path, &st) == 0 && blob_foreign_is_complete(h, st.st_size);
}

static int refuse_foreign_kind(const struct dataset *ds, enum blob_foreign_kind kind)
{
    if (kind == BLOB_FOREIGN_NONE)
        return base_error_set(NC_ENOENT, "%s: there is no file of the name without .0000",
                              ds->path);
    if (!ds->writable) return NC_NOERR;
    return base_error_set(NC_ENOTSUPPORT,
                          "%s: another library put it into subfiles, and it can only be "
                          "read; ncmpijoin makes one file of it, which can be written",
                          ds->path);
}

static char *master_name(const struct dataset *ds)
{
    return ds->stands_in ? blob_foreign_stood_for(ds->full) : blob_sub_master(ds->full);
}

static int take_whole_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct cdf_header whole;
    int err =
        blob_foreign_begin(&b->foreign, &ds->header, ds->stands_in, ds->path, &whole);
    base_free(b->path);
    b->path = master_name(ds);
    if (err == NC_NOERR && b->path == NULL) err = NC_ENOMEM;
    err = dataset_concur_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) {
        cdf_free(&whole);
        return err;
    }
    cdf_free(&ds->header);
    ds->header = whole;
    b->facts.nsubfiles = b->foreign.nfiles;
    b->facts.nprocs = b->foreign.nprocs;
    b->facts.defined = true;
    return NC_NOERR;
}

int blob_foreign_begin_all(struct blob *b, bool *ordinary)
{
    struct dataset *ds = b->base.ds;
    enum blob_foreign_kind kind = blob_foreign_kind(&ds->header, ds->stands_in);
    int64_t complete = 0;
    if (kind == BLOB_FOREIGN_E3SM && !ds->stands_in && ds->rank == 0)
        complete = is_complete(ds->full, &ds->header);
    int err = dataset_agree_all(ds, NC_NOERR, NULL, &complete, 1);
    *ordinary = complete != 0;
    if (err != NC_NOERR || *ordinary) return err;
    err = refuse_foreign_kind(ds, kind);
    return err == NC_NOERR ? take_whole_all(b) : err;
}

/* ---- the subfiles ---- */

/* They are dealt out to the processes to be looked at. */
static int look_at_foreign(struct blob *b, struct blob_tally *t)
{
    const struct dataset *ds = b->base.ds;
    int err = NC_NOERR;
    for (int64_t i = ds->rank; i < b->foreign.nfiles && err == NC_NOERR;
         i += ds->nprocs) {
        struct blob_sub *s;
        err = blob_sub_get(b, (int)i, &s);
        if (err == NC_NOERR) blob_tally_add(t, &b->foreign, &s->ds.header, s->varids);
    }
    return err;
}

static int add_up_tally_all(struct blob *b, struct blob_tally *t)
{
    MPI_Comm comm = b->base.ds->comm;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, t->sums, t->nsums, MPI_INT64_T, MPI_SUM, comm);
    int other =
        MPI_Allreduce(MPI_IN_PLACE, t->most, t->nmost, MPI_INT64_T, MPI_MAX, comm);
    return base_mpi_error(mpi == MPI_SUCCESS ? other : mpi, NC_EMPI,
                          "looking at subfiles");
}

static int take_homes(struct blob *b, const struct blob_tally *t)
{
    struct cdf_header *h = &b->base.ds->header;
    int err = blob_foreign_settle(&b->foreign, h, b->path, t);
    b->nvars = h->nvars;
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++) {
        b->state[id] =
            h->vars[id].nelems == 0 ? BLOB_CANONICAL : b->foreign.homes[id].number;
        b->touched[id] = 1;
        if (b->state[id] > BLOB_OPEN) err = blob_add_decomposition(b, b->state[id], id);
    }
    return err;
}

int blob_foreign_states_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    struct blob_tally t;
    int err = blob_tally_begin(&t, &b->foreign);
    if (err == NC_NOERR) err = look_at_foreign(b, &t);
    int own = err;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    err = err == NC_NOERR ? NC_NOERR : dataset_share_words_all(ds, err, own);
    if (err == NC_NOERR) {
        err = add_up_tally_all(b, &t);
        if (err == NC_NOERR) err = take_homes(b, &t);
        err = dataset_concur_all(ds, err, NULL, NULL, 0);
    }
    blob_tally_free(&t);
    return own != NC_NOERR ? own : err;
}

/* ---- values ---- */

int blob_foreign_part(struct blob *b, int varid, int number, int64_t record, int64_t at,
                      int64_t n)
{
    struct blob_sub *s;
    if (number < 0)
        return blob_foreign_hole(&b->foreign, &b->base.ds->header, b->path, varid, record,
                                 at);
    int err = blob_sub_get(b, number, &s);
    int id = err == NC_NOERR ? blob_sub_var(s, varid) : -1;
    if (id < 0) return err; /* who reads it reports it */
    return blob_foreign_reaches(&s->ds.header, s->ds.path, s->size, id, record, at, n);
}

int blob_foreign_size(struct blob_sub *s)
{
    struct stat st;
    if (base_fs_stat(s->ds.full, &st) != 0)
        return base_error_system(NC_EFILE, "looking at", s->ds.path);
    s->size = st.st_size;
    return NC_NOERR;
}
