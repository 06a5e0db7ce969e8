/* See plan_value.h. */
#include "plan_value.h"

#include <math.h>
#include <string.h>

#include "splitmix.h"

enum class { UNSIGNED, SIGNED, REAL };

static const struct {
    size_t size;
    enum class class;
} memories[MEMORY_TYPES] = {
    [MEMORY_TEXT] = {1, UNSIGNED},   [MEMORY_SCHAR] = {1, SIGNED},
    [MEMORY_UCHAR] = {1, UNSIGNED},  [MEMORY_SHORT] = {2, SIGNED},
    [MEMORY_USHORT] = {2, UNSIGNED}, [MEMORY_INT] = {4, SIGNED},
    [MEMORY_UINT] = {4, UNSIGNED},   [MEMORY_LONG] = {sizeof(long), SIGNED},
    [MEMORY_FLOAT] = {4, REAL},      [MEMORY_DOUBLE] = {8, REAL},
    [MEMORY_LONGLONG] = {8, SIGNED}, [MEMORY_ULONGLONG] = {8, UNSIGNED},
};

int plan_memory_of(int type)
{
    static const signed char same[PLAN_TYPES] = {
        [0] = -1,
        [PLAN_BYTE] = MEMORY_SCHAR,
        [PLAN_CHAR] = MEMORY_TEXT,
        [PLAN_SHORT] = MEMORY_SHORT,
        [PLAN_INT] = MEMORY_INT,
        [PLAN_FLOAT] = MEMORY_FLOAT,
        [PLAN_DOUBLE] = MEMORY_DOUBLE,
        [PLAN_UBYTE] = MEMORY_UCHAR,
        [PLAN_USHORT] = MEMORY_USHORT,
        [PLAN_UINT] = MEMORY_UINT,
        [PLAN_INT64] = MEMORY_LONGLONG,
        [PLAN_UINT64] = MEMORY_ULONGLONG,
    };
    return type < 0 || type >= PLAN_TYPES ? -1 : same[type];
}

size_t plan_memory_size(int memory)
{
    return memories[memory].size;
}

/* ---- representations ---- */

static int bit_count(int memory)
{
    return 8 * (int)memories[memory].size;
}

/* Returns the lowest n bits of a number. */
static uint64_t low_bits(uint64_t x, int n)
{
    return n < 64 ? x & ((UINT64_C(1) << n) - 1) : x;
}

static uint64_t bits_of_real(int memory, double real)
{
    const float narrow = memory == MEMORY_FLOAT ? (float)real : 0;
    uint32_t low;
    uint64_t bits;
    memcpy(&low, &narrow, sizeof low);
    memcpy(&bits, &real, sizeof bits);
    return memory == MEMORY_FLOAT ? low : bits;
}

static double real_of_bits(int memory, uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float narrow;
    double real;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&real, &bits, sizeof real);
    return memory == MEMORY_FLOAT ? (double)narrow : real;
}

/* Returns the value of a signed integer type, extended to 64 bits. */
static int64_t extended(int memory, uint64_t bits)
{
    const uint64_t sign = UINT64_C(1) << (bit_count(memory) - 1);
    return (int64_t)((bits ^ sign) - sign);
}

void plan_store(void *buf, int memory, int64_t i, uint64_t value)
{
    char *at = (char *)buf + (size_t)i * memories[memory].size;
    const uint8_t one = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    switch (memories[memory].size) {
    case 1:
        memcpy(at, &one, sizeof one);
        break;
    case 2:
        memcpy(at, &two, sizeof two);
        break;
    case 4:
        memcpy(at, &four, sizeof four);
        break;
    default:
        memcpy(at, &value, sizeof value);
    }
}

uint64_t plan_load(const void *buf, int memory, int64_t i)
{
    const char *at = (const char *)buf + (size_t)i * memories[memory].size;
    uint16_t two;
    uint32_t four;
    uint64_t value;
    switch (memories[memory].size) {
    case 1:
        return *(const unsigned char *)at;
    case 2:
        memcpy(&two, at, sizeof two);
        return two;
    case 4:
        memcpy(&four, at, sizeof four);
        return four;
    default:
        memcpy(&value, at, sizeof value);
        return value;
    }
}

double plan_number(int memory, uint64_t value)
{
    if (memories[memory].class == REAL) return real_of_bits(memory, value);
    return memories[memory].class == SIGNED ? (double)extended(memory, value)
                                            : (double)value;
}

bool plan_is_same(int memory, uint64_t a, uint64_t b)
{
    return a == b || (memories[memory].class == REAL && isnan(real_of_bits(memory, a)) &&
                      isnan(real_of_bits(memory, b)));
}

/* ---- conversion ---- */

static bool real_to_integer(double real, int to, uint64_t *converted)
{
    const bool is_signed = memories[to].class == SIGNED;
    const int bits = bit_count(to) - is_signed;
    const double limit = 2.0 * (double)(UINT64_C(1) << (bits - 1));
    /* Above 2^53, limit - 1 is rounded to limit. */
    if (!(real >= (is_signed ? -limit : 0) && real < limit && real <= limit - 1))
        return false;
    *converted =
        low_bits(is_signed ? (uint64_t)(int64_t)real : (uint64_t)real, bit_count(to));
    return true;
}

static bool integer_to_integer(int from, uint64_t value, int to, uint64_t *converted)
{
    const bool is_signed = memories[to].class == SIGNED;
    const bool is_negative = memories[from].class == SIGNED && extended(from, value) < 0;
    if (is_negative) value = (uint64_t)extended(from, value);
    *converted = low_bits(value, bit_count(to));
    if (is_negative) return is_signed && extended(to, *converted) == (int64_t)value;
    return low_bits(value, bit_count(to) - is_signed) == value;
}

static bool convert_memory(int from, uint64_t value, int to, uint64_t *converted)
{
    const bool is_real = memories[from].class == REAL;
    if (memories[to].class != REAL)
        return is_real ? real_to_integer(real_of_bits(from, value), to, converted)
                       : integer_to_integer(from, value, to, converted);
    /* A conversion through double would round twice. */
    double real = is_real ? real_of_bits(from, value)
                  : memories[from].class == SIGNED
                      ? to == MEMORY_FLOAT ? (double)(float)extended(from, value)
                                           : (double)extended(from, value)
                  : to == MEMORY_FLOAT ? (double)(float)value
                                       : (double)value;
    *converted = bits_of_real(to, real);
    return !isinf(real_of_bits(to, *converted)) || isinf(real);
}

bool plan_convert(int format, int type, uint64_t value, int memory, uint64_t *converted)
{
    const int own = plan_memory_of(type);
    *converted = value;
    if (own == memory) return true;
    if (type == PLAN_BYTE && memory == MEMORY_UCHAR && format != 5) return true;
    return convert_memory(own, value, memory, converted);
}

/* ---- values ---- */

/* Returns whether the low n bytes are nonzero and different from each other. */
static bool is_varied(uint64_t bits, int n)
{
    bool seen[256] = {true};
    for (int i = 0; i < n; i++, bits >>= 8) {
        if (seen[bits & 255]) return false;
        seen[bits & 255] = true;
    }
    return true;
}

/* Returns the bits of a floating-point number: in one out of eight cases a NaN, in
 * another one a subnormal number, and otherwise any number. If `finite` is set, the
 * result is never a NaN or an infinity. */
static uint64_t draw_real(int memory, bool finite, uint64_t *state)
{
    const uint64_t sign = UINT64_C(1) << (bit_count(memory) - 1),
                   exponent = memory == MEMORY_FLOAT ? UINT64_C(255) << 23
                                                     : UINT64_C(2047) << 52;
    const uint64_t kind = splitmix_next(state) % 8;
    uint64_t bits;
    do {
        bits = low_bits(splitmix_next(state), bit_count(memory));
        if (kind == 0 && !finite) bits |= exponent;
        if (kind == 1) bits = (bits & ~exponent) | sign;
    } while (!is_varied(bits, (int)memories[memory].size) ||
             (finite && (bits & exponent) == exponent));
    return bits;
}

/* Returns an integer with `digits` random bits, of which all whole bytes are nonzero and
 * differ from each other. */
static uint64_t draw_digits(int digits, uint64_t *state)
{
    uint64_t bits;
    do
        bits = low_bits(splitmix_next(state), digits);
    while (bits == 0 || !is_varied(bits, digits / 8));
    return bits;
}

static uint64_t draw_integer(int own, int memory, uint64_t *state)
{
    const int narrow = memories[own].size <= memories[memory].size ? own : memory;
    const bool is_mixed = memories[own].class != memories[memory].class;
    const bool is_positive = is_mixed && (memories[narrow].class == SIGNED ||
                                          memories[own].size == memories[memory].size);
    const uint64_t bits = draw_digits(bit_count(narrow) - is_positive, state);
    if (is_positive || memories[narrow].class == UNSIGNED) return bits;
    return low_bits((uint64_t)extended(narrow, bits), bit_count(own));
}

/* Returns a value that both an integer type and a floating-point type represent. */
static uint64_t draw_whole_number(int own, int memory, uint64_t *state)
{
    const int integer = memories[own].class == REAL ? memory : own,
              real = integer == own ? memory : own;
    const bool is_signed = memories[integer].class == SIGNED;
    const int exact = real == MEMORY_FLOAT ? 24 : 53,
              bits = bit_count(integer) - is_signed, digits = bits < exact ? bits : exact;
    uint64_t value = draw_digits(digits, state), converted;
    value <<= splitmix_next(state) % (uint64_t)(bits - digits + 1);
    if (is_signed && splitmix_next(state) % 2)
        value = low_bits(-value, bit_count(integer));
    if (integer == own) return value;
    (void)convert_memory(integer, value, own, &converted);
    return converted;
}

uint64_t plan_value(int type, int memory, uint64_t seed)
{
    const int own = plan_memory_of(type);
    const enum class a = memories[own].class, b = memories[memory].class;
    uint64_t state = splitmix_hash(seed);
    if (a != REAL && b != REAL) return draw_integer(own, memory, &state);
    if (a != b) return draw_whole_number(own, memory, &state);
    if (own == memory) return draw_real(own, false, &state);
    const uint64_t narrow = draw_real(MEMORY_FLOAT, true, &state);
    return own == MEMORY_FLOAT
               ? narrow
               : bits_of_real(MEMORY_DOUBLE, real_of_bits(MEMORY_FLOAT, narrow));
}

int plan_int(int type, uint64_t seed)
{
    uint64_t value = plan_value(type, MEMORY_INT, seed);
    (void)plan_convert(5, type, value, MEMORY_INT, &value);
    return (int)(uint32_t)value;
}
