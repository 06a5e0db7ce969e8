/* Moving data to a new layout, all processes together.
 *
 * Steps come last place first and go upwards only, so what a round overwrites was read
 * in this round or before. A round takes steps of a bounded number of bytes, each
 * process reads its share of them, all agree, and each writes its share. */
#include "base_error.h"
#include "mpio_tile.h"

/* Bytes of a round that a process can take, and that are worth one. */
enum { MOST = 1 << 30, LEAST = 1 << 20 };

/* The steps, as a stream that can be cut anywhere. */
struct steps {
    const struct cdf_header *before, *after;
    struct cdf_move_state state;
    struct cdf_move move; /* what is left of the current step: its low end */
    bool ended;
};

/* Takes the highest bytes of what is left, up to max. False at the end. */
static bool take(struct steps *s, int64_t max, struct cdf_move *part)
{
    while (s->move.length == 0 && !s->ended)
        s->ended = !cdf_next_move(s->before, s->after, &s->state, &s->move);
    if (s->ended) return false;

    int64_t n = s->move.length < max ? s->move.length : max;
    s->move.length -= n;
    *part = (struct cdf_move){.from = s->move.from + s->move.length,
                              .to = s->move.to + s->move.length,
                              .length = n};
    return true;
}

/* What a process takes in a round: as the hint says, and of less than a round an even
 * share. */
static int64_t chunk_for(const struct driver_dataset *ds, const struct cdf_header *before)
{
    struct steps s = {.before = before, .after = &ds->header};
    struct cdf_move part;
    int64_t chunk = ds->hints.move_chunk < MOST ? ds->hints.move_chunk : MOST;
    int64_t round = chunk * ds->nprocs, all = 0;
    while (all < round && take(&s, round - all, &part))
        all += part.length;
    int64_t share = (all + ds->nprocs - 1) / ds->nprocs;
    if (share < LEAST) share = LEAST;
    return share < chunk ? share : chunk;
}

/* One process's share of a round: where its bytes come from, and where they go. */
struct round {
    struct mpio_tile from, to;
};

static int add(struct round *r, const struct cdf_move *part)
{
    int err = mpio_tile_add(&r->from, part->from, part->length, r->from.used);
    if (err == NC_NOERR)
        err = mpio_tile_add(&r->to, part->to, part->length, r->from.used);
    r->from.used += part->length;
    return err;
}

/* Deals a round's steps out: each process gets the next `chunk` bytes. */
static int deal(struct mpio *m, struct steps *s, int64_t chunk, struct round *r,
                bool *more)
{
    struct cdf_move part;
    int err = NC_NOERR;
    mpio_tile_clear(&r->from);
    mpio_tile_clear(&r->to);
    *more = false;
    for (int rank = 0; rank < m->base.ds->nprocs; rank++)
        for (int64_t room = chunk; room > 0 && take(s, room, &part);
             room -= part.length) {
            *more = true;
            if (rank == m->base.ds->rank && err == NC_NOERR) err = add(r, &part);
        }
    return err;
}

/* Sorted, and with the staging memory behind both. */
static int settle(struct mpio *m, struct round *r)
{
    int err = mpio_reserve(m, (size_t)r->from.used);
    if (err == NC_NOERR) err = mpio_tile_sort(&r->from, false);
    if (err == NC_NOERR) err = mpio_tile_sort(&r->to, true);
    if (err != NC_NOERR) {
        mpio_tile_clear(&r->from);
        mpio_tile_clear(&r->to);
    }
    r->from.bytes = r->to.bytes = m->staging;
    return err;
}

/* One round, after others that ended with err here. In the agreement before anything is
 * overwritten the others learn of errors from here, and here from theirs. */
static int move_round_all(struct mpio *m, struct round *r, int err, int *agreed)
{
    struct driver_dataset *ds = m->base.ds;
    bool view = m->file.no_indep;
    int settled = settle(m, r);
    int io = view ? mpio_tile_view_all(m, &r->from, false) : mpio_tile_read(m, &r->from);
    if (err == NC_NOERR) err = settled != NC_NOERR ? settled : io;
    *agreed = driver_agree_all(ds, err, NULL, NULL, 0);
    if (*agreed != NC_NOERR) return err;
    err = view ? mpio_tile_view_all(m, &r->to, true) : mpio_tile_write(m, &r->to);
    if (err == NC_NOERR) ds->stats.redef_moved_bytes += r->from.used;
    return err;
}

int mpio_move_all(struct mpio *m, const struct cdf_header *before)
{
    struct driver_dataset *ds = m->base.ds;
    struct steps s = {.before = before, .after = &ds->header};
    struct round r = {0};
    int64_t size = 0, chunk = chunk_for(ds, before);
    bool more;

    int err = deal(m, &s, chunk, &r, &more);
    if (!more) return NC_NOERR;
    ds->stats.redef_moves++;

    /* What others have written must be here before it is read, and the end of the file
     * too: a hole there moves as zeros. A view must stay within the file when it is
     * written, too: ROMIO would fill what lies between the runs with its buffer's bytes.
     */
    int64_t wanted = cdf_file_size(m->file.no_indep ? &ds->header : before);
    int synced = mpio_file_sync_all(&m->file);
    if (err == NC_NOERR) err = synced;
    int sized = mpio_file_size(&m->file, &size);
    err = driver_agree_all(ds, err != NC_NOERR ? err : sized, NULL, &size, 1);
    if (err == NC_NOERR && size < wanted) {
        err = mpio_file_resize_all(&m->file, wanted);
        err = driver_agree_all(ds, err, NULL, NULL, 0);
    }
    for (int agreed = err; more && agreed == NC_NOERR;) {
        err = move_round_all(m, &r, err, &agreed);
        int dealt = deal(m, &s, chunk, &r, &more);
        if (err == NC_NOERR) err = dealt;
    }
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    mpio_tile_free(&r.from);
    mpio_tile_free(&r.to);
    return err;
}
