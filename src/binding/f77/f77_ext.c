/* nfmpix_*: the functions in pnetcdf_ext.h for Fortran. */
#include <limits.h>

#include "f77.h"
#include "f77_message.h"
#include "pnetcdf_ext.h"

int F77_NAME(nfmpix_flush_start, NFMPIX_FLUSH_START)(const int *ncid)
{
    return ncmpix_flush_start(*ncid);
}

int F77_NAME(nfmpix_flush_test, NFMPIX_FLUSH_TEST)(const int *ncid, int *done)
{
    return ncmpix_flush_test(*ncid, done);
}

/* Prefetches a hyperslab. For NF_GLOBAL, start and count are ignored. */
static int prefetch(int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count,
                    int (*call)(int, int, const MPI_Offset *, const MPI_Offset *))
{
    struct f77_slab at;
    if (f77_id(varid) == NC_GLOBAL) return call(ncid, NC_GLOBAL, NULL, NULL);
    f77_slab_make(&at, ncid, varid, start, count, NULL, NULL);
    return f77_slab_end(&at, call(ncid, at.varid, at.start, at.count));
}

int F77_NAME(nfmpix_prefetch, NFMPIX_PREFETCH)(const int *ncid, const int *varid,
                                               const MPI_Offset *start,
                                               const MPI_Offset *count)
{
    return prefetch(*ncid, *varid, start, count, ncmpix_prefetch);
}

int F77_NAME(nfmpix_prefetch_all, NFMPIX_PREFETCH_ALL)(const int *ncid, const int *varid,
                                                       const MPI_Offset *start,
                                                       const MPI_Offset *count)
{
    return prefetch(*ncid, *varid, start, count, ncmpix_prefetch_all);
}

int F77_NAME(nfmpix_prefetch_wait, NFMPIX_PREFETCH_WAIT)(const int *ncid)
{
    return ncmpix_prefetch_wait(*ncid);
}

int F77_NAME(nfmpix_def_var_quantize,
             NFMPIX_DEF_VAR_QUANTIZE)(const int *ncid, const int *varid, const int *mode,
                                      const int *digits)
{
    return ncmpix_def_var_quantize(*ncid, f77_id(*varid), *mode, *digits);
}

int F77_NAME(nfmpix_inq_var_quantize, NFMPIX_INQ_VAR_QUANTIZE)(const int *ncid,
                                                               const int *varid,
                                                               int *mode, int *digits)
{
    return ncmpix_inq_var_quantize(*ncid, f77_id(*varid), mode, digits);
}

int F77_NAME(nfmpix_wait_closed, NFMPIX_WAIT_CLOSED)(const char *text, F77_STRLEN len)
{
    /* Not allocated, because an allocation could fail on one process while the others
     * wait in the call. */
    char path[PATH_MAX];
    f77_text_in(path, sizeof path, text, len);
    return ncmpix_wait_closed(path);
}

int F77_NAME(nfmpix_strerror, NFMPIX_STRERROR)(const int *err, char *text, F77_STRLEN len)
{
    bool fits = f77_message(text, (size_t)len, ncmpi_strerror(*err), &f77_names_nfmpi);
    return fits ? NC_NOERR : NC_ESTS;
}
