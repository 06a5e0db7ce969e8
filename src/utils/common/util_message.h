/* Prints the tools' messages on standard error, one line each. */
#ifndef UTIL_MESSAGE_H
#define UTIL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Prints "TOOL: FILE: offset N: reason". A NULL file and offset -1 are omitted. Control
 * characters are replaced by '?'. */
__attribute__((format(printf, 4, 5))) void
util_message(const char *tool, const char *file, int64_t offset, const char *format, ...);

/* Reports that the file ends at `end`, `lacking` bytes before the end of a variable's
 * values. PnetCDF leaves such files if the last values were never put, and every reader
 * returns zeros in their place. So this function only prints a note and returns 0. If
 * more than `most` bytes are lacking, it prints an error and returns -1. */
int util_file_is_short(const char *tool, const char *file, int64_t end,
                       const char *variable, int64_t lacking, int64_t most);
#define UTIL_LACKING_MOST ((int64_t)1 << 40) /* for tools that only read */

/* Turns messages off or on. Used to silence all processes but one if they encounter the
 * same errors. */
void util_mute(bool mute);
bool util_muted(void);

/* Replaces the control characters of a text by '?'. */
void util_escape_controls(char *text);

#endif
