/* Escapes names in CDL. */
#ifndef UTIL_NAME_H
#define UTIL_NAME_H

#include <stddef.h>

#include "pnetcdf_constants.h"

enum { UTIL_NAME_SIZE = 4 * NC_MAX_NAME + 1 };

/* Writes the name and a NUL. Escapes the characters that are special in CDL. Returns the
 * length. A name that does not fit into `size` bytes is truncated. */
size_t util_name(char *text, size_t size, const char *name);

/* Removes the escapes in place: the character after a backslash is used as it is. */
void util_plain_name(char *name);

#endif
