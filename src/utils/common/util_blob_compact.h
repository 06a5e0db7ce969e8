/* Compacts subfiles with values in frames: drops data that nothing refers to. No MPI. */
#ifndef UTIL_BLOB_COMPACT_H
#define UTIL_BLOB_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"

/* Returns whether the dataset's values are in frames. */
bool util_blob_has_frames(const struct util_classic *c);

/* Returns whether a subfile is empty because a job was killed early. */
bool util_blob_is_empty(const struct util_classic *c, int number);

/* Writes a compacted copy of subfile `number` to a new, empty file. The copy differs only
 * in its log, which contains only data that is referred to. Sets *saved to the number of
 * bytes saved. On error, sets a message. */
int util_blob_compact(const struct util_classic *c, int number, int fd, const char *path,
                      int64_t *saved);

#endif
