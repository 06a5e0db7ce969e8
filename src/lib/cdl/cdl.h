/* CDL, the notation for datasets that ncdump prints and ncgen reads: from text to the
 * model of a header.
 *
 * Taken are the classic model's parts: one unlimited dimension, the types of CDF-5, no
 * groups, no user-defined types, no strings but text attributes.
 *
 * Errors are recorded with base_error_set as "FILE: line L, column C: reason". */
#ifndef CDL_H
#define CDL_H

#include <stddef.h>

#include "cdf.h"
#include "cdl_scan.h"

/* Reads a file to its end into *text, a NUL behind it; free it with base_free.
 * NC_ENOENT, NC_EACCESS, NC_EREAD, NC_ENOMEM. */
int cdl_load(const char *path, char **text, size_t *length);

/* Makes *h of the text that s scans, from its beginning, layout included and without
 * records; free it with cdf_free. Behind it, s->kind is '}' where the text has no data,
 * ':' where what follows is data.
 *
 * format is 1, 2 or 5, or 0: then the global attribute _Format decides ("classic",
 * "64-bit offset", "64-bit data" or "cdf5"), else the least format that has all types
 * and sizes, and that is not below what a comment "// file format: CDF-N" says. _Format
 * does not become an attribute.
 *
 * NC_ENOTNC     not CDL
 * NC_ENOTSUPPORT strings, groups and whatever else is of netCDF-4 only
 * NC_EBADTYPE, NC_EBADDIM, NC_ENOTVAR    no such type, dimension, variable
 * NC_ERANGE, NC_ECHAR    a value that its type does not have
 * and what cdf_def_dim, cdf_def_var, cdf_put_att and cdf_layout return. */
int cdl_header(struct cdl_scan *s, int format, struct cdf_header *h);

#endif
