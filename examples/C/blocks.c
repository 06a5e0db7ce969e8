/* Divides a two-dimensional grid into blocks, one for each process. Each process writes
 * its block with one call.
 *
 *     mpicc -o blocks blocks.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./blocks */
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

enum { NY = 12, NX = 10 };

/* The block of one process: its first row and column, and its numbers of rows and
 * columns. */
struct block {
    MPI_Offset start[2], count[2];
};

static struct block find_block(int rank, int nprocs)
{
    /* MPI chooses how to arrange the processes in rows and columns: 4 processes form 2 x
     * 2. */
    int shape[2] = {0, 0};
    MPI_Dims_create(nprocs, 2, shape);
    int place[2] = {rank / shape[1], rank % shape[1]};
    const MPI_Offset size[2] = {NY, NX};

    struct block b;
    for (int d = 0; d < 2; d++) {
        b.start[d] = size[d] * place[d] / shape[d];
        b.count[d] = size[d] * (place[d] + 1) / shape[d] - b.start[d];
    }
    return b;
}

/* Returns the value of the grid at element i of the block. */
static double value(const struct block *b, MPI_Offset i)
{
    MPI_Offset y = b->start[0] + i / b->count[1], x = b->start[1] + i % b->count[1];
    return (double)y + 0.01 * (double)x;
}

int main(int argc, char **argv)
{
    int rank, nprocs, file, dims[2], var;
    double values[NY * NX];
    const char *path = argc > 1 ? argv[1] : "blocks.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL,
                       &file));
    CHECK(ncmpi_def_dim(file, "y", NY, &dims[0]));
    CHECK(ncmpi_def_dim(file, "x", NX, &dims[1]));
    CHECK(ncmpi_def_var(file, "field", NC_DOUBLE, 2, dims, &var));
    CHECK(ncmpi_enddef(file));

    struct block mine = find_block(rank, nprocs);
    for (MPI_Offset i = 0; i < mine.count[0] * mine.count[1]; i++)
        values[i] = value(&mine, i);
    CHECK(ncmpi_put_vara_double_all(file, var, mine.start, mine.count, values));

    /* After a sync, each process can read what the others wrote through the same open
     * file. The processes may divide the grid differently for reading and for writing. */
    CHECK(ncmpi_sync(file));
    struct block other = find_block(nprocs - 1 - rank, nprocs);
    CHECK(ncmpi_get_vara_double_all(file, var, other.start, other.count, values));
    for (MPI_Offset i = 0; i < other.count[0] * other.count[1]; i++)
        if (values[i] != value(&other, i)) CHECK(NC_EREAD);

    CHECK(ncmpi_close(file));
    printf("process %d wrote %lld x %lld elements from (%lld, %lld)\n", rank,
           (long long)mine.count[0], (long long)mine.count[1], (long long)mine.start[0],
           (long long)mine.start[1]);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
