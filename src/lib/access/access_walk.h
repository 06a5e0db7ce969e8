/* Visits the values of many requests, one range of the file after another. The ranges may
 * come in any order. Values in a block are moved directly to or from their position
 * there, or packed for another process. A value of a get belongs to the range of its
 * first byte, so a block may extend by up to ACCESS_SLACK bytes. A value of a put is cut
 * at range boundaries. */
#ifndef ACCESS_WALK_H
#define ACCESS_WALK_H

#include "access_runs.h"
#include "access_values.h"

/* A mark covers at most 1 << ACCESS_COARSE bytes, and ranges begin at multiples of this
 * size. */
enum { ACCESS_COARSE = 6, ACCESS_SLACK = 8 };

/* Extent of requests in the file. Without requests low is INT64_MAX and high is 0. */
struct access_extent {
    int64_t low, high;
    int64_t pieces; /* upper bound on the number of pieces */
    int64_t bytes;
    int shift;      /* all pieces begin and end at multiples of 1 << shift */
    bool ascending; /* the offsets ascend within each request */
};

/* Computes a request's extent. Returns false and leaves *s unchanged if it is empty. */
bool access_extent(const struct cdf_header *h, const struct access_request *r,
                   struct access_extent *s);
/* Computes the extent of a nonempty hyperslab. */
void access_extent_slab(const struct cdf_header *h, const struct cdf_var *v,
                        const int64_t *start, const int64_t *count, const int64_t *stride,
                        struct access_extent *s);
void access_extent_add(struct access_extent *sum, const struct access_extent *s);
static inline struct access_extent access_extent_init(void)
{
    return (struct access_extent){
        .low = INT64_MAX, .shift = ACCESS_COARSE, .ascending = true};
}

/* An open request: its runs in the file and its values in memory. */
struct access_part {
    struct access_values values;
    int64_t number; /* number of the request; -1 if none is open */
    struct access_runs runs;
    int64_t limit; /* start of the range at which the part is positioned, or -1 */
};

enum { ACCESS_PARTS = 64 }; /* number of requests that stay open between ranges */

struct access_walk {
    const struct cdf_header *header;
    struct access_request *const *reqs;
    bool put;
    int log2_block;      /* log2 of the size of the blocks into which the file is divided
                          * to find requests quickly */
    int64_t first_block; /* number of the first block */
    int number_bits, block_bits;
    uint64_t *items; /* sorted keys: a request's level (log8 of the number of blocks that
                      * it spans), first block, and number */
    int64_t nitems;
    uint32_t levels; /* bit mask of the levels that occur */
    struct access_part *parts;
    int64_t *hits; /* requests of the current range, sorted by number */
    int64_t nhits, hits_capacity, hit;
    int64_t low, high;         /* the current range */
    struct access_part *part;  /* the current request; if NULL, the next one must be
                                * opened */
    struct region_strip strip; /* rest of its current strip; its count is 0 if none */
    bool crossed;              /* the strip crosses the end of the range */
    int64_t interrupted,
        interrupted_element; /* the interrupted request and its next value */
};

/* Begins a walk through n ascending requests whose bytes are all in [low, high).
 * NC_ENOMEM. */
int access_walk_begin(struct access_walk *w, struct access_request *const *reqs,
                      int64_t n, int64_t low, int64_t high);
void access_walk_end(struct access_walk *w);

/* A part of the file in memory, and its marks: one for each 1 << shift bytes, starting at
 * the origin. A put sets the marks of its values. */
struct access_block {
    unsigned char *bytes, *marks;
    int64_t origin;     /* file offset of the first byte in memory */
    int64_t start, end; /* file offsets of the part that is moved */
    int shift;
};

/* Puts or gets all values in the block. Returns the first error, but other errors take
 * precedence over NC_ERANGE, and end all requests that have values in the block. */
int access_walk_block(struct access_walk *w, const struct access_block *b);

/* Sets *next to the offset of the first value at or after `offset`, or to INT64_MAX if
 * there is none. The result may be too low if there are many requests nearby. */
int access_walk_next(struct access_walk *w, int64_t offset, int64_t *next);

/* Finds the range [*from, *to) of bytes in [low, high) that this process's gets need;
 * *from is INT64_MAX if there are none. The result may be too wide, but does not exceed
 * [low, high) and the slack after `high`. */
int access_walk_find_range(struct access_walk *w, int64_t low, int64_t high,
                           int64_t *from, int64_t *to);

/* ---- walking through a range, for access_place.c and twophase_pack.c ---- */

/* Begins a range. access_walk_open opens the next request (w->part), if any, and
 * access_walk_strip returns its next strip (w->strip) in the range, if any. */
int access_walk_range(struct access_walk *w, int64_t low, int64_t high);
bool access_walk_open(struct access_walk *w, int *err);
bool access_walk_strip(struct access_walk *w);
/* Same as access_walk_strip, but returns short blocks from a list, or false if the next
 * run is not a short block. No block exceeds ACCESS_LIST_RUN bytes, and together the
 * blocks span less than ACCESS_LIST_REACH bytes. */
enum { ACCESS_LIST_RUN = 256, ACCESS_LIST_REACH = 1 << 24 };
bool access_walk_span(struct access_walk *w, int64_t max_bytes, struct region_span *s);
/* access_walk_suspend drops the strip and returns to the request's next value.
 * access_walk_resume continues there after other ranges have been visited. */
void access_walk_suspend(struct access_walk *w);
int access_walk_resume(struct access_walk *w, int64_t low, int64_t high);

/* Opens the request with this number. NC_ENOMEM, which is also stored as its status. */
int access_walk_part(struct access_walk *w, int64_t number, struct access_part **part);

static inline void access_walk_set_error(int *result, int err)
{
    *result = base_error_merge(*result, err);
}

/* ---- access_place.c ---- */

/* Converts the put value at *offset, and finds the part of the value that is in this
 * range: *n bytes at *bytes. Advances *offset to that part. */
int access_place_edge(const struct access_walk *w, struct access_values *v,
                      int64_t *offset, unsigned char value[8], unsigned char **bytes,
                      int64_t *n);

/* Marks the bytes of a strip in the block. */
void access_place_mark(const struct access_block *b, const struct region_strip *s);

#endif
