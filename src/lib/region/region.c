/* Builds and queries regions. Every constructor reduces its result to the simplest tree
 * that it can recognize: it drops loops of one iteration, merges contiguous loops and
 * blocks, and replaces evenly spaced equal parts by a loop. */
#include "region_tree.h"

#include <string.h>

#include "base_mem.h"

static struct region *new_node(enum region_kind kind, int room)
{
    struct region *r =
        base_calloc(1, sizeof *r + (size_t)room * sizeof(struct region_loop));
    if (r == NULL) return NULL;
    r->kind = kind;
    r->depth = 1;
    return r;
}

/* Creates a block in a tree node that has space for loops. Returns NULL if out of memory
 * or if the end of the block overflows. */
static struct region *new_block(int64_t offset, int64_t length, int room)
{
    int64_t end;
    if (length < 0 || room < 0) return NULL;
    if (__builtin_add_overflow(offset, length, &end)) return NULL;
    struct region *r = new_node(REGION_BLOCK, room);
    if (r == NULL || length == 0) return r;
    r->offset = r->low = offset;
    r->high = end;
    r->bytes = r->length = length;
    r->n = 1;
    return r;
}

struct region *region_block(int64_t offset, int64_t length)
{
    return new_block(offset, length, 0);
}

/* Adds an outer loop to r, which has space for it. Returns false on overflow. */
static bool add_loop(struct region *r, int64_t count, int64_t stride)
{
    int64_t span;
    if (count == 1) return true;
    if (__builtin_mul_overflow(r->bytes, count, &r->bytes)) return false;
    if (__builtin_mul_overflow(count - 1, stride, &span)) return false;
    int64_t *edge = span < 0 ? &r->low : &r->high;
    if (__builtin_add_overflow(*edge, span, edge)) return false;

    if (r->kind == REGION_BLOCK && r->nloops == 0 && stride == r->length) {
        r->length *= count;
        return true;
    }
    if (r->nloops > 0) {
        struct region_loop *last = &r->loops[r->nloops - 1];
        int64_t whole;
        if (!__builtin_mul_overflow(last->count, last->stride, &whole) &&
            whole == stride) {
            last->count *= count;
            return true;
        }
    }
    r->loops[r->nloops++] = (struct region_loop){.count = count, .stride = stride};
    r->levels++;
    return true;
}

/* Frees the space for loops that merging left unused. */
static struct region *shrink_region(struct region *r)
{
    size_t size = sizeof *r + (size_t)r->nloops * sizeof(struct region_loop);
    struct region *smaller = base_realloc(r, size);
    return smaller == NULL ? r : smaller;
}

/* Stores the byte count before some entries of a list. Without it, seeking is slower. */
static void mark_entries(struct region *r)
{
    r->marks = NULL;
    if (r->n <= REGION_MARK_EVERY) return;
    size_t marks = (size_t)((r->n - 1) / REGION_MARK_EVERY + 1);
    r->marks = base_malloc(marks * sizeof r->marks[0]);
    int64_t bytes = 0;
    for (int64_t i = 0; r->marks != NULL && i < r->n; i++) {
        if (i % REGION_MARK_EVERY == 0) r->marks[i / REGION_MARK_EVERY] = bytes;
        bytes += region_entry_bytes(r, i);
    }
}

/* Returns -1 if any count is negative, else 1 if any count is 0, else 0. */
static int any_zero(int ndims, const int64_t *count)
{
    int zero = 0;
    for (int k = 0; k < ndims; k++) {
        if (count[k] < 0) return -1;
        if (count[k] == 0) zero = 1;
    }
    return zero;
}

struct region *region_loops(int64_t offset, int ndims, const int64_t *count,
                            const int64_t *stride, int64_t elem_size)
{
    int zero = any_zero(ndims, count);
    if (zero < 0) return NULL;
    if (zero > 0 || elem_size == 0) return region_block(0, 0);
    struct region *r = new_block(offset, elem_size, ndims);
    if (r == NULL) return NULL;
    for (int k = ndims - 1; k >= 0; k--)
        if (!add_loop(r, count[k], stride[k])) {
            base_free(r);
            return NULL;
        }
    return shrink_region(r);
}

/* Adds a dimension to a slab; neighbouring elements along it are `step` bytes apart. If
 * the dimension has only one element, the stride is ignored and may have any value. */
static bool add_dimension(struct region *r, int64_t start, int64_t count, int64_t stride,
                          int64_t step)
{
    int64_t first, apart = 0;
    if (__builtin_mul_overflow(start, step, &first)) return false;
    if (count > 1 && __builtin_mul_overflow(stride, step, &apart)) return false;
    return region_shift(r, first) && add_loop(r, count, apart);
}

struct region *region_slab(int64_t offset, int ndims, const int64_t *shape,
                           const int64_t *start, const int64_t *count,
                           const int64_t *stride, int64_t elem_size, int64_t row0_bytes)
{
    int zero = any_zero(ndims, count);
    if (zero < 0) return NULL;
    if (zero > 0 || elem_size == 0) return region_block(0, 0);
    struct region *r = new_block(offset, elem_size, ndims);
    if (r == NULL) return NULL;
    int64_t step = elem_size;
    bool good = true;
    for (int k = ndims - 1; good && k >= 0; k--) {
        if (k == 0 && row0_bytes != 0) step = row0_bytes;
        good = add_dimension(r, start[k], count[k], stride == NULL ? 1 : stride[k], step);
        if (k > 0) good = !__builtin_mul_overflow(step, shape[k], &step) && good;
    }
    if (good) return shrink_region(r);
    base_free(r);
    return NULL;
}

struct region *region_repeat(struct region *child, int64_t count, int64_t stride)
{
    if (child == NULL) return NULL;
    if (count == 1 || (child->bytes == 0 && count >= 0)) return child;
    if (count <= 0) {
        region_free(child);
        return count < 0 ? NULL : region_block(0, 0);
    }
    size_t size =
        sizeof *child + ((size_t)child->nloops + 1) * sizeof(struct region_loop);
    struct region *r = base_realloc(child, size);
    if (r == NULL || !add_loop(r, count, stride)) {
        region_free(r == NULL ? child : r);
        return NULL;
    }
    return shrink_region(r);
}

/* ---- blocks ---- */

/* Appends a block to m blocks, or extends the last one if it is contiguous. Returns the
 * new number of blocks, or -1 on overflow or a negative length. */
static int64_t enter_block(struct region_extent *to, int64_t m, int64_t offset,
                           int64_t length)
{
    int64_t end;
    if (length < 0 || __builtin_add_overflow(offset, length, &end)) return -1;
    if (length == 0) return m;
    if (m > 0 && to[m - 1].offset + to[m - 1].length == offset)
        return __builtin_add_overflow(to[m - 1].length, length, &to[m - 1].length) ? -1
                                                                                   : m;
    to[m] = (struct region_extent){.offset = offset, .length = length};
    return m + 1;
}

/* Returns whether the m > 1 blocks have equal lengths and are evenly spaced, and sets
 * *stride to the distance between them. */
static bool are_blocks_even(const struct region_extent *b, int64_t m, int64_t *stride)
{
    if (__builtin_sub_overflow(b[1].offset, b[0].offset, stride)) return false;
    for (int64_t i = 1; i < m; i++) {
        int64_t apart;
        if (b[i].length != b[0].length) return false;
        if (__builtin_sub_overflow(b[i].offset, b[i - 1].offset, &apart)) return false;
        if (apart != *stride) return false;
    }
    return true;
}

static struct region *uneven_blocks(struct region_extent *b, int64_t m)
{
    struct region *r = new_node(REGION_BLOCKS, 0);
    if (r == NULL) return NULL;
    r->low = INT64_MAX;
    r->high = INT64_MIN;
    for (int64_t i = 0; i < m; i++) {
        int64_t end = b[i].offset + b[i].length;
        if (b[i].offset < r->low) r->low = b[i].offset;
        if (end > r->high) r->high = end;
        if (__builtin_add_overflow(r->bytes, b[i].length, &r->bytes)) {
            base_free(r);
            return NULL;
        }
    }
    struct region_extent *smaller = base_realloc(b, (size_t)m * sizeof *b);
    r->blocks = smaller == NULL ? b : smaller;
    r->n = m;
    mark_entries(r);
    return r;
}

struct region *region_of_extents(struct region_extent *b, int64_t m)
{
    struct region *r = NULL;
    int64_t stride = 0;
    if (m > 1 && !are_blocks_even(b, m, &stride)) {
        r = uneven_blocks(b, m);
        if (r == NULL) base_free(b);
        return r;
    }
    if (m >= 0) r = m == 0 ? region_block(0, 0) : new_block(b->offset, b->length, 1);
    if (r != NULL && m > 1 && !add_loop(r, m, stride)) {
        base_free(r);
        r = NULL;
    }
    base_free(b);
    return r == NULL ? NULL : shrink_region(r);
}

struct region *region_blocks(int64_t n, const int64_t *displ, const int64_t *length)
{
    if (n < 0) return NULL;
    struct region_extent *b = base_calloc((size_t)n, sizeof *b);
    if (b == NULL) return NULL;
    int64_t m = 0;
    for (int64_t i = 0; i < n && m >= 0; i++)
        m = enter_block(b, m, displ[i], length[i]);
    return region_of_extents(b, m);
}

/* ---- lists ---- */

static void free_children(struct region **kids, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        region_free(kids[i]);
    base_free(kids);
}

static bool same_shape(const struct region *a, const struct region *b)
{
    if (a->kind != b->kind || a->n != b->n || a->bytes != b->bytes ||
        a->nloops != b->nloops)
        return false;
    if (memcmp(a->loops, b->loops, (size_t)a->nloops * sizeof a->loops[0]) != 0)
        return false;
    if (a->kind == REGION_BLOCK) return a->length == b->length;
    if (a->kind == REGION_BLOCKS)
        return memcmp(a->blocks, b->blocks, (size_t)a->n * sizeof a->blocks[0]) == 0;
    for (int64_t i = 0; i < a->n; i++)
        if (a->children[i]->offset != b->children[i]->offset ||
            !same_shape(a->children[i], b->children[i]))
            return false;
    return true;
}

/* Returns whether the m > 1 regions are equal and evenly spaced, and sets *stride to the
 * distance between them. */
static bool are_children_even(struct region *const *kids, int64_t m, int64_t *stride)
{
    if (__builtin_sub_overflow(kids[1]->offset, kids[0]->offset, stride)) return false;
    for (int64_t i = 1; i < m; i++) {
        int64_t apart;
        if (__builtin_sub_overflow(kids[i]->offset, kids[i - 1]->offset, &apart))
            return false;
        if (apart != *stride || !same_shape(kids[i], kids[0])) return false;
    }
    return true;
}

static bool is_block(const struct region *r)
{
    return r->nloops == 0 && r->kind == REGION_BLOCK;
}

static bool is_blocks(const struct region *r)
{
    return r->nloops == 0 && r->kind != REGION_LIST;
}

/* Extends `last` by r if both are blocks and r continues it. */
static bool join_blocks(struct region *last, const struct region *r)
{
    int64_t whole;
    if (!is_block(last) || !is_block(r) || last->high != r->low) return false;
    if (__builtin_sub_overflow(r->high, last->low, &whole)) return false;
    last->high = r->high;
    last->bytes = last->length = whole;
    return true;
}

/* Frees empty children and joins contiguous blocks. Returns the remaining child count. */
static int64_t merge_children(struct region **kids, int64_t n)
{
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if (kids[i]->bytes == 0 || (m > 0 && join_blocks(kids[m - 1], kids[i])))
            region_free(kids[i]);
        else
            kids[m++] = kids[i];
    }
    return m;
}

/* Joins blocks and lists of blocks into one list of blocks. Takes ownership of `kids`. */
static struct region *join_plain(struct region **kids, int64_t m)
{
    int64_t total = 0;
    for (int64_t i = 0; i < m; i++)
        total += kids[i]->n;
    struct region_extent *b = base_calloc((size_t)total, sizeof *b);
    int64_t at = 0;
    for (int64_t i = 0; b != NULL && at >= 0 && i < m; i++) {
        const struct region *r = kids[i];
        if (r->kind == REGION_BLOCK)
            at = enter_block(b, at, r->offset, r->length);
        else
            for (int64_t j = 0; at >= 0 && j < r->n; j++)
                at = enter_block(b, at, r->offset + r->blocks[j].offset,
                                 r->blocks[j].length);
    }
    free_children(kids, m);
    return b == NULL ? NULL : region_of_extents(b, at);
}

static struct region *uneven_list(struct region **kids, int64_t m)
{
    struct region *r = new_node(REGION_LIST, 0);
    if (r == NULL) return NULL;
    r->low = INT64_MAX;
    r->high = INT64_MIN;
    for (int64_t i = 0; i < m; i++) {
        const struct region *k = kids[i];
        if (__builtin_add_overflow(r->bytes, k->bytes, &r->bytes)) {
            base_free(r);
            return NULL;
        }
        if (k->low < r->low) r->low = k->low;
        if (k->high > r->high) r->high = k->high;
        if (k->depth >= r->depth) r->depth = k->depth + 1;
        if (k->levels > r->levels) r->levels = k->levels;
    }
    r->children = kids;
    r->n = m;
    mark_entries(r);
    return r;
}

/* Makes a region from m tidied children. Takes ownership of `kids`. */
static struct region *of_children(struct region **kids, int64_t m)
{
    bool all_plain = true;
    for (int64_t i = 0; i < m; i++)
        all_plain = all_plain && is_blocks(kids[i]);
    if (m > 1 && all_plain) return join_plain(kids, m);

    int64_t stride = 0;
    if (m > 1 && !are_children_even(kids, m, &stride)) {
        struct region *r = uneven_list(kids, m);
        if (r == NULL) free_children(kids, m);
        return r;
    }
    struct region *first = m == 0 ? region_block(0, 0) : kids[0];
    for (int64_t i = 1; i < m; i++)
        region_free(kids[i]);
    base_free(kids);
    return m > 1 ? region_repeat(first, m, stride) : first;
}

struct region *region_list(int64_t n, const int64_t *displ, struct region **children)
{
    if (n < 0) return NULL;
    struct region **kids = base_calloc((size_t)n, sizeof(struct region *));
    bool good = kids != NULL;
    for (int64_t i = 0; i < n; i++) {
        good = good && children[i] != NULL && region_shift(children[i], displ[i]);
        if (kids != NULL) kids[i] = children[i];
    }
    if (good) return of_children(kids, merge_children(kids, n));
    for (int64_t i = 0; i < n; i++)
        region_free(children[i]);
    base_free(kids);
    return NULL;
}

bool region_shift(struct region *r, int64_t by)
{
    int64_t offset, low, high;
    if (r->bytes == 0) return true;
    if (__builtin_add_overflow(r->offset, by, &offset) ||
        __builtin_add_overflow(r->low, by, &low) ||
        __builtin_add_overflow(r->high, by, &high))
        return false;
    r->offset = offset;
    r->low = low;
    r->high = high;
    return true;
}

static bool clone_body(struct region *copy, const struct region *r)
{
    if (r->kind == REGION_BLOCKS) {
        copy->blocks = base_malloc((size_t)r->n * sizeof r->blocks[0]);
        if (copy->blocks == NULL) return false;
        memcpy(copy->blocks, r->blocks, (size_t)r->n * sizeof r->blocks[0]);
    } else if (r->kind == REGION_LIST) {
        copy->n = 0; /* number of valid children, in case a clone fails */
        copy->children = base_malloc((size_t)r->n * sizeof(struct region *));
        while (copy->children != NULL && copy->n < r->n) {
            struct region *child = region_clone(r->children[copy->n]);
            if (child == NULL) break;
            copy->children[copy->n++] = child;
        }
    }
    if (copy->n < r->n) return false;
    if (r->kind != REGION_BLOCK) mark_entries(copy);
    return true;
}

struct region *region_clone(const struct region *r)
{
    size_t size = sizeof *r + (size_t)r->nloops * sizeof(struct region_loop);
    struct region *copy = base_malloc(size);
    if (copy == NULL) return NULL;
    memcpy(copy, r, size);
    copy->marks = NULL;
    if (clone_body(copy, r)) return copy;
    region_free(copy);
    return NULL;
}

void region_free(struct region *r)
{
    if (r == NULL) return;
    if (r->kind == REGION_BLOCKS) base_free(r->blocks);
    if (r->kind == REGION_LIST) free_children(r->children, r->n);
    base_free(r->marks);
    base_free(r);
}

/* ---- queries ---- */

int64_t region_bytes(const struct region *r)
{
    return r->bytes;
}

void region_bounds(const struct region *r, int64_t *low, int64_t *high)
{
    *low = r->low;
    *high = r->high;
}

bool region_is_block(const struct region *r, int64_t *offset)
{
    if (!is_block(r)) return false;
    *offset = r->offset;
    return true;
}

/* The product cannot overflow, because there are no more runs than bytes. */
int64_t region_runs(const struct region *r)
{
    int64_t runs = r->n;
    if (r->kind == REGION_LIST) {
        runs = 0;
        for (int64_t i = 0; i < r->n; i++)
            runs += region_runs(r->children[i]);
    }
    for (int k = 0; k < r->nloops; k++)
        runs *= r->loops[k].count;
    return runs;
}

/* Returns the bitwise OR of all offsets, lengths and strides of the tree. A power of two
 * that divides the result divides the start and end of every run. */
static uint64_t or_of_offsets(const struct region *r)
{
    uint64_t all = (uint64_t)r->offset;
    if (r->kind == REGION_BLOCK) all |= (uint64_t)r->length;
    for (int64_t i = 0; r->kind == REGION_BLOCKS && i < r->n; i++)
        all |= (uint64_t)(r->blocks[i].offset | r->blocks[i].length);
    for (int64_t i = 0; r->kind == REGION_LIST && i < r->n; i++)
        all |= or_of_offsets(r->children[i]);
    for (int k = 0; k < r->nloops; k++)
        all |= (uint64_t)r->loops[k].stride;
    return all;
}

int region_grain(const struct region *r)
{
    uint64_t all = or_of_offsets(r);
    return all == 0 ? 62 : __builtin_ctzll(all);
}

/* Returns whether the body ascends, and sets *low and *high to its bounds. */
static bool body_ascends(const struct region *r, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int64_t i = 0; i < r->n; i++) {
        int64_t begin = 0, end = r->length;
        if (r->kind == REGION_BLOCKS) {
            begin = r->blocks[i].offset;
            end = begin + r->blocks[i].length;
        } else if (r->kind == REGION_LIST) {
            if (!region_is_ascending(r->children[i])) return false;
            region_bounds(r->children[i], &begin, &end);
        }
        if (i == 0) *low = begin;
        if (i > 0 && begin < *high) return false;
        *high = end;
    }
    return true;
}

bool region_is_ascending(const struct region *r)
{
    int64_t low, high;
    if (r->bytes == 0) return true;
    if (!body_ascends(r, &low, &high)) return false;
    for (int k = 0; k < r->nloops; k++) {
        int64_t extent;
        if (__builtin_sub_overflow(high, low, &extent)) return false;
        if (r->loops[k].stride < extent) return false;
        high += (r->loops[k].count - 1) * r->loops[k].stride;
    }
    return true;
}
