/* Quantization of values in memory. */
#include "conv_quantize.h"

#include <math.h>
#include <string.h>

#include "pnetcdf_constants.h"

/* ln 10 / ln 2 and its inverse as arithmetic of doubles has them. Neither is the nearest
 * double, but near powers of ten these decide netCDF-C's results. */
static const double bits_of_digit = 3.3219280948873626;
static const double digits_of_bit = 0.30102999566398114;

enum { FLOAT_BITS = 23, DOUBLE_BITS = 52 }; /* of the stored fraction */

struct quantizer {
    int mode, digits;
    int bits;     /* that are kept of every value; not with GranularBR */
    int fraction; /* FLOAT_BITS or DOUBLE_BITS */
    double fill;
};

int conv_quantize_most(int mode, int type)
{
    static const unsigned char most[CONV_QUANTIZE_MODES][2] = {
        [CONV_QUANTIZE_BITGROOM] = {7, 15},
        [CONV_QUANTIZE_GRANULARBR] = {7, 15},
        [CONV_QUANTIZE_BITROUND] = {FLOAT_BITS, DOUBLE_BITS},
    };
    if (type != NC_FLOAT && type != NC_DOUBLE) return 0;
    return mode < 0 || mode >= CONV_QUANTIZE_MODES ? 0 : most[mode][type == NC_DOUBLE];
}

/* The bits that a value needs for N decimal digits. The number of its digits before the
 * point says which power of 2 is too small to matter; what is left are the bits from its
 * own power down to that one. */
static int granular_bits(double value, int digits)
{
    int exponent;
    double log = log10(frexp(fabs(value), &exponent));
    int before_point = (int)floor(exponent * digits_of_bit + log) + 1;
    int dropped = (int)floor(bits_of_digit * (before_point - digits));
    return (int)floor(exponent - bits_of_digit * log) - dropped - 1;
}

/* The bits u of a value, quantized. */
static uint64_t quantized(const struct quantizer *q, double value, uint64_t u, bool odd)
{
    bool granular = q->mode == CONV_QUANTIZE_GRANULARBR;
    int drop = q->fraction - (granular ? granular_bits(value, q->digits) : q->bits);
    if (value == q->fill || drop <= 0) return u;
    uint64_t low = ((uint64_t)1 << drop) - 1;
    if (q->mode == CONV_QUANTIZE_BITGROOM) return odd ? u | low : u & ~low;
    return (u + low / 2 + 1) & ~low;
}

/* Tests for zero, infinity and NaN by the bits: as a number, a signalling NaN would raise
 * an exception. */
static void quantize_floats(const struct quantizer *q, char *at, size_t n, bool odd)
{
    for (size_t i = 0; i < n; i++, at += sizeof(float), odd = !odd) {
        const uint32_t largest = 0x7f7fffff;
        float value;
        uint32_t u;
        memcpy(&u, at, sizeof u);
        if ((u & INT32_MAX) - 1 >= largest) continue;
        memcpy(&value, at, sizeof value);
        u = (uint32_t)quantized(q, value, u, odd);
        memcpy(at, &u, sizeof u);
    }
}

static void quantize_doubles(const struct quantizer *q, char *at, size_t n, bool odd)
{
    for (size_t i = 0; i < n; i++, at += sizeof(double), odd = !odd) {
        const uint64_t largest = 0x7fefffffffffffff;
        double value;
        uint64_t u;
        memcpy(&u, at, sizeof u);
        if ((u & INT64_MAX) - 1 >= largest) continue;
        memcpy(&value, at, sizeof value);
        u = quantized(q, value, u, odd);
        memcpy(at, &u, sizeof u);
    }
}

void conv_quantize(int mode, int digits, int type, void *values, size_t n, int64_t first,
                   const void *fill)
{
    /* BitGroom has a guard bit: what it cuts off is not rounded. */
    int groomed = (int)ceil(digits * bits_of_digit) + 1;
    struct quantizer q = {.mode = mode,
                          .digits = digits,
                          .bits = mode == CONV_QUANTIZE_BITGROOM ? groomed : digits};
    if (type == NC_FLOAT) {
        q.fill = *(const float *)fill;
        q.fraction = FLOAT_BITS;
        quantize_floats(&q, values, n, first & 1);
    } else {
        q.fill = *(const double *)fill;
        q.fraction = DOUBLE_BITS;
        quantize_doubles(&q, values, n, first & 1);
    }
}
