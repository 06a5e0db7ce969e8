/* Finishes an interrupted redefinition without MPI, as the library does when it opens the
 * dataset for writing. The journal's state machine belongs to the library (journal.h);
 * this file provides the functions that move, fill and flush data. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "journal.h"
#include "util_message.h"
#include "validator.h"

enum { PIECE = 4 << 20, AREA = 64 << 20 };

struct finish {
    struct journal *j;
    struct journal_movers movers;
    int fd; /* descriptor of the dataset, without O_DSYNC */
    unsigned char *piece;
};

/* Reads or writes bytes of the dataset. */
static int transfer(const struct finish *f, int64_t at, unsigned char *bytes, int64_t n,
                    bool put)
{
    return put ? base_write_at(f->fd, f->j->base + at, bytes, n, f->j->dataset_path)
               : base_read_at(f->fd, f->j->base + at, bytes, n, f->j->dataset_path);
}

/* Moves the last n bytes of a step. In the journal's area, these bytes are stored at
 * offset `saved`. */
static int carry_step(struct finish *f, const struct cdf_move *move, int64_t n, int area,
                      int64_t saved, enum journal_place from, enum journal_place to)
{
    int64_t skip = move->length - n, old = move->from + skip, new = move->to + skip;
    int err = NC_NOERR;
    for (int64_t at = 0, m; at < n && err == NC_NOERR; at += m) {
        m = n - at < PIECE ? n - at : PIECE;
        err =
            from == JOURNAL_AREA
                ? journal_read_area(f->j, area, saved + at, f->piece, m)
                : transfer(f, (from == JOURNAL_OLD ? old : new) + at, f->piece, m, false);
        if (err != NC_NOERR) return err;
        err = to == JOURNAL_AREA
                  ? journal_write_area(f->j, area, saved + at, f->piece, m)
                  : transfer(f, (to == JOURNAL_OLD ? old : new) + at, f->piece, m, true);
    }
    return err;
}

static int carry(void *arg, const struct journal_state *round, enum journal_place from,
                 enum journal_place to)
{
    struct finish *f = arg;
    int64_t low = round->low, high = round->high;
    struct cdf_move_state state;
    struct cdf_move move;
    int err = NC_NOERR;
    bool more = cdf_seek_move(f->movers.before, f->movers.after, low, &state, &move);
    for (int64_t left = high - low; left > 0 && more && err == NC_NOERR;) {
        int64_t n = move.length < left ? move.length : left;
        left -= n;
        err = carry_step(f, &move, n, round->area, left, from, to);
        more = cdf_next_move(f->movers.before, f->movers.after, &state, &move);
    }
    return err;
}

/* Fills n bytes at offset `at` with copies of f->piece. */
static int fill_part(const struct finish *f, int64_t at, int64_t n)
{
    int err = NC_NOERR;
    for (int64_t done = 0, m; done < n && err == NC_NOERR; done += m) {
        m = n - done < PIECE ? n - done : PIECE;
        err = transfer(f, at + done, f->piece, m, true);
    }
    return err;
}

static int fill_var(struct finish *f, int id)
{
    const struct cdf_header *h = f->movers.after;
    const struct cdf_var *v = &h->vars[id];
    int64_t size = cdf_type_size(v->type), records = v->is_record ? h->numrecs : 1;
    unsigned char value[8];
    int err = NC_NOERR;
    cdf_fill_value(h, id, value);
    for (int64_t at = 0; at < PIECE; at += size)
        memcpy(f->piece + at, value, (size_t)size);
    for (int64_t rec = 0; rec < records && err == NC_NOERR; rec++)
        err = fill_part(f, cdf_record_offset(h, v, rec), v->nelems * size);
    return err;
}

/* Fills vacated parts of the file with zeros. */
static int clear(struct finish *f)
{
    struct cdf_gap v;
    int err = cdf_find_gap(&v, f->movers.before, f->movers.after);
    memset(f->piece, 0, PIECE);
    for (int64_t at = 0; err == NC_NOERR && at < v.total;) {
        struct cdf_extent x = cdf_gap_extent_at(&v, at);
        err = fill_part(f, x.offset, x.length);
        at += x.length;
    }
    cdf_free_gap(&v);
    return err;
}

static int complete(void *arg)
{
    struct finish *f = arg;
    int err = clear(f);
    for (int id = f->movers.before->nvars; id < f->movers.after->nvars; id++)
        if (err == NC_NOERR && f->movers.after->vars[id].fill) err = fill_var(f, id);
    return err;
}

static int secure(void *arg)
{
    struct finish *f = arg;
    return base_sync_data(f->fd, f->j->dataset_path);
}

static int concur(void *arg, int err)
{
    (void)arg;
    return err;
}

/* A single process's sum is already the total.
 * NOLINTNEXTLINE(readability-non-const-parameter) */
static int keep_sum(void *arg, uint64_t *sum)
{
    (void)arg, (void)sum;
    return NC_NOERR;
}

static int resume(struct finish *f)
{
    const struct journal_facts *facts = &f->j->facts;
    struct cdf_header before, after;
    unsigned char *bytes =
        base_malloc((size_t)(facts->before + facts->after + facts->fills));
    int err = bytes == NULL ? NC_ENOMEM : journal_read_headers(f->j, bytes);
    if (err == NC_NOERR) err = journal_decode_headers(facts, bytes, &before, &after);
    base_free(bytes);
    if (err != NC_NOERR) return err;
    f->movers = (struct journal_movers){.j = f->j,
                                        .before = &before,
                                        .after = &after,
                                        .first = true,
                                        .share = AREA,
                                        .least = PIECE,
                                        .arg = f,
                                        .carry_all = carry,
                                        .complete_all = complete,
                                        .secure_all = secure,
                                        .concur_all = concur,
                                        .add_all = keep_sum};
    err = journal_resume_all(&f->movers);
    cdf_free(&before);
    cdf_free(&after);
    return err;
}

/* Opens the dataset a second time, because every write through j->file would wait until
 * the data are on the device. */
static int open_data(struct finish *f)
{
    const struct journal *j = f->j;
    struct stat known, st;
    f->fd = open(j->dataset_path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &st) != 0 || fstat(j->file, &known) != 0)
        return base_error_system(NC_EFILE, "opening", j->dataset_path);
    if (base_same_file(&st, &known)) return NC_NOERR;
    return base_refuse_other_file(j->dataset_path);
}

int validator_resume(struct journal *j)
{
    struct finish f = {.j = j, .fd = -1, .piece = base_malloc(PIECE)};
    int err = f.piece == NULL ? NC_ENOMEM : open_data(&f);
    if (err == NC_NOERR) err = resume(&f);
    if (f.fd >= 0) close(f.fd);
    base_free(f.piece);
    return err;
}

/* Acquires the journal and resumes the redefinition. Does not wait if the journal has
 * another owner, because that owner may be waiting for this process. */
static int acquire_and_resume(struct journal *j, bool force)
{
    j->guard = j->file;
    int err = journal_acquire(j, 0);
    if (err == NC_NOERR && j->state.phase != JOURNAL_NONE) return validator_resume(j);
    return err == NC_EFILE && force ? validator_force(j) : err;
}

int validator_finish(struct validator *v, const char *path)
{
    struct journal j;
    int err = journal_init(&j, path);
    if (err == NC_NOERR) err = journal_open_dataset(&j, 0);
    if (err == NC_NOERR) err = acquire_and_resume(&j, v->finish > 1);
    journal_free(&j);
    const char *words = base_error_detail(err);
    if (err != NC_NOERR && *words != '\0') /* the library's message names the file */
        util_message(VALIDATOR_TOOL, NULL, -1, "%s", words);
    else if (err != NC_NOERR)
        util_message(VALIDATOR_TOOL, path, -1, "%s", base_error_text(err));
    else if (!v->quiet && !v->json)
        util_out_print(&v->out, "%s: the redefinition was completed\n", path);
    return err == NC_NOERR ? 0 : -1;
}
