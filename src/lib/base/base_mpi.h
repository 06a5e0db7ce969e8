/* MPI's errors as NC_ codes, and numbers among its hints. */
#ifndef BASE_MPI_H
#define BASE_MPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The NC_ code for what an MPI call returned: NC_NOERR for MPI_SUCCESS, a code of its
 * own where the error class has one (NC_ENOENT, NC_EACCESS, NC_ENO_SPACE ...), else
 * otherwise. MPI's own words are recorded with base_error_set, after `what`. */
int base_mpi_error(int mpi_result, int otherwise, const char *what);

/* The number that a hint has; 0 if it is not there, or the info is MPI_INFO_NULL. */
long long base_mpi_number(MPI_Info info, const char *key);

/* A datatype of n runs of bytes, committed; the caller frees it. The result is MPI's;
 * after an error *type is as it was. */
int base_mpi_runs(int n, const int *lengths, const MPI_Aint *displs, MPI_Datatype *type);

/* A number that tells hosts apart, as good as certainly; 0: unknown. */
int64_t base_mpi_host(void);

/* What is left to be done when MPI ends, in this order on every process, so that it may
 * be collective. */
enum base_end { BASE_END_DATASETS, BASE_END_WINDOWS, BASE_END_STAGES, BASE_ENDS };

/* `end` is called once, with `of`, at the beginning of MPI_Finalize, when MPI can still
 * be used. False: MPI cannot promise that. */
bool base_mpi_at_end(enum base_end which, void (*end)(void *of), void *of);

#endif
