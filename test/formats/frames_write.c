/* frames_write NAME: writes a dataset whose values the library compresses into frames. It
 * has fixed-size and record variables of several types, and in one variable, each
 * process's part spans several frames. Some values are put twice, completely or in part,
 * before the close or after reopening the dataset. Values depend only on the position and
 * the put, not on the process. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "pnetcdf.h"

enum { NY = 8, NX = 60000, SMALL = 90, NRECORDS = 4 };

static int rank, nprocs, ncid, bad, large, record, series, bytes, shorts;
static int values[NY * NX];

static void must(int err, const char *what)
{
    if (err == NC_NOERR) return;
    printf("process %d: %s: %s\n", rank, what, ncmpi_strerror(err));
    bad++;
}

static void define_all(void)
{
    int dims[3], small[2];
    must(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "time");
    must(ncmpi_def_dim(ncid, "y", NY, &dims[1]), "y");
    must(ncmpi_def_dim(ncid, "x", NX, &dims[2]), "x");
    must(ncmpi_def_dim(ncid, "small", SMALL, &small[1]), "small");
    small[0] = dims[0];
    must(ncmpi_def_var(ncid, "large", NC_DOUBLE, 2, dims + 1, &large), "large");
    must(ncmpi_def_var(ncid, "record", NC_FLOAT, 3, dims, &record), "record");
    must(ncmpi_def_var(ncid, "series", NC_INT64, 2, small, &series), "series");
    must(ncmpi_def_var(ncid, "bytes", NC_BYTE, 2, small, &bytes), "bytes");
    must(ncmpi_def_var(ncid, "shorts", NC_SHORT, 1, small + 1, &shorts), "shorts");
    must(ncmpi_enddef(ncid), "enddef");
}

static void find_all(void)
{
    must(ncmpi_inq_varid(ncid, "large", &large), "large");
    must(ncmpi_inq_varid(ncid, "record", &record), "record");
    must(ncmpi_inq_varid(ncid, "series", &series), "series");
    must(ncmpi_inq_varid(ncid, "bytes", &bytes), "bytes");
    must(ncmpi_inq_varid(ncid, "shorts", &shorts), "shorts");
}

/* Puts columns [from, to) of a record, in every row. The values also depend on
 * `round`. */
static void put(int varid, int at, int from, int to, int round)
{
    MPI_Offset start[3] = {at, 0, from}, count[3] = {1, NY, to - from};
    int rows = varid == large || varid == record ? NY : 1, n = 0;
    if (rows == 1) start[1] = from, count[1] = to - from;
    for (int y = 0; y < rows; y++)
        for (int x = from; x < to; x++)
            values[n++] = (x * 7 / 5 + y * 31 + at * 3 + varid + round) % 100;
    int skip = varid == large || varid == shorts;
    must(ncmpi_put_vara_int_all(ncid, varid, start + skip, count + skip, values), "put");
}

/* Puts this process's columns. */
static void put_share(int varid, int at, int round)
{
    int n = varid == large || varid == record ? NX : SMALL;
    put(varid, at, n * rank / nprocs, n * (rank + 1) / nprocs, round);
}

static void put_all(void)
{
    put_share(large, 0, 0);
    put_share(shorts, 0, 0);
    for (int i = 0; i < NRECORDS; i++) {
        put_share(record, i, 0);
        put_share(series, i, 0);
        put_share(bytes, i, 0);
    }
    put_share(record, 1, 1);
}

/* Puts columns [from, to) from the last process, no matter which processes put them
 * before. */
static void put_few(int varid, int at, int from, int to)
{
    put(varid, at, rank == nprocs - 1 ? from : 0, rank == nprocs - 1 ? to : 0, 2);
}

static void put_more(void)
{
    put_few(record, 2, NX / 3 - 2, NX / 3 + 2);
    put_few(series, 0, 10, 70);
    put_share(series, 1, 3);
    put_share(bytes, NRECORDS, 3);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    const char *name = argv[argc - 1];
    must(ncmpi_create(MPI_COMM_WORLD, name, NC_64BIT_DATA, MPI_INFO_NULL, &ncid), name);
    if (bad == 0) define_all();
    if (bad == 0) put_all();
    if (bad == 0) put_few(large, 0, 5, 9);
    must(ncmpi_close(ncid), "close");
    must(ncmpi_open(MPI_COMM_WORLD, name, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    if (bad == 0) find_all();
    if (bad == 0) put_more();
    must(ncmpi_close(ncid), "close");
    MPI_Finalize();
    return bad == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
