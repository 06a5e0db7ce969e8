/* Turns logged writes into requests to the layer below, one batch at a time. A walk
 * selects writes in list order, reads their values from the log into one buffer, and puts
 * them. A write that exceeds the memory limit is split into pieces, and counts as written
 * once all of its pieces are. The draining threads also use burst_batch_make. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "burst.h"

enum { BATCH_BYTES = 32 << 20, BATCH_WRITES = 1 << 16 };

/* Elements [from, from + n) of a write: a box of its slab, all runs, or part of a run. */
struct burst_piece {
    struct burst_write *w;
    int64_t from, n;
};

int64_t burst_memory(const struct burst *b)
{
    int64_t size = b->base.ds->hints.burst_flush_buffer;
    return size > 0 ? size : BATCH_BYTES;
}

void burst_walk_start(struct burst_walk *k, struct burst *b, uint64_t vars)
{
    *k = (struct burst_walk){.b = b,
                             .header = &b->base.ds->header,
                             .writes = b->list.writes,
                             .vars = vars,
                             .epoch = -1,
                             .end = b->list.n,
                             .limit = burst_memory(b)};
}

static bool write_is_wanted(const struct burst_walk *k, const struct burst_write *w)
{
    if (!(k->vars & burst_bit(w->varid))) return false;
    if (w->written && (w->alone || !k->again)) return false;
    if (k->chosen && !w->chosen) return false;
    if (k->contested != NULL && k->contested[w->varid] != k->want_contested) return false;
    return k->epoch < 0 || w->epoch == k->epoch;
}

bool burst_walk_ended(struct burst_walk *k)
{
    while (k->i < k->end && !write_is_wanted(k, k->writes[k->i]))
        k->i++;
    return k->i == k->end;
}

/* ---- cutting ---- */

/* Returns the number of elements, at most `most`, in the next box of the slab, which
 * starts at element `done`. The box consists of whole rows if they fit. */
static int64_t cut_slab(const struct burst_write *w, int ndims, int64_t done,
                        int64_t most)
{
    const int64_t *count = w->slab + ndims;
    int64_t inner = 1; /* elements per step in dimension i */
    for (int i = ndims - 1; i >= 0; i--) {
        int64_t index = done / inner % count[i], rest = count[i] - index;
        if (index > 0 || inner * count[i] > most || i == 0) {
            int64_t steps = most / inner < rest ? most / inner : rest;
            return steps * inner;
        }
        inner *= count[i];
    }
    return 1;
}

/* Returns the run that contains byte *done of a raw write; makes *done relative to it. */
static int64_t find_run(const struct burst_write *w, int64_t *done)
{
    int64_t run = 0;
    while (*done >= w->slab[2 + 2 * run])
        *done -= w->slab[2 + 2 * run++];
    return run;
}

static int64_t cut_write(const struct cdf_header *h, const struct burst_write *w,
                         int64_t done, int64_t most)
{
    if (done == 0 && w->nelems <= most) return w->nelems;
    if (most < 1) most = 1;
    if (!(w->flags & BURST_RAW)) return cut_slab(w, h->vars[w->varid].ndims, done, most);
    int64_t size = conv_size(w->type), at = done * size, run = find_run(w, &at);
    int64_t rest = (w->slab[2 + 2 * run] - at) / size;
    return rest < most ? rest : most;
}

/* Cuts the next piece off the walk. Returns false if the piece does not fit into what is
 * left of the batch, or if the walk has ended. */
static bool next_piece(struct burst_walk *k, int64_t used, int64_t many,
                       struct burst_piece *p)
{
    if (burst_walk_ended(k) || many == BATCH_WRITES) return false;
    struct burst_write *w = k->writes[k->i];
    int64_t size = w->flags & BURST_FILL ? 0 : conv_size(w->type);
    int64_t rest = w->nelems - k->done, space = k->limit - used;
    if (size > 0 && used > 0 && rest * size > space && rest * size <= k->limit)
        return false;
    int64_t most = size == 0 ? INT64_MAX : space / size;
    if (used > 0 && most < 1) return false;
    *p = (struct burst_piece){w, k->done, cut_write(k->header, w, k->done, most)};
    k->done += p->n;
    if (k->done == w->nelems) {
        k->i++;
        k->done = 0;
    }
    return true;
}

static int64_t piece_bytes(const struct burst_piece *p)
{
    if (p->w->flags & BURST_FILL) return 0;
    return p->n * conv_size(p->w->type);
}

int64_t burst_walk_batches(const struct burst_walk *k)
{
    struct burst_walk ahead = *k;
    int64_t batches = 0;
    while (!burst_walk_ended(&ahead)) {
        struct burst_piece p;
        int64_t used = 0;
        for (int64_t many = 0; next_piece(&ahead, used, many, &p); many++)
            used += piece_bytes(&p);
        batches++;
    }
    return batches;
}

/* ---- values ---- */

/* Converts external values in place to the type in which they were put. */
static int make_values_native(void *bytes, int xtype, int type, int64_t n)
{
    unsigned char scratch[4096], *p = bytes;
    int64_t size = conv_size((enum conv_type)type), step = (int64_t)sizeof scratch / size;
    int err = NC_NOERR;
    for (int64_t at = 0; at < n && err == NC_NOERR; at += step) {
        size_t m = (size_t)(n - at < step ? n - at : step);
        err = conv_get(scratch, (enum conv_type)type, p + at * size, xtype, m);
        memcpy(p + at * size, scratch, m * (size_t)size);
    }
    return err;
}

/* Reads n bytes at `at` from the log that contains a write's values. */
static int read_log(const struct burst *b, const struct burst_write *w, int64_t at,
                    void *bytes, int64_t n)
{
    base_require(w->source < b->recover.nsources && !(w->flags & BURST_FILL));
    return w->source < 0 ? burst_log_read(&b->log, at, bytes, n)
                         : burst_reader_read(b->recover.sources[w->source], at, bytes, n);
}

int burst_read_values(const struct burst *b, const struct burst_write *w, int xtype,
                      int64_t from, int64_t n, void *bytes)
{
    int64_t size = conv_size((enum conv_type)w->type);
    base_require(from >= 0 && n > 0 && n <= w->nelems - from);
    int err = read_log(b, w, w->data_off + from * size, bytes, n * size);
    if (err == NC_NOERR && w->external)
        err = make_values_native(bytes, xtype, w->type, n);
    return err;
}

/* ---- making a batch ---- */

static int collect_pieces(struct burst_walk *k, struct burst_batch *t)
{
    struct burst_piece p;
    int64_t capacity = 0;
    while (next_piece(k, t->used, t->n, &p)) {
        int err = base_holds(p.from >= 0 && p.n > 0 && p.n <= p.w->nelems - p.from);
        if (err != NC_NOERR) return p.w->status = err;
        void *grown = base_grow(t->pieces, &capacity, t->n + 1, sizeof *t->pieces);
        /* The walk has moved past this piece, which will be in no batch. */
        if (grown == NULL) return p.w->status = NC_ENOMEM;
        t->pieces = grown;
        t->pieces[t->n++] = p;
        t->used += piece_bytes(&p);
    }
    t->bytes = base_malloc((size_t)t->used);
    t->reqs = base_calloc((size_t)t->n, sizeof(struct access_request *));
    return t->bytes == NULL || t->reqs == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Sets `slab` to the box of a piece, whose length cut_slab has chosen. */
static void fill_slab(const struct burst_piece *p, int ndims, int64_t *slab)
{
    const struct burst_write *w = p->w;
    int64_t inner = 1, left = p->n, at = p->from;
    for (int i = ndims - 1; i >= 0; i--) {
        int64_t count = w->slab[ndims + i], index = at / inner % count;
        int64_t stride = w->strided ? w->slab[2 * ndims + i] : 1;
        slab[i] = w->slab[i] + index * stride;
        slab[ndims + i] = left < count ? left : count;
        if (w->strided) slab[2 * ndims + i] = stride;
        left /= slab[ndims + i];
        inner *= count;
    }
}

/* Makes a request that puts the fill value that was valid at the time of the put. The
 * variable may have a different one by now. */
static int repeat_fill(struct burst_batch *t, const struct burst_piece *p, int xtype,
                       struct access_request *r)
{
    int64_t size = conv_size((enum conv_type)p->w->type);
    r->buf = base_arena_alloc(&t->arena, (size_t)size);
    access_set_mem(r, region_repeat(region_block(0, size), p->n, 0));
    if (r->buf == NULL || access_mem(r) == NULL) return NC_ENOMEM;
    return conv_get(r->buf, (enum conv_type)p->w->type, p->w->fill, xtype, 1);
}

static int slab_request(struct burst_batch *t, const struct burst_piece *p,
                        const struct cdf_var *v, struct access_request **made)
{
    bool fill = p->w->flags & BURST_FILL;
    size_t numbers = (size_t)v->ndims * (p->w->strided ? 3 : 2) + fill;
    struct access_request *r =
        base_arena_alloc(&t->arena, sizeof *r + numbers * sizeof r->slab[0]);
    *made = r;
    if (r == NULL) return NC_ENOMEM;
    *r = (struct access_request){.varid = p->w->varid,
                                 .type = p->w->type,
                                 .strided = p->w->strided,
                                 .mapped = fill};
    fill_slab(p, v->ndims, r->slab + fill);
    base_require(access_nelems(r, v->ndims) == p->n);
    return fill ? repeat_fill(t, p, v->type, r) : NC_NOERR;
}

/* Makes a request for a whole raw write or for a part of one run. */
static int raw_request(struct burst_batch *t, const struct burst_piece *p,
                       struct access_request **made)
{
    const struct burst_write *w = p->w;
    struct access_request *r =
        base_arena_alloc(&t->arena, sizeof *r + ACCESS_RAW_SLAB * sizeof r->slab[0]);
    struct region *region = NULL;
    if (p->n == w->nelems) {
        region = burst_runs(w, 0);
    } else {
        int64_t size = conv_size((enum conv_type)w->type), at = p->from * size;
        int64_t run = find_run(w, &at);
        base_require(run < w->slab[0] && p->n * size <= w->slab[2 + 2 * run] - at);
        region = region_block(w->slab[1 + 2 * run] + at, p->n * size);
    }
    if (r == NULL || region == NULL) {
        region_free(region);
        return NC_ENOMEM;
    }
    *r = (struct access_request){.varid = w->varid, .type = w->type, .raw = true};
    r->slab[0] = (int64_t)(intptr_t)region;
    r->slab[1] = p->n;
    r->slab[2] = 0;
    *made = r;
    return NC_NOERR;
}

/* Values that one call can read: contiguous both in one log and in the batch. */
struct stretch {
    const struct burst_write
        *w; /* one of the writes with values in it; NULL if it is empty */
    int64_t at, bytes;
    unsigned char *to;
    bool failed;
};

static int read_stretch(const struct burst *b, struct stretch *s)
{
    const struct burst_write *w = s->w;
    if (w == NULL) return NC_NOERR;
    s->w = NULL;
    int err = read_log(b, w, s->at, s->to, s->bytes);
    if (err != NC_NOERR) s->failed = true;
    return err;
}

/* Appends a piece's values to the stretch, to be read later, if they are contiguous with
 * it. Otherwise reads the stretch, and starts a new one or reads the values. */
static int read_logged_piece(const struct burst_walk *k, const struct burst_piece *p,
                             unsigned char *to, struct stretch *s)
{
    int64_t at = p->w->data_off + p->from * conv_size((enum conv_type)p->w->type);
    int64_t bytes = piece_bytes(p);
    if (s->w != NULL && s->w->source == p->w->source && s->at + s->bytes == at &&
        s->to + s->bytes == to && !p->w->external) {
        s->bytes += bytes;
        return NC_NOERR;
    }
    int err = read_stretch(k->b, s);
    if (err == NC_NOERR && p->w->external)
        return burst_read_values(k->b, p->w, k->header->vars[p->w->varid].type, p->from,
                                 p->n, to);
    if (err == NC_NOERR) *s = (struct stretch){p->w, at, bytes, to, false};
    return err;
}

static int make_batch_request(const struct burst_walk *k, struct burst_batch *t,
                              int64_t i, int64_t *used, struct stretch *s)
{
    const struct burst_piece *p = &t->pieces[i];
    int err = p->w->flags & BURST_RAW
                  ? raw_request(t, p, &t->reqs[i])
                  : slab_request(t, p, &k->header->vars[p->w->varid], &t->reqs[i]);
    struct access_request *r = t->reqs[i];
    if (err != NC_NOERR || p->w->flags & BURST_FILL) return err;
    base_require(*used + piece_bytes(p) <= t->used);
    r->buf = t->bytes + *used;
    *used += piece_bytes(p);
    return read_logged_piece(k, p, r->buf, s);
}

/* Stores the results of the pieces in their writes, and marks the complete writes. */
static void record_results(struct burst_walk *k, struct burst_batch *t, int err)
{
    for (int64_t i = 0; i < t->n; i++) {
        struct burst_write *w = t->pieces[i].w;
        int status = i >= t->made ? err : t->reqs[i]->status;
        if (status == NC_ERANGE) status = NC_NOERR; /* all values were written */
        if (w->status == NC_NOERR) w->status = status;
        if (t->pieces[i].from + t->pieces[i].n == w->nelems && w->status == NC_NOERR) {
            if (!w->written) k->b->base.ds->stats.burst_drained_bytes += burst_bytes(w);
            w->written = true;
        }
    }
    burst_update_waiting(&k->b->base.ds->stats);
    k->b->commit.dirty = true;
}

void burst_batch_free(struct burst_batch *t)
{
    for (int64_t i = 0; t->reqs != NULL && i < t->n; i++)
        if (t->reqs[i] != NULL)
            region_free((struct region *)(t->reqs[i]->raw ? access_raw_region(t->reqs[i])
                                                          : access_mem(t->reqs[i])));
    base_arena_free(&t->arena);
    base_free(t->pieces);
    base_free(t->reqs);
    base_free(t->bytes);
}

int burst_batch_make(struct burst_walk *k, struct burst_batch *t)
{
    struct stretch s = {0};
    int64_t used = 0;
    int err = collect_pieces(k, t);
    while (err == NC_NOERR && t->made < t->n) {
        err = make_batch_request(k, t, t->made, &used, &s);
        if (err == NC_NOERR) t->made++;
    }
    int last = read_stretch(k->b, &s);
    if (err == NC_NOERR) err = last;
    if (s.failed) t->made = 0; /* it is unknown which requests have got their values */
    return err;
}

/* Ends a batch. `err` is the result of making it, and `put` the result of putting it. */
static int end_batch(struct burst_walk *k, struct burst_batch *t, int err, int put)
{
    if (err == NC_NOERR && put != NC_ERANGE) err = put;
    record_results(k, t, err);
    burst_batch_free(t);
    return err;
}

int burst_walk_put_all(struct burst_walk *k)
{
    struct burst_batch t = {0};
    int err = burst_batch_make(k, &t);
    burst_begin_change(&k->b->file); /* renews the note */
    int put = driver_call(k->b->base.lower, put_all, t.reqs, t.made, NC_NOERR);
    burst_end_change(&k->b->file, false);
    return end_batch(k, &t, err, put);
}

int burst_walk_put(struct burst_walk *k)
{
    struct burst_batch t = {0};
    int err = burst_batch_make(k, &t);
    burst_begin_change(&k->b->file);
    int put = t.made > 0 ? driver_call(k->b->base.lower, put, t.reqs, t.made) : NC_NOERR;
    burst_end_change(&k->b->file, true);
    return end_batch(k, &t, err, put);
}

void burst_mark_unwritten(struct burst *b, struct burst_write *w)
{
    if (w->written) b->base.ds->stats.burst_drained_bytes -= burst_bytes(w);
    w->written = false;
}
