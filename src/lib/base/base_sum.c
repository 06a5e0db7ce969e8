/* Computes checksums with xxHash. */
#include "config.h"

#include "base_sum.h"

#ifdef HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>

bool base_can_sum(void)
{
    return true;
}

uint64_t base_sum(const void *bytes, size_t length, uint64_t seed)
{
#ifdef CONV_AVX2
    enum { LONG = 4096 };
    if (length >= LONG && __builtin_cpu_supports("avx2"))
        return base_sum_avx2(bytes, length, seed);
#endif
    return XXH3_64bits_withSeed(bytes, length, seed);
}
#else
bool base_can_sum(void)
{
    return false;
}

uint64_t base_sum(const void *bytes, size_t length, uint64_t seed)
{
    (void)bytes;
    (void)length;
    (void)seed;
    return 0;
}
#endif
