/* Handles errors, and continues after them.
 *
 *     mpicc -o errors errors.c $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./errors */
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

static int rank;

/* Checks that a call returned the error that this program provoked. Any other result is a
 * failure. Error codes are negative, and each has a name and a message. */
static void expect(int code, int status, const char *what)
{
    if (rank == 0)
        printf("%-32s %s: %s\n", what, ncmpi_strerrno(status), ncmpi_strerror(status));
    if (status != code) CHECK(status != NC_NOERR ? status : NC_EINVAL);
}

/* A process with a local error must still make every collective call, or the others would
 * wait forever. So such a process continues, and all processes agree on the result
 * afterwards. */
static int worst_of_all(int status)
{
    int worst;
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return worst;
}

int main(int argc, char **argv)
{
    int file, dim, var;
    const char *path = argc > 1 ? argv[1] : "errors.nc";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    expect(NC_ENOENT,
           ncmpi_open(MPI_COMM_WORLD, "no such file", NC_NOWRITE, MPI_INFO_NULL, &file),
           "opening what is not there:");

    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    CHECK(ncmpi_def_dim(file, "x", 4, &dim));
    CHECK(ncmpi_def_var(file, "v", NC_SHORT, 1, &dim, &var));
    expect(NC_ENAMEINUSE, ncmpi_def_var(file, "v", NC_INT, 1, &dim, &var),
           "a name taken already:");
    CHECK(ncmpi_inq_varid(file, "v", &var));

    /* Data can be written only in data mode. */
    MPI_Offset start = 0, count = rank == 0 ? 4 : 0;
    int values[4] = {1, 2, 100000, 4};
    expect(NC_EINDEFINE, ncmpi_put_vara_int_all(file, var, &start, &count, values),
           "data before ncmpi_enddef:");
    CHECK(ncmpi_enddef(file));
    expect(NC_ENOTINDEP, ncmpi_put_vara_int(file, var, &start, &count, values),
           "independent in collective mode:");

    /* 100000 is out of range for a short. The call stores the fill value in its place,
     * and still writes the other elements. */
    int status = ncmpi_put_vara_int_all(file, var, &start, &count, values);
    expect(NC_ERANGE, worst_of_all(status), "a value out of range:");

    /* One process reads beyond the end of the variable; the others succeed. */
    start = rank == 0 ? 3 : 0;
    count = 2;
    status = ncmpi_get_vara_int_all(file, var, &start, &count, values);
    expect(NC_EEDGE, worst_of_all(status), "over the end of a dimension:");
    CHECK(ncmpi_close(file));

    expect(NC_EBADID, ncmpi_close(file), "closing twice:");
    expect(NC_EEXIST,
           ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &file),
           "creating what is there:");
    MPI_Finalize();
    return EXIT_SUCCESS;
}
