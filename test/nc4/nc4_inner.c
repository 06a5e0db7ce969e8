/* nc4_inner FILE VARIABLE
 *
 * Reads a variable from several processes that have the file open for writing. Each
 * process reads different rows. The values must be the same as when the file is open only
 * for reading. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "pnetcdf.h"

enum { MOST = 10000 };

static int rank;

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Gets up to r + 1 rows on process r, starting with row r. */
static void read_rows(const char *path, const char *name, int mode, int *values)
{
    int ncid, varid, dims[2];
    MPI_Offset start[2] = {rank, 0}, count[2], length[2];
    need(ncmpi_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &ncid), "open");
    need(ncmpi_inq_varid(ncid, name, &varid), "inq_varid");
    need(ncmpi_inq_vardimid(ncid, varid, dims), "inq_vardimid");
    for (int i = 0; i < 2; i++)
        need(ncmpi_inq_dimlen(ncid, dims[i], &length[i]), "inq_dimlen");
    count[0] = rank + 1 < length[0] - rank ? rank + 1 : length[0] - rank;
    count[1] = length[1];
    need(count[0] * count[1] > MOST ? NC_EINVAL : NC_NOERR, "size");
    need(ncmpi_get_vara_int_all(ncid, varid, start, count, values), "get");
    need(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    static int alone[MOST], together[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = 2;
    if (argc == 3) {
        read_rows(argv[1], argv[2], NC_NOWRITE, alone);
        read_rows(argv[1], argv[2], NC_WRITE, together);
        status = memcmp(alone, together, sizeof alone) != 0 || together[0] == 0;
    }
    MPI_Finalize();
    return status;
}
