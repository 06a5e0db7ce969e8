/* The tree behind struct region; for the files of this room alone. */
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

/* A body and the loops around it. One block with its loops is a whole hyperslab, in
 * one allocation. Kept simple as it is built: no loop of one turn, no loop that its
 * neighbour could do alone, no list of one, no empty part. */
struct region {
    int64_t offset;           /* of the body's first instance; all below is relative */
    int64_t bytes, low, high; /* of the whole, loops included */
    int64_t n;                /* blocks or regions in the body */
    union {
        int64_t length;
        struct region_extent *blocks;
        struct region **children;
    };
    /* How many bytes of the body lie before entry 0, REGION_MARK_EVERY, twice that...;
     * made with the list, as threads may share it. NULL: it is short, or memory was. */
    int64_t *marks;
    enum region_kind kind;
    int nloops;
    int depth;                  /* nodes on the longest way down, this one included */
    int levels;                 /* loops on the way down that has most */
    struct region_loop loops[]; /* the innermost first */
};

/* How many bytes entry i of a list has. */
static inline int64_t region_entry_bytes(const struct region *r, int64_t i)
{
    return r->kind == REGION_BLOCKS ? r->blocks[i].length : r->children[i]->bytes;
}

/* `rows` times the strip, `pitch` bytes apart. */
struct region_plane {
    struct region_strip strip;
    int64_t rows, pitch;
};

/* Like region_next, but as many whole strips of one loop at once as fit. */
bool region_next_plane(struct region_cursor *c, int64_t max_bytes,
                       struct region_plane *plane);

/* A copy that shares nothing; NULL when memory is short. */
struct region *region_clone(const struct region *r);

/* Moves the region; false, and nothing done, if an offset would overflow. */
bool region_shift(struct region *r, int64_t by);

#endif
