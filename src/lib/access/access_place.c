/* Moves values directly between user memory and an in-memory block of the file. */
#include <string.h>

#include "base_error.h"
#include "base_require.h"
#include "access_walk.h"

/* Runs shorter than LONG_RUN are converted together in a scratch buffer. */
enum { LONG_RUN = 256, SCRATCH = 8192 };

static int long_runs(struct access_values *v, const struct region_strip *s,
                     unsigned char *place, bool put)
{
    int64_t n = s->length / v->xsize;
    int result = NC_NOERR;
    for (int64_t i = 0; i < s->count; i++, place += s->stride)
        access_walk_set_error(&result, put ? access_values_put(v, place, n)
                                           : access_values_get(v, place, n));
    return result;
}

static int short_runs(struct access_values *v, const struct region_strip *s,
                      unsigned char *place, bool put)
{
    unsigned char scratch[SCRATCH];
    int64_t step = SCRATCH / s->length;
    int result = NC_NOERR;
    for (int64_t i = 0; i < s->count; i += step) {
        int64_t count = s->count - i < step ? s->count - i : step;
        int64_t n = count * s->length / v->xsize;
        unsigned char *at = place + i * s->stride;
        if (put) {
            access_walk_set_error(&result, access_values_put(v, scratch, n));
            region_copy_pieces(at, s->stride, scratch, s->length, count, s->length);
        } else {
            region_copy_pieces(scratch, s->length, at, s->stride, count, s->length);
            access_walk_set_error(&result, access_values_get(v, scratch, n));
        }
    }
    return result;
}

void access_place_mark(const struct access_block *b, const struct region_strip *s)
{
    static const unsigned char ones[LONG_RUN] = {[0 ... LONG_RUN - 1] = 1};
    unsigned char *to = b->marks + ((s->offset - b->origin) >> b->shift);
    int64_t length = s->length >> b->shift, stride = s->stride >> b->shift;
    if (length <= LONG_RUN) {
        region_copy_pieces(to, stride, ones, 0, s->count, length);
        return;
    }
    for (int64_t i = 0; i < s->count; i++)
        memset(to + i * stride, 1, (size_t)length);
}

/* Converts a put value that crosses a range boundary; finds its part in [w->low,
 * w->high). */
int access_place_edge(const struct access_walk *w, struct access_values *v,
                      int64_t *offset, unsigned char value[8], unsigned char **bytes,
                      int64_t *n)
{
    int64_t end = *offset + v->xsize, before = w->low - *offset;
    int err = access_values_put(v, value, 1);
    if (before < 0) before = 0;
    *bytes = value + before;
    *offset += before;
    *n = (end < w->high ? end : w->high) - *offset;
    return err;
}

static int place_edge(struct access_walk *w, const struct access_block *b, int64_t offset)
{
    unsigned char value[8], *bytes;
    struct region_strip s = {.offset = offset, .count = 1};
    int err = access_place_edge(w, &w->part->values, &s.offset, value, &bytes, &s.length);
    base_require(s.length > 0 && s.offset >= b->start && s.length <= b->end - s.offset);
    s.stride = s.length;
    memcpy(b->bytes + (s.offset - b->origin), bytes, (size_t)s.length);
    access_place_mark(b, &s);
    return err;
}

static int move_strip(struct access_walk *w, const struct access_block *b,
                      const struct region_strip *s)
{
    int64_t last = s->offset + (s->count - 1) * s->stride;
    base_require(s->offset >= b->start &&
                 s->length <= b->end + (w->put ? 0 : ACCESS_SLACK) - last);
    unsigned char *place = b->bytes + (s->offset - b->origin);
    bool few = s->count == 1 || s->length >= LONG_RUN;
    int err = few ? long_runs(&w->part->values, s, place, w->put)
                  : short_runs(&w->part->values, s, place, w->put);
    if (w->put) access_place_mark(b, s);
    return err;
}

/* Moves the current strip. Handles put values that cross a range boundary separately.
 */
static int move_current_strip(struct access_walk *w, const struct access_block *b)
{
    struct region_strip s = w->strip;
    int64_t xsize = w->part->values.xsize;
    int result = NC_NOERR;
    w->strip.count = 0;
    if (!w->put) return move_strip(w, b, &s);
    if (s.offset < w->low) return place_edge(w, b, s.offset);
    if (!w->crossed) return move_strip(w, b, &s);
    s.length -= xsize;
    if (s.length > 0) result = move_strip(w, b, &s);
    access_walk_set_error(&result, place_edge(w, b, s.offset + s.length));
    return result;
}

/* ---- lists of short runs ---- */

/* Copies values from the scratch buffer to the block and marks them. */
static void store_span(const struct access_block *b, int64_t base,
                       const struct region_span *s, const unsigned char *scratch)
{
    const struct region_extent *x = s->blocks;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t to = base + x[i].offset;
        memcpy(b->bytes + to, scratch, (size_t)x[i].length);
        memset(b->marks + (to >> b->shift), 1, (size_t)(x[i].length >> b->shift));
        scratch += x[i].length;
    }
}

static void collect_extents(const struct access_block *b, int64_t base,
                            const struct region_span *s, unsigned char *scratch)
{
    const struct region_extent *x = s->blocks;
    for (int64_t i = 0; i < s->n; i++) {
        memcpy(scratch, b->bytes + base + x[i].offset, (size_t)x[i].length);
        scratch += x[i].length;
    }
}

bool access_walk_span(struct access_walk *w, int64_t max_bytes, struct region_span *s)
{
    struct access_part *p = w->part;
    struct region_cursor *c = p->runs.cursor;
    int64_t at, limit = w->high;
    if (c == NULL || w->strip.count > 0) return false;
    if (!access_runs_peek(&p->runs, &at) || at < w->low) return false;
    if (limit - at > ACCESS_LIST_REACH) limit = at + ACCESS_LIST_REACH;
    if (!region_next_blocks(c, limit - p->runs.shift, ACCESS_LIST_RUN, max_bytes, s))
        return false;
    s->base += p->runs.shift;
    p->limit = -1;
    w->crossed = false;
    return true;
}

/* Moves the next short blocks of a list, converting many at once. Returns false if the
 * next runs are not short blocks. */
static bool move_short_blocks(struct access_walk *w, const struct access_block *b,
                              int *result)
{
    unsigned char scratch[SCRATCH];
    struct access_values *v = &w->part->values;
    struct region_span s;
    if (!access_walk_span(w, SCRATCH, &s)) return false;
    int64_t base = s.base - b->origin;
    if (w->put) {
        access_walk_set_error(result, access_values_put(v, scratch, s.bytes / v->xsize));
        store_span(b, base, &s, scratch);
    } else {
        collect_extents(b, base, &s, scratch);
        access_walk_set_error(result, access_values_get(v, scratch, s.bytes / v->xsize));
    }
    return true;
}

int access_walk_block(struct access_walk *w, const struct access_block *b)
{
    base_require(b->origin <= b->start && b->start <= b->end);
    int result = access_walk_range(w, b->start, b->end);
    while (access_walk_open(w, &result))
        for (;;) {
            if (move_short_blocks(w, b, &result)) continue;
            if (!access_walk_strip(w)) break;
            access_walk_set_error(&result, move_current_strip(w, b));
        }
    return result;
}
