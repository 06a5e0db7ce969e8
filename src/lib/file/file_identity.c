/* Which file a dataset has: device and inode, as process 0 found them. As long as that
 * has the file open, no other file can get the same. */
#include "file_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_io.h"
#include "base_mpi.h"

static int tell_other(const char *path)
{
    return base_error_set(NC_EFILE, "%s: another file has taken this name", path);
}

static int refuse_special(const char *path, mode_t mode)
{
    if (S_ISREG(mode)) return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: it is %s", path,
                          S_ISDIR(mode) ? "a directory" : "no regular file");
}

int file_refuse(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? refuse_special(path, st.st_mode) : NC_NOERR;
}

static int open_regular(const char *path, int flags, int *fd, struct stat *st)
{
    *fd = base_open_with(path, flags, 0666);
    if (*fd < 0) {
        int err = base_error_system(NC_EFILE, "opening", path);
        int special = flags & O_EXCL ? NC_NOERR : file_refuse(path);
        return special != NC_NOERR ? special : err;
    }
    int err = fstat(*fd, st) == 0 ? refuse_special(path, st->st_mode)
                                  : base_error_system(NC_EFILE, "looking at", path);
    if (err != NC_NOERR) (void)close(*fd), *fd = -1;
    return err;
}

static void remember_file(struct dataset *ds, const struct stat *st)
{
    ds->device = (int64_t)st->st_dev;
    ds->inode = (int64_t)st->st_ino;
    ds->host = base_mpi_host();
}

/* Device numbers are a host's own. Inode numbers are the same on all where the file
 * system is one that base_fs knows; others may number files on each host anew. */
static bool is_ours(const struct dataset *ds, const struct stat *st)
{
    return ds->inode == 0 ||
           ((int64_t)st->st_ino == ds->inode &&
            (ds->host != base_mpi_host() || (int64_t)st->st_dev == ds->device));
}

int file_first(struct dataset *ds, int flags, struct file_descriptor *d)
{
    struct stat st = {0};
    *d = FILE_NO_DESCRIPTOR;
    ds->stats.file_opens++;
    int err = open_regular(ds->path, flags, &d->fd, &st);
    if (err == NC_NOERR) remember_file(ds, &st);
    return err;
}

/* Opens it by its name. *ours: as far as can be told it is the one. */
static int open_named(struct dataset *ds, struct file_descriptor *d, bool *ours)
{
    struct stat st = {0};
    ds->stats.file_opens++;
    int err = open_regular(ds->full, ds->writable ? O_RDWR : O_RDONLY, &d->fd, &st);
    *ours = err == NC_NOERR && is_ours(ds, &st);
    return err;
}

/* Process 0 has the file open, so it is there: where names are late this one is tried
 * until it leads there, and until then what it leads to may be the file that was moved
 * out of the way. Where nodes number files each in its own way the right one is not known
 * by its number: that is waited for once. */
static int await_name(struct dataset *ds, struct file_descriptor *d, bool *ours, int err)
{
    enum { OF_A_STRANGER = 8 };
    static atomic_bool own_numbers;
    int turn = 0;
    while (!*ours && (err == NC_NOERR || err == NC_ENOENT || err == NC_EFILE)) {
        bool stranger = err == NC_NOERR;
        if (stranger && turn >= OF_A_STRANGER) own_numbers = true;
        if ((stranger && own_numbers) || !base_fs_await_name(ds->full, &turn)) break;
        if (stranger) (void)file_descriptor_close(d, ds->full);
        err = open_named(ds, d, ours);
    }
    return err;
}

int file_again(struct dataset *ds, struct file_descriptor *d)
{
    bool ours;
    *d = FILE_NO_DESCRIPTOR;
    if (ds->lent != NULL && file_descriptor_copy(ds->lent, d)) return NC_NOERR;
    int err = open_named(ds, d, &ours);
    bool elsewhere = ds->host != base_mpi_host();
    if (!ours && elsewhere) err = await_name(ds, d, &ours, err);
    if (err != NC_NOERR || ours) return err;
    if (elsewhere && !base_fs_coherent(d->fd)) return NC_NOERR;
    (void)file_descriptor_close(d, ds->full);
    return tell_other(ds->full);
}

bool file_is(const struct dataset *ds, int fd)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    return ds->inode != 0 && flags >= 0 &&
           (flags & O_ACCMODE) == (ds->writable ? O_RDWR : O_RDONLY) &&
           fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_ours(ds, &st);
}

void file_note(struct dataset *ds)
{
    struct stat st = {0};
    if (stat(ds->path, &st) == 0) remember_file(ds, &st);
}

int file_check(const struct dataset *ds)
{
    struct stat st;
    if (stat(ds->full, &st) != 0) return NC_NOERR;
    return ds->host != base_mpi_host() || is_ours(ds, &st) ? NC_NOERR
                                                           : tell_other(ds->full);
}

bool file_has(const struct dataset *ds, const char *path)
{
    struct stat st;
    return ds->inode != 0 && stat(path, &st) == 0 && is_ours(ds, &st);
}

bool file_only(const struct dataset *ds, const char *path)
{
    struct stat st;
    return ds->inode != 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_nlink == 1 && is_ours(ds, &st);
}
