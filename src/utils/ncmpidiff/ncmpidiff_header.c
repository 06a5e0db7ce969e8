/* Builds the model of a dataset's header by calling the public inquiry functions. */
#include "ncmpidiff.h"

#include "base_mem.h"
#include "conv.h"
#include "pnetcdf.h"

static int copy_dims(int ncid, struct cdf_header *h)
{
    int ndims, unlimited, id;
    int err = ncmpi_inq_ndims(ncid, &ndims);
    if (err == NC_NOERR) err = ncmpi_inq_unlimdim(ncid, &unlimited);
    for (int i = 0; i < ndims && err == NC_NOERR; i++) {
        char name[NC_MAX_NAME + 1];
        MPI_Offset length;
        err = ncmpi_inq_dim(ncid, i, name, &length);
        if (err != NC_NOERR) return err;
        if (i == unlimited) h->numrecs = length;
        err = cdf_def_dim(h, name, i == unlimited ? NC_UNLIMITED : length, &id);
    }
    return err;
}

/* The library returns values in host byte order, but the model stores them in the file's
 * byte order. */
static int copy_att(int ncid, int varid, const char *name, struct cdf_header *h)
{
    nc_type type;
    MPI_Offset n;
    void *external;
    unsigned char fill[8] = {0};
    int err = ncmpi_inq_att(ncid, varid, name, &type, &n);
    if (err == NC_NOERR) err = cdf_put_att(h, varid, name, type, n, &external);
    if (err != NC_NOERR || n == 0) return err;
    void *values = base_malloc((size_t)n * (size_t)cdf_type_size(type));
    if (values == NULL) return NC_ENOMEM;
    err = ncmpi_get_att(ncid, varid, name, values);
    if (err == NC_NOERR)
        err = conv_put(external, type, values, (enum conv_type)conv_type_of(type),
                       (size_t)n, fill);
    base_free(values);
    return err;
}

static int copy_atts(int ncid, int varid, struct cdf_header *h)
{
    int n;
    int err = varid == NC_GLOBAL ? ncmpi_inq_natts(ncid, &n)
                                 : ncmpi_inq_varnatts(ncid, varid, &n);
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        char name[NC_MAX_NAME + 1];
        err = ncmpi_inq_attname(ncid, varid, i, name);
        if (err == NC_NOERR) err = copy_att(ncid, varid, name, h);
    }
    return err;
}

static int copy_var(int ncid, int varid, struct cdf_header *h)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndims, id;
    int err = ncmpi_inq_var(ncid, varid, name, &type, &ndims, NULL, NULL);
    if (err != NC_NOERR) return err;
    int *dimids = base_malloc((size_t)ndims * sizeof *dimids);
    if (dimids == NULL) return NC_ENOMEM;
    err = ncmpi_inq_vardimid(ncid, varid, dimids);
    if (err == NC_NOERR) err = cdf_def_var(h, name, type, ndims, dimids, &id);
    base_free(dimids);
    return err == NC_NOERR ? copy_atts(ncid, varid, h) : err;
}

int ncmpidiff_header(int ncid, struct cdf_header *h)
{
    int nvars = 0;
    cdf_init(h, 5);
    int err = copy_dims(ncid, h);
    if (err == NC_NOERR) err = copy_atts(ncid, NC_GLOBAL, h);
    if (err == NC_NOERR) err = ncmpi_inq_nvars(ncid, &nvars);
    for (int i = 0; err == NC_NOERR && i < nvars; i++)
        err = copy_var(ncid, i, h);
    if (err != NC_NOERR) cdf_free(h);
    return err;
}
