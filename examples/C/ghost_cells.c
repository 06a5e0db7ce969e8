/* Writes an array without its ghost cells, a frame around it that contains copies of the
 * neighbours' elements and must not be written. An MPI datatype selects the elements in
 * memory.
 *
 *     mpicc -o ghost_cells ghost_cells.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./ghost_cells */
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

enum { NY = 12, NX = 6, GHOST = 2, WIDE = NX + 2 * GHOST };

static int band[NY + 2 * GHOST][WIDE]; /* this process's rows, and the frame */

static void set_all(int rows, int value)
{
    for (int y = 0; y < rows + 2 * GHOST; y++)
        for (int x = 0; x < WIDE; x++)
            band[y][x] = value;
}

/* Returns the datatype of the rows x NX elements inside the frame. */
static MPI_Datatype inner_type(int rows)
{
    MPI_Datatype type;
    int whole[2] = {rows + 2 * GHOST, WIDE}, inner[2] = {rows, NX};
    int first[2] = {GHOST, GHOST};
    MPI_Type_create_subarray(2, whole, inner, first, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    int rank, nprocs, file, dims[2], var;
    const char *path = argc > 1 ? argv[1] : "ghost_cells.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    MPI_Offset start[2] = {NY * rank / nprocs, 0};
    MPI_Offset count[2] = {NY * (rank + 1) / nprocs - start[0], NX};
    int rows = (int)count[0];

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &file));
    CHECK(ncmpi_def_dim(file, "y", NY, &dims[0]));
    CHECK(ncmpi_def_dim(file, "x", NX, &dims[1]));
    CHECK(ncmpi_def_var(file, "cell", NC_SHORT, 2, dims, &var));
    CHECK(ncmpi_enddef(file));

    /* If a function's name contains no type, pass an MPI datatype for the memory and the
     * number of its items. start and count refer to the variable. Values are converted,
     * here from int to short. No datatype exists for 0 rows, so a process without rows
     * passes 0 items. */
    MPI_Datatype type = rows > 0 ? inner_type(rows) : MPI_INT;
    set_all(rows, -1);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < NX; x++)
            band[GHOST + y][GHOST + x] = 10 * ((int)start[0] + y) + x;
    CHECK(ncmpi_put_vara_all(file, var, start, count, band, rows > 0, type));

    /* Reading does not change the frame either. */
    set_all(rows, -2);
    CHECK(ncmpi_get_vara_all(file, var, start, count, band, rows > 0, type));
    for (int y = 0; y < rows + 2 * GHOST; y++)
        for (int x = 0; x < WIDE; x++) {
            int frame = y < GHOST || y >= GHOST + rows || x < GHOST || x >= GHOST + NX;
            int cell = 10 * ((int)start[0] + y - GHOST) + x - GHOST;
            if (band[y][x] != (frame ? -2 : cell)) CHECK(NC_EREAD);
        }

    if (rows > 0) MPI_Type_free(&type);
    CHECK(ncmpi_close(file));
    printf("process %d wrote %d rows from the middle of its array\n", rank, rows);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
