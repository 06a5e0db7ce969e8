/* Checksums: XXH3 of 64 bits, compiled in where configure found xxhash.h. */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Are there any? */
bool base_can_sum(void);

/* 0 where there are none. */
uint64_t base_sum(const void *bytes, size_t length, uint64_t seed);

/* The same for processors with AVX2 only. */
uint64_t base_sum_avx2(const void *bytes, size_t length, uint64_t seed);

#endif
