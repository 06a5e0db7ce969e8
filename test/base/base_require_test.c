/* Tests the checks of invariants. A violated one must return NC_EINTERNAL, name the
 * condition and its place, be counted, and be named again by calls that are refused
 * because of it. */
#include "base_require.h"
#include "unit.h"
#include "base_error.h"

static int moved;

static int move(int from, int to)
{
    base_require(from <= to);
    moved = to;
    return NC_NOERR;
}

static void an_invariant_that_holds_has_no_effect(void **state)
{
    (void)state;
    assert_int_equal(NC_NOERR, move(3, 4));
    assert_int_equal(4, moved);
    assert_int_equal(NC_NOERR, base_holds(moved == 4));
    assert_int_equal(0, base_violations());
}

static void a_violation_returns_before_anything_is_done(void **state)
{
    (void)state;
    assert_int_equal(NC_EINTERNAL, move(6, 5));
    assert_int_equal(4, moved);
    assert_int_equal(1, base_violations());
    const char *text = base_error_text(NC_EINTERNAL);
    assert_non_null(strstr(text, "'from <= to'"));
    assert_non_null(strstr(text, "base_require_test.c:"));
    assert_null(strstr(text, "/base_require_test.c")); /* without the directory */
}

static void later_calls_name_the_first_violation(void **state)
{
    (void)state;
    assert_int_equal(NC_EINTERNAL, base_holds(moved == 5));
    assert_int_equal(2, base_violations());
    assert_int_equal(NC_EINTERNAL, base_refuse_after_violation());
    const char *text = base_error_text(NC_EINTERNAL);
    assert_non_null(strstr(text, "'from <= to'"));
    assert_null(strstr(text, "moved == 5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_invariant_that_holds_has_no_effect),
        cmocka_unit_test(a_violation_returns_before_anything_is_done),
        cmocka_unit_test(later_calls_name_the_first_violation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
