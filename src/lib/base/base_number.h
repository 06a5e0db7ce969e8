/* Arithmetic and time functions that several modules need. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>
#include <time.h>

/* Returns the greatest common divisor of two nonnegative numbers. The divisor of 0 and n
 * is n. */
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

/* Sleeps for the given number of microseconds, or until a signal arrives. */
static inline void base_sleep_us(int64_t microseconds)
{
    const int64_t second = 1000000;
    const struct timespec t = {(time_t)(microseconds / second),
                               (long)(microseconds % second * 1000)};
    (void)nanosleep(&t, NULL);
}

#endif
