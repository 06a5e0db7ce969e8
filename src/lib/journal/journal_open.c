/* Opens a journal and its dataset, and decides which journals to trust.
 *
 * Other users may be able to write to a dataset's directory. A journal that is not a
 * regular file, or that does not belong to a user who may write the dataset, is never
 * read, written or removed. A journal has the dataset's permissions, so any user who may
 * write the dataset can finish its redefinition, and only users who may read its values
 * can read them in the journal. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_path.h"
#include "cdf_superblock.h"
#include "journal_impl.h"

/* Names the journal after the real file (symlinks resolved), in the same directory. */
static char *name_of_journal(const char *dataset)
{
    char real[PATH_MAX];
    const char *path = realpath(dataset, real) == NULL ? dataset : real;
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    size_t size = strlen(path) + 32, length = strlen(base);
    char *name = base_malloc(size);
    if (name == NULL) return NULL;
    int n = (int)(base - path);
    if (length + sizeof ".redef" <= NAME_MAX)
        snprintf(name, size, "%s.redef", path);
    else
        snprintf(name, size, "%.*s%.200s.%016llx.redef", n, path, base,
                 (unsigned long long)base_hash(base, length, 0));
    return name;
}

int journal_init(struct journal *j, const char *dataset)
{
    *j = (struct journal){
        .fd = -1, .file = -1, .guard = -1, .violations = base_violations()};
    j->dataset_path = base_path_absolute(dataset);
    j->path = j->dataset_path == NULL ? NULL : name_of_journal(j->dataset_path);
    return j->path == NULL ? NC_ENOMEM : NC_NOERR;
}

int journal_describe_dataset(struct journal *j)
{
    struct stat st;
    unsigned char first[8] = {0};
    if (fstat(j->file, &st) != 0)
        return base_error_system(NC_EFILE, "examining", j->dataset_path);
    if (st.st_size >= (off_t)sizeof first) {
        int err = base_read_at(j->file, 0, first, sizeof first, j->dataset_path);
        if (err != NC_NOERR) return err; /* otherwise the header's offset is unknown */
    }
    j->base = cdf_is_superblock(first, sizeof first) ? CDF_SUPERBLOCK : 0;
    j->model = st;
    j->facts.inode = (uint64_t)st.st_ino;
    j->facts.birth = base_fs_birth(j->file);
    j->facts.old_size = j->facts.new_size = st.st_size - j->base;
    return NC_NOERR;
}

int journal_open_dataset(struct journal *j, uint64_t inode)
{
    j->file = base_open(j->dataset_path, O_RDWR | O_DSYNC);
    if (j->file < 0) return base_error_system(NC_EFILE, "opening", j->dataset_path);
    int err = journal_describe_dataset(j);
    if (err != NC_NOERR) return err;
    if (!S_ISREG(j->model.st_mode) || (inode != 0 && (uint64_t)j->model.st_ino != inode))
        return base_refuse_other_file(j->dataset_path);
    return NC_NOERR;
}

/* Returns whether the file must have been created by a user who may write the dataset.
 * The file's group proves it only if the file is not writable by more users. */
static bool is_trusted(const struct stat *st, const struct stat *dataset)
{
    mode_t more = st->st_mode & ~dataset->st_mode & (S_IWGRP | S_IWOTH);
    if (st->st_uid == geteuid() || st->st_uid == dataset->st_uid) return true;
    if (dataset->st_mode & S_IWOTH) return true;
    return (dataset->st_mode & S_IWGRP) && st->st_gid == dataset->st_gid && more == 0;
}

int journal_open_trusted(const char *path, int flags, const struct stat *dataset,
                         const char **why)
{
    struct stat st;
    int fd = base_open(path, flags | O_NOFOLLOW);
    *why = fd >= 0 ? NULL : errno == ELOOP ? "it is a symbolic link" : strerror(errno);
    if (fd < 0) return -1;
    if (fstat(fd, &st) != 0)
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = "it is not a regular file";
    else if (!is_trusted(&st, dataset))
        *why = "it belongs to another user";
    if (*why == NULL) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}
