/* Names in CDL. */
#ifndef UTIL_NAME_H
#define UTIL_NAME_H

#include <stddef.h>

#include "pnetcdf_constants.h"

enum { UTIL_NAME_SIZE = 4 * NC_MAX_NAME + 1 };

/* Writes the name with what CDL gives a meaning escaped, and a NUL; returns its length.
 * A longer name than `size` has room for is cut off. */
size_t util_name(char *text, size_t size, const char *name);

/* The reverse: what stands behind a backslash is taken as it is. */
void util_plain_name(char *name);

#endif
