/* Writes a model's output in blobs: the cells of a process are scattered over the grid,
 * and each process writes its cells contiguously to one of a few subfiles. Then blocks of
 * rows are read as if all data were in one file. The program differs from an ordinary one
 * only in its hints, which can also be set in the environment:
 * PNETCDF_HINTS="nc_blob=enable;nc_num_subfiles=2".
 *
 *     mpicc -o blobs blobs.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./blobs ocean.nc
 *     ncmpijoin --remove ocean.nc whole.nc    # join it into one ordinary file */
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

enum { ROWS = 6, COLUMNS = 12, WIDTH = 3, PIECES = ROWS * COLUMNS / WIDTH, STEPS = 2 };

static int rank, nprocs;

static float temperature(MPI_Offset step, MPI_Offset cell)
{
    return (float)(100 * step + cell);
}

static void write_steps(const char *path)
{
    int file, dims[3], var, depth;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_blob", "enable");
    MPI_Info_set(info, "nc_num_subfiles", "2"); /* default: one for each node */
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file));
    MPI_Info_free(&info);
    CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(file, "y", ROWS, &dims[1]));
    CHECK(ncmpi_def_dim(file, "x", COLUMNS, &dims[2]));
    CHECK(ncmpi_def_var(file, "temperature", NC_FLOAT, 3, dims, &var));
    CHECK(ncmpi_def_var(file, "depth", NC_FLOAT, 0, NULL, &depth));
    CHECK(ncmpi_enddef(file));

    /* Data that one process writes, or that all processes write identically, are stored
     * in the main file. */
    float metres = 12.5F;
    CHECK(ncmpi_put_var_float_all(file, depth, &metres));

    /* Pieces of a row are assigned to the processes round-robin. The library records the
     * decomposition in the first step. Later steps use the same positions in the
     * blobs. */
    for (MPI_Offset step = 0; step < STEPS; step++) {
        MPI_Offset starts[PIECES][3], counts[PIECES][3], *start[PIECES], *count[PIECES];
        float values[ROWS * COLUMNS];
        int n = 0, filled = 0;
        for (int piece = rank; piece < PIECES; piece += nprocs, n++) {
            starts[n][0] = step;
            starts[n][1] = piece * WIDTH / COLUMNS;
            starts[n][2] = piece * WIDTH % COLUMNS;
            counts[n][0] = counts[n][1] = 1;
            counts[n][2] = WIDTH;
            start[n] = starts[n];
            count[n] = counts[n];
            for (int i = 0; i < WIDTH; i++)
                values[filled++] = temperature(step, piece * WIDTH + i);
        }
        CHECK(ncmpi_put_varn_float_all(file, var, n, start, count, values));
    }
    CHECK(ncmpi_close(file));
}

/* Readers need not know about blobs. Any number of processes can read any part of the
 * grid. */
static void read_rows(const char *path)
{
    int file, var;
    float values[STEPS * ROWS * COLUMNS];
    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    CHECK(ncmpi_inq_varid(file, "temperature", &var));
    MPI_Offset first = ROWS * rank / nprocs, rows = ROWS * (rank + 1) / nprocs - first;
    MPI_Offset start[3] = {0, first, 0}, count[3] = {STEPS, rows, COLUMNS};
    CHECK(ncmpi_get_vara_float_all(file, var, start, count, values));
    for (MPI_Offset step = 0; step < STEPS; step++)
        for (MPI_Offset i = 0; i < rows * COLUMNS; i++)
            if (values[step * rows * COLUMNS + i] !=
                temperature(step, first * COLUMNS + i))
                CHECK(NC_EREAD);
    CHECK(ncmpi_close(file));
    printf("process %d read %lld rows\n", rank, (long long)rows);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "blobs.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    write_steps(path);
    read_rows(path);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
