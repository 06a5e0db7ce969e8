/* Replacements for system calls on files. Files below SCALE_STORE belong to the simulated
 * file system, and calls on them take simulated time. All other calls are passed to the
 * system and take no simulated time.
 *
 * A descriptor is a real descriptor of a real file, which is identified by its inode. So
 * a descriptor is recognized even if it was duplicated, or passed to another process of
 * the node through a socket. Neither of these operations sends a metadata request.
 * Opening a file or receiving a descriptor caches the file's attributes on the node, so
 * the first stat afterwards takes no time. */
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
bool __wrap_base_fs_can_map(int fd);
struct base_fs_stripes __wrap_base_fs_stripes(int fd);

/* Properties of an open descriptor. */
struct known {
    struct store_file *file; /* NULL if the file is not simulated */
    bool looked_up;          /* `file` has been looked up */
    bool seen;               /* stat has been called with this descriptor */
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

/* Returns the simulated file of a descriptor, whichever process opened it. Returns NULL
 * if the file is not simulated. */
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

/* Returns false for simulated files: stores to mapped memory would not reach a server. */
bool __wrap_base_fs_can_map(int fd)
{
    return file_of(fd) == NULL && base_fs_can_map(fd);
}

struct base_fs_stripes __wrap_base_fs_stripes(int fd)
{
    if (file_of(fd) == NULL) return (struct base_fs_stripes){0, 0, false};
    return (struct base_fs_stripes){(int64_t)machine_get()->stripe,
                                    machine_file_servers(),
                                    machine_get()->lock_grows > 0};
}
