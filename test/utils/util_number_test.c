/* Compares the conversion of numbers to text with printf's, for random and special values
 * and for every number of digits. */
#include "util_number.h"
#include "unit.h"

#include <math.h>

#include "splitmix.h"

static uint64_t state;

static uint64_t next(void)
{
    return splitmix_next(&state);
}

static void agree(double value, int digits)
{
    char want[64], got[64];
    snprintf(want, sizeof want, "%.*g", digits, value);
    *util_put_real(got, value, digits) = '\0';
    if (strcmp(want, got) != 0)
        fail_msg("%a with %d digits: %s %s", value, digits, want, got);
}

static void agree_all(double value)
{
    for (int digits = 1; digits <= UTIL_DIGITS_MAX; digits++) {
        agree(value, digits);
        agree(-value, digits);
    }
}

static void any_bits(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) agree(value, 1 + i % UTIL_DIGITS_MAX);
    }
}

static void floats_with_7_digits(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)next();
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) agree((double)value, 7);
    }
}

static void short_decimals(void **unused)
{
    (void)unused;
    static const double divisors[] = {1, 2, 4, 10, 100, 1000, 1e5, 1e9};
    for (int i = 0; i < 200000; i++) {
        double value = (double)(next() >> (next() % 64)) / divisors[i % 8];
        agree(value, i % 3 == 0 ? 7 : 15);
        agree((double)(float)value, 7);
    }
}

static void powers_and_their_neighbours(void **unused)
{
    (void)unused;
    for (int e = -323; e <= 308; e++) {
        double value;
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        assert_int_equal(1, sscanf(text, "%lf", &value));
        agree_all(value);
        agree_all(nextafter(value, 0));
        agree_all(nextafter(value, INFINITY));
    }
}

/* Checks that a value exactly halfway between two decimals is rounded to even. Only the
 * exact binary value shows that it is halfway. */
static void ties(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4096; i++) {
        agree_all(i + 0.5);
        agree_all(i / 64.0);
        agree_all(ldexp(2 * i + 1, -30));
        agree_all(ldexp(2 * i + 1, 80));
    }
}

static void ends_of_the_range(void **unused)
{
    (void)unused;
    const double values[] = {
        0.0,      5e-324,    2.2250738585072014e-308, 1.7976931348623157e308,
        999999.5, 9999999.5, 0.00099999995,           9.9999999e-5,
        1e15,     1e17};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        agree_all(values[i]);
}

static void integers(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        uint64_t value = next() >> (i % 64);
        char want[32], got[32];
        snprintf(want, sizeof want, "%lld", (long long)value);
        *util_put_int(got, (int64_t)value) = '\0';
        assert_string_equal(want, got);
        snprintf(want, sizeof want, "%llu", (unsigned long long)value);
        *util_put_uint(got, value) = '\0';
        assert_string_equal(want, got);
    }
    char got[32];
    *util_put_int(got, INT64_MIN) = '\0';
    assert_string_equal("-9223372036854775808", got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bits),       cmocka_unit_test(floats_with_7_digits),
        cmocka_unit_test(short_decimals), cmocka_unit_test(powers_and_their_neighbours),
        cmocka_unit_test(ties),           cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
