/* Tests the JSON writer: nesting, escape sequences, bytes that are not UTF-8, and numbers
 * that JSON cannot represent. */
#include "util_json.h"
#include "unit.h"

#include <math.h>

static struct util_out out;
static struct util_json json;

static void begin(void)
{
    util_out_init(&out, -1);
    util_json_start(&json, &out);
}

static void is(const char *want)
{
    out.bytes[out.used] = '\0';
    assert_string_equal(out.bytes, want);
}

static void nesting(void **unused)
{
    (void)unused;
    begin();
    util_json_open(&json, NULL, '{');
    util_json_int(&json, "least", INT64_MIN);
    util_json_open(&json, "list", '[');
    util_json_bool(&json, NULL, true);
    util_json_bool(&json, NULL, false);
    util_json_raw(&json, NULL, "null");
    util_json_close(&json, ']');
    util_json_open(&json, "empty", '{');
    util_json_close(&json, '}');
    util_json_open(&json, "none", '[');
    util_json_close(&json, ']');
    util_json_close(&json, '}');
    is("{\n  \"least\": -9223372036854775808,\n  \"list\": [\n    true,\n    false,\n"
       "    null\n  ],\n  \"empty\": {},\n  \"none\": []\n}\n");
}

static void text(const char *from, const char *want)
{
    begin();
    util_json_text(&json, NULL, from);
    is(want);
}

static void texts(void **unused)
{
    (void)unused;
    text("", "\"\"");
    text("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    text("\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\"");
    text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d",
         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d\"");
}

static void not_utf8(void **unused)
{
    (void)unused;
    text("a\xff"
         "b",
         "\"a\\ufffdb\"");
    text("\xc3", "\"\\ufffd\"");                                  /* truncated */
    text("\xc0\xaf", "\"\\ufffd\\ufffd\"");                       /* overlong */
    text("\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong */
    text("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* a surrogate */
    text("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* beyond U+10FFFF */
    text("\xf5", "\"\\ufffd\"");
}

static void real(double value, int digits, const char *want)
{
    begin();
    util_json_real(&json, NULL, value, digits);
    is(want);
}

static void reals(void **unused)
{
    (void)unused;
    real(0.1, 15, "0.1");
    real(0.1, 17, "0.10000000000000001");
    real(-1e300, 17, "-1.0000000000000001e+300");
    real((double)NAN, 17, "\"NaN\"");
    real((double)INFINITY, 17, "\"Infinity\"");
    real(-(double)INFINITY, 17, "\"-Infinity\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting),
        cmocka_unit_test(texts),
        cmocka_unit_test(not_utf8),
        cmocka_unit_test(reals),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("util_json", tests, NULL, NULL);
}
