/* What was logged, laid over what a get has read. Both are runs of bytes of the file in
 * ascending order, walked side by side; where they meet, the log's values go to the
 * user's buffer. */
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "burst.h"

enum { STEP = 2048 }; /* elements at a time */

/* Runs of a region, one after the other, and how many bytes came before. */
struct runs {
    struct region_cursor *cursor;
    struct region_strip strip;
    int64_t shift;
    int64_t offset, length, pos; /* the run at hand */
    bool ended;
};

static void next_overlay_run(struct runs *r)
{
    r->pos += r->length;
    if (r->strip.count == 0 && !region_next(r->cursor, INT64_MAX, INT64_MAX, &r->strip)) {
        r->ended = true;
        return;
    }
    r->offset = r->shift + r->strip.offset;
    r->length = r->strip.length;
    r->strip.offset += r->strip.stride;
    r->strip.count--;
}

static int start_runs(struct runs *r, const struct region *region, int64_t shift)
{
    *r = (struct runs){.shift = shift};
    r->cursor = region_cursor_new(region);
    if (r->cursor == NULL) return NC_ENOMEM;
    next_overlay_run(r);
    return NC_NOERR;
}

/* The user's buffer, filled at ascending places. */
struct target {
    const struct access_request *r;
    struct region_cursor *cursor;
    int64_t at; /* the element under the cursor */
    int xtype;
    int64_t xsize;
};

static int start_target(struct target *t, const struct burst *b,
                        const struct access_request *r)
{
    const struct cdf_header *h = &b->base.ds->header;
    int type = h->vars[r->varid].type;
    *t = (struct target){.r = r,
                         .xtype = conv_effective_type(h->format, type, r->type),
                         .xsize = cdf_type_size(type)};
    if (access_mem(r) == NULL) return NC_NOERR;
    t->cursor = region_cursor_new(access_mem(r));
    return t->cursor == NULL ? NC_ENOMEM : NC_NOERR;
}

/* n values of the type in memory become elements `at` and so on of the buffer. */
static void place_values(struct target *t, const void *values, int64_t at, int64_t n)
{
    size_t size = (size_t)conv_size(t->r->type);
    unsigned char skipped[STEP];
    if (t->cursor == NULL) {
        memcpy((char *)t->r->buf + (size_t)at * size, values, (size_t)n * size);
        return;
    }
    for (size_t skip = (size_t)(at - t->at) * size; skip > 0;)
        skip -= region_gather(t->cursor, t->r->buf, skipped,
                              skip < sizeof skipped ? skip : sizeof skipped);
    region_scatter(t->cursor, t->r->buf, values, (size_t)n * size);
    t->at = at + n;
}

/* Elements [from, from + n) of a write become elements `to` and so on of the target. */
static int copy_write(const struct burst *b, const struct burst_write *w, int64_t from,
                      int64_t n, struct target *t, int64_t to)
{
    unsigned char native[STEP * 8], external[STEP * 8];
    const int type = b->base.ds->header.vars[w->varid].type;
    int result = NC_NOERR;
    for (int64_t at = 0; at < n; at += STEP) {
        int64_t m = n - at < STEP ? n - at : STEP;
        if (w->flags & BURST_FILL) {
            conv_fill(external, w->fill, (int)t->xsize, (size_t)m);
        } else {
            int err = burst_read_values(b, w, from + at, m, native);
            if (err != NC_NOERR) return err;
            conv_put(external, type, native, w->type, (size_t)m, native);
        }
        int err = conv_get(native, t->r->type, external, t->xtype, (size_t)m);
        if (err != NC_NOERR) result = err;
        place_values(t, native, to + at, m);
    }
    return result;
}

/* Walks both and copies where they meet. */
static int merge(const struct burst *b, const struct burst_write *w, struct runs *theirs,
                 struct runs *ours, struct target *t)
{
    int result = NC_NOERR;
    while (!theirs->ended && !ours->ended) {
        int64_t low = theirs->offset > ours->offset ? theirs->offset : ours->offset;
        int64_t end = theirs->offset + theirs->length,
                our_end = ours->offset + ours->length;
        int64_t high = end < our_end ? end : our_end;
        if (low < high) {
            int err = copy_write(b, w, (theirs->pos + low - theirs->offset) / t->xsize,
                                 (high - low) / t->xsize, t,
                                 (ours->pos + low - ours->offset) / t->xsize);
            if (err != NC_NOERR && err != NC_ERANGE) return err;
            if (err != NC_NOERR) result = err;
        }
        if (end <= our_end) next_overlay_run(theirs);
        if (our_end <= end) next_overlay_run(ours);
    }
    return result;
}

/* Runs in any order: each of the write's against all of the request's. */
static int merge_unordered(const struct burst *b, const struct burst_write *w,
                           struct runs *theirs, const struct region *region,
                           int64_t shift, const struct access_request *r)
{
    int result = NC_NOERR;
    for (; !theirs->ended; next_overlay_run(theirs)) {
        struct runs ours;
        struct target t = {0};
        int err = start_runs(&ours, region, shift);
        for (; err == NC_NOERR && !ours.ended; next_overlay_run(&ours)) {
            struct runs one = *theirs, other = ours;
            int64_t low = one.offset > other.offset ? one.offset : other.offset;
            int64_t high = one.offset + one.length < other.offset + other.length
                               ? one.offset + one.length
                               : other.offset + other.length;
            if (low >= high) continue;
            if (t.r == NULL) err = start_target(&t, b, r);
            if (err != NC_NOERR) break;
            int copied = copy_write(b, w, (one.pos + low - one.offset) / t.xsize,
                                    (high - low) / t.xsize, &t,
                                    (other.pos + low - other.offset) / t.xsize);
            if (copied == NC_ERANGE)
                result = copied;
            else
                err = copied;
        }
        region_cursor_free(ours.cursor);
        region_cursor_free(t.cursor);
        if (err != NC_NOERR) return err;
    }
    return result;
}

static int overlay_write(struct burst *b, const struct burst_write *w,
                         const struct region *region, int64_t shift,
                         const struct access_request *r)
{
    struct region *logged = burst_region(&b->base.ds->header, w);
    struct runs theirs = {0}, ours = {0};
    struct target t = {0};
    int err = logged == NULL ? NC_ENOMEM : start_runs(&theirs, logged, 0);
    if (err == NC_NOERR && (r->raw || (w->flags & BURST_RAW))) {
        err = merge_unordered(b, w, &theirs, region, shift, r);
    } else if (err == NC_NOERR) {
        err = start_runs(&ours, region, shift);
        if (err == NC_NOERR) err = start_target(&t, b, r);
        if (err == NC_NOERR) err = merge(b, w, &theirs, &ours, &t);
    }
    region_cursor_free(theirs.cursor);
    region_cursor_free(ours.cursor);
    region_cursor_free(t.cursor);
    region_free(logged);
    return err;
}

int burst_overlay(struct burst *b, struct access_request *r)
{
    const struct cdf_header *h = &b->base.ds->header;
    const struct cdf_var *v = &h->vars[r->varid];
    struct region *own = NULL;
    const struct region *region;
    int64_t low, high;
    if (r->raw) {
        region = access_raw_region(r);
    } else {
        region = own =
            region_slab(v->begin, v->ndims, v->shape, access_start(r),
                        access_count(r, v->ndims), access_stride(r, v->ndims),
                        cdf_type_size(v->type), v->is_record ? h->record_size : 0);
        if (region == NULL) return NC_ENOMEM;
    }
    int64_t shift = r->raw ? v->begin : 0;
    region_bounds(region, &low, &high);
    int64_t n;
    int result = burst_touching(b, low + shift, high + shift, INT64_MAX, &n);
    for (int64_t i = 0; i < n && (result == NC_NOERR || result == NC_ERANGE); i++) {
        const struct burst_write *w = b->writes[b->touching[i]];
        if (w->varid != r->varid) continue;
        int err = overlay_write(b, w, region, shift, r);
        if (err != NC_NOERR) result = err;
    }
    region_free(own);
    return result;
}
