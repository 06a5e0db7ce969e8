/* A file system that each node caches for itself, as network file systems do: a folder,
 * by FUSE. Mounted several times, once a node, it is the same files by as many caches.
 *
 *     nodefs FOLDER through|back MOUNTPOINT [-o kernel_cache,attr_timeout=5 ...]
 *
 * through: what is written gets to the folder at once, and stays in the node's pages too;
 * back: it stays in the node's pages, and whole ones are written back later, or at a
 * sync. The options are libfuse's. direct_io: there are no pages; nothing: they are
 * dropped when a file is opened, as close-to-open file systems do; kernel_cache: not even
 * then. attr_timeout: for so many seconds a size is not asked for again. */
#define _GNU_SOURCE      /* O_PATH, AT_EMPTY_PATH, fallocate */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int folder; /* all paths are below it */
static bool back;

/* What a call of the system has come to, as FUSE wants it. */
static int told(long result)
{
    return result < 0 ? -errno : 0;
}

/* FUSE's paths begin with a slash. */
static const char *below(const char *path)
{
    return path[1] == '\0' ? "." : path + 1;
}

/* ---- files ---- */

static int open_below(const char *path, int flags, mode_t mode, struct fuse_file_info *fi)
{
    if (back) { /* the node reads pages of which it writes a part, and appends by itself
                 */
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

static int do_read(const char *path, char *bytes, size_t n, off_t at,
                   struct fuse_file_info *fi)
{
    ssize_t done = pread((int)fi->fh, bytes, n, at);
    (void)path;
    return done < 0 ? -errno : (int)done;
}

static int do_write(const char *path, const char *bytes, size_t n, off_t at,
                    struct fuse_file_info *fi)
{
    ssize_t done = pwrite((int)fi->fh, bytes, n, at);
    (void)path;
    return done < 0 ? -errno : (int)done;
}

static int do_fsync(const char *path, int data, struct fuse_file_info *fi)
{
    (void)path;
    return told(data ? fdatasync((int)fi->fh) : fsync((int)fi->fh));
}

static int do_fallocate(const char *path, int mode, off_t at, off_t n,
                        struct fuse_file_info *fi)
{
    (void)path;
    return told(fallocate((int)fi->fh, mode, at, n));
}

/* ---- names and what is told of them ---- */

static int do_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    return told(fi != NULL ? fstat((int)fi->fh, st)
                           : fstatat(folder, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int do_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
    if (fi != NULL) return told(ftruncate((int)fi->fh, size));
    int fd = openat(folder, below(path), O_WRONLY);
    if (fd < 0) return -errno;
    int result = told(ftruncate(fd, size));
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
    config->use_ino = 1; /* on all mounts the same */
    if (back) connection->want |= FUSE_CAP_WRITEBACK_CACHE & connection->capable;
    return NULL;
}

static const struct fuse_operations operations = {
    .init = do_init,
    .open = do_open,
    .create = do_create,
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
        fprintf(stderr, "usage: nodefs FOLDER through|back MOUNTPOINT [-o OPTION,...]\n");
        return 1;
    }
    back = strcmp(argv[2], "back") == 0;
    argv[2] = argv[0];
    umask(0);
    return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
