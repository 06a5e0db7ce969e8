/* Arithmetic, and times in nanoseconds, that several modules need. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>
#include <time.h>

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

static inline int64_t base_nanoseconds(struct timespec t)
{
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static inline int64_t base_now(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return base_nanoseconds(now);
}

#endif
