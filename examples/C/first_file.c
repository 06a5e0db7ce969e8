/* A first program. All processes create a file together, and each writes its part of one
 * variable. Then they reopen the file, and each reads what its neighbour wrote.
 *
 *     mpicc -o first_file first_file.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./first_file
 *     ncdump first_file.nc */
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

enum { LENGTH = 24 };

/* Computes which of the LENGTH elements belong to a process. All processes get nearly the
 * same number. */
static void find_part(int rank, int nprocs, MPI_Offset *start, MPI_Offset *count)
{
    *start = (MPI_Offset)LENGTH * rank / nprocs;
    *count = (MPI_Offset)LENGTH * (rank + 1) / nprocs - *start;
}

static void write_file(const char *path, int rank, int nprocs)
{
    int file, dim, var, values[LENGTH];
    MPI_Offset start, count;

    /* NC_CLOBBER replaces an existing file. NC_64BIT_DATA selects the format CDF-5, which
     * has no size limits. The default format is CDF-1. */
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &file));

    /* Definitions: all processes make the same calls. */
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dim));
    CHECK(ncmpi_def_var(file, "square", NC_INT, 1, &dim, &var));
    CHECK(ncmpi_put_att_text(file, var, "long_name", 11, "square of x"));
    CHECK(ncmpi_enddef(file));

    /* Data: each process writes its own part. Functions whose names end in _all are
     * collective: all processes call them together. */
    find_part(rank, nprocs, &start, &count);
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = (int)((start + i) * (start + i));
    CHECK(ncmpi_put_vara_int_all(file, var, &start, &count, values));
    CHECK(ncmpi_close(file));
}

static void read_file(const char *path, int rank, int nprocs)
{
    int file, var, values[LENGTH];
    MPI_Offset start, count;

    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    CHECK(ncmpi_inq_varid(file, "square", &var));
    find_part((rank + 1) % nprocs, nprocs, &start, &count);
    CHECK(ncmpi_get_vara_int_all(file, var, &start, &count, values));
    CHECK(ncmpi_close(file));

    for (MPI_Offset i = 0; i < count; i++)
        if (values[i] != (start + i) * (start + i)) CHECK(NC_EREAD);
    printf("process %d read %lld values\n", rank, (long long)count);
}

int main(int argc, char **argv)
{
    int rank, nprocs;
    const char *path = argc > 1 ? argv[1] : "first_file.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    write_file(path, rank, nprocs);
    read_file(path, rank, nprocs);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
