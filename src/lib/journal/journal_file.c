/* Writes the journal's file, and the parts of the dataset that the journal protects:
 * reserves space, creates the journal, marks the dataset, records states, saves bytes in
 * areas, and finally restores a header and removes the journal.
 *
 * Except for writes to areas, every write is on the device on return. The dataset is
 * opened with O_DSYNC, so that no process waits for data that others wrote.
 *
 * Each write first checks that this job still owns the journal (journal_check). */
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
#include "cdf_superblock.h"
#include "journal_impl.h"

enum { PIECE = 1 << 20 };

/* ---- creating ---- */

/* Allocates blocks for `length` bytes at offset `at`. */
static int reserve_space(int fd, int64_t at, int64_t length, const char *path)
{
#ifdef __linux__
    /* Not posix_fallocate, which writes to the file if the file system cannot
     * allocate. */
    while (length > 0 &&
           (!base_can_write_to(at + length) || fallocate(fd, 0, at, length) != 0)) {
        if (errno == EINTR) continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return NC_NOERR;
        return base_error_system(NC_EWRITE, "extending", path);
    }
#endif
    return NC_NOERR;
}

/* Reserves space for data that move. Reserves the whole range of the moved records in one
 * step, because the gaps between them are also written. */
static int reserve_moved(const struct journal *j, const struct cdf_header *before,
                         const struct cdf_header *after)
{
    struct cdf_move_state state = {0};
    struct cdf_move move;
    int64_t records = j->facts.new_size;
    int err = NC_NOERR;
    while (err == NC_NOERR && cdf_next_move(before, after, &state, &move)) {
        base_require(move.to > move.from);
        if (move.to >= after->begin_record)
            records = move.to;
        else
            err = reserve_space(j->file, j->base + move.to, move.length, j->dataset_path);
    }
    if (err != NC_NOERR) return err;
    return reserve_space(j->file, j->base + records, j->facts.new_size - records,
                         j->dataset_path);
}

/* Writes the number of records if the file has a different one. Called before the file
 * grows, because readers derive the number from the file's size if it was never written,
 * and before the dataset is marked, because the journal stores the bytes that the mark
 * replaces. */
static int write_numrecs(const struct journal *j, const struct cdf_header *before)
{
    unsigned char there[8], field[8];
    int width = cdf_encode_numrecs(before->format, before->numrecs, field);
    base_require(!j->marked);
    int err = base_read_at(j->file, j->base + 4, there, width, j->dataset_path);
    if (err != NC_NOERR || memcmp(there, field, (size_t)width) == 0) return err;
    return base_write_at(j->file, j->base + 4, field, width, j->dataset_path);
}

int journal_cut(struct journal *j, int64_t size)
{
    if (j->facts.old_size <= size) return NC_NOERR;
    base_require(j->claimed && !j->marked);
    int err = base_resize(j->file, j->base + size, j->dataset_path);
    if (err == NC_NOERR) j->facts.old_size = j->facts.new_size = size;
    return err;
}

int journal_reserve_space(struct journal *j, const struct cdf_header *before,
                          const struct cdf_header *after)
{
    int err = write_numrecs(j, before);
    int64_t wanted = cdf_file_size(after);
    if (err != NC_NOERR) return err;
    base_require(wanted >= j->facts.old_size);
    if (wanted > j->facts.new_size) j->facts.new_size = wanted;
    err = reserve_moved(j, before, after);
    if (err == NC_NOERR) err = base_extend(j->file, j->base + wanted, j->dataset_path);
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
    if (j->fd < 0) return base_error_system(NC_EFILE, "creating", j->path);
    /* If the permissions cannot be copied, only this user can use the journal. */
    (void)base_rights_copy(j->file, j->fd, j->path);
    return NC_NOERR;
}

/* Collects both headers and the fill modes into one buffer. */
static int gather_headers(struct journal *j, const struct cdf_header *after,
                          unsigned char *bytes)
{
    const struct journal_facts *f = &j->facts;
    base_require(cdf_encoded_size(after) <= f->after);
    int err = base_read_at(j->file, j->base, bytes, f->before, j->dataset_path);
    if (err != NC_NOERR) return err;
    if (bytes[0] != 'C')
        return base_error_set(
            NC_EFILE, "%s: another program has changed the header; nothing was written",
            j->dataset_path);
    err = write_numrecs(j, after);
    if (err != NC_NOERR) return err;
    (void)cdf_encode_numrecs(after->format, after->numrecs, bytes + 4);
    memcpy(j->head, bytes, JOURNAL_MARK);
    cdf_encode(after, bytes + f->before);
    for (int id = 0; id < after->nvars; id++)
        bytes[f->before + f->after + id] = after->vars[id].fill;
    return NC_NOERR;
}

/* Writes the journal. Its first page is written last, because it makes the journal
 * valid. */
static int fill_file(struct journal *j, const unsigned char *headers, int64_t n)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t size = journal_size(&j->facts);
    int err = reserve_space(j->fd, 0, size, j->path);
    if (err == NC_NOERR) err = base_resize(j->fd, size, j->path);
    if (err == NC_NOERR)
        err = base_write_at(j->fd, journal_headers_at(), headers, n, j->path);
    if (err == NC_NOERR) err = journal_write_record(j);
    j->written = err == NC_NOERR;
    if (err == NC_NOERR) err = journal_record(j, j->state);
    journal_encode_facts(&j->facts, page);
    if (err == NC_NOERR) err = base_write_at(j->fd, 0, page, sizeof page, j->path);
    if (err == NC_NOERR) err = base_sync_data(j->fd, j->path);
    return err == NC_NOERR ? base_sync_directory(j->path) : err;
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
    unsigned char *headers = base_calloc(1, (size_t)n);
    int err = base_holds(j->claimed && before >= JOURNAL_MARK);
    if (err == NC_NOERR) err = headers == NULL ? NC_ENOMEM : make_journal_file(j);
    if (err == NC_NOERR) (void)base_lock_try(j->fd, BASE_LOCK_MOVERS, false);
    if (err == NC_NOERR) err = gather_headers(j, after, headers);
    if (err == NC_NOERR) {
        f->sum = base_hash(headers, (size_t)n, 0);
        err = fill_file(j, headers, n);
    }
    /* The size and blocks of the extended dataset must be on the device first. */
    if (err == NC_NOERR && f->new_size > f->old_size)
        err = base_sync_data(j->file, j->dataset_path);
    if (err == NC_NOERR) err = journal_mark(j);
    base_free(headers);
    if (err != NC_NOERR) journal_drop(j);
    return err;
}

/* Restores the first bytes of the dataset, even if writing the mark failed, because part
 * of the mark may have reached the file. */
static bool unmark(struct journal *j)
{
    unsigned char there[JOURNAL_MARK];
    if (j->fd < 0 || j->head[0] == 0) return true;
    if (journal_check(j) != NC_NOERR) return false;
    if (base_holds(j->head[0] == 'C') != NC_NOERR) return false;
    if (base_read_some(j->file, j->base, there, sizeof there) == sizeof there &&
        memcmp(there, j->head, sizeof there) == 0)
        return true;
    return base_write_at(j->file, j->base, j->head, sizeof j->head, j->dataset_path) ==
           NC_NOERR;
}

/* Truncates the file to its old size, unless it has grown beyond what
 * journal_reserve_space added. */
static int release_space(const struct journal *j)
{
    const struct journal_facts *f = &j->facts;
    struct stat st;
    base_require(f->old_size <= f->new_size);
    base_require(j->state.phase < JOURNAL_MOVING || j->state.phase > JOURNAL_FILLING);
    if (fstat(j->file, &st) != 0)
        return base_error_system(NC_EFILE, "examining", j->dataset_path);
    if (st.st_size <= j->base + f->old_size || st.st_size > j->base + f->new_size)
        return NC_NOERR;
    int err = base_resize(j->file, j->base + f->old_size, j->dataset_path);
    return err == NC_NOERR ? base_sync_data(j->file, j->dataset_path) : err;
}

/* Unlinks the journal, unless another file now has its name. */
static void remove_journal(struct journal *j)
{
    if (base_has_name(j->fd, j->path)) (void)unlink(j->path);
}

void journal_drop(struct journal *j)
{
    if (j->file < 0) return;
    j->pending = !unmark(j);
    if (j->pending) return;
    if (journal_check(j) == NC_NOERR) (void)release_space(j);
    if (j->fd < 0) return;
    remove_journal(j);
    close(j->fd);
    j->fd = -1;
}

/* ---- states and areas ---- */

static int write_page(struct journal *j, int64_t serial, const unsigned char *page)
{
    int64_t at = (JOURNAL_STATE_PAGE + serial % 2) * JOURNAL_PAGE;
    int err = journal_check(j);
    if (err == NC_NOERR) err = base_write_at(j->fd, at, page, JOURNAL_PAGE, j->path);
    return err == NC_NOERR ? base_sync_data(j->fd, j->path) : err;
}

/* Erases the previous state, whose area will be overwritten. If the dataset is restored
 * from a backup made at that time, it must not match this state. */
static int erase_previous_state(struct journal *j)
{
    static const unsigned char nothing[JOURNAL_PAGE];
    return j->facts.area > 0 ? write_page(j, j->state.serial - 1, nothing) : NC_NOERR;
}

int journal_check_state(const struct journal *j, const struct journal_state *s,
                        int64_t total)
{
    const struct journal_state *was = &j->state;
    switch (s->phase) {
    case JOURNAL_MOVING:
        base_require(s->low < s->high && s->high <= total);
        base_require(s->saved == (s->area != was->area));
        base_require(!s->saved || !j->dirty);
        base_require(s->back || !was->back);
        base_require(was->phase != JOURNAL_MOVING || s->back != was->back ||
                     (s->back ? s->high == was->low : s->low == was->high));
        break;
    case JOURNAL_RESTORING:
        base_require(was->phase == JOURNAL_MOVING && was->saved);
        break;
    case JOURNAL_FILLING:
        base_require(was->phase == JOURNAL_FILLING || was->high == total);
        base_require(was->phase != JOURNAL_MOVING || !was->back);
        break;
    case JOURNAL_COMMITTING:
        base_require(was->phase == JOURNAL_FILLING);
        break;
    case JOURNAL_RETURNING:
        base_require(was->phase == JOURNAL_READY || was->low == 0);
        break;
    default:
        base_require(s->phase != JOURNAL_NONE && s->phase != JOURNAL_READY);
    }
    return NC_NOERR;
}

/* The next state will overwrite one that is incomplete or that the mark does not name. */
int journal_record(struct journal *j, struct journal_state s)
{
    unsigned char page[JOURNAL_PAGE];
    int64_t last = j->state.serial;
    s.serial = last + 1;
    int err = base_holds(j->written && s.phase > JOURNAL_NONE);
    if (err == NC_NOERR) err = base_holds(s.phase <= JOURNAL_RETURNING);
    if (err == NC_NOERR) err = base_holds(s.low >= 0 && s.high >= s.low);
    if (err == NC_NOERR) err = base_holds(!s.saved || s.high - s.low <= j->facts.area);
    journal_encode_state(&s, page);
    if (err == NC_NOERR) err = write_page(j, s.serial, page);
    j->state = s; /* even on error, as on the other processes */
    if (err == NC_NOERR && j->marked) err = journal_mark(j);
    if (err != NC_NOERR) j->state.serial = last;
    return err == NC_NOERR && j->marked ? erase_previous_state(j) : err;
}

int journal_read_area(struct journal *j, int area, int64_t at, void *bytes, int64_t n)
{
    return base_read_at(j->fd, journal_area_at(&j->facts, area) + at, bytes, n, j->path);
}

int journal_write_area(struct journal *j, int area, int64_t at, const void *bytes,
                       int64_t n)
{
    int64_t offset = journal_area_at(&j->facts, area) + at;
    base_require(area == 0 || area == 1);
    base_require(at >= 0 && n >= 0 && n <= j->facts.area - at);
    base_require(area != j->state.area || !j->state.saved);
    int err = journal_check(j);
    if (err != NC_NOERR) return err;
    j->dirty = true;
    j->sum += journal_sum(at, bytes, n);
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

/* Copies a header, except for its first bytes, from the journal to the dataset. */
static int write_header(const struct journal *j, int64_t from, int64_t n)
{
    int64_t most = n < PIECE ? n : PIECE;
    unsigned char *piece = base_malloc((size_t)most);
    int err = piece == NULL ? NC_ENOMEM : NC_NOERR;
    for (int64_t at = JOURNAL_MARK, m; at < n && err == NC_NOERR; at += m) {
        m = n - at < most ? n - at : most;
        err = base_read_at(j->fd, journal_headers_at() + from + at, piece, m, j->path);
        if (err == NC_NOERR)
            err = base_write_at(j->file, j->base + at, piece, m, j->dataset_path);
    }
    base_free(piece);
    return err;
}

/* Replaces the mark with the header's first bytes. */
static int write_old_head(struct journal *j, int64_t from)
{
    unsigned char head[JOURNAL_MARK];
    int64_t at = journal_headers_at() + from;
    int err = base_read_at(j->fd, at, head, sizeof head, j->path);
    if (err == NC_NOERR) err = journal_check(j);
    if (err != NC_NOERR) return err;
    return base_write_at(j->file, j->base, head, sizeof head, j->dataset_path);
}

int journal_finish(struct journal *j)
{
    const struct journal_facts *f = &j->facts;
    bool commit = j->state.phase == JOURNAL_COMMITTING;
    int64_t from = commit ? f->before : 0;
    base_require(commit || j->state.phase == JOURNAL_RETURNING);
    base_require(j->written && !j->ended);
    int err = journal_check(j);
    if (err == NC_NOERR) err = write_header(j, from, commit ? f->after : f->before);
    if (err == NC_NOERR) err = journal_check(j);
    if (err == NC_NOERR && !commit && f->new_size > f->old_size) err = release_space(j);
    if (err == NC_NOERR) err = write_old_head(j, from);
    if (err == NC_NOERR) err = journal_check(j); /* see journal_take_over */
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
