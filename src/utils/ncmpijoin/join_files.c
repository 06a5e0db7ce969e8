/* Names: the file gets its own when it is whole. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_rights.h"
#include "join.h"
#include "util_blob.h"
#include "util_message.h"

static int complain(const char *path, int error)
{
    util_message(JOIN_TOOL, path, -1, "%s", strerror(error));
    return -1;
}

static int check_target(const struct join *j)
{
    const char *why = util_blob_refuses(&j->in, j->options.to, j->options.force);
    if (why == NULL) return 0;
    util_message(JOIN_TOOL, j->options.to, -1, "%s", why);
    return -1;
}

static int tell_error(int err)
{
    util_message(JOIN_TOOL, NULL, -1, "%s", base_error_detail(err));
    return -1;
}

/* Nobody may read it who may not read the dataset. */
static int prepare(const struct join *j)
{
    int err = base_rights_copy(j->in.fd, j->made, j->temporary);
    if (err != NC_NOERR) return tell_error(err);
    if (ftruncate(j->made, (off_t)j->size) == 0) return 0;
    return complain(j->temporary, errno);
}

/* A program that makes the file has it locked: one without a lock was left by a kill. */
static int remove_leftover(const struct join *j)
{
    int fd = open(j->temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : complain(j->temporary, errno);
    enum base_locked locked = base_lock_try(fd, BASE_LOCK_PARTS, true);
    int status = 0;
    if (locked != BASE_LOCKED) {
        util_message(JOIN_TOOL, j->temporary, -1,
                     locked == BASE_BUSY ? "another ncmpijoin is making this file"
                                         : "another ncmpijoin has left this file, or is "
                                           "making it; remove it if there is none");
        status = -1;
    } else if (unlink(j->temporary) != 0) {
        status = complain(j->temporary, errno);
    }
    (void)close(fd);
    return status;
}

static int make_file(struct join *j)
{
    struct stat st;
    j->made =
        open(j->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, BASE_RIGHTS_PRIVATE);
    if (j->made < 0) return complain(j->temporary, errno);
    if (base_lock_try(j->made, BASE_LOCK_PARTS, true) != BASE_BUSY &&
        fstat(j->made, &st) == 0 && st.st_nlink > 0)
        return 0;
    util_message(JOIN_TOOL, j->temporary, -1, "another ncmpijoin has taken this name");
    (void)close(j->made);
    j->made = -1;
    return -1;
}

int join_create(struct join *j)
{
    int status = check_target(j);
    char *path = util_blob_joining(&j->in, j->options.to);
    if (status == 0 && path == NULL) status = complain(j->options.to, ENOMEM);
    if (status == 0 && strlen(path) >= sizeof j->temporary)
        status = complain(j->options.to, ENAMETOOLONG);
    if (status == 0) strcpy(j->temporary, path);
    base_free(path);
    if (status == 0) status = remove_leftover(j);
    if (status == 0) status = make_file(j);
    if (status != 0) {
        j->temporary[0] = '\0'; /* nothing to remove */
        return -1;
    }
    return prepare(j);
}

int join_rename(struct join *j)
{
    if (check_target(j) != 0) return -1; /* it may have come meanwhile */
    if (rename(j->temporary, j->options.to) != 0) return complain(j->options.to, errno);
    j->temporary[0] = '\0';
    int err = base_sync_directory(j->options.to);
    return err == NC_NOERR ? 0 : tell_error(err);
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
