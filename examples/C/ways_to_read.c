/* Reads a file in three ways: on one process, collectively, and independently.
 *
 *     mpicc -o ways_to_read ways_to_read.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./ways_to_read */
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

enum { LENGTH = 20 };

static int rank, nprocs;

static void create(const char *path)
{
    int file, dim, var;
    double values[LENGTH];
    MPI_Offset start = LENGTH * rank / nprocs;
    MPI_Offset count = LENGTH * (rank + 1) / nprocs - start;
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dim));
    CHECK(ncmpi_def_var(file, "v", NC_DOUBLE, 1, &dim, &var));
    CHECK(ncmpi_enddef(file));
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = 0.5 * (double)(start + i);
    CHECK(ncmpi_put_vara_double_all(file, var, &start, &count, values));
    CHECK(ncmpi_close(file));
}

static double sum(const double *values, MPI_Offset n)
{
    double total = 0;
    for (MPI_Offset i = 0; i < n; i++)
        total += values[i];
    return total;
}

/* On a communicator with one process, no call waits for other processes. */
static double read_alone(const char *path)
{
    int file, var;
    double values[LENGTH];
    CHECK(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    CHECK(ncmpi_inq_varid(file, "v", &var));
    CHECK(ncmpi_get_var_double_all(file, var, values)); /* the whole variable */
    CHECK(ncmpi_close(file));
    return sum(values, LENGTH);
}

/* All processes read their parts in one call, which is the fastest way for large
 * files. */
static double read_together(int file, int var)
{
    double values[LENGTH], mine, total;
    MPI_Offset start = LENGTH * rank / nprocs;
    MPI_Offset count = LENGTH * (rank + 1) / nprocs - start;
    CHECK(ncmpi_get_vara_double_all(file, var, &start, &count, values));
    mine = sum(values, count);
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* Reads in independent mode, in which each process may read any data at any time. Only
 * switching the mode is collective. */
static double read_at_will(int file, int var)
{
    double total = 0;
    CHECK(ncmpi_begin_indep_data(file));
    for (MPI_Offset i = 0; i < LENGTH && rank == nprocs - 1; i++) {
        double value;
        CHECK(ncmpi_get_var1_double(file, var, &i, &value));
        total += value;
    }
    CHECK(ncmpi_end_indep_data(file));
    MPI_Bcast(&total, 1, MPI_DOUBLE, nprocs - 1, MPI_COMM_WORLD);
    return total;
}

int main(int argc, char **argv)
{
    int file, var;
    double alone = 0;
    const char *path = argc > 1 ? argv[1] : "ways_to_read.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    create(path);
    if (rank == 0) alone = read_alone(path);
    MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    CHECK(ncmpi_inq_varid(file, "v", &var));
    double together = read_together(file, var), at_will = read_at_will(file, var);
    CHECK(ncmpi_close(file));

    if (rank == 0) printf("sums: %g, %g, %g\n", alone, together, at_will);
    if (together != alone || at_will != alone) CHECK(NC_EREAD);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
