/* Finishes a redefinition that a process is at work on, or may be: one that is stopped,
 * or on a host that cannot be seen.
 *
 * First the journal gets another holder. The processes of the old one look at it before
 * each piece that they move, and process 0 before each state that it records. So each
 * ends the piece, or the filling of new variables, that it is at, and no more. That
 * belongs to the round on record, whatever else has happened (journal_rounds.c), so it
 * does no harm while the dataset is being copied; and the copy, in which the redefinition
 * is finished, it cannot reach. The copy takes the dataset's place when it is whole.
 * Until then the dataset and its journal stay as they are, for another attempt. */
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

/* A file beside the dataset that nobody else uses. */
struct copy {
    char path[PATH_MAX + 16];
    int fd; /* -1: none */
};

static int make_copy(struct copy *c, const char *beside)
{
    snprintf(c->path, sizeof c->path, "%s.XXXXXX", beside);
    c->fd = mkstemp(c->path); /* for its owner only */
    return c->fd >= 0 ? NC_NOERR : base_error_system(NC_EFILE, "making", c->path);
}

static void drop_copy(struct copy *c, bool keep)
{
    if (c->fd < 0) return;
    if (!keep) (void)unlink(c->path);
    (void)close(c->fd);
}

/* What a file has now; what is zero is not written. */
static int copy_bytes(int from, const char *path, struct copy *to)
{
    struct stat st;
    unsigned char *piece = base_malloc(PIECE);
    int err = piece == NULL ? NC_ENOMEM : NC_NOERR;
    if (err == NC_NOERR && (fstat(from, &st) != 0 || ftruncate(to->fd, st.st_size) != 0))
        err = base_error_system(NC_EWRITE, "making room in", to->path);
    for (int64_t at = 0, n; err == NC_NOERR && at < (int64_t)st.st_size; at += n) {
        n = (int64_t)st.st_size - at < PIECE ? (int64_t)st.st_size - at : PIECE;
        err = base_read_at(from, at, piece, n, path);
        if (err == NC_NOERR && !base_is_zero(piece, n))
            err = base_write_at(to->fd, at, piece, n, to->path);
    }
    base_free(piece);
    return err;
}

/* Under one of several names it would stay half moved. */
static int check_names(const struct journal *j, char *real)
{
    struct stat st;
    if (realpath(j->of, real) == NULL || fstat(j->file, &st) != 0)
        return base_error_system(NC_EFILE, "looking at", j->of);
    if (st.st_nlink == 1) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: it has other names (hard links), so that a copy cannot "
                          "take its place; remove them first",
                          j->of);
}

/* Both copies, finished as if they were the dataset and its journal. */
static int finish_copies(const struct journal *j, struct copy *data, struct copy *record)
{
    struct journal mine = *j;
    mine.file = data->fd;
    mine.fd = record->fd;
    mine.of = data->path;
    mine.path = record->path;
    int err = validator_resume(&mine);
    if (err == NC_NOERR) err = base_rights_copy(j->file, data->fd, data->path);
    if (err == NC_NOERR) err = base_sync_data(data->fd, data->path);
    return err;
}

/* Nobody may have done the same meanwhile. */
static int put_in_place(struct journal *j, const char *real, const struct copy *data)
{
    int err = journal_check(j);
    if (err != NC_NOERR) return err;
    if (rename(data->path, real) != 0)
        return base_error_system(NC_EFILE, "renaming", data->path);
    (void)unlink(j->path);
    return base_sync_directory(real);
}

int validator_force(struct journal *j)
{
    char real[PATH_MAX];
    struct copy data = {.fd = -1}, record = {.fd = -1};
    int err = check_names(j, real);
    if (err == NC_NOERR) err = journal_steal(j);
    if (err == NC_NOERR) err = make_copy(&record, j->path);
    if (err == NC_NOERR) err = copy_bytes(j->fd, j->path, &record);
    if (err == NC_NOERR) err = make_copy(&data, real);
    if (err == NC_NOERR) err = copy_bytes(j->file, j->of, &data);
    if (err == NC_NOERR) err = finish_copies(j, &data, &record);
    if (err == NC_NOERR) err = put_in_place(j, real, &data);
    drop_copy(&record, false);
    drop_copy(&data, err == NC_NOERR);
    return err;
}
