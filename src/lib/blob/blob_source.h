/* Maps as subfiles have them. Nothing in them is believed. No MPI. */
#ifndef BLOB_SOURCE_H
#define BLOB_SOURCE_H

#include "blob_map.h"
#include "cdf.h"
#include "cdf_envelope.h"

/* n values of a variable: from `first` on, of one dimension, or of a row of two. */
struct blob_numbers {
    int varid;
    int64_t row, first, n;
    int64_t *values;
};

/* A part of a variable that needs no map: of one dimension, `length` long, n elements
 * from `low` on; those before it have `outer` elements together, those behind it `inner`.
 */
struct blob_block {
    int64_t outer, length, low, n, inner;
};

/* A subfile that is open somehow, and what it tells of one decomposition. */
struct blob_source {
    struct cdf_header *h; /* only read */
    const char *path;
    int sub;      /* its number */
    int64_t size; /* bytes of the file; asked of another library's alone */
    /* Reads n lists. If all of a group read `together`, this is called equally often by
     * all, with n = 0 by who has an error already, or nothing to read. */
    int (*numbers)(void *who, const struct blob_numbers *lists, int n, int error);
    void *who;
    bool together;

    int decomposition;
    int nreqs, start, count, offsets, lengths; /* its variables */
    int64_t nblobs, most;                      /* runs that a blob can have */
    int64_t nelems;                            /* of all its blobs */
    int64_t limit;                             /* elements of the whole variable */
    bool any_order;          /* of another library's: a blob's runs need not ascend */
    struct blob_block block; /* in place of maps, if its inner is not 0: the only blob */
    int64_t low, high;       /* whose runs without these elements may be left out */
};

/* Up to `most` integers of an attribute; how many there are. */
int blob_source_att(const struct cdf_header *h, int varid, const char *name,
                    int64_t *values, int most);

/* The name of a subfile of a master; NULL: no memory. The caller frees it. */
char *blob_source_path(const char *master, int number);

/* Has the subfile no header yet? A job that was killed before, or while all else was
 * written, has left nothing or zeros where that begins. So nobody has put anything. */
bool blob_source_blank(const char *path);

/* The name of the one file that is made of the dataset, until that has another; NULL: no
 * memory. The caller frees it. */
char *blob_source_joining(const char *path, const struct cdf_envelope *e);

/* What a master's first page tells. NC_ENOTNC: it has none, or one that is not good. */
int blob_source_envelope(const char *master, struct cdf_envelope *e);
int blob_source_page(int fd, const char *master, struct cdf_envelope *e);

/* NULL: it is the subfile of that number of this dataset; else what is wrong. */
const char *blob_source_foreign(struct cdf_header *h, const struct cdf_envelope *e,
                                int number);

/* The master's variable that one of a subfile's is, -1: none. NULL, or what is wrong. */
const char *blob_source_variable(struct cdf_header *h, int id,
                                 const struct cdf_header *master, int *varid);

/* ---- values in frames (blob_frame.h) ---- */

/* Of a variable whose values are in frames the subfile has, in place of these, where the
 * pages of its table lie in the log: page p has the records from 2^p - 1 on, as many as
 * that and one more; of each record, for each blob, where its chain lies. */
enum { BLOB_LEVELS = 40, BLOB_PLACE = 16 };

struct blob_place {
    int64_t at,
        bytes; /* of the chain, in the log; bytes 0: the values are in the master */
};

/* Is a variable of a subfile such a one? */
bool blob_source_is_framed(const struct cdf_header *h, int id);

/* Elements of one record that a subfile's variable has of the decomposition. */
int64_t blob_source_nelems(const struct cdf_header *h, int id, int decomposition);

static inline int blob_level(int64_t record)
{
    return 63 - __builtin_clzll((unsigned long long)record + 1);
}

static inline int64_t blob_page_bytes(int level, int64_t nblobs)
{
    return (INT64_C(1) << level) * nblobs * BLOB_PLACE;
}

/* Where in the log the place of a blob's chain is, if the page of its level begins there.
 */
static inline int64_t blob_place_at(int64_t page, int64_t record, int64_t nblobs,
                                    int64_t blob)
{
    int64_t first = (INT64_C(1) << blob_level(record)) - 1;
    return page + ((record - first) * nblobs + blob) * BLOB_PLACE;
}

/* Of n places. False: one of them cannot be. */
bool blob_places_decode(struct blob_place *list, const unsigned char *bytes, int64_t n);
void blob_place_encode(const struct blob_place *p, unsigned char *bytes);

/* ---- decompositions ---- */

/* The subfile's variable that has the decomposition of that number has nelems elements
 * there; the whole one `limit`. NC_ENOTNC with words. */
int blob_source_find(struct blob_source *s, int decomposition, int64_t nelems,
                     int64_t limit);

/* The runs of one blob, in order; false: no more are wanted, or *err. `error` is the
 * caller's own trouble. */
typedef bool blob_take(void *to, const struct blob_piece *piece, int *err);
int blob_source_read(const struct blob_source *s, int64_t blob, blob_take *take, void *to,
                     int error);

/* Makes the index have the part with element `at`: all of it, as a rule. `open` makes the
 * source of each of nsubs subfiles. After an error it is empty. */
typedef int blob_source_open(void *who, int sub, struct blob_source *s);
int blob_source_index(struct blob_index *x, int64_t limit, int64_t at, int nsubs,
                      blob_source_open *open, void *who);

#endif
