/* 64-bit XXH3 checksums, if configure found xxhash.h. */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether checksums are available. */
bool base_can_sum(void);

/* Returns the checksum; 0 if unavailable. */
uint64_t base_sum(const void *bytes, size_t length, uint64_t seed);

/* Like base_sum, but only for processors with AVX2. */
uint64_t base_sum_avx2(const void *bytes, size_t length, uint64_t seed);

#endif
