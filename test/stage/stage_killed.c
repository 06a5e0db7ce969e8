/* Used by stage_kill.sh: reads a staged dataset, and may be killed at one of its system
 * calls on the staged file.
 *
 *   stage_killed make FILE
 *   stage_killed read FILE DIRECTORY CALL    prints the number of these calls
 *
 * CALL is the number of the call at which the process is killed, or 0 if it is not
 * killed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { N = 20000 };

static _Atomic long calls, last;

/* ---- interposed system calls ---- */

#define NEXT(name)                                                                       \
    static _Atomic(void *) found;                                                        \
    if (found == NULL) found = dlsym(RTLD_NEXT, #name);                                  \
    void *known = found;                                                                 \
    __typeof__(&name) next;                                                              \
    memcpy(&next, &known, sizeof next)

/* Adds a minute to the time, so the dataset is old enough for nodes to share blocks. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += 60;
    return (int)result;
}

/* Called before and after each interposed call. Increments `calls`, and kills the process
 * when the counter reaches `last`. */
static void count(void)
{
    if (++calls == last) kill(getpid(), SIGKILL);
}

static int is_stage(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = '\0';
    return strstr(path, "ncmpi-stage") != NULL;
}

#define COUNTED(is, type, call)                                                          \
    int counts = (is);                                                                   \
    if (counts) count();                                                                 \
    type result = (call);                                                                \
    if (counts) count();                                                                 \
    return result

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    NEXT(open);
    COUNTED(strstr(path, "ncmpi-stage") != NULL, int, next(path, flags, mode));
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    NEXT(open64);
    COUNTED(strstr(path, "ncmpi-stage") != NULL, int, next(path, flags, mode));
}

int flock(int fd, int how)
{
    NEXT(flock);
    COUNTED(is_stage(fd), int, next(fd, how));
}

int unlink(const char *path)
{
    NEXT(unlink);
    COUNTED(strstr(path, "ncmpi-stage") != NULL, int, next(path));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    NEXT(pwrite);
    COUNTED(is_stage(fd), ssize_t, next(fd, bytes, n, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    NEXT(pwrite64);
    COUNTED(is_stage(fd), ssize_t, next(fd, bytes, n, at));
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    NEXT(pread);
    COUNTED(is_stage(fd), ssize_t, next(fd, bytes, n, at));
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    NEXT(pread64);
    COUNTED(is_stage(fd), ssize_t, next(fd, bytes, n, at));
}

/* ---- the program ---- */

static void need(int rc)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "stage_killed: %s\n", ncmpi_strerror(rc));
    exit(1);
}

static void make(const char *path)
{
    static int values[N];
    int ncid, dim, v;
    for (int i = 0; i < N; i++)
        values[i] = i * 3;
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid));
    need(ncmpi_def_dim(ncid, "x", N, &dim));
    need(ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
    need(ncmpi_enddef(ncid));
    need(ncmpi_put_var_int_all(ncid, v, values));
    need(ncmpi_close(ncid));
}

static void get_all(int ncid)
{
    static int values[N];
    need(ncmpi_get_var_int_all(ncid, 0, values));
    for (int i = 0; i < N; i++)
        if (values[i] != i * 3) need(NC_EREAD);
}

static void read_it(const char *path, const char *directory)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_stage", "enable");
    MPI_Info_set(info, "nc_stage_keep", "enable");
    MPI_Info_set(info, "nc_stage_block_size", "16384");
    MPI_Info_set(info, "nc_stage_dirname", directory);
    for (int i = 0; i < 2; i++) {
        int ncid;
        need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid));
        if (i == 0) need(ncmpix_prefetch(ncid, NC_GLOBAL, NULL, NULL));
        get_all(ncid);
        need(ncmpix_prefetch_wait(ncid));
        get_all(ncid);
        need(ncmpi_close(ncid));
    }
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc == 3) make(argv[2]);
    if (argc == 5) {
        last = atol(argv[4]);
        read_it(argv[2], argv[3]);
        printf("%ld\n", (long)calls);
    }
    MPI_Finalize();
    return 0;
}
