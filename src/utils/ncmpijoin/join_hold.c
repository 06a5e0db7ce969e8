/* Prevents other programs from changing the dataset during a join, and removes it.
 *
 * ncmpijoin acquires the lease on the dataset (blob_lease.h) before it reads anything,
 * because definitions read earlier might be outdated. While it has the lease, no other
 * program can open the dataset for writing, join it or remove it. If the dataset is
 * read-only, ncmpijoin checks after opening and at the end that it was not changed. */
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
#include "base_mem.h"
#include "driver.h"
#include "join.h"
#include "util_blob.h"
#include "util_message.h"

static int complain(const struct join *j, const char *what)
{
    util_message(JOIN_TOOL, j->options.from, -1, "%s", what);
    return -1;
}

static int report_error(int err)
{
    if (err == NC_NOERR) return 0;
    util_message(JOIN_TOOL, NULL, -1, "%s", base_error_detail(err));
    return -1;
}

/* Removes what a killed join by the library (hint nc_blob_join) left behind. */
static void remove_leftover(const struct join *j)
{
    char known[PATH_MAX];
    const char *master = realpath(j->options.from, known);
    char *path = master == NULL ? NULL : util_blob_joining(&j->in, master);
    if (path != NULL) (void)unlink(path);
    base_free(path);
}

/* Checks whether the dataset may lack values. If so, it is joined as far as it can be
 * read, but not removed. */
static int look_at_age(const struct join *j)
{
    const char *behind = util_blob_behind(&j->in);
    if (behind != NULL) util_message(JOIN_TOOL, behind, -1, "%s", UTIL_BLOB_BEHIND);
    if (behind != NULL && j->options.check) return -1;
    if (util_blob_is_complete(&j->in)) return 0;
    if (j->options.compact)
        return complain(j, "the last program that wrote to it did not close it: open it "
                           "for writing and close it first");
    if (!j->options.remove) return 0;
    return complain(j, "the last program that wrote to it did not close it: join it "
                       "without --remove and check the result");
}

int join_hold(struct join *j)
{
    const struct join_options *o = &j->options;
    const enum cdf_purpose purpose = o->compact ? CDF_COMPACTS : CDF_JOINS;
    unsigned char first[8];
    int err = NC_NOERR, fd = open(o->from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int64_t n = fd < 0 ? -1 : base_read_some(fd, 0, first, sizeof first);
    /* Another library's dataset has no lease. If the file is not a dataset at all,
     * opening it later reports the error. */
    if (n > 0 && cdf_is_superblock(first, (size_t)n)) {
        err = blob_lease_acquire(o->from, fd, purpose, false, &j->lease);
        bool reads_only = err == NC_EACCESS && !o->remove && !o->compact;
        if (reads_only) err = blob_lease_look(o->from);
    }
    if (fd >= 0) (void)close(fd);
    return report_error(err);
}

int join_begin(struct join *j)
{
    if (j->in.base == 0) return 0;
    if (j->lease != NULL) remove_leftover(j);
    return join_is_held(j) == 0 ? look_at_age(j) : -1;
}

int join_is_held(const struct join *j)
{
    int err = NC_NOERR;
    if (j->lease != NULL)
        err = blob_lease_check(j->lease);
    else if (j->in.base != 0)
        err = blob_lease_look(j->options.from);
    if (err != NC_NOERR) return report_error(err);
    return util_blob_is_unchanged(&j->in)
               ? 0
               : complain(j, "it was changed while it was being read");
}

int join_remove(struct join *j)
{
    char known[PATH_MAX];
    const char *from = j->options.from;
    struct stat st;
    /* A dataset without a master has no file of this name, so the file is OUT, or one
     * that another program has created. */
    if (j->in.stands_in && lstat(from, &st) == 0)
        return complain(j,
                        "a file of this name was created during the join: the subfiles "
                        "were not removed");
    /* If it is a symbolic link, removes the link last. */
    int err =
        driver_delete(realpath(from, known) == NULL ? from : known, MPI_INFO_NULL, true);
    if (err == NC_NOERR && unlink(from) != 0 && errno != ENOENT)
        err = base_error_system(NC_EFILE, "removing", from);
    return report_error(err);
}

void join_release(struct join *j)
{
    (void)blob_lease_release(j->lease, NULL, true);
    j->lease = NULL;
}
