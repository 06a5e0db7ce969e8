/* Brings an interrupted redefinition to its end, as opening the dataset for writing does,
 * but without MPI. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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
    struct journal_crew crew;
    int fd; /* of the dataset; what is written is not on the device yet */
    unsigned char *piece;
};

/* Between a piece of the file and memory. */
static int transfer(const struct finish *f, int64_t at, unsigned char *bytes, int64_t n,
                    bool put)
{
    return put ? base_write_at(f->fd, f->j->base + at, bytes, n, f->j->of)
               : base_read_at(f->fd, f->j->base + at, bytes, n, f->j->of);
}

/* The last n bytes of a step, of which `saved` bytes of the area lie before them. */
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

static int carry(void *who, const struct journal_state *round, enum journal_place from,
                 enum journal_place to)
{
    struct finish *f = who;
    int64_t low = round->low, high = round->high;
    struct cdf_move_state state;
    struct cdf_move move;
    int err = NC_NOERR;
    bool more = cdf_seek_move(f->crew.before, f->crew.after, low, &state, &move);
    for (int64_t left = high - low; left > 0 && more && err == NC_NOERR;) {
        int64_t n = move.length < left ? move.length : left;
        left -= n;
        err = carry_step(f, &move, n, round->area, left, from, to);
        more = cdf_next_move(f->crew.before, f->crew.after, &state, &move);
    }
    return err;
}

/* n bytes get what the piece has. */
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
    const struct cdf_header *h = f->crew.after;
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

/* Zeros for what is left behind. */
static int clear(struct finish *f)
{
    struct cdf_vacancy v;
    int err = cdf_find_vacancy(&v, f->crew.before, f->crew.after);
    memset(f->piece, 0, PIECE);
    for (int64_t at = 0; err == NC_NOERR && at < v.total;) {
        struct cdf_extent x = cdf_vacant_at(&v, at);
        err = fill_part(f, x.offset, x.length);
        at += x.length;
    }
    cdf_free_vacancy(&v);
    return err;
}

static int complete(void *who)
{
    struct finish *f = who;
    int err = clear(f);
    for (int id = f->crew.before->nvars; id < f->crew.after->nvars; id++)
        if (err == NC_NOERR && f->crew.after->vars[id].fill) err = fill_var(f, id);
    return err;
}

static int secure(void *who)
{
    struct finish *f = who;
    return base_sync_data(f->fd, f->j->of);
}

static int concur(void *who, int err)
{
    (void)who;
    return err;
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
    f->crew = (struct journal_crew){.j = f->j,
                                    .before = &before,
                                    .after = &after,
                                    .first = true,
                                    .share = AREA,
                                    .least = PIECE,
                                    .who = f,
                                    .carry_all = carry,
                                    .complete_all = complete,
                                    .secure_all = secure,
                                    .concur_all = concur};
    err = journal_resume_all(&f->crew);
    cdf_free(&before);
    cdf_free(&after);
    return err;
}

int validator_resume(struct journal *j)
{
    struct finish f = {.j = j, .piece = base_malloc(PIECE)};
    f.fd = open(j->of, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    int err = f.piece == NULL ? NC_ENOMEM : NC_NOERR;
    if (err == NC_NOERR && f.fd < 0) err = base_error_system(NC_EFILE, "opening", j->of);
    if (err == NC_NOERR) err = resume(&f);
    if (f.fd >= 0) close(f.fd);
    base_free(f.piece);
    return err;
}

/* It does not wait for another one, as that may be the one who waits for this. */
static int take_and_resume(struct journal *j, bool force)
{
    j->guard = j->file;
    int err = journal_take(j, 0);
    if (err == NC_NOERR && j->state.phase != JOURNAL_NONE) return validator_resume(j);
    return err == NC_EFILE && force ? validator_force(j) : err;
}

int validator_finish(struct validator *v, const char *path)
{
    struct journal j;
    int err = journal_init(&j, path);
    if (err == NC_NOERR) err = journal_open_dataset(&j, 0);
    if (err == NC_NOERR) err = take_and_resume(&j, v->finish > 1);
    journal_free(&j);
    const char *words = base_error_detail(err);
    if (err != NC_NOERR && *words != '\0') /* they name the file */
        util_message(VALIDATOR_TOOL, NULL, -1, "%s", words);
    else if (err != NC_NOERR)
        util_message(VALIDATOR_TOOL, path, -1, "%s", base_error_text(err));
    else if (!v->quiet && !v->json)
        util_out_print(&v->out, "%s: the redefinition was brought to its end\n", path);
    return err == NC_NOERR ? 0 : -1;
}
