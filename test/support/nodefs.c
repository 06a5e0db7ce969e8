/* A FUSE file system in which each node has its own cache, as in network file systems.
 * Each node has a mount. All mounts show the same directory, through separate caches.
 *
 *     nodefs FOLDER through|back|late[+bare][+locks] MOUNTPOINT [-o OPTION,...]
 *
 * through: writes go to the directory immediately, and also stay in the node's page
 *     cache.
 * back: writes stay in the node's page cache. Whole pages are written back later or by a
 *     sync.
 * late: this process stores writes until a sync or a close, as MooseFS's client does. It
 *     also caches the file's size and the data read, as GlusterFS does, for a second or
 *     until a call that may change the file.
 * +bare: fallocate() is not supported.
 * +locks: a lock taken on one node is effective on all nodes.
 *
 * The options are libfuse's. With direct_io, no pages are cached. With kernel_cache,
 * pages stay cached when the file is opened. With neither, opening the file drops its
 * pages, as in file systems with close-to-open consistency. attr_timeout is the number of
 * seconds for which a size is cached. */
#define _GNU_SOURCE      /* for O_PATH, AT_EMPTY_PATH, fallocate */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdbool.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int folder; /* the shared directory */
static bool back, late;

/* Converts the result of a system call to what FUSE expects. */
static int told(long result)
{
    return result < 0 ? -errno : 0;
}

/* Strips the leading slash from a FUSE path. */
static const char *below(const char *path)
{
    return path[1] == '\0' ? "." : path + 1;
}

/* ---- the cache of a `late` client ---- */

/* A file's cache: the pending writes, in order, and the contents as last read, with these
 * writes applied. It is never freed. */

struct written {
    off_t at;
    size_t n;
    struct written *next;
    char bytes[];
};

struct kept {
    ino_t inode;
    struct written *first, **last;
    char *bytes;
    off_t size;
    time_t until; /* time at which the contents expire */
    struct kept *next;
};

static struct kept *all_kept;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static struct kept *kept_of(ino_t inode)
{
    struct kept *k = all_kept;
    while (k != NULL && k->inode != inode)
        k = k->next;
    if (k != NULL) return k;
    k = calloc(1, sizeof *k);
    if (k == NULL) exit(1);
    *k = (struct kept){.inode = inode, .last = &k->first, .next = all_kept};
    return all_kept = k;
}

static void store(struct kept *k, const char *bytes, size_t n, off_t at)
{
    if (at + (off_t)n > k->size) {
        k->bytes = realloc(k->bytes, (size_t)at + n);
        if (k->bytes == NULL) exit(1);
        memset(k->bytes + k->size, 0, (size_t)(at + (off_t)n - k->size));
        k->size = at + (off_t)n;
    }
    memcpy(k->bytes + at, bytes, n);
}

/* Reads the file unless its cached contents are still valid. */
static void look(struct kept *k, int fd)
{
    struct stat st;
    if (time(NULL) <= k->until || fstat(fd, &st) != 0) return;
    k->bytes = realloc(k->bytes, (size_t)st.st_size + 1);
    if (k->bytes == NULL) exit(1);
    ssize_t n = pread(fd, k->bytes, (size_t)st.st_size, 0);
    k->size = n < 0 ? 0 : n;
    for (const struct written *w = k->first; w != NULL; w = w->next)
        store(k, w->bytes, w->n, w->at);
    k->until = time(NULL) + 1;
}

static int keep_write(struct kept *k, const char *bytes, size_t n, off_t at)
{
    struct written *w = malloc(sizeof *w + n);
    if (w == NULL) return -ENOMEM;
    *w = (struct written){.at = at, .n = n};
    memcpy(w->bytes, bytes, n);
    *k->last = w;
    k->last = &w->next;
    store(k, bytes, n, at);
    return (int)n;
}

/* Performs the pending writes of all descriptors of the file, and drops its cached
 * contents. */
static int settle(struct kept *k, int any)
{
    char path[64];
    int result = 0;
    k->until = 0;
    if (k->first == NULL) return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", any);
    int fd = open(path, O_WRONLY);
    for (struct written *w = k->first, *next; w != NULL; w = next) {
        next = w->next;
        if (pwrite(fd, w->bytes, w->n, w->at) != (ssize_t)w->n) result = -EIO;
        free(w);
    }
    k->first = NULL;
    k->last = &k->first;
    if (fd >= 0) (void)close(fd);
    return result;
}

/* Locks and returns the cache of an open file, or returns NULL if this client caches
 * nothing. */
static struct kept *begin_keeping(int fd)
{
    struct stat st;
    if (!late || fstat(fd, &st) != 0) return NULL;
    (void)pthread_mutex_lock(&keeping);
    return kept_of(st.st_ino);
}

static void end_keeping(const struct kept *k)
{
    if (k != NULL) (void)pthread_mutex_unlock(&keeping);
}

static int settle_file(int fd)
{
    struct kept *k = begin_keeping(fd);
    int result = k == NULL ? 0 : settle(k, fd);
    end_keeping(k);
    return result;
}

/* ---- files ---- */

static int open_below(const char *path, int flags, mode_t mode, struct fuse_file_info *fi)
{
    if (back || late) { /* the kernel reads before partial writes, and handles appends */
        flags &= ~O_APPEND;
        if ((flags & O_ACCMODE) == O_WRONLY) flags ^= O_WRONLY ^ O_RDWR;
    }
    int fd = openat(folder, below(path), flags & ~O_DIRECT, mode);
    fi->fh = (uint64_t)fd;
    return told(fd);
}

static int do_open(const char *path, struct fuse_file_info *fi)
{
    return open_below(path, fi->flags, 0, fi);
}

static int do_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    return open_below(path, fi->flags | O_CREAT, mode, fi);
}

static int do_release(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    return told(close((int)fi->fh));
}

/* Called when a descriptor is closed. close() waits for the result. */
static int do_flush(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    return settle_file((int)fi->fh);
}

static int do_read(const char *path, char *bytes, size_t n, off_t at,
                   struct fuse_file_info *fi)
{
    struct kept *k = begin_keeping((int)fi->fh);
    (void)path;
    if (k == NULL) {
        ssize_t done = pread((int)fi->fh, bytes, n, at);
        return done < 0 ? -errno : (int)done;
    }
    look(k, (int)fi->fh);
    off_t there = at < k->size ? k->size - at : 0;
    if (there < (off_t)n) n = (size_t)there;
    memcpy(bytes, k->bytes + at, n);
    end_keeping(k);
    return (int)n;
}

static int do_write(const char *path, const char *bytes, size_t n, off_t at,
                    struct fuse_file_info *fi)
{
    struct kept *k = begin_keeping((int)fi->fh);
    (void)path;
    if (k == NULL) {
        ssize_t done = pwrite((int)fi->fh, bytes, n, at);
        return done < 0 ? -errno : (int)done;
    }
    int done = keep_write(k, bytes, n, at);
    end_keeping(k);
    return done;
}

static int do_fsync(const char *path, int data, struct fuse_file_info *fi)
{
    int settled = settle_file((int)fi->fh);
    (void)path;
    if (settled != 0) return settled;
    return told(data ? fdatasync((int)fi->fh) : fsync((int)fi->fh));
}

static int do_fallocate(const char *path, int mode, off_t at, off_t n,
                        struct fuse_file_info *fi)
{
    int settled = settle_file((int)fi->fh);
    (void)path;
    if (settled != 0) return settled;
    return told(fallocate((int)fi->fh, mode, at, n));
}

/* ---- locks ---- */

/* On behalf of an open file, locks the corresponding file in the shared directory, so
 * that the lock is effective on all mounts. A process waiting for the lock can be
 * killed. */
static int do_lock(const char *path, struct fuse_file_info *fi, int cmd,
                   struct flock *lock)
{
    int fd = (int)fi->fh;
    (void)path;
    lock->l_pid = 0;
    if (cmd == F_GETLK) return told(fcntl(fd, F_OFD_GETLK, lock));
    for (;;) {
        if (fcntl(fd, F_OFD_SETLK, lock) == 0) return 0;
        if (cmd != F_SETLKW || (errno != EAGAIN && errno != EACCES)) return -errno;
        if (fuse_interrupted()) return -EINTR;
        (void)usleep(1000);
    }
}

/* ---- names and attributes ---- */

static int do_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    int result = told(fi != NULL ? fstat((int)fi->fh, st)
                                 : fstatat(folder, below(path), st, AT_SYMLINK_NOFOLLOW));
    if (!late || result != 0 || !S_ISREG(st->st_mode)) return result;
    (void)pthread_mutex_lock(&keeping);
    struct kept *k = kept_of(st->st_ino);
    if (fi != NULL) look(k, (int)fi->fh);
    if (time(NULL) <= k->until) st->st_size = k->size;
    for (const struct written *w = k->first; w != NULL; w = w->next)
        if (w->at + (off_t)w->n > st->st_size) st->st_size = w->at + (off_t)w->n;
    (void)pthread_mutex_unlock(&keeping);
    return 0;
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
    if (fi != NULL) {
        int settled = settle_file((int)fi->fh);
        return settled != 0 ? settled : told(ftruncate((int)fi->fh, size));
    }
    int fd = openat(folder, below(path), O_WRONLY);
    if (fd < 0) return -errno;
    int result = settle_file(fd);
    if (result == 0) result = told(ftruncate(fd, size));
    (void)close(fd);
    return result;
}

static int do_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    (void)fi;
    return told(fchmodat(folder, below(path), mode, 0));
}

static int do_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *fi)
{
    (void)fi;
    return told(fchownat(folder, below(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int do_utimens(const char *path, const struct timespec times[2],
                      struct fuse_file_info *fi)
{
    (void)fi;
    return told(utimensat(folder, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int do_unlink(const char *path)
{
    return told(unlinkat(folder, below(path), 0));
}

static int do_mkdir(const char *path, mode_t mode)
{
    return told(mkdirat(folder, below(path), mode));
}

static int do_rmdir(const char *path)
{
    return told(unlinkat(folder, below(path), AT_REMOVEDIR));
}

static int do_rename(const char *from, const char *to, unsigned flags)
{
    return told(renameat2(folder, below(from), folder, below(to), flags));
}

static int do_link(const char *from, const char *to)
{
    return told(linkat(folder, below(from), folder, below(to), 0));
}

static int do_statfs(const char *path, struct statvfs *st)
{
    (void)path;
    return told(fstatvfs(folder, st));
}

static int do_readdir(const char *path, void *names, fuse_fill_dir_t add, off_t at,
                      struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
    int fd = openat(folder, below(path), O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *name;
    (void)at, (void)fi, (void)flags;
    if (dir == NULL) return -errno;
    while ((name = readdir(dir)) != NULL)
        if (add(names, name->d_name, NULL, 0, 0)) break;
    (void)closedir(dir);
    return 0;
}

/* ---- mounting ---- */

static void *do_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    config->use_ino = 1; /* inode numbers are the same on all mounts */
    if (back) connection->want |= FUSE_CAP_WRITEBACK_CACHE & connection->capable;
    return NULL;
}

static struct fuse_operations operations = {
    .init = do_init,
    .open = do_open,
    .create = do_create,
    .flush = do_flush,
    .release = do_release,
    .read = do_read,
    .write = do_write,
    .fsync = do_fsync,
    .fallocate = do_fallocate,
    .getattr = do_getattr,
    .truncate = do_truncate,
    .chmod = do_chmod,
    .chown = do_chown,
    .utimens = do_utimens,
    .unlink = do_unlink,
    .mkdir = do_mkdir,
    .rmdir = do_rmdir,
    .rename = do_rename,
    .link = do_link,
    .statfs = do_statfs,
    .readdir = do_readdir,
};

int main(int argc, char **argv)
{
    folder = argc > 3 ? open(argv[1], O_PATH | O_DIRECTORY) : -1;
    if (folder < 0) {
        fprintf(stderr, "usage: nodefs FOLDER through|back|late[+bare][+locks] "
                        "MOUNTPOINT [-o OPTION,...]\n");
        return 1;
    }
    if (strstr(argv[2], "+locks") != NULL) operations.lock = do_lock;
    if (strstr(argv[2], "+bare") != NULL) operations.fallocate = NULL;
    back = strncmp(argv[2], "back", 4) == 0;
    late = strncmp(argv[2], "late", 4) == 0;
    argv[2] = argv[0];
    umask(0);
    return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
