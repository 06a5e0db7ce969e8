/* Unit test for the CDL parser: running out of memory. Makes every allocation fail in
 * turn. The parser must return NC_ENOMEM and free all of its memory. */
#include "cdl_text.h"
#include "unit.h"
#include "base_mem.h"
#include "short_memory.h"

/* Runs an operation repeatedly, with the 1st, 2nd, ... allocation failing, until it
 * succeeds. Returns the number of allocations that it makes. */
static int fail_each_allocation(int (*operation)(const char *), const char *on)
{
    int err = NC_ENOMEM, n = -1;
    while (err != NC_NOERR) {
        short_memory_in = ++n;
        err = operation(on);
        short_memory_in = -1;
        assert_true(err == NC_NOERR || err == NC_ENOMEM);
        assert_true(n < 1000);
        assert_int_equal(0, base_mem_in_use());
    }
    return n;
}

static int read_and_free(const char *text)
{
    struct cdf_header h;
    int err = read_text(text, 0, &h);
    if (err == NC_NOERR) cdf_free(&h);
    return err;
}

static void an_allocation_failure_leaves_no_header(void **state)
{
    (void)state;
    int n = fail_each_allocation(
        read_and_free, "netcdf x { dimensions: a = 1; b = 2; t = UNLIMITED; variables:"
                       "int v(t, a, b); int w(a), y(b); v:x = 1, 2, 3; :t = \"text\";"
                       ":a = 1ull; :b = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10; }");
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_failure_leaves_no_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
