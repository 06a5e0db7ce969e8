/* The journal's file, and what is done to the dataset on its behalf.
 *
 * Whatever is written here is on the device when the call returns, but for areas. The
 * dataset is opened with O_DSYNC, so that nobody waits for data that others have written
 * to it.
 *
 * Before each write the journal is looked at: is it still this job's? */
#define _GNU_SOURCE /* fallocate */
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
#include "base_lock.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_path.h"
#include "base_rights.h"
#include "cdf_envelope.h"
#include "journal_impl.h"

enum { PIECE = 1 << 20 };

/* ---- names and owners ---- */

/* Beside the file itself, whatever links lead there. */
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
    *j = (struct journal){.fd = -1, .file = -1, .guard = -1};
    j->of = base_path_absolute(dataset);
    j->path = j->of == NULL ? NULL : name_of_journal(j->of);
    return j->path == NULL ? NC_ENOMEM : NC_NOERR;
}

void journal_free(struct journal *j)
{
    journal_release(j);
    if (j->fd >= 0) close(j->fd);
    if (j->file >= 0) close(j->file);
    base_free(j->path);
    base_free(j->of);
    *j = (struct journal){.fd = -1, .file = -1, .guard = -1};
}

int journal_open_dataset(struct journal *j, uint64_t inode)
{
    struct stat st;
    j->file = base_open(j->of, O_RDWR | O_DSYNC);
    if (j->file < 0) return base_error_system(NC_EFILE, "opening", j->of);
    if (fstat(j->file, &st) != 0) return base_error_system(NC_EFILE, "looking at", j->of);
    if (!S_ISREG(st.st_mode) || (inode != 0 && (uint64_t)st.st_ino != inode))
        return base_error_set(NC_EFILE, "%s: another file has taken this name", j->of);
    unsigned char first[8] = {0};
    if (st.st_size >= (off_t)sizeof first) {
        int err = base_read_at(j->file, 0, first, sizeof first, j->of);
        if (err != NC_NOERR) return err; /* where the header is, is not known */
    }
    j->base = cdf_is_envelope(first, sizeof first) ? CDF_ENVELOPE : 0;
    j->model = st;
    j->facts.inode = (uint64_t)st.st_ino;
    j->facts.birth = base_fs_birth(j->file);
    j->facts.old_size = j->facts.new_size = st.st_size - j->base;
    return NC_NOERR;
}

/* ---- making ---- */

/* Blocks for length bytes at offset. */
static int reserve_space(int fd, int64_t at, int64_t length, const char *path)
{
#ifdef __linux__
    /* Not posix_fallocate: where the file system cannot, that writes to the file. */
    while (length > 0 && fallocate(fd, 0, at, length) != 0) {
        if (errno == EINTR) continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return NC_NOERR;
        return base_error_system(NC_EWRITE, "making room in", path);
    }
#endif
    return NC_NOERR;
}

/* Where bytes are moved to; between records lies what is new, and will be written. */
static int reserve_moved(const struct journal *j, const struct cdf_header *before,
                         const struct cdf_header *after)
{
    struct cdf_move_state state = {0};
    struct cdf_move move;
    int64_t records = j->facts.new_size;
    int err = NC_NOERR;
    while (err == NC_NOERR && cdf_next_move(before, after, &state, &move)) {
        if (move.to >= after->begin_record)
            records = move.to;
        else
            err = reserve_space(j->file, j->base + move.to, move.length, j->of);
    }
    if (err != NC_NOERR) return err;
    return reserve_space(j->file, j->base + records, j->facts.new_size - records, j->of);
}

/* A number of records that was never written would be taken from the file's size. */
static int settle_numrecs(const struct journal *j, const struct cdf_header *before)
{
    unsigned char there[8], field[8];
    int width = cdf_encode_numrecs(before->format, before->numrecs, field);
    int err = base_read_at(j->file, j->base + 4, there, width, j->of);
    if (err != NC_NOERR || memcmp(there, field, (size_t)width) == 0) return err;
    return base_write_at(j->file, j->base + 4, field, width, j->of);
}

int journal_make_room(struct journal *j, const struct cdf_header *before,
                      const struct cdf_header *after)
{
    int err = settle_numrecs(j, before);
    int64_t wanted = cdf_file_size(after);
    if (err != NC_NOERR) return err;
    if (wanted > j->facts.new_size) j->facts.new_size = wanted;
    err = reserve_moved(j, before, after);
    if (err == NC_NOERR) err = base_extend(j->file, j->base + wanted, j->of);
    if (err != NC_NOERR) journal_drop(j);
    return err;
}

static int make_journal_file(struct journal *j)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
    j->fd = base_open(j->path, flags);
    if (j->fd < 0 && errno == EEXIST) {
        int err = journal_clear(j);
        if (err != NC_NOERR) return err;
        j->fd = base_open(j->path, flags);
    }
    if (j->fd < 0) return base_error_system(NC_EFILE, "making", j->path);
    /* Where they cannot be given the journal stays this user's alone. */
    (void)base_rights_copy(j->file, j->fd, j->path);
    return NC_NOERR;
}

/* Both headers and the fill modes, as bytes. */
static int gather_headers(struct journal *j, const struct cdf_header *after,
                          unsigned char *bytes)
{
    const struct journal_facts *f = &j->facts;
    int err = base_read_at(j->file, j->base, bytes, f->before, j->of);
    if (err != NC_NOERR) return err;
    if (bytes[0] != 'C')
        return base_error_set(NC_EFILE,
                              "%s: another program has changed its header; nothing is "
                              "written",
                              j->of);
    memcpy(j->head, bytes, JOURNAL_MARK);
    (void)cdf_encode_numrecs(after->format, after->numrecs, bytes + 4);
    cdf_encode(after, bytes + f->before);
    for (int id = 0; id < after->nvars; id++)
        bytes[f->before + f->after + id] = after->vars[id].fill;
    return NC_NOERR;
}

/* The first page comes last: a journal without it is none. */
static int fill_file(struct journal *j, const unsigned char *headers, int64_t n)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t size = journal_size(&j->facts);
    int err = reserve_space(j->fd, 0, size, j->path);
    if (err == NC_NOERR) err = base_resize(j->fd, size, j->path);
    if (err == NC_NOERR)
        err = base_write_at(j->fd, journal_headers_at(), headers, n, j->path);
    if (err == NC_NOERR) err = journal_write_holder(j);
    j->written = err == NC_NOERR;
    if (err == NC_NOERR) err = journal_record(j, j->state);
    journal_encode_facts(&j->facts, page);
    if (err == NC_NOERR) err = base_write_at(j->fd, 0, page, sizeof page, j->path);
    if (err == NC_NOERR) err = base_sync_data(j->fd, j->path);
    return err == NC_NOERR ? base_sync_directory(j->path) : err;
}

int journal_mark(struct journal *j)
{
    unsigned char mark[JOURNAL_MARK];
    int err = journal_check(j);
    if (err != NC_NOERR) return err;
    uint64_t name = j->holder.owner.nonce + (uint64_t)j->state.serial;
    journal_encode_mark(j->head[3], name, mark);
    err = base_write_at(j->file, j->base, mark, sizeof mark, j->of);
    j->marked |= err == NC_NOERR;
    return err;
}

int journal_start(struct journal *j, int64_t before, const struct cdf_header *after,
                  int64_t area, enum journal_phase phase)
{
    struct journal_facts *f = &j->facts;
    f->before = before;
    f->after = after->size;
    f->fills = after->nvars;
    f->area = area;
    j->state = (struct journal_state){.phase = phase};
    int64_t n = f->before + f->after + f->fills;
    unsigned char *headers = base_malloc((size_t)n);
    int err = headers == NULL ? NC_ENOMEM : make_journal_file(j);
    if (err == NC_NOERR) (void)base_lock_try(j->fd, BASE_LOCK_MOVERS, false);
    if (err == NC_NOERR) err = gather_headers(j, after, headers);
    if (err == NC_NOERR) {
        f->sum = base_hash(headers, (size_t)n, 0);
        err = fill_file(j, headers, n);
    }
    /* Size and blocks of a room that was made are on the device, too. */
    if (err == NC_NOERR && f->new_size > f->old_size)
        err = base_sync_data(j->file, j->of);
    if (err == NC_NOERR) err = journal_mark(j);
    base_free(headers);
    if (err != NC_NOERR) journal_drop(j);
    return err;
}

/* Where the mark may have been written though that failed. */
static bool unmark(struct journal *j)
{
    unsigned char there[JOURNAL_MARK];
    if (j->fd < 0 || j->head[0] == 0) return true;
    if (journal_check(j) != NC_NOERR) return false;
    if (base_read_some(j->file, j->base, there, sizeof there) == sizeof there &&
        memcmp(there, j->head, sizeof there) == 0)
        return true;
    return base_write_at(j->file, j->base, j->head, sizeof j->head, j->of) == NC_NOERR;
}

/* Gives back what journal_make_room has added, and nothing that came since. */
static int give_room_back(const struct journal *j)
{
    const struct journal_facts *f = &j->facts;
    struct stat st;
    if (fstat(j->file, &st) != 0) return base_error_system(NC_EFILE, "looking at", j->of);
    if (st.st_size <= j->base + f->old_size || st.st_size > j->base + f->new_size)
        return NC_NOERR;
    int err = base_resize(j->file, j->base + f->old_size, j->of);
    return err == NC_NOERR ? base_sync_data(j->file, j->of) : err;
}

/* The name may be that of another one's by now. */
static void remove_journal(struct journal *j)
{
    struct stat mine, there;
    if (fstat(j->fd, &mine) == 0 && lstat(j->path, &there) == 0 &&
        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
        (void)unlink(j->path);
}

void journal_drop(struct journal *j)
{
    if (j->file < 0) return;
    j->pending = !unmark(j);
    if (j->pending) return;
    (void)give_room_back(j);
    if (j->fd < 0) return;
    remove_journal(j);
    close(j->fd);
    j->fd = -1;
}

/* ---- the record, and the areas ---- */

static int write_page(struct journal *j, int64_t serial, const unsigned char *page)
{
    int64_t at = (JOURNAL_STATE_PAGE + serial % 2) * JOURNAL_PAGE;
    int err = journal_check(j);
    if (err == NC_NOERR) err = base_write_at(j->fd, at, page, JOURNAL_PAGE, j->path);
    return err == NC_NOERR ? base_sync_data(j->fd, j->path) : err;
}

/* The state before goes: its area will be written over, so that it holds no longer of a
 * dataset that is put back as it was then. */
static int void_last(struct journal *j)
{
    static const unsigned char nothing[JOURNAL_PAGE];
    return j->facts.area > 0 ? write_page(j, j->state.serial - 1, nothing) : NC_NOERR;
}

/* What could not be written, wholly or in part, or not be named by the mark, is written
 * over by the next one. */
int journal_record(struct journal *j, struct journal_state s)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t last = j->state.serial;
    s.serial = last + 1;
    journal_encode_state(&s, page);
    int err = write_page(j, s.serial, page);
    j->state = s;
    if (err == NC_NOERR && j->marked) err = journal_mark(j);
    if (err != NC_NOERR) j->state.serial = last;
    return err == NC_NOERR && j->marked ? void_last(j) : err;
}

int journal_read_area(struct journal *j, int area, int64_t at, void *bytes, int64_t n)
{
    return base_read_at(j->fd, journal_area_at(&j->facts, area) + at, bytes, n, j->path);
}

int journal_write_area(struct journal *j, int area, int64_t at, const void *bytes,
                       int64_t n)
{
    int64_t offset = journal_area_at(&j->facts, area) + at;
    int err = journal_check(j);
    if (err != NC_NOERR) return err;
    j->dirty = true;
    err = base_write_at(j->fd, offset, bytes, n, j->path);
    if (err == NC_NOERR) base_write_back(j->fd, offset, n);
    return err;
}

int journal_sync_areas(struct journal *j)
{
    int err = j->dirty ? base_sync_data(j->fd, j->path) : NC_NOERR;
    if (err == NC_NOERR) j->dirty = false;
    return err;
}

/* ---- the end ---- */

/* All of a header but its first bytes, from the journal. */
static int write_header(const struct journal *j, int64_t from, int64_t n)
{
    int64_t most = n < PIECE ? n : PIECE;
    unsigned char *piece = base_malloc((size_t)most);
    int err = piece == NULL ? NC_ENOMEM : NC_NOERR;
    for (int64_t at = JOURNAL_MARK, m; at < n && err == NC_NOERR; at += m) {
        m = n - at < most ? n - at : most;
        err = base_read_at(j->fd, journal_headers_at() + from + at, piece, m, j->path);
        if (err == NC_NOERR) err = base_write_at(j->file, j->base + at, piece, m, j->of);
    }
    base_free(piece);
    return err;
}

/* They take the place of the mark. */
static int write_old_head(struct journal *j, int64_t from)
{
    unsigned char head[JOURNAL_MARK];
    int64_t at = journal_headers_at() + from;
    int err = base_read_at(j->fd, at, head, sizeof head, j->path);
    if (err == NC_NOERR) err = journal_check(j);
    if (err != NC_NOERR) return err;
    return base_write_at(j->file, j->base, head, sizeof head, j->of);
}

int journal_finish(struct journal *j)
{
    const struct journal_facts *f = &j->facts;
    bool commit = j->state.phase == JOURNAL_COMMITTING;
    int64_t from = commit ? f->before : 0;
    int err = journal_check(j);
    if (err == NC_NOERR) err = write_header(j, from, commit ? f->after : f->before);
    if (err == NC_NOERR) err = journal_check(j);
    if (err == NC_NOERR && !commit && f->new_size > f->old_size) err = give_room_back(j);
    if (err == NC_NOERR) err = write_old_head(j, from);
    if (err == NC_NOERR) err = journal_check(j); /* see journal_steal */
    if (err != NC_NOERR) return err;
    /* If the unlink is lost in a crash, the stale journal is harmless. */
    j->ended = true;
    remove_journal(j);
    (void)base_sync_directory(j->path);
    return NC_NOERR;
}

int journal_replace(struct journal *j, int64_t before, const struct cdf_header *after)
{
    int err = journal_start(j, before, after, 0, JOURNAL_COMMITTING);
    if (err != NC_NOERR) return err;
    err = journal_finish(j);
    if (err == NC_NOERR) return err;
    j->pending = journal_mark(j) != NC_NOERR ||
                 journal_record(j, (struct journal_state){.serial = j->state.serial,
                                                          .phase = JOURNAL_RETURNING}) !=
                     NC_NOERR ||
                 journal_finish(j) != NC_NOERR;
    return err;
}
