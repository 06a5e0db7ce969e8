/* Arithmetic that several modules need. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>

/* The greatest common divisor of two numbers that are not negative; of 0 and n: n. */
static inline int64_t base_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
