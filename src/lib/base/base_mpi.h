/* MPI's errors as NC_ codes. */
#ifndef BASE_MPI_H
#define BASE_MPI_H

#include <mpi.h>

/* The NC_ code for what an MPI call returned: NC_NOERR for MPI_SUCCESS, a code of its
 * own where the error class has one (NC_ENOENT, NC_EACCESS, NC_ENO_SPACE ...), else
 * otherwise. MPI's own words are recorded with base_error_set, after `what`. */
int base_mpi_error(int mpi_result, int otherwise, const char *what);

#endif
