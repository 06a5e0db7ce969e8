/* Sets hints, which control how the library and MPI-IO access a file. A program passes
 * them when it creates or opens the file. They never change its contents.
 *
 *     mpicc -o tuning tuning.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./tuning
 *
 * The environment can set hints for an unmodified program:
 *
 *     PNETCDF_HINTS="nc_var_align_size=1048576;romio_cb_write=enable" mpiexec ... */
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

enum { LENGTH = 16 };

static int create(const char *path)
{
    int file;
    MPI_Info info;
    MPI_Info_create(&info);
    /* Aligns the first variable to a multiple of 4096 bytes in the file. On a parallel
     * file system, use its stripe size. The header can grow into the padding when
     * definitions are added later. */
    MPI_Info_set(info, "nc_var_align_size", "4096");
    /* A hint for MPI-IO: collective buffering. Unknown hints are ignored. */
    MPI_Info_set(info, "romio_cb_write", "enable");
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file));
    MPI_Info_free(&info); /* the library has its own copy */
    return file;
}

/* Prints the hints in effect, which may differ from those requested. */
static void print_hints(int file)
{
    MPI_Info info;
    int n, set;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    CHECK(ncmpi_inq_file_info(file, &info));
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &set);
        if (set) printf("%s = %s\n", key, value);
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int rank, nprocs, dim, vars[2], values[LENGTH];
    MPI_Offset offset;
    const char *path = argc > 1 ? argv[1] : "tuning.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    MPI_Offset start = LENGTH * rank / nprocs;
    MPI_Offset count = LENGTH * (rank + 1) / nprocs - start;

    int file = create(path);
    CHECK(ncmpi_def_dim(file, "x", LENGTH, &dim));
    CHECK(ncmpi_def_var(file, "one", NC_INT, 1, &dim, &vars[0]));
    CHECK(ncmpi_def_var(file, "two", NC_INT, 1, &dim, &vars[1]));
    CHECK(ncmpi_enddef(file));
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = (int)(start + i);
    for (int v = 0; v < 2; v++)
        CHECK(ncmpi_put_vara_int_all(file, vars[v], &start, &count, values));

    if (rank == 0) print_hints(file);
    CHECK(ncmpi_inq_varoffset(file, vars[0], &offset));
    if (rank == 0) printf("variable one starts at byte %lld\n", (long long)offset);
    CHECK(ncmpi_close(file));
    MPI_Finalize();
    return EXIT_SUCCESS;
}
