/* A program that leaves a log, and programs that use the same dataset after it:
 *
 *     burst_recreated killed FILE SEED LOGS   puts values through a log in LOGS, and is
 *                                             killed after its first write to the dataset
 *     burst_recreated create FILE SEED        recreates the dataset, without a log
 *     burst_recreated open FILE LOGS          opens the dataset for writing with the
 *                                             log, and prints the error if that fails
 *     burst_recreated check FILE SEED         checks that the values are those for SEED
 *
 * Both commands that create the dataset give it the same definitions and size. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pnetcdf.h"

enum { X = 3001 };

/* ---- killing the process ---- */

static const char *dataset; /* NULL until the drain begins */

static bool is_dataset(int fd)
{
    struct stat mine, there;
    return dataset != NULL && fstat(fd, &mine) == 0 && stat(dataset, &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

/* Replaces the C library's pwrite. After it has written to the dataset, the process kills
 * itself before it can mark the values as drained in the log. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t done = syscall(SYS_pwrite64, fd, bytes, n, at);
    if (is_dataset(fd)) (void)kill(getpid(), SIGKILL);
    return done;
}

/* ---- the dataset ---- */

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    printf("%s: %s\n", what, ncmpi_strerror(rc));
    exit(3);
}

static uint64_t value_of(uint64_t seed, int i)
{
    uint64_t bits = (seed * 7919 + (uint64_t)i) * 0x9e3779b97f4a7c15u;
    return bits ^ bits >> 31;
}

static void define(const char *path, MPI_Info info, int *ncid)
{
    int dim, varid;
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, ncid),
         "create");
    need(ncmpi_def_dim(*ncid, "x", X, &dim), "dimension");
    need(ncmpi_def_var(*ncid, "v", NC_UINT64, 1, &dim, &varid), "variable");
    need(ncmpi_def_var(*ncid, "w", NC_UINT64, 1, &dim, &varid), "variable");
    need(ncmpi_enddef(*ncid), "enddef");
}

static void put(int ncid, uint64_t seed)
{
    static unsigned long long values[X];
    for (int i = 0; i < X; i++)
        values[i] = value_of(seed, i);
    need(ncmpi_put_var_ulonglong_all(ncid, 0, values), "put");
    need(ncmpi_put_var_ulonglong_all(ncid, 1, values), "put");
}

static MPI_Info with_log(const char *logs)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", logs);
    return info;
}

static int check(const char *path, uint64_t seed)
{
    static unsigned long long values[X];
    int ncid, wrong = 0;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    for (int varid = 0; varid < 2; varid++) {
        need(ncmpi_get_var_ulonglong_all(ncid, varid, values), "get");
        for (int i = 0; i < X; i++)
            wrong += values[i] != value_of(seed, i);
    }
    need(ncmpi_close(ncid), "close");
    if (wrong > 0) printf("%d values are wrong\n", wrong);
    return wrong > 0;
}

int main(int argc, char **argv)
{
    int ncid, status = 0;
    MPI_Init(&argc, &argv);
    const char *what = argc > 3 ? argv[1] : "";
    if (strcmp(what, "killed") == 0 && argc == 5) {
        MPI_Info info = with_log(argv[4]);
        define(argv[2], info, &ncid);
        put(ncid, strtoul(argv[3], NULL, 10));
        dataset = argv[2];
        need(ncmpi_close(ncid), "close");
        MPI_Info_free(&info);
        status = 4; /* reached only if the process was not killed */
    } else if (strcmp(what, "create") == 0) {
        define(argv[2], MPI_INFO_NULL, &ncid);
        put(ncid, strtoul(argv[3], NULL, 10));
        need(ncmpi_close(ncid), "close");
    } else if (strcmp(what, "open") == 0) {
        MPI_Info info = with_log(argv[3]);
        need(ncmpi_open(MPI_COMM_WORLD, argv[2], NC_WRITE, info, &ncid), "open");
        need(ncmpi_close(ncid), "close");
        MPI_Info_free(&info);
    } else {
        status = check(argv[2], strtoul(argv[3], NULL, 10));
    }
    MPI_Finalize();
    return status;
}
