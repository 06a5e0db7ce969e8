/* Quantization: replaces digits that carry no information with zeros (or ones), so that
 * values compress better. Implements the three modes of netCDF-C with identical results,
 * bit for bit:
 *
 * - BitGroom (Zender 2016, doi:10.5194/gmd-9-3199-2016) preserves enough bits for N
 *   decimal digits of any value. The other bits become zeros and ones in alternate
 *   values, which preserves the mean.
 * - Granular BitRound determines how many bits N decimal digits of each value need, and
 *   rounds the value to this number of bits.
 * - BitRound (Kouznetsov 2021, doi:10.5194/gmd-14-377-2021) rounds to N bits.
 *
 * Zeros, NaN, infinities, the fill value, and values whose bits are all needed do not
 * change. netCDF-C 4.9.0 damages some of these values: see doc/compression.md. */
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

/* Returns the maximum number of digits, or bits, of a mode for NC_FLOAT or NC_DOUBLE, and
 * 0 for all other types. The minimum is 1. */
int conv_quantize_max_digits(int mode, int type);

/* Quantizes n values of `type` in memory, of any alignment. `first` is the index of the
 * first value in the put call, because BitGroom treats even and odd values differently.
 * `fill` points to the fill value, which has the same type. */
void conv_quantize(int mode, int digits, int type, void *values, size_t n, int64_t first,
                   const void *fill);

#endif
