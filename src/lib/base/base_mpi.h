/* Helpers for MPI: errors, numeric hints, datatypes, and work to do when MPI ends. */
#ifndef BASE_MPI_H
#define BASE_MPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the NC_ code for the result of an MPI call: NC_NOERR for MPI_SUCCESS, the code
 * of the error class if there is one (NC_ENOENT, NC_EACCESS, NC_ENO_SPACE ...), otherwise
 * `otherwise`. The message consists of `what` and MPI's text. */
int base_mpi_error(int mpi_result, int otherwise, const char *what);

/* Returns the number in a hint, or 0 if the hint is missing or the info is
 * MPI_INFO_NULL. */
long long base_mpi_number(MPI_Info info, const char *key);

/* Makes a committed datatype of n runs of bytes, which the caller frees. Returns MPI's
 * result. After an error *type is unchanged. */
int base_mpi_runs(int n, const int *lengths, const MPI_Aint *displs, MPI_Datatype *type);

/* Returns a number that almost certainly identifies the host, or 0 if unknown. */
int64_t base_mpi_host(void);

/* Functions to call when MPI ends. They are called in this order on every process, so
 * they may be collective. */
enum base_end { BASE_END_DATASETS, BASE_END_WINDOWS, BASE_END_STAGES, BASE_ENDS };

/* Registers `end` to be called once, with `of`, at the beginning of MPI_Finalize, while
 * MPI can still be used. Returns false if MPI does not support this. */
bool base_mpi_at_end(enum base_end which, void (*end)(void *of), void *of);

#endif
