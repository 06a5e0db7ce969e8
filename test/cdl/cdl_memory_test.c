/* When memory is short at any one allocation, NC_ENOMEM is returned and nothing is left
 * behind. */
#include "cdl_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base_mem.h"
#include "short_memory.h"

/* Runs an operation with the 1st, 2nd ... allocation failing until none does; returns
 * how many there are. */
static int until_it_works(int (*operation)(const char *), const char *on)
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

static void a_header_is_read_or_not_at_all(void **state)
{
    (void)state;
    int n = until_it_works(
        read_and_free, "netcdf x { dimensions: a = 1; b = 2; t = UNLIMITED; variables:"
                       "int v(t, a, b); int w(a), y(b); v:x = 1, 2, 3; :t = \"text\";"
                       ":a = 1ull; :b = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10; }");
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_read_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
