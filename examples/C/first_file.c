/* The first program: all processes create a file together, and each writes its part of
 * one variable. Then they open it again and read what their neighbour wrote.
 *
 *     mpicc -o first_file first_file.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./first_file
 *     ncdump first_file.nc
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

/* Every function tells by its result whether it did what it should. One process that
 * stops would leave the others waiting, so all are stopped. */
static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s, line %d: %s\n", __FILE__, line, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__)

enum { LENGTH = 24 };

/* The part of LENGTH elements that a process takes; all parts are nearly equal. */
static void find_part(int rank, int nprocs, MPI_Offset *start, MPI_Offset *count)
{
    *start = (MPI_Offset)LENGTH * rank / nprocs;
    *count = (MPI_Offset)LENGTH * (rank + 1) / nprocs - *start;
}

static void write_file(const char *path, int rank, int nprocs)
{
    int file, dim, var, values[LENGTH];
    MPI_Offset start, count;

    /* NC_CLOBBER: a file of that name is replaced. NC_64BIT_DATA: the format CDF-5,
     * which has no limits of size. Without it, the format is CDF-1. */
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &file));

    /* Definitions: every process makes the same ones. */
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dim));
    CHECK(ncmpi_def_var(file, "square", NC_INT, 1, &dim, &var));
    CHECK(ncmpi_put_att_text(file, var, "long_name", 11, "square of x"));
    CHECK(ncmpi_enddef(file));

    /* Data: every process has its own. A function whose name ends in _all is collective,
     * called by all processes together. */
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
