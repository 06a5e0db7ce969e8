/* One call of a kind, of a contiguous run, for callgrind: way put|get|read|wait FILE;
 * read is a get from a dataset that is opened again. */
#include <string.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { N = 1024 };

static int call(const char *which, int ncid, int varid)
{
    static int values[N];
    MPI_Offset start[2] = {1, 0}, count[2] = {1, N};
    int id, status, err;
    if (strcmp(which, "put") == 0)
        return ncmpi_put_vara_int_all(ncid, varid, start, count, values);
    if (strcmp(which, "put") != 0 && strcmp(which, "wait") != 0)
        return ncmpi_get_vara_int_all(ncid, varid, start, count, values);
    err = ncmpi_iput_vara_int(ncid, varid, start, count, values, &id);
    if (err != NC_NOERR) return err;
    return ncmpi_wait_all(ncid, 1, &id, &status);
}

int main(int argc, char **argv)
{
    int ncid, dims[2], varid, err;
    if (argc != 3) return 1;
    MPI_Init(&argc, &argv);
    err = ncmpi_create(MPI_COMM_WORLD, argv[2], NC_CLOBBER, MPI_INFO_NULL, &ncid);
    if (err == NC_NOERR) err = ncmpi_def_dim(ncid, "y", 4, &dims[0]);
    if (err == NC_NOERR) err = ncmpi_def_dim(ncid, "x", N, &dims[1]);
    if (err == NC_NOERR) err = ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid);
    if (err == NC_NOERR) err = ncmpi_enddef(ncid);
    if (err == NC_NOERR && strcmp(argv[1], "read") == 0) {
        err = ncmpi_close(ncid);
        if (err == NC_NOERR)
            err = ncmpi_open(MPI_COMM_WORLD, argv[2], NC_NOWRITE, MPI_INFO_NULL, &ncid);
    }
    for (int i = 0; i < 2 && err == NC_NOERR; i++)
        err = call(argv[1], ncid, varid);
    if (err == NC_NOERR) err = ncmpi_close(ncid);
    MPI_Finalize();
    return err != NC_NOERR;
}
