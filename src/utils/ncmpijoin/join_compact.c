/* Implements --compact. Each subfile is rewritten to a new file beside it. Once the new
 * file is complete and on the device, it replaces the subfile. So after a kill, either
 * the old or the new file exists under the subfile's name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_rights.h"
#include "base_sum.h"
#include "join.h"
#include "util_blob.h"
#include "util_blob_compact.h"
#include "util_message.h"

static int complain(const char *path, const char *what)
{
    util_message(JOIN_TOOL, path, -1, "%s", what);
    return -1;
}

static int tell_error(int err)
{
    if (err == NC_NOERR) return 0;
    return complain(NULL, base_error_detail(err));
}

/* A subfile being compacted. */
struct compact {
    char path[PATH_MAX]; /* path of the subfile, with symbolic links resolved */
    char *beside;        /* path of the new file until it is renamed */
    int from, to;
};

/* Creates the new file. The lease excludes other programs, so an existing file of that
 * name must have been left by a killed program. */
static int make_file(struct compact *x)
{
    if (unlink(x->beside) != 0 && errno != ENOENT)
        return complain(x->beside, strerror(errno));
    x->to = open(x->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, BASE_RIGHTS_PRIVATE);
    return x->to < 0 ? complain(x->beside, strerror(errno)) : 0;
}

static int fill_file(struct join *j, struct compact *x, int number, int64_t *saved)
{
    int err = base_rights_copy(x->from, x->to, x->beside);
    if (err == NC_NOERR) err = util_blob_compact(&j->in, number, x->to, x->beside, saved);
    if (err == NC_NOERR) err = base_sync_data(x->to, x->beside);
    return tell_error(err);
}

static int give_name(const struct join *j, const struct compact *x)
{
    if (!util_blob_is_unchanged(&j->in))
        return complain(j->options.from, "it was changed while it was being read");
    if (rename(x->beside, x->path) != 0) return complain(x->path, strerror(errno));
    return tell_error(base_sync_directory(x->path));
}

static int replace(struct join *j, struct compact *x, int number, int64_t *saved)
{
    if (make_file(x) != 0) return -1;
    int status = fill_file(j, x, number, saved);
    if (status == 0) status = give_name(j, x);
    if (close(x->to) != 0 && status == 0) status = complain(x->path, strerror(errno));
    if (status != 0) (void)unlink(x->beside);
    return status;
}

static int compact_one(struct join *j, int number, int64_t *saved)
{
    struct compact x;
    const char *path = util_blob_path(&j->in, number);
    if (util_blob_is_empty(&j->in, number)) return 0;
    if (realpath(path, x.path) == NULL) return complain(path, strerror(errno));
    x.beside = util_blob_compacting(&j->in, x.path);
    x.from = open(x.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int status = x.beside == NULL ? complain(path, base_error_text(NC_ENOMEM))
                 : x.from < 0     ? complain(x.path, strerror(errno))
                                  : replace(j, &x, number, saved);
    if (x.from >= 0) (void)close(x.from);
    base_free(x.beside);
    return status;
}

int join_can_compact(const struct join *j)
{
    if (!util_blob_has_frames(&j->in))
        return complain(
            j->options.from,
            "its values are not stored in frames, so there is no space to reclaim");
    if (!base_can_sum())
        return complain(NULL, "this program was built without checksums, so it cannot "
                              "write a dataset that has them");
    for (int i = 0; i < util_blob_count(&j->in); i++)
        if (access(util_blob_path(&j->in, i), F_OK) != 0)
            return complain(util_blob_path(&j->in, i), "this subfile is missing");
    return 0;
}

int join_compact(struct join *j, int64_t *saved)
{
    int status = 0;
    *saved = 0;
    for (int i = j->rank; i < util_blob_count(&j->in) && status == 0; i += j->nprocs) {
        int64_t n = 0;
        status = compact_one(j, i, &n);
        if (status == 0) *saved += n;
    }
    return status;
}
