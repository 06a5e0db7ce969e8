/* Implements the functions in pnetcdf_ext.h that take Fortran lists or text, and error
 * messages. */
#include "base_mem.h"
#include "f77_message.h"
#include "f90_access.h"
#include "pnetcdf_ext.h"

enum { NO_VARIABLE = -2 };

/* Reverses a list, and subtracts `first` from each element. A missing element counts as
 * 1. */
static void turn(const int64_t *list, int64_t given, int64_t first, int64_t n,
                 MPI_Offset *out)
{
    for (int64_t i = 0; i < n; i++)
        out[n - 1 - i] = (MPI_Offset)(list != NULL && i < given ? list[i] : 1) - first;
}

/* Prefetches a hyperslab. Makes the C call even after a local error, because it may be
 * collective. */
int f90_prefetch(int all, int ncid, int varid, const int64_t given[2],
                 const int64_t *start, const int64_t *count)
{
    int (*call)(int, int, const MPI_Offset *, const MPI_Offset *) =
        all ? ncmpix_prefetch_all : ncmpix_prefetch;
    int n = 0, id = varid - 1;
    if (start == NULL && count == NULL) return call(ncid, id, NULL, NULL);
    if (ncmpi_inq_varndims(ncid, id, &n) != NC_NOERR) n = 0;
    MPI_Offset *both = base_malloc(2 * (size_t)n * sizeof *both + 1);
    if (both == NULL) {
        (void)call(ncid, NO_VARIABLE, NULL, NULL);
        return NC_ENOMEM;
    }
    turn(start, given[0], 1, n, both);
    turn(count, given[1], 0, n, both + n);
    int err = call(ncid, id, both, both + n);
    base_free(both);
    return err;
}

int f90_message(int err, char *text, int64_t len)
{
    bool fits = f77_message(text, (size_t)len, ncmpi_strerror(err), &f77_names_nf90mpi);
    return fits ? NC_NOERR : NC_ESTS;
}
