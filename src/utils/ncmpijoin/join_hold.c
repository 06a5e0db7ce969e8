/* This program has the dataset to itself while it joins it: nobody opens it for writing,
 * or joins it, too. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_lock.h"
#include "base_mem.h"
#include "join.h"
#include "util_blob.h"
#include "util_message.h"

static const enum base_lock_place places[] = {BASE_LOCK_LAYOUT, BASE_LOCK_PARTS};
enum { PLACES = sizeof places / sizeof places[0] };

static int complain(const struct join *j, const char *what)
{
    util_message(JOIN_TOOL, j->options.from, -1, "%s", what);
    return -1;
}

static int tell_busy(const struct join *j)
{
    char who[UTIL_BLOB_WHO], line[UTIL_BLOB_WHO + 40];
    if (util_blob_is_joined(&j->in, who)) {
        snprintf(line, sizeof line, "it is being made one file by %s", who);
        return complain(j, line);
    }
    return complain(j, "another program has it open for writing, or joins it");
}

/* A reader can only look whether somebody has a lock. */
static bool is_busy(const struct join *j)
{
    char who[UTIL_BLOB_WHO];
    bool busy = util_blob_is_joined(&j->in, who); /* where there are no locks */
    for (int i = 0; i < PLACES && !busy; i++)
        busy = j->reads_only ? base_lock_busy(j->lock, places[i])
                             : base_lock_try(j->lock, places[i], true) == BASE_BUSY;
    return busy;
}

/* Of the library's own join (nc_blob_join), if that was killed. */
static void remove_leftover(const struct join *j)
{
    char known[PATH_MAX];
    const char *master = realpath(j->options.from, known);
    char *path = master == NULL ? NULL : util_blob_joining(&j->in, master);
    if (path != NULL) (void)unlink(path);
    base_free(path);
}

/* What may lack values is joined, as it can be read, but not removed. */
static int look_at_age(const struct join *j)
{
    const char *behind = util_blob_behind(&j->in);
    if (behind != NULL) util_message(JOIN_TOOL, behind, -1, "%s", UTIL_BLOB_BEHIND);
    if (behind != NULL && j->options.check) return -1;
    if (util_blob_is_complete(&j->in)) return 0;
    if (j->options.compact)
        return complain(j, "the program that wrote to it last did not close it: open it "
                           "for writing, and close it first");
    if (!j->options.remove) return 0;
    return complain(j, "the program that wrote to it last did not close it: join it "
                       "without --remove, and look at what comes of it");
}

int join_hold(struct join *j)
{
    if (j->in.base == 0) return 0; /* another library's: there are no locks */
    j->lock = open(j->options.from, O_RDWR | O_CLOEXEC);
    j->reads_only = j->lock < 0;
    if (j->reads_only && (j->options.remove || j->options.compact))
        return complain(j, strerror(errno));
    if (j->reads_only) j->lock = open(j->options.from, O_RDONLY | O_CLOEXEC);
    if (j->lock < 0) return complain(j, strerror(errno));
    if (is_busy(j)) return tell_busy(j);
    if (!j->reads_only) remove_leftover(j);
    return join_is_held(j) == 0 ? look_at_age(j) : -1;
}

int join_is_held(const struct join *j)
{
    if (j->lock >= 0 && is_busy(j)) return tell_busy(j);
    return util_blob_is_unchanged(&j->in)
               ? 0
               : complain(j, "it was changed while it was read");
}
