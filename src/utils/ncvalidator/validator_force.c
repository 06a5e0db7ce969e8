/* Finishes a redefinition whose owner is running or may be running: it may be stopped, or
 * on another host.
 *
 * This is safe for the following reasons:
 * 1. First the journal gets a new owner. The old owner's processes check the ownership
 *    before they move a piece, and its process 0 checks it before it records a state. So
 *    each process completes at most its current piece, or the filling of new variables.
 * 2. Such a piece always belongs to the recorded round (journal_rounds.c), so it does no
 *    harm while the dataset is being copied.
 * 3. The redefinition is finished in the copy, which the old owner cannot access.
 * 4. The copy replaces the dataset when it is complete. Until then the dataset and its
 *    journal remain valid for another attempt. */
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
#include "base_rights.h"
#include "journal.h"
#include "validator.h"

enum { PIECE = 1 << 20 };

/* A private file next to the dataset. */
struct copy {
    char path[PATH_MAX + 16];
    int fd; /* -1 if none */
};

static int make_copy(struct copy *c, const char *beside)
{
    snprintf(c->path, sizeof c->path, "%s.XXXXXX", beside);
    c->fd = mkstemp(c->path); /* accessible only to its owner */
    return c->fd >= 0 ? NC_NOERR : base_error_system(NC_EFILE, "creating", c->path);
}

static void drop_copy(struct copy *c, bool keep)
{
    if (c->fd < 0) return;
    if (!keep) (void)unlink(c->path);
    (void)close(c->fd);
}

/* Copies the current bytes of a file. Zeros become holes. */
static int copy_bytes(int from, const char *path, struct copy *to)
{
    struct stat st;
    unsigned char *piece = base_malloc(PIECE);
    int err = piece == NULL ? NC_ENOMEM : NC_NOERR;
    if (err == NC_NOERR && (fstat(from, &st) != 0 || ftruncate(to->fd, st.st_size) != 0))
        err = base_error_system(NC_EWRITE, "extending", to->path);
    for (int64_t at = 0, n; err == NC_NOERR && at < (int64_t)st.st_size; at += n) {
        n = (int64_t)st.st_size - at < PIECE ? (int64_t)st.st_size - at : PIECE;
        err = base_read_at(from, at, piece, n, path);
        if (err == NC_NOERR && !base_is_zero(piece, n))
            err = base_write_at(to->fd, at, piece, n, to->path);
    }
    base_free(piece);
    return err;
}

/* Refuses files with several hard links: only this name would refer to the finished copy,
 * and the data under the other names would remain half moved. */
static int check_names(const struct journal *j, char *real)
{
    struct stat st;
    if (realpath(j->dataset_path, real) == NULL || fstat(j->file, &st) != 0)
        return base_error_system(NC_EFILE, "examining", j->dataset_path);
    if (st.st_nlink == 1) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: it has other names (hard links), so a copy cannot replace "
                          "it; remove these names first",
                          j->dataset_path);
}

/* Finishes the redefinition in the copies of the dataset and of its journal. */
static int finish_copies(const struct journal *j, struct copy *data, struct copy *record)
{
    struct journal mine = *j;
    mine.file = data->fd;
    mine.fd = record->fd;
    mine.dataset_path = data->path;
    mine.path = record->path;
    int err = validator_resume(&mine);
    if (err == NC_NOERR) err = base_rights_copy(j->file, data->fd, data->path);
    if (err == NC_NOERR) err = base_sync_data(data->fd, data->path);
    return err;
}

/* Replaces the dataset with the copy, unless another process has become the owner in the
 * meantime. */
static int replace_by_copy(struct journal *j, const char *real, const struct copy *data)
{
    int err = journal_check(j);
    if (err != NC_NOERR) return err;
    if (rename(data->path, real) != 0)
        return base_error_system(NC_EFILE, "renaming", data->path);
    /* Until the directory is on the device, a power cut may bring back the old dataset,
     * which needs its journal. */
    err = base_sync_directory(real);
    if (err != NC_NOERR) return err;
    (void)unlink(j->path);
    return base_sync_directory(real);
}

int validator_force(struct journal *j)
{
    char real[PATH_MAX];
    struct copy data = {.fd = -1}, record = {.fd = -1};
    int err = check_names(j, real);
    if (err == NC_NOERR) err = journal_take_over(j);
    if (err == NC_NOERR) err = make_copy(&record, j->path);
    if (err == NC_NOERR) err = copy_bytes(j->fd, j->path, &record);
    if (err == NC_NOERR) err = make_copy(&data, real);
    if (err == NC_NOERR) err = copy_bytes(j->file, j->dataset_path, &data);
    if (err == NC_NOERR) err = finish_copies(j, &data, &record);
    if (err == NC_NOERR) err = replace_by_copy(j, real, &data);
    drop_copy(&record, false);
    drop_copy(&data, err == NC_NOERR);
    return err;
}
