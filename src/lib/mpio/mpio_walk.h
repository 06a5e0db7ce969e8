/* Requests taken block by block of the file: each value goes straight to or from its
 * place in a block, whatever the order of the requests. A value belongs to the block that
 * its first byte is in, so that a block may need MPIO_SLACK bytes more than it has. */
#ifndef MPIO_WALK_H
#define MPIO_WALK_H

#include "mpio.h"

/* Marks stand for at most 2 to the power of this, which divides where blocks begin. */
enum { MPIO_COARSE = 6 };

/* What the requests of one process amount to in the file; of none: low is INT64_MAX. */
struct mpio_survey {
    int64_t low, high;
    int64_t pieces; /* at most */
    int64_t bytes;
    int64_t shift; /* all pieces begin and end at multiples of 1 << shift */
    bool fits;     /* each request goes through the file upwards, and a walk can number
                    * the blocks */
};

/* NC_ENOMEM, NC_EINTOVERFLOW. */
int mpio_survey(struct mpio *m, struct driver_request *const *reqs, int64_t n,
                struct mpio_survey *survey);

/* Where a request that is not raw begins, and whether it is one run of bytes. */
bool mpio_one_run(const struct cdf_header *h, const struct driver_request *r,
                  int64_t *low);

/* Bits that the numbers below n take. */
static inline int mpio_number_bits(int64_t n)
{
    return n <= 1 ? 1 : 64 - __builtin_clzll((uint64_t)(n - 1));
}

/* The region of the file of a request that is not raw; NULL when memory is short. The
 * caller frees it. */
struct region *mpio_region(const struct cdf_header *h, const struct driver_request *r);

/* A request that was begun. */
struct mpio_part;

struct mpio_walk {
    struct mpio *m;
    struct driver_request *const *reqs;
    bool put;
    int log2_block; /* the file is cut at multiples of so many bytes */
    int64_t first_block;
    int number_bits;
    uint64_t *items; /* requests: the block they begin in, counted from the first, above
                      * number_bits of their own number; ascending */
    int64_t nitems, begun;
    struct mpio_part *parts, *kept; /* requests begun and not ended, by number; spare */
    int64_t nparts, parts_capacity, kept_capacity;
};

/* n requests that fit, none of which begins before low. NC_ENOMEM. */
int mpio_walk_begin(struct mpio_walk *w, struct driver_request *const *reqs, int64_t n,
                    int64_t low);
void mpio_walk_end(struct mpio_walk *w);

/* Where the next value lies; INT64_MAX: nowhere. */
int64_t mpio_walk_next(const struct mpio_walk *w);

/* Part of a block of the file, [start, end), in memory, and its marks, one for each
 * 1 << shift bytes: a put sets them where it has left a value. */
struct mpio_block {
    unsigned char *bytes, *marks;
    int64_t start, end;
    int shift;
    int64_t low, high; /* out: the bytes of it that were used, from its start */
};

/* Puts or gets all values in the block, and none before it may be left. The first error,
 * NC_ERANGE the least of them; with another the rest of the walk is given up. */
int mpio_walk_block(struct mpio_walk *w, struct mpio_block *b);

#endif
