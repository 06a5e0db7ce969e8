/* Shares of things that lie in a row. */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <stdint.h>

/* Where share i begins of n things that are dealt out in so many stretches, no two of
 * which differ by more than one; i = shares: n. */
static inline int64_t base_share_begin(int64_t n, int64_t shares, int64_t i)
{
    int64_t more = n % shares;
    return n / shares * i + (i < more ? i : more);
}

#endif
