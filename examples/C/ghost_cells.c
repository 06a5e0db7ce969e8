/* A process's array has a frame of ghost cells, copies of what its neighbours have, which
 * must not be written. An MPI datatype tells which elements of memory are meant.
 *
 *     mpicc -o ghost_cells ghost_cells.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./ghost_cells
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

enum { NY = 12, NX = 6, GHOST = 2, WIDE = NX + 2 * GHOST };

static int band[NY + 2 * GHOST][WIDE]; /* rows of all columns, and the frame */

static void set_all(int rows, int value)
{
    for (int y = 0; y < rows + 2 * GHOST; y++)
        for (int x = 0; x < WIDE; x++)
            band[y][x] = value;
}

/* All but the frame of the rows x NX elements in the middle. */
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

    /* Functions without a type in their names take a number of MPI datatypes. Start and
     * count are those of the variable; values are converted, here from int to short. A
     * process without rows has no such datatype and writes nothing. */
    MPI_Datatype type = rows > 0 ? inner_type(rows) : MPI_INT;
    set_all(rows, -1);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < NX; x++)
            band[GHOST + y][GHOST + x] = 10 * ((int)start[0] + y) + x;
    CHECK(ncmpi_put_vara_all(file, var, start, count, band, rows > 0, type));

    /* Reading leaves the frame as it is, too. */
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
