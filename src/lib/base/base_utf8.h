/* Text in UTF-8. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character at the beginning of a text that ends with a NUL: 1 to 4. 0: they
 * are none, cut off, an overlong form, a surrogate or beyond U+10FFFF. */
size_t base_utf8_length(const char *text);

#endif
