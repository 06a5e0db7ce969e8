/* Regions of bytes: what part of a file, or of a buffer, a request touches.
 *
 * A region is a tree of loops and lists over blocks of bytes. A hyperslab
 * (start/count/stride) is a few nested loops, whatever its size; so are a mapped
 * array (imap) and most MPI datatypes. It is never expanded to a list of runs: a
 * cursor walks it, in its own order, with memory that depends on its depth only. */
#ifndef REGION_H
#define REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region; /* opaque tree */

/* ---- making ---- */

/* length bytes at offset. NULL when memory is short, as all of these; length 0
 * gives the empty region. */
struct region *region_block(int64_t offset, int64_t length);

/* ndims nested loops, the last varies fastest: element (i0, i1, ...) is
 * elem_size bytes at offset + sum of i_k * stride[k], i_k < count[k]. Strides are in
 * bytes and may be negative or 0. Loops of 1 vanish and contiguous ones are merged:
 * a contiguous slab becomes one block. ndims 0: one element. */
struct region *region_loops(int64_t offset, int ndims, const int64_t *count,
                            const int64_t *stride, int64_t elem_size);

/* The hyperslab of a row-major array of shape[] elements at offset: start, count
 * and stride (NULL: all 1) in elements; the rows of dimension 0 are row0_bytes apart
 * (a record variable's record size), or as far as shape[] makes them when it is 0. */
struct region *region_slab(int64_t offset, int ndims, const int64_t *shape,
                           const int64_t *start, const int64_t *count,
                           const int64_t *stride, int64_t elem_size, int64_t row0_bytes);

/* `count` copies of child, stride bytes apart. Takes over child, also on failure. */
struct region *region_repeat(struct region *child, int64_t count, int64_t stride);

/* The children one after the other, child i moved by displ[i] bytes. Takes over the
 * children (not the array), also on failure; NULL among them is a failure. */
struct region *region_list(int64_t n, const int64_t *displ, struct region **children);

/* n blocks: length[i] bytes at displ[i]. */
struct region *region_blocks(int64_t n, const int64_t *displ, const int64_t *length);

struct region_extent {
    int64_t offset, length;
};

/* The same, of which none is empty, and none begins where the one before ends. Takes over
 * their array, which base_malloc gave, also on failure. */
struct region *region_of_extents(struct region_extent *blocks, int64_t n);

void region_free(struct region *r);

/* ---- asking ---- */

int64_t region_bytes(const struct region *r);

/* First byte and one past the last byte touched; both 0 for an empty region. */
void region_bounds(const struct region *r, int64_t *low, int64_t *high);

/* True if all its bytes are one run in order; *offset is where it starts (0 if
 * empty). */
bool region_is_block(const struct region *r, int64_t *offset);

/* True if it is walked upwards only, and touches no byte twice. */
bool region_is_ascending(const struct region *r);

/* Runs of bytes that it has at most (adjacent ones may not be joined). */
int64_t region_runs(const struct region *r);

/* All its runs begin and end at multiples of 2 to the power of this. */
int region_grain(const struct region *r);

/* ---- walking ---- */

/* `count` runs of `length` bytes, `stride` bytes apart, the first at offset. */
struct region_strip {
    int64_t offset, length, stride, count;
};

struct region_cursor;

/* A cursor at the region's first byte; NULL when memory is short. The region must
 * outlive it. */
struct region_cursor *region_cursor_new(const struct region *r);
void region_cursor_free(struct region_cursor *c);

/* The next strip, of at most max_bytes (> 0) and max_runs (> 0); false at the end.
 * A run longer than max_bytes is cut; a strip of whole runs takes as many as fit. */
bool region_next(struct region_cursor *c, int64_t max_bytes, int64_t max_runs,
                 struct region_strip *strip);

/* Like region_next for an ascending region (see region_is_ascending), but of runs, or
 * parts of a run in whole units, only those that begin below limit; false if there is
 * none. unit is a power of two that divides the length of every run. */
bool region_next_below(struct region_cursor *c, int64_t limit, int64_t unit,
                       struct region_strip *strip);

/* Blocks side by side in a list (see region_blocks), of so many bytes together. */
struct region_span {
    const struct region_extent *blocks; /* their offsets are relative to base */
    int64_t n, base, bytes;
};

/* The next blocks, as many as are in one list, end at limit or before it, have at most
 * `longest` bytes each and max_bytes together; false if the next strip is none of them.
 */
bool region_next_blocks(struct region_cursor *c, int64_t limit, int64_t longest,
                        int64_t max_bytes, struct region_span *span);

/* Where the next byte lies; false at the end. */
bool region_peek(struct region_cursor *c, int64_t *offset);

/* ---- seeking ---- */

/* Both put the cursor, wherever it is, to another place without walking what is between:
 * in time that grows with the depth of the tree and the logarithm of its lists' lengths.
 * It goes on from there as one that walked to it. */

/* To byte number `rank` (from 0) in the region's own order; to its end for region_bytes.
 * False, and nothing done, if there is no such byte. */
bool region_skip_to(struct region_cursor *c, int64_t rank);

/* In an ascending region (see region_is_ascending): to the first of its bytes at offset
 * or behind it, to the end if there is none. Returns how many bytes are before that one.
 */
int64_t region_seek(struct region_cursor *c, int64_t offset);

/* ---- moving bytes in memory ---- */

/* Copies count pieces of `length` bytes, to_step and from_step bytes apart. */
void region_copy_pieces(void *to, int64_t to_step, const void *from, int64_t from_step,
                        int64_t count, int64_t length);

/* Gathers the next n bytes under the cursor from base into packed; returns how many
 * (fewer only at the end). region_scatter goes the other way. */
size_t region_gather(struct region_cursor *c, const void *base, void *packed, size_t n);
size_t region_scatter(struct region_cursor *c, void *base, const void *packed, size_t n);

#endif
