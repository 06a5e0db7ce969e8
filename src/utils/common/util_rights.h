/* Sets the access rights of a file that a tool derives from another file. */
#ifndef UTIL_RIGHTS_H
#define UTIL_RIGHTS_H

#include <stdbool.h>

struct util_classic;

/* Gives the open file `to` the rights of `from`, less umask, before any value is written
 * to it. An existing file keeps its rights unless they allow more than those of `from`. A
 * new file (`made`) must have been created with BASE_RIGHTS_PRIVATE. Returns 0; on error,
 * returns -1 and sets errno. */
int util_give_rights(int from, int to, const char *path, bool made);

/* Gives the subfiles of an open dataset the rights of the master file. Skips files that
 * might not be its subfiles. */
void util_give_parts_rights(const struct util_classic *master);

#endif
