/* A program to be killed: puts one value after another through the log, tells each on
 * standard output once the put has returned, syncs and flushes in between. With `check N`
 * it opens the dataset again, which replays the logs, and looks for the first N.
 * BURST_KILL_AT=N kills it at its Nth call that has to do with logs or the file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "pnetcdf.h"

enum { PUTS = 40 };

static int calls, kill_at;

/* Half of the calls die before they are made, half after. */
static void count(bool before)
{
    if (!before) calls++;
    if (kill_at > 0 && calls == kill_at / 2 && before == (kill_at % 2 == 0))
        kill(getpid(), SIGKILL);
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
#define COUNTED(call)                                                                    \
    count(true);                                                                         \
    ssize_t rc = call;                                                                   \
    count(false);                                                                        \
    return rc

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    typedef ssize_t fn(int, const void *, size_t, off_t);
    COUNTED(NEXT(fn *, "pwrite")(fd, buf, n, at));
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off_t at)
{
    return pwrite(fd, buf, n, at);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at)
{
    typedef ssize_t fn(int, const struct iovec *, int, off_t);
    COUNTED(NEXT(fn *, "pwritev")(fd, pieces, n, at));
}

ssize_t pwritev64(int fd, const struct iovec *pieces, int n, off_t at)
{
    return pwritev(fd, pieces, n, at);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    typedef int fn(int, off_t, off_t);
    COUNTED(NEXT(fn *, "posix_fallocate")(fd, at, n));
}

int posix_fallocate64(int fd, off_t at, off_t n)
{
    return posix_fallocate(fd, at, n);
}

int rename(const char *from, const char *to)
{
    typedef int fn(const char *, const char *);
    COUNTED(NEXT(fn *, "rename")(from, to));
}

int unlink(const char *path)
{
    typedef int fn(const char *);
    COUNTED(NEXT(fn *, "unlink")(path));
}

int fdatasync(int fd)
{
    typedef int fn(int);
    COUNTED(NEXT(fn *, "fdatasync")(fd));
}

int fsync(int fd)
{
    typedef int fn(int);
    COUNTED(NEXT(fn *, "fsync")(fd));
}

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    exit(3);
}

/* Value i goes to place i, and at times to the place of the one before too. */
static void write_all(const char *path, MPI_Info info)
{
    int ncid, dim, v;
    need(ncmpi_create(MPI_COMM_SELF, path, NC_64BIT_DATA, info, &ncid), "create");
    need(ncmpi_def_dim(ncid, "x", PUTS, &dim), "def_dim");
    need(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i < PUTS; i++) {
        MPI_Offset start = i;
        int value = 1000 + i;
        char said = '.';
        need(ncmpi_put_var1_int_all(ncid, v, &start, &value), "put");
        if (write(STDOUT_FILENO, &said, 1) != 1) exit(3);
        if (i == 13) need(ncmpi_sync(ncid), "sync");
        if (i == 25) need(ncmpi_flush(ncid), "flush");
    }
    need(ncmpi_close(ncid), "close");
}

static int check_all(const char *path, MPI_Info info, int told)
{
    int ncid, values[PUTS], wrong = 0;
    memset(values, 0, sizeof values);
    int rc = ncmpi_open(MPI_COMM_SELF, path, NC_WRITE, info, &ncid);
    if (rc != NC_NOERR && told == 0) return 0; /* there was no dataset yet */
    need(rc, "open");
    need(ncmpi_get_var_int_all(ncid, 0, values), "get");
    for (int i = 0; i < told; i++)
        wrong += values[i] != 1000 + i;
    need(ncmpi_close(ncid), "close");
    if (wrong > 0) fprintf(stderr, "%d of %d values are lost\n", wrong, told);
    return wrong > 0;
}

int main(int argc, char **argv)
{
    MPI_Info info;
    const char *at = getenv("BURST_KILL_AT");
    int status = 0;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    if (argc > 2 && strcmp(argv[2], "check") == 0) {
        status = check_all(argv[1], info, argc > 3 ? atoi(argv[3]) : 0);
    } else if (argc > 1) {
        if (at != NULL) kill_at = atoi(at);
        write_all(argv[1], info);
        fprintf(stderr, "%d\n", calls);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return status;
}
