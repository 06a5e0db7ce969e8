/* Implements puts and gets. Independent transfers, and the direct requests of collective
 * ones, go through tiles; a single run needs none. In a collective transfer, one
 * agreement determines which requests join a two-phase exchange (those with many short
 * pieces) and which are direct. File views are used only if a hint requests them or
 * independent I/O is ruled out. Afterwards the number of records is updated. If puts
 * overlap, the later one takes precedence. */
#include "base_error.h"
#include "base_mem.h"
#include "mpio.h"

enum {
    DIRECT_BYTES = 1 << 20, /* size of a tile that stays in the cache on its way to the
                             * file */
    VIEW_BYTES = 1 << 30,   /* limit per view, because large MPI counts are unreliable */
    MAX_PIECES = 1 << 16,
    UNSEEN = 4096, /* converting fewer bytes is faster than reading the clock */
    FEW = 16       /* do not trace the choice for fewer requests */
};

/* State of one transfer. */
struct transfer {
    struct mpio *m;
    struct access_stream stream;
    struct access_tile tile;
    int error;    /* this process's first error */
    int io_error; /* last I/O error */
    bool failed;  /* some process failed, and all processes know it */
    bool planned; /* the stream and the tile have allocated memory */
};

static void set_first_error(struct transfer *x, int err)
{
    x->error = base_error_merge(x->error, err);
}

/* Sets the error as the status of every request in the tile. */
static void fail_tile(struct transfer *x, int err)
{
    for (int64_t i = 0; i < x->tile.nsegments; i++)
        access_set_status(x->stream.reqs[x->tile.segments[i].request], err);
    set_first_error(x, err);
}

/* Ends the stream: sets the error for the requests in the tile and for all later ones. */
static void abort_transfer(struct transfer *x, int err)
{
    struct access_stream *s = &x->stream;
    int64_t i = x->tile.nsegments > 0 ? x->tile.segments[0].request : s->file_request;
    for (; i < s->n; i++)
        access_set_status(s->reqs[i], err);
    set_first_error(x, err);
    access_tile_clear(&x->tile);
    s->file_request = s->n;
}

/* Adds the next requests to the tile. A planning error ends the stream. */
static void plan_transfer(struct transfer *x, int64_t max_bytes)
{
    x->planned = true;
    int err = access_stream_plan(&x->stream, &x->tile, max_bytes, MAX_PIECES);
    if (err != NC_NOERR) abort_transfer(x, err);
}

/* Converts values that pass through the tile and reports those out of range. If out of
 * memory, ends the stream, because the rest would be written to the wrong offsets. */
static void convert_tile(struct transfer *x)
{
    struct trace *trace = x->tile.used < UNSEEN ? NULL : x->m->base.ds->trace;
    struct trace_span span = trace_begin(trace);
    int err = x->stream.put ? access_stream_pack(&x->stream, &x->tile)
                            : access_stream_unpack(&x->stream, &x->tile);
    trace_end_at(trace, TRACE_CONVERSION, span, -1, x->tile.used);
    if (err == NC_NOERR || err == NC_ERANGE)
        set_first_error(x, err);
    else
        abort_transfer(x, err);
}

/* Prepares the planned tile for the transfer. */
static void load_tile(struct transfer *x)
{
    x->m->base.ds->stats.runs += x->tile.npieces;
    int err = access_stream_finish_plan(&x->stream, &x->tile);
    if (err != NC_NOERR) abort_transfer(x, err); /* but joins the transfer */
    if (x->stream.put) convert_tile(x);
}

/* Finishes a tile whose transfer returned `io`, and empties it. */
static void finish_tile(struct transfer *x, int io)
{
    if (!x->stream.put && io == NC_NOERR) convert_tile(x);
    if (io != NC_NOERR) {
        fail_tile(x, io);
        x->io_error = io;
    }
    access_tile_clear(&x->tile);
}

/* Transfers the planned tile. */
static void move_tile(struct transfer *x)
{
    load_tile(x);
    finish_tile(x, x->stream.put ? mpio_write_tile(x->m, &x->tile)
                                 : mpio_read_tile(x->m, &x->tile));
}

static void move_tile_all(struct transfer *x)
{
    load_tile(x);
    finish_tile(x, mpio_view_tile_all(x->m, &x->tile, x->stream.put));
}

/* ---- one run ---- */

/* Transfers a single request for one run of the file, the most common case. It needs no
 * plan: nothing is sorted, and only memory is gathered. Also transfers a long run of
 * stripes if it is next in the stream. In all other cases does nothing and returns false.
 * `known` is the extent of the stream's only request, if known. */
static bool move_run(struct transfer *x, const struct access_extent *known)
{
    struct access_stream *s = &x->stream;
    const struct cdf_header *h = &x->m->base.ds->header;
    struct access_extent own;
    if (s->n != 1 && !x->m->file.stripes_shared) return false;
    struct access_request *r = s->reqs[s->file_request];
    if (known == NULL && access_extent(h, r, &own)) known = &own;
    if (known == NULL || known->pieces != 1) return false;
    if (s->n != 1 && !mpio_is_long(x->m, known)) return false;

    int io = NC_NOERR, err = mpio_move_run(x->m, r, known, s->put, &io);
    if (io != NC_NOERR) x->io_error = io;
    set_first_error(x, err);
    s->file_request++;
    return true;
}

/* ---- direct transfers ---- */

/* Transfers the planned tile and all later ones, without further agreements. */
static void move_alone(struct transfer *x)
{
    move_tile(x);
    while (!access_stream_ended(&x->stream)) {
        plan_transfer(x, DIRECT_BYTES);
        move_tile(x);
    }
}

/* Transfers the whole stream. `known` is the extent of its only request, or NULL. */
static void move_direct(struct transfer *x, const struct access_extent *known)
{
    struct access_stream *s = &x->stream;
    while (!access_stream_ended(s) && move_run(x, s->n == 1 ? known : NULL))
        continue;
    if (access_stream_ended(s)) return;
    plan_transfer(x, DIRECT_BYTES);
    move_alone(x);
}

/* ---- the number of records ---- */

/* Returns the number of records once this process's requests have been written. Ignores
 * requests that have failed. */
static int64_t count_records_put(const struct transfer *x)
{
    const struct dataset *ds = x->m->base.ds;
    const struct access_stream *s = &x->stream;
    int64_t held = ds->numrecs_seen;
    for (int64_t i = 0; i < s->n && ds->header.nrecord_vars > 0; i++) {
        const struct access_request *r = s->reqs[i];
        int64_t records = access_records(&ds->header, r);
        bool good = r->status == NC_NOERR || r->status == NC_ERANGE;
        if (good && records > held) held = records;
    }
    return held;
}

/* Updates the number of records after a put that should raise it to `claimed`. */
static void raise_records_put(struct transfer *x, int64_t claimed)
{
    bool good = x->error == NC_NOERR || x->error == NC_ERANGE;
    dataset_raise_records(x->m->base.ds, good ? claimed : count_records_put(x));
}

/* ---- through views ---- */

/* Returns the file offset at which the tile ends. */
static int64_t end_of_tile(const struct access_tile *t)
{
    int64_t high = 0;
    for (int64_t i = 0; i < t->npieces; i++)
        if (t->pieces[i].offset + t->pieces[i].length > high)
            high = t->pieces[i].offset + t->pieces[i].length;
    return high;
}

/* Values to agree on before each tile. The result is the maximum of each. */
enum { RECORDS, VIEW, HIGH, MORE, NVALUES };

/* Performs the agreement before a tile. `first` is set for the first tile of a call. */
static void agree_all(struct transfer *x, int64_t *all, bool first)
{
    struct dataset *ds = x->m->base.ds;
    int failed = NC_NOERR;
    all[VIEW] = x->tile.npieces > 0;
    all[HIGH] = end_of_tile(&x->tile);
    all[MORE] = !access_stream_ended(&x->stream);
    dataset_agree_all(ds, x->error, first ? &failed : NULL, all, NVALUES);
    set_first_error(x, failed);
    if (first) ds->header.numrecs = all[RECORDS];
}

/* Returns whether the file has at least `high` bytes. The size is cached, because a file
 * does not shrink while it is open. Collective; same result on all processes. */
static bool reaches_all(struct transfer *x, int64_t high)
{
    struct mpio *m = x->m;
    if (high <= m->known_size) return true;
    int64_t size = 0;
    int err = file_size(&m->file, &size);
    err = dataset_agree_all(m->base.ds, err, NULL, &size, 1);
    set_first_error(x, err);
    if (err != NC_NOERR) return true; /* size unknown: do not extend */
    m->known_size = size;
    return high <= m->known_size;
}

/* Returns whether to transfer the tile through a view. A view must not extend beyond the
 * end of the file: ROMIO reads the gaps between the runs that it writes, and beyond the
 * end of the file its buffer contains arbitrary bytes. Therefore a put extends the file
 * first, and so does a get if independent I/O is ruled out and the file is writable.
 * Other gets beyond the end are direct. */
static bool choose_view_all(struct transfer *x, const int64_t *all)
{
    struct mpio *m = x->m;
    if (!all[VIEW] && !m->file.no_indep) return false;
    if (reaches_all(x, all[HIGH])) return true;
    if (!x->stream.put && !(m->file.no_indep && m->base.ds->writable)) {
        m->base.ds->stats.view_fallbacks++;
        return false;
    }
    /* Extending the file rewrites its last byte with the current value, so no process may
     * put a value there in the meantime. */
    set_first_error(x, mpio_extend_all(&m->file, all[HIGH]));
    set_first_error(x, dataset_agree_all(m->base.ds, NC_NOERR, NULL, NULL, 0));
    m->known_size = all[HIGH];
    return true;
}

/* Moves the tiles of a collective transfer, each after an agreement. Switches to direct
 * transfers when no process has more to move, or when a view cannot be used. */
static void move_through_views_all(struct transfer *x, int64_t numrecs)
{
    struct trace_stats *stats = &x->m->base.ds->stats;
    int64_t staging = x->m->base.ds->hints.ibuf_size;
    int64_t all[NVALUES] = {[RECORDS] = numrecs};
    bool first = true;
    do {
        plan_transfer(x, staging < VIEW_BYTES ? staging : VIEW_BYTES);
        agree_all(x, all, first);
        bool view = choose_view_all(x, all);
        if (first) ++*(view ? &stats->calls_view : &stats->calls_direct);
        first = false;
        if (!view) {
            move_alone(x);
            return;
        }
        move_tile_all(x);
    } while (all[MORE]);
}

/* ---- choosing between direct and collective transfers ---- */

/* A process's requests, divided into exchanged and direct requests. */
struct choice {
    struct access_extent together, direct;
    struct access_request **parted; /* exchanged, then direct requests; NULL if all are of
                                     * one kind */
    int64_t ntogether, ndirect;
    bool runs; /* the direct requests are long runs that could also be exchanged */
};

/* Returns whether short pieces should be exchanged: they must be numerous, and not so far
 * apart that blocks of the file would be nearly empty. With more than four processes they
 * may be further apart, because each process handles a smaller part of the blocks. */
static bool should_exchange(const struct mpio *m, const struct access_extent *s)
{
    enum { MANY = 32, APART = 16384 };
    int64_t nprocs = m->base.ds->nprocs, apart = APART;
    if (nprocs > 4) apart = (int64_t)APART / 4 * nprocs;
    if (s->bytes == 0 || !s->ascending) return false;
    if (m->file.stripes_shared) return true;
    return s->pieces >= MANY && (s->high - s->low) / s->pieces < apart;
}

/* Lists the short requests before the others. Returns false if out of memory. */
static bool partition_requests(struct transfer *x, struct choice *c)
{
    const struct access_stream *all = &x->stream;
    const struct cdf_header *h = &x->m->base.ds->header;
    int64_t direct = c->ntogether, together = 0;
    c->parted = base_malloc((size_t)(c->ntogether + c->ndirect) * sizeof(void *));
    if (c->parted == NULL) return false;
    for (int64_t i = 0; i < all->n; i++) {
        struct access_request *r = all->reqs[i];
        struct access_extent s;
        if (!access_extent(h, r, &s)) continue;
        c->parted[mpio_is_long(x->m, &s) ? direct++ : together++] = r;
    }
    int err = base_holds(together == c->ntogether && direct == together + c->ndirect);
    if (err == NC_NOERR) return true;
    set_first_error(x, err);
    base_free(c->parted);
    c->parted = NULL;
    return false;
}

/* Makes all requests either exchanged or direct. */
static inline void use_one_method(struct transfer *x, struct choice *c, bool together)
{
    struct access_extent all = c->together;
    access_extent_add(&all, &c->direct);
    c->together = together ? all : access_extent_init();
    c->direct = together ? access_extent_init() : all;
    c->ntogether = together ? x->stream.n : 0;
    c->ndirect = together ? 0 : x->stream.n;
}

/* Chooses how to transfer each request. If puts may overlap, all are transferred in the
 * same way, because the later put must take precedence. */
static void choose_methods(struct transfer *x, struct choice *c)
{
    const struct access_stream *all = &x->stream;
    const struct cdf_header *h = &x->m->base.ds->header;
    int64_t asked = x->m->base.ds->hints.transfer;
    *c =
        (struct choice){.together = access_extent_init(), .direct = access_extent_init()};
    if (access_stream_ended(all)) return;
    bool upwards = true; /* no request begins before the previous one ends */
    for (int64_t i = 0, end = 0; i < all->n; i++) {
        struct access_extent s;
        if (!access_extent(h, all->reqs[i], &s)) continue;
        bool is = mpio_is_long(x->m, &s);
        access_extent_add(is ? &c->direct : &c->together, &s);
        ++*(is ? &c->ndirect : &c->ntogether);
        upwards &= s.low >= end;
        end = s.high;
    }
    bool ascending = c->together.ascending && c->direct.ascending;
    bool apart =
        upwards || c->together.high <= c->direct.low || c->direct.high <= c->together.low;
    bool together = ascending, parted = false;
    if (asked != HINTS_TRANSFER_AUTO)
        together = asked == HINTS_TRANSFER_NODE && ascending;
    else if (!should_exchange(x->m, &c->together))
        together = false;
    else
        parted = c->ndirect > 0 && (apart || !all->put) && partition_requests(x, c);
    if (!parted) use_one_method(x, c, together);
    c->runs = c->ndirect > 0 && ascending && asked == HINTS_TRANSFER_AUTO &&
              x->m->file.stripes_shared;
}

/* Returns whether long runs should be exchanged after all: if several processes move the
 * same bytes, which an exchange moves only once, or if some processes move much more than
 * others, so that other nodes can help. */
static bool are_runs_unbalanced(const struct transfer *x, int64_t low, int64_t high,
                                int64_t longest)
{
    return longest > 0 && longest / 2 > (high - low) / x->m->base.ds->nprocs;
}

static void exchange_long_runs(struct transfer *x, struct choice *c)
{
    if (!c->runs) return;
    base_free(c->parted);
    c->parted = NULL;
    use_one_method(x, c, true);
}

/* Checks that the exchange moves all of this process's bytes, in blocks that fit into its
 * buffers. */
static int check_domains(const struct twophase *t, const struct access_extent *mine,
                         const struct twophase_domains *d)
{
    base_require(mine->low >= d->low && mine->high <= d->high);
    base_require(d->shift >= 0 && d->shift <= mine->shift);
    base_require(d->pitch >= d->block && d->lanes * d->pitch <= t->window.size);
    return NC_NOERR;
}

/* Moves requests by a two-phase exchange among all processes. */
static void move_together_all(struct transfer *x, const struct choice *c,
                              const struct twophase_domains *d)
{
    struct mpio *m = x->m;
    const struct access_extent *mine = &c->together;
    struct access_request *const *reqs = c->parted != NULL ? c->parted : x->stream.reqs;
    struct access_walk walk = {.header = &m->base.ds->header,
                               .put = x->stream.put,
                               .log2_block = 63 - __builtin_clzll((uint64_t)d->block)};
    int io, err = access_walk_begin(&walk, reqs, c->ntogether, mine->low, mine->high);
    int sound = check_domains(&m->exchange, mine, d);
    if (err == NC_NOERR && sound != NC_NOERR) access_walk_end(&walk);
    if (err == NC_NOERR) err = sound;
    struct access_extent none = access_extent_init();
    struct trace_span span = trace_begin(m->base.ds->trace);
    int moved = twophase_all(&m->exchange, &walk, err == NC_NOERR ? mine : &none, d, &io);
    trace_end_at(m->base.ds->trace, TRACE_EXCHANGE, span, -1, mine->bytes);
    if (err == NC_NOERR) err = moved;
    if (err == NC_NOERR || err == NC_ERANGE) err = io != NC_NOERR ? io : err;
    x->failed = io != NC_NOERR;
    access_walk_end(&walk);

    m->base.ds->stats.runs += mine->pieces;
    m->base.ds->stats.copied_bytes += mine->bytes;
    for (int64_t i = 0; err != NC_NOERR && err != NC_ERANGE && i < c->ntogether; i++)
        access_set_status(reqs[i], err);
    set_first_error(x, err); /* all processes already know about `io` */
}

/* Moves the direct requests. They come last, because the exchange may read the gaps
 * between values and write them back, which would undo direct puts into these gaps. */
static void move_rest(struct transfer *x, const struct choice *c)
{
    struct access_stream *s = &x->stream;
    struct access_request *const *reqs = s->reqs;
    int64_t n = s->n;
    if (c->parted != NULL) {
        s->reqs = c->parted + c->ntogether;
        s->n = c->ndirect;
    }
    if (c->ndirect > 0) move_direct(x, &c->direct);
    s->reqs = reqs;
    s->n = n;
}

/* Agrees on how to transfer the requests, then transfers them. */
static void move_by_choice_all(struct transfer *x, int64_t numrecs)
{
    enum { BEFORE = 1, NOT_HIGH, COARSE, LONG_BEFORE, LONG_NOT_HIGH, LONGEST, NCHOICE };
    struct dataset *ds = x->m->base.ds;
    struct choice c;
    int failed = NC_NOERR;
    struct trace *trace = x->stream.n < FEW ? NULL : ds->trace;
    struct trace_span span = trace_begin(trace);
    choose_methods(x, &c);
    trace_end(trace, TRACE_SURVEY, span);
    struct access_extent runs = c.runs ? c.direct : access_extent_init();
    int64_t all[NCHOICE] = {numrecs,           -c.together.low, c.together.high,
                            -c.together.shift, -runs.low,       runs.high,
                            runs.bytes};
    if (-runs.shift > all[COARSE]) all[COARSE] = -runs.shift;
    dataset_agree_all(ds, x->error, &failed, all, NCHOICE);
    set_first_error(x, failed);
    ds->header.numrecs = all[RECORDS];
    mpio_share_file_all(x->m);

    int64_t low = -all[BEFORE], high = all[NOT_HIGH];
    if (are_runs_unbalanced(x, -all[LONG_BEFORE], all[LONG_NOT_HIGH], all[LONGEST])) {
        if (low > -all[LONG_BEFORE]) low = -all[LONG_BEFORE];
        if (high < all[LONG_NOT_HIGH]) high = all[LONG_NOT_HIGH];
        exchange_long_runs(x, &c);
    }
    if (low < high &&
        twophase_window_ready_all(&x->m->exchange.window, ds, x->m->exchange.unit)) {
        struct twophase_domains d;
        twophase_domains_make(&d, &x->m->exchange, low, high, (int)-all[COARSE],
                              x->stream.put);
        ++*(x->m->exchange.window.nodes > 1 ? &ds->stats.calls_across
                                            : &ds->stats.calls_node);
        move_together_all(x, &c, &d);
        move_rest(x, &c);
    } else {
        if (low < high) ds->stats.node_fallbacks++;
        ds->stats.calls_direct++;
        move_direct(x, c.ntogether == 0 ? &c.direct : NULL);
    }
    base_free(c.parted);
}

/* ---- puts and gets ---- */

/* Updates the number of records after a put. A process that failed does not know whether
 * others have reached the new number, so it uses the old one until the next agreement. If
 * all processes write the number together, they must agree on it now. */
static void count_records_all(struct transfer *x, int64_t claimed, int64_t before)
{
    struct mpio *m = x->m;
    struct dataset *ds = m->base.ds;
    int64_t agreed = ds->header.numrecs;
    raise_records_put(x, claimed);
    if (m->file.no_indep && agreed != m->numrecs_in_file) {
        agreed = ds->numrecs_seen;
        set_first_error(x, dataset_agree_all(ds, NC_NOERR, NULL, &agreed, 1));
    } else if (!m->file.no_indep &&
               (x->failed || (agreed == claimed && ds->numrecs_seen < claimed))) {
        agreed = before > ds->numrecs_seen ? before : ds->numrecs_seen;
    }
    ds->header.numrecs = agreed;
}

/* Writes the number of records, on process 0 or, without independent I/O, on all
 * processes. */
static void write_numrecs_all(struct transfer *x)
{
    int err = mpio_write_numrecs_all(x->m);
    set_first_error(x, err);
    if (err != NC_NOERR) x->io_error = err;
}

static void move_all(struct transfer *x)
{
    struct dataset *ds = x->m->base.ds;
    int64_t before = ds->header.numrecs, held = ds->numrecs_seen;
    int64_t claimed = x->stream.put ? count_records_put(x) : held;
    if (x->m->file.no_indep || ds->hints.transfer == HINTS_TRANSFER_VIEW)
        move_through_views_all(x, claimed);
    else
        move_by_choice_all(x, claimed);
    if (x->stream.put) {
        count_records_all(x, claimed, before);
        write_numrecs_all(x);
    }
    /* Other processes learn of an error in the next collective call; in safe mode, in
     * this one. */
    dataset_defer_error(ds, x->io_error);
    if (!ds->safe_mode) return;
    held = ds->numrecs_seen;
    int common_error = dataset_is_local_error(x->error) ? NC_NOERR : x->error;
    int failed, worst = dataset_agree_all(ds, common_error, &failed, &held, 1);
    if (failed != NC_NOERR) set_first_error(x, failed);
    if (worst != NC_NOERR) x->error = worst;
    ds->header.numrecs = held;
    if (x->stream.put) write_numrecs_all(x);
}

static inline void begin_transfer(struct transfer *x, struct driver *self,
                                  struct access_request *const *reqs, int64_t n, bool put,
                                  int error)
{
    struct mpio *m = (struct mpio *)self;
    if (m->between_layouts)
        error = base_error_merge(error, mpio_report_pending(m, NC_EFILE));
    for (int64_t i = 0; i < n && m->between_layouts; i++)
        access_set_status(reqs[i], error);
    if (m->between_layouts) n = 0;
    *x = (struct transfer){.m = m, .error = error, .tile = {.ascending = true}};
    x->stream = (struct access_stream){.header = &m->base.ds->header,
                                       .staging = &m->staging,
                                       .reqs = reqs,
                                       .n = n,
                                       .put = put};
    m->wrote |= put;
}

static int end_transfer(struct transfer *x)
{
    if (x->planned) {
        access_stream_free(&x->stream);
        access_tile_free(&x->tile);
    }
    return x->error;
}

int mpio_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error)
{
    struct transfer x;
    begin_transfer(&x, self, reqs, n, true, error);
    move_all(&x);
    return end_transfer(&x);
}

int mpio_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error)
{
    struct transfer x;
    int beyond = mpio_check_reach((struct mpio *)self, reqs, n);
    dataset_defer_error(self->ds, beyond); /* the others learn of it in this call */
    begin_transfer(&x, self, reqs, n, false, error != NC_NOERR ? error : beyond);
    move_all(&x);
    return end_transfer(&x);
}

int mpio_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct transfer x;
    begin_transfer(&x, self, reqs, n, true, NC_NOERR);
    int64_t claimed = count_records_put(&x);
    self->ds->stats.calls_independent++;
    move_direct(&x, NULL);
    int settled = file_coherence_flush(&x.m->file.coherence);
    for (int64_t i = 0; settled != NC_NOERR && i < n; i++)
        access_set_status(reqs[i],
                          settled); /* the request that caused the error is unknown */
    set_first_error(&x, settled);
    raise_records_put(&x, claimed);
    return end_transfer(&x);
}

int mpio_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct transfer x;
    begin_transfer(&x, self, reqs, n, false,
                   mpio_check_reach((struct mpio *)self, reqs, n));
    self->ds->stats.calls_independent++;
    file_coherence_invalidate(&x.m->file.coherence);
    move_direct(&x, NULL);
    return end_transfer(&x);
}
