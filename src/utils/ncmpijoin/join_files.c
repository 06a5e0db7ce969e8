/* Names: the file gets its own when it is whole. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "join.h"
#include "util_blob.h"
#include "util_message.h"

static int complain(const char *path, int error)
{
    util_message(JOIN_TOOL, path, -1, "%s", strerror(error));
    return -1;
}

/* Is a file one of those that the dataset is in? */
static bool is_part(const struct join *j, const struct stat *file)
{
    struct stat st;
    bool same = stat(j->options.from, &st) == 0 && st.st_dev == file->st_dev &&
                st.st_ino == file->st_ino;
    for (int i = 0; i < util_blob_count(&j->in) && !same; i++)
        same = stat(util_blob_path(&j->in, i), &st) == 0 && st.st_dev == file->st_dev &&
               st.st_ino == file->st_ino;
    return same;
}

static int check_target(const struct join *j)
{
    struct stat st;
    if (lstat(j->options.to, &st) != 0)
        return errno == ENOENT ? 0 : complain(j->options.to, errno);
    if (!j->options.force) return complain(j->options.to, EEXIST);
    if (S_ISDIR(st.st_mode)) return complain(j->options.to, EISDIR);
    if (stat(j->options.to, &st) != 0 || !is_part(j, &st)) return 0;
    util_message(JOIN_TOOL, j->options.to, -1, "the dataset is in this file");
    return -1;
}

static int prepare(const struct join *j, int fd)
{
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) == 0 && ftruncate(fd, (off_t)j->size) == 0) return 0;
    return complain(j->options.to, errno);
}

int join_create(struct join *j)
{
    int status = check_target(j), fd = -1;
    int n = snprintf(j->temporary, sizeof j->temporary, "%s.XXXXXX", j->options.to);
    if (status == 0 && n >= (int)sizeof j->temporary)
        status = complain(j->options.to, ENAMETOOLONG);
    if (status == 0 && (fd = mkstemp(j->temporary)) < 0)
        status = complain(j->options.to, errno);
    if (status != 0) {
        j->temporary[0] = '\0'; /* nothing to remove */
        return -1;
    }
    status = prepare(j, fd);
    if (close(fd) != 0 && status == 0) status = complain(j->options.to, errno);
    return status;
}

int join_rename(struct join *j)
{
    if (check_target(j) != 0) return -1; /* it may have come meanwhile */
    if (rename(j->temporary, j->options.to) != 0) return complain(j->options.to, errno);
    j->temporary[0] = '\0';
    int err = base_sync_directory(j->options.to);
    if (err == NC_NOERR) return 0;
    util_message(JOIN_TOOL, NULL, -1, "%s", base_error_detail(err));
    return -1;
}

static int remove_file(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ? 0 : complain(path, errno);
}

/* The master is last: as long as it is there ncmpi_delete finds the others. */
int join_remove(struct join *j)
{
    char known[PATH_MAX];
    const char *master = realpath(j->options.from, known);
    int status =
        master == NULL && !j->in.stands_in ? complain(j->options.from, errno) : 0;
    for (int i = 0; i < util_blob_count(&j->in) && status == 0; i++)
        status = remove_file(util_blob_path(&j->in, i));
    if (status == 0 && master != NULL) status = remove_file(master);
    return status == 0 ? remove_file(j->options.from) : status; /* a link to it */
}

void join_give_up(const struct join *j)
{
    if (j->temporary[0] == '\0') return;
    (void)remove_file(j->temporary);
}
