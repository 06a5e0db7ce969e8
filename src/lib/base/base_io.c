/* Opens, reads and writes files through descriptors. Completes partial transfers. */
#define _GNU_SOURCE /* sync_file_range */
#include "config.h"

#include "base_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifdef HAVE_LINUX_FS_H
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_path.h"
#include "base_rights.h"

enum { MOST = 1 << 30, MOST_PIECES = 1024 }; /* limits for one system call */

/* ---- opening ---- */

static int open_once(const char *path, int flags, mode_t rights)
{
    int fd;
    do
        fd = open(path, flags | O_NOCTTY | O_CLOEXEC, rights);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Opens with O_NONBLOCK so as not to block on a pipe. This open fails if another process
 * has a lease on the file; a second open without the flag then waits for the lease. */
int base_open_with(const char *path, int flags, mode_t rights)
{
    int fd = open_once(path, flags | O_NONBLOCK, rights);
    if (fd < 0 && errno == EWOULDBLOCK) fd = open_once(path, flags, rights);
    if (fd >= 0) (void)base_fs_bypass_cache(fd);
    return fd;
}

int base_open(const char *path, int flags)
{
    return base_open_with(path, flags, BASE_RIGHTS_PRIVATE);
}

int base_open_regular(const char *path, int flags)
{
    struct stat st;
    int fd = base_open(path, flags);
    if (fd < 0) {
        if (errno == EISDIR || errno == ENXIO) errno = EPERM;
        return -1;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
    (void)close(fd);
    errno = EPERM;
    return -1;
}

int base_open_own(const char *path, int flags)
{
    struct stat st;
    int fd = base_open_regular(path, flags);
    if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid())) return fd;
    (void)close(fd);
    errno = EPERM;
    return -1;
}

int base_duplicate(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

bool base_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool base_has_name(int fd, const char *path)
{
    struct stat open, named;
    return fstat(fd, &open) == 0 && lstat(path, &named) == 0 &&
           base_same_file(&open, &named);
}

bool base_is_empty(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size == 0;
}

int base_refuse_other_file(const char *path)
{
    return base_error_set(NC_EFILE, "%s: replaced by another file with the same name",
                          path);
}

bool base_reads_only(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
}

/* ---- transfers ---- */

/* Allocates the block that contains the last byte. Sets errno to the error, or 0. Returns
 * false, and changes nothing, if the file system does not support this. */
static bool reserve_last(int fd, int64_t size)
{
    errno = base_fs_reserve(fd, size - 1, true);
    return errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL;
}

/* If a write beyond the end that bypasses the page cache fails, the kernel truncates the
 * file to the size that it knows (fs/fuse/file.c). This would destroy data that other
 * nodes have written there. Extending the file first makes the kernel aware of the new
 * size, so it does not truncate the file. */
bool base_extend_before_write(int fd, int64_t end, bool *unknown)
{
    struct stat st;
    *unknown = false;
    if (fstat(fd, &st) != 0) return false;
    if (st.st_size >= (off_t)end) return true;
    *unknown = !reserve_last(fd, end);
    return *unknown || errno == 0;
}

int base_write_at(int fd, int64_t at, const void *bytes, int64_t n, const char *path)
{
    const unsigned char *p = bytes;
    /* `unknown` is ignored, because no other process extends the file now. */
    bool around = base_fs_bypasses_cache(fd), unknown;
    if (n > 0 && !base_can_write_to(at + n))
        return base_error_system(NC_EWRITE, "writing", path);
    while (n > 0) {
        size_t most = (size_t)(n < MOST ? n : MOST);
        bool reached =
            !around || base_extend_before_write(fd, at + (int64_t)most, &unknown);
        ssize_t done = reached ? pwrite(fd, p, most, at) : -1;
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return base_error_system(NC_EWRITE, "writing", path);
        p += done;
        at += done;
        n -= done;
    }
    return NC_NOERR;
}

/* Called when a read has returned nothing. Returns whether the file is longer than `than`
 * after all, since the node's cached size may have been stale. Returns true once for each
 * new size. Sets *lost if the size could not be refreshed. */
static bool is_longer(int fd, int64_t than, int64_t *size, bool *lost)
{
    struct stat st;
    int64_t before = *size;
    if (!base_fs_bypasses_cache(fd)) return false;
    *lost = !base_fs_refresh_size(fd);
    if (fstat(fd, &st) == 0) *size = st.st_size;
    return *size > than && *size != before;
}

int64_t base_read_some(int fd, int64_t at, void *bytes, int64_t n)
{
    unsigned char *p = bytes;
    int64_t got = 0, size = -1;
    bool lost = false;
    while (got < n) {
        int64_t most = n - got < MOST ? n - got : MOST;
        ssize_t done = pread(fd, p + got, (size_t)most, at + got);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return -1;
        if (done == 0 && !is_longer(fd, at + got, &size, &lost)) break;
        got += done;
    }
    return lost ? -1 : got;
}

int base_read_at(int fd, int64_t at, void *bytes, int64_t n, const char *path)
{
    int64_t got = base_read_some(fd, at, bytes, n);
    if (got < 0) return base_error_system(NC_EREAD, "reading", path);
    if (got < n)
        return base_error_set(NC_EREAD, "%s ends at byte %lld", path,
                              (long long)(at + got));
    return NC_NOERR;
}

int base_write_pieces(int fd, int64_t at, struct iovec *pieces, int n, const char *path)
{
    int64_t end = at;
    for (int i = 0; i < n; i++)
        end += (int64_t)pieces[i].iov_len;
    if (!base_can_write_to(end)) return base_error_system(NC_EWRITE, "writing", path);
    while (n > 0) {
        int many = n < MOST_PIECES ? n : MOST_PIECES;
        ssize_t done = n == 1 ? pwrite(fd, pieces->iov_base, pieces->iov_len, at)
                              : pwritev(fd, pieces, many, at);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO;
        if (done <= 0) return base_error_system(NC_EWRITE, "writing", path);
        at += done;
        while (n > 0 && (size_t)done >= pieces->iov_len) {
            done -= (ssize_t)pieces->iov_len;
            pieces++;
            n--;
        }
        if (n > 0) {
            pieces->iov_base = (char *)pieces->iov_base + done;
            pieces->iov_len -= (size_t)done;
        }
    }
    return NC_NOERR;
}

bool base_write_stream(int fd, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        !base_can_write_to((int64_t)st.st_size + (int64_t)n))
        return false;
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

/* ---- syncing and resizing ---- */

int base_sync_data(int fd, const char *path)
{
    int failed;
    do
        failed = fdatasync(fd);
    while (failed && errno == EINTR);
    return failed ? base_error_system(NC_EWRITE, "syncing", path) : NC_NOERR;
}

void base_write_back(int fd, int64_t at, int64_t n)
{
#ifdef __linux__
    (void)sync_file_range(fd, at, n, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd, (void)at, (void)n;
#endif
}

int base_sync_directory(const char *path_of_file)
{
    char path[PATH_MAX];
    int failed;
    base_path_folder(path_of_file, path, sizeof path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return NC_NOERR; /* the directory may not be readable */
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    int err = !failed || errno == EINVAL ? NC_NOERR
                                         : base_error_system(NC_EWRITE, "syncing", path);
    close(fd);
    return err;
}

int base_extend(int fd, int64_t size, const char *path)
{
    struct stat st;
    unsigned char last = 0;
    if (!base_fs_refresh_size(fd) || fstat(fd, &st) != 0)
        return base_error_system(NC_EWRITE, "examining", path);
    if (st.st_size >= (off_t)size) return NC_NOERR;
    if (reserve_last(fd, size))
        return errno ? base_error_system(NC_EWRITE, "extending", path) : NC_NOERR;
    /* ftruncate would remove data added since fstat, so rewrite the last byte instead
     * with its current value. */
    if (base_read_some(fd, size - 1, &last, 1) < 0)
        return base_error_system(NC_EREAD, "reading", path);
    return base_write_at(fd, size - 1, &last, 1, path);
}

int base_resize(int fd, int64_t size, const char *path)
{
    int failed;
    if (!base_can_write_to(size)) return base_error_system(NC_EWRITE, "resizing", path);
    do
        failed = ftruncate(fd, (off_t)size);
    while (failed && errno == EINTR);
    return failed ? base_error_system(NC_EWRITE, "resizing", path) : NC_NOERR;
}

void base_write_in_place(int fd)
{
#ifdef FS_NOCOW_FL
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return;
    flags |= FS_NOCOW_FL;
    (void)ioctl(fd, FS_IOC_SETFLAGS, &flags); /* other file systems refuse the flag, which
                                               * is harmless */
#else
    (void)fd;
#endif
}

bool base_is_zero(const void *bytes, int64_t n)
{
    const char *first = bytes;
    return *first == 0 && memcmp(first, first + 1, (size_t)n - 1) == 0;
}
