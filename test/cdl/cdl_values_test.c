/* Unit test for the CDL parser: attribute values. Each case parses one definition, and
 * compares either the attribute's type, number of values and big-endian bytes, or the
 * error. A teardown function checks for memory leaks. */
#include "cdl_text.h"
#include "unit.h"
#include "base_error.h"
#include "base_mem.h"

static struct cdf_header h;
static const char *at; /* the definition under test, for messages */

static int stop(void **state)
{
    (void)state;
    cdf_free(&h);
    return base_mem_in_use() == 0 ? 0 : -1;
}

/* Parses a dataset whose only attribute is defined by this text, such as ":a = 1;".
 * Returns the attribute. */
static const struct cdf_att *attribute(const char *definition)
{
    char text[400];
    at = definition;
    snprintf(text, sizeof text, "netcdf x { variables: char c; float f; %s }",
             definition);
    cdf_free(&h);
    int err = read_text(text, 0, &h);
    if (err != NC_NOERR) fail_msg("%s: %s", definition, base_error_text(err));
    for (int i = 0; i < h.nvars; i++)
        if (h.vars[i].atts.count == 1) return &h.vars[i].atts.list[0];
    assert_int_equal(1, h.gatts.count);
    return &h.gatts.list[0];
}

/* Checks the type and the values of the attribute that a text defines. */
static void holds(const char *definition, int type, int64_t nelems, const char *bytes)
{
    const struct cdf_att *a = attribute(definition);
    size_t size = (size_t)nelems * (size_t)cdf_type_size(type);
    if (a->type != type || a->nelems != nelems || memcmp(a->values, bytes, size) != 0)
        fail_msg("%s: type %d, %lld values", at, a->type, (long long)a->nelems);
}

/* Checks that a definition is rejected with this code and a message that contains
 * `reason`. */
static void fails(const char *definition, int code, const char *reason)
{
    char text[400];
    snprintf(text, sizeof text, "netcdf x { variables: char c; float f; %s }",
             definition);
    cdf_free(&h);
    int err = read_text(text, 0, &h);
    if (err != code || strstr(base_error_detail(err), reason) == NULL)
        fail_msg("%s: %d, %s", definition, err, base_error_text(err));
    cdf_init(&h, 5);
}

static void suffixes_determine_the_type(void **state)
{
    (void)state;
    holds(":a = 1b;", NC_BYTE, 1, "\1");
    holds(":a = -128B, 255b;", NC_BYTE, 2, "\x80\xff");
    holds(":a = 258s;", NC_SHORT, 1, "\1\2");
    holds(":a = 258L;", NC_INT, 1, "\0\0\1\2");
    holds(":a = 1.5f, 2F;", NC_FLOAT, 2, "\x3f\xc0\0\0\x40\0\0\0");
    holds(":a = 1.5d;", NC_DOUBLE, 1, "\x3f\xf8\0\0\0\0\0\0");
    holds(":a = 255ub;", NC_UBYTE, 1, "\xff");
    holds(":a = 65535US;", NC_USHORT, 1, "\xff\xff");
    holds(":a = 4294967295u, 1UL;", NC_UINT, 2, "\xff\xff\xff\xff\0\0\0\1");
    holds(":a = -2LL;", NC_INT64, 1, "\xff\xff\xff\xff\xff\xff\xff\xfe");
    holds(":a = 18446744073709551615ull;", NC_UINT64, 1,
          "\xff\xff\xff\xff\xff\xff\xff\xff");
}

static void without_a_suffix_the_value_determines_the_type(void **state)
{
    (void)state;
    holds(":a = 2147483647;", NC_INT, 1, "\x7f\xff\xff\xff");
    holds(":a = -2147483648;", NC_INT, 1, "\x80\0\0\0");
    holds(":a = 2147483648;", NC_UINT, 1, "\x80\0\0\0");
    holds(":a = -2147483649;", NC_INT64, 1, "\xff\xff\xff\xff\x7f\xff\xff\xff");
    holds(":a = 4294967296;", NC_UINT64, 1, "\0\0\0\1\0\0\0\0");
    holds(":a = 18446744073709551615;", NC_UINT64, 1, "\xff\xff\xff\xff\xff\xff\xff\xff");
    holds(":a = -9223372036854775808;", NC_INT64, 1, "\x80\0\0\0\0\0\0\0");
    holds(":a = 1.;", NC_DOUBLE, 1, "\x3f\xf0\0\0\0\0\0\0");
    holds(":a = -.5e0;", NC_DOUBLE, 1, "\xbf\xe0\0\0\0\0\0\0");
    holds(":a = 1E+0;", NC_DOUBLE, 1, "\x3f\xf0\0\0\0\0\0\0");
    holds(":a = 0x1F, 010, 0;", NC_INT, 3, "\0\0\0\x1f\0\0\0\x08\0\0\0\0");
    holds(":a = 0x80us;", NC_USHORT, 1, "\0\x80");
}

static void values_that_are_no_finite_numbers(void **state)
{
    (void)state;
    holds(":a = NaN;", NC_DOUBLE, 1, "\x7f\xf8\0\0\0\0\0\0");
    holds(":a = NaNf, 1.f;", NC_FLOAT, 2, "\x7f\xc0\0\0\x3f\x80\0\0");
    holds(":a = Infinity, -Infinity;", NC_DOUBLE, 2,
          "\x7f\xf0\0\0\0\0\0\0\xff\xf0\0\0\0\0\0\0");
    holds(":a = -Infinityf, +Infinityf;", NC_FLOAT, 2, "\xff\x80\0\0\x7f\x80\0\0");
}

static void mixed_values_get_a_common_type(void **state)
{
    (void)state;
    holds(":a = 1b, 300;", NC_INT, 2, "\0\0\0\1\0\0\1\x2c");
    holds(":a = 1, 1ub;", NC_INT, 2, "\0\0\0\1\0\0\0\1");
    holds(":a = 1, 1u;", NC_UINT, 2, "\0\0\0\1\0\0\0\1");
    holds(":a = 1ll, 1.5f;", NC_FLOAT, 2, "\x3f\x80\0\0\x3f\xc0\0\0");
    holds(":a = 1.f, 1.;", NC_DOUBLE, 2, "\x3f\xf0\0\0\0\0\0\0\x3f\xf0\0\0\0\0\0\0");
}

/* The text must be converted directly to float. If it were first rounded to double, this
 * value would become 1. */
static void floats_are_rounded_once(void **state)
{
    (void)state;
    holds(":a = 1.00000005960464477540f;", NC_FLOAT, 1, "\x3f\x80\0\1");
}

static void text_and_its_escapes(void **state)
{
    (void)state;
    holds(":a = \"\";", NC_CHAR, 0, "");
    holds(":a = ;", NC_CHAR, 0, "");
    holds(":a = \"one; // } \", \"two\";", NC_CHAR, 13, "one; // } two");
    holds(":a = \"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\";", NC_CHAR, 11,
          "\a\b\f\n\r\t\v\\'\"\177");
    holds(":a = \"\\0001\\7\\18\\x41\\xfg\\q\";", NC_CHAR, 9, "\0001\7\0018A\x0fgq");
    holds(":a = \"\xc3\xa9\n\";", NC_CHAR, 3, "\xc3\xa9\n");
    holds(":a = 'a', '\\n', '\\377', '\"';", NC_BYTE, 4, "a\n\xff\"");
}

static void a_given_type_is_kept(void **state)
{
    (void)state;
    holds("short :a = 1, 2.;", NC_SHORT, 2, "\0\1\0\2");
    holds("double f:a = 1;", NC_DOUBLE, 1, "\x3f\xf0\0\0\0\0\0\0");
    holds("char :a = 'x', 'y';", NC_CHAR, 2, "xy");
    holds("int :a = ;", NC_INT, 0, "");
    holds("f:_FillValue = 1;", NC_FLOAT, 1, "\x3f\x80\0\0");
    holds("c:_FillValue = \"x\";", NC_CHAR, 1, "x");
    holds("c:_FillValue = 'x';", NC_CHAR, 1, "x");
}

static void the_last_of_equal_attributes_takes_precedence(void **state)
{
    (void)state;
    holds("f:a = 1, 2, 3; f:a = 5b;", NC_BYTE, 1, "\5");
}

static void values_are_checked(void **state)
{
    (void)state;
    fails(":a = 256b;", NC_ERANGE, "line 1, column 45: '256b' is out of range");
    fails(":a = 40000s;", NC_ERANGE, "'40000s'");
    fails(":a = 5000000000L;", NC_ERANGE, "'5000000000L'");
    fails(":a = -1ub;", NC_ERANGE, "'-1ub'");
    fails(":a = 18446744073709551616;", NC_ERANGE, "'18446744073709551616'");
    fails(":a = -9223372036854775809;", NC_ERANGE, "'-9223372036854775809'");
    fails(":a = 1e400;", NC_ERANGE, "'1e400'");
    fails(":a = 1e39f;", NC_ERANGE, "'1e39f'");
    fails("byte :a = 128;", NC_ERANGE, "attribute 'a'");
    fails(":a = 1u, -1;", NC_ERANGE, "attribute 'a'");
    fails("f:a = \"t\", 1;", NC_ECHAR, "number after text");
    fails("f:a = 1, \"t\";", NC_ECHAR, "text in a list of numbers");
    fails("f:_FillValue = \"t\";", NC_ECHAR, "needs numbers instead of text");
    fails("c:_FillValue = 1;", NC_ECHAR, "needs text instead of numbers");
    fails(":a = 08;", NC_ENOTNC, "'08' is not a number");
    fails(":a = 1x;", NC_ENOTNC, "'1x' is not a number");
    fails(":a = 1.5e;", NC_ENOTNC, "'1.5e' is not a number");
    fails(":a = 1.5s;", NC_ENOTNC, "'1.5s' is not a number");
    fails(":a = 0x;", NC_ENOTNC, "'0x' is not a number");
    fails(":a = -;", NC_ENOTNC, "'-' is not a number");
    fails(":a = 1 2;", NC_ENOTNC, "unexpected '2', expected ',' or ';'");
    fails(":a = 1,;", NC_ENOTNC, "unexpected ';', expected a value");
    fails(":a = 'ab';", NC_ENOTNC, "exactly one character");
    fails(":a = '';", NC_ENOTNC, "exactly one character");
    fails(":a = \"open;", NC_ENOTNC, "column 45: unterminated string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(suffixes_determine_the_type, stop),
        cmocka_unit_test_teardown(without_a_suffix_the_value_determines_the_type, stop),
        cmocka_unit_test_teardown(values_that_are_no_finite_numbers, stop),
        cmocka_unit_test_teardown(mixed_values_get_a_common_type, stop),
        cmocka_unit_test_teardown(floats_are_rounded_once, stop),
        cmocka_unit_test_teardown(text_and_its_escapes, stop),
        cmocka_unit_test_teardown(a_given_type_is_kept, stop),
        cmocka_unit_test_teardown(the_last_of_equal_attributes_takes_precedence, stop),
        cmocka_unit_test_teardown(values_are_checked, stop),
    };
    cdf_init(&h, 5);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
