/* Appends data over time: writes a record at each step, and a later run continues where
 * the previous one ended.
 *
 *     mpicc -o time_series time_series.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./time_series */
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

enum { LENGTH = 10, STEPS = 3 };

static int rank, nprocs;

static float temperature(MPI_Offset step, MPI_Offset x)
{
    return 280.0f + (float)step + 0.1f * (float)x;
}

static int create(const char *path)
{
    int file, dims[2], var;
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL,
                       &file));
    /* The unlimited dimension comes first. Variables that use it are stored record by
     * record. */
    CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dims[1]));
    CHECK(ncmpi_def_var(file, "time", NC_DOUBLE, 1, dims, &var));
    CHECK(ncmpi_put_att_text(file, var, "units", 28, "hours since 2000-01-01 00:00"));
    CHECK(ncmpi_def_var(file, "temperature", NC_FLOAT, 2, dims, &var));
    CHECK(ncmpi_put_att_text(file, var, "units", 1, "K"));
    CHECK(ncmpi_enddef(file));
    return file;
}

/* Writes STEPS records after the existing ones. */
static void append(int file)
{
    int dim, time, var;
    MPI_Offset records;
    float values[LENGTH];
    MPI_Offset first = LENGTH * rank / nprocs, n = LENGTH * (rank + 1) / nprocs - first;
    CHECK(ncmpi_inq_unlimdim(file, &dim));
    CHECK(ncmpi_inq_dimlen(file, dim, &records));
    CHECK(ncmpi_inq_varid(file, "time", &time));
    CHECK(ncmpi_inq_varid(file, "temperature", &var));
    for (MPI_Offset step = records; step < records + STEPS; step++) {
        /* Process 0 writes the time; the others put no elements. */
        MPI_Offset now = step, one = rank == 0;
        double hours = 6.0 * (double)step;
        CHECK(ncmpi_put_vara_double_all(file, time, &now, &one, &hours));

        MPI_Offset start[2] = {step, first}, count[2] = {1, n};
        for (MPI_Offset i = 0; i < n; i++)
            values[i] = temperature(step, first + i);
        CHECK(ncmpi_put_vara_float_all(file, var, start, count, values));
    }
}

/* Reads all steps at one location. */
static void read_series(int file, MPI_Offset x)
{
    int var;
    float values[2 * STEPS];
    MPI_Offset start[2] = {0, x}, count[2] = {2L * STEPS, 1};
    CHECK(ncmpi_inq_varid(file, "temperature", &var));
    CHECK(ncmpi_get_vara_float_all(file, var, start, count, values));
    for (int step = 0; step < 2 * STEPS; step++)
        if (values[step] != temperature(step, x)) CHECK(NC_EREAD);
    printf("process %d: from %g to %g at x = %lld\n", rank, (double)values[0],
           (double)values[2 * STEPS - 1], (long long)x);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "time_series.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    int file = create(path);
    append(file);
    CHECK(ncmpi_close(file));

    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &file));
    append(file);
    CHECK(ncmpi_sync(file));
    read_series(file, rank % LENGTH);
    CHECK(ncmpi_close(file));
    MPI_Finalize();
    return EXIT_SUCCESS;
}
