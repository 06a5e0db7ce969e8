/* Shares one open file description among several processes or layers.
 *
 * The system reports a write error only once per open file description, to one of its
 * users. That user increments a shared counter. At its next sync, every other user finds
 * that the counter has changed. */
#define _GNU_SOURCE /* memfd_create */
#include "file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"

/* ---- errors that the system reports only once ---- */

int64_t file_descriptor_errors(int fd)
{
    int64_t n = 0;
    return fd >= 0 && pread(fd, &n, sizeof n, 0) == (ssize_t)sizeof n ? n : 0;
}

/* Sets the counter. Returns false on failure; other processes then miss the error. */
static bool set_errors(int fd, int64_t n)
{
    return fd >= 0 && base_can_write_to(sizeof n) &&
           pwrite(fd, &n, sizeof n, 0) == (ssize_t)sizeof n;
}

/* Locks the counter. Processes that share a descriptor sync one after another, so that
 * none reads the counter after another process got an error but before it incremented the
 * counter. If a process ends, the system releases its lock. If locking fails, a process
 * still reports its own errors. */
void file_descriptor_lock_errors(const struct file_descriptor *d)
{
    if (d->errors >= 0) (void)base_lock_bytes(d->errors, 0, 0);
}

static void release(const struct file_descriptor *d)
{
    if (d->errors >= 0) (void)base_unlock_bytes(d->errors, 0, 0);
}

/* Unlocks the counter, after incrementing it if values were lost. If that fails, this
 * process reports the error at its own next sync instead. */
void file_descriptor_unlock_errors(struct file_descriptor *d, bool lost)
{
    if (lost && !set_errors(d->errors, file_descriptor_errors(d->errors) + 1))
        d->reported_errors--;
    release(d);
}

int file_descriptor_sync(struct file_descriptor *d, const char *path)
{
    file_descriptor_lock_errors(d);
    int err = base_sync_data(d->fd, path);
    int64_t n = file_descriptor_errors(d->errors);
    if (err != NC_NOERR)
        n += set_errors(d->errors, n + 1);
    else if (n != d->reported_errors)
        err = base_error_set(
            NC_EWRITE,
            "%s: some data that processes on this host wrote did not reach the device",
            path);
    d->reported_errors = n;
    release(d);
    return err;
}

void file_descriptor_mark_reported(struct file_descriptor *d)
{
    if (d->errors >= 0) d->reported_errors = file_descriptor_errors(d->errors);
}

int file_descriptor_close(struct file_descriptor *d, const char *path)
{
    int err = NC_NOERR;
    if (d->fd >= 0 && close(d->fd) != 0 && errno != EINTR)
        err = base_error_system(NC_EFILE, "closing", path);
    if (d->errors >= 0) (void)close(d->errors);
    *d = FILE_NO_DESCRIPTOR;
    return err;
}

#ifdef __linux__

/* Must be called before the descriptor is passed to another process. */
bool file_descriptor_count(struct file_descriptor *d)
{
    if (d->errors >= 0) return true;
    int fd = memfd_create("ncmpi", MFD_CLOEXEC);
    if (fd < 0) return false;
    if (!set_errors(fd, 0)) {
        (void)close(fd);
        return false;
    }
    d->errors = fd;
    return true;
}

bool file_descriptor_copy(struct file_descriptor *d, struct file_descriptor *copy)
{
    if (!file_descriptor_count(d)) return false;
    int fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);
    int errors = fcntl(d->errors, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0 && errors >= 0) {
        *copy = (struct file_descriptor){fd, errors, file_descriptor_errors(errors)};
        return true;
    }
    if (fd >= 0) (void)close(fd);
    if (errors >= 0) (void)close(errors);
    return false;
}

#else

bool file_descriptor_copy(struct file_descriptor *d, struct file_descriptor *copy)
{
    (void)d, (void)copy;
    return false;
}

#endif
