/* Calls a collective data function of any family. See fault_calls.h. */
#include "fault_calls.h"

MPI_Offset place_of(enum shape shape, MPI_Offset i)
{
    switch (shape) {
    case ALL:
        return i;
    case ONE:
    case BLOCK:
        return (MPI_Offset)N * check.rank + i;
    case CYCLIC:
        return check.rank + i * check.nprocs;
    }
    return -1;
}

MPI_Offset elements_of(enum shape shape)
{
    return shape == ALL ? (MPI_Offset)N * check.nprocs : shape == ONE ? 1 : N;
}

static int var(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_var_all(ncid, a->varid, a->buf, a->bufcount, a->buftype)
               : ncmpi_get_var_all(ncid, a->varid, a->buf, a->bufcount, a->buftype);
}

static int var1(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_var1_all(ncid, a->varid, a->start, a->buf, a->bufcount,
                                    a->buftype)
               : ncmpi_get_var1_all(ncid, a->varid, a->start, a->buf, a->bufcount,
                                    a->buftype);
}

static int vara(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_vara_all(ncid, a->varid, a->start, a->count, a->buf,
                                    a->bufcount, a->buftype)
               : ncmpi_get_vara_all(ncid, a->varid, a->start, a->count, a->buf,
                                    a->bufcount, a->buftype);
}

static int vars(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_vars_all(ncid, a->varid, a->start, a->count, a->stride, a->buf,
                                    a->bufcount, a->buftype)
               : ncmpi_get_vars_all(ncid, a->varid, a->start, a->count, a->stride, a->buf,
                                    a->bufcount, a->buftype);
}

static int varm(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_varm_all(ncid, a->varid, a->start, a->count, a->stride,
                                    a->imap, a->buf, a->bufcount, a->buftype)
               : ncmpi_get_varm_all(ncid, a->varid, a->start, a->count, a->stride,
                                    a->imap, a->buf, a->bufcount, a->buftype);
}

static int varn(int ncid, const struct access *a, bool put)
{
    MPI_Offset *starts[1] = {(MPI_Offset *)a->start};
    MPI_Offset *counts[1] = {(MPI_Offset *)a->count};
    return put ? ncmpi_put_varn_all(ncid, a->varid, a->num, starts, counts, a->buf,
                                    a->bufcount, a->buftype)
               : ncmpi_get_varn_all(ncid, a->varid, a->num, starts, counts, a->buf,
                                    a->bufcount, a->buftype);
}

static MPI_Datatype element_type(int ncid, int varid)
{
    nc_type type = NC_INT;
    (void)ncmpi_inq_vartype(ncid, varid, &type);
    return type == NC_FLOAT ? MPI_FLOAT : MPI_INT;
}

/* Accesses the variable through a file type, created by PMPI functions, into which no
 * faults are injected. */
static int vard(int ncid, const struct access *a, bool put)
{
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    MPI_Aint place = (MPI_Aint)(a->start[0] * (MPI_Offset)sizeof(int));
    int length = (int)a->count[0];
    if (length > 0) {
        PMPI_Type_create_hindexed(1, &length, &place, element_type(ncid, a->varid),
                                  &filetype);
        PMPI_Type_commit(&filetype);
    }
    int rc = put ? ncmpi_put_vard_all(ncid, a->varid, filetype, a->buf, a->bufcount,
                                      a->buftype)
                 : ncmpi_get_vard_all(ncid, a->varid, filetype, a->buf, a->bufcount,
                                      a->buftype);
    if (length > 0) PMPI_Type_free(&filetype);
    return rc;
}

static int var_int(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_var_int_all(ncid, a->varid, a->buf)
               : ncmpi_get_var_int_all(ncid, a->varid, a->buf);
}

static int var1_int(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_var1_int_all(ncid, a->varid, a->start, a->buf)
               : ncmpi_get_var1_int_all(ncid, a->varid, a->start, a->buf);
}

static int vara_int(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_vara_int_all(ncid, a->varid, a->start, a->count, a->buf)
               : ncmpi_get_vara_int_all(ncid, a->varid, a->start, a->count, a->buf);
}

static int vars_int(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_vars_int_all(ncid, a->varid, a->start, a->count, a->stride,
                                        a->buf)
               : ncmpi_get_vars_int_all(ncid, a->varid, a->start, a->count, a->stride,
                                        a->buf);
}

static int varm_int(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_varm_int_all(ncid, a->varid, a->start, a->count, a->stride,
                                        a->imap, a->buf)
               : ncmpi_get_varm_int_all(ncid, a->varid, a->start, a->count, a->stride,
                                        a->imap, a->buf);
}

static int varn_int(int ncid, const struct access *a, bool put)
{
    MPI_Offset *starts[1] = {(MPI_Offset *)a->start};
    MPI_Offset *counts[1] = {(MPI_Offset *)a->count};
    return put ? ncmpi_put_varn_int_all(ncid, a->varid, a->num, starts, counts, a->buf)
               : ncmpi_get_varn_int_all(ncid, a->varid, a->num, starts, counts, a->buf);
}

/* ---- functions for several variables, called with one variable ---- */

struct one {
    int varids[1];
    MPI_Offset *starts[1], *counts[1], *strides[1], *imaps[1], bufcounts[1];
    void *bufs[1];
    int *ints[1];
    MPI_Datatype types[1];
};

static struct one one_of(const struct access *a)
{
    return (struct one){{a->varid},
                        {(MPI_Offset *)a->start},
                        {(MPI_Offset *)a->count},
                        {(MPI_Offset *)a->stride},
                        {(MPI_Offset *)a->imap},
                        {a->bufcount},
                        {a->buf},
                        {a->buf},
                        {a->buftype}};
}

static int mvar(int ncid, const struct access *a, bool put)
{
    struct one o = one_of(a);
    return put ? ncmpi_mput_var_all(ncid, a->num, o.varids, o.bufs, o.bufcounts, o.types)
               : ncmpi_mget_var_all(ncid, a->num, o.varids, o.bufs, o.bufcounts, o.types);
}

static int mvar1(int ncid, const struct access *a, bool put)
{
    struct one o = one_of(a);
    return put ? ncmpi_mput_var1_all(ncid, a->num, o.varids, o.starts, o.bufs,
                                     o.bufcounts, o.types)
               : ncmpi_mget_var1_all(ncid, a->num, o.varids, o.starts, o.bufs,
                                     o.bufcounts, o.types);
}

static int mvara(int ncid, const struct access *a, bool put)
{
    struct one o = one_of(a);
    return put ? ncmpi_mput_vara_all(ncid, a->num, o.varids, o.starts, o.counts, o.bufs,
                                     o.bufcounts, o.types)
               : ncmpi_mget_vara_all(ncid, a->num, o.varids, o.starts, o.counts, o.bufs,
                                     o.bufcounts, o.types);
}

static int mvars(int ncid, const struct access *a, bool put)
{
    struct one o = one_of(a);
    return put ? ncmpi_mput_vars_all(ncid, a->num, o.varids, o.starts, o.counts,
                                     o.strides, o.bufs, o.bufcounts, o.types)
               : ncmpi_mget_vars_all(ncid, a->num, o.varids, o.starts, o.counts,
                                     o.strides, o.bufs, o.bufcounts, o.types);
}

static int mvarm(int ncid, const struct access *a, bool put)
{
    struct one o = one_of(a);
    return put ? ncmpi_mput_varm_all(ncid, a->num, o.varids, o.starts, o.counts,
                                     o.strides, o.imaps, o.bufs, o.bufcounts, o.types)
               : ncmpi_mget_varm_all(ncid, a->num, o.varids, o.starts, o.counts,
                                     o.strides, o.imaps, o.bufs, o.bufcounts, o.types);
}

static int mvars_int(int ncid, const struct access *a, bool put)
{
    struct one o = one_of(a);
    return put ? ncmpi_mput_vars_int_all(ncid, a->num, o.varids, o.starts, o.counts,
                                         o.strides, o.ints)
               : ncmpi_mget_vars_int_all(ncid, a->num, o.varids, o.starts, o.counts,
                                         o.strides, o.ints);
}

/* ---- nonblocking functions ---- */

/* Waits for one request. Returns the first error code from the post (rc), the wait, or
 * the request's status. */
static int wait_for_one(int ncid, int rc, int id)
{
    int status = NC_NOERR, waited = ncmpi_wait_all(ncid, 1, &id, &status);
    /* If memory was short, the request is still pending. */
    if (waited == NC_ENOMEM) ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL);
    return rc != NC_NOERR ? rc : waited != NC_NOERR ? waited : status;
}

static int posted(int ncid, const struct access *a, bool put)
{
    int id = NC_REQ_NULL;
    int rc = put ? ncmpi_iput_vara(ncid, a->varid, a->start, a->count, a->buf,
                                   a->bufcount, a->buftype, &id)
                 : ncmpi_iget_vara(ncid, a->varid, a->start, a->count, a->buf,
                                   a->bufcount, a->buftype, &id);
    return wait_for_one(ncid, rc, id);
}

static int posted_list(int ncid, const struct access *a, bool put)
{
    int id = NC_REQ_NULL;
    MPI_Offset *starts[1] = {(MPI_Offset *)a->start};
    MPI_Offset *counts[1] = {(MPI_Offset *)a->count};
    int rc = put ? ncmpi_iput_varn(ncid, a->varid, a->num, starts, counts, a->buf,
                                   a->bufcount, a->buftype, &id)
                 : ncmpi_iget_varn(ncid, a->varid, a->num, starts, counts, a->buf,
                                   a->bufcount, a->buftype, &id);
    return wait_for_one(ncid, rc, id);
}

/* Puts through an attached buffer. Gets use iget, because attached buffers are for puts
 * only. */
static int buffered(int ncid, const struct access *a, bool put)
{
    int id = NC_REQ_NULL;
    if (!put) return posted(ncid, a, put);
    int attached = ncmpi_buffer_attach(ncid, 4096);
    int rc = ncmpi_bput_vara(ncid, a->varid, a->start, a->count, a->buf, a->bufcount,
                             a->buftype, &id);
    rc = wait_for_one(ncid, attached != NC_NOERR ? attached : rc, id);
    int detached = ncmpi_buffer_detach(ncid);
    return rc != NC_NOERR ? rc : detached;
}

const struct family families[FAMILIES] = {
    {"var", var, ALL, 0},
    {"var1", var1, ONE, START},
    {"vara", vara, BLOCK, START | COUNT},
    {"vars", vars, CYCLIC, START | COUNT | STRIDE},
    {"varm", varm, CYCLIC, START | COUNT | STRIDE | IMAP},
    {"varn", varn, BLOCK, START | NUM},
    {"vard", vard, BLOCK, FILETYPE},
    {"mvara", mvara, BLOCK, START | COUNT | NUM},
    {"vara_int", vara_int, BLOCK, START | COUNT},
    {"iput, wait_all", posted, BLOCK, START | COUNT | POSTED},
    {"var_int", var_int, ALL, 0},
    {"var1_int", var1_int, ONE, START},
    {"vars_int", vars_int, CYCLIC, START | COUNT | STRIDE},
    {"varm_int", varm_int, CYCLIC, START | COUNT | STRIDE | IMAP},
    {"varn_int", varn_int, BLOCK, START | NUM},
    {"mvar", mvar, ALL, NUM},
    {"mvar1", mvar1, ONE, START | NUM},
    {"mvars", mvars, CYCLIC, START | COUNT | STRIDE | NUM},
    {"mvarm", mvarm, CYCLIC, START | COUNT | STRIDE | IMAP | NUM},
    {"mvars_int", mvars_int, CYCLIC, START | COUNT | STRIDE | NUM},
    {"iput_varn, wait_all", posted_list, BLOCK, START | NUM | POSTED},
    {"bput, wait_all", buffered, BLOCK, START | COUNT | POSTED},
};

int value_at(int round, MPI_Offset place)
{
    return 1000 * round + (int)place;
}

void prepare(struct arguments *g, const struct family *f, int varid, bool put, int round)
{
    MPI_Offset n = elements_of(f->shape);
    g->start[0] = place_of(f->shape, 0);
    g->count[0] = n;
    g->stride[0] = f->shape == CYCLIC ? check.nprocs : 1;
    g->imap[0] = 1;
    g->a = (struct access){varid,   1,         g->start, g->count, g->stride,
                           g->imap, g->values, n,        MPI_INT};
    for (MPI_Offset i = 0; i < n; i++)
        g->values[i] = put ? value_at(round, place_of(f->shape, i)) : -1;
}
