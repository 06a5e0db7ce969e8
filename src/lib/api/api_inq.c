/* Inquires about dimensions, variables and the dataset as a whole. All functions are
 * local. */
#include <string.h>

#include "api_errors.h"
#include "pnetcdf.h"

int ncmpi_inq(int ncid, int *ndimsp, int *nvarsp, int *ngattsp, int *unlimdimidp)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    const struct cdf_header *h = &d->ds.header;
    if (ndimsp != NULL) *ndimsp = h->ndims;
    if (nvarsp != NULL) *nvarsp = h->nvars;
    if (ngattsp != NULL) *ngattsp = h->gatts.count;
    if (unlimdimidp != NULL) *unlimdimidp = h->unlimited;
    return NC_NOERR;
}

int ncmpi_inq_ndims(int ncid, int *ndimsp)
{
    return ncmpi_inq(ncid, ndimsp, NULL, NULL, NULL);
}

int ncmpi_inq_nvars(int ncid, int *nvarsp)
{
    return ncmpi_inq(ncid, NULL, nvarsp, NULL, NULL);
}

int ncmpi_inq_natts(int ncid, int *ngattsp)
{
    return ncmpi_inq(ncid, NULL, NULL, ngattsp, NULL);
}

int ncmpi_inq_unlimdim(int ncid, int *unlimdimidp)
{
    return ncmpi_inq(ncid, NULL, NULL, NULL, unlimdimidp);
}

/* ---- dimensions ---- */

/* Returns the number of records. Locks, because other threads may add records. */
static int64_t records_of_dataset(struct api_dataset *d)
{
    api_lock(d);
    int64_t n = d->ds.header.numrecs;
    api_unlock(d);
    return n;
}

/* Checks the length of a name to be looked up. */
static int check_lookup_name(const char *name)
{
    bool given = name != NULL && *name != '\0';
    if (given && strlen(name) <= NC_MAX_NAME) return NC_NOERR;
    char norm[NC_MAX_NAME + 1];
    return cdf_check_name(name, norm);
}

int ncmpi_inq_dimid(int ncid, const char *name, int *idp)
{
    struct api_dataset *d;
    int id, err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    err = check_lookup_name(name);
    if (err != NC_NOERR) return err;
    err = cdf_find_dim(&d->ds.header, name, &id);
    if (err == NC_EBADDIM) base_error_named(err, "dimension '%.80s'%s", name, NULL);
    err = api_explain_omitted(d, err, "dimension ", name);
    if (err == NC_NOERR && idp != NULL) *idp = id;
    return err;
}

int ncmpi_inq_dim(int ncid, int dimid, char *name, MPI_Offset *lenp)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    const struct cdf_header *h = &d->ds.header;
    if (dimid < 0 || dimid >= h->ndims) return api_no_dim(h, dimid);
    if (name != NULL) strcpy(name, h->dims[dimid].name);
    if (lenp != NULL)
        *lenp = dimid == h->unlimited ? records_of_dataset(d) : h->dims[dimid].length;
    return NC_NOERR;
}

int ncmpi_inq_dimname(int ncid, int dimid, char *name)
{
    return ncmpi_inq_dim(ncid, dimid, name, NULL);
}

int ncmpi_inq_dimlen(int ncid, int dimid, MPI_Offset *lenp)
{
    return ncmpi_inq_dim(ncid, dimid, NULL, lenp);
}

/* ---- variables ---- */

/* Finds a variable in a dataset. NC_EBADID, NC_EGLOBAL, NC_ENOTVAR. */
static int find_var(int ncid, int varid, struct api_dataset **d, const struct cdf_var **v)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    *v = api_var(*d, varid);
    return *v == NULL ? api_no_var(*d, varid) : NC_NOERR;
}

int ncmpi_inq_varid(int ncid, const char *name, int *varidp)
{
    struct api_dataset *d;
    int id, err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    err = check_lookup_name(name);
    if (err != NC_NOERR) return err;
    err = cdf_find_var(&d->ds.header, name, &id);
    if (err == NC_ENOTVAR) base_error_named(err, "variable '%.80s'%s", name, NULL);
    err = api_explain_omitted(d, err, "variable ", name);
    if (err == NC_NOERR && varidp != NULL) *varidp = id;
    return err;
}

int ncmpi_inq_var(int ncid, int varid, char *name, nc_type *xtypep, int *ndimsp,
                  int *dimidsp, int *nattsp)
{
    struct api_dataset *d;
    const struct cdf_var *v;
    bool of_variables =
        name != NULL || xtypep != NULL || ndimsp != NULL || dimidsp != NULL;
    if (varid == NC_GLOBAL && !of_variables) return ncmpi_inq_natts(ncid, nattsp);
    int err = find_var(ncid, varid, &d, &v);
    if (err != NC_NOERR) return err;
    if (name != NULL) strcpy(name, v->name);
    if (xtypep != NULL) *xtypep = v->type;
    if (ndimsp != NULL) *ndimsp = v->ndims;
    for (int i = 0; dimidsp != NULL && i < v->ndims; i++)
        dimidsp[i] = v->dimids[i];
    if (nattsp != NULL) *nattsp = v->atts.count;
    return NC_NOERR;
}

int ncmpi_inq_varname(int ncid, int varid, char *name)
{
    struct api_dataset *d;
    const struct cdf_var *v;
    int err = find_var(ncid, varid, &d, &v);
    if (err == NC_NOERR && name != NULL) strcpy(name, v->name);
    return err;
}

int ncmpi_inq_vartype(int ncid, int varid, nc_type *xtypep)
{
    struct api_dataset *d;
    const struct cdf_var *v;
    int err = find_var(ncid, varid, &d, &v);
    if (err == NC_NOERR && xtypep != NULL) *xtypep = v->type;
    return err;
}

int ncmpi_inq_varndims(int ncid, int varid, int *ndimsp)
{
    struct api_dataset *d;
    const struct cdf_var *v;
    int err = find_var(ncid, varid, &d, &v);
    if (err == NC_NOERR && ndimsp != NULL) *ndimsp = v->ndims;
    return err;
}

int ncmpi_inq_vardimid(int ncid, int varid, int *dimidsp)
{
    struct api_dataset *d;
    const struct cdf_var *v;
    int err = find_var(ncid, varid, &d, &v);
    if (err != NC_NOERR || dimidsp == NULL) return err;
    for (int i = 0; i < v->ndims; i++)
        dimidsp[i] = v->dimids[i];
    return NC_NOERR;
}

int ncmpi_inq_varnatts(int ncid, int varid, int *nattsp)
{
    return ncmpi_inq_var(ncid, varid, NULL, NULL, NULL, NULL, nattsp);
}

int ncmpi_inq_varoffset(int ncid, int varid, MPI_Offset *offset)
{
    struct api_dataset *d;
    const struct cdf_var *v;
    int err = find_var(ncid, varid, &d, &v);
    if (err != NC_NOERR) return err;
    /* The offset is 0 until enddef assigns it. */
    if (offset != NULL) *offset = v->begin < 0 ? 0 : v->begin;
    return NC_NOERR;
}

/* ---- variable kinds, and record size ---- */

/* Computes the record size and the number of record variables from the current
 * definitions, even if no layout has been computed yet. */
static int sum_records(int ncid, struct cdf_header *now)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    *now = d->ds.header; /* shallow copy: only the sums are modified */
    api_unlock(d);
    return d->defining ? cdf_sum_records(now) : NC_NOERR;
}

int ncmpi_inq_num_rec_vars(int ncid, int *nvarsp)
{
    struct cdf_header now;
    int err = sum_records(ncid, &now);
    if (err == NC_NOERR && nvarsp != NULL) *nvarsp = now.nrecord_vars;
    return err;
}

int ncmpi_inq_num_fix_vars(int ncid, int *nvarsp)
{
    struct cdf_header now;
    int err = sum_records(ncid, &now);
    if (err == NC_NOERR && nvarsp != NULL) *nvarsp = now.nvars - now.nrecord_vars;
    return err;
}

int ncmpi_inq_recsize(int ncid, MPI_Offset *recsize)
{
    struct cdf_header now;
    int err = sum_records(ncid, &now);
    if (err == NC_NOERR && recsize != NULL) *recsize = now.record_size;
    return err;
}

int ncmpi_inq_header_size(int ncid, MPI_Offset *size)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR && size != NULL) *size = cdf_encoded_size(&d->ds.header);
    return err;
}

int ncmpi_inq_header_extent(int ncid, MPI_Offset *extent)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR && extent != NULL) *extent = d->ds.header.begin_fixed;
    return err;
}
