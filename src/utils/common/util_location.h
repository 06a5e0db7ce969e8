/* Reports where the bytes of a variable are stored, for readers that do not use this
 * library: in the dataset's own file, in a subfile (doc/blob.md), or in a compressed
 * frame of a subfile. Does not use MPI. */
#ifndef UTIL_LOCATION_H
#define UTIL_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"

struct util_blob_var;

/* A variable whose elements are looked up. */
struct util_locations {
    const struct util_classic *file;
    const struct cdf_var *var;
    const struct util_blob_var *blobs; /* NULL if the variable is not stored in blobs */
    bool framed;
    int64_t nelems; /* number of elements per record, or in the fixed-size variable */
    int64_t record; /* record in which to look up elements */
    int64_t hint;
};

void util_locations_init(struct util_locations *x, const struct util_classic *file,
                         int varid);

/* Returns the decomposition of a variable that is stored in blobs. In variables that
 * share a decomposition, elements with the same index have the same location. */
int util_locations_decomposition(const struct util_locations *x);

/* Location of an element among the variable's elements in a file. It is the same for all
 * records. */
struct util_location {
    int sub;     /* number of the subfile; -1 for the dataset's own file */
    int64_t pos; /* index of the element in that file */
    int64_t n;   /* number of contiguous elements known to start here */
    bool starts; /* the element is the first one of a frame */
};

/* Finds the location of an element. Sets an error message on failure
 * (base_error_detail). */
int util_location_find(struct util_locations *x, int64_t element,
                       struct util_location *location);

/* Byte range that starts at the element in record x->record and also covers the elements
 * after it. */
struct util_range {
    int64_t offset, bytes; /* range up to the end of the file or frame; `bytes` is 0 if it
                            * contains no external values */
    int64_t nelems;        /* number of elements in the frame */
    int codec;             /* compression of the frame: enum base_codec */
};
int util_location_range(struct util_locations *x, const struct util_location *location,
                        struct util_range *range);

#endif
