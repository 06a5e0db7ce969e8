/* Parses lists of variables on the command line: "a,b\,c". */
#ifndef UTIL_SELECT_H
#define UTIL_SELECT_H

#include <stdbool.h>

#include "cdf.h"

/* Returns a pointer to the comma after the first name in a list, or to the end of the
 * list. */
char *util_name_end(char *list);

/* Sets wanted[varid] for each variable in the list. Names may have CDL's escapes. Returns
 * 0, or -1 after printing an error if a variable does not exist or memory is
 * exhausted. */
int util_select(const char *tool, const char *path, const struct cdf_header *h,
                const char *list, bool *wanted);

#endif
