/* Moving data to a new layout, all processes together: what journal_rounds wants of the
 * file. It is safe since no byte is overwritten before it is on the device elsewhere: a
 * round's own bytes in the journal, and what those before it moved at their new place. So
 * the journal's state, which is on the device before a round begins, is enough to repeat
 * the round, or to put back what it overwrote; doing either twice does no harm. */
#include "mpio_move.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "driver_fill.h"

/* Bytes that a process can take at a time, and that are worth it; and that can be saved
 * in a round, by all of them: what each can have in memory, or a part of what moves, so
 * that there are not more rounds than need be. */
enum { MOST = 1 << 30, LEAST = 1 << 20, SAVED = 256 << 20 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds the bytes [low, high) to tiles, where they lie in the old layout and in the new
 * one. In memory, as in the file, the last byte is the one that has the first place. */
static int plan_move(const struct mpio_mover *v, int64_t low, int64_t high,
                     struct access_tile *old, struct access_tile *new)
{
    struct cdf_move_state state;
    struct cdf_move move;
    int err = NC_NOERR;
    bool more = cdf_seek_move(v->crew.before, v->crew.after, low, &state, &move);
    for (int64_t pos = high - low; pos > 0 && more && err == NC_NOERR;) {
        int64_t n = smaller(move.length, pos), skip = move.length - n;
        pos -= n;
        err = access_tile_add(old, move.from + skip, n, pos);
        if (err == NC_NOERR) err = access_tile_add(new, move.to + skip, n, pos);
        more = cdf_next_move(v->crew.before, v->crew.after, &state, &move);
    }
    return err;
}

/* The tile has the bytes of places [low, high), or will have them. */
static int plan_tiles(struct mpio_mover *v, int64_t low, int64_t high)
{
    access_tile_clear(&v->old);
    access_tile_clear(&v->new);
    int err = access_staging_make(&v->m->staging, (size_t)(high - low));
    if (err == NC_NOERR) err = plan_move(v, low, high, &v->old, &v->new);
    if (err == NC_NOERR) err = access_tile_sort(&v->old, true);
    if (err == NC_NOERR) err = access_tile_sort(&v->new, true);
    if (err != NC_NOERR) {
        access_tile_clear(&v->old);
        access_tile_clear(&v->new);
    }
    v->old.bytes = v->new.bytes = v->m->staging.bytes;
    return err;
}

/* Between the area and the tile's memory. */
static int save(struct mpio_mover *v, int64_t low, int64_t high, bool put)
{
    struct journal *j = v->crew.j;
    int64_t at = v->round.high - high, n = high - low;
    if (n == 0) return NC_NOERR;
    if (put) return journal_write_area(j, v->round.area, at, v->m->staging.bytes, n);
    return journal_read_area(j, v->round.area, at, v->m->staging.bytes, n);
}

/* Between the file and the tile; nothing of it after an error. */
static int transfer_all(struct mpio_mover *v, enum journal_place place, bool put, int err)
{
    struct access_tile *t = place == JOURNAL_OLD ? &v->old : &v->new;
    if (err == NC_NOERR && put && t->npieces > 0) err = journal_check(v->crew.j);
    if (err != NC_NOERR) access_tile_clear(t);
    int io = v->m->file.no_indep ? mpio_view_tile_all(v->m, t, put)
             : put               ? mpio_write_tile(v->m, t)
                                 : mpio_read_tile(v->m, t);
    if (put && t->npieces > 0) {
        const struct access_piece *last = &t->pieces[t->npieces - 1];
        int64_t low = t->pieces[0].offset;
        file_write_back(&v->m->file, low, last->offset + last->length - low);
    }
    return err != NC_NOERR ? err : io;
}

/* A piece of this process's share, through memory; what is saved stays there until its
 * turn to be written comes, if it is one piece. */
static int move_piece_all(struct mpio_mover *v, int64_t low, int64_t high)
{
    const enum journal_place from = v->from, to = v->to;
    bool kept = v->kept_low == low && v->kept_high == high && high > low;
    v->kept_low = v->kept_high = 0;
    int err = NC_NOERR;
    if (from != JOURNAL_AREA || !kept) err = plan_tiles(v, low, high);
    if (from != JOURNAL_AREA)
        err = transfer_all(v, from, false, err);
    else if (!kept && err == NC_NOERR)
        err = save(v, low, high, false);
    if (to != JOURNAL_AREA) {
        err = transfer_all(v, to, true, err);
        if (err == NC_NOERR) v->m->base.ds->stats.redef_moved_bytes += high - low;
        return err;
    }
    if (err == NC_NOERR) err = save(v, low, high, true);
    if (err != NC_NOERR) return err;
    v->kept_low = low;
    v->kept_high = high;
    return err;
}

/* Each process takes an even share of the places [low, high), but what is worth the call,
 * piece by piece; all go through as many pieces. */
static int divide_moves_all(struct mpio_mover *v, int64_t low, int64_t high,
                            int (*piece_all)(struct mpio_mover *v, int64_t low,
                                             int64_t high))
{
    const struct dataset *ds = v->m->base.ds;
    int64_t share = (high - low + ds->nprocs - 1) / ds->nprocs;
    int64_t least = smaller(v->chunk, LEAST);
    if (share < least) share = smaller(least, high - low);
    int64_t begin = smaller(low + ds->rank * share, high);
    int64_t end = smaller(begin + share, high);
    int err = NC_NOERR;
    for (int64_t done = 0; done < share; done += v->chunk) {
        int64_t first = smaller(begin + done, end);
        int64_t last = err == NC_NOERR ? smaller(first + v->chunk, end) : first;
        int moved = piece_all(v, first, last);
        if (err == NC_NOERR) err = moved;
    }
    return err;
}

static int move_share_all(void *who, const struct journal_state *round,
                          enum journal_place from, enum journal_place to)
{
    struct mpio_mover *v = who;
    v->round = *round;
    v->from = from;
    v->to = to;
    return divide_moves_all(v, round->low, round->high, move_piece_all);
}

/* The tile has zeros for places [low, high) of what is left behind. */
static int plan_zeros(struct mpio_mover *v, int64_t low, int64_t high)
{
    access_tile_clear(&v->new);
    int err = access_staging_make(&v->m->staging, (size_t)(high - low));
    for (int64_t at = low, n; at < high && err == NC_NOERR; at += n) {
        struct cdf_extent x = cdf_vacant_at(&v->vacancy, at);
        n = smaller(x.length, high - at);
        err = access_tile_add(&v->new, x.offset, n, at - low);
    }
    v->new.bytes = v->m->staging.bytes;
    if (err == NC_NOERR && high > low)
        memset(v->m->staging.bytes, 0, (size_t)(high - low));
    return err == NC_NOERR ? access_tile_sort(&v->new, true) : err;
}

static int clear_piece_all(struct mpio_mover *v, int64_t low, int64_t high)
{
    return transfer_all(v, JOURNAL_NEW, true, plan_zeros(v, low, high));
}

static int mover_sync_all(void *who)
{
    struct mpio_mover *v = who;
    return file_sync_all(&v->m->file);
}

static int mover_agree_all(void *who, int err)
{
    struct mpio_mover *v = who;
    return dataset_agree_all(v->m->base.ds, err, NULL, NULL, 0);
}

/* New variables are filled, or have zeros where old ones were, before a header tells of
 * them. */
static int mover_complete_all(void *who)
{
    struct mpio_mover *v = who;
    v->kept_low = v->kept_high = 0; /* the memory is used otherwise */
    int err = divide_moves_all(v, 0, v->vacancy.total, clear_piece_all);
    int filled = mpio_fill_new_all(v->m, v->crew.before->nvars);
    return err != NC_NOERR ? err : filled;
}

int mpio_mover_init(struct mpio_mover *v, struct mpio *m, struct journal *j,
                    const struct cdf_header *before, const struct cdf_header *after)
{
    const struct dataset *ds = m->base.ds;
    *v = (struct mpio_mover){.m = m, .chunk = smaller(ds->hints.move_chunk, MOST)};
    int64_t all = v->chunk > SAVED / ds->nprocs ? SAVED : v->chunk * ds->nprocs;
    int64_t part = cdf_move_total(before, after) / 16;
    if (part > all) all = smaller(part, SAVED);
    v->crew = (struct journal_crew){.j = j,
                                    .before = before,
                                    .after = after,
                                    .first = ds->rank == 0,
                                    .share = all,
                                    .least = larger(all / 16, v->chunk),
                                    .who = v,
                                    .carry_all = move_share_all,
                                    .complete_all = mover_complete_all,
                                    .secure_all = mover_sync_all,
                                    .concur_all = mover_agree_all};
    return cdf_find_vacancy(&v->vacancy, before, after);
}

void mpio_mover_free(struct mpio_mover *v)
{
    access_tile_free(&v->old);
    access_tile_free(&v->new);
    cdf_free_vacancy(&v->vacancy);
}

/* Process 0's part before anything moves: room, journal, mark. */
static int prepare_mover(struct mpio *m, struct mpio_mover *v)
{
    const struct cdf_header *before = v->crew.before, *after = v->crew.after;
    struct journal *j = v->crew.j;
    file_learn_end(&m->file); /* the journal notes the size, which an undoing sets */
    int err = journal_open_dataset(j, (uint64_t)m->base.ds->inode);
    j->guard = m->file.guard;
    if (err == NC_NOERR) err = journal_claim(j);
    if (err == NC_NOERR) err = mpio_check_definitions(&m->base, before);
    if (err == NC_NOERR) err = journal_make_room(j, before, after);
    if (err != NC_NOERR) return err;
    return journal_start(j, before->size, after, journal_area_for(&v->crew),
                         JOURNAL_READY);
}

int mpio_share_journal_all(struct mpio *m, struct journal *j)
{
    struct {
        struct journal_facts facts;
        struct journal_state state;
        struct journal_holder holder;
    } known = {j->facts, j->state, j->holder};
    int err = dataset_share_all(m->base.ds, &known, sizeof known, 0);
    j->facts = known.facts;
    j->state = known.state;
    j->holder = known.holder;
    return err;
}

/* What came of it, and what the file has now. Agreed. */
static int end_move(struct mpio *m, const struct journal *j, int err)
{
    m->pending |= j->pending; /* once it is, a further call must not begin anew */
    m->lost |= j->lost;
    m->adrift |= j->pending;
    if (j->facts.new_size > 0)
        file_ends_at(&m->file, err == NC_NOERR ? j->facts.new_size : j->facts.old_size);
    if (err != NC_NOERR) file_descriptor_told(&m->file.own);
    return j->pending ? mpio_tell_pending(m, err) : err;
}

int mpio_move_all(struct mpio *m, const struct cdf_header *before)
{
    struct dataset *ds = m->base.ds;
    struct journal j;
    struct mpio_mover v;
    unsigned char *image = mpio_encode_header(m);
    int err = journal_init(&j, ds->full);
    if (err == NC_NOERR && ds->rank == 0 && image == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR && m->pending) err = mpio_tell_pending(m, NC_EFILE);
    ds->stats.redef_moves++;
    int found = mpio_mover_init(&v, m, &j, before, &ds->header);
    if (err == NC_NOERR) err = found;
    struct trace_span span = trace_begin(ds->trace);

    /* What others have written must be here before it is read, and stay. */
    int synced = file_sync_all(&m->file);
    err = dataset_agree_all(ds, err != NC_NOERR ? err : synced, NULL, NULL, 0);
    if (err == NC_NOERR) {
        int64_t pending = 0;
        if (ds->rank == 0) {
            err = prepare_mover(m, &v);
            pending = j.pending;
        }
        err = mpio_explain_all(ds, err);
        int told = dataset_agree_all(ds, NC_NOERR, NULL, &pending, 1);
        j.pending = pending != 0;
        if (err == NC_NOERR) err = told;
    }
    if (err == NC_NOERR) err = mpio_share_journal_all(m, &j);
    if (err == NC_NOERR) mpio_share_file_all(m);
    if (err == NC_NOERR) err = journal_move_all(&v.crew);
    err = end_move(m, &j, err);
    if (err == NC_NOERR && ds->rank == 0)
        mpio_keep_header(m, image);
    else
        base_free(image);
    if (err == NC_NOERR) m->numrecs_in_file = ds->header.numrecs;
    mpio_mover_free(&v);
    journal_free(&j);
    trace_end(ds->trace, TRACE_MOVE, span);
    return err;
}
