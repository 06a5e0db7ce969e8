/* Tests quantization. Compares some values with results of netCDF-C 4.9.0. For all
 * others, checks properties with arithmetic instead of bit operations.
 * test/api/quantize_netcdf.c compares more values with netCDF-C. */
#include "unit.h"

#include <fenv.h>
#include <math.h>

#include "conv_model.h"
#include "conv_quantize.h"

enum {
    BITGROOM = CONV_QUANTIZE_BITGROOM,
    GRANULARBR = CONV_QUANTIZE_GRANULARBR,
    BITROUND = CONV_QUANTIZE_BITROUND,
    N = 4000
};

/* ---- accessing floats and doubles as doubles ---- */

static size_t size_of(int type)
{
    return type == NC_FLOAT ? sizeof(float) : sizeof(double);
}

static double load_value(int type, const void *array, size_t i)
{
    float f;
    double d;
    memcpy(&f, (const char *)array + i * sizeof f, sizeof f);
    if (type == NC_FLOAT) return (double)f;
    memcpy(&d, (const char *)array + i * sizeof d, sizeof d);
    return d;
}

static void store_value(int type, void *array, size_t i, double value)
{
    float f = (float)value;
    if (type == NC_FLOAT)
        memcpy((char *)array + i * sizeof f, &f, sizeof f);
    else
        memcpy((char *)array + i * sizeof value, &value, sizeof value);
}

static void quantize(int mode, int digits, int type, void *values, size_t n,
                     int64_t first)
{
    const float fill_float = NC_FILL_FLOAT;
    const double fill_double = NC_FILL_DOUBLE;
    conv_quantize(mode, digits, type, values, n, first,
                  type == NC_FLOAT ? (const void *)&fill_float : &fill_double);
}

/* Generates normal numbers of all magnitudes, except those that quantization would round
 * to infinity. */
static void make_values(int type, void *values)
{
    int most = type == NC_FLOAT ? 126 : 1022;
    for (size_t i = 0; i < N; i++) {
        double m = 1 + ldexp((double)(conv_model_random() >> 12), -52);
        int e = (int)(conv_model_random() % (2 * (unsigned)most)) - most;
        if (i % 3 == 0) e = (int)(conv_model_random() % 40) - 20;
        store_value(type, values, i, ldexp(i % 2 ? m : -m, e));
    }
}

/* Calls `run` for both types and every number of digits that the mode allows. */
static void each_digits(int mode, void (*run)(int type, int digits))
{
    for (int type = NC_FLOAT; type <= NC_DOUBLE; type++)
        for (int digits = 1; digits <= conv_quantize_max_digits(mode, type); digits++)
            run(type, digits);
}

/* ---- results of netCDF-C ---- */

static const struct {
    int type, mode, digits, index;
    uint64_t value, result;
} known[] = {
    {NC_FLOAT, BITGROOM, 3, 0, 0x40490fdb, 0x40490000},
    {NC_FLOAT, BITGROOM, 3, 1, 0x40490fdb, 0x40490fff},
    {NC_FLOAT, BITGROOM, 1, 0, 0xb48637bd, 0xb4840000},
    {NC_FLOAT, BITGROOM, 1, 1, 0xb48637bd, 0xb487ffff},
    {NC_FLOAT, BITGROOM, 5, 0, 0x501502f9, 0x501502e0},
    {NC_FLOAT, BITGROOM, 5, 1, 0x501502f9, 0x501502ff},
    {NC_FLOAT, BITGROOM, 2, 0, 0x411fff97, 0x411f8000},
    {NC_FLOAT, BITGROOM, 2, 1, 0x411fff97, 0x411fffff},
    {NC_FLOAT, BITGROOM, 4, 0, 0x000116c2, 0x00011600},
    {NC_FLOAT, BITGROOM, 4, 1, 0x000116c2, 0x000116ff},
    {NC_FLOAT, BITGROOM, 6, 0, 0x7f7fc99e, 0x7f7fc99c},
    {NC_FLOAT, BITGROOM, 6, 1, 0x7f7fc99e, 0x7f7fc99f},
    {NC_DOUBLE, BITGROOM, 3, 0, 0x400921fb54442d18, 0x4009200000000000},
    {NC_DOUBLE, BITGROOM, 3, 1, 0x400921fb54442d18, 0x400921ffffffffff},
    {NC_DOUBLE, BITGROOM, 1, 0, 0xbe06e80fe033c8c6, 0xbe06800000000000},
    {NC_DOUBLE, BITGROOM, 1, 1, 0xbe06e80fe033c8c6, 0xbe06ffffffffffff},
    {NC_DOUBLE, BITGROOM, 5, 0, 0x4480f0cf064dd592, 0x4480f0cc00000000},
    {NC_DOUBLE, BITGROOM, 5, 1, 0x4480f0cf064dd592, 0x4480f0cfffffffff},
    {NC_DOUBLE, BITGROOM, 2, 0, 0x4376345785d8a000, 0x4376300000000000},
    {NC_DOUBLE, BITGROOM, 2, 1, 0x4376345785d8a000, 0x43763fffffffffff},
    {NC_DOUBLE, BITGROOM, 15, 0, 0x3fb999999999999a, 0x3fb999999999999a},
    {NC_DOUBLE, BITGROOM, 15, 1, 0x3fb999999999999a, 0x3fb999999999999b},
    {NC_DOUBLE, BITGROOM, 6, 0, 0x0000000000002788, 0x0000000000000000},
    {NC_DOUBLE, BITGROOM, 6, 1, 0x0000000000002788, 0x000000007fffffff},
    {NC_DOUBLE, BITGROOM, 9, 0, 0x7fee42d130773b76, 0x7fee42d130600000},
    {NC_DOUBLE, BITGROOM, 9, 1, 0x7fee42d130773b76, 0x7fee42d1307fffff},
    {NC_FLOAT, GRANULARBR, 3, 0, 0x40490fdb, 0x40490000},
    {NC_FLOAT, GRANULARBR, 1, 0, 0xb48637bd, 0xb4800000},
    {NC_FLOAT, GRANULARBR, 5, 0, 0x501502f9, 0x50150300},
    {NC_FLOAT, GRANULARBR, 2, 0, 0x411fff97, 0x41200000},
    {NC_FLOAT, GRANULARBR, 4, 0, 0x000116c2, 0x00011600},
    {NC_FLOAT, GRANULARBR, 6, 0, 0x7f7fc99e, 0x7f7fc9a0},
    {NC_DOUBLE, GRANULARBR, 3, 0, 0x400921fb54442d18, 0x4009200000000000},
    {NC_DOUBLE, GRANULARBR, 1, 0, 0xbe06e80fe033c8c6, 0xbe06000000000000},
    {NC_DOUBLE, GRANULARBR, 5, 0, 0x4480f0cf064dd592, 0x4480f0d000000000},
    {NC_DOUBLE, GRANULARBR, 2, 0, 0x4376345785d8a000, 0x4376400000000000},
    {NC_DOUBLE, GRANULARBR, 15, 0, 0x3fb999999999999a, 0x3fb9999999999980},
    {NC_DOUBLE, GRANULARBR, 6, 0, 0x0000000000002788, 0x0000000000000000},
    {NC_DOUBLE, GRANULARBR, 9, 0, 0x7fee42d130773b76, 0x7fee42d130000000},
    {NC_FLOAT, BITROUND, 1, 0, 0x40490fdb, 0x40400000},
    {NC_FLOAT, BITROUND, 7, 0, 0xb48637bd, 0xb4860000},
    {NC_FLOAT, BITROUND, 10, 0, 0x501502f9, 0x50150000},
    {NC_FLOAT, BITROUND, 16, 0, 0x411fff97, 0x411fff80},
    {NC_FLOAT, BITROUND, 22, 0, 0x000116c2, 0x000116c2},
    {NC_FLOAT, BITROUND, 4, 0, 0x7f7fc99e, 0x7f800000},
    {NC_DOUBLE, BITROUND, 1, 0, 0x400921fb54442d18, 0x4008000000000000},
    {NC_DOUBLE, BITROUND, 7, 0, 0xbe06e80fe033c8c6, 0xbe06e00000000000},
    {NC_DOUBLE, BITROUND, 30, 0, 0x4480f0cf064dd592, 0x4480f0cf06400000},
    {NC_DOUBLE, BITROUND, 52, 0, 0x4376345785d8a000, 0x4376345785d8a000},
    {NC_DOUBLE, BITROUND, 51, 0, 0x3fb999999999999a, 0x3fb999999999999a},
    {NC_DOUBLE, BITROUND, 4, 0, 0x0000000000002788, 0x0000000000000000},
    {NC_DOUBLE, BITROUND, 12, 0, 0x7fee42d130773b76, 0x7fee430000000000},
};

static void known_values_match_netcdf(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t wide = known[i].value;
        uint32_t narrow = (uint32_t)known[i].value;
        bool is_float = known[i].type == NC_FLOAT;
        quantize(known[i].mode, known[i].digits, known[i].type,
                 is_float ? (void *)&narrow : &wide, 1, known[i].index);
        uint64_t result = is_float ? narrow : wide;
        if (result != known[i].result)
            fail_msg("row %zu: %llx in place of %llx", i, (unsigned long long)result,
                     (unsigned long long)known[i].result);
    }
}

/* ---- arithmetic checks ---- */

static double unit_of(double value, int bits)
{
    return ldexp(1, ilogb(value) - bits);
}

static void check_rounded(int type, int digits)
{
    char before[N * sizeof(double)], after[sizeof before];
    make_values(type, before);
    memcpy(after, before, sizeof after);
    quantize(BITROUND, digits, type, after, N, 0);
    for (size_t i = 0; i < N; i++) {
        double x = load_value(type, before, i), unit = unit_of(x, digits);
        bool all = digits == conv_quantize_max_digits(BITROUND, type);
        double r = all ? x : copysign(floor(fabs(x) / unit + 0.5) * unit, x);
        assert_true(load_value(type, after, i) == r);
    }
}

static void bitround_rounds_to_bits(void **state)
{
    (void)state;
    each_digits(BITROUND, check_rounded);
}

static void check_groomed(int type, int digits)
{
    char before[N * sizeof(double)], after[sizeof before];
    int bits = (int)ceil(digits * log2(10)) + 1, all = type == NC_FLOAT ? 23 : 52;
    make_values(type, before);
    memcpy(after, before, sizeof after);
    quantize(BITGROOM, digits, type, after, N, 0);
    for (size_t i = 0; i < N; i++) {
        double x = load_value(type, before, i), unit = unit_of(x, bits);
        double r = floor(fabs(x) / unit) * unit;
        if (i % 2) r += unit - unit_of(x, all);
        if (bits >= all) r = fabs(x);
        assert_true(load_value(type, after, i) == copysign(r, x));
    }
}

static void bitgroom_cuts_and_fills_in_turn(void **state)
{
    (void)state;
    each_digits(BITGROOM, check_groomed);
}

/* Checks that the error is at most half a unit of the last digit. */
static void check_granular(int type, int digits)
{
    char before[N * sizeof(double)], after[sizeof before];
    make_values(type, before);
    memcpy(after, before, sizeof after);
    quantize(GRANULARBR, digits, type, after, N, 0);
    for (size_t i = 0; i < N; i++) {
        double x = load_value(type, before, i), r = load_value(type, after, i);
        double digit = pow(10, floor(log10(fabs(x))) + 1 - digits);
        assert_true(fabs(r - x) <= 0.5000001 * digit);
    }
}

static void granularbr_keeps_the_digits(void **state)
{
    (void)state;
    each_digits(GRANULARBR, check_granular);
}

/* ---- denormals ---- */

/* Returns the number of stored bits that a mode keeps. With GranularBR, these are the
 * bits from the value's own power of 2 down to the largest one that does not exceed the
 * unit of the last digit. */
static int kept_bits(int mode, int digits, double x)
{
    int exponent;
    bool is_power = frexp(fabs(x), &exponent) == 0.5;
    long double last = floorl(log10l(fabsl((long double)x))) + 1 - digits;
    if (mode == BITROUND) return digits;
    if (mode == BITGROOM) return (int)ceil(digits * log2(10)) + 1;
    return exponent - (int)floorl(last * log2l(10)) - 1 + is_power;
}

/* A denormal has no implicit first bit, so fewer of its digits are kept, possibly none.
 */
static void denormals_are_rounded_as_stored(void **state)
{
    (void)state;
    for (int round = 0; round < 200 * N; round++) {
        bool is_float = round % 2 == 0;
        int mode = BITGROOM + round / 2 % 3, type = is_float ? NC_FLOAT : NC_DOUBLE;
        int all = is_float ? 23 : 52, most = conv_quantize_max_digits(mode, type);
        int digits = 1 + (int)(conv_model_random() % (unsigned)most);
        uint64_t u =
            conv_model_random() >> (64 - all) >> conv_model_random() % (unsigned)all;
        if (round % 7 == 0) u = UINT64_C(1) << conv_model_random() % (unsigned)all;
        uint64_t sign = UINT64_C(1) << (is_float ? 31 : 63), odd = round & 8;
        double x = ldexp((double)u, is_float ? -149 : -1074);
        long double near = log10l(x);
        if (u == 0 || fabsl(near - roundl(near)) < 1e-9L) continue;
        int drop = all - kept_bits(mode, digits, x);
        uint64_t low = drop > 0 ? (UINT64_C(1) << drop) - 1 : 0, want = u + (low + 1) / 2;
        want = mode == BITGROOM && odd ? u | low : (mode == BITGROOM ? u : want) & ~low;
        if (low == 0) want = u;
        if (round & 16) u |= sign;
        if (round & 16) want |= sign;
        uint32_t narrow = (uint32_t)u;
        uint64_t wide = u;
        quantize(mode, digits, type, is_float ? (void *)&narrow : &wide, 1, odd != 0);
        wide = is_float ? narrow : wide;
        if (wide != want)
            fail_msg("mode %d, %d digits, float %d: %llx becomes %llx, not %llx", mode,
                     digits, is_float, (unsigned long long)u, (unsigned long long)wide,
                     (unsigned long long)want);
    }
}

/* ---- values that quantization does not change ---- */

static void check_kept(int mode, int type, int digits, const void *values, size_t n)
{
    char after[16 * sizeof(double)];
    memcpy(after, values, n * size_of(type));
    quantize(mode, digits, type, after, n, 1);
    assert_memory_equal(values, after, n * size_of(type));
}

/* Some programs trap the exceptions that signalling NaNs raise, so quantization must not
 * raise any. */
static void special_values_stay(void **state)
{
    (void)state;
    static const uint32_t floats[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                      0x7fc00000, 0x7fffffff, 0x7f800001, 0xffffffff};
    static const uint64_t doubles[] = {0,
                                       0x8000000000000000,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff8000000000000,
                                       0x7fffffffffffffff,
                                       0x7ff0000000000001,
                                       0xffffffffffffffff};
    const float fill_float[] = {NC_FILL_FLOAT, NC_FILL_FLOAT};
    const double fill_double[] = {NC_FILL_DOUBLE, NC_FILL_DOUBLE};
    feclearexcept(FE_ALL_EXCEPT);
    for (int mode = BITGROOM; mode <= BITROUND; mode++)
        for (int digits = 1; digits <= 7; digits++) {
            check_kept(mode, NC_FLOAT, digits, floats, 8);
            check_kept(mode, NC_DOUBLE, digits, doubles, 8);
            check_kept(mode, NC_FLOAT, digits, fill_float, 2);
            check_kept(mode, NC_DOUBLE, digits, fill_double, 2);
        }
    assert_int_equal(0, fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW));
}

/* A float has no more than seven digits. If seven are requested, netCDF-C 4.9.0 corrupts
 * the exponent. */
static void a_float_has_at_most_seven_digits(void **state)
{
    (void)state;
    float values[N], after[N];
    make_values(NC_FLOAT, values);
    memcpy(after, values, sizeof after);
    quantize(BITGROOM, 7, NC_FLOAT, after, N, 0);
    assert_memory_equal(values, after, sizeof after);
}

/* ---- dividing values among calls ---- */

/* The result must not depend on the alignment of the values or on how they are divided
 * among calls. */
static void quantizing_in_parts_gives_the_same_values(void **state)
{
    (void)state;
    char values[N * sizeof(double)], parts[sizeof values + 1];
    for (int type = NC_FLOAT; type <= NC_DOUBLE; type++)
        for (int mode = BITGROOM; mode <= BITROUND; mode++) {
            make_values(type, values);
            memcpy(parts + 1, values, sizeof values);
            quantize(mode, 3, type, values, N, 0);
            for (size_t at = 0, n; at < N; at += n) {
                n = conv_model_random() % 9;
                if (n > N - at) n = N - at;
                quantize(mode, 3, type, parts + 1 + at * size_of(type), n, (int64_t)at);
            }
            assert_memory_equal(values, parts + 1, N * size_of(type));
        }
}

static void types_without_quantization_have_no_digits(void **state)
{
    (void)state;
    for (int mode = BITGROOM; mode <= BITROUND; mode++)
        for (int type = -1; type <= NC_STRING; type++)
            assert_int_equal(type == NC_FLOAT || type == NC_DOUBLE,
                             conv_quantize_max_digits(mode, type) > 0);
    assert_int_equal(0, conv_quantize_max_digits(CONV_QUANTIZE_NONE, NC_FLOAT));
    assert_int_equal(0, conv_quantize_max_digits(CONV_QUANTIZE_MODES, NC_FLOAT));
    assert_int_equal(0, conv_quantize_max_digits(-1, NC_DOUBLE));
    assert_int_equal(NC_QUANTIZE_MAX_FLOAT_NSD,
                     conv_quantize_max_digits(BITGROOM, NC_FLOAT));
    assert_int_equal(NC_QUANTIZE_MAX_DOUBLE_NSD,
                     conv_quantize_max_digits(GRANULARBR, NC_DOUBLE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values_match_netcdf),
        cmocka_unit_test(bitround_rounds_to_bits),
        cmocka_unit_test(bitgroom_cuts_and_fills_in_turn),
        cmocka_unit_test(granularbr_keeps_the_digits),
        cmocka_unit_test(denormals_are_rounded_as_stored),
        cmocka_unit_test(special_values_stay),
        cmocka_unit_test(a_float_has_at_most_seven_digits),
        cmocka_unit_test(quantizing_in_parts_gives_the_same_values),
        cmocka_unit_test(types_without_quantization_have_no_digits),
    };
    conv_model_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
