/* When memory is short at any one allocation, a constructor returns NULL and leaves
 * nothing behind. */
#include "region.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base_mem.h"
#include "short_memory.h"

static struct region *slab(void)
{
    const int64_t shape[] = {9, 8, 7}, start[] = {1, 2, 3}, count[] = {2, 3, 4};
    return region_slab(0, 3, shape, start, count, NULL, 4, 0);
}

static struct region *blocks(void)
{
    const int64_t displ[] = {0, 8, 17}, length[] = {4, 4, 4};
    return region_blocks(3, displ, length);
}

static struct region *list_of_blocks(void)
{
    const int64_t displ[] = {0, 100, 3};
    struct region *kids[] = {blocks(), region_block(0, 5), blocks()};
    return region_list(3, displ, kids);
}

static struct region *even_list(void)
{
    const int64_t displ[] = {0, 1000, 2000};
    struct region *kids[] = {slab(), slab(), slab()};
    return region_list(3, displ, kids);
}

static struct region *uneven_list(void)
{
    const int64_t displ[] = {0, 1000, 5000};
    struct region *kids[] = {slab(), list_of_blocks(), even_list()};
    return region_repeat(region_list(3, displ, kids), 4, 9000);
}

static void check_every_failure(struct region *(*make)(void))
{
    bool failed = true;
    for (int k = 0; failed; k++) {
        short_memory_in = k;
        struct region *r = make();
        failed = short_memory_in < 0; /* it was reached */
        short_memory_in = -1;
        /* giving back unused room may fail without harm */
        if (!failed) assert_non_null(r);
        if (r != NULL) assert_true(region_bytes(r) > 0);
        region_free(r);
        assert_int_equal(0, base_mem_in_use());
        assert_true(k < 200);
    }
}

static void constructors_survive_short_memory(void **state)
{
    (void)state;
    check_every_failure(slab);
    check_every_failure(blocks);
    check_every_failure(list_of_blocks);
    check_every_failure(even_list);
    check_every_failure(uneven_list);
}

static void a_cursor_survives_short_memory(void **state)
{
    (void)state;
    struct region *r = uneven_list();
    assert_non_null(r);
    short_memory_in = 0;
    assert_null(region_cursor_new(r));
    short_memory_in = -1;
    region_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constructors_survive_short_memory),
        cmocka_unit_test(a_cursor_survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
