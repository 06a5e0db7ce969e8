/* Converts numbers to text, fast. Each function writes at p without a NUL and returns the
 * end of the text. */
#ifndef UTIL_NUMBER_H
#define UTIL_NUMBER_H

#include <stdint.h>

enum {
    UTIL_NUMBER_MAX = 48,
    UTIL_DIGITS_MAX = 20
}; /* bytes that suffice for any number; maximum of `digits` */

char *util_put_uint(char *p, uint64_t value);
char *util_put_int(char *p, int64_t value);

/* Writes a finite number as printf("%.*g", digits, value) does in the C locale, for 1 <=
 * digits <= UTIL_DIGITS_MAX. */
char *util_put_real(char *p, double value, int digits);

#endif
