/* Used by mounts.sh: shows what happens if several nodes write to the same page with
 * plain system calls instead of this library.
 *
 *   pages FILE UNIT              writes
 *   pages FILE UNIT PROCESSES    counts wrong bytes in a file written by PROCESSES
 *
 * The writers first read the whole file, so each node caches all pages. Then they write
 * alternate pieces of UNIT bytes, each filled with the number of its process, and
 * sync. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNITS = 64, MOST = 8192 };
static int rank, nprocs;

static void need(int good, const char *what)
{
    if (good) return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void write_units(int fd, long unit)
{
    char bytes[MOST];
    for (long i = 0; i < UNITS; i++) {
        need(pread(fd, bytes, (size_t)unit, i * unit) >= 0, "reading");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    memset(bytes, rank + 1, sizeof bytes);
    for (long i = rank; i < UNITS; i += nprocs) {
        need(pwrite(fd, bytes, (size_t)unit, i * unit) == unit, "writing");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < nprocs; turn++) {
        if (turn == rank) need(fsync(fd) == 0, "syncing");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void count_wrong(int fd, long unit, int writers)
{
    char bytes[MOST];
    long wrong = 0;
    for (long i = 0; i < UNITS; i++) {
        need(pread(fd, bytes, (size_t)unit, i * unit) == unit, "reading");
        for (long k = 0; k < unit; k++)
            wrong += bytes[k] != i % writers + 1;
    }
    printf("%ld bytes are wrong\n", wrong);
}

int main(int argc, char **argv)
{
    static char zeros[UNITS * MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    long unit = argc > 2 ? atol(argv[2]) : 0;
    need(unit > 0 && unit <= MOST, "usage: pages FILE UNIT [PROCESSES]");
    if (rank == 0 && argc == 3) {
        int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
        need(fd >= 0 && write(fd, zeros, (size_t)(UNITS * unit)) == UNITS * unit &&
                 fsync(fd) == 0 && close(fd) == 0,
             argv[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(argv[1], O_RDWR);
    need(fd >= 0, argv[1]);
    if (argc > 3)
        count_wrong(fd, unit, atoi(argv[3]));
    else
        write_units(fd, unit);
    need(close(fd) == 0, argv[1]);
    MPI_Finalize();
    return 0;
}
