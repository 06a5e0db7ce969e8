/* UTF-8 validation. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Returns the length, 1 to 4, of the character at the beginning of a NUL-terminated text.
 * Returns 0 if the character is invalid, truncated, overlong, a surrogate or above
 * U+10FFFF. */
size_t base_utf8_length(const char *text);

#endif
