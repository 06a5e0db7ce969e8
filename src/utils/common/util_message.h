/* What the tools say on standard error: one line each. */
#ifndef UTIL_MESSAGE_H
#define UTIL_MESSAGE_H

#include <stdint.h>

/* "TOOL: FILE: offset N: reason"; file NULL and offset -1 are left out. Bytes that
 * would break the line or steer a terminal are shown as '?'. */
__attribute__((format(printf, 4, 5))) void
util_message(const char *tool, const char *file, int64_t offset, const char *format, ...);

/* Makes such bytes '?' in a text. */
void util_tame(char *text);

#endif
