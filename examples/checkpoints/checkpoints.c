/* A simulation that regularly writes its state to a new file, as a checkpoint. With the
 * burst buffer and deferred closes, ncmpi_close returns as soon as all data are in the
 * log. The file itself is written while the simulation continues, and is completed by the
 * next call to ncmpi_create.
 *
 *     mpicc -o checkpoints checkpoints.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./checkpoints state /local/scratch */
#include <mpi.h>
#include <pnetcdf.h>
#include <pnetcdf_ext.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks the error code that a library call returned. If only one process exited, the
 * others would wait forever, so an error aborts all of them. */
static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s, line %d: %s\n", __FILE__, line, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__)

enum { LENGTH = 24000, CHECKPOINTS = 10, STEPS = 20 };

static int rank, nprocs;
static int begin, size;  /* this process's part of the rod */
static double *heat;     /* temperatures, plus one cell from each neighbour */
static double *next;     /* temperatures after the next step */
static MPI_Info info;    /* hints for writing checkpoints */
static const char *name; /* prefix of the checkpoints' file names */

/* Returns the first cell of a process's part. */
static int begin_of(int r)
{
    return (int)((long long)LENGTH * r / nprocs);
}

static void start(void)
{
    begin = begin_of(rank);
    size = begin_of(rank + 1) - begin;
    heat = calloc((size_t)size + 2, sizeof *heat);
    next = calloc((size_t)size + 2, sizeof *next);
    if (heat == NULL || next == NULL) CHECK(NC_ENOMEM);
    for (int i = 0; i < size; i++)
        heat[i + 1] = (begin + i) % 600 < 300 ? 1 : 0;
}

/* Computes one step of heat conduction. */
static void step(void)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < nprocs - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&heat[1], 1, MPI_DOUBLE, left, 0, &heat[size + 1], 1, MPI_DOUBLE, right,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&heat[size], 1, MPI_DOUBLE, right, 0, &heat[0], 1, MPI_DOUBLE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= size; i++)
        next[i] = heat[i] + 0.25 * (heat[i - 1] - 2 * heat[i] + heat[i + 1]);
    memcpy(heat + 1, next + 1, (size_t)size * sizeof *heat);
}

static const char *path_of(int checkpoint)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s.%02d.nc", name, checkpoint);
    return path;
}

/* Writes a checkpoint. The simulation waits only for the log. If the previous checkpoint
 * failed, ncmpi_create returns the error, and its message names that checkpoint. */
static void write_checkpoint(int checkpoint)
{
    int file, dim, var, steps = checkpoint * STEPS;
    MPI_Offset at = begin, count = size;
    CHECK(ncmpi_create(MPI_COMM_WORLD, path_of(checkpoint), NC_CLOBBER | NC_64BIT_DATA,
                       info, &file));
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dim));
    CHECK(ncmpi_def_var(file, "heat", NC_DOUBLE, 1, &dim, &var));
    CHECK(ncmpi_put_att_int(file, NC_GLOBAL, "steps", NC_INT, 1, &steps));
    CHECK(ncmpi_enddef(file));
    CHECK(ncmpi_put_vara_double_all(file, var, &at, &count, heat + 1));
    CHECK(ncmpi_close(file));
}

/* Reads a checkpoint as the next run would, and compares it with the current state. */
static void read_checkpoint(int checkpoint)
{
    int file, var, steps;
    MPI_Offset at = begin, count = size;
    CHECK(ncmpi_open(MPI_COMM_WORLD, path_of(checkpoint), NC_NOWRITE, MPI_INFO_NULL,
                     &file));
    CHECK(ncmpi_get_att_int(file, NC_GLOBAL, "steps", &steps));
    CHECK(ncmpi_inq_varid(file, "heat", &var));
    CHECK(ncmpi_get_vara_double_all(file, var, &at, &count, next + 1));
    CHECK(ncmpi_close(file));
    bool same = memcmp(heat + 1, next + 1, (size_t)size * sizeof *heat) == 0;
    if (steps != checkpoint * STEPS || !same) CHECK(NC_EREAD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    name = argc > 1 ? argv[1] : "checkpoint";
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", argc > 2 ? argv[2] : "/tmp");
    MPI_Info_set(info, "nc_deferred_close", "enable");

    start();
    for (int i = 1; i <= CHECKPOINTS; i++) {
        for (int k = 0; k < STEPS; k++)
            step();
        write_checkpoint(i);
    }
    /* Complete the last file before another program reads it. */
    CHECK(ncmpix_wait_closed(NULL));
    read_checkpoint(CHECKPOINTS);
    if (rank == 0) printf("%d checkpoints\n", CHECKPOINTS);

    MPI_Info_free(&info);
    free(heat);
    free(next);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
