/* Where the bytes of a variable lie, for readers that do without this library: in the
 * dataset's own file, in a subfile (doc/blob.md), or there in a frame. No MPI. */
#ifndef UTIL_HOME_H
#define UTIL_HOME_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"

struct util_blob_var;

/* A variable whose elements are looked for. */
struct util_homes {
    const struct util_classic *file;
    const struct cdf_var *var;
    const struct util_blob_var *blobs; /* NULL: it is in no blob */
    bool framed;
    int64_t nelems; /* of a record, or of a fixed-size variable */
    int64_t record; /* the one that is looked at */
    int64_t hint;
};

void util_homes_init(struct util_homes *x, const struct util_classic *file, int varid);

/* The decomposition of a variable in blobs; variables of one lie alike. */
int util_homes_decomposition(const struct util_homes *x);

/* Which place among a variable's elements in a file is that of an element; the same in
 * every record. */
struct util_home {
    int sub;     /* the subfile; -1: the dataset's own file */
    int64_t pos; /* the element's number there */
    int64_t n;   /* at least this many elements follow one another from there on */
    bool starts; /* it is the first one of a frame */
};

/* Errors have words (base_error_detail). */
int util_home_find(struct util_homes *x, int64_t element, struct util_home *home);

/* The bytes of that element and those that follow it, in x->record. */
struct util_range {
    int64_t offset, bytes; /* bytes 0: they are not there as they are; else up to the end
                            * of the file, or of the frame */
    int64_t nelems;        /* elements in the frame */
    int codec;             /* how the frame is compressed: enum base_codec */
};
int util_home_range(struct util_homes *x, const struct util_home *home,
                    struct util_range *range);

#endif
