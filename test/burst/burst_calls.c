/* See burst_calls.h. */
#define _GNU_SOURCE
#include "burst_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "burst_shadow.h"

static atomic_int calls;
static atomic_int kill_at;
static int kill_rank, kill_half, my_rank;
static bool stops;
static const char *directory;
static size_t directory_length;
static _Thread_local int paused;

static int number(const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? 0 : atoi(value);
}

void burst_calls_pause(int pause)
{
    paused += pause ? 1 : -1;
}

__attribute__((constructor)) static void start(void)
{
    const char *pids = getenv("BURST_PIDS");
    paused++;
    kill_at = number("BURST_KILL_AT");
    kill_rank = number("BURST_KILL_RANK");
    const char *how = getenv("BURST_KILL_HOW");
    stops = how != NULL && strcmp(how, "stop") == 0;
    kill_half = stops ? 0 : number("BURST_KILL_HALF");
    if (pids != NULL) {
        int fd = open(pids, O_WRONLY | O_APPEND | O_CREAT, 0600);
        if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0) _exit(99);
        close(fd);
    }
    paused--;
    directory = getenv("BURST_CALLS_DIR");
    directory_length = directory == NULL ? 0 : strlen(directory);
}

int burst_calls(void)
{
    return atomic_load(&calls);
}

void burst_calls_rank(int rank)
{
    my_rank = rank;
}

void burst_calls_arm(int point, bool stop)
{
    stops = stop;
    atomic_store(&kill_at, point == 0 ? 0 : 2 * burst_calls() + point);
}

/* Kills this process. If the user has listed other processes in BURST_PIDS, kills those
 * first. */
static void kill_all(void)
{
    if (stops) {
        (void)raise(SIGSTOP);
        stops = false;
        kill_at = number("BURST_KILL_NEXT");
        return;
    }
    const char *pids = getenv("BURST_PIDS");
    FILE *f = pids == NULL ? NULL : fopen(pids, "r");
    int pid;
    paused++;
    while (f != NULL && fscanf(f, "%d", &pid) == 1)
        if (pid != (int)getpid()) kill(pid, SIGKILL);
    kill(getpid(), SIGKILL);
}

static bool counts(const char *path)
{
    return directory != NULL && paused == 0 &&
           strncmp(path, directory, directory_length) == 0;
}

static bool fd_counts(int fd)
{
    char link[64], path[4096];
    if (directory == NULL || paused > 0 || fd < 0) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = '\0';
    return counts(path);
}

/* Called before each counted call. Returns the call's number. */
static int before(void)
{
    int call = atomic_fetch_add(&calls, 1) + 1;
    if (kill_at == 2 * call && my_rank == kill_rank && !kill_half) kill_all();
    return call;
}

static void after(int call)
{
    if (kill_at == 2 * call + 1 && my_rank == kill_rank) kill_all();
    paused++;
    burst_shadow_write_back(call);
    paused--;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Exported, so that calls made by MPI-IO are also intercepted. */
#define EXPORT __attribute__((visibility("default")))

/* Makes `call`, and counts it if `counted` is true. */
#define COUNTED(type, counted, call)                                                     \
    if (!(counted)) return call;                                                         \
    int point = before();                                                                \
    type rc = call;                                                                      \
    after(point);                                                                        \
    return rc

static int open_next(const char *name, const char *path, int flags, mode_t mode)
{
    typedef int fn(const char *, int, ...);
    const char *boot = getenv("BURST_BOOT");
    fn *f;
    *(void **)&f = next(name);
    if (boot != NULL && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return f(boot, O_RDONLY);
    COUNTED(int, counts(path), f(path, flags, mode));
}

#include "stand_open.h"

EXPORT int close(int fd)
{
    typedef int fn(int);
    fn *f;
    *(void **)&f = next("close");
    COUNTED(int, fd_counts(fd), f(fd));
}

EXPORT ssize_t write(int fd, const void *buf, size_t n)
{
    typedef ssize_t fn(int, const void *, size_t);
    fn *f;
    *(void **)&f = next("write");
    COUNTED(ssize_t, fd_counts(fd), f(fd, buf, n));
}

/* Returns how many of the n bytes are written if the process is to be killed in the
 * middle of this write. Returns 0 if the write does not cross a page boundary, because
 * the system never writes part of a page. */
static size_t share(int call, size_t n, off_t at)
{
    enum { PAGE = 4096 };
    if (!kill_half || kill_at / 2 != call || my_rank != kill_rank) return n;
    return n == 0 || at / PAGE == (at + (off_t)n - 1) / PAGE ? 0 : n / 2;
}

/* Called after a write. If the file is open with O_SYNC, its bytes have reached the
 * device. */
static void written(int fd, off_t at, ssize_t n, int call)
{
    int flags = fcntl(fd, F_GETFL);
    paused++;
    if (n > 0 && flags >= 0 && (flags & O_DSYNC)) burst_shadow_range(fd, at, (size_t)n);
    paused--;
    if (kill_half && kill_at / 2 == call && my_rank == kill_rank) kill_all();
    after(call);
}

EXPORT ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    typedef ssize_t fn(int, const void *, size_t, off_t);
    fn *f;
    *(void **)&f = next("pwrite");
    if (!fd_counts(fd)) return f(fd, buf, n, at);
    int call = before();
    ssize_t rc = f(fd, buf, share(call, n, at), at);
    written(fd, at, rc, call);
    return rc;
}

EXPORT ssize_t pwrite64(int fd, const void *buf, size_t n, off_t at)
{
    return pwrite(fd, buf, n, at);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at)
{
    typedef ssize_t fn(int, const struct iovec *, int, off_t);
    fn *f;
    *(void **)&f = next("pwritev");
    COUNTED(ssize_t, fd_counts(fd), f(fd, pieces, n, at));
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *pieces, int n, off_t at)
{
    return pwritev(fd, pieces, n, at);
}

EXPORT int ftruncate(int fd, off_t length)
{
    typedef int fn(int, off_t);
    fn *f;
    *(void **)&f = next("ftruncate");
    COUNTED(int, fd_counts(fd), f(fd, length));
}

EXPORT int ftruncate64(int fd, off_t length)
{
    return ftruncate(fd, length);
}

EXPORT int posix_fallocate(int fd, off_t at, off_t n)
{
    typedef int fn(int, off_t, off_t);
    fn *f;
    *(void **)&f = next("posix_fallocate");
    COUNTED(int, fd_counts(fd), f(fd, at, n));
}

EXPORT int posix_fallocate64(int fd, off_t at, off_t n)
{
    return posix_fallocate(fd, at, n);
}

EXPORT int fallocate(int fd, int mode, off_t at, off_t n)
{
    typedef int fn(int, int, off_t, off_t);
    fn *f;
    *(void **)&f = next("fallocate");
    COUNTED(int, fd_counts(fd), f(fd, mode, at, n));
}

EXPORT int fallocate64(int fd, int mode, off_t at, off_t n)
{
    return fallocate(fd, mode, at, n);
}

EXPORT int flock(int fd, int operation)
{
    typedef int fn(int, int);
    fn *f;
    *(void **)&f = next("flock");
    COUNTED(int, fd_counts(fd), f(fd, operation));
}

EXPORT int rename(const char *from, const char *to)
{
    typedef int fn(const char *, const char *);
    fn *f;
    *(void **)&f = next("rename");
    COUNTED(int, counts(from), f(from, to));
}

EXPORT int unlink(const char *path)
{
    typedef int fn(const char *);
    fn *f;
    *(void **)&f = next("unlink");
    COUNTED(int, counts(path), f(path));
}

/* Calls the real sync function. When it returns, the file's contents at the time of the
 * call are on the device. */
static int sync_next(const char *name, int fd)
{
    typedef int fn(int);
    fn *f;
    *(void **)&f = next(name);
    if (!fd_counts(fd)) return f(fd);
    int call = before(), rc = f(fd);
    paused++;
    if (rc == 0) burst_shadow_sync(fd);
    paused--;
    after(call);
    return rc;
}

EXPORT int fdatasync(int fd)
{
    return sync_next("fdatasync", fd);
}

EXPORT int fsync(int fd)
{
    return sync_next("fsync", fd);
}

EXPORT int msync(void *address, size_t length, int flags)
{
    typedef int fn(void *, size_t, int);
    fn *f;
    *(void **)&f = next("msync");
    if (directory == NULL || paused > 0) return f(address, length, flags);
    int call = before(), rc = f(address, length, flags);
    paused++;
    if (rc == 0) burst_shadow_msync(address, length);
    paused--;
    after(call);
    return rc;
}
