/* Stages data near the processes. A training program reads the samples of a dataset in a
 * different order in each epoch. Then a model reads its forcing record by record.
 *
 *     mpicc -o epochs epochs.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./epochs samples.nc /local/scratch */
#include <mpi.h>
#include <pnetcdf.h>
#include <pnetcdf_ext.h>
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

enum { SAMPLES = 40, LENGTH = 2000, EPOCHS = 3 };

static int rank, nprocs;

static void create(const char *path)
{
    int file, dims[2], var;
    float sample[LENGTH];
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL,
                       &file));
    CHECK(ncmpi_def_dim(file, "sample", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dims[1]));
    CHECK(ncmpi_def_var(file, "v", NC_FLOAT, 2, dims, &var));
    CHECK(ncmpi_enddef(file));
    for (int s = 0; s < SAMPLES; s++) {
        MPI_Offset start[2] = {s, 0}, count[2] = {rank == s % nprocs, LENGTH};
        for (int i = 0; i < LENGTH; i++)
            sample[i] = (float)(s + i);
        CHECK(ncmpi_put_vara_float_all(file, var, start, count, sample));
    }
    CHECK(ncmpi_close(file));
}

/* Shuffles the samples; all processes compute the same order. Each process reads its
 * share independently. */
static double epoch(int file, int var, unsigned seed)
{
    int order[SAMPLES] = {0};
    float sample[LENGTH];
    double total = 0;
    for (int i = 0; i < SAMPLES; i++) {
        seed = seed * 1664525U + 1013904223U; /* random enough */
        int j = (int)((seed >> 16) % (unsigned)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = rank; i < SAMPLES; i += nprocs) {
        MPI_Offset start[2] = {order[i], 0}, count[2] = {1, LENGTH};
        CHECK(ncmpi_get_vara_float(file, var, start, count, sample));
        total += sample[0]; /* a program would train its network with the sample */
    }
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* After the second record, the library stages the next one while the model computes. */
static double forcing(int file, int var)
{
    float field[LENGTH];
    double total = 0;
    for (int step = 0; step < SAMPLES; step++) {
        MPI_Offset start[2] = {step, 0}, count[2] = {1, LENGTH};
        CHECK(ncmpi_get_vara_float_all(file, var, start, count, field));
        total += field[0]; /* a model would compute a step with the field */
    }
    return total;
}

int main(int argc, char **argv)
{
    int file, var;
    MPI_Info info;
    const char *path = argc > 1 ? argv[1] : "epochs.nc";
    const double expected = SAMPLES * (SAMPLES - 1) / 2.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    create(path);

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_stage", "enable");
    MPI_Info_set(info, "nc_stage_dirname", argc > 2 ? argv[2] : "/tmp");
    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &file));
    MPI_Info_free(&info);
    CHECK(ncmpi_inq_varid(file, "v", &var));
    /* Stage the variable in the background; the first epoch does not wait for it. */
    CHECK(ncmpix_prefetch(file, var, NULL, NULL));
    double forced = forcing(file, var);
    CHECK(ncmpi_begin_indep_data(file));
    for (unsigned i = 0; i < EPOCHS; i++) {
        double total = epoch(file, var, i);
        if (rank == 0) printf("epoch %u: %g\n", i, total);
        if (total != expected) CHECK(NC_EREAD);
    }
    CHECK(ncmpi_end_indep_data(file));
    CHECK(ncmpi_close(file));
    if (forced != expected) CHECK(NC_EREAD);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
