/* Divides a range into equal shares. */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <stdint.h>

/* Returns the first index of share i. n items are divided into `shares` contiguous shares
 * whose sizes differ by at most one. For i = shares, returns n. */
static inline int64_t base_share_begin(int64_t n, int64_t shares, int64_t i)
{
    int64_t more = n % shares;
    return n / shares * i + (i < more ? i : more);
}

#endif
