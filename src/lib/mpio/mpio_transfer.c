/* Puts and gets: requests through tiles, alone or all processes together. */
#include "base_error.h"
#include "base_mem.h"
#include "mpio.h"

enum {
    DIRECT_BYTES = 1 << 20, /* a tile that stays in the cache on its way to the file */
    VIEW_BYTES = 1 << 30,   /* as many as MPI's counts are to be trusted with */
    MAX_PIECES = 1 << 16,
    UNSEEN = 4096, /* bytes that are converted, and requests looked at, sooner than */
    FEW = 16       /* the trace has looked at the clock */
};

/* One transfer: what comes in, how it goes, what came of it. */
struct transfer {
    struct mpio *m;
    struct access_stream stream;
    struct access_tile tile;
    int error;    /* of this process, the first */
    int io_error; /* the last of them that came from the file */
    bool failed;  /* on all processes, and all know */
    bool planned; /* the stream and the tile hold memory */
};

static void keep_error(struct transfer *x, int err)
{
    x->error = base_error_worse(x->error, err);
}

/* Every request that has a part in the tile takes the error. */
static void fail_tile(struct transfer *x, int err)
{
    for (int64_t i = 0; i < x->tile.nsegments; i++)
        access_blame(x->stream.reqs[x->tile.segments[i].request], err);
    keep_error(x, err);
}

/* Ends the stream: the requests in the tile and all that follow take the error. */
static void give_transfer_up(struct transfer *x, int err)
{
    struct access_stream *s = &x->stream;
    int64_t i = x->tile.nsegments > 0 ? x->tile.segments[0].request : s->file_request;
    for (; i < s->n; i++)
        access_blame(s->reqs[i], err);
    keep_error(x, err);
    access_tile_clear(&x->tile);
    s->file_request = s->n;
}

/* Adds to the tile what comes next. What cannot be planned ends the stream. */
static void plan_transfer(struct transfer *x, int64_t max_bytes)
{
    x->planned = true;
    int err = access_stream_plan(&x->stream, &x->tile, max_bytes, MAX_PIECES);
    if (err != NC_NOERR) give_transfer_up(x, err);
}

/* Values on their way through the tile: those out of range are reported; where memory was
 * short the rest would come to wrong places. */
static void convert_tile(struct transfer *x)
{
    struct trace *trace = x->tile.used < UNSEEN ? NULL : x->m->base.ds->trace;
    struct trace_span span = trace_begin(trace);
    int err = x->stream.put ? access_stream_pack(&x->stream, &x->tile)
                            : access_stream_unpack(&x->stream, &x->tile);
    trace_end_at(trace, TRACE_CONVERSION, span, -1, x->tile.used);
    if (err == NC_NOERR || err == NC_ERANGE)
        keep_error(x, err);
    else
        give_transfer_up(x, err);
}

/* The planned tile is ready to be moved. */
static void load_tile(struct transfer *x)
{
    x->m->base.ds->stats.runs += x->tile.npieces;
    int err = access_stream_settle(&x->stream, &x->tile);
    if (err != NC_NOERR) give_transfer_up(x, err); /* still takes part */
    if (x->stream.put) convert_tile(x);
}

/* It has been, with that result of the file, and is left empty. */
static void unload(struct transfer *x, int io)
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
    unload(x, x->stream.put ? mpio_write_tile(x->m, &x->tile)
                            : mpio_read_tile(x->m, &x->tile));
}

static void move_tile_all(struct transfer *x)
{
    load_tile(x);
    unload(x, mpio_view_tile_all(x->m, &x->tile, x->stream.put));
}

/* ---- one run ---- */

/* A single request for one run of the file, the commonest, needs no plan: it has no
 * order and nothing to be gathered but in memory. So does a long run of stripes, which
 * comes next. False, and nothing done, if it is something else. What a single one amounts
 * to may be known. */
static bool move_run(struct transfer *x, const struct access_survey *known)
{
    struct access_stream *s = &x->stream;
    const struct cdf_header *h = &x->m->base.ds->header;
    struct access_survey own;
    if (s->n != 1 && !x->m->file.stripes_shared) return false;
    struct access_request *r = s->reqs[s->file_request];
    if (known == NULL && access_survey(h, r, &own)) known = &own;
    if (known == NULL || known->pieces != 1) return false;
    if (s->n != 1 && !mpio_is_long(x->m, known)) return false;

    int io = NC_NOERR, err = mpio_move_run(x->m, r, known, s->put, &io);
    if (io != NC_NOERR) x->io_error = io;
    keep_error(x, err);
    s->file_request++;
    return true;
}

/* ---- directly ---- */

/* The planned tile and all that follow, without another word to the others. */
static void move_alone(struct transfer *x)
{
    move_tile(x);
    while (!access_stream_ended(&x->stream)) {
        plan_transfer(x, DIRECT_BYTES);
        move_tile(x);
    }
}

/* All of it, which amounts to what is known, if that is not NULL. */
static void move_direct(struct transfer *x, const struct access_survey *known)
{
    struct access_stream *s = &x->stream;
    while (!access_stream_ended(s) && move_run(x, s->n == 1 ? known : NULL))
        continue;
    if (access_stream_ended(s)) return;
    plan_transfer(x, DIRECT_BYTES);
    move_alone(x);
}

/* ---- numrecs ---- */

/* The number of records there are once this process's requests are written, those left
 * out that have failed. */
static int64_t records_held(const struct transfer *x)
{
    const struct dataset *ds = x->m->base.ds;
    const struct access_stream *s = &x->stream;
    int64_t held = ds->held;
    for (int64_t i = 0; i < s->n && ds->header.nrecord_vars > 0; i++) {
        const struct access_request *r = s->reqs[i];
        int64_t records = access_records(&ds->header, r);
        bool good = r->status == NC_NOERR || r->status == NC_ERANGE;
        if (good && records > held) held = records;
    }
    return held;
}

/* Claimed was what a put was to make of them. */
static void hold_records(struct transfer *x, int64_t claimed)
{
    bool good = x->error == NC_NOERR || x->error == NC_ERANGE;
    dataset_hold_records(x->m->base.ds, good ? claimed : records_held(x));
}

/* ---- through views ---- */

/* Where the tile ends in the file. */
static int64_t end_of_tile(const struct access_tile *t)
{
    int64_t high = 0;
    for (int64_t i = 0; i < t->npieces; i++)
        if (t->pieces[i].offset + t->pieces[i].length > high)
            high = t->pieces[i].offset + t->pieces[i].length;
    return high;
}

/* What the processes tell each other before a tile: the maximum of each. */
enum { RECORDS, VIEW, HIGH, MORE, NVALUES };

/* The agreement before a tile, the first of a call or not. */
static void agree_all(struct transfer *x, int64_t *all, bool first)
{
    struct dataset *ds = x->m->base.ds;
    int failed = NC_NOERR;
    all[VIEW] = x->tile.npieces > 0;
    all[HIGH] = end_of_tile(&x->tile);
    all[MORE] = !access_stream_ended(&x->stream);
    dataset_agree_all(ds, x->error, first ? &failed : NULL, all, NVALUES);
    keep_error(x, failed);
    if (first) ds->header.numrecs = all[RECORDS];
}

/* Does the file reach as far as that? What is known is remembered: no file shrinks while
 * it is open. Collective, and the same everywhere. */
static bool reaches_all(struct transfer *x, int64_t high)
{
    struct mpio *m = x->m;
    if (high <= m->known_size) return true;
    int64_t size = 0;
    int err = file_size(&m->file, &size);
    err = dataset_agree_all(m->base.ds, err, NULL, &size, 1);
    keep_error(x, err);
    if (err != NC_NOERR) return true; /* to set a size without knowing it may cut it */
    m->known_size = size;
    return high <= m->known_size;
}

/* Does the tile go through a view? A view must stay within the file: ROMIO reads what
 * lies between the runs it writes, and behind the file's end that is whatever was in its
 * buffer. A put makes the file longer first. So does a get where independent I/O is ruled
 * out and the file may be written; else it goes direct. */
static bool choose_view_all(struct transfer *x, const int64_t *all)
{
    struct mpio *m = x->m;
    if (!all[VIEW] && !m->file.no_indep) return false;
    if (reaches_all(x, all[HIGH])) return true;
    if (!x->stream.put && !(m->file.no_indep && m->base.ds->writable)) {
        m->base.ds->stats.view_fallbacks++;
        return false;
    }
    /* The last byte is written as it was: nobody is to put a value there meanwhile. */
    keep_error(x, mpio_extend_all(&m->file, all[HIGH]));
    keep_error(x, dataset_agree_all(m->base.ds, NC_NOERR, NULL, NULL, 0));
    m->known_size = all[HIGH];
    return true;
}

/* Tiles of a collective transfer, each with an agreement. If nobody has anything left, or
 * where no view may be had, the rest goes direct. */
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

/* ---- direct, or with the others ---- */

/* A process's requests by how they go: together with those of others, or directly. */
struct choice {
    struct access_survey together, direct;
    struct access_request **parted; /* if there are both: first those that go together */
    int64_t ntogether, ndirect;
    bool runs; /* those that go directly are long runs, which could go together */
};

/* Is it better for these short pieces that they go with those of others? Where they are
 * many, and not so far apart that blocks of the file would be nearly empty: of more
 * processes than four each looks after so much less of the blocks. */
static bool wants_company(const struct mpio *m, const struct access_survey *s)
{
    enum { MANY = 32, APART = 16384 };
    int64_t nprocs = m->base.ds->nprocs, apart = APART;
    if (nprocs > 4) apart = (int64_t)APART / 4 * nprocs;
    if (s->bytes == 0 || !s->ascending) return false;
    if (m->file.stripes_shared) return true;
    return s->pieces >= MANY && (s->high - s->low) / s->pieces < apart;
}

/* Puts those requests first that are short, if there is memory for another list. */
static bool part(struct transfer *x, struct choice *c)
{
    const struct access_stream *all = &x->stream;
    const struct cdf_header *h = &x->m->base.ds->header;
    int64_t direct = c->ntogether, together = 0;
    c->parted = base_malloc((size_t)(c->ntogether + c->ndirect) * sizeof(void *));
    if (c->parted == NULL) return false;
    for (int64_t i = 0; i < all->n; i++) {
        struct access_request *r = all->reqs[i];
        struct access_survey s;
        if (!access_survey(h, r, &s)) continue;
        c->parted[mpio_is_long(x->m, &s) ? direct++ : together++] = r;
    }
    return true;
}

/* All go one way: together, or not. */
static inline void make_one_way(struct transfer *x, struct choice *c, bool together)
{
    struct access_survey all = c->together;
    access_survey_add(&all, &c->direct);
    c->together = together ? all : access_survey_none();
    c->direct = together ? access_survey_none() : all;
    c->ntogether = together ? x->stream.n : 0;
    c->ndirect = together ? 0 : x->stream.n;
}

/* How each request goes. Of puts that may overlap the later one must hold, so that they
 * go the same way. */
static void choose_way(struct transfer *x, struct choice *c)
{
    const struct access_stream *all = &x->stream;
    const struct cdf_header *h = &x->m->base.ds->header;
    int64_t asked = x->m->base.ds->hints.transfer;
    *c =
        (struct choice){.together = access_survey_none(), .direct = access_survey_none()};
    if (access_stream_ended(all)) return;
    bool upwards = true; /* each request is behind the one before */
    for (int64_t i = 0, end = 0; i < all->n; i++) {
        struct access_survey s;
        if (!access_survey(h, all->reqs[i], &s)) continue;
        bool is = mpio_is_long(x->m, &s);
        access_survey_add(is ? &c->direct : &c->together, &s);
        ++*(is ? &c->ndirect : &c->ntogether);
        upwards &= s.low >= end;
        end = s.high;
    }
    bool ascending = c->together.ascending && c->direct.ascending;
    bool apart =
        upwards || c->together.high <= c->direct.low || c->direct.high <= c->together.low;
    bool together = ascending, parted = false;
    if (asked != BASE_TRANSFER_AUTO)
        together = asked == BASE_TRANSFER_NODE && ascending;
    else if (!wants_company(x->m, &c->together))
        together = false;
    else
        parted = c->ndirect > 0 && (apart || !all->put) && part(x, c);
    if (!parted) make_one_way(x, c, together);
    c->runs = c->ndirect > 0 && ascending && asked == BASE_TRANSFER_AUTO &&
              x->m->file.stripes_shared;
}

/* Long runs go together after all if several processes move the same bytes, which then
 * are moved once, or some move much more than others, whose nodes' links then help. */
static bool crowded(const struct transfer *x, int64_t low, int64_t high, int64_t longest)
{
    return longest > 0 && longest / 2 > (high - low) / x->m->base.ds->nprocs;
}

static void bring_together(struct transfer *x, struct choice *c)
{
    if (!c->runs) return;
    base_free(c->parted);
    c->parted = NULL;
    make_one_way(x, c, true);
}

/* The requests through blocks of the file, all processes together. */
static void move_together_all(struct transfer *x, const struct choice *c,
                              const struct twophase_domains *d)
{
    struct mpio *m = x->m;
    const struct access_survey *mine = &c->together;
    struct access_request *const *reqs = c->parted != NULL ? c->parted : x->stream.reqs;
    struct access_walk walk = {.header = &m->base.ds->header,
                               .put = x->stream.put,
                               .log2_block = 63 - __builtin_clzll((uint64_t)d->block)};
    int io, err = access_walk_begin(&walk, reqs, c->ntogether, mine->low, mine->high);
    struct access_survey none = access_survey_none();
    struct trace_span span = trace_begin(m->base.ds->trace);
    int moved = twophase_all(&m->together, &walk, err == NC_NOERR ? mine : &none, d, &io);
    trace_end_at(m->base.ds->trace, TRACE_EXCHANGE, span, -1, mine->bytes);
    if (err == NC_NOERR) err = moved;
    if (err == NC_NOERR || err == NC_ERANGE) err = io != NC_NOERR ? io : err;
    x->failed = io != NC_NOERR;
    access_walk_end(&walk);

    m->base.ds->stats.runs += mine->pieces;
    m->base.ds->stats.copied_bytes += mine->bytes;
    for (int64_t i = 0; err != NC_NOERR && err != NC_ERANGE && i < c->ntogether; i++)
        access_blame(reqs[i], err);
    keep_error(x, err); /* all have been told of io */
}

/* The requests that go directly: after what goes together is in the file, where holes
 * between values may be written as they were read before. */
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

/* One agreement says how. */
static void move_by_choice_all(struct transfer *x, int64_t numrecs)
{
    enum { BEFORE = 1, BEHIND, COARSE, LONG_BEFORE, LONG_BEHIND, LONGEST, NCHOICE };
    struct dataset *ds = x->m->base.ds;
    struct choice c;
    int failed = NC_NOERR;
    struct trace *trace = x->stream.n < FEW ? NULL : ds->trace;
    struct trace_span span = trace_begin(trace);
    choose_way(x, &c);
    trace_end(trace, TRACE_SURVEY, span);
    struct access_survey runs = c.runs ? c.direct : access_survey_none();
    int64_t all[NCHOICE] = {numrecs,           -c.together.low, c.together.high,
                            -c.together.shift, -runs.low,       runs.high,
                            runs.bytes};
    if (-runs.shift > all[COARSE]) all[COARSE] = -runs.shift;
    dataset_agree_all(ds, x->error, &failed, all, NCHOICE);
    keep_error(x, failed);
    ds->header.numrecs = all[RECORDS];
    mpio_share_file_all(x->m);

    int64_t low = -all[BEFORE], high = all[BEHIND];
    if (crowded(x, -all[LONG_BEFORE], all[LONG_BEHIND], all[LONGEST])) {
        if (low > -all[LONG_BEFORE]) low = -all[LONG_BEFORE];
        if (high < all[LONG_BEHIND]) high = all[LONG_BEHIND];
        bring_together(x, &c);
    }
    if (low < high &&
        twophase_window_ready_all(&x->m->together.window, ds, x->m->together.unit)) {
        struct twophase_domains d;
        twophase_domains_make(&d, &x->m->together, low, high, (int)-all[COARSE],
                              x->stream.put);
        ++*(x->m->together.window.nodes > 1 ? &ds->stats.calls_across
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

/* ---- both ---- */

/* After a put. Who failed does not know whether others have put as many records, and goes
 * by those before: all know with the next agreement. Where process 0 writes their number
 * together with the others, these must know now. */
static void count_records_all(struct transfer *x, int64_t claimed, int64_t before)
{
    struct mpio *m = x->m;
    struct dataset *ds = m->base.ds;
    int64_t agreed = ds->header.numrecs;
    hold_records(x, claimed);
    if (m->file.no_indep && agreed != m->numrecs_in_file) {
        agreed = ds->held;
        keep_error(x, dataset_agree_all(ds, NC_NOERR, NULL, &agreed, 1));
    } else if (!m->file.no_indep &&
               (x->failed || (agreed == claimed && ds->held < claimed))) {
        agreed = before > ds->held ? before : ds->held;
    }
    ds->header.numrecs = agreed;
}

/* Process 0, and where it may not do so alone, all. */
static void write_numrecs_all(struct transfer *x)
{
    int err = mpio_write_numrecs_all(x->m);
    keep_error(x, err);
    if (err != NC_NOERR) x->io_error = err;
}

static void move_all(struct transfer *x)
{
    struct dataset *ds = x->m->base.ds;
    int64_t before = ds->header.numrecs, held = ds->held;
    int64_t claimed = x->stream.put ? records_held(x) : held;
    if (x->m->file.no_indep || ds->hints.transfer == BASE_TRANSFER_VIEW)
        move_through_views_all(x, claimed);
    else
        move_by_choice_all(x, claimed);
    if (x->stream.put) {
        count_records_all(x, claimed, before);
        write_numrecs_all(x);
    }
    /* The others learn of it from the next collective call, in safe mode from this. */
    dataset_owe(ds, x->io_error);
    if (!ds->safe_mode) return;
    held = ds->held;
    int told = dataset_is_own(x->error) ? NC_NOERR : x->error;
    int failed, worst = dataset_agree_all(ds, told, &failed, &held, 1);
    if (failed != NC_NOERR) keep_error(x, failed);
    if (worst != NC_NOERR) x->error = worst;
    ds->header.numrecs = held;
    if (x->stream.put) write_numrecs_all(x);
}

static void begin_transfer(struct transfer *x, struct driver *self,
                           struct access_request *const *reqs, int64_t n, bool put,
                           int error)
{
    struct mpio *m = (struct mpio *)self;
    if (m->adrift && error == NC_NOERR) error = mpio_tell_pending(m, NC_EFILE);
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
    begin_transfer(&x, self, reqs, n, false, error);
    move_all(&x);
    return end_transfer(&x);
}

int mpio_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct transfer x;
    begin_transfer(&x, self, reqs, n, true, NC_NOERR);
    int64_t claimed = records_held(&x);
    self->ds->stats.calls_independent++;
    move_direct(&x, NULL);
    int settled = file_late_settle(&x.m->file.late);
    for (int64_t i = 0; settled != NC_NOERR && i < n; i++)
        access_blame(reqs[i], settled); /* which of them got there is not known */
    keep_error(&x, settled);
    hold_records(&x, claimed);
    return end_transfer(&x);
}

int mpio_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct transfer x;
    begin_transfer(&x, self, reqs, n, false, NC_NOERR);
    self->ds->stats.calls_independent++;
    file_late_forget(&x.m->file.late);
    move_direct(&x, NULL);
    return end_transfer(&x);
}
