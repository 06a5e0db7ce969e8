/* Writing the definitions of netCDF-4 files. */
#ifndef NC4_DEFINE_H
#define NC4_DEFINE_H

#include "nc4.h"

/* How new variables are stored. */
struct nc4_storing {
    const char *chunks; /* "v:2,3;w:10": the lengths of chunks; NULL: netCDF-C's choice */
    int (*level)(const void *of, const char *name); /* of deflate, 0: none; NULL: none */
    const void *of;
};

/* Gives an open file the definitions of a header: one that nc4_read_header made of it,
 * and that since then got new dimensions, variables and attributes, other names and
 * values, or lost attributes; or any, of a new file. It is the file that tells what there
 * is, so that after an error the same, or the definitions from before, can be tried
 * again: but dimensions and variables that are there stay. Collective where the file is
 * open in parallel, and then the same everywhere. */
int nc4_define(struct nc4_file *f, const struct cdf_header *h,
               const struct nc4_storing *how);

#endif
