/* Writes the repaired copy (-r), or fixes padding in the file itself (-x). Each fix is
 * written at the offset of its finding. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_io.h"
#include "base_mem.h"
#include "base_rights.h"
#include "util_message.h"
#include "util_progress.h"
#include "util_rights.h"
#include "validator.h"

enum { PIECE = 1 << 20 };

void validator_copy_write(struct validator *v, const void *bytes, size_t length,
                          int64_t offset)
{
    size_t done = 0;
    while (v->copy_error == 0 && done < length) {
        ssize_t n = pwrite(v->copy, (const char *)bytes + done, length - done,
                           (off_t)(offset + (int64_t)done));
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            v->copy_error = errno;
    }
}

static int copy_bytes(struct validator *v, const struct util_classic *file, char *piece)
{
    struct util_progress progress;
    util_progress_start(&progress, VALIDATOR_TOOL, v->quiet ? 0 : file->size);
    for (int64_t at = 0; at < file->size && v->copy_error == 0; at += PIECE) {
        util_progress_at(&progress, at);
        int64_t n = util_classic_read(file, at, piece, PIECE);
        if (n < 0) {
            util_message(VALIDATOR_TOOL, file->path, at, "%s", strerror(errno));
            return -1;
        }
        validator_copy_write(v, piece, (size_t)n, at);
    }
    util_progress_end(&progress);
    return 0;
}

static void drop_copy(const struct validator *v)
{
    unlink(v->repair);
    close(v->copy);
}

int validator_copy_create(struct validator *v, const struct util_classic *file)
{
    v->copy_error = 0;
    v->copy = open(v->repair, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, BASE_RIGHTS_PRIVATE);
    if (v->copy >= 0 && util_give_rights(file->fd, v->copy, v->repair, true) == 0)
        return 0;
    util_message(VALIDATOR_TOOL, v->repair, -1, "%s", strerror(errno));
    if (v->copy >= 0) drop_copy(v);
    return -1;
}

int validator_copy_start(struct validator *v, const struct util_classic *file)
{
    if (validator_copy_create(v, file) != 0) return -1;
    char *piece = base_malloc(PIECE);
    int status = piece == NULL ? -1 : copy_bytes(v, file, piece);
    if (piece == NULL) util_message(VALIDATOR_TOOL, NULL, -1, "%s", strerror(ENOMEM));
    base_free(piece);
    if (status == 0) return 0;
    drop_copy(v);
    return -1;
}

void validator_copy_fix(struct validator *v, const struct cdf_finding *f)
{
    validator_copy_write(v, f->fix, (size_t)f->fix_length, v->base + f->offset);
}

int validator_copy_finish(struct validator *v)
{
    if (fsync(v->copy) != 0 && v->copy_error == 0) v->copy_error = errno;
    if (close(v->copy) != 0 && v->copy_error == 0) v->copy_error = errno;
    v->copy = -1;
    if (v->copy_error == 0) return 0;
    unlink(v->repair);
    util_message(VALIDATOR_TOOL, v->repair, -1, "%s; removed", strerror(v->copy_error));
    return -1;
}

/* Opens the file for writing and checks that it is the one that was examined, because the
 * name may now refer to another file. */
int validator_pad_start(struct validator *v, const struct util_classic *file)
{
    struct stat read, st;
    v->copy_error = 0;
    v->copy = open(v->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    bool looked = v->copy >= 0 && fstat(v->copy, &st) == 0 && fstat(file->fd, &read) == 0;
    if (looked && base_same_file(&st, &read)) return 0;
    util_message(VALIDATOR_TOOL, v->path, -1, "%s",
                 looked ? "replaced by another file with the same name"
                        : strerror(errno));
    if (v->copy >= 0) (void)close(v->copy);
    v->copy = -1;
    return -1;
}

int validator_pad_finish(struct validator *v, const char *path)
{
    if (fsync(v->copy) != 0 && v->copy_error == 0) v->copy_error = errno;
    if (close(v->copy) != 0 && v->copy_error == 0) v->copy_error = errno;
    v->copy = -1;
    if (v->copy_error == 0) return 0;
    util_message(VALIDATOR_TOOL, path, -1, "%s", strerror(v->copy_error));
    return -1;
}
