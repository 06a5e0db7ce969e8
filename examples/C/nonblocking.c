/* Makes nonblocking calls: posts many requests, each for a small piece of a variable, and
 * completes all of them with a single call, which accesses the file in a few large
 * pieces.
 *
 *     mpicc -o nonblocking nonblocking.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./nonblocking */
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

enum { VARS = 5, LENGTH = 8 };

/* Completes all requests. Each has its own status. */
static void wait_for(int file, int n, int *requests)
{
    int statuses[VARS];
    CHECK(ncmpi_wait_all(file, n, requests, statuses));
    for (int i = 0; i < n; i++)
        CHECK(statuses[i]);
}

static void define(int file, int *vars)
{
    int dim;
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dim));
    for (int v = 0; v < VARS; v++) {
        char name[16];
        snprintf(name, sizeof name, "tracer_%d", v);
        CHECK(ncmpi_def_var(file, name, NC_FLOAT, 1, &dim, &vars[v]));
    }
    CHECK(ncmpi_enddef(file));
}

int main(int argc, char **argv)
{
    int rank, nprocs, file, vars[VARS], requests[VARS];
    float values[VARS][LENGTH], one[LENGTH];
    const char *path = argc > 1 ? argv[1] : "nonblocking.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    MPI_Offset start = LENGTH * rank / nprocs;
    MPI_Offset count = LENGTH * (rank + 1) / nprocs - start;

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    define(file, vars);

    /* iput: the program must not change the values before the wait. */
    for (int v = 0; v < VARS; v++) {
        for (MPI_Offset i = 0; i < count; i++)
            values[v][i] = (float)(100 * (MPI_Offset)v + start + i);
        CHECK(ncmpi_iput_vara_float(file, vars[v], &start, &count, values[v],
                                    &requests[v]));
    }
    wait_for(file, VARS, requests);

    /* bput: copies the values to a buffer, which must be attached beforehand and large
     * enough, so the array can be reused immediately. These values overwrite those of the
     * last variable. */
    CHECK(ncmpi_buffer_attach(file, (MPI_Offset)sizeof one));
    for (MPI_Offset i = 0; i < count; i++)
        one[i] = (float)-(start + i);
    CHECK(ncmpi_bput_vara_float(file, vars[VARS - 1], &start, &count, one, &requests[0]));
    for (MPI_Offset i = 0; i < count; i++)
        one[i] = 0;
    wait_for(file, 1, requests);
    CHECK(ncmpi_buffer_detach(file));

    /* iget: the values are available after the wait. */
    for (int v = 0; v < VARS; v++)
        CHECK(ncmpi_iget_vara_float(file, vars[v], &start, &count, values[v],
                                    &requests[v]));
    wait_for(file, VARS, requests);
    for (int v = 0; v < VARS; v++)
        for (MPI_Offset i = 0; i < count; i++)
            if (values[v][i] !=
                (float)(v < VARS - 1 ? 100 * (MPI_Offset)v + start + i : -(start + i)))
                CHECK(NC_EREAD);

    CHECK(ncmpi_close(file));
    printf("process %d: %d variables, %lld elements of each\n", rank, VARS,
           (long long)count);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
