/* The conversion loops, one for each pair of types and each direction. conv_loops.c.m4
 * generates them. */
#ifndef CONV_LOOPS_H
#define CONV_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

#include "conv.h"
#include "pnetcdf_constants.h"

/* Maximum number of elements per call. A loop may read them twice, so they should fit in
 * the L1 cache, and it may count them in 16 bits. */
enum { CONV_BLOCK = 1024 };

/* Converts n elements of any alignment, n <= CONV_BLOCK. Values out of range become
 * *fill, which has the destination's byte order: big-endian for put, native for get.
 * Returns whether any value was out of range. */
typedef bool conv_loop(void *restrict dst, const void *restrict src, size_t n,
                       const void *fill);

/* Swaps the bytes of n elements of any alignment in place. */
typedef void conv_swap_loop(void *array, size_t n);

/* put and get are indexed by external type and memory type. Entries are NULL if copying
 * suffices or if only one of the types is text. swap is indexed by element size. Its
 * entries are NULL for one byte and for unused sizes. */
struct conv_loops {
    conv_loop *put[NC_UINT64 + 1][CONV_NTYPES];
    conv_loop *get[NC_UINT64 + 1][CONV_NTYPES];
    conv_swap_loop *swap[9];
};

/* Loops compiled for any processor, and for processors with AVX2. */
extern const struct conv_loops conv_loops_plain;
extern const struct conv_loops conv_loops_avx2;

/* Returns the fastest table that was built and is supported by this processor. */
const struct conv_loops *conv_loops_best(void);

#endif
