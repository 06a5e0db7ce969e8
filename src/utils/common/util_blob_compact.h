/* Subfiles whose values are in frames, without what is no longer referred to. No MPI. */
#ifndef UTIL_BLOB_COMPACT_H
#define UTIL_BLOB_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"

/* Are values of the dataset in frames? */
bool util_blob_has_frames(const struct util_classic *c);

/* Does a subfile have nothing, as of a job that was killed early? */
bool util_blob_is_empty(const struct util_classic *c, int number);

/* Writes the subfile of that number to a new, empty file: as it is, but for its log,
 * which has only what tables refer to. How many bytes shorter it is. Errors have words.
 */
int util_blob_compact(const struct util_classic *c, int number, int fd, const char *path,
                      int64_t *saved);

#endif
