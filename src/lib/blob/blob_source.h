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
