/* What the linker puts in place of the system's calls on files: those on files of the
 * simulated file system, that is, below SCALE_STORE, take their time there; all others
 * are the system's own, and take none.
 *
 * A descriptor is a real one, of a real file, which the system knows by its inode; so it
 * may be copied, or passed to another process of the node through a socket, and still be
 * known here. Neither passes the metadata server. What an open tells of the file is in
 * the node's memory when it has been opened or the descriptor passed: looking at it once
 * takes no time. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_fs.h"
#include "machine_impl.h"

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);
int __wrap_ftruncate(int fd, off_t size);
int __wrap_fdatasync(int fd);
bool __wrap_base_fs_maps(int fd);
struct base_fs_stripes __wrap_base_fs_stripes(int fd);

/* What is known of a descriptor. */
struct known {
    struct store_file *file; /* NULL: of the system's own files */
    bool looked_up;          /* that is known */
    bool seen;               /* somebody has looked at the file by it */
};
static struct known *descriptors;
static long ndescriptors;

static bool in_store(const char *path)
{
    const char *store = getenv("SCALE_STORE");
    return store != NULL && strncmp(path, store, strlen(store)) == 0;
}

static struct known *known(int fd)
{
    if (fd >= ndescriptors) {
        long n = 2 * fd + 64;
        descriptors = machine_grow(descriptors, ndescriptors, n, sizeof *descriptors);
        ndescriptors = n;
    }
    return &descriptors[fd];
}

/* The file of a descriptor, of any process; NULL: it is none of the store's. */
static struct store_file *file_of(int fd)
{
    struct known *k = fd >= 0 ? known(fd) : NULL;
    struct stat st;
    if (k == NULL) return NULL;
    if (!k->looked_up && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        k->file = store_find(st.st_dev, st.st_ino);
        if (k->file != NULL) store_join(k->file);
    }
    k->looked_up = true;
    return k->file;
}

int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (!in_store(path)) return open(path, flags, mode);
    struct store_file *f = store_open(path, flags & (O_ACCMODE | O_CREAT | O_EXCL));
    if (f == NULL) return -1;
    int fd = open(path, flags & ~(O_CREAT | O_EXCL));
    if (fd < 0)
        store_close(f);
    else
        *known(fd) = (struct known){.file = f, .looked_up = true};
    return fd;
}

int __wrap_close(int fd)
{
    struct known *k = fd >= 0 ? known(fd) : NULL;
    if (k != NULL && k->file != NULL) store_close(k->file);
    if (k != NULL) *k = (struct known){.file = NULL};
    return close(fd);
}

int __wrap_fstat(int fd, struct stat *st)
{
    struct store_file *f = file_of(fd);
    if (f != NULL && known(fd)->seen) (void)store_size(f);
    if (f != NULL) known(fd)->seen = true;
    return fstat(fd, st);
}

int __wrap_stat(const char *path, struct stat *st)
{
    if (in_store(path)) store_look();
    return stat(path, st);
}

ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t at)
{
    struct store_file *f = file_of(fd);
    return f != NULL ? store_read(f, at, bytes, (int64_t)n) : pread(fd, bytes, n, at);
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    struct store_file *f = file_of(fd);
    return f != NULL ? store_write(f, at, bytes, (int64_t)n) : pwrite(fd, bytes, n, at);
}

int __wrap_ftruncate(int fd, off_t size)
{
    struct store_file *f = file_of(fd);
    return f != NULL ? store_resize(f, size) : ftruncate(fd, size);
}

int __wrap_fdatasync(int fd)
{
    if (file_of(fd) == NULL) return fdatasync(fd);
    machine_settle();
    return 0;
}

/* Stores would reach no server. */
bool __wrap_base_fs_maps(int fd)
{
    return file_of(fd) == NULL && base_fs_maps(fd);
}

struct base_fs_stripes __wrap_base_fs_stripes(int fd)
{
    if (file_of(fd) == NULL) return (struct base_fs_stripes){0, 0, false};
    return (struct base_fs_stripes){(int64_t)machine_get()->stripe,
                                    machine_file_servers(),
                                    machine_get()->lock_grows > 0};
}
