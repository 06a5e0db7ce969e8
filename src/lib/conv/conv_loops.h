/* The loops that convert, one for every two types and direction; they are generated
 * from conv_loops.c.m4. */
#ifndef CONV_LOOPS_H
#define CONV_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

#include "conv.h"
#include "pnetcdf_constants.h"

/* Elements a loop is given at most: it may go over them twice, so they should stay
 * in the first cache, and it may count them in 16 bits. */
enum { CONV_BLOCK = 1024 };

/* Converts n elements of any alignment, n <= CONV_BLOCK. Those out of range become
 * *fill, which is as the destination has it: big-endian for put, in native order
 * for get. Returns true if there were any. */
typedef bool conv_loop(void *restrict dst, const void *restrict src, size_t n,
                       const void *fill);

/* n elements of any alignment, in their place. */
typedef void conv_turning(void *array, size_t n);

/* By external type, then type in memory: NULL where copying bytes does it, and where
 * text meets a number. By size: NULL where there are no such elements, or of one byte. */
struct conv_loops {
    conv_loop *put[NC_UINT64 + 1][CONV_NTYPES];
    conv_loop *get[NC_UINT64 + 1][CONV_NTYPES];
    conv_turning *turn[9];
};

/* Two compilations of one file, for any processor and for those with AVX2. */
extern const struct conv_loops conv_loops_plain;
extern const struct conv_loops conv_loops_avx2;

/* The fastest that was built and that this processor can run. */
const struct conv_loops *conv_loops_best(void);

#endif
