/* Checksums of blobs, from the time when they are written. No MPI.
 *
 * Of each record of a variable a blob has one, of 64 bits: XXH3 of its values as
 * little-endian numbers, tile after tile, each with the sum of those before it as the
 * seed; then the last bit is set. One without that bit says that nobody knows. */
#ifndef BLOB_SUM_H
#define BLOB_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base_sum.h"
#include "cdf.h"

enum { BLOB_SUM_TILE = 1 << 16 }; /* bytes; a multiple of every element */

/* Adds n bytes of little-endian numbers: whole tiles, but for the last ones. */
uint64_t blob_sum_add(uint64_t seed, const void *bytes, int64_t n);

/* The same of external values, which are turned round where they lie. */
uint64_t blob_sum_add_external(uint64_t seed, void *bytes, int xsize, int64_t n);

static inline uint64_t blob_sum_end(uint64_t seed)
{
    return seed | 1;
}

static inline bool blob_sum_is_known(uint64_t sum)
{
    return (sum & 1) != 0;
}

/* The variable of a subfile that has the sums of the master's variable; -1: none. */
int blob_sum_var(const struct cdf_header *h, int64_t decomposition, int varid);

#endif
