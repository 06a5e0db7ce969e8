/* Creates a dataset with one variable for the staging tests. */
#ifndef STAGE_INTS_H
#define STAGE_INTS_H

#include <mpi.h>

#include "check.h"
#include "pnetcdf.h"

/* On process 0, creates the file a.nc with these hints and writes n values to it. The
 * other processes wait. */
static inline void write_ints(const int *values, MPI_Offset n, const char *hints)
{
    int ncid, dim, v;
    if (check.rank == 0) {
        MPI_Info info = check_info(hints);
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, check_path("a.nc"), check.cmode,
                                        info, &ncid));
        MPI_Info_free(&info);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", n, &dim));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, v, values));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
