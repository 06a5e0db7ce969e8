/* Quantizes values in memory. conv_quantize.h describes the three modes. */
#include "conv_quantize.h"

#include <math.h>
#include <string.h>

#include "pnetcdf_constants.h"

/* ln 10 / ln 2 and its inverse, as computed by netCDF-C in double arithmetic. Neither is
 * the nearest double, but near powers of ten these values determine netCDF-C's
 * results. */
static const double bits_of_digit = 3.3219280948873626;
static const double digits_of_bit = 0.30102999566398114;

enum { FLOAT_BITS = 23, DOUBLE_BITS = 52 }; /* number of stored fraction bits */

enum { BINADES = 32, NO_EXPONENT = 9999 };

/* Values between two consecutive powers of 2, with at most one power of ten. */
struct binade {
    int exponent;
    int below, above; /* bits kept in values below the power of ten, and in all others */
    double power;     /* mantissa of the power of ten; less than any mantissa if none */
};

struct quantizer {
    int mode, digits;
    int bits;     /* number of bits kept in every value; unused with GranularBR */
    int fraction; /* FLOAT_BITS or DOUBLE_BITS */
    double fill;
    struct binade binades[BINADES]; /* cache for GranularBR, indexed by exponent */
};

int conv_quantize_max_digits(int mode, int type)
{
    static const unsigned char most[CONV_QUANTIZE_MODES][2] = {
        [CONV_QUANTIZE_BITGROOM] = {7, 15},
        [CONV_QUANTIZE_GRANULARBR] = {7, 15},
        [CONV_QUANTIZE_BITROUND] = {FLOAT_BITS, DOUBLE_BITS},
    };
    if (type != NC_FLOAT && type != NC_DOUBLE) return 0;
    return mode < 0 || mode >= CONV_QUANTIZE_MODES ? 0 : most[mode][type == NC_DOUBLE];
}

/* ---- Granular BitRound ---- */

/* Returns the number of bits that a value, mantissa * 2^exponent, needs for N decimal
 * digits. The number of digits before the decimal point determines which power of 2 is
 * negligible. The bits from the value's power of 2 down to that one are kept. */
static int granular_bits(int exponent, double mantissa, int digits)
{
    /* volatile rounds each step to a double, even with extended precision. */
    volatile double log = log10(mantissa), scale = exponent * digits_of_bit,
                    bits = bits_of_digit * log, size = scale + log, own = exponent - bits;
    int before_point = (int)floor(size) + 1;
    int dropped = (int)floor(bits_of_digit * (before_point - digits));
    return (int)floor(own) - dropped - 1;
}

/* Between two powers of 2 the number of bits is constant, or changes once, at a power of
 * ten. Caching the numbers saves most logarithms. A sample near each end suffices: except
 * for 1, no power of ten is as close to a power of 2 as the samples are. */
static void find_binade(struct binade *b, int exponent, int digits)
{
    const double low = 0.5000001, high = 0.9999999;
    double log = exponent * digits_of_bit;
    b->exponent = exponent;
    b->power = pow(10, floor(log) - log);
    b->below = granular_bits(exponent, low, digits);
    b->above = granular_bits(exponent, high, digits);
}

/* Computes frexp of the absolute value without a function call. */
static double split_value(double value, int *exponent)
{
    uint64_t u;
    memcpy(&u, &value, sizeof u);
    int biased = (int)(u >> DOUBLE_BITS & 0x7ff);
    if (biased == 0) return frexp(fabs(value), exponent);
    *exponent = biased - 1022;
    u = (u & (((uint64_t)1 << DOUBLE_BITS) - 1)) | (uint64_t)1022 << DOUBLE_BITS;
    memcpy(&value, &u, sizeof value);
    return value;
}

static int find_granular_bits(struct quantizer *q, double value)
{
    const double near =
        1e-12; /* exceeds all rounding errors: results must match netCDF-C's */
    int exponent;
    double mantissa = split_value(value, &exponent);
    struct binade *b = &q->binades[exponent & (BINADES - 1)];
    if (b->exponent != exponent) find_binade(b, exponent, q->digits);
    if (mantissa < 0.5 + near || mantissa > 1 - near || fabs(mantissa - b->power) < near)
        return granular_bits(exponent, mantissa, q->digits);
    return mantissa < b->power ? b->below : b->above;
}

/* ---- values ---- */

/* Quantizes the value whose bits are u, and returns the resulting bits. */
static uint64_t quantize_bits(struct quantizer *q, double value, uint64_t u, bool odd)
{
    bool granular = q->mode == CONV_QUANTIZE_GRANULARBR;
    int drop = q->fraction - (granular ? find_granular_bits(q, value) : q->bits);
    if (value == q->fill || drop <= 0) return u;
    uint64_t low = ((uint64_t)1 << drop) - 1;
    if (q->mode == CONV_QUANTIZE_BITGROOM) return odd ? u | low : u & ~low;
    return (u + low / 2 + 1) & ~low;
}

/* Compares bits to detect zero, infinity and NaN. A floating-point comparison of a
 * signalling NaN would raise an exception. */
static void quantize_floats(struct quantizer *q, char *at, size_t n, bool odd)
{
    for (size_t i = 0; i < n; i++, at += sizeof(float), odd = !odd) {
        const uint32_t largest = 0x7f7fffff;
        float value;
        uint32_t u;
        memcpy(&u, at, sizeof u);
        if ((u & INT32_MAX) - 1 >= largest) continue;
        memcpy(&value, at, sizeof value);
        u = (uint32_t)quantize_bits(q, value, u, odd);
        memcpy(at, &u, sizeof u);
    }
}

static void quantize_doubles(struct quantizer *q, char *at, size_t n, bool odd)
{
    for (size_t i = 0; i < n; i++, at += sizeof(double), odd = !odd) {
        const uint64_t largest = 0x7fefffffffffffff;
        double value;
        uint64_t u;
        memcpy(&u, at, sizeof u);
        if ((u & INT64_MAX) - 1 >= largest) continue;
        memcpy(&value, at, sizeof value);
        u = quantize_bits(q, value, u, odd);
        memcpy(at, &u, sizeof u);
    }
}

void conv_quantize(int mode, int digits, int type, void *values, size_t n, int64_t first,
                   const void *fill)
{
    struct quantizer q;
    q.mode = mode;
    q.digits = q.bits = digits;
    /* BitGroom truncates instead of rounding, so it needs a guard bit. */
    if (mode == CONV_QUANTIZE_BITGROOM) q.bits = (int)ceil(digits * bits_of_digit) + 1;
    for (int i = 0; i < BINADES; i++)
        q.binades[i].exponent = NO_EXPONENT;
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
