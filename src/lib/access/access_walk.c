/* Finds the requests that have values in a range of the file, and the positions of these
 * values in the requests.
 *
 * The requests are sorted once. A request that spans up to 8^k blocks of the file has
 * level k. If a request has bytes in a range, it begins in the range or at most 8^k
 * blocks before it. So at least an eighth of the requests examined on each level have
 * bytes in the range, whatever the mixture of long and short requests. Within a range,
 * requests are processed in the order of their numbers, so that the last of several
 * overlapping puts takes precedence. */
#include "access_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"

/* ---- the order of requests ---- */

enum { DIGIT = 11, LEVEL_BITS = 5, OCTET = 3 };

static int bits_of(int64_t n)
{
    return n <= 1 ? 1 : 64 - __builtin_clzll((uint64_t)(n - 1));
}

static uint64_t digit(uint64_t item, int shift)
{
    return item >> shift & ((1 << DIGIT) - 1);
}

/* One pass of the stable radix sort. */
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

/* Sorts by level and block; equal keys keep their order. */
static int sort_items(struct access_walk *w)
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

static int64_t block_at(const struct access_walk *w, int64_t offset)
{
    return (offset >> w->log2_block) - w->first_block;
}

/* Returns how many blocks a request on a level can extend past its first block. */
static int64_t reach_of(int level)
{
    return level == 0 ? 0 : (INT64_C(1) << (OCTET * level)) - 1;
}

static uint64_t key_of(const struct access_walk *w, int level, int64_t block)
{
    return ((uint64_t)level << w->block_bits | (uint64_t)block) << w->number_bits;
}

static int64_t number_of_item(const struct access_walk *w, int64_t i)
{
    return (int64_t)(w->items[i] & ((UINT64_C(1) << w->number_bits) - 1));
}

static void add_item(struct access_walk *w, int64_t number)
{
    const struct cdf_header *h = w->header;
    const struct access_request *r = w->reqs[number];
    struct access_extent s;
    if (!access_extent(h, r, &s)) return;
    int64_t block = block_at(w, s.low), last = block_at(w, s.high - 1);
    int level = 0;
    while (reach_of(level) < last - block)
        level++;
    w->levels |= UINT32_C(1) << level;
    w->items[w->nitems++] = key_of(w, level, block) | (uint64_t)number;
}

int access_walk_begin(struct access_walk *w, struct access_request *const *reqs,
                      int64_t n, int64_t low, int64_t high)
{
    w->reqs = reqs;
    w->number_bits = bits_of(n);
    w->hits = NULL;
    w->items = base_malloc((size_t)(n > 0 ? n : 1) * sizeof *w->items);
    w->parts = base_malloc(ACCESS_PARTS * sizeof *w->parts);
    if (w->items == NULL || w->parts == NULL) {
        base_free(w->items);
        base_free(w->parts);
        w->items = NULL;
        w->parts = NULL;
        return NC_ENOMEM;
    }
    for (int i = 0; i < ACCESS_PARTS; i++)
        w->parts[i].number = -1;
    if (n == 0) return NC_NOERR;
    /* Use coarser blocks if the numbers of finer blocks do not fit into the keys. */
    for (;; w->log2_block++) {
        w->first_block = low >> w->log2_block;
        w->block_bits = bits_of(block_at(w, high - 1) + 2); /* one more than needed */
        if (w->block_bits + w->number_bits + LEVEL_BITS <= 64) break;
    }
    for (int64_t i = 0; i < n; i++)
        add_item(w, i);
    int err = sort_items(w);
    if (err != NC_NOERR) access_walk_end(w);
    return err;
}

static void close_part(struct access_part *p)
{
    if (p->number < 0) return;
    access_values_end(&p->values);
    access_runs_end(&p->runs);
    p->number = -1;
}

void access_walk_end(struct access_walk *w)
{
    for (int i = 0; w->parts != NULL && i < ACCESS_PARTS; i++)
        close_part(&w->parts[i]);
    base_free(w->parts);
    base_free(w->items);
    base_free(w->hits);
    w->parts = NULL;
    w->items = NULL;
    w->hits = NULL;
    w->part = NULL;
    w->nitems = w->nhits = w->hit = w->hits_capacity = 0;
    w->levels = 0;
}

/* ---- the requests of a range ---- */

/* Returns the first item that is not below the key. */
static int64_t find_item(const struct access_walk *w, uint64_t key)
{
    int64_t low = 0, high = w->nitems;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (w->items[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Finds the items on a level that may have bytes in blocks [from, to]. Sets *first to the
 * first item, and returns the end of the items. */
static int64_t find_items(const struct access_walk *w, int level, int64_t from,
                          int64_t to, int64_t *first)
{
    from -= reach_of(level);
    *first = find_item(w, key_of(w, level, from > 0 ? from : 0));
    return find_item(w, key_of(w, level, to + 1));
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Lists the requests that may have bytes in blocks [from, to], sorted by number. */
static int find_hits(struct access_walk *w, int64_t from, int64_t to)
{
    bool sorted = true;
    w->nhits = 0;
    for (int level = 0; w->levels >> level > 0; level++) {
        int64_t first = 0, end = 0;
        if (w->levels >> level & 1) end = find_items(w, level, from, to, &first);
        int64_t n = w->nhits + end - first;
        void *grown = base_grow(w->hits, &w->hits_capacity, n, sizeof *w->hits);
        if (grown == NULL) return NC_ENOMEM;
        w->hits = grown;
        for (int64_t i = first; i < end; i++) {
            w->hits[w->nhits] = number_of_item(w, i);
            if (w->nhits > 0 && w->hits[w->nhits - 1] > w->hits[w->nhits]) sorted = false;
            w->nhits++;
        }
    }
    if (!sorted) qsort(w->hits, (size_t)w->nhits, sizeof *w->hits, by_number);
    return NC_NOERR;
}

/* Finds the numbered blocks that overlap [low, high). Returns false if there are none. */
static bool blocks_of(const struct access_walk *w, int64_t low, int64_t high,
                      int64_t *from, int64_t *to)
{
    int64_t last = (INT64_C(1) << w->block_bits) - 2;
    *from = block_at(w, low);
    *to = block_at(w, high - 1);
    if (w->nitems == 0 || low >= high || *to < 0 || *from > last) return false;
    if (*from < 0) *from = 0;
    if (*to > last) *to = last;
    return true;
}

/* ---- one request ---- */

static int begin_part(struct access_walk *w, int64_t number, struct access_part *p)
{
    const struct cdf_header *h = w->header;
    struct access_request *r = w->reqs[number];
    *p = (struct access_part){.number = -1, .limit = -1};
    int err = access_values_begin(&p->values, h, r, w->put);
    if (err != NC_NOERR) return err;
    err = access_runs_begin(&p->runs, h, r);
    if (err == NC_NOERR)
        p->number = number;
    else
        access_values_end(&p->values);
    return err;
}

int access_walk_part(struct access_walk *w, int64_t number, struct access_part **part)
{
    struct access_part *p = &w->parts[number % ACCESS_PARTS];
    *part = p;
    if (p->number == number) return NC_NOERR;
    close_part(p);
    int err = begin_part(w, number, p);
    if (err != NC_NOERR) access_set_status(w->reqs[number], err);
    return err;
}

/* Moves the cursor to the first value that has a part in a range starting at `low`. If
 * the previous range ended at `low`, the cursor is already in place. */
static void seek_part(const struct access_walk *w, struct access_part *p, int64_t low)
{
    int64_t xsize = p->values.xsize, at = w->put ? low - xsize + 1 : low;
    if (p->limit == low) return;
    int64_t rank = access_runs_seek(&p->runs, at), inside = rank % xsize;
    if (inside > 0) access_runs_skip_to(&p->runs, rank += xsize - inside);
    access_values_seek(&p->values, rank / xsize);
    p->limit = low;
}

/* Returns the next strip below the end of the range. It consists of whole values, so a
 * single run may extend beyond the end. A value that begins before the range is a
 * separate strip. */
static bool next_strip(const struct access_walk *w, struct access_part *p,
                       struct region_strip *s)
{
    int64_t at;
    p->limit = -1;
    return access_runs_peek(&p->runs, &at) &&
           access_runs_next_below(&p->runs, at < w->low ? at + 1 : w->high,
                                  p->values.xsize, s);
}

int access_walk_range(struct access_walk *w, int64_t low, int64_t high)
{
    int64_t from, to;
    w->low = low;
    w->high = high;
    w->part = NULL;
    w->strip.count = 0;
    w->nhits = w->hit = 0;
    return blocks_of(w, low, high, &from, &to) ? find_hits(w, from, to) : NC_NOERR;
}

bool access_walk_open(struct access_walk *w, int *err)
{
    if (w->part != NULL) return true;
    while (w->hit < w->nhits) {
        struct access_part *p;
        int opened = access_walk_part(w, w->hits[w->hit++], &p);
        if (opened == NC_NOERR) {
            seek_part(w, p, w->low);
            w->part = p;
            return true;
        }
        access_walk_set_error(err, opened);
    }
    return false;
}

bool access_walk_strip(struct access_walk *w)
{
    struct access_part *p = w->part;
    if (w->strip.count > 0) return true;
    if (next_strip(w, p, &w->strip)) {
        w->crossed = w->strip.offset + w->strip.length > w->high;
        return true;
    }
    /* A value that crosses the boundary will be found again in the second range. */
    if (!(w->put && w->crossed)) p->limit = w->high;
    w->crossed = false;
    w->part = NULL;
    return false;
}

void access_walk_suspend(struct access_walk *w)
{
    struct access_part *p = w->part;
    access_runs_skip_to(&p->runs, p->values.done * p->values.xsize);
    w->strip.count = 0;
    w->interrupted = p->number;
    w->interrupted_element = p->values.done;
}

int access_walk_resume(struct access_walk *w, int64_t low, int64_t high)
{
    struct access_part *p;
    int64_t number = w->interrupted, first = w->interrupted_element;
    int err = access_walk_range(w, low, high);
    while (w->hit < w->nhits && w->hits[w->hit++] != number)
        ;
    if (err == NC_NOERR) err = base_holds(w->hit > 0 && w->hits[w->hit - 1] == number);
    if (err == NC_NOERR) err = access_walk_part(w, number, &p);
    if (err != NC_NOERR) return err;
    access_values_seek(&p->values, first);
    p->limit = -1;
    w->part = p;
    access_walk_suspend(w);
    return NC_NOERR;
}

/* ---- next and last values ---- */

/* Lowers *next to the offset of the request's first value at or after `offset`. */
static int first_at(struct access_walk *w, int64_t number, int64_t offset, int64_t *next)
{
    struct access_part *p;
    int64_t at;
    int err = access_walk_part(w, number, &p);
    if (err != NC_NOERR) return err;
    seek_part(w, p, offset);
    if (access_runs_peek(&p->runs, &at) && at < *next) *next = at > offset ? at : offset;
    return NC_NOERR;
}

int access_walk_next(struct access_walk *w, int64_t offset, int64_t *next)
{
    int64_t from, to;
    *next = INT64_MAX;
    if (!blocks_of(w, offset, INT64_MAX, &from, &to)) return NC_NOERR;
    for (int level = 0; w->levels >> level > 0; level++) {
        int64_t i = find_item(w, key_of(w, level, from + 1));
        if (i == w->nitems || w->items[i] >= key_of(w, level + 1, 0)) continue;
        int64_t block = (int64_t)((w->items[i] - key_of(w, level, 0)) >> w->number_bits);
        int64_t at = (w->first_block + block) << w->log2_block;
        if (at < *next) *next = at;
    }
    int err = find_hits(w, from, from);
    if (err != NC_NOERR) return err;
    if (w->nhits > ACCESS_PARTS) *next = offset;
    for (int64_t i = 0; i<w->nhits && * next> offset && err == NC_NOERR; i++)
        err = first_at(w, w->hits[i], offset, next);
    return err;
}

/* Raises *to to the end of the request's last value that begins below `high`. */
static int last_below(struct access_walk *w, int64_t number, int64_t high, int64_t *to)
{
    struct access_part *p;
    int64_t at = 0;
    int err = access_walk_part(w, number, &p);
    if (err != NC_NOERR) return err;
    int64_t xsize = p->values.xsize, rank = access_runs_seek(&p->runs, high);
    p->limit = -1;
    if (rank == 0) return NC_NOERR;
    access_runs_skip_to(&p->runs, (rank - 1) / xsize * xsize);
    (void)access_runs_peek(&p->runs, &at);
    if (at + xsize > *to) *to = at + xsize;
    return NC_NOERR;
}

int access_walk_find_range(struct access_walk *w, int64_t low, int64_t high,
                           int64_t *from, int64_t *to)
{
    int err = access_walk_next(w, low, from);
    *to = low;
    if (err == NC_NOERR && *from >= high) *from = INT64_MAX;
    if (err != NC_NOERR || *from == INT64_MAX) return err;
    int64_t most = high < INT64_MAX - ACCESS_SLACK ? high + ACCESS_SLACK : INT64_MAX;
    err = access_walk_range(w, low, high);
    for (int64_t i = 0; i < w->nhits && err == NC_NOERR; i++) {
        if (w->nhits > ACCESS_PARTS) *to = most;
        if (*to >= high) break;
        err = last_below(w, w->hits[i], high, to);
    }
    if (*to > most) *to = most;
    return err;
}
