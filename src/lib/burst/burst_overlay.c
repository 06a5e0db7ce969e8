/* What was logged, laid over what a get has read. Both are runs of bytes of the file in
 * ascending order, walked side by side; where they meet, the log's values go to the
 * user's buffer. */
#include "access_runs.h"
#include "access_values.h"
#include "base_error.h"
#include "burst.h"

enum { STEP = 2048 }; /* elements at a time */

/* Runs, one after the other, and how many bytes came before. */
struct side {
    struct access_runs runs;
    struct region_strip strip;
    int64_t offset, length, pos; /* the run at hand */
    bool ended;
};

static void next_overlay_run(struct side *x)
{
    x->pos += x->length;
    if (x->strip.count == 0 &&
        !access_runs_next(&x->runs, INT64_MAX, INT64_MAX, &x->strip)) {
        x->ended = true;
        return;
    }
    x->offset = x->strip.offset;
    x->length = x->strip.length;
    x->strip.offset += x->strip.stride;
    x->strip.count--;
}

/* Elements [from, from + n) of a write become those from `to` on of the request. */
static int copy_write(const struct burst *b, const struct burst_write *w, int64_t from,
                      int64_t n, struct access_values *v, int64_t to)
{
    unsigned char native[STEP * 8], external[STEP * 8];
    const int type = b->base.ds->header.vars[w->varid].type;
    int result = NC_NOERR;
    access_values_seek(v, to);
    for (int64_t at = 0; at < n; at += STEP) {
        int64_t m = n - at < STEP ? n - at : STEP;
        if (w->flags & BURST_FILL) {
            conv_fill(external, w->fill, v->xsize, (size_t)m);
        } else {
            int err = burst_read_values(b, w, type, from + at, m, native);
            if (err != NC_NOERR) return err;
            conv_put(external, type, native, w->type, (size_t)m, native);
        }
        int err = access_values_get(v, external, m);
        if (err != NC_NOERR) result = err;
    }
    return result;
}

/* Copies what lies in both runs at hand. */
static int copy_common(const struct burst *b, const struct burst_write *w,
                       const struct side *theirs, const struct side *ours,
                       struct access_values *v)
{
    int64_t low = theirs->offset > ours->offset ? theirs->offset : ours->offset;
    int64_t end = theirs->offset + theirs->length, our_end = ours->offset + ours->length;
    int64_t high = end < our_end ? end : our_end;
    if (low >= high) return NC_NOERR;
    return copy_write(b, w, (theirs->pos + low - theirs->offset) / v->xsize,
                      (high - low) / v->xsize, v,
                      (ours->pos + low - ours->offset) / v->xsize);
}

/* Walks both, which ascend. */
static int merge_sides(const struct burst *b, const struct burst_write *w,
                       struct side *theirs, struct side *ours, struct access_values *v)
{
    int result = NC_NOERR;
    while (!theirs->ended && !ours->ended) {
        int64_t end = theirs->offset + theirs->length;
        int64_t our_end = ours->offset + ours->length;
        result = base_error_worse(result, copy_common(b, w, theirs, ours, v));
        if (end <= our_end) next_overlay_run(theirs);
        if (our_end <= end) next_overlay_run(ours);
    }
    return result;
}

/* Runs in any order: each of the write's against all of the request's. */
static int merge_unordered(const struct burst *b, const struct burst_write *w,
                           struct side *theirs, struct side *ours,
                           struct access_values *v)
{
    int result = NC_NOERR;
    for (; !theirs->ended; next_overlay_run(theirs)) {
        access_runs_skip_to(&ours->runs, 0);
        *ours = (struct side){.runs = ours->runs};
        for (next_overlay_run(ours); !ours->ended; next_overlay_run(ours))
            result = base_error_worse(result, copy_common(b, w, theirs, ours, v));
    }
    return result;
}

static int overlay_write(struct burst *b, const struct burst_write *w,
                         struct access_request *r)
{
    const struct cdf_header *h = &b->base.ds->header;
    struct side theirs = {.pos = 0}, ours = {.pos = 0};
    struct access_values v = {.req = NULL};
    int err = access_runs_of(&theirs.runs, burst_region(h, w));
    if (err == NC_NOERR) err = access_runs_begin(&ours.runs, h, r);
    if (err == NC_NOERR) err = access_values_begin(&v, h, r, false);
    if (err == NC_NOERR) {
        next_overlay_run(&theirs);
        next_overlay_run(&ours);
        bool ascend = region_is_ascending(theirs.runs.own) &&
                      (!r->raw || region_is_ascending(access_raw_region(r)));
        err = ascend ? merge_sides(b, w, &theirs, &ours, &v)
                     : merge_unordered(b, w, &theirs, &ours, &v);
    }
    access_runs_end(&theirs.runs);
    access_runs_end(&ours.runs);
    access_values_end(&v);
    return err;
}

int burst_overlay(struct burst *b, struct access_request *r)
{
    int64_t low, high, n;
    burst_request_bounds(b, r, &low, &high);
    int result = burst_touching(b, low, high, INT64_MAX, &n);
    for (int64_t i = 0; i < n && (result == NC_NOERR || result == NC_ERANGE); i++) {
        const struct burst_write *w = b->writes[b->touching[i]];
        if (w->varid == r->varid)
            result = base_error_worse(result, overlay_write(b, w, r));
    }
    return result;
}
