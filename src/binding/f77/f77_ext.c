/* nfmpix_*: the functions of pnetcdf_ext.h. */
#include "f77.h"
#include "pnetcdf_ext.h"

int F77_NAME(nfmpix_flush_start, NFMPIX_FLUSH_START)(const int *ncid)
{
    return ncmpix_flush_start(*ncid);
}

int F77_NAME(nfmpix_flush_test, NFMPIX_FLUSH_TEST)(const int *ncid, int *done)
{
    return ncmpix_flush_test(*ncid, done);
}
