/* Requests to tiles: which bytes of the file come next, and their values. */
#include "access_tile.h"

#include "base_error.h"
#include "base_mem.h"

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
    int err = NC_NOERR;
    for (int64_t i = 0; i < strip->count && err == NC_NOERR; i++) {
        err =
            access_tile_add(t, strip->offset + i * strip->stride, strip->length, t->used);
        t->used += strip->length;
    }
    return err;
}

/* Takes what fits of the current request, which ends when its region does: not before all
 * of it is noted in the tile, so that the right ones are told of an error. */
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
    if (err == NC_NOERR && t->used > before)
        err = add_segment(t, request, (t->used - before) / xsize, before);
    if (err == NC_NOERR && ended) close_request(s);
    return err;
}

/* Does it need no staging? */
static bool tile_in_place(const struct access_stream *s, const struct access_tile *t)
{
    return t->nsegments == 1 && t->ascending &&
           access_values_stay(s->header, s->reqs[t->segments[0].request], s->put);
}

/* Where the tile's bytes are. */
static int give_memory(struct access_stream *s, struct access_tile *t)
{
    if (tile_in_place(s, t)) {
        const struct access_request *r = s->reqs[t->segments[0].request];
        int64_t done = s->values.req == r ? s->values.done : 0;
        t->bytes = (unsigned char *)r->buf + done * conv_size(r->type);
        return NC_NOERR;
    }
    int err = access_staging_make(s->staging, (size_t)t->used);
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

int access_stream_settle(struct access_stream *s, struct access_tile *t)
{
    int err = t->ascending ? NC_NOERR : access_tile_sort(t, s->put);
    return err == NC_NOERR ? give_memory(s, t) : err;
}

/* ---- the memory side ---- */

/* The values of the segment's request, those that come next. */
static int follow(struct access_stream *s, const struct access_segment *seg)
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
    int err = follow(s, seg);
    if (err != NC_NOERR) return err;
    unsigned char *external = t->bytes + seg->pos;
    return s->put ? access_values_put(&s->values, external, seg->nelems)
                  : access_values_get(&s->values, external, seg->nelems);
}

static int run_segments(struct access_stream *s, struct access_tile *t)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < t->nsegments; i++) {
        int err = run_segment(s, t, &t->segments[i]);
        first = base_error_worse(first, err);
    }
    return first;
}

int access_stream_pack(struct access_stream *s, struct access_tile *t)
{
    int err = run_segments(s, t);
    access_tile_share(t);
    return err;
}

int access_stream_unpack(struct access_stream *s, struct access_tile *t)
{
    access_tile_share(t);
    return run_segments(s, t);
}
