/* Puts. A group of requests is logged with one write of their values, one entry per
 * request, and one commit record. Values are logged in the memory type that corresponds
 * to the variable: directly from the user's buffer if they have that type there,
 * otherwise converted in staging memory. If the log fails, values go to the file, and
 * first to a spill file if other processes' logs may contain older values. */
#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

#include "access_values.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_sum.h"
#include "burst.h"
#include "burst_pool.h"

enum {
    GROUP = 512,           /* maximum number of requests logged with one write */
    GROUP_BYTES = 8 << 20, /* size of the staging memory for values */
    RUNS = 1 << 15         /* maximum number of runs in an entry of a raw request */
};

/* Requests that are logged together. */
struct group {
    struct burst *b;
    struct burst_write *writes[GROUP];
    struct iovec pieces[GROUP];
    uint64_t sums[GROUP];
    int n;
    int64_t bytes; /* total size of their values in bytes */
    unsigned char *staging;
    int64_t staged, capacity; /* bytes of staging memory in use; its size */
    bool spill;               /* store values outside the log, which rejects them */
    int64_t current, ndone; /* index of the current request; number of requests logged */
};

/* ---- making writes ---- */

static struct burst_write *write_of_slab(struct burst *b, const struct access_request *r)
{
    int ndims = b->base.ds->header.vars[r->varid].ndims;
    size_t numbers = (size_t)ndims * (r->strided ? 3 : 2);
    struct burst_write *w = burst_list_new(&b->list, r->varid, numbers);
    if (w == NULL) return NULL;
    memcpy(w->slab, access_start(r), numbers * sizeof r->slab[0]);
    w->strided = r->strided;
    w->nelems = access_nelems(r, ndims);
    return w;
}

/* Makes a write from the next runs of a region, which consist of whole elements. */
static struct burst_write *write_of_runs(struct burst *b, const struct access_request *r,
                                         struct region_cursor *c)
{
    int64_t most = region_runs(access_raw_region(r)), n = 0, bytes = 0;
    if (most > RUNS) most = RUNS;
    struct burst_write *w = burst_list_new(&b->list, r->varid, 1 + 2 * (size_t)most);
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

/* Adds a write's entry to the log, which got `i` entries since the last commit. */
static int add_entry(struct burst *b, struct burst_write *w, uint64_t sum, int i)
{
    struct burst_entry e;
    int64_t(*runs)[RUNS] = NULL;
    if (w->flags & BURST_RAW) {
        base_require(w->slab[0] > 0 && w->slab[0] <= RUNS);
        runs = base_malloc(2 * sizeof *runs);
        if (runs == NULL) return NC_ENOMEM;
    }
    w->seq = b->log.commit.count + i;
    describe_write(b, w, sum, runs, &e);
    int err = base_holds(w->source < 0 && e.itype > 0);
    if (err == NC_NOERR) err = burst_log_add(&b->log, &e);
    w->sum = sum;
    w->sum_at = b->log.sum_at;
    base_free(runs);
    return err;
}

/* Adds the writes to the list, where threads can see them, and commits their entries. */
static int publish_group(struct group *g, struct burst_write **writes, int n,
                         int64_t bytes)
{
    struct burst *b = g->b;
    struct trace_stats *stats = &b->base.ds->stats;
    if (b->drain.pool != NULL) burst_pool_lock(b->drain.pool);
    int err = burst_list_add(&b->list, &b->base.ds->header, writes, n);
    if (b->drain.pool != NULL) burst_pool_unlock(b->drain.pool);
    if (err != NC_NOERR) return err;
    stats->burst_logged_bytes += bytes;
    burst_update_waiting(stats);
    if (g->spill) return NC_NOERR;
    err = burst_log_commit(&b->log, n);
    for (int i = 0; i < n && err != NC_NOERR; i++)
        writes[i]->cancelled = true;
    int64_t used = b->log.extent + b->log.window.at + b->log.window.used;
    if (err == NC_NOERR && used > stats->burst_log_bytes) stats->burst_log_bytes = used;
    return err;
}

/* Reserves space for values, in the log or in the spill file. */
static int reserve_group(struct group *g, int64_t bytes, int64_t *at)
{
    *at = 0;
    if (bytes > 0 && g->spill)
        return burst_log_spill(&g->b->log, g->b->file.path, bytes, at);
    if (bytes > 0) *at = burst_log_reserve(&g->b->log, bytes);
    return NC_NOERR;
}

/* Writes the group to the log: values, entries, and commit record. */
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
    if (err == NC_NOERR) err = base_holds(offset == at + g->bytes);
    if (err == NC_NOERR && g->bytes > 0)
        err = burst_log_write(&b->log, at, g->pieces, g->n);
    for (int i = 0; i < g->n && err == NC_NOERR && !g->spill; i++)
        err = add_entry(b, g->writes[i], g->sums[i], i);
    if (err == NC_NOERR) err = publish_group(g, g->writes, g->n, g->bytes);
    if (err == NC_NOERR) {
        g->n = 0;
        g->bytes = g->staged = 0;
        g->ndone = g->current;
    }
    return err;
}

static void group_add(struct group *g, struct burst_write *w, void *bytes, int64_t length)
{
    g->writes[g->n] = w;
    g->pieces[g->n] = (struct iovec){bytes, (size_t)length};
    g->sums[g->n++] = length > 0 ? base_sum(bytes, (size_t)length, 0) : 0;
    g->bytes += length;
}

/* Reserves staging memory. If there is not enough, writes the group first. */
static int stage(struct group *g, int64_t bytes, unsigned char **at)
{
    int64_t size = bytes < 65536 ? 65536 : bytes < GROUP_BYTES ? GROUP_BYTES : bytes;
    int err = g->staged + bytes > g->capacity ? commit(g) : NC_NOERR;
    if (err == NC_NOERR && bytes > g->capacity) {
        base_free(g->staging);
        g->staging = base_malloc((size_t)size);
        g->capacity = g->staging == NULL ? 0 : size;
        if (g->staging == NULL) return NC_ENOMEM;
    }
    if (err == NC_NOERR) err = base_holds(bytes <= g->capacity - g->staged);
    *at = g->staging + g->staged;
    g->staged += bytes;
    return err;
}

/* Logs a write whose values exceed the staging memory, one part at a time. */
static int put_large(struct group *g, struct burst_write *w, struct access_values *v,
                     int xtype)
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
        access_values_convert(v, xtype, bytes, n);
        XXH3_64bits_update(&state, bytes, (size_t)(n * size));
        struct iovec piece = {bytes, (size_t)(n * size)};
        err = burst_log_write(&b->log, w->data_off + at * size, &piece, 1);
    }
    g->staged = 0;
    if (err == NC_NOERR && !g->spill)
        err = add_entry(b, w, XXH3_64bits_digest(&state), 0);
    if (err == NC_NOERR) err = publish_group(g, &w, 1, w->nelems * size);
    if (err == NC_NOERR && !v->req->raw) g->ndone = g->current + 1;
    return err;
}

/* Adds a write, with the request's next values, to the group. */
static int put_write(struct group *g, struct burst_write *w, struct access_values *v)
{
    const struct access_request *r = v->req;
    const struct cdf_header *h = &g->b->base.ds->header;
    const int xtype = h->vars[w->varid].type;
    unsigned char *bytes;
    w->type = (unsigned char)conv_type_of(xtype);
    w->epoch = g->b->epoch;
    w->alone = g->b->indep;
    int64_t length = w->nelems * conv_size(w->type);
    int err = g->n == GROUP ? commit(g) : NC_NOERR;
    if (err != NC_NOERR) return err;
    if (access_is_fill(r)) {
        w->flags |= BURST_FILL;
        cdf_fill_value(h, w->varid, w->fill);
        group_add(g, w, NULL, 0);
        return NC_NOERR;
    }
    if (access_mem(r) == NULL && conv_type_of(xtype) == (int)r->type) {
        group_add(g, w, access_values_buf(v), length); /* from the user's buffer */
        v->done += w->nelems;
        return NC_NOERR;
    }
    if (length > GROUP_BYTES) return put_large(g, w, v, xtype);
    err = stage(g, length, &bytes);
    if (err != NC_NOERR) return err;
    access_values_convert(v, xtype, bytes, w->nelems);
    group_add(g, w, bytes, length);
    return NC_NOERR;
}

static int put_runs(struct group *g, struct access_values *v)
{
    struct region_cursor *c = region_cursor_new(access_raw_region(v->req));
    int64_t remaining = access_start(v->req)[1];
    int err = c == NULL ? NC_ENOMEM : NC_NOERR;
    while (remaining > 0 && err == NC_NOERR) {
        struct burst_write *w = write_of_runs(g->b, v->req, c);
        if (w == NULL) err = NC_ENOMEM;
        if (w != NULL) err = base_holds(w->nelems > 0 && w->nelems <= remaining);
        if (err != NC_NOERR || w == NULL) break;
        remaining -= w->nelems;
        err = put_write(g, w, v);
    }
    region_cursor_free(c);
    return err;
}

/* Adds a request to the group, which is logged when full. Returns an error only if the
 * log failed; range errors are stored in the request. */
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

/* ---- without a log ---- */

static void fail_requests(struct access_request *const *reqs, int64_t n, int err)
{
    for (int64_t i = 0; i < n; i++)
        reqs[i]->status = (short)err;
}

/* Puts directly to the file. Drains this process's log first, because its older values
 * must not overwrite the new ones later. */
static int put_directly(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    burst_begin_change(&b->file);
    int err = burst_drain_alone(b, 0, INT64_MAX);
    if (err == NC_NOERR) {
        burst_pool_pause(b->drain.pool);
        burst_list_remove(&b->list, BURST_ALL);
        burst_pool_resume(b->drain.pool);
        err = base_holds(b->list.n == 0);
    }
    if (err == NC_NOERR) err = burst_commit_log(b);
    if (err == NC_NOERR) {
        b->commit.dirty = true;
        err = driver_call(b->base.lower, put, reqs, n);
        bool put = err == NC_NOERR || err == NC_ERANGE;
        int written = put ? burst_write_records(b) : NC_NOERR;
        if (written != NC_NOERR) err = written;
    } else {
        fail_requests(reqs, n, err);
    }
    burst_end_change(&b->file, true);
    /* with a netCDF-4 file, netCDF-C may refuse a put by a single process */
    if (err != NC_ERANGE && !b->base.ds->netcdf4) dataset_defer_error(b->base.ds, err);
    return err;
}

/* ---- with and without a log ---- */

/* Logs requests or, if `spill`, stores their values outside the log. Sets *ndone to the
 * number of requests completed. */
static int put_group(struct burst *b, struct access_request *const *reqs, int64_t n,
                     bool spill, int64_t *ndone)
{
    struct group g;
    g.b = b;
    g.spill = spill;
    g.n = 0;
    g.bytes = g.staged = g.capacity = g.ndone = 0;
    g.staging = NULL;
    int err = dataset_is_sound(b->base.ds);
    for (g.current = 0; g.current < n && err == NC_NOERR; g.current++)
        err = put_request(&g, reqs[g.current]);
    if (err == NC_NOERR) err = commit(&g);
    base_free(g.staging);
    *ndone = err == NC_NOERR ? n : g.ndone;
    return err;
}

/* Adds the records of logged puts to this process's number of records immediately. */
static void count_records(struct dataset *ds, struct access_request *const *reqs,
                          int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dataset_raise_records(ds, access_records(&ds->header, reqs[i]));
}

int64_t burst_log_requests(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    struct dataset *ds = b->base.ds;
    int64_t ndone = 0;
    bool bypassed =
        b->indep && (ds->hints.burst_coherent || (ds->netcdf4 && ds->nprocs > 1));
    if (!b->logging.active || bypassed) return 0;
    if (put_group(b, reqs, n, false, &ndone) != NC_NOERR) {
        b->logging.active = false; /* until the log is restarted */
        ds->stats.burst_fallbacks++;
    }
    count_records(ds, reqs, ndone);
    return ndone;
}

/* Drains all spilled and logged values to the file, where other processes can see them
 * and they survive a kill. On error, removes the writes after serial `since`. */
static int drain_spilled(struct burst *b, int64_t since)
{
    int err = burst_drain_alone(b, 0, INT64_MAX);
    for (int64_t i = 0; i < b->list.n && err != NC_NOERR; i++)
        if (b->list.writes[i]->serial > since) b->list.writes[i]->cancelled = true;
    if (err != NC_NOERR) burst_list_remove(&b->list, 0);
    dataset_defer_error(b->base.ds, err);
    return err;
}

/* Handles puts that the log did not accept. If they went only to the file, older values
 * in other processes' logs could overwrite them later. So their values are also spilled
 * to another file, with their epoch, until all processes drain in order. */
static int put_spilled(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int64_t ndone, since = b->list.serial;
    burst_pool_pause(b->drain.pool);
    int err = put_group(b, reqs, n, true, &ndone);
    int drained = burst_together(b) ? NC_NOERR : drain_spilled(b, since);
    burst_pool_resume(b->drain.pool);
    if (drained != NC_NOERR) {
        fail_requests(reqs, n, drained);
        return drained;
    }
    count_records(b->base.ds, reqs, ndone);
    if (err != NC_NOERR) fail_requests(reqs + ndone, n - ndone, err);
    if (burst_together(b)) return err;
    burst_begin_change(&b->file);
    int committed = burst_commit_log(b);
    burst_end_change(&b->file, true);
    return err != NC_NOERR ? err : committed;
}

static int log_or_put(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int64_t logged = burst_log_requests(b, reqs, n);
    if (logged == n) return NC_NOERR;
    /* Puts may go directly to the file unless other processes may log to the same
     * elements and the order of these puts matters. */
    bool ordered = b->base.ds->nprocs > 1 && !b->indep && b->log.meta_fd >= 0;
    bool spill = burst_together(b) || ordered;
    return (spill ? put_spilled : put_directly)(b, reqs + logged, n - logged);
}

/* Agrees on the number of records before any process continues. No-op if no variable has
 * records, except in safe mode. Collective. */
static int agree_on_records_all(struct dataset *ds, int err)
{
    int failed = NC_NOERR;
    if (ds->header.nrecord_vars == 0 && !ds->safe_mode) return err;
    int64_t records = ds->numrecs_seen;
    int shared = dataset_is_local_error(err) ? NC_NOERR : err;
    int worst = dataset_agree_all(ds, shared, &failed, &records, 1);
    ds->header.numrecs = records;
    if (err == NC_NOERR) err = failed;
    return worst != NC_NOERR && ds->safe_mode ? worst : err;
}

/* Drains in the calling thread if there are no draining threads and enough has been
 * logged for large writes. */
static void drain_inline(struct burst *b)
{
    enum { ENOUGH = 16 << 20 };
    const struct dataset *ds = b->base.ds;
    if (ds->hints.burst_flush != HINTS_FLUSH_IMMEDIATE || b->drain.pool != NULL ||
        burst_together(b) ||
        ds->stats.burst_logged_bytes - b->drain.logged_bytes < ENOUGH)
        return;
    b->drain.logged_bytes = ds->stats.burst_logged_bytes;
    (void)burst_drain_alone(b, 0, INT64_MAX);
    (void)burst_commit(b);
}

void burst_add_time(struct burst *b, double since)
{
    b->base.ds->stats.burst_visible_us += (int64_t)((MPI_Wtime() - since) * 1e6);
}

/* Puts this process's requests, regardless of other processes. */
static int put_requests(struct burst *b, struct access_request *const *reqs, int64_t n,
                        int error)
{
    if (n > 0) {
        atomic_store_explicit(&b->logging.putting, true, memory_order_relaxed);
        int err = log_or_put(b, reqs, n);
        atomic_store_explicit(&b->logging.putting, false, memory_order_relaxed);
        if (error == NC_NOERR) error = err;
        if (err == NC_NOERR) drain_inline(b); /* the next attempt reports any error */
    }
    for (int64_t i = 0; i < n && error == NC_NOERR; i++)
        error = reqs[i]->status;
    return error;
}

/* Puts without a log through the layer below, whose own agreements order the puts. */
static int put_below_all(struct burst *b, struct access_request *const *reqs, int64_t n,
                         int error)
{
    burst_begin_change(&b->file);
    b->commit.dirty = true;
    error = driver_call(b->base.lower, put_all, reqs, n, error);
    burst_end_change(&b->file, true);
    return error;
}

int burst_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error)
{
    struct burst *b = (struct burst *)self;
    /* There may be spilled values with romio_no_indep_rw; they must be written first. */
    if (!b->logging.made && !self->ds->hints.no_indep_rw)
        return put_below_all(b, reqs, n, error);
    double since = MPI_Wtime();
    struct trace_span span = trace_begin(self->ds->trace);
    b->epoch++;
    error = put_requests(b, reqs, n, error);
    trace_end(self->ds->trace, TRACE_LOG, span);
    error = agree_on_records_all(self->ds, error);
    b->epoch++; /* later posts belong to a later epoch */
    burst_add_time(b, since);
    return error;
}

int burst_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    double since = MPI_Wtime();
    struct trace_span span = trace_begin(self->ds->trace);
    int err = put_requests(b, reqs, n, NC_NOERR);
    trace_end(self->ds->trace, TRACE_LOG, span);
    burst_add_time(b, since);
    return err;
}
