/* Formats messages between nodes: runs in a block of the file, and their values.
 *
 * A message is a list of records. A record has a head that describes either a strip of
 * any number of runs of the same length, or a list of short runs with 4 bytes for each
 * run. In a put the values follow the head. Messages are exchanged within one program, so
 * they are in the machine's byte order. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"
#include "twophase_pack.h"

/* The head of a record: `count` runs of `length` bytes each, `stride` apart, starting at
 * `offset` in the block. If the stride is LIST, `length` is the total, and a `place`
 * describes each run: its distance from `offset` and, in the lowest 8 bits, its length
 * minus one. */
struct head {
    uint32_t offset, length, stride, count;
};
typedef uint32_t place;
enum { LENGTH_BITS = 8 };
_Static_assert(ACCESS_LIST_RUN <= 1 << LENGTH_BITS, "lengths");
_Static_assert((int64_t)ACCESS_LIST_REACH << LENGTH_BITS <= INT64_C(1) << 32, "places");
static const uint32_t LIST = UINT32_MAX;

static int64_t remaining_space(const struct access_walk *w,
                               const struct twophase_packed *p)
{
    int64_t room = p->capacity - p->used - (int64_t)sizeof(struct head);
    if (!w->put && room >= 0) room = p->max_answer_size - p->answer_size;
    return room;
}

static void add_head(struct twophase_packed *p, struct head h)
{
    memcpy(p->bytes + p->used, &h, sizeof h);
    p->used += (int64_t)sizeof h;
}

/* Reserves space for one more entry in the list. */
static int grow_list(struct twophase_packed *p)
{
    void *grown = base_grow(p->list, &p->list_capacity, p->nlist + 1, sizeof *p->list);
    if (grown != NULL) p->list = grown;
    return grown == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Records that the next n values are requested. If out of memory, skips the values. */
static int add_requested(struct twophase_packed *p, const struct access_walk *w,
                         int64_t nelems)
{
    struct access_values *v = &w->part->values;
    struct twophase_requested *last = p->nlist > 0 ? &p->list[p->nlist - 1] : NULL;
    int64_t first = v->done;
    bool joins = last != NULL && last->number == w->part->number &&
                 last->first + last->nelems == first;
    access_values_seek(v, first + nelems);
    if (!joins && grow_list(p) != NC_NOERR) return NC_ENOMEM;
    if (joins)
        last->nelems += nelems;
    else
        p->list[p->nlist++] = (struct twophase_requested){
            .number = w->part->number, .first = first, .nelems = nelems};
    p->answer_size += nelems * v->xsize;
    return NC_NOERR;
}

/* Adds the n bytes of values described by the record at `start`. If they cannot be
 * requested, removes the record, because the answer contains only requested values. */
static int add_values(struct access_walk *w, struct twophase_packed *p, int64_t start,
                      int64_t n)
{
    struct access_values *v = &w->part->values;
    int err;
    if (w->put) {
        err = access_values_put(v, p->bytes + p->used, n / v->xsize);
        p->used += n;
    } else {
        err = add_requested(p, w, n / v->xsize);
        if (err != NC_NOERR) p->used = start;
    }
    return err;
}

/* If a put value crosses a range boundary, packs the part of it that is in the range. */
static int pack_edge(struct access_walk *w, struct twophase_packed *p, int64_t origin)
{
    unsigned char value[8], *bytes;
    int64_t offset = w->strip.offset, n;
    int err = access_place_edge(w, &w->part->values, &offset, value, &bytes, &n);
    uint32_t length = (uint32_t)n;
    add_head(p, (struct head){(uint32_t)(offset - origin), length, length, 1});
    memcpy(p->bytes + p->used, bytes, (size_t)n);
    p->used += n;
    w->strip.count = 0;
    return err;
}

/* Chooses how much of the current strip to pack: `count` runs of `length` bytes. Chooses
 * as many whole runs as fit, or else a part of the first run that consists of whole marks
 * and whole values. Excludes a put value that crosses the range's end. Returns false if
 * nothing fits. */
static bool choose_packing(const struct access_walk *w, int64_t room, int64_t *length,
                           int64_t *count)
{
    const struct region_strip *s = &w->strip;
    int64_t xsize = w->part->values.xsize, piece = INT64_C(1) << ACCESS_COARSE;
    *length = s->length;
    *count = s->count;
    if (w->put && w->crossed && *count == 1) *length -= xsize;
    if (*length > room) {
        *length = room / piece * piece;
        *count = 1;
        return *length > 0;
    }
    if (*count * *length > room) *count = room / *length;
    return room >= xsize;
}

/* Packs as much of the current strip as fits. Returns false if nothing fits. */
static bool pack_some(struct access_walk *w, struct twophase_packed *p, int64_t origin,
                      int *result)
{
    struct region_strip *s = &w->strip;
    int64_t room = remaining_space(w, p), length, count;
    if (!choose_packing(w, room, &length, &count)) return false;
    if (w->put && (s->offset < w->low || length == 0)) {
        access_walk_set_error(result, pack_edge(w, p, origin));
        return true;
    }
    int64_t start = p->used;
    add_head(p,
             (struct head){(uint32_t)(s->offset - origin), (uint32_t)length,
                           (uint32_t)(count > 1 ? s->stride : length), (uint32_t)count});
    access_walk_set_error(result, add_values(w, p, start, count * length));
    if (length < s->length) {
        access_walk_suspend(w);
        return true;
    }
    s->count -= count;
    s->offset += count * s->stride;
    return true;
}

/* Appends a `place` for each run in the list. */
static void add_places(struct twophase_packed *p, const struct region_span *span)
{
    const struct region_extent *x = span->blocks;
    int64_t first = x[0].offset;
    for (int64_t i = 0; i < span->n; i++) {
        place at = (place)(x[i].offset - first) << LENGTH_BITS | (place)(x[i].length - 1);
        memcpy(p->bytes + p->used, &at, sizeof at);
        p->used += (int64_t)sizeof at;
    }
}

/* Packs a list of short runs. Returns false if the next runs do not form such a list. */
static bool pack_list(struct access_walk *w, struct twophase_packed *p, int64_t origin,
                      int *result)
{
    struct region_span span;
    int64_t xsize = w->part->values.xsize, size = (int64_t)sizeof(place);
    int64_t room = p->capacity - p->used - (int64_t)sizeof(struct head);
    int64_t most = room / (xsize + size) * xsize;
    if (!w->put) most = room / size * xsize;
    if (!w->put && most > p->max_answer_size - p->answer_size)
        most = p->max_answer_size - p->answer_size;
    if (most < xsize || !access_walk_span(w, most, &span)) return false;

    int64_t start = p->used;
    add_head(
        p, (struct head){.offset = (uint32_t)(span.base + span.blocks[0].offset - origin),
                         .length = (uint32_t)span.bytes,
                         .stride = LIST,
                         .count = (uint32_t)span.n});
    add_places(p, &span);
    access_walk_set_error(result, add_values(w, p, start, span.bytes));
    return true;
}

int twophase_pack(struct access_walk *w, struct twophase_packed *p, int64_t low,
                  int64_t high, int64_t origin, bool resume, bool *all)
{
    int result =
        resume ? access_walk_resume(w, low, high) : access_walk_range(w, low, high);
    *all = true;
    while (access_walk_open(w, &result))
        for (;;) {
            if (pack_list(w, p, origin, &result)) continue;
            if (!access_walk_strip(w)) break;
            if (pack_some(w, p, origin, &result)) continue;
            access_walk_suspend(w);
            *all = false;
            return result;
        }
    return result;
}

int twophase_pack_store_answer(struct access_walk *w, const struct twophase_packed *p,
                               const unsigned char *bytes)
{
    const unsigned char *end = bytes + p->answer_size;
    int result = NC_NOERR;
    for (int64_t i = 0; i < p->nlist; i++) {
        const struct twophase_requested *a = &p->list[i];
        struct access_part *part;
        int err = access_walk_part(w, a->number, &part);
        if (err != NC_NOERR) return err;
        part->limit = -1;
        base_require(a->nelems * part->values.xsize <= end - bytes);
        access_values_seek(&part->values, a->first);
        access_walk_set_error(&result,
                              access_values_get(&part->values, bytes, a->nelems));
        bytes += a->nelems * part->values.xsize;
    }
    access_walk_set_error(&result, base_holds(bytes == end));
    return result;
}

/* ---- receiving ---- */

/* Reads the head of the record at `at`, and checks it against the block and the message
 * of n bytes. Sets *size to the size of the head including places but not values. Returns
 * false if the head is invalid. */
static bool read_packed_head(const struct access_block *b, const unsigned char *bytes,
                             int64_t n, int64_t at, struct head *h, int64_t *size)
{
    int64_t room = b->end - b->origin + ACCESS_SLACK;
    *size = (int64_t)sizeof *h;
    if (n - at < *size) return false;
    memcpy(h, bytes + at, sizeof *h);
    if (h->stride == LIST) *size += (int64_t)h->count * (int64_t)sizeof(place);
    if (n - at < *size || h->count == 0) return false;
    return h->stride == LIST ||
           h->offset + (int64_t)(h->count - 1) * h->stride + h->length <= room;
}

/* Gets the position in the block and the length of the i-th run of a list. Returns false
 * if the run is outside the block. */
static bool read_place(const struct access_block *b, const struct head *h,
                       const unsigned char *list, int64_t i, int64_t *at, int64_t *length)
{
    place x;
    memcpy(&x, list + i * (int64_t)sizeof x, sizeof x);
    *at = (int64_t)h->offset + (x >> LENGTH_BITS);
    *length = (x & ((1 << LENGTH_BITS) - 1)) + 1;
    return *at + *length <= b->end - b->origin + ACCESS_SLACK;
}

static void put_strip(const struct access_block *b, const struct head *h,
                      const unsigned char *values)
{
    struct region_strip s = {.offset = b->origin + h->offset,
                             .length = h->length,
                             .stride = h->stride,
                             .count = h->count};
    region_copy_pieces(b->bytes + h->offset, h->stride, values, h->length, h->count,
                       h->length);
    access_place_mark(b, &s);
}

/* Returns whether offsets or lengths, combined by OR, consist of whole marks. Otherwise
 * other bytes of the file would be marked, and written. */
static bool is_whole_marks(const struct access_block *b, int64_t bits)
{
    return (bits & ((INT64_C(1) << b->shift) - 1)) == 0;
}

static bool put_packed_list(const struct access_block *b, const struct head *h,
                            const unsigned char *list)
{
    const unsigned char *values = list + h->count * sizeof(place);
    int64_t left = h->length, at, n;
    for (int64_t i = 0; i < h->count; i++) {
        if (!read_place(b, h, list, i, &at, &n) || (left -= n) < 0) return false;
        if (base_holds(is_whole_marks(b, at | n)) != NC_NOERR) return false;
        memcpy(b->bytes + at, values, (size_t)n);
        memset(b->marks + (at >> b->shift), 1, (size_t)(n >> b->shift));
        values += n;
    }
    return base_holds(left == 0) == NC_NOERR;
}

static int fail_bad_message(void)
{
    return base_error_set(NC_EMPI, "invalid message from another process");
}

int twophase_unpack(const struct access_block *b, const unsigned char *bytes, int64_t n)
{
    struct head h;
    int64_t size;
    for (int64_t at = 0; at < n;) {
        if (!read_packed_head(b, bytes, n, at, &h, &size)) return fail_bad_message();
        const unsigned char *body = bytes + at + sizeof h;
        int64_t values = h.stride == LIST ? h.length : (int64_t)h.length * h.count;
        if (n - at - size < values) return fail_bad_message();
        base_require(h.stride == LIST ||
                     is_whole_marks(b, h.offset | h.length | h.stride));
        if (h.stride != LIST)
            put_strip(b, &h, body);
        else if (!put_packed_list(b, &h, body))
            return fail_bad_message();
        at += size + values;
    }
    return NC_NOERR;
}

static void widen_range(int64_t *low, int64_t *high, int64_t from, int64_t to)
{
    if (from < *low) *low = from;
    if (to > *high) *high = to;
}

int twophase_unpack_request(const struct access_block *b, const unsigned char *bytes,
                            int64_t n, int64_t *asked, int64_t *low, int64_t *high)
{
    struct head h;
    int64_t size, from, length;
    *asked = 0;
    for (int64_t at = 0; at < n; at += size) {
        if (!read_packed_head(b, bytes, n, at, &h, &size)) return fail_bad_message();
        const unsigned char *list = bytes + at + sizeof h;
        *asked += h.stride == LIST ? h.length : (int64_t)h.length * h.count;
        if (h.stride != LIST)
            widen_range(low, high, h.offset,
                        h.offset + (int64_t)(h.count - 1) * h.stride + h.length);
        for (int64_t i = 0; h.stride == LIST && i < h.count; i++) {
            if (!read_place(b, &h, list, i, &from, &length)) return fail_bad_message();
            widen_range(low, high, from, from + length);
        }
    }
    return NC_NOERR;
}

void twophase_unpack_answer(const struct access_block *b, const unsigned char *bytes,
                            int64_t n, unsigned char *answer)
{
    struct head h;
    int64_t size, from, length;
    for (int64_t at = 0; at < n && read_packed_head(b, bytes, n, at, &h, &size);
         at += size) {
        const unsigned char *list = bytes + at + sizeof h;
        if (h.stride != LIST) {
            region_copy_pieces(answer, h.length, b->bytes + h.offset, h.stride, h.count,
                               h.length);
            answer += (int64_t)h.length * h.count;
        }
        for (int64_t i = 0; h.stride == LIST && i < h.count; i++) {
            (void)read_place(b, &h, list, i, &from, &length);
            memcpy(answer, b->bytes + from, (size_t)length);
            answer += length;
        }
    }
}
