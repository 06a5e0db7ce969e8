/* ncmpihints checks hints files, and prints the available hints and the hints that apply
 * to a dataset. This header contains the declarations that its files share. */
#ifndef HINTS_TOOL_H
#define HINTS_TOOL_H

#include <stdbool.h>

#include "util_json.h"
#include "util_out.h"

#define HINTS_TOOL "ncmpihints"

/* All functions write JSON to j if it is not NULL, and otherwise write text to out. */

/* hints_list prints all of the library's hints. hints_print_table prints those of one
 * group ("main", "burst" or "unused") as the rows of a Markdown table; it returns -1
 * after printing an error if the group does not exist. */
void hints_list(struct util_out *out, struct util_json *j);
int hints_print_table(const char *group, struct util_out *out);

/* Prints the hints that a dataset with this path gets from the file (NULL if there is
 * none) and from the environment. Returns 0, or 1 after warning about something that is
 * ignored, or -1 after printing an error. */
int hints_of_path(const char *file, const char *path, struct util_out *out,
                  struct util_json *j);

/* Checks a file, and prints its problems and the number of its entries. Returns the same
 * values as hints_of_path. */
int hints_check(const char *file, struct util_out *out, struct util_json *j);

#endif
