/* Cuts requests into tiles. Plans which bytes of the file come next, then moves values
 * between user memory and the tile. The file side may plan one tile ahead. */
#include "access_tile.h"

#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"

void access_stream_free(struct access_stream *s)
{
    access_runs_end(&s->runs);
    access_values_end(&s->values);
    s->opened = false;
}

static const struct cdf_var *var_of(const struct access_stream *s, int64_t request)
{
    return &s->header->vars[s->reqs[request]->varid];
}

/* ---- the file side ---- */

static int open_request(struct access_stream *s)
{
    int err = access_runs_begin(&s->runs, s->header, s->reqs[s->file_request]);
    s->opened = err == NC_NOERR;
    return err;
}

static void close_request(struct access_stream *s)
{
    access_runs_end(&s->runs);
    s->opened = false;
    s->file_request++;
}

static int add_segment(struct access_tile *t, int64_t request, int64_t nelems,
                       int64_t pos)
{
    void *grown = base_grow(t->segments, &t->segments_capacity, t->nsegments + 1,
                            sizeof *t->segments);
    if (grown == NULL) return NC_ENOMEM;
    t->segments = grown;
    t->segments[t->nsegments++] =
        (struct access_segment){.request = request, .nelems = nelems, .pos = pos};
    return NC_NOERR;
}

static int add_strip(struct access_tile *t, const struct region_strip *strip)
{
    int err = base_holds(strip->count > 0 && strip->length > 0 && strip->offset >= 0);
    for (int64_t i = 0; i < strip->count && err == NC_NOERR; i++) {
        err =
            access_tile_add(t, strip->offset + i * strip->stride, strip->length, t->used);
        t->used += strip->length;
    }
    return err;
}

/* Plans as much of the current request as fits. The request ends when its whole region is
 * in the tile, so that errors are attributed to the right requests. */
static int plan_request(struct access_stream *s, struct access_tile *t, int64_t max_bytes,
                        int64_t max_pieces)
{
    int64_t before = t->used, request = s->file_request;
    int64_t xsize = cdf_type_size(var_of(s, request)->type);
    int64_t room = (max_bytes - t->used) / xsize * xsize;
    bool ended = false;
    int err = NC_NOERR;
    while (room > 0 && t->npieces < max_pieces && err == NC_NOERR) {
        struct region_strip strip;
        ended = !access_runs_next(&s->runs, room, max_pieces - t->npieces, &strip);
        if (ended) break;
        err = add_strip(t, &strip);
        room -= strip.length * strip.count;
    }
    if (err == NC_NOERR) err = base_holds((t->used - before) % xsize == 0);
    if (err == NC_NOERR && t->used > before)
        err = add_segment(t, request, (t->used - before) / xsize, before);
    if (err == NC_NOERR && ended) close_request(s);
    return err;
}

/* Returns whether the tile is transferred directly from or to user memory. */
static bool tile_in_place(const struct access_stream *s, const struct access_tile *t)
{
    return t->nsegments == 1 && t->ascending &&
           access_values_are_in_place(s->header, s->reqs[t->segments[0].request], s->put);
}

/* Assigns memory to the tile: user memory or staging. */
static int assign_memory(struct access_stream *s, struct access_tile *t)
{
    if (tile_in_place(s, t)) {
        const struct access_request *r = s->reqs[t->segments[0].request];
        int64_t done = s->values.req == r ? s->values.done : 0;
        int ndims = var_of(s, t->segments[0].request)->ndims;
        base_require(t->segments[0].pos == 0 && done >= 0 &&
                     t->segments[0].nelems <= access_nelems(r, ndims) - done);
        t->bytes = (unsigned char *)r->buf + done * conv_size(r->type);
        return NC_NOERR;
    }
    int err = access_staging_reserve(s->staging, (size_t)t->used);
    *s->staging->copied += t->used;
    t->bytes = s->staging->bytes;
    return err;
}

int access_stream_plan(struct access_stream *s, struct access_tile *t, int64_t max_bytes,
                       int64_t max_pieces)
{
    int err = NC_NOERR;
    while (err == NC_NOERR && s->file_request < s->n && max_bytes - t->used >= 8 &&
           t->npieces < max_pieces) {
        if (!s->opened) err = open_request(s);
        if (err == NC_NOERR) err = plan_request(s, t, max_bytes, max_pieces);
    }
    return err;
}

int access_stream_finish_plan(struct access_stream *s, struct access_tile *t)
{
    int err = t->ascending ? NC_NOERR : access_tile_sort(t, s->put);
    return err == NC_NOERR ? assign_memory(s, t) : err;
}

/* ---- the memory side ---- */

/* Advances the memory side to the segment's request and its next values. */
static int seek_segment(struct access_stream *s, const struct access_segment *seg)
{
    if (s->values.req == s->reqs[seg->request]) return NC_NOERR;
    access_values_end(&s->values);
    int err = access_values_begin(&s->values, s->header, s->reqs[seg->request], s->put);
    if (err != NC_NOERR) s->values.req = NULL;
    return err;
}

static int run_segment(struct access_stream *s, struct access_tile *t,
                       const struct access_segment *seg)
{
    int err = seek_segment(s, seg);
    if (err != NC_NOERR) return err;
    base_require(seg->nelems > 0 && seg->pos >= 0 &&
                 seg->nelems * s->values.xsize <= t->used - seg->pos);
    unsigned char *external = t->bytes + seg->pos;
    return s->put ? access_values_put(&s->values, external, seg->nelems)
                  : access_values_get(&s->values, external, seg->nelems);
}

static int run_segments(struct access_stream *s, struct access_tile *t)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < t->nsegments; i++) {
        int err = run_segment(s, t, &t->segments[i]);
        first = base_error_merge(first, err);
    }
    return first;
}

int access_stream_pack(struct access_stream *s, struct access_tile *t)
{
    int err = run_segments(s, t);
    access_tile_copy_overlaps(t);
    return err;
}

int access_stream_unpack(struct access_stream *s, struct access_tile *t)
{
    access_tile_copy_overlaps(t);
    return run_segments(s, t);
}
