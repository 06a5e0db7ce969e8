/* Parses the options by which a user selects a range of indices along a dimension.
 *
 * "lat=10:20:2" is START:END:STRIDE, as in Python: indices start at 0, END is excluded,
 * and negative indices count from the end. The default is the whole dimension with stride
 * 1; START, END and STRIDE may each be omitted. "lat=3" is a single index. */
#ifndef UTIL_SLAB_H
#define UTIL_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "pnetcdf_constants.h"

struct util_slab {
    char name[NC_MAX_NAME + 1]; /* name of the dimension */
    int64_t start, end, stride;
    bool has_start, has_end, single;
};

/* Parses one range. Returns 0, or -1 if the text is malformed or the stride is less than
 * 1. */
int util_slab_parse(struct util_slab *s, const char *text);

/* Applies the range to a dimension of the given length. Returns 0, or -1 if an index is
 * out of range. */
int util_slab_resolve(const struct util_slab *s, int64_t length, int64_t *start,
                      int64_t *count, int64_t *stride);

#endif
