/* Lists of variables on the command line: "a,b\,c". */
#ifndef UTIL_SELECT_H
#define UTIL_SELECT_H

#include <stdbool.h>

#include "cdf.h"

/* The comma that ends the first name of a list, or the list's end. */
char *util_name_end(char *list);

/* Sets wanted[varid] for each variable in the list; names may have CDL's escapes. 0, or
 * -1 after an error line: no memory, or no such variable. */
int util_select(const char *tool, const char *path, const struct cdf_header *h,
                const char *list, bool *wanted);

#endif
