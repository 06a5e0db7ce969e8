/* The rights of a file that a tool makes of another one. */
#ifndef UTIL_RIGHTS_H
#define UTIL_RIGHTS_H

#include <stdbool.h>

/* Gives an open file that is to hold another's values that one's rights, less those that
 * umask withholds, before any value is in it. One that was there before keeps its own
 * unless they allow more. Make a new one (`made`) with BASE_RIGHTS_PRIVATE. 0, or -1 and
 * errno. */
int util_give_rights(int from, int to, const char *path, bool made);

#endif
