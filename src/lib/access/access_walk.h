/* Requests taken range by range of the file, in any order of ranges: what a process puts
 * or gets in a block goes straight to or from its place there, or is packed for another
 * process. A value that is got belongs to the range its first byte is in, so that a block
 * may need ACCESS_SLACK bytes more than it has; of one that is put each range takes the
 * bytes that lie in it. */
#ifndef ACCESS_WALK_H
#define ACCESS_WALK_H

#include "access_runs.h"
#include "access_values.h"

/* Marks stand for at most 2 to the power of this, which divides where ranges begin. */
enum { ACCESS_COARSE = 6, ACCESS_SLACK = 8 };

/* What requests amount to in the file; of none: low is INT64_MAX, high 0. */
struct access_survey {
    int64_t low, high;
    int64_t pieces; /* at most */
    int64_t bytes;
    int shift;      /* all pieces begin and end at multiples of 1 << shift */
    bool ascending; /* each request goes through the file upwards */
};

/* One request; false, and nothing told, if it is empty. */
bool access_survey(const struct cdf_header *h, const struct access_request *r,
                   struct access_survey *s);
/* A hyperslab, which has an element. */
void access_survey_slab(const struct cdf_header *h, const struct cdf_var *v,
                        const int64_t *start, const int64_t *count, const int64_t *stride,
                        struct access_survey *s);
void access_survey_add(struct access_survey *sum, const struct access_survey *s);
static inline struct access_survey access_survey_none(void)
{
    return (struct access_survey){
        .low = INT64_MAX, .shift = ACCESS_COARSE, .ascending = true};
}

/* A request that is open: its runs in the file, its values in memory. */
struct access_part {
    struct access_values values;
    int64_t number; /* of the request; -1: none is open */
    struct access_runs runs;
    int64_t limit; /* they are at the first value of a range that begins here; -1 */
};

enum {
    ACCESS_PARTS = 64
}; /* that are kept open, so that none is found anew in each range */

struct access_walk {
    const struct cdf_header *header;
    struct access_request *const *reqs;
    bool put;
    int log2_block;      /* requests are found by blocks of so many bytes ... */
    int64_t first_block; /* ... from this on */
    int number_bits, block_bits;
    uint64_t *items; /* ascending: the level of a request, that is about how many blocks
                      * it spans; the block it begins in; its number */
    int64_t nitems;
    uint32_t levels; /* a bit for each there is */
    struct access_part *parts;
    int64_t *hits; /* the requests of the current range, by number */
    int64_t nhits, hits_capacity, hit;
    int64_t low, high; /* the current range */
    struct access_part
        *part; /* the current request; NULL: the next one is to be opened */
    struct region_strip strip; /* what is left of its current strip; count 0: nothing */
    bool crossed;              /* the strip went over the end of the range */
    int64_t left, left_off;    /* the request that was left, and its next value then */
};

/* n requests that ascend, of which all bytes lie in [low, high). NC_ENOMEM. */
int access_walk_begin(struct access_walk *w, struct access_request *const *reqs,
                      int64_t n, int64_t low, int64_t high);
void access_walk_end(struct access_walk *w);

/* Part of the file in memory, and its marks, one for each 1 << shift bytes from the
 * origin on: a put sets them where it has left a value. */
struct access_block {
    unsigned char *bytes, *marks;
    int64_t origin;     /* the place in the file of the first byte in memory */
    int64_t start, end; /* what is moved, in the file */
    int shift;
};

/* Puts or gets all values in the block. The first error, NC_ERANGE the least of them;
 * with another all requests that have a part in it are given up. */
int access_walk_block(struct access_walk *w, const struct access_block *b);

/* Where the first value at `offset` or behind it lies; INT64_MAX: nowhere. It may be told
 * too low where many requests are near. */
int access_walk_next(struct access_walk *w, int64_t offset, int64_t *next);

/* Bytes that this process needs of [low, high), for gets; *from INT64_MAX: none. *from
 * may be too low and *to too high, but not outside the range and its slack. */
int access_walk_needs(struct access_walk *w, int64_t low, int64_t high, int64_t *from,
                      int64_t *to);

/* ---- going through a range, for access_place.c and twophase_pack.c ---- */

/* Starts with a range: access_walk_open is true as long as there is a request (w->part),
 * access_walk_strip as long as that has a strip (w->strip) in the range. */
int access_walk_range(struct access_walk *w, int64_t low, int64_t high);
bool access_walk_open(struct access_walk *w, int *err);
bool access_walk_strip(struct access_walk *w);
/* Short blocks of a list, instead of a strip; false if what comes next is none. None has
 * more bytes than ACCESS_LIST_RUN, and all lie within ACCESS_LIST_REACH. */
enum { ACCESS_LIST_RUN = 256, ACCESS_LIST_REACH = 1 << 24 };
bool access_walk_span(struct access_walk *w, int64_t max_bytes, struct region_span *s);
/* Goes back to the request's next value, the strip being dropped; and goes on there when
 * others may have been looked at meanwhile. */
void access_walk_again(struct access_walk *w);
int access_walk_resume(struct access_walk *w, int64_t low, int64_t high);

/* The request with this number, open. NC_ENOMEM, which is its status then. */
int access_walk_part(struct access_walk *w, int64_t number, struct access_part **part);

static inline void access_walk_note(int *result, int err)
{
    *result = base_error_worse(*result, err);
}

/* ---- access_place.c ---- */

/* A value of a put, at *offset, that lies in two ranges: *n of its *bytes are in this. */
int access_place_edge(const struct access_walk *w, struct access_values *v,
                      int64_t *offset, unsigned char value[8], unsigned char **bytes,
                      int64_t *n);

/* Marks the bytes of a strip in the block. */
void access_place_mark(const struct access_block *b, const struct region_strip *s);

#endif
