/* A region's tree. Private to this module. */
#ifndef REGION_TREE_H
#define REGION_TREE_H

#include "region.h"

struct region_loop {
    int64_t count, stride;
};

enum region_kind {
    REGION_BLOCK,  /* one block of `length` bytes */
    REGION_BLOCKS, /* n blocks */
    REGION_LIST    /* n regions */
};

enum { REGION_MARK_EVERY = 64 };

/* A body and the loops around it. A hyperslab is one block with its loops, in one
 * allocation. Invariants: there are no loops of one iteration, no two loops that could be
 * merged, no lists of one entry, and no empty parts. */
struct region {
    int64_t offset;           /* offset of the body's first instance; offsets of its
                               * entries are relative to it */
    int64_t bytes, low, high; /* size and bounds of the whole region, including loops */
    int64_t n;                /* number of blocks or regions in the body */
    union {
        int64_t length;
        struct region_extent *blocks;
        struct region **children;
    };
    /* Number of bytes of the body before entries 0, REGION_MARK_EVERY, 2 *
     * REGION_MARK_EVERY ... It is computed when the list is created, because threads may
     * share the list. NULL if the list is short or memory ran out. */
    int64_t *marks;
    enum region_kind kind;
    int nloops;
    int depth;                  /* number of nodes on the longest path to a leaf */
    int levels;                 /* maximum number of loops on a path to a leaf */
    struct region_loop loops[]; /* innermost first */
};

/* Returns the number of bytes in entry i of a list. */
static inline int64_t region_entry_bytes(const struct region *r, int64_t i)
{
    return r->kind == REGION_BLOCKS ? r->blocks[i].length : r->children[i]->bytes;
}

/* `rows` copies of a strip that are `pitch` bytes apart. */
struct region_plane {
    struct region_strip strip;
    int64_t rows, pitch;
};

/* Same as region_next, but finds as many whole strips of one loop as fit. */
bool region_next_plane(struct region_cursor *c, int64_t max_bytes,
                       struct region_plane *plane);

/* Returns a deep copy, or NULL if out of memory. */
struct region *region_clone(const struct region *r);

/* Moves the region. Returns false and does nothing if that would overflow an offset. */
bool region_shift(struct region *r, int64_t by);

#endif
