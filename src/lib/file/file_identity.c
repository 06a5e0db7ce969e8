/* Identifies a dataset's file by the device and inode that process 0 found when it opened
 * the file. As long as process 0 has it open, no other file can have the same pair. */
#include "file_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_io.h"
#include "base_mpi.h"
#include "cdf_superblock.h"

static int refuse_special(const char *path, mode_t mode)
{
    if (S_ISREG(mode)) return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: it is %s", path,
                          S_ISDIR(mode) ? "a directory" : "not a regular file");
}

int file_check_type(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? refuse_special(path, st.st_mode) : NC_NOERR;
}

static int open_regular(const char *path, int flags, int *fd, struct stat *st)
{
    *fd = base_open_with(path, flags, 0666);
    if (*fd < 0) {
        int err = base_error_system(NC_EFILE, "opening", path);
        int special = flags & O_EXCL ? NC_NOERR : file_check_type(path);
        return special != NC_NOERR ? special : err;
    }
    int err = fstat(*fd, st) == 0 ? refuse_special(path, st->st_mode)
                                  : base_error_system(NC_EFILE, "examining", path);
    if (err != NC_NOERR) (void)close(*fd), *fd = -1;
    return err;
}

static void remember_file(struct dataset *ds, const struct stat *st)
{
    ds->identity.device = (int64_t)st->st_dev;
    ds->identity.inode = (int64_t)st->st_ino;
    ds->identity.host = base_mpi_host();
}

/* Returns whether a file is the dataset's. Device numbers differ between hosts; inode
 * numbers are guaranteed to be the same only if base_fs knows the file system. */
static bool is_dataset_file(const struct dataset *ds, const struct stat *st)
{
    return ds->identity.inode == 0 || ((int64_t)st->st_ino == ds->identity.inode &&
                                       (ds->identity.host != base_mpi_host() ||
                                        (int64_t)st->st_dev == ds->identity.device));
}

int file_record_fd(struct dataset *ds, int fd)
{
    struct stat st = {0};
    if (fstat(fd, &st) != 0)
        return base_error_system(NC_EFILE, "examining", ds->full_path);
    remember_file(ds, &st);
    return NC_NOERR;
}

/* Adopts the descriptor that was used to create the file. The name may refer to another
 * file by now, but the descriptor cannot. */
static int adopt_created(struct dataset *ds, struct file_descriptor *d)
{
    int err = file_record_fd(ds, ds->created_descriptor->fd);
    if (err != NC_NOERR) return err;
    *d = *ds->created_descriptor;
    *ds->created_descriptor = FILE_NO_DESCRIPTOR;
    return NC_NOERR;
}

int file_open_first(struct dataset *ds, int flags, struct file_descriptor *d)
{
    struct stat st = {0};
    *d = FILE_NO_DESCRIPTOR;
    if (ds->created_descriptor != NULL && ds->created_descriptor->fd >= 0)
        return adopt_created(ds, d);
    if (ds->created_descriptor != NULL) flags |= O_NOFOLLOW;
    int err = open_regular(ds->path, flags, &d->fd, &st);
    if (err == NC_NOERR) remember_file(ds, &st);
    return err;
}

/* Opens the file by name. Sets *ours if this host finds that it is the dataset's file. */
static int open_named(struct dataset *ds, struct file_descriptor *d, bool *ours)
{
    struct stat st = {0};
    int flags = (ds->writable ? O_RDWR : O_RDONLY) |
                (ds->created_descriptor != NULL ? O_NOFOLLOW : 0);
    ds->stats.file_opens++;
    int err = open_regular(ds->full_path, flags, &d->fd, &st);
    *ours = err == NC_NOERR && is_dataset_file(ds, &st);
    return err;
}

/* Waits until the name refers to the dataset's file, which exists because process 0 has
 * it open. Where names become visible with a delay, the name may still refer to a file
 * that has been moved away, so the open is repeated. Where nodes number files
 * differently, the right file cannot be recognized by its number, so a process retries
 * only once. */
static int await_name(struct dataset *ds, struct file_descriptor *d, bool *ours, int err)
{
    enum { OF_A_STRANGER = 8 };
    static atomic_bool own_numbers;
    int turn = 0;
    while (!*ours && (err == NC_NOERR || err == NC_ENOENT || err == NC_EFILE)) {
        bool stranger = err == NC_NOERR;
        if (stranger && turn >= OF_A_STRANGER) own_numbers = true;
        if ((stranger && own_numbers) || !base_fs_await_name(ds->full_path, &turn)) break;
        if (stranger) (void)file_descriptor_close(d, ds->full_path);
        err = open_named(ds, d, ours);
    }
    return err;
}

int file_open_again(struct dataset *ds, struct file_descriptor *d)
{
    bool ours;
    *d = FILE_NO_DESCRIPTOR;
    if (ds->shared_descriptor != NULL && file_descriptor_copy(ds->shared_descriptor, d))
        return NC_NOERR;
    int err = open_named(ds, d, &ours);
    bool elsewhere = ds->identity.host != base_mpi_host();
    if (!ours && elsewhere) err = await_name(ds, d, &ours, err);
    if (err != NC_NOERR || ours) return err;
    if (elsewhere && !base_fs_is_coherent(d->fd)) return NC_NOERR;
    (void)file_descriptor_close(d, ds->full_path);
    return base_refuse_other_file(ds->full_path);
}

int file_reopen(const struct dataset *ds, int flags, int *fd)
{
    struct stat st = {0};
    if (ds->created_descriptor != NULL) flags |= O_NOFOLLOW;
    int err = open_regular(ds->full_path, flags, fd, &st);
    if (err != NC_NOERR || is_dataset_file(ds, &st)) return err;
    if (ds->identity.host != base_mpi_host() && !base_fs_is_coherent(*fd))
        return NC_NOERR;
    (void)close(*fd);
    *fd = -1;
    return base_refuse_other_file(ds->full_path);
}

bool file_is_fd(const struct dataset *ds, int fd)
{
    struct stat st;
    return ds->identity.inode != 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           is_dataset_file(ds, &st);
}

bool file_is_dataset_fd(const struct dataset *ds, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) == (ds->writable ? O_RDWR : O_RDONLY) &&
           file_is_fd(ds, fd);
}

void file_record_identity(struct dataset *ds)
{
    struct stat st = {0};
    bool made = ds->created_descriptor != NULL && ds->created_descriptor->fd >= 0;
    bool known =
        made ? fstat(ds->created_descriptor->fd, &st) == 0 : stat(ds->path, &st) == 0;
    if (known) remember_file(ds, &st);
}

int file_check(const struct dataset *ds)
{
    struct stat st;
    if (stat(ds->full_path, &st) != 0) return NC_NOERR;
    return ds->identity.host != base_mpi_host() || is_dataset_file(ds, &st)
               ? NC_NOERR
               : base_refuse_other_file(ds->full_path);
}

bool file_is_at_path(const struct dataset *ds, const char *path)
{
    struct stat st;
    return ds->identity.inode != 0 && stat(path, &st) == 0 && is_dataset_file(ds, &st);
}

bool file_is_only_at_path(const struct dataset *ds, const char *path)
{
    struct stat st;
    return ds->identity.inode != 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_nlink == 1 && is_dataset_file(ds, &st);
}

bool file_has_subfiles(int fd)
{
    unsigned char mark[8];
    int64_t n = base_read_some(fd, 0, mark, sizeof mark);
    return n > 0 && cdf_is_superblock(mark, (size_t)n);
}

bool file_path_is_fd(const struct dataset *ds, int fd)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(ds->full_path, &there) == 0 &&
           base_same_file(&mine, &there);
}

static int report_replaced(const struct dataset *ds)
{
    return base_error_set(
        NC_EFILE,
        "%s: another program replaced or re-created the file while it was open here; "
        "values written here are lost, so close the dataset",
        ds->full_path);
}

/* Returns this process's descriptor for the file, or -1 if it has none. */
static int descriptor_of(const struct dataset *ds)
{
    if (ds->guard != NULL) return *ds->guard;
    return ds->shared_descriptor == NULL ? -1 : ds->shared_descriptor->fd;
}

/* On file systems that cache names and attributes on several nodes (NFS), the client may
 * rename a removed file, so the link count proves nothing. */
int file_check_replaced(const struct dataset *ds)
{
    struct stat mine, there;
    int fd = ds->writable && !ds->deleted ? descriptor_of(ds) : -1;
    if (fd < 0 || fstat(fd, &mine) != 0 || stat(ds->full_path, &there) != 0)
        return NC_NOERR;
    if (base_same_file(&mine, &there)) return NC_NOERR;
    if (mine.st_nlink > 0 && base_fs_is_coherent(fd)) return NC_NOERR;
    return report_replaced(ds);
}

void file_explain_replaced(const struct dataset *ds, int err)
{
    struct stat there;
    if (err != NC_EFILE || ds->rank == 0 || ds->identity.inode == 0 || !ds->writable)
        return;
    if (descriptor_of(ds) >= 0) {
        struct base_error_note note;
        base_error_save(&note);
        if (file_check_replaced(ds) == NC_NOERR) base_error_restore(&note);
    } else if (stat(ds->full_path, &there) == 0 && !is_dataset_file(ds, &there)) {
        (void)report_replaced(ds);
    }
}
