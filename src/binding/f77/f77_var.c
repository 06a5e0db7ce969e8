/* Implements functions for variables, whose dimension order is reversed in Fortran. */
#include "base_mem.h"
#include "f77.h"

/* Converts dimension ids from C to Fortran in place. */
static void dims_out(int *dimids, int ndims)
{
    for (int i = 0, j = ndims - 1; i <= j; i++, j--) {
        int first = dimids[i];
        dimids[i] = dimids[j] + 1;
        dimids[j] = first + 1;
    }
}

int F77_NAME(nfmpi_def_var, NFMPI_DEF_VAR)(const int *ncid, const char *text,
                                           const int *xtype, const int *ndims,
                                           const int *dimids, int *varid, F77_STRLEN len)
{
    int few[F77_DIMS], n = *ndims > 0 ? *ndims : 0;
    int *ids = n > F77_DIMS ? base_calloc((size_t)n, sizeof *ids) : few;
    for (int i = 0; ids && i < n; i++)
        ids[i] = f77_id(dimids[n - 1 - i]);
    char name[F77_NAME_ROOM];
    f77_name_in(name, text, len);
    /* If the ids could not be allocated, passes an invalid number of dimensions. */
    int err = ncmpi_def_var(*ncid, name, *xtype, ids ? *ndims : -1, ids, varid);
    if (err == NC_NOERR) ++*varid;
    if (!ids) return NC_ENOMEM;
    if (ids != few) base_free(ids);
    return err;
}

int F77_NAME(nfmpi_inq_var, NFMPI_INQ_VAR)(const int *ncid, const int *varid, char *text,
                                           int *xtype, int *ndims, int *dimids,
                                           int *natts, F77_STRLEN len)
{
    char name[NC_MAX_NAME + 1] = "";
    int err = ncmpi_inq_var(*ncid, f77_id(*varid), name, xtype, ndims, dimids, natts);
    if (err != NC_NOERR) return err;
    f77_text_out(text, len, name);
    dims_out(dimids, *ndims);
    return err;
}

int F77_NAME(nfmpi_inq_vardimid, NFMPI_INQ_VARDIMID)(const int *ncid, const int *varid,
                                                     int *dimids)
{
    int ndims = 0, id = f77_id(*varid);
    int err = ncmpi_inq_varndims(*ncid, id, &ndims);
    if (err == NC_NOERR) err = ncmpi_inq_vardimid(*ncid, id, dimids);
    if (err == NC_NOERR) dims_out(dimids, ndims);
    return err;
}
