/* Tests conversion rules with examples, for cases in which a model would only repeat the
 * library's code. */
#include "unit.h"

#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>

#include "conv.h"
#include "conv_model.h"
#include "pnetcdf_constants.h"

static void types_have_a_size_and_an_external_type(void **state)
{
    (void)state;
    static const struct {
        enum conv_type type;
        int xtype;
        size_t size;
    } rows[] = {
        {CONV_TEXT, NC_CHAR, 1},
        {CONV_SCHAR, NC_BYTE, 1},
        {CONV_UCHAR, NC_UBYTE, 1},
        {CONV_SHORT, NC_SHORT, sizeof(short)},
        {CONV_USHORT, NC_USHORT, sizeof(unsigned short)},
        {CONV_INT, NC_INT, sizeof(int)},
        {CONV_UINT, NC_UINT, sizeof(unsigned)},
        {CONV_LONGLONG, NC_INT64, sizeof(long long)},
        {CONV_ULONGLONG, NC_UINT64, sizeof(unsigned long long)},
        {CONV_FLOAT, NC_FLOAT, sizeof(float)},
        {CONV_DOUBLE, NC_DOUBLE, sizeof(double)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(rows[i].size, conv_size(rows[i].type));
        assert_int_equal(rows[i].type, conv_type_of(rows[i].xtype));
    }
    assert_int_equal(-1, conv_type_of(NC_NAT));
    assert_int_equal(-1, conv_type_of(NC_STRING));
    assert_int_equal(-1, conv_type_of(-5));
}

static void text_goes_with_text_only(void **state)
{
    (void)state;
    char byte = 7, out = 3;
    assert_int_equal(NC_NOERR, conv_check(NC_CHAR, CONV_TEXT));
    for (int type = CONV_SCHAR; type < CONV_NTYPES; type++) {
        assert_int_equal(NC_ECHAR, conv_check(NC_CHAR, (enum conv_type)type));
        assert_int_equal(NC_ECHAR, conv_check(conv_model_xtype(type), CONV_TEXT));
        assert_int_equal(NC_NOERR, conv_check(conv_model_xtype(type), CONV_INT));
    }
    assert_int_equal(NC_EBADTYPE, conv_check(NC_NAT, CONV_INT));
    assert_int_equal(NC_EBADTYPE, conv_check(NC_STRING, CONV_TEXT));
    assert_int_equal(NC_ECHAR, conv_put(&out, NC_CHAR, &byte, CONV_SCHAR, 1, ""));
    assert_int_equal(NC_ECHAR, conv_get(&out, CONV_TEXT, &byte, NC_BYTE, 1));
    assert_int_equal(3, out);
}

static void bytes_are_unsigned_on_request_before_cdf5(void **state)
{
    (void)state;
    assert_int_equal(NC_UBYTE, conv_effective_type(1, NC_BYTE, CONV_UCHAR));
    assert_int_equal(NC_UBYTE, conv_effective_type(2, NC_BYTE, CONV_UCHAR));
    assert_int_equal(NC_BYTE, conv_effective_type(5, NC_BYTE, CONV_UCHAR));
    assert_int_equal(NC_BYTE, conv_effective_type(1, NC_BYTE, CONV_SCHAR));
    assert_int_equal(NC_BYTE, conv_effective_type(1, NC_BYTE, CONV_INT));
    assert_int_equal(NC_SHORT, conv_effective_type(1, NC_SHORT, CONV_UCHAR));
    assert_int_equal(NC_CHAR, conv_effective_type(1, NC_CHAR, CONV_TEXT));
}

static void copies_are_known(void **state)
{
    (void)state;
    const uint16_t one = 1;
    int big = *(const unsigned char *)&one == 0;
    assert_true(conv_is_copy(NC_CHAR, CONV_TEXT));
    assert_true(conv_is_copy(NC_BYTE, CONV_SCHAR));
    assert_true(conv_is_copy(NC_UBYTE, CONV_UCHAR));
    assert_false(conv_is_copy(NC_BYTE, CONV_UCHAR));
    assert_false(conv_is_copy(NC_FLOAT, CONV_INT));
    assert_int_equal(big, conv_is_copy(NC_SHORT, CONV_SHORT));
    assert_int_equal(big, conv_is_copy(NC_DOUBLE, CONV_DOUBLE));
}

static void external_values_are_big_endian(void **state)
{
    (void)state;
    const int in[] = {1, -2, 0x01020304};
    unsigned char out[12];
    assert_int_equal(NC_NOERR, conv_put(out, NC_INT, in, CONV_INT, 3, "xxxx"));
    assert_memory_equal("\0\0\0\1\377\377\377\376\1\2\3\4", out, 12);
    const double one = 1;
    assert_int_equal(NC_NOERR, conv_put(out, NC_FLOAT, &one, CONV_DOUBLE, 1, "xxxx"));
    assert_memory_equal("\x3f\x80\0\0", out, 4);
}

/* Doubles less than half a step above the largest float must be rounded to that float. */
static void doubles_that_round_to_a_float_fit_it(void **state)
{
    (void)state;
    const double in[] = {FLT_MAX,
                         0x1.fffffefffffffp127,
                         0x1.ffffffp127,
                         -0x1.ffffffp127,
                         INFINITY,
                         -INFINITY,
                         DBL_MAX,
                         1e-300,
                         NAN};
    const float expected[] = {FLT_MAX, FLT_MAX, -1, -1, INFINITY, -INFINITY, -1, 0};
    unsigned char there[sizeof in];
    float back[9];
    assert_int_equal(NC_ERANGE,
                     conv_put(there, NC_FLOAT, in, CONV_DOUBLE, 9, "\xbf\x80\0\0"));
    assert_int_equal(NC_NOERR, conv_get(back, CONV_FLOAT, there, NC_FLOAT, 9));
    assert_memory_equal(expected, back, sizeof expected);
    assert_true(isnan(back[8]));
}

static void fractions_are_cut_inside_the_range_only(void **state)
{
    (void)state;
    const double in[] = {126.99, 127.0, 127.01, -128.0, -128.5, -0.99, -0.0};
    signed char out[7];
    assert_int_equal(NC_ERANGE, conv_put(out, NC_BYTE, in, CONV_DOUBLE, 7, "\5"));
    assert_memory_equal("\176\177\5\200\5\0\0", out, 7);
    unsigned char positive[2];
    assert_int_equal(NC_ERANGE,
                     conv_put(positive, NC_UBYTE, in + 5, CONV_DOUBLE, 2, "\5"));
    assert_memory_equal("\5\0", positive, 2);
}

#if defined(FE_INVALID) && defined(FE_OVERFLOW)
/* Converts 100 numbers, some of which are equal to `odd`. Returns the floating-point
 * exceptions raised by the conversion. */
static int exceptions(bool put, enum conv_type floating, enum conv_type other, double odd)
{
    enum { N = 100 };
    double values[N];
    float floats[N];
    char external[8 * N], out[8 * N];
    for (int i = 0; i < N; i++) {
        values[i] = i % 13 == 5 ? odd : i;
        floats[i] = (float)values[i];
    }
    const void *source = floating == CONV_FLOAT ? (void *)floats : (void *)values;
    int xtype = conv_model_xtype(floating);
    conv_put(external, xtype, source, floating, N, NULL);
    feclearexcept(FE_ALL_EXCEPT);
    if (put)
        conv_put(out, conv_model_xtype(other), source, floating, N, "\0\0\0\0\0\0\0");
    else
        conv_get(out, other, external, xtype, N);
    return fetestexcept(FE_INVALID | FE_OVERFLOW);
}
#endif

/* Some programs trap floating-point exceptions, so an out-of-range value must not raise
 * any. Converting NaN to an integer may. */
static void no_floating_point_exception_is_raised(void **state)
{
    (void)state;
#if defined(FE_INVALID) && defined(FE_OVERFLOW)
    static const double odd[] = {INFINITY, -INFINITY, DBL_MAX, -1e300,
                                 1e20,     -1,        0x1p64,  NAN};
    for (int put = 0; put < 2; put++)
        for (int to = CONV_SCHAR; to <= CONV_DOUBLE; to++)
            for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
                if (isnan(odd[i]) && to < CONV_FLOAT) continue;
                assert_int_equal(0,
                                 exceptions(put, CONV_FLOAT, (enum conv_type)to, odd[i]));
                assert_int_equal(
                    0, exceptions(put, CONV_DOUBLE, (enum conv_type)to, odd[i]));
            }
#else
    skip();
#endif
}

/* Converts the largest and the smallest value of every type to every other type.
 * conv_always_fits must agree with the results of conv_check_range. */
static void extremes_fit_types_that_hold_all_values(void **state)
{
    (void)state;
    const struct {
        enum conv_type type;
        const void *least, *largest;
    } rows[] = {
        {CONV_SCHAR, &(signed char){SCHAR_MIN}, &(signed char){SCHAR_MAX}},
        {CONV_UCHAR, &(unsigned char){0}, &(unsigned char){UCHAR_MAX}},
        {CONV_SHORT, &(short){SHRT_MIN}, &(short){SHRT_MAX}},
        {CONV_USHORT, &(unsigned short){0}, &(unsigned short){USHRT_MAX}},
        {CONV_INT, &(int){INT_MIN}, &(int){INT_MAX}},
        {CONV_UINT, &(unsigned){0}, &(unsigned){UINT_MAX}},
        {CONV_LONGLONG, &(long long){LLONG_MIN}, &(long long){LLONG_MAX}},
        {CONV_ULONGLONG, &(unsigned long long){0}, &(unsigned long long){ULLONG_MAX}},
        {CONV_FLOAT, &(float){-FLT_MAX}, &(float){FLT_MAX}},
        {CONV_DOUBLE, &(double){-DBL_MAX}, &(double){DBL_MAX}},
    };
    for (int xtype = NC_BYTE; xtype <= NC_UINT64; xtype++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows && xtype != NC_CHAR; i++) {
            int low = conv_check_range(xtype, rows[i].least, rows[i].type, 1);
            int high = conv_check_range(xtype, rows[i].largest, rows[i].type, 1);
            bool fit = low == NC_NOERR && high == NC_NOERR;
            assert_int_equal(fit, conv_always_fits(xtype, rows[i].type));
        }
}

static void a_single_value_out_of_range_is_found(void **state)
{
    (void)state;
    enum { N = 2001 };
    int values[N] = {0};
    for (int at = 0; at < N; at += 97) {
        values[at] = 40000;
        assert_int_equal(NC_ERANGE, conv_check_range(NC_SHORT, values, CONV_INT, N));
        assert_int_equal(NC_NOERR, conv_check_range(NC_USHORT, values, CONV_INT, N));
        assert_int_equal(NC_NOERR,
                         conv_check_range(NC_SHORT, values, CONV_INT, (size_t)at));
        values[at] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_a_size_and_an_external_type),
        cmocka_unit_test(text_goes_with_text_only),
        cmocka_unit_test(bytes_are_unsigned_on_request_before_cdf5),
        cmocka_unit_test(copies_are_known),
        cmocka_unit_test(external_values_are_big_endian),
        cmocka_unit_test(doubles_that_round_to_a_float_fit_it),
        cmocka_unit_test(fractions_are_cut_inside_the_range_only),
        cmocka_unit_test(no_floating_point_exception_is_raised),
        cmocka_unit_test(extremes_fit_types_that_hold_all_values),
        cmocka_unit_test(a_single_value_out_of_range_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
