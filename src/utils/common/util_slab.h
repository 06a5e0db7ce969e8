/* Parts of dimensions on the command line: "lat=10:20:2" as arrays of Python are cut:
 * START:END:STRIDE, END left out, counted from 0, from the end where negative; "lat=3" is
 * one index, and what is left out is the beginning, the end, and 1. */
#ifndef UTIL_SLAB_H
#define UTIL_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "pnetcdf_constants.h"

struct util_slab {
    char name[NC_MAX_NAME + 1]; /* of the dimension */
    int64_t start, end, stride;
    bool has_start, has_end, single;
};

/* 0, or -1 if the text is none, or a stride under 1. */
int util_slab_parse(struct util_slab *s, const char *text);

/* What it is of a dimension of this length. -1 if an index lies outside of it. */
int util_slab_resolve(const struct util_slab *s, int64_t length, int64_t *start,
                      int64_t *count, int64_t *stride);

#endif
