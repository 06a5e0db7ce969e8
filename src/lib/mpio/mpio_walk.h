/* Requests taken range by range of the file, in any order of ranges: what a process puts
 * or gets in a block goes straight to or from its place there, or is packed for another
 * process. A value that is got belongs to the range its first byte is in, so that a block
 * may need MPIO_SLACK bytes more than it has; of one that is put each range takes the
 * bytes that lie in it. */
#ifndef MPIO_WALK_H
#define MPIO_WALK_H

#include "mpio.h"
#include "mpio_values.h"

/* Marks stand for at most 2 to the power of this, which divides where ranges begin. */
enum { MPIO_COARSE = 6, MPIO_SLACK = 8 };

/* What requests amount to in the file; of none: low is INT64_MAX, high 0. */
struct mpio_survey {
    int64_t low, high;
    int64_t pieces; /* at most */
    int64_t bytes;
    int shift;      /* all pieces begin and end at multiples of 1 << shift */
    bool ascending; /* each request goes through the file upwards */
};

/* One request; false, and nothing told, if it is empty. */
bool mpio_survey(const struct cdf_header *h, const struct access_request *r,
                 struct mpio_survey *s);
void mpio_survey_add(struct mpio_survey *sum, const struct mpio_survey *s);
static inline struct mpio_survey mpio_survey_none(void)
{
    return (struct mpio_survey){
        .low = INT64_MAX, .shift = MPIO_COARSE, .ascending = true};
}

/* Where a request that is not raw begins, and whether it is one run of bytes. */
bool mpio_one_run(const struct cdf_header *h, const struct access_request *r,
                  int64_t *low);

/* The region of the file of a request that is not raw; NULL when memory is short. The
 * caller frees it. */
struct region *mpio_region(const struct cdf_header *h, const struct access_request *r);

/* A request that is open: a cursor in the file, another in memory. */
struct mpio_part {
    struct mpio_values values;
    int64_t number;        /* of the request; -1: none is open */
    int64_t begin, bytes;  /* of one run: where it is, and how long */
    int64_t done;          /* bytes of the run that come before the cursor */
    struct region *region; /* of many runs, unless the request brought its own */
    struct region_cursor *cursor;
    int64_t shift; /* of the offsets under the cursor */
    int64_t limit; /* the cursor is at the first value of a range that begins here; -1 */
};

enum {
    MPIO_PARTS = 64
}; /* that are kept open, so that none is found anew in each range */

struct mpio_walk {
    struct mpio *m;
    struct access_request *const *reqs;
    bool put;
    int log2_block;      /* requests are found by blocks of so many bytes ... */
    int64_t first_block; /* ... from this on */
    int number_bits, block_bits;
    uint64_t *items; /* ascending: the level of a request, that is about how many blocks
                      * it spans; the block it begins in; its number */
    int64_t nitems;
    uint32_t levels; /* a bit for each there is */
    struct mpio_part *parts;
    int64_t *hits; /* the requests of the current range, by number */
    int64_t nhits, hits_capacity, hit;
    int64_t low, high;      /* the current range */
    struct mpio_part *part; /* the current request; NULL: the next one is to be opened */
    struct region_strip strip; /* what is left of its current strip; count 0: nothing */
    bool crossed;              /* the strip went over the end of the range */
    int64_t left, left_off;    /* the request that was left, and its next value then */
};

/* n requests that ascend, of which all bytes lie in [low, high). NC_ENOMEM. */
int mpio_walk_begin(struct mpio_walk *w, struct access_request *const *reqs, int64_t n,
                    int64_t low, int64_t high);
void mpio_walk_end(struct mpio_walk *w);

/* Part of the file in memory, and its marks, one for each 1 << shift bytes from the
 * origin on: a put sets them where it has left a value. */
struct mpio_block {
    unsigned char *bytes, *marks;
    int64_t origin;     /* the place in the file of the first byte in memory */
    int64_t start, end; /* what is moved, in the file */
    int shift;
};

/* Puts or gets all values in the block. The first error, NC_ERANGE the least of them;
 * with another all requests that have a part in it are given up. */
int mpio_walk_block(struct mpio_walk *w, const struct mpio_block *b);

/* Where the first value at `offset` or behind it lies; INT64_MAX: nowhere. It may be told
 * too low where many requests are near. */
int mpio_walk_next(struct mpio_walk *w, int64_t offset, int64_t *next);

/* Bytes that this process needs of [low, high), for gets; *from INT64_MAX: none. *from
 * may be too low and *to too high, but not outside the range and its slack. */
int mpio_walk_needs(struct mpio_walk *w, int64_t low, int64_t high, int64_t *from,
                    int64_t *to);

/* ---- going through a range, for mpio_place.c and mpio_pack.c ---- */

/* Starts with a range: mpio_walk_open is true as long as there is a request (w->part),
 * mpio_walk_strip as long as that has a strip (w->strip) in the range. */
int mpio_walk_range(struct mpio_walk *w, int64_t low, int64_t high);
bool mpio_walk_open(struct mpio_walk *w, int *err);
bool mpio_walk_strip(struct mpio_walk *w);
/* Short blocks of a list, instead of a strip; false if what comes next is none. None has
 * more bytes than MPIO_LIST_RUN, and all lie within MPIO_LIST_REACH. */
enum { MPIO_LIST_RUN = 256, MPIO_LIST_REACH = 1 << 24 };
bool mpio_walk_span(struct mpio_walk *w, int64_t max_bytes, struct region_span *s);
/* Goes back to the request's next value, the strip being dropped; and goes on there when
 * others may have been looked at meanwhile. */
void mpio_walk_again(struct mpio_walk *w);
int mpio_walk_resume(struct mpio_walk *w, int64_t low, int64_t high);

/* The request with this number, open. NC_ENOMEM, which is its status then. */
int mpio_walk_part(struct mpio_walk *w, int64_t number, struct mpio_part **part);

/* What stops the transfer comes before what is out of range. */
static inline void mpio_walk_note(int *result, int err)
{
    if (*result == NC_NOERR || (*result == NC_ERANGE && err != NC_NOERR)) *result = err;
}

/* ---- mpio_place.c ---- */

/* A value of a put, at *offset, that lies in two ranges: *n of its *bytes are in this. */
int mpio_place_edge(const struct mpio_walk *w, struct mpio_values *v, int64_t *offset,
                    unsigned char value[8], unsigned char **bytes, int64_t *n);

/* Marks the bytes of a strip in the block. */
void mpio_place_mark(const struct mpio_block *b, const struct region_strip *s);

/* ---- for other processes: mpio_pack.c ---- */

/* Values of one request, in a row, whose bytes follow each other in what was asked for.
 */
struct mpio_asked {
    int64_t number, first, nelems;
};

/* Part of a message, in memory that the node shares. Of puts it has runs of bytes and
 * their values, of gets the runs alone. */
struct mpio_packed {
    unsigned char *bytes;
    int64_t room, used;
    int64_t asked, most; /* of gets: bytes that are asked for, and how many may be */
    struct mpio_asked *list;
    int64_t nlist, list_capacity;
};

/* Packs what there is of [low, high), which begins at `origin` for the receiver, where it
 * was left off the last time; *all: nothing is left. A first call has `resume` false. */
int mpio_pack(struct mpio_walk *w, struct mpio_packed *p, int64_t low, int64_t high,
              int64_t origin, bool resume, bool *all);

/* The values that were asked for, from their bytes one behind the other. */
int mpio_pack_take(struct mpio_walk *w, const struct mpio_packed *p,
                   const unsigned char *bytes);

/* For who receives n bytes of runs: their values come to the block, marked. */
int mpio_unpack(const struct mpio_block *b, const unsigned char *bytes, int64_t n);

/* The runs that n bytes ask for: how many bytes, and where the first begins and the last
 * ends in the block; and these bytes one behind the other. NC_EMPI: it is no message. */
int mpio_unpack_asked(const struct mpio_block *b, const unsigned char *bytes, int64_t n,
                      int64_t *asked, int64_t *low, int64_t *high);
void mpio_unpack_answer(const struct mpio_block *b, const unsigned char *bytes, int64_t n,
                        unsigned char *answer);

#endif
