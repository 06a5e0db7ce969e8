/* Moves data to a new layout on all processes together; journal_rounds calls these
 * functions.
 *
 * It is safe for these reasons:
 * 1. No byte is overwritten before a copy of it is on the device: in the journal for
 *    bytes of this round, at the new offset for bytes of earlier rounds.
 * 2. The journal's state is on the device before a round begins.
 * 3. So that state suffices to repeat the round, or to restore what it overwrote. Doing
 *    either more than once does no harm. */
#include "mpio_move.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "driver_fill.h"

/* Maximum and minimum number of bytes that a process moves at a time, and the maximum
 * that all processes together save in a round. To keep rounds few, a round saves as many
 * bytes as fit into the memory of all processes, or a fixed fraction of all bytes that
 * move. */
enum { MOST = 1 << 30, LEAST = 1 << 20, SAVED = 256 << 20 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds the bytes at positions [low, high) to tiles, at their offsets in the old and new
 * layouts. Positions are counted from the end of the file. */
static int plan_move(const struct mpio_mover *v, int64_t low, int64_t high,
                     struct access_tile *old, struct access_tile *new)
{
    struct cdf_move_state state;
    struct cdf_move move;
    int64_t pos = high - low, last = INT64_MAX;
    int err = NC_NOERR;
    bool more = cdf_seek_move(v->movers.before, v->movers.after, low, &state, &move);
    while (pos > 0 && more && err == NC_NOERR) {
        int64_t n = smaller(move.length, pos), skip = move.length - n;
        err = base_holds(move.to > move.from && move.from + move.length <= last);
        last = move.from;
        pos -= n;
        if (err == NC_NOERR) err = access_tile_add(old, move.from + skip, n, pos);
        if (err == NC_NOERR) err = access_tile_add(new, move.to + skip, n, pos);
        more = cdf_next_move(v->movers.before, v->movers.after, &state, &move);
    }
    return err != NC_NOERR ? err : base_holds(pos == 0);
}

/* Makes the tiles describe the bytes at positions [low, high). */
static int plan_tiles(struct mpio_mover *v, int64_t low, int64_t high)
{
    access_tile_clear(&v->old);
    access_tile_clear(&v->new);
    int err = access_staging_reserve(&v->m->staging, (size_t)(high - low));
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

/* Copies between the journal's area and the tile's memory. */
static int save(struct mpio_mover *v, int64_t low, int64_t high, bool put)
{
    struct journal *j = v->movers.j;
    int64_t at = v->round.high - high, n = high - low;
    if (n == 0) return NC_NOERR;
    if (put) return journal_write_area(j, v->round.area, at, v->m->staging.bytes, n);
    return journal_read_area(j, v->round.area, at, v->m->staging.bytes, n);
}

/* Reads or writes a tile. After an error, joins without transferring anything. */
static int transfer_all(struct mpio_mover *v, enum journal_place place, bool put, int err)
{
    struct access_tile *t = place == JOURNAL_OLD ? &v->old : &v->new;
    if (err == NC_NOERR && put && t->npieces > 0) err = journal_check(v->movers.j);
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

/* Checks that the bytes in memory belong to the recorded round, and that they are written
 * to the side to which it moves them. */
static int check_round(const struct mpio_mover *v)
{
    const struct journal_state *s = &v->movers.j->state;
    bool moving = s->phase == JOURNAL_MOVING;
    base_require(moving || s->phase == JOURNAL_RESTORING);
    base_require(s->low == v->round.low && s->high == v->round.high);
    base_require((v->to == JOURNAL_NEW) == (moving != s->back));
    return NC_NOERR;
}

/* Moves one piece of this process's share through memory. If the share is a single piece,
 * its saved bytes stay in memory until they are written. */
static int move_piece_all(struct mpio_mover *v, int64_t low, int64_t high)
{
    const enum journal_place from = v->from, to = v->to;
    bool kept = v->loaded_low == low && v->loaded_high == high && high > low;
    v->loaded_low = v->loaded_high = 0;
    int err = NC_NOERR;
    if (from != JOURNAL_AREA || !kept) err = plan_tiles(v, low, high);
    if (from != JOURNAL_AREA)
        err = transfer_all(v, from, false, err);
    else if (!kept && err == NC_NOERR)
        err = save(v, low, high, false);
    if (to != JOURNAL_AREA) {
        if (err == NC_NOERR) err = check_round(v);
        err = transfer_all(v, to, true, err);
        if (err == NC_NOERR) v->m->base.ds->stats.redef_moved_bytes += high - low;
        return err;
    }
    if (err == NC_NOERR) err = save(v, low, high, true);
    if (err != NC_NOERR) return err;
    v->loaded_low = low;
    v->loaded_high = high;
    return err;
}

/* Divides positions [low, high) among the processes, evenly but not into shares too small
 * to be worth a call, and divides the shares into pieces. All processes call piece_all
 * the same number of times. */
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
    int err = base_holds(ds->rank < ds->nprocs - 1 || end == high);
    for (int64_t done = 0; done < share; done += v->chunk) {
        int64_t first = smaller(begin + done, end);
        int64_t last = err == NC_NOERR ? smaller(first + v->chunk, end) : first;
        int moved = piece_all(v, first, last);
        if (err == NC_NOERR) err = moved;
    }
    return err;
}

static int move_share_all(void *arg, const struct journal_state *round,
                          enum journal_place from, enum journal_place to)
{
    struct mpio_mover *v = arg;
    v->round = *round;
    v->from = from;
    v->to = to;
    return divide_moves_all(v, round->low, round->high, move_piece_all);
}

/* Fills the tile with zeros for positions [low, high) of the vacated space. */
static int plan_zeros(struct mpio_mover *v, int64_t low, int64_t high)
{
    access_tile_clear(&v->new);
    int err = access_staging_reserve(&v->m->staging, (size_t)(high - low));
    for (int64_t at = low, n; at < high && err == NC_NOERR; at += n) {
        struct cdf_extent x = cdf_gap_extent_at(&v->gap, at);
        n = smaller(x.length, high - at);
        err = base_holds(n > 0 && x.offset >= v->movers.after->size);
        if (err == NC_NOERR) err = access_tile_add(&v->new, x.offset, n, at - low);
    }
    v->new.bytes = v->m->staging.bytes;
    if (err == NC_NOERR && high > low)
        memset(v->m->staging.bytes, 0, (size_t)(high - low));
    return err == NC_NOERR ? access_tile_sort(&v->new, true) : err;
}

static int clear_piece_all(struct mpio_mover *v, int64_t low, int64_t high)
{
    int err = base_holds(v->movers.j->state.phase == JOURNAL_FILLING);
    if (err == NC_NOERR) err = plan_zeros(v, low, high);
    return transfer_all(v, JOURNAL_NEW, true, err);
}

static int mover_sync_all(void *arg)
{
    struct mpio_mover *v = arg;
    return file_sync_all(&v->m->file);
}

static int mover_agree_all(void *arg, int err)
{
    struct mpio_mover *v = arg;
    return dataset_agree_all(v->m->base.ds, err, NULL, NULL, 0);
}

static int mover_add_all(void *arg, uint64_t *sum)
{
    struct mpio_mover *v = arg;
    const struct dataset *ds = v->m->base.ds;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_UINT64_T, MPI_SUM, ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
}

/* Zeros the space that variables have vacated and fills new variables. The header that
 * describes them is written later. */
static int mover_complete_all(void *arg)
{
    struct mpio_mover *v = arg;
    v->loaded_low = v->loaded_high = 0; /* filling reuses the memory */
    int err = divide_moves_all(v, 0, v->gap.total, clear_piece_all);
    int filled = driver_fill_new_all(&v->m->base, v->movers.before->nvars);
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
    v->movers = (struct journal_movers){.j = j,
                                        .before = before,
                                        .after = after,
                                        .first = ds->rank == 0,
                                        .share = all,
                                        .least = larger(all / 16, v->chunk),
                                        .arg = v,
                                        .carry_all = move_share_all,
                                        .complete_all = mover_complete_all,
                                        .secure_all = mover_sync_all,
                                        .concur_all = mover_agree_all,
                                        .add_all = mover_add_all};
    base_require(before->numrecs == after->numrecs);
    return cdf_find_gap(&v->gap, before, after);
}

void mpio_mover_free(struct mpio_mover *v)
{
    access_tile_free(&v->old);
    access_tile_free(&v->new);
    cdf_free_gap(&v->gap);
}

int mpio_lock_layout(struct mpio *m, struct journal *j, const struct cdf_header *before)
{
    file_merge_end(&m->file); /* the journal records the size, and undoing the move
                               * restores it */
    int err = journal_open_dataset(j, (uint64_t)m->base.ds->identity.inode);
    j->guard = m->file.guard;
    if (err == NC_NOERR) err = journal_claim(j);
    if (err == NC_NOERR) err = dataset_is_sound(m->base.ds);
    if (err == NC_NOERR) err = mpio_check_definitions(&m->base, before);
    return err == NC_NOERR ? journal_cut(j, cdf_file_size(before)) : err;
}

/* Prepares the move on process 0: reserves disk space, creates the journal, and writes
 * the mark. */
static int prepare_mover(struct mpio *m, struct mpio_mover *v)
{
    const struct cdf_header *before = v->movers.before, *after = v->movers.after;
    struct journal *j = v->movers.j;
    int err = mpio_lock_layout(m, j, before);
    if (err == NC_NOERR && m->image != NULL && m->image_size != before->size)
        err =
            base_error_set(NC_EFILE,
                           "%s: an earlier definition failed in another process and may "
                           "have changed the header; close the dataset and open it again",
                           m->base.ds->path);
    if (err == NC_NOERR) err = journal_reserve_space(j, before, after);
    if (err != NC_NOERR) return err;
    return journal_start(j, before->size, after, journal_area_for(&v->movers),
                         JOURNAL_READY);
}

int mpio_share_journal_all(struct mpio *m, struct journal *j)
{
    struct {
        struct journal_facts facts;
        struct journal_state state;
        struct journal_record lease;
    } known = {j->facts, j->state, j->lease};
    int err = dataset_share_all(m->base.ds, &known, sizeof known, 0);
    j->facts = known.facts;
    j->state = known.state;
    j->lease = known.lease;
    return err;
}

/* Agrees on the result of a move, updates the file's state, and returns the result. */
static int end_move(struct mpio *m, const struct journal *j, int err)
{
    m->pending |= j->pending; /* prevents another move */
    m->lost |= j->lost;
    m->between_layouts |= j->pending;
    if (j->facts.new_size > 0)
        file_set_end(&m->file, err == NC_NOERR ? j->facts.new_size : j->facts.old_size);
    if (err != NC_NOERR) file_descriptor_mark_reported(&m->file.own);
    return j->pending ? mpio_report_pending(m, err) : err;
}

int mpio_move_all(struct mpio *m, const struct cdf_header *before)
{
    struct dataset *ds = m->base.ds;
    struct journal j;
    struct mpio_mover v;
    unsigned char *image = mpio_encode_header(m);
    int err = journal_init(&j, ds->full_path);
    if (err == NC_NOERR && ds->rank == 0 && image == NULL)
        err = base_error_merge(dataset_is_sound(ds), NC_ENOMEM);
    if (err == NC_NOERR && m->pending) err = mpio_report_pending(m, NC_EFILE);
    ds->stats.redef_moves++;
    int found = mpio_mover_init(&v, m, &j, before, &ds->header);
    if (err == NC_NOERR) err = found;
    struct trace_span span = trace_begin(ds->trace);

    /* Other processes' data must be on the device before this process reads them. */
    int synced = file_sync_all(&m->file);
    err = dataset_agree_all(ds, err != NC_NOERR ? err : synced, NULL, NULL, 0);
    if (err == NC_NOERR) {
        int64_t pending = 0;
        if (ds->rank == 0) {
            err = prepare_mover(m, &v);
            pending = j.pending;
        }
        err = dataset_share_result_all(ds, err);
        int agreed = dataset_agree_all(ds, NC_NOERR, NULL, &pending, 1);
        j.pending = pending != 0;
        if (err == NC_NOERR) err = agreed;
    }
    if (err == NC_NOERR) err = mpio_share_journal_all(m, &j);
    if (err == NC_NOERR) mpio_share_file_all(m);
    if (err == NC_NOERR) err = journal_move_all(&v.movers);
    err = end_move(m, &j, err);
    if (err == NC_NOERR && ds->rank == 0)
        mpio_set_image(m, image);
    else
        base_free(image);
    if (err == NC_NOERR) m->numrecs_in_file = ds->header.numrecs;
    mpio_mover_free(&v);
    journal_free(&j);
    trace_end(ds->trace, TRACE_MOVE, span);
    return err;
}
