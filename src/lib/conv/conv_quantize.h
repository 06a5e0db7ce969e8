/* Quantization: digits that carry no information become zeros (or ones), so that the
 * values compress better. The three modes of netCDF-C, with its results, bit for bit:
 *
 * - BitGroom (Zender 2016, doi:10.5194/gmd-9-3199-2016) keeps enough bits for N decimal
 *   digits of any value. The rest becomes zeros in one value and ones in the next, which
 *   preserves the mean.
 * - Granular BitRound finds how many bits N decimal digits of each value take, and rounds
 *   the value to these.
 * - BitRound (Kouznetsov 2021, doi:10.5194/gmd-14-377-2021) rounds to N bits.
 *
 * Zeros, NaN, infinities and the fill value are left as they are. So is a value of which
 * every bit is needed. netCDF-C 4.9.0 damages some of these: see doc/compression.md. */
#ifndef CONV_QUANTIZE_H
#define CONV_QUANTIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum conv_quantize_mode {
    CONV_QUANTIZE_NONE,
    CONV_QUANTIZE_BITGROOM,
    CONV_QUANTIZE_GRANULARBR,
    CONV_QUANTIZE_BITROUND,
    CONV_QUANTIZE_MODES
};

/* The most digits, or bits, that a mode takes for values of a type: NC_FLOAT or
 * NC_DOUBLE; 0 for all other types. The least are 1. */
int conv_quantize_most(int mode, int type);

/* Quantizes n values of `type` in memory, of any alignment. They are number `first` and
 * on of the call that puts them, which decides what BitGroom makes of each. fill is a
 * value of the type. */
void conv_quantize(int mode, int digits, int type, void *values, size_t n, int64_t first,
                   const void *fill);

#endif
