/* What the tools say on standard error: one line each. */
#ifndef UTIL_MESSAGE_H
#define UTIL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* "TOOL: FILE: offset N: reason"; file NULL and offset -1 are left out. Bytes that
 * would break the line or steer a terminal are shown as '?'. */
__attribute__((format(printf, 4, 5))) void
util_message(const char *tool, const char *file, int64_t offset, const char *format, ...);

/* The file ends at `end`, `lacking` bytes before the values of a variable do. PnetCDF
 * leaves files so whose last values nobody has put, and every reader finds zeros there: a
 * line, and 0. If more than `most` are lacking, an error line, and -1. */
int util_file_is_short(const char *tool, const char *file, int64_t end,
                       const char *variable, int64_t lacking, int64_t most);
#define UTIL_LACKING_MOST ((int64_t)1 << 40) /* for one that only reads */

/* From now on nothing is said, or it is again: for all but one of several processes, of
 * what all of them meet. */
void util_mute(bool mute);
bool util_muted(void);

/* Makes such bytes '?' in a text. */
void util_tame(char *text);

#endif
