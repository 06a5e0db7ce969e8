/* The families of collective data functions, one call each. */
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

static int vard(int ncid, const struct access *a, bool put)
{
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    MPI_Aint place = (MPI_Aint)(a->start[0] * (MPI_Offset)sizeof(int));
    int length = (int)a->count[0];
    if (length > 0) {
        MPI_Type_create_hindexed(1, &length, &place, MPI_INT, &filetype);
        MPI_Type_commit(&filetype);
    }
    int rc = put ? ncmpi_put_vard_all(ncid, a->varid, filetype, a->buf, a->bufcount,
                                      a->buftype)
                 : ncmpi_get_vard_all(ncid, a->varid, filetype, a->buf, a->bufcount,
                                      a->buftype);
    if (length > 0) MPI_Type_free(&filetype);
    return rc;
}

static int mvara(int ncid, const struct access *a, bool put)
{
    int varids[1] = {a->varid};
    MPI_Offset *starts[1] = {(MPI_Offset *)a->start};
    MPI_Offset *counts[1] = {(MPI_Offset *)a->count}, bufcounts[1] = {a->bufcount};
    void *bufs[1] = {a->buf};
    MPI_Datatype types[1] = {a->buftype};
    return put ? ncmpi_mput_vara_all(ncid, a->num, varids, starts, counts, bufs,
                                     bufcounts, types)
               : ncmpi_mget_vara_all(ncid, a->num, varids, starts, counts, bufs,
                                     bufcounts, types);
}

static int typed(int ncid, const struct access *a, bool put)
{
    return put ? ncmpi_put_vara_int_all(ncid, a->varid, a->start, a->count, a->buf)
               : ncmpi_get_vara_int_all(ncid, a->varid, a->start, a->count, a->buf);
}

static int posted(int ncid, const struct access *a, bool put)
{
    int id, status = NC_NOERR;
    int rc = put ? ncmpi_iput_vara(ncid, a->varid, a->start, a->count, a->buf,
                                   a->bufcount, a->buftype, &id)
                 : ncmpi_iget_vara(ncid, a->varid, a->start, a->count, a->buf,
                                   a->bufcount, a->buftype, &id);
    int waited = ncmpi_wait_all(ncid, 1, &id, &status);
    if (waited == NC_ENOMEM) ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL); /* still there */
    return rc != NC_NOERR ? rc : waited != NC_NOERR ? waited : status;
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
    {"vara_int", typed, BLOCK, START | COUNT},
    {"iput, wait_all", posted, BLOCK, START | COUNT | POSTED},
};
