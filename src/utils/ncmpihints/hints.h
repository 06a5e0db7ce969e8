/* ncmpihints: checks files of hints, and tells what hints there are. */
#ifndef HINTS_H
#define HINTS_H

#include <stdbool.h>

#include "util_json.h"
#include "util_out.h"

#define HINTS_TOOL "ncmpihints"

/* JSON in place of lines goes to j, which is NULL otherwise. */

/* All hints of the library, for people; and those of a group, "main", "burst" or
 * "unused", as the rows of a table in Markdown. -1 after an error line: there is no such
 * group. */
void hints_list(struct util_out *out, struct util_json *j);
int hints_table(const char *group, struct util_out *out);

/* What a dataset of this path gets from the file (NULL: from none) and from the
 * environment. -1 after an error line; 1 after one that tells what is passed over. */
int hints_of_path(const char *file, const char *path, struct util_out *out,
                  struct util_json *j);

/* Tells what is wrong with a file, and how much it has if that is nothing. The same. */
int hints_check(const char *file, struct util_out *out, struct util_json *j);

#endif
