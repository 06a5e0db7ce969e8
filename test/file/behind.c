/* Used by hurt.sh: tests a put that fails for lack of space, at an offset beyond the end
 * of the file as seen by its node. The failed put must not truncate the file, because
 * another node has written there in the meantime.
 *
 *   behind FILE STORE    writes, on two processes, each on its own node
 *   behind FILE          reads and checks, on one process
 *
 * The second process puts a record after a gap, and fills the file system, which is in
 * the directory STORE. The first process, whose node does not know of that record, puts
 * one into the gap, which fails. Then the space is freed. */
#define _GNU_SOURCE /* for fallocate */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "grid.h"
#include "pnetcdf.h"

enum { ROWS = 64, COLUMNS = 4096, EARLIER = 1, LATER = 3, ROOM = 65536 };
static int values[ROWS * COLUMNS];

static int put(int ncid, int record)
{
    MPI_Offset start[3] = {record, 0, 0}, count[3] = {1, ROWS, COLUMNS};
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i + 1;
    return ncmpi_put_vara_int(ncid, 0, start, count, values);
}

static void fill_store(const char *store, const char *ballast)
{
    struct statvfs fs;
    int fd = open(ballast, O_CREAT | O_WRONLY, 0600);
    need(fd >= 0 && statvfs(store, &fs) == 0 ? NC_NOERR : NC_EFILE, ballast);
    off_t room = (off_t)(fs.f_bavail * fs.f_frsize) - ROOM;
    need(fallocate(fd, 0, 0, room) == 0 ? NC_NOERR : NC_ENO_SPACE, ballast);
    (void)close(fd);
}

static void write_both(const char *path, const char *store)
{
    char ballast[4096];
    struct stat st;
    int rank, dims[3], id, failed = NC_NOERR;
    int ncid = create_grid(path, ROWS, COLUMNS, dims);
    snprintf(ballast, sizeof ballast, "%s/ballast", store);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    need(ncmpi_def_var(ncid, "series", NC_INT, 3, dims, &id), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    if (rank == 0) { /* this process's node caches the file's size */
        need(put(ncid, 0), "put");
        need(stat(path, &st) == 0 ? NC_NOERR : NC_EFILE, path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        need(put(ncid, LATER), "put");
        fill_store(store, ballast);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        failed = put(ncid, EARLIER);
        need(unlink(ballast) == 0 ? NC_NOERR : NC_EFILE, ballast);
        need(failed == NC_NOERR ? NC_EINVAL : NC_NOERR, "a put without room");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    (void)ncmpi_end_indep_data(ncid); /* this call may report the error again */
    (void)ncmpi_close(ncid);
}

static int count_wrong(const char *path)
{
    int ncid, wrong = 0;
    MPI_Offset start[3] = {LATER, 0, 0}, count[3] = {1, ROWS, COLUMNS};
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    need(ncmpi_get_vara_int_all(ncid, 0, start, count, values), "get");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        wrong += values[i] != i + 1;
    need(ncmpi_close(ncid), "close");
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    MPI_Init(&argc, &argv);
    need(argc == 2 || argc == 3 ? NC_NOERR : NC_EINVAL, "usage: behind FILE [STORE]");
    if (argc == 3)
        write_both(argv[1], argv[2]);
    else
        wrong = count_wrong(argv[1]);
    if (wrong > 0) printf("%d values are wrong\n", wrong);
    MPI_Finalize();
    return wrong > 0;
}
