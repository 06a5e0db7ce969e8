/* Whole transfers. */
#define _GNU_SOURCE /* fallocate */
#include "base_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"

enum { MOST = 1 << 30 }; /* of one call */

int base_write_at(int fd, int64_t at, const void *bytes, int64_t n, const char *path)
{
    const unsigned char *p = bytes;
    while (n > 0) {
        ssize_t done = pwrite(fd, p, (size_t)(n < MOST ? n : MOST), at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return base_error_system(NC_EWRITE, "writing", path);
        p += done;
        at += done;
        n -= done;
    }
    return NC_NOERR;
}

int base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path)
{
    unsigned char *p = bytes;
    while (n > 0) {
        ssize_t done = pread(fd, p, (size_t)(n < MOST ? n : MOST), at);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return base_error_system(NC_EREAD, "reading", path);
        if (done == 0)
            return base_error_set(NC_EREAD, "%s ends at byte %lld", path, (long long)at);
        p += done;
        at += done;
        n -= done;
    }
    return NC_NOERR;
}

bool base_write_on(int fd, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

int base_sync_data(int fd, const char *path)
{
    int failed;
    do
        failed = fdatasync(fd);
    while (failed && errno == EINTR);
    return failed ? base_error_system(NC_EWRITE, "syncing", path) : NC_NOERR;
}

int base_sync_directory(const char *path_of_file)
{
    char path[PATH_MAX];
    const char *slash = strrchr(path_of_file, '/');
    int n = slash == NULL ? 0 : (int)(slash - path_of_file) + 1, failed;
    snprintf(path, sizeof path, "%.*s.", n, path_of_file);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return NC_NOERR; /* not everybody may look */
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    int err = !failed || errno == EINVAL ? NC_NOERR
                                         : base_error_system(NC_EWRITE, "syncing", path);
    close(fd);
    return err;
}

/* Blocks for the last byte; false: the file system cannot do that, and nothing was done.
 */
static bool reserve_last(int fd, int64_t size, int *failed)
{
#ifdef __linux__
    do
        *failed = fallocate(fd, 0, (off_t)size - 1, 1);
    while (*failed && errno == EINTR);
    return !*failed || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL);
#else
    (void)fd, (void)size, (void)failed;
    return false;
#endif
}

int base_extend(int fd, int64_t size, const char *path)
{
    struct stat st;
    unsigned char last = 0;
    int failed;
    if (fstat(fd, &st) != 0) return base_error_system(NC_EWRITE, "looking at", path);
    if (st.st_size >= (off_t)size) return NC_NOERR;
    if (reserve_last(fd, size, &failed))
        return failed ? base_error_system(NC_EWRITE, "making room in", path) : NC_NOERR;
    /* ftruncate would cut off what was added since the file was looked at: the last byte
     * is written, as it is by now. */
    if (pread(fd, &last, 1, (off_t)size - 1) < 0)
        return base_error_system(NC_EREAD, "reading", path);
    return base_write_at(fd, size - 1, &last, 1, path);
}

bool base_is_zero(const void *bytes, int64_t n)
{
    const char *first = bytes;
    return *first == 0 && memcmp(first, first + 1, (size_t)n - 1) == 0;
}
