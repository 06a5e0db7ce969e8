/* Runs the loops of f77_bench.f in C. `start` counts from 1, as in Fortran, and is the
 * same in every dimension, so the order of dimensions does not matter. The functions
 * return seconds, or infinity if a call failed. */
#include <config.h>
#include <math.h>
#include <pnetcdf.h>
#include <stddef.h>

double F77_NAME(f77_bench_put, F77_BENCH_PUT)(const int *ncid, const int *varid,
                                              const MPI_Offset *start,
                                              const MPI_Offset *count,
                                              const float *values, const int *loops);
double F77_NAME(f77_bench_get,
                F77_BENCH_GET)(const int *ncid, const int *varid, const MPI_Offset *start,
                               const MPI_Offset *count, float *values, const int *loops);

double F77_NAME(f77_bench_put, F77_BENCH_PUT)(const int *ncid, const int *varid,
                                              const MPI_Offset *start,
                                              const MPI_Offset *count,
                                              const float *values, const int *loops)
{
    MPI_Offset from[3] = {start[0] - 1, start[1] - 1, start[2] - 1};
    double t = MPI_Wtime();
    for (int i = 0; i < *loops; i++)
        if (ncmpi_put_vara_float_all(*ncid, *varid - 1, from, count, values))
            return INFINITY;
    return MPI_Wtime() - t;
}

double F77_NAME(f77_bench_get,
                F77_BENCH_GET)(const int *ncid, const int *varid, const MPI_Offset *start,
                               const MPI_Offset *count, float *values, const int *loops)
{
    MPI_Offset from[3] = {start[0] - 1, start[1] - 1, start[2] - 1};
    double t = MPI_Wtime();
    for (int i = 0; i < *loops; i++)
        if (ncmpi_get_vara_float_all(*ncid, *varid - 1, from, count, values))
            return INFINITY;
    return MPI_Wtime() - t;
}
