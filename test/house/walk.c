/* walk SHAPE FILE: makes one collective call of each kind, on two processes, for
 * profiling with callgrind (aims.py). SHAPE is `rows` (each process has a contiguous
 * part) or `columns` (the columns of the two processes alternate). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { Y = 400, X = 64 };

static void check(int line, int err)
{
    if (err == NC_NOERR) return;
    fprintf(stderr, "walk.c:%d: %s\n", line, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(__LINE__, call)

int main(int argc, char **argv)
{
    static float values[Y * X];
    int rank, n, ncid, dims[2], varid, request, status;
    if (argc != 3) return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const int columns = strcmp(argv[1], "columns") == 0;
    MPI_Offset start[2] = {columns ? 0 : Y * rank, columns ? X * rank : 0};
    MPI_Offset count[2] = {Y, X};
    for (int i = 0; i < Y * X; i++)
        values[i] = (float)rank + (float)i / (Y * X);
    CHECK(ncmpi_create(MPI_COMM_WORLD, argv[2], NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    CHECK(ncmpi_def_dim(ncid, "y", columns ? Y : Y * n, &dims[0]));
    CHECK(ncmpi_def_dim(ncid, "x", columns ? X * n : X, &dims[1]));
    CHECK(ncmpi_def_var(ncid, "v", NC_FLOAT, 2, dims, &varid));
    CHECK(ncmpi_enddef(ncid));
    CHECK(ncmpi_put_vara_float_all(ncid, varid, start, count, values));
    CHECK(ncmpi_get_vara_float_all(ncid, varid, start, count, values));
    CHECK(ncmpi_iput_vara_float(ncid, varid, start, count, values, &request));
    CHECK(ncmpi_wait_all(ncid, 1, &request, &status));
    CHECK(ncmpi_close(ncid));
    CHECK(ncmpi_open(MPI_COMM_WORLD, argv[2], NC_NOWRITE, MPI_INFO_NULL, &ncid));
    CHECK(ncmpi_get_varn_float_all(ncid, varid, 1, (MPI_Offset *[]){start},
                                   (MPI_Offset *[]){count}, values));
    CHECK(ncmpi_close(ncid));
    MPI_Finalize();
    return 0;
}
