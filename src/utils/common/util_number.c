/* Converts numbers to text.
 *
 * A real number m * 2^e is multiplied by the power of ten that turns the wanted digits
 * into an integer. The result is always correctly rounded:
 * 1. The power is known to 64 bits, the product to 117 bits. The powers 10^0 ... 10^27
 *    are exact.
 * 2. If the error of the power could affect the rounding, printf converts the number.
 *    With 15 digits this happens about once in 2^13 numbers whose power is not exact. */
#include "util_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_POWER = -308, MOST_POWER = 345, LAST_EXACT = 27, FAST_DIGITS = 17 };

static const uint64_t tens[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
};

#ifdef __SIZEOF_INT128__
typedef unsigned __int128 wide;

/* mantissa * 2^exponent <= 10^k < (mantissa + 2) * 2^exponent. For k from 0 to
 * LAST_EXACT, the first two expressions are equal. */
struct power {
    uint64_t mantissa;
    int exponent;
};

static struct power powers[MOST_POWER - LEAST_POWER + 1];

static void keep_power(int k, wide mantissa, int exponent)
{
    powers[k - LEAST_POWER] = (struct power){
        .mantissa = (uint64_t)(mantissa >> 64),
        .exponent = exponent + 64,
    };
}

/* Each step rounds down and loses less than 2^-123 of the value. So after all steps the
 * upper 64 bits are at most 1 too small. */
static void make_powers(void)
{
    const wide top = (wide)1 << 127;
    wide m = top;
    int e = -127;
    for (int k = 0; k <= MOST_POWER; k++) {
        keep_power(k, m, e);
        m = (m >> 4) * 10;
        e += 4;
        if (m < top) m <<= 1, e--;
    }
    m = top;
    e = -127;
    for (int k = -1; k >= LEAST_POWER; k--) {
        int shift = (m / 10) << 3 < top ? 4 : 3;
        m = ((m / 10) << shift) + ((m % 10) << shift) / 10;
        e -= shift;
        keep_power(k, m, e);
    }
}

/* Rounds mantissa * 2^exponent * 10^k to an integer, half to even. Sets *below to the
 * product rounded down. Returns false if the rounding cannot be decided here. */
static bool scale(uint64_t mantissa, int exponent, int k, uint64_t *rounded,
                  uint64_t *below)
{
    const struct power *p = &powers[k - LEAST_POWER];
    int shift = -(exponent + p->exponent);
    *rounded = *below = 0;
    if (shift < 2 || shift > 126) return false;

    wide product = (wide)mantissa * p->mantissa;
    wide half = (wide)1 << (shift - 1);
    wide fraction = product & (2 * half - 1);
    *below = (uint64_t)(product >> shift);
    if (k >= 0 && k <= LAST_EXACT) {
        bool up = fraction > half || (fraction == half && (*below & 1));
        *rounded = *below + up;
        return true;
    }
    *rounded = *below + (fraction >= half);
    return fraction > half || fraction + 2 * (wide)mantissa < half;
}

/* Computes the first `digits` digits of a positive number as an integer, and the power of
 * ten of the first digit. Returns false if printf must convert the number. */
static bool decimal(double value, int digits, uint64_t *number, int *exponent10)
{
    uint64_t bits;
    if (powers[0].mantissa == 0) make_powers();
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52) - 1075;
    if (bits >> 52 == 0)
        exponent++;
    else
        mantissa |= (uint64_t)1 << 52;

    /* The number is in [2^n, 2^(n+1)), so its power of ten is e10 or e10 + 1. */
    int n = 63 - __builtin_clzll(mantissa) + exponent;
    int e10 = (n * 315653) >> 20;
    uint64_t below;
    bool sure = scale(mantissa, exponent, digits - 1 - e10, number, &below);
    if (below >= tens[digits])
        sure = scale(mantissa, exponent, digits - 1 - ++e10, number, &below);
    if (*number == tens[digits]) {
        *number = tens[digits - 1];
        e10++;
    }
    *exponent10 = e10;
    return sure;
}
#else
/* Without 128-bit integers, printf converts all numbers. */
static bool decimal(double value, int digits, uint64_t *number, int *exponent10)
{
    (void)value, (void)digits, (void)number, (void)exponent10;
    return false;
}
#endif

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

char *util_put_uint(char *p, uint64_t value)
{
    char text[20];
    char *start = text + sizeof text;
    for (; value >= 100; value /= 100)
        memcpy(start -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(start -= 2, pairs + 2 * value, 2);
    else
        *--start = (char)('0' + value);
    size_t length = (size_t)(text + sizeof text - start);
    memcpy(p, start, length);
    return p + length;
}

char *util_put_int(char *p, int64_t value)
{
    if (value >= 0) return util_put_uint(p, (uint64_t)value);
    *p++ = '-';
    return util_put_uint(p, -(uint64_t)value);
}

static uint64_t strip_zeros(uint64_t number)
{
    if (number % 100000000 == 0) number /= 100000000;
    if (number % 10000 == 0) number /= 10000;
    if (number % 100 == 0) number /= 100;
    while (number % 10 == 0)
        number /= 10;
    return number;
}

/* Writes d.ddde+XX from the digits in text. */
static char *put_exponential(char *p, const char *text, size_t length, int exponent10)
{
    *p++ = text[0];
    if (length > 1) {
        *p++ = '.';
        memcpy(p, text + 1, length - 1);
        p += length - 1;
    }
    *p++ = 'e';
    *p++ = exponent10 < 0 ? '-' : '+';
    unsigned e = (unsigned)(exponent10 < 0 ? -exponent10 : exponent10);
    if (e < 10) *p++ = '0';
    return util_put_uint(p, e);
}

static char *put_fixed(char *p, const char *text, size_t length, int exponent10)
{
    if (exponent10 < 0) {
        memcpy(p, "0.000000", 8);
        p += 1 - exponent10;
        memcpy(p, text, length);
        return p + length;
    }
    size_t whole = (size_t)exponent10 + 1;
    if (length <= whole) {
        memcpy(p, text, length);
        memset(p + length, '0', whole - length);
        return p + whole;
    }
    memcpy(p, text, whole);
    p[whole] = '.';
    memcpy(p + whole + 1, text + whole, length - whole);
    return p + length + 1;
}

char *util_put_real(char *p, double value, int digits)
{
    bool negative = signbit(value);
    double size = fabs(value);
    if (digits <= FAST_DIGITS && size < (double)tens[digits < 15 ? digits : 15] &&
        size == (double)(int64_t)size) {
        *p = '-';
        return util_put_uint(p + negative, (uint64_t)size);
    }

    uint64_t number;
    int e10;
    if (digits > FAST_DIGITS || !decimal(size, digits, &number, &e10))
        return p + snprintf(p, UTIL_NUMBER_MAX, "%.*g", digits, value);

    *p = '-';
    p += negative;
    char text[20];
    size_t length = (size_t)(util_put_uint(text, strip_zeros(number)) - text);
    return e10 < -4 || e10 >= digits ? put_exponential(p, text, length, e10)
                                     : put_fixed(p, text, length, e10);
}
