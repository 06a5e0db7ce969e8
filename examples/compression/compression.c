/* Compresses a model's output while it is written: each process has some columns of a
 * grid, which are compressed and stored in a subfile. One variable is also rounded to the
 * digits that carry information; the other is exact. Then part of the data is read as if
 * from an ordinary dataset. The program differs from an ordinary one only in its hints,
 * which can also be set in the environment:
 * PNETCDF_HINTS="nc_blob=enable;nc_compress=zstd".
 *
 *     mpicc -o compression compression.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./compression model.nc
 *     ncmpijoin --remove model.nc whole.nc    # join it into one ordinary file */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Checks the error code that a library call returned. If only one process exited, the
 * others would wait forever, so an error aborts all of them. */
static void check(int status, int line)
{
    if (status == NC_NOERR) return;
    fprintf(stderr, "%s, line %d: %s\n", __FILE__, line, ncmpi_strerror(status));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}
#define CHECK(call) check(call, __LINE__)

enum { ROWS = 480, COLUMNS = 720, STEPS = 6 };

static int rank, nprocs;

/* Returns a temperature in kelvins: warm in the middle, with variations that a few bits
 * can represent. */
static float temperature(int step, int row, int column)
{
    return (float)(250000 + row * (ROWS - 1 - row) +
                   (step * 31 + row * 17 + column * 13) * 7919 % 100) /
           1024;
}

/* Returns a pressure in whole pascals. */
static float pressure(int step, int row, int column)
{
    return (float)(101000 + 10 * step + row + column % 8);
}

static void write_steps(const char *path)
{
    int file, dims[3], warm, press;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_blob", "enable");
    MPI_Info_set(info, "nc_num_subfiles", "1"); /* default: one for each node */
    MPI_Info_set(info, "nc_compress", "zstd");
    MPI_Info_set(info, "nc_quantize", "bitround:10@temperature"); /* three digits */
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file));
    MPI_Info_free(&info);
    CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(file, "y", ROWS, &dims[1]));
    CHECK(ncmpi_def_dim(file, "x", COLUMNS, &dims[2]));
    CHECK(ncmpi_def_var(file, "temperature", NC_FLOAT, 3, dims, &warm));
    CHECK(ncmpi_def_var(file, "pressure", NC_FLOAT, 3, dims, &press));
    CHECK(ncmpi_enddef(file));

    /* In each step, each process puts all its values in one collective call. They are
     * compressed together. */
    int first = COLUMNS * rank / nprocs, columns = COLUMNS * (rank + 1) / nprocs - first;
    static float t[ROWS * COLUMNS], p[ROWS * COLUMNS];
    for (int step = 0; step < STEPS; step++) {
        MPI_Offset start[3] = {step, 0, first}, count[3] = {1, ROWS, columns};
        for (int row = 0; row < ROWS; row++)
            for (int i = 0; i < columns; i++) {
                t[row * columns + i] = temperature(step, row, first + i);
                p[row * columns + i] = pressure(step, row, first + i);
            }
        CHECK(ncmpi_put_vara_float_all(file, warm, start, count, t));
        CHECK(ncmpi_put_vara_float_all(file, press, start, count, p));
    }
    CHECK(ncmpi_close(file));
}

/* Readers need not know about the compression. Any number of processes can read any part.
 * Here each reads rows of the last step, which extend over all blobs. */
static void read_rows(const char *path)
{
    int file, warm, press;
    static float t[ROWS * COLUMNS], p[ROWS * COLUMNS];
    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    CHECK(ncmpi_inq_varid(file, "temperature", &warm));
    CHECK(ncmpi_inq_varid(file, "pressure", &press));
    int first = ROWS * rank / nprocs, rows = ROWS * (rank + 1) / nprocs - first;
    MPI_Offset start[3] = {STEPS - 1, first, 0}, count[3] = {1, rows, COLUMNS};
    CHECK(ncmpi_get_vara_float_all(file, warm, start, count, t));
    CHECK(ncmpi_get_vara_float_all(file, press, start, count, p));
    double largest = 0;
    for (int i = 0; i < rows * COLUMNS; i++) {
        double is = temperature(STEPS - 1, first + i / COLUMNS, i % COLUMNS);
        double off = t[i] > is ? t[i] - is : is - t[i];
        if (off / is > largest) largest = off / is;
        if (p[i] != pressure(STEPS - 1, first + i / COLUMNS, i % COLUMNS))
            CHECK(NC_EREAD);
    }
    CHECK(ncmpi_close(file));
    if (largest > 1.0 / 2048) CHECK(NC_EREAD);
    printf("process %d read %d rows, temperature within %.1e\n", rank, rows, largest);
}

/* Prints the number of bytes written and the length of the subfile. The subfile reserves
 * 1 MiB for its header, most of which takes no space on disk. */
static void print_sizes(const char *path)
{
    char subfile[4096];
    struct stat is;
    snprintf(subfile, sizeof subfile, "%s.0000", path);
    if (rank == 0 && stat(subfile, &is) == 0)
        printf("%lld bytes of values, %lld in the subfile\n",
               2LL * STEPS * ROWS * COLUMNS * (long long)sizeof(float),
               (long long)is.st_size);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "compression.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    write_steps(path);
    read_rows(path);
    print_sizes(path);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
