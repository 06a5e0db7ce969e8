/* Tests the parser for -d DIMENSION=START:END:STEP. For valid texts, the start, count and
 * stride must select what Python's slices select, which is checked for every small slice.
 * Invalid texts and ranges outside the dimension must be rejected. */
#include "util_slab.h"
#include "unit.h"

static void good(const char *text, const char *name, int64_t length, int64_t start,
                 int64_t count, int64_t stride)
{
    struct util_slab s;
    int64_t got[3];
    assert_int_equal(util_slab_parse(&s, text), 0);
    assert_string_equal(s.name, name);
    assert_int_equal(util_slab_resolve(&s, length, &got[0], &got[1], &got[2]), 0);
    assert_int_equal(got[0], start);
    assert_int_equal(got[1], count);
    assert_int_equal(got[2], stride);
}

static void bad(const char *text)
{
    struct util_slab s;
    if (util_slab_parse(&s, text) == 0) fail_msg("%s is taken", text);
}

static void outside(const char *text, int64_t length)
{
    struct util_slab s;
    int64_t start, count, stride;
    assert_int_equal(util_slab_parse(&s, text), 0);
    if (util_slab_resolve(&s, length, &start, &count, &stride) == 0)
        fail_msg("%s of %d is taken", text, (int)length);
}

static void texts(void **unused)
{
    (void)unused;
    good("lat=3", "lat", 10, 3, 1, 1);
    good("lat=-1", "lat", 10, 9, 1, 1);
    good("lat=2:5", "lat", 10, 2, 3, 1);
    good("lat=:", "lat", 10, 0, 10, 1);
    good("lat=::3", "lat", 10, 0, 4, 3);
    good("lat=-4:-1:2", "lat", 10, 6, 2, 2);
    good("lat=5:5", "lat", 10, 5, 0, 1);
    good("lat=7:3", "lat", 10, 7, 0, 1);
    good("lat=:10:100", "lat", 10, 0, 1, 100);
    good("a=b=1", "a=b", 2, 1, 1, 1);
    good("a\\:b=1", "a:b", 2, 1, 1, 1);
    good("x=0:9223372036854775807", "x", INT64_MAX, 0, INT64_MAX, 1);
}

static void no_slabs(void **unused)
{
    static const char *const wrong[] = {
        "",          "x",    "=1",    "x=",      "x=a",      "x=1a",
        "x=1:a",     "x=-",  "x=1:-", "x=1:2:0", "x=::-1",   "x=::a",
        "x=1:2:3:4", "x= 1", "x=+1",  "x=1.5",   "x=1:2: 3", "x=9223372036854775808",
    };
    char name[NC_MAX_NAME + 8], longest[NC_MAX_NAME + 1];
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        bad(wrong[i]);
    memset(name, 'n', NC_MAX_NAME + 1);
    strcpy(name + NC_MAX_NAME + 1, "=1");
    bad(name);
    memset(longest, 'n', NC_MAX_NAME);
    longest[NC_MAX_NAME] = '\0';
    good(name + 1, longest, 2, 1, 1, 1);
}

static void ranges(void **unused)
{
    (void)unused;
    outside("x=10", 10);
    outside("x=-11", 10);
    outside("x=0", 0);
    outside("x=11:", 10);
    outside("x=:11", 10);
    outside("x=:-11", 10);
    good("x=10:", "x", 10, 10, 0, 1);
    good("x=:", "x", 0, 0, 0, 1);
}

/* Compares all slices of short dimensions with a loop over the selected indices. */
static void all_small(void **unused)
{
    (void)unused;
    for (int length = 0; length < 7; length++)
        for (int from = -length; from <= length; from++)
            for (int to = -length; to <= length; to++)
                for (int step = 1; step < 5; step++) {
                    char text[64];
                    int first = from < 0 ? from + length : from, n = 0;
                    int end = to < 0 ? to + length : to;
                    for (int i = first; i < end; i += step)
                        n++;
                    snprintf(text, sizeof text, "x=%d:%d:%d", from, to, step);
                    good(text, "x", length, first, n, step);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(no_slabs),
        cmocka_unit_test(ranges),
        cmocka_unit_test(all_small),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("util_slab", tests, NULL, NULL);
}
