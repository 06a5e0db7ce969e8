/* Checksums of blobs, computed when they are written. No MPI.
 *
 * A blob has one 64-bit checksum for each record of a variable: XXH3 of its values as
 * little-endian numbers, computed tile by tile, where each tile is seeded with the
 * checksum of the preceding tiles. Finally the lowest bit is set; a stored value without
 * this bit means that the checksum is unknown. */
#ifndef SUBFILE_SUM_H
#define SUBFILE_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base_sum.h"
#include "cdf.h"

enum { SUBFILE_SUM_TILE = 1 << 16 }; /* bytes; a multiple of every element size */

/* Adds n bytes of little-endian numbers: whole tiles, except in the last call. */
uint64_t subfile_sum_add(uint64_t seed, const void *bytes, int64_t n);

/* Converts n bytes of external values to little-endian in place, and adds them. */
uint64_t subfile_sum_add_external(uint64_t seed, void *bytes, int xsize, int64_t n);

static inline uint64_t subfile_sum_end(uint64_t seed)
{
    return seed | 1;
}

static inline bool subfile_sum_is_known(uint64_t sum)
{
    return (sum & 1) != 0;
}

/* Returns the subfile's variable with the sums of a master's variable; -1 if none. */
int subfile_sum_var(const struct cdf_header *h, int64_t decomposition, int varid);

#endif
