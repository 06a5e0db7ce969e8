/* A region describes the bytes of a file, or of a buffer, that a request accesses.
 *
 * A region is a tree of loops and lists over blocks of bytes. A hyperslab
 * (start/count/stride) of any size is a few nested loops, and so are mapped arrays (imap)
 * and most MPI datatypes. A region is never expanded to a list of runs: a cursor
 * traverses it in order, with memory proportional only to its depth. region.c builds and
 * queries regions, region_cursor.c traverses them and seeks in them, region_pack.c copies
 * between a region and contiguous memory, and region_mpi.c converts MPI datatypes. */
#ifndef REGION_H
#define REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region; /* an opaque tree */

/* ---- construction ---- */

/* Creates a region of `length` bytes at `offset`, which is empty if length is 0. Like all
 * constructors, returns NULL if out of memory. */
struct region *region_block(int64_t offset, int64_t length);

/* Creates ndims nested loops, the last of which varies fastest: element (i0, i1, ...) is
 * elem_size bytes at offset + sum of i_k * stride[k], i_k < count[k]. Strides are in
 * bytes and may be negative or 0. Loops of one iteration are dropped and contiguous loops
 * are merged, so a contiguous slab becomes one block. If ndims is 0, the region has one
 * element. */
struct region *region_loops(int64_t offset, int ndims, const int64_t *count,
                            const int64_t *stride, int64_t elem_size);

/* Creates a hyperslab of a row-major array of shape[] elements at `offset`. start, count
 * and stride (NULL if all are 1) are in elements. The rows of dimension 0 are row0_bytes
 * apart (a record variable's record size) or, if row0_bytes is 0, as far apart as shape[]
 * implies. */
struct region *region_slab(int64_t offset, int ndims, const int64_t *shape,
                           const int64_t *start, const int64_t *count,
                           const int64_t *stride, int64_t elem_size, int64_t row0_bytes);

/* Creates `count` copies of a child, `stride` bytes apart. Takes ownership of the child,
 * even on failure. */
struct region *region_repeat(struct region *child, int64_t count, int64_t stride);

/* Creates a sequence of children, with child i moved by displ[i] bytes. Takes ownership
 * of the children (not of the array), even on failure; a NULL child is a failure. */
struct region *region_list(int64_t n, const int64_t *displ, struct region **children);

/* Creates n blocks; block i has length[i] bytes at displ[i]. */
struct region *region_blocks(int64_t n, const int64_t *displ, const int64_t *length);

struct region_extent {
    int64_t offset, length;
};

/* Appends an extent to a list of n, or extends the last one if it ends at `offset`.
 * Returns the new n. The end must not exceed INT64_MAX. */
static inline int64_t region_add_extent(struct region_extent *list, int64_t n,
                                        int64_t offset, int64_t length)
{
    if (n > 0 && list[n - 1].offset + list[n - 1].length == offset)
        list[--n].length += length;
    else
        list[n] = (struct region_extent){offset, length};
    return n + 1;
}

/* Same as region_blocks, but no block may be empty or begin where the previous one ends.
 * Takes ownership of the array, which must come from base_malloc, even on failure. */
struct region *region_of_extents(struct region_extent *blocks, int64_t n);

void region_free(struct region *r);

/* ---- queries ---- */

int64_t region_bytes(const struct region *r);

/* Sets [*low, *high) to the bounds of the bytes; both are 0 for an empty region. */
void region_bounds(const struct region *r, int64_t *low, int64_t *high);

/* Returns whether the bytes form one ascending run; *offset is its start (0 if empty). */
bool region_is_block(const struct region *r, int64_t *offset);

/* Returns whether offsets only increase during a traversal, so no byte occurs twice. */
bool region_is_ascending(const struct region *r);

/* Returns an upper bound on the number of runs; may count adjacent runs separately. */
int64_t region_runs(const struct region *r);

/* Returns k such that all runs begin and end at multiples of 2^k. */
int region_grain(const struct region *r);

/* ---- traversing ---- */

/* `count` runs of `length` bytes, `stride` bytes apart, starting at `offset`. */
struct region_strip {
    int64_t offset, length, stride, count;
};

struct region_cursor;

/* Creates a cursor at the region's first byte. Returns NULL if out of memory. The region
 * must outlive the cursor. */
struct region_cursor *region_cursor_new(const struct region *r);
void region_cursor_free(struct region_cursor *c);

/* Finds the next strip of at most max_bytes (> 0) bytes and max_runs (> 0) runs. Returns
 * false at the end. Cuts a run longer than max_bytes; otherwise finds as many whole runs
 * as fit. */
bool region_next(struct region_cursor *c, int64_t max_bytes, int64_t max_runs,
                 struct region_strip *strip);

/* Same as region_next, but for an ascending region (see region_is_ascending), and finds
 * only runs, or parts of a run in whole units, that begin below `limit`. Returns false if
 * there are none. `unit` is a power of two that divides the length of every run. */
bool region_next_below(struct region_cursor *c, int64_t limit, int64_t unit,
                       struct region_strip *strip);

/* Consecutive blocks of a list (see region_blocks), with `bytes` bytes in total. */
struct region_span {
    const struct region_extent *blocks; /* their offsets are relative to base */
    int64_t n, base, bytes;
};

/* Finds the next blocks. Returns as many as are in the same list, end at or before
 * `limit`, have at most `longest` bytes each, and have at most max_bytes bytes together.
 * Returns false if the next strip is not such a block. */
bool region_next_blocks(struct region_cursor *c, int64_t limit, int64_t longest,
                        int64_t max_bytes, struct region_span *span);

/* Sets *offset to the offset of the next byte. Returns false at the end. */
bool region_peek(struct region_cursor *c, int64_t *offset);

/* ---- seeking ---- */

/* Both functions move the cursor to any position without traversing the region, in time
 * proportional to the depth of the tree and the logarithm of the lengths of its lists. */

/* Moves to byte number `rank` (from 0) in the region's order, or to the end if `rank`
 * equals region_bytes. Returns false and does nothing if there is no such byte. */
bool region_skip_to(struct region_cursor *c, int64_t rank);

/* Moves to the first byte at or after `offset` in an ascending region (see
 * region_is_ascending), or to the end if none. Returns the number of bytes before it. */
int64_t region_seek(struct region_cursor *c, int64_t offset);

/* ---- copying in memory ---- */

/* Copies count pieces of `length` bytes, to_step and from_step bytes apart. */
void region_copy_pieces(void *to, int64_t to_step, const void *from, int64_t from_step,
                        int64_t count, int64_t length);

/* Copies the region's next n bytes, relative to `base`, into `packed`. Returns the number
 * of bytes copied, which is less than n only at the end. region_scatter copies in the
 * other direction. */
size_t region_gather(struct region_cursor *c, const void *base, void *packed, size_t n);
size_t region_scatter(struct region_cursor *c, void *base, const void *packed, size_t n);

#endif
