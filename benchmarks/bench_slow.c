/* A library for LD_PRELOAD that simulates a slow file system. Each process writes at most
 * SLOW_MBS million bytes per second to files whose paths begin with SLOW_PATH, and reads
 * at most SLOW_READ_MBS from them (pread). Without this library, the file could not be
 * slower than the log in a benchmark on a single local disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_slow(int fd)
{
    const char *slow = getenv("SLOW_PATH");
    char link[64], path[4096];
    if (slow == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = '\0';
    return strncmp(path, slow, strlen(slow)) == 0;
}

static ssize_t delay_by(int fd, ssize_t bytes, const char *rate)
{
    if (bytes <= 0 || rate == NULL || !is_slow(fd)) return bytes;
    double seconds = (double)bytes / (strtod(rate, NULL) * 1e6);
    struct timespec t = {(time_t)seconds,
                         (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
    return bytes;
}

static ssize_t delay(int fd, ssize_t bytes)
{
    return delay_by(fd, bytes, getenv("SLOW_MBS"));
}

/* Resolves the functions on the first call: other preloaded libraries may write before
 * main() starts. */
#define NEXT(name)                                                                       \
    static __typeof__(&name) next;                                                       \
    if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t n)
{
    NEXT(write);
    return delay(fd, next(fd, bytes, n));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    NEXT(pwrite);
    return delay(fd, next(fd, bytes, n, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    NEXT(pwrite64);
    return delay(fd, next(fd, bytes, n, at));
}

ssize_t writev(int fd, const struct iovec *pieces, int n)
{
    NEXT(writev);
    return delay(fd, next(fd, pieces, n));
}

ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at)
{
    NEXT(pwritev);
    return delay(fd, next(fd, pieces, n, at));
}

ssize_t pwritev64(int fd, const struct iovec *pieces, int n, off64_t at)
{
    NEXT(pwritev64);
    return delay(fd, next(fd, pieces, n, at));
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    NEXT(pread);
    return delay_by(fd, next(fd, bytes, n, at), getenv("SLOW_READ_MBS"));
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    NEXT(pread64);
    return delay_by(fd, next(fd, bytes, n, at), getenv("SLOW_READ_MBS"));
}
