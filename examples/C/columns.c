/* Writes columns of a table, first with strides, then from an array whose order in memory
 * differs from the order in the file.
 *
 *     mpicc -o columns columns.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./columns */
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

enum { ROWS = 6, COLUMNS = 10 };

static int element(MPI_Offset row, MPI_Offset column)
{
    return (int)(100 * row + column);
}

int main(int argc, char **argv)
{
    int rank, nprocs, file, dims[2], vars[2], values[ROWS * COLUMNS];
    const char *path = argc > 1 ? argv[1] : "columns.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &file));
    CHECK(ncmpi_def_dim(file, "row", ROWS, &dims[0]));
    CHECK(ncmpi_def_dim(file, "column", COLUMNS, &dims[1]));
    CHECK(ncmpi_def_var(file, "by_turns", NC_INT, 2, dims, &vars[0]));
    CHECK(ncmpi_def_var(file, "in_blocks", NC_INT, 2, dims, &vars[1]));
    CHECK(ncmpi_enddef(file));

    /* vars: every nprocs-th column, starting with column `rank`. The order in memory is
     * that of the file, row by row. */
    MPI_Offset n = rank < COLUMNS ? (COLUMNS - rank - 1) / nprocs + 1 : 0;
    MPI_Offset start[2] = {0, n > 0 ? rank : 0}, count[2] = {ROWS, n};
    MPI_Offset stride[2] = {1, nprocs};
    for (MPI_Offset row = 0; row < ROWS; row++)
        for (MPI_Offset i = 0; i < n; i++)
            values[row * n + i] = element(row, rank + i * nprocs);
    CHECK(ncmpi_put_vars_int_all(file, vars[0], start, count, stride, values));

    /* varm: a block of columns, stored in memory column by column as in Fortran. For each
     * dimension, imap is the distance between neighbouring elements in memory. */
    start[1] = COLUMNS * rank / nprocs;
    count[1] = n = COLUMNS * (rank + 1) / nprocs - start[1];
    MPI_Offset imap[2] = {1, ROWS};
    for (MPI_Offset i = 0; i < n; i++)
        for (MPI_Offset row = 0; row < ROWS; row++)
            values[i * ROWS + row] = element(row, start[1] + i);
    CHECK(ncmpi_put_varm_int_all(file, vars[1], start, count, NULL, imap, values));
    CHECK(ncmpi_sync(file));

    /* All processes read one whole column. */
    MPI_Offset top[2] = {0, COLUMNS - 1}, column[2] = {ROWS, 1};
    for (int v = 0; v < 2; v++) {
        CHECK(ncmpi_get_vara_int_all(file, vars[v], top, column, values));
        for (int row = 0; row < ROWS; row++)
            if (values[row] != element(row, COLUMNS - 1)) CHECK(NC_EREAD);
    }
    CHECK(ncmpi_close(file));
    printf("process %d wrote %lld columns in a block\n", rank, (long long)n);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
