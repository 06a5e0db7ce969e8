/* Requests through blocks of the file, their values straight to and from their places.
 *
 * Nothing is sorted but the requests, by the block they begin in: inside a block they
 * go by their number, so that of puts that overlap the last one holds. */
#include "mpio_walk.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "mpio_values.h"

struct mpio_part {
    struct mpio_values values;
    int64_t number;
    int64_t next;          /* where its next value lies */
    int64_t bytes;         /* of a single run: what is left of it */
    struct region *region; /* of many runs, unless the request brought its own */
    struct region_cursor *cursor;
    int64_t shift; /* of the offsets under the cursor */
};

/* ---- the order of requests ---- */

/* Where the request's first byte lies. */
static int64_t begin_of(const struct cdf_header *h, const struct driver_request *r)
{
    int64_t low, high;
    if (r->raw) {
        region_bounds(driver_raw_region(r), &low, &high);
        return low + driver_raw_shift(h, r);
    }
    (void)mpio_one_run(h, r, &low);
    return low;
}

static int64_t block_of(const struct mpio_walk *w, int64_t i)
{
    return w->first_block + (int64_t)(w->items[i] >> w->number_bits);
}

static int64_t number_of(const struct mpio_walk *w, int64_t i)
{
    return (int64_t)(w->items[i] & ((UINT64_C(1) << w->number_bits) - 1));
}

enum { DIGIT = 11 };

static uint64_t digit(uint64_t item, int shift)
{
    return item >> shift & ((1 << DIGIT) - 1);
}

/* Stable, by one digit. */
static void sort_digit(const uint64_t *from, uint64_t *to, int64_t n, int shift)
{
    int64_t at[1 << DIGIT] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        at[digit(from[i], shift)]++;
    for (int d = 0; d < 1 << DIGIT; d++) {
        int64_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[at[digit(from[i], shift)]++] = from[i];
}

/* By the block they begin in; those of one block stay as they are. */
static int sort_items(struct mpio_walk *w)
{
    uint64_t different = 0;
    int64_t n = w->nitems;
    bool sorted = true;
    for (int64_t i = 1; i < n; i++) {
        sorted = sorted && w->items[i - 1] < w->items[i];
        different |= w->items[i] ^ w->items[0];
    }
    if (sorted) return NC_NOERR;
    uint64_t *from = w->items, *to = base_malloc((size_t)n * sizeof *to);
    if (to == NULL) return NC_ENOMEM;
    for (int shift = w->number_bits; shift < 64 && different >> shift > 0;
         shift += DIGIT) {
        sort_digit(from, to, n, shift);
        uint64_t *other = from;
        from = to;
        to = other;
    }
    w->items = from;
    base_free(to);
    return NC_NOERR;
}

int mpio_walk_begin(struct mpio_walk *w, struct driver_request *const *reqs, int64_t n,
                    int64_t low)
{
    const struct cdf_header *h = &w->m->base.ds->header;
    w->reqs = reqs;
    w->first_block = low >> w->log2_block;
    w->number_bits = mpio_number_bits(n);
    w->items = base_malloc((size_t)n * sizeof *w->items);
    if (w->items == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < n; i++) {
        if (driver_nelems(reqs[i], h->vars[reqs[i]->varid].ndims) == 0) continue;
        int64_t at = begin_of(h, reqs[i]);
        uint64_t block = (uint64_t)((at >> w->log2_block) - w->first_block);
        w->items[w->nitems++] = block << w->number_bits | (uint64_t)i;
    }
    return sort_items(w);
}

static void end_part(struct mpio_part *p)
{
    mpio_values_end(&p->values);
    region_cursor_free(p->cursor);
    region_free(p->region);
}

void mpio_walk_end(struct mpio_walk *w)
{
    for (int64_t i = 0; i < w->nparts; i++)
        end_part(&w->parts[i]);
    base_free(w->items);
    base_free(w->parts);
    base_free(w->kept);
    w->items = NULL;
    w->parts = w->kept = NULL;
    w->nitems = w->begun = w->nparts = w->parts_capacity = w->kept_capacity = 0;
}

/* Where the next request that was not begun lies. All that begin in its block are looked
 * at, one after the other: their memory comes in while others are waited for, much sooner
 * than if each were first seen when its values are moved. */
static int64_t next_begin(const struct mpio_walk *w)
{
    enum { AHEAD = 8 };
    int64_t next = INT64_MAX;
    for (int64_t i = w->begun; i < w->nitems && block_of(w, i) == block_of(w, w->begun);
         i++) {
        const struct driver_request *r = w->reqs[number_of(w, i)];
        if (i + AHEAD < w->nitems) __builtin_prefetch(w->reqs[number_of(w, i + AHEAD)]);
        int64_t low = begin_of(&w->m->base.ds->header, r);
        if (low < next) next = low;
        __builtin_prefetch(r->buf);
    }
    return next;
}

int64_t mpio_walk_next(const struct mpio_walk *w)
{
    int64_t next = next_begin(w);
    for (int64_t i = 0; i < w->nparts; i++)
        if (w->parts[i].next < next) next = w->parts[i].next;
    return next;
}

/* ---- one request in one block ---- */

/* Is there more of it, and where? */
static bool goes_on(struct mpio_part *p)
{
    if (p->cursor == NULL) return p->bytes > 0;
    if (!region_peek(p->cursor, &p->next)) return false;
    p->next += p->shift;
    return true;
}

static int begin_part(struct mpio_walk *w, int64_t number, struct mpio_part *p)
{
    const struct cdf_header *h = &w->m->base.ds->header;
    struct driver_request *r = w->reqs[number];
    *p = (struct mpio_part){.number = number};
    int err = mpio_values_begin(&p->values, h, r, w->put);
    if (err != NC_NOERR) return err;
    if (!r->raw && mpio_one_run(h, r, &p->next)) {
        p->bytes = driver_nelems(r, h->vars[r->varid].ndims) * p->values.xsize;
        return NC_NOERR;
    }
    const struct region *region = r->raw ? driver_raw_region(r) : NULL;
    if (r->raw)
        p->shift = driver_raw_shift(h, r);
    else
        region = p->region = mpio_region(h, r);
    if (region != NULL) p->cursor = region_cursor_new(region);
    if (p->cursor == NULL) {
        end_part(p);
        return NC_ENOMEM;
    }
    (void)goes_on(p);
    return NC_NOERR;
}

/* The part's next strip below end; false if there is none. */
static bool next_strip(struct mpio_part *p, int64_t end, struct region_strip *s)
{
    int64_t xsize = p->values.xsize;
    if (p->cursor != NULL) {
        if (!region_next_below(p->cursor, end - p->shift, xsize, s)) return false;
        s->offset += p->shift;
        return true;
    }
    if (p->bytes == 0 || p->next >= end) return false;
    int64_t n = (end - p->next + xsize - 1) & -xsize;
    if (n > p->bytes) n = p->bytes;
    *s = (struct region_strip){.offset = p->next, .length = n, .stride = n, .count = 1};
    p->next += n;
    p->bytes -= n;
    return true;
}

/* Shorter runs go through a buffer, many at a time. */
enum { LONG_RUN = 256, SCRATCH = 8192 };

/* What stops the transfer comes before what is out of range. */
static void note(int *result, int err)
{
    if (*result == NC_NOERR || (*result == NC_ERANGE && err != NC_NOERR)) *result = err;
}

static int long_runs(struct mpio_values *v, const struct region_strip *s,
                     unsigned char *place, bool put)
{
    int64_t n = s->length / v->xsize;
    int result = NC_NOERR;
    for (int64_t i = 0; i < s->count; i++, place += s->stride)
        note(&result, put ? mpio_values_put(v, place, n) : mpio_values_get(v, place, n));
    return result;
}

static int short_runs(struct mpio_values *v, const struct region_strip *s,
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
            note(&result, mpio_values_put(v, scratch, n));
            region_copy_pieces(at, s->stride, scratch, s->length, count, s->length);
        } else {
            region_copy_pieces(scratch, s->length, at, s->stride, count, s->length);
            note(&result, mpio_values_get(v, scratch, n));
        }
    }
    return result;
}

static void mark(const struct mpio_block *b, const struct region_strip *s)
{
    static const unsigned char ones[LONG_RUN] = {[0 ... LONG_RUN - 1] = 1};
    unsigned char *to = b->marks + ((s->offset - b->start) >> b->shift);
    int64_t length = s->length >> b->shift, stride = s->stride >> b->shift;
    if (length <= LONG_RUN) {
        region_copy_pieces(to, stride, ones, 0, s->count, length);
        return;
    }
    for (int64_t i = 0; i < s->count; i++)
        memset(to + i * stride, 1, (size_t)length);
}

/* Bytes of the block were used. */
static void used(struct mpio_block *b, int64_t low, int64_t high)
{
    if (low < b->low) b->low = low;
    if (high > b->high) b->high = high;
}

/* The next strip's values; false if there is none. */
static bool take_strip(struct mpio_walk *w, struct mpio_part *p, struct mpio_block *b,
                       int *result)
{
    struct region_strip s;
    if (!next_strip(p, b->end, &s)) return false;
    unsigned char *place = b->bytes + (s.offset - b->start);
    int64_t low = s.offset - b->start;
    bool few = s.count == 1 || s.length >= LONG_RUN;
    note(result, few ? long_runs(&p->values, &s, place, w->put)
                     : short_runs(&p->values, &s, place, w->put));
    used(b, low, low + (s.count - 1) * s.stride + s.length);
    if (w->put) mark(b, &s);
    return true;
}

/* ---- lists of short runs ---- */

/* From the scratch to their places in the block, and marked. */
static void spread(const struct mpio_block *b, int64_t base, const struct region_span *s,
                   const unsigned char *scratch)
{
    const struct region_extent *x = s->blocks;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t to = base + x[i].offset;
        memcpy(b->bytes + to, scratch, (size_t)x[i].length);
        memset(b->marks + (to >> b->shift), 1, (size_t)(x[i].length >> b->shift));
        scratch += x[i].length;
    }
}

static void collect(const struct mpio_block *b, int64_t base, const struct region_span *s,
                    unsigned char *scratch)
{
    const struct region_extent *x = s->blocks;
    for (int64_t i = 0; i < s->n; i++) {
        memcpy(scratch, b->bytes + base + x[i].offset, (size_t)x[i].length);
        scratch += x[i].length;
    }
}

/* The next short blocks of a list: many converted at once. False if what comes next is
 * something else. */
static bool take_blocks(struct mpio_walk *w, struct mpio_part *p, struct mpio_block *b,
                        int *result)
{
    unsigned char scratch[SCRATCH];
    struct region_span s;
    struct mpio_values *v = &p->values;
    if (p->cursor == NULL) return false;
    if (!region_next_blocks(p->cursor, b->end - p->shift, LONG_RUN, SCRATCH, &s))
        return false;
    const struct region_extent *first = s.blocks, *last = first + s.n - 1;
    int64_t base = s.base + p->shift - b->start;
    used(b, base + first->offset, base + last->offset + last->length);
    if (w->put) {
        note(result, mpio_values_put(v, scratch, s.bytes / v->xsize));
        spread(b, base, &s, scratch);
    } else {
        collect(b, base, &s, scratch);
        note(result, mpio_values_get(v, scratch, s.bytes / v->xsize));
    }
    return true;
}

/* The part's values in the block. */
static int take_part(struct mpio_walk *w, struct mpio_part *p, struct mpio_block *b)
{
    int result = NC_NOERR;
    while (take_blocks(w, p, b, &result) || take_strip(w, p, b, &result))
        ;
    return result;
}

/* ---- all of them in one block ---- */

/* Remembers a part for the blocks that follow. */
static int keep(struct mpio_walk *w, int64_t nkept, const struct mpio_part *p)
{
    if (nkept == w->kept_capacity) {
        int64_t capacity = nkept * 2 + 16;
        void *grown = base_realloc(w->kept, (size_t)capacity * sizeof *w->kept);
        if (grown == NULL) return NC_ENOMEM;
        w->kept = grown;
        w->kept_capacity = capacity;
    }
    w->kept[nkept] = *p;
    return NC_NOERR;
}

/* The next part of the block, by number: one begun before, or one that begins here.
 * False if there is none. */
static bool next_part(struct mpio_walk *w, int64_t *old, int64_t end, struct mpio_part *p,
                      int *err)
{
    int64_t block = (end - 1) >> w->log2_block;
    bool begins = w->begun < w->nitems && block_of(w, w->begun) <= block;
    int64_t number = begins ? number_of(w, w->begun) : INT64_MAX;
    *err = NC_NOERR;
    if (*old < w->nparts && w->parts[*old].number < number) {
        *p = w->parts[(*old)++];
        return true;
    }
    if (!begins) return false;
    w->begun++;
    *err = begin_part(w, number, p);
    return true;
}

/* All are given up: the requests that are not done take the error. */
static int give_up(struct mpio_walk *w, int64_t old, int64_t nkept, int err)
{
    for (int64_t i = 0; i < nkept; i++)
        end_part(&w->kept[i]);
    for (; old < w->nparts; old++)
        end_part(&w->parts[old]);
    w->nparts = 0;
    mpio_walk_end(w);
    return err;
}

int mpio_walk_block(struct mpio_walk *w, struct mpio_block *b)
{
    int64_t old = 0, nkept = 0;
    int result = NC_NOERR, err;
    struct mpio_part p;
    b->low = INT64_MAX;
    b->high = 0;
    while (next_part(w, &old, b->end, &p, &err)) {
        if (err != NC_NOERR) return give_up(w, old, nkept, err);
        note(&result, take_part(w, &p, b));
        if (!goes_on(&p)) {
            end_part(&p);
        } else if ((err = keep(w, nkept, &p)) == NC_NOERR) {
            nkept++;
        } else {
            end_part(&p);
            return give_up(w, old, nkept, err);
        }
    }
    struct mpio_part *spare = w->parts;
    int64_t capacity = w->parts_capacity;
    w->parts = w->kept, w->parts_capacity = w->kept_capacity;
    w->kept = spare, w->kept_capacity = capacity;
    w->nparts = nkept;
    return result;
}
