/* Names in CDL. */
#ifndef DUMP_NAME_H
#define DUMP_NAME_H

#include <stddef.h>

#include "pnetcdf_constants.h"

enum { DUMP_NAME_SIZE = 4 * NC_MAX_NAME + 1 };

/* Writes the name with what CDL gives a meaning escaped, and a NUL; returns its length.
 * A longer name than `size` has room for is cut off. */
size_t dump_name(char *text, size_t size, const char *name);

/* The reverse: what stands behind a backslash is taken as it is. */
void dump_plain_name(char *name);

#endif
