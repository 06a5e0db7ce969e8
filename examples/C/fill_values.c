/* Fills elements that no process writes: in fill mode they get a fill value, which
 * readers interpret as "no data".
 *
 *     mpicc -o fill_values fill_values.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./fill_values */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

/* Checks the error code that a library call returned. If only one process exited, the
 * others would wait forever, so an error aborts all of them. */
static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s, line %d: %s\n", __FILE__, line, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__)

enum { LENGTH = 12 };

static void define(int file, int *vars)
{
    int dims[2];
    const float none = -999;
    CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dims[1]));
    CHECK(ncmpi_def_var(file, "default_fill", NC_INT, 1, &dims[1], &vars[0]));
    CHECK(ncmpi_def_var(file, "own_fill", NC_FLOAT, 1, &dims[1], &vars[1]));
    CHECK(ncmpi_def_var(file, "records", NC_FLOAT, 2, dims, &vars[2]));

    /* Filling costs an additional write, so it is off by default. It can be enabled for
     * one variable, either with a given value, which becomes the variable's attribute
     * _FillValue ... */
    CHECK(ncmpi_def_var_fill(file, vars[1], 0, &none));
    CHECK(ncmpi_def_var_fill(file, vars[2], 0, &none));
    /* ... or with the default value of its type, which is NC_FILL_INT for int. */
    CHECK(ncmpi_def_var_fill(file, vars[0], 0, NULL));
    CHECK(ncmpi_enddef(file)); /* fills the fixed-size variables */
}

/* Process r writes elements r, r + nprocs ... of the first half. The rest is not
 * written. */
static void write_half(int file, int var, int rank, int nprocs)
{
    float values[LENGTH];
    MPI_Offset start = rank, stride = nprocs;
    MPI_Offset count = rank < LENGTH / 2 ? (LENGTH / 2 - rank - 1) / nprocs + 1 : 0;
    if (count == 0) start = 0; /* nothing to write, but the call is collective */
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = (float)(start + i * stride);
    CHECK(ncmpi_put_vars_float_all(file, var, &start, &count, &stride, values));
}

int main(int argc, char **argv)
{
    int rank, nprocs, file, vars[3], off;
    float none, values[2 * LENGTH];
    const char *path = argc > 1 ? argv[1] : "fill_values.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    define(file, vars);
    write_half(file, vars[0], rank, nprocs);
    write_half(file, vars[1], rank, nprocs);

    /* Each record must be filled explicitly, before any part of it is written. */
    for (MPI_Offset record = 0; record < 2; record++)
        CHECK(ncmpi_fill_var_rec(file, vars[2], record));
    MPI_Offset place[2] = {1, LENGTH - 1}, one[2] = {1, rank == 0};
    const float last = 1;
    CHECK(ncmpi_put_vara_float_all(file, vars[2], place, one, &last));
    CHECK(ncmpi_sync(file));

    /* A reader can query the fill mode: `off` is 1 if the variable is not filled. */
    CHECK(ncmpi_inq_var_fill(file, vars[2], &off, &none));
    CHECK(ncmpi_get_var_float_all(file, vars[2], values));
    int missing = 0;
    for (int i = 0; i < 2 * LENGTH; i++)
        missing += values[i] == none;
    printf("process %d: %d of %d elements have no data\n", rank, missing, 2 * LENGTH);
    if (off || missing != 2 * LENGTH - 1) CHECK(NC_EREAD);

    CHECK(ncmpi_close(file));
    MPI_Finalize();
    return EXIT_SUCCESS;
}
