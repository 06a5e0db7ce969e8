/* Puts: values to the data log with one write, entries to the metadata log, and that is
 * all. Values are logged as the variable's own type in memory; those of that type go out
 * of the user's buffer as they are. */
#include <string.h>

#include "access_values.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_sum.h"
#include "burst.h"
#include "burst_sum.h"

enum {
    GROUP = 512,           /* requests that go to the log with one write */
    GROUP_BYTES = 8 << 20, /* of values that have to be brought into form first */
    RUNS = 1 << 15         /* of one raw entry */
};

/* Requests on their way to the log together. */
struct group {
    struct burst *b;
    struct burst_write *writes[GROUP];
    struct iovec pieces[GROUP];
    uint64_t sums[GROUP];
    int n;
    int64_t bytes; /* of values */
    unsigned char *staging;
    int64_t staged, room;
    bool keep;                /* beside the log, which does not take them */
    int64_t current, through; /* the request at hand; those before it are logged */
};

/* ---- values ---- */

static int type_of_var(const struct burst *b, int varid)
{
    return b->base.ds->header.vars[varid].type;
}

/* Nothing to be done with the values: they can be written from where they are. */
static bool lies_in_place(const struct burst *b, const struct access_request *r)
{
    return access_mem(r) == NULL &&
           conv_type_of(type_of_var(b, r->varid)) == (int)r->type;
}

/* ---- the slab ---- */

static struct burst_write *write_of_slab(struct burst *b, const struct access_request *r)
{
    int ndims = b->base.ds->header.vars[r->varid].ndims;
    size_t numbers = (size_t)ndims * (r->strided ? 3 : 2);
    struct burst_write *w = burst_new_write(b, r->varid, numbers);
    if (w == NULL) return NULL;
    memcpy(w->slab, access_start(r), numbers * sizeof r->slab[0]);
    w->strided = r->strided;
    w->nelems = access_nelems(r, ndims);
    return w;
}

/* The next runs of a region, of whole elements. */
static struct burst_write *write_of_runs(struct burst *b, const struct access_request *r,
                                         struct region_cursor *c)
{
    int64_t most = region_runs(access_raw_region(r)), n = 0, bytes = 0;
    if (most > RUNS) most = RUNS;
    struct burst_write *w = burst_new_write(b, r->varid, 1 + 2 * (size_t)most);
    struct region_strip s;
    if (w == NULL) return NULL;
    while (n < most && region_next(c, INT64_MAX, most - n, &s))
        for (int64_t i = 0; i < s.count; i++, n++) {
            w->slab[1 + 2 * n] = s.offset + i * s.stride;
            w->slab[2 + 2 * n] = s.length;
            bytes += s.length;
        }
    w->slab[0] = n;
    w->flags = BURST_RAW;
    w->nelems = bytes / cdf_type_size(b->base.ds->header.vars[r->varid].type);
    return w;
}

/* ---- entries ---- */

static void describe_write(const struct burst *b, const struct burst_write *w,
                           uint64_t sum, int64_t (*runs)[RUNS], struct burst_entry *e)
{
    const struct cdf_header *h = &b->base.ds->header;
    int ndims = h->vars[w->varid].ndims;
    const int64_t *slab = w->slab;
    *e = (struct burst_entry){.kind = w->strided ? BURST_VARS : BURST_VARA,
                              .itype = burst_itype(w->type),
                              .varid = w->varid,
                              .ndims = ndims,
                              .data_off = w->data_off,
                              .nreqs = 1,
                              .start = slab,
                              .count = slab + ndims,
                              .stride = w->strided ? slab + (ptrdiff_t)2 * ndims : NULL,
                              .seq = w->seq,
                              .epoch = w->epoch,
                              .rank = b->base.ds->rank,
                              .flags = w->flags,
                              .data_sum = sum};
    if (!(w->flags & BURST_FILL)) e->data_len = w->nelems * conv_size(w->type);
    if (w->flags & BURST_RAW) {
        for (int64_t i = 0; i < slab[0]; i++) {
            runs[0][i] = slab[1 + 2 * i];
            runs[1][i] = slab[2 + 2 * i];
        }
        e->kind = (int)slab[0];
        e->ndims = 1;
        e->nreqs = slab[0];
        e->start = runs[0];
        e->count = runs[1];
    }
    e->size = burst_entry_size(e->ndims * e->nreqs * 2 + (e->stride ? e->ndims : 0));
}

/* behind: entries that were added since the last commit. */
static int add_entry(struct burst *b, struct burst_write *w, uint64_t sum, int behind)
{
    struct burst_entry e;
    int64_t(*runs)[RUNS] = NULL;
    if (w->flags & BURST_RAW) {
        runs = base_malloc(2 * sizeof *runs);
        if (runs == NULL) return NC_ENOMEM;
    }
    w->seq = b->log.commit.count + behind;
    describe_write(b, w, sum, runs, &e);
    int err = burst_log_add(&b->log, &e);
    w->sum_at = b->log.sum_at;
    base_free(runs);
    return err;
}

/* Entries that are written count, and the threads see them. */
static int publish_group(struct group *g, struct burst_write **writes, int n,
                         int64_t bytes)
{
    struct burst *b = g->b;
    struct trace_stats *stats = &b->base.ds->stats;
    int err = burst_add_writes(b, writes, n, bytes);
    if (err != NC_NOERR || g->keep) return err;
    err = burst_log_commit(&b->log, n);
    for (int i = 0; i < n && err != NC_NOERR; i++)
        writes[i]->cancelled = true;
    if (err != NC_NOERR) return err;
    int64_t taken = b->log.extent + b->log.window_at + b->log.window_used;
    if (taken > stats->burst_log_bytes) stats->burst_log_bytes = taken;
    return NC_NOERR;
}

/* Room for values. */
static int reserve_group(struct group *g, int64_t bytes, int64_t *at)
{
    *at = 0;
    if (bytes > 0 && g->keep) return burst_log_keep(&g->b->log, g->b->path, bytes, at);
    if (bytes > 0) *at = burst_log_reserve(&g->b->log, bytes);
    return NC_NOERR;
}

/* Writes what the group has: values, entries, and that they count. */
static int commit(struct group *g)
{
    struct burst *b = g->b;
    if (g->n == 0) return NC_NOERR;
    int64_t at, offset;
    int err = reserve_group(g, g->bytes, &at);
    offset = at;
    for (int i = 0; i < g->n; i++) {
        g->writes[i]->data_off = offset;
        offset += (int64_t)g->pieces[i].iov_len;
    }
    if (err == NC_NOERR && g->bytes > 0)
        err = burst_log_write(&b->log, at, g->pieces, g->n);
    for (int i = 0; i < g->n && err == NC_NOERR && !g->keep; i++)
        err = add_entry(b, g->writes[i], g->sums[i], i);
    if (err == NC_NOERR) err = publish_group(g, g->writes, g->n, g->bytes);
    if (err == NC_NOERR) {
        g->n = 0;
        g->bytes = g->staged = 0;
        g->through = g->current;
    }
    return err;
}

static void add_write(struct group *g, struct burst_write *w, void *bytes, int64_t length)
{
    g->writes[g->n] = w;
    g->pieces[g->n] = (struct iovec){bytes, (size_t)length};
    g->sums[g->n++] = length > 0 ? base_sum(bytes, (size_t)length, 0) : 0;
    g->bytes += length;
}

/* Room for values that have to be brought into form; what was staged before is written
 * if it is in the way. */
static int stage(struct group *g, int64_t bytes, unsigned char **at)
{
    int64_t size = bytes < 65536 ? 65536 : bytes < GROUP_BYTES ? GROUP_BYTES : bytes;
    int err = g->staged + bytes > g->room ? commit(g) : NC_NOERR;
    if (err == NC_NOERR && bytes > g->room) {
        base_free(g->staging);
        g->room = 0;
        g->staging = base_malloc((size_t)size);
        if (g->staging == NULL) return NC_ENOMEM;
        g->room = size;
    }
    *at = g->staging + g->staged;
    g->staged += bytes;
    return err;
}

/* An entry whose values do not fit the staging memory: part after part. */
static int put_large(struct group *g, struct burst_write *w, struct access_values *v)
{
    struct burst *b = g->b;
    int64_t size = conv_size(w->type), step = GROUP_BYTES / size;
    unsigned char *bytes;
    XXH3_state_t state;
    int err = commit(g);
    if (err == NC_NOERR) err = stage(g, GROUP_BYTES, &bytes);
    if (err != NC_NOERR) return err;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    if (err == NC_NOERR) err = reserve_group(g, w->nelems * size, &w->data_off);
    for (int64_t at = 0; at < w->nelems && err == NC_NOERR; at += step) {
        int64_t n = w->nelems - at < step ? w->nelems - at : step;
        access_values_take(v, type_of_var(b, w->varid), bytes, n);
        XXH3_64bits_update(&state, bytes, (size_t)(n * size));
        struct iovec piece = {bytes, (size_t)(n * size)};
        err = burst_log_write(&b->log, w->data_off + at * size, &piece, 1);
    }
    g->staged = 0;
    if (err == NC_NOERR && !g->keep) err = add_entry(b, w, XXH3_64bits_digest(&state), 0);
    if (err == NC_NOERR) err = publish_group(g, &w, 1, w->nelems * size);
    if (err == NC_NOERR && !v->req->raw) g->through = g->current + 1;
    return err;
}

/* One write of a request, whose values come next. */
static int put_write(struct group *g, struct burst_write *w, struct access_values *v)
{
    const struct access_request *r = v->req;
    unsigned char *bytes;
    w->type = (unsigned char)conv_type_of(type_of_var(g->b, w->varid));
    int64_t length = w->nelems * conv_size(w->type);
    int err = g->n == GROUP ? commit(g) : NC_NOERR;
    if (err != NC_NOERR) return err;
    if (access_is_fill(r)) {
        w->flags |= BURST_FILL;
        cdf_fill_value(&g->b->base.ds->header, w->varid, w->fill);
        add_write(g, w, NULL, 0);
        return NC_NOERR;
    }
    if (lies_in_place(g->b, r)) {
        add_write(g, w, access_values_buf(v), length);
        v->done += w->nelems;
        return NC_NOERR;
    }
    if (length > GROUP_BYTES) return put_large(g, w, v);
    err = stage(g, length, &bytes);
    if (err != NC_NOERR) return err;
    access_values_take(v, type_of_var(g->b, w->varid), bytes, w->nelems);
    add_write(g, w, bytes, length);
    return NC_NOERR;
}

static int put_runs(struct group *g, struct access_values *v)
{
    struct region_cursor *c = region_cursor_new(access_raw_region(v->req));
    int64_t left = access_start(v->req)[1];
    int err = c == NULL ? NC_ENOMEM : NC_NOERR;
    while (left > 0 && err == NC_NOERR) {
        struct burst_write *w = write_of_runs(g->b, v->req, c);
        if (w == NULL)
            err = NC_ENOMEM;
        else
            left -= w->nelems;
        if (w != NULL) err = put_write(g, w, v);
    }
    region_cursor_free(c);
    return err;
}

/* A request to the group, and on to the log when that is full. What does not fit the
 * variable is the request's own matter; a result means that the log failed. */
static int put_request(struct group *g, struct access_request *r)
{
    struct access_values v;
    int err = access_values_begin(&v, &g->b->base.ds->header, r, true);
    if (err != NC_NOERR) return err;
    if (r->raw) {
        err = put_runs(g, &v);
    } else {
        struct burst_write *w = write_of_slab(g->b, r);
        err = w == NULL ? NC_ENOMEM : put_write(g, w, &v);
    }
    access_values_end(&v);
    return err;
}

/* ---- numrecs ---- */

/* A put that is logged makes the dataset longer at once, for this process. */
static void count_put_records(struct dataset *ds, const struct access_request *r)
{
    dataset_hold_records(ds, access_records(&ds->header, r));
}

/* ---- without a log ---- */

static void fail_requests(struct access_request *const *reqs, int64_t n, int err)
{
    for (int64_t i = 0; i < n; i++)
        reqs[i]->status = (short)err;
}

/* To the file, behind what this process has logged: nothing of that may come later. */
static int put_behind(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int err = burst_drain_alone(b, 0, INT64_MAX);
    if (err == NC_NOERR) {
        burst_pool_pause(b->pool);
        burst_forget(b, BURST_ALL);
        burst_pool_go_on(b->pool);
        err = burst_retire_log(b);
    }
    if (err != NC_NOERR) {
        fail_requests(reqs, n, err);
        return err;
    }
    b->file_dirty = true;
    err = driver_call(b->base.lower, put, reqs, n);
    int told = err == NC_NOERR || err == NC_ERANGE ? burst_tell_records(b) : NC_NOERR;
    return told != NC_NOERR ? told : err;
}

static int put_directly(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    burst_change(b);
    int err = put_behind(b, reqs, n);
    burst_changed(b, true);
    /* What a netCDF-4 file refuses to one process is its own matter. */
    if (err != NC_ERANGE && !b->base.ds->netcdf4) dataset_owe(b->base.ds, err);
    return err;
}

/* ---- all of it ---- */

/* Logs requests, or keeps their values. *through of them are. */
static int put_group(struct burst *b, struct access_request *const *reqs, int64_t n,
                     bool keep, int64_t *through)
{
    struct group g;
    g.b = b;
    g.keep = keep;
    g.n = 0;
    g.bytes = g.staged = g.room = g.through = 0;
    g.staging = NULL;
    int err = NC_NOERR;
    for (g.current = 0; g.current < n && err == NC_NOERR; g.current++)
        err = put_request(&g, reqs[g.current]);
    if (err == NC_NOERR) err = commit(&g);
    base_free(g.staging);
    *through = err == NC_NOERR ? n : g.through;
    return err;
}

static bool goes_straight(const struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    return b->indep && (ds->hints.burst_coherent || (ds->netcdf4 && ds->nprocs > 1));
}

int64_t burst_log_requests(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int64_t through = 0;
    if (!b->logging || goes_straight(b)) return 0;
    if (put_group(b, reqs, n, false, &through) != NC_NOERR) {
        b->logging = false; /* until the log starts anew */
        b->base.ds->stats.burst_fallbacks++;
    }
    for (int64_t i = 0; i < through; i++)
        count_put_records(b->base.ds, reqs[i]);
    return through;
}

/* What was kept since then is in the file, for the others to see and should this process
 * be killed; or, if it cannot be brought there, forgotten. */
static int settle_kept(struct burst *b, int64_t since)
{
    int err = burst_drain_alone(b, 0, INT64_MAX);
    for (int64_t i = 0; i < b->nwrites && err != NC_NOERR; i++)
        if (b->writes[i]->serial > since) b->writes[i]->cancelled = true;
    if (err != NC_NOERR) burst_forget(b, 0);
    dataset_owe(b->base.ds, err);
    return err;
}

/* The log did not take it. It may go to the file, but what others have logged may be
 * older and come there later: so its values are kept as well, with their epoch, until all
 * drain together and in order. */
static int put_and_keep(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    struct dataset *ds = b->base.ds;
    int64_t kept, since = b->serial;
    burst_pool_pause(b->pool);
    int err = put_group(b, reqs, n, true, &kept);
    int settled = burst_together(b) ? NC_NOERR : settle_kept(b, since);
    burst_pool_go_on(b->pool);
    if (settled != NC_NOERR) {
        fail_requests(reqs, n, settled);
        return settled;
    }
    for (int64_t i = 0; i < kept; i++)
        count_put_records(ds, reqs[i]);
    if (err != NC_NOERR) fail_requests(reqs + kept, n - kept, err);
    if (burst_together(b)) return err;
    burst_change(b);
    int told = burst_retire_log(b);
    burst_changed(b, true);
    return err != NC_NOERR ? err : told;
}

/* Whose values come to one place is decided among several processes that log: alone, or
 * where nothing orders them, the file may have them at once. */
static bool has_company(const struct burst *b)
{
    return b->base.ds->nprocs > 1 && !b->indep && b->log.meta_fd >= 0;
}

static int log_or_put(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int64_t logged = burst_log_requests(b, reqs, n);
    if (logged == n) return NC_NOERR;
    bool keep = burst_together(b) || has_company(b);
    return (keep ? put_and_keep : put_directly)(b, reqs + logged, n - logged);
}

/* Collective: the number of records is everywhere the same before anyone goes on. Where
 * no variable has records, there is nothing to be said. */
static int tell_all(struct dataset *ds, int err)
{
    int failed = NC_NOERR;
    if (ds->header.nrecord_vars == 0 && !ds->safe_mode) return err;
    int64_t records = ds->held;
    int told = dataset_is_own(err) ? NC_NOERR : err;
    int worst = dataset_agree_all(ds, told, &failed, &records, 1);
    ds->header.numrecs = records;
    if (err == NC_NOERR) err = failed;
    return worst != NC_NOERR && ds->safe_mode ? worst : err;
}

/* Where no thread can drain, the caller does, once there is enough for large writes. */
static void drain_some(struct burst *b)
{
    enum { ENOUGH = 16 << 20 };
    const struct dataset *ds = b->base.ds;
    if (ds->hints.burst_flush != BASE_FLUSH_IMMEDIATE || b->pool != NULL ||
        burst_together(b) || ds->stats.burst_logged_bytes - b->drained_at < ENOUGH)
        return;
    b->drained_at = ds->stats.burst_logged_bytes;
    (void)burst_drain_alone(b, 0, INT64_MAX);
    (void)burst_retire(b);
}

/* This process's part, whatever others put. */
static int put_requests(struct burst *b, struct access_request *const *reqs, int64_t n,
                        int error)
{
    if (n > 0) {
        atomic_store_explicit(&b->putting, true, memory_order_relaxed);
        int err = log_or_put(b, reqs, n);
        atomic_store_explicit(&b->putting, false, memory_order_relaxed);
        if (error == NC_NOERR) error = err;
        if (err == NC_NOERR) drain_some(b); /* what fails is tried again, and told then */
    }
    for (int64_t i = 0; i < n && error == NC_NOERR; i++)
        error = reqs[i]->status;
    return error;
}

/* No process has a log: the calls keep their order as they do without this layer, by the
 * agreements of the one below. (Where nobody may write alone, what came before may still
 * be kept here, and this has to come behind it.) */
static bool passes_on(const struct burst *b)
{
    return !b->made && !b->base.ds->hints.no_indep_rw;
}

static int put_below_all(struct burst *b, struct access_request *const *reqs, int64_t n,
                         int error)
{
    burst_change(b);
    b->file_dirty = true;
    error = driver_call(b->base.lower, put_all, reqs, n, error);
    burst_changed(b, true);
    return error;
}

int burst_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error)
{
    struct burst *b = (struct burst *)self;
    if (passes_on(b)) return put_below_all(b, reqs, n, error);
    double since = MPI_Wtime();
    struct trace_span span = trace_begin(self->ds->trace);
    b->epoch++;
    error = put_requests(b, reqs, n, error);
    trace_end(self->ds->trace, TRACE_LOG, span);
    error = tell_all(self->ds, error);
    b->epoch++; /* what is posted from here on comes later */
    burst_note_time(b, since);
    return error;
}

int burst_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    double since = MPI_Wtime();
    struct trace_span span = trace_begin(self->ds->trace);
    int err = put_requests(b, reqs, n, NC_NOERR);
    trace_end(self->ds->trace, TRACE_LOG, span);
    burst_note_time(b, since);
    return err;
}
