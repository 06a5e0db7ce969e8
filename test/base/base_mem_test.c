/* Tests the allocation functions that count memory. The counters must be exact even if
 * several threads allocate. */
#include "base_mem.h"
#include "unit.h"

#include <pthread.h>

static void memory_in_use_is_counted(void **state)
{
    (void)state;
    int64_t before = base_mem_in_use();
    char *a = base_malloc(100);
    int *b = base_calloc(10, sizeof *b);
    assert_int_equal(before + 140, base_mem_in_use());
    for (int i = 0; i < 10; i++)
        assert_int_equal(0, b[i]);
    a = base_realloc(a, 1000);
    assert_int_equal(before + 1040, base_mem_in_use());
    a = base_realloc(a, 10);
    assert_int_equal(before + 50, base_mem_in_use());
    base_free(a);
    base_free(b);
    base_free(NULL);
    assert_int_equal(before, base_mem_in_use());
}

static void the_high_water_mark_is_recorded(void **state)
{
    (void)state;
    int64_t size = base_mem_high_water() - base_mem_in_use() + 1000;
    int64_t most = base_mem_in_use() + size;
    base_free(base_malloc((size_t)size));
    assert_int_equal(most, base_mem_high_water());
    base_free(base_malloc(1));
    assert_int_equal(most, base_mem_high_water());
    base_mem_reset_high_water();
    assert_int_equal(base_mem_in_use(), base_mem_high_water());
}

static void keeps_contents_when_growing(void **state)
{
    (void)state;
    char *text = base_strdup("a name");
    for (size_t size = 7; size < 100000; size *= 3) {
        text = base_realloc(text, size);
        assert_string_equal("a name", text);
    }
    base_free(text);
    text = base_realloc(NULL, 5);
    assert_non_null(text);
    base_free(text);
}

/* A growing list must preserve its contents and must rarely be reallocated. Its entries
 * may have any size. */
static void a_list_grows_as_needed(void **state)
{
    static const size_t sizes[] = {1, 8, 24, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *list = NULL;
        int64_t capacity = 0, before, moves = 0;
        for (int64_t n = 0; n < 3000; n++) {
            before = capacity;
            list = base_grow(list, &capacity, n + 1, sizes[i]);
            assert_non_null(list);
            assert_in_range(capacity, n + 1, 2 * n + 16);
            moves += capacity != before;
            memset(list + (size_t)n * sizes[i], (int)(n % 251), sizes[i]);
        }
        for (int64_t n = 0; n < 3000; n++)
            assert_int_equal(n % 251, list[(size_t)(n + 1) * sizes[i] - 1]);
        assert_in_range(moves, 1, 20);
        list = base_grow(list, &capacity, 100000, sizes[i]);
        assert_int_equal(100000, capacity);
        base_free(list);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void a_list_that_cannot_grow_is_unchanged(void **state)
{
    static const int64_t needed[] = {INT64_MAX, INT64_MAX / 8, INT64_MAX / 16 + 1};
    int64_t capacity = 0;
    int64_t *list = base_grow(NULL, &capacity, 1, 16), *same = list;
    int64_t had = capacity;
    (void)state;
    list[0] = 4711;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        assert_null(base_grow(list, &capacity, needed[i], 16));
        assert_int_equal(had, capacity);
    }
    assert_ptr_equal(same, base_grow(list, &capacity, had, 16));
    assert_int_equal(4711, list[0]);
    base_free(list);
    capacity = INT64_MAX - 5; /* growing by half would overflow */
    assert_null(base_grow(NULL, &capacity, 3, 1));
    assert_int_equal(INT64_MAX - 5, capacity);
}

static void an_allocation_of_zero_bytes_succeeds(void **state)
{
    (void)state;
    void *a = base_malloc(0), *b = base_calloc(0, 8);
    assert_non_null(a);
    assert_non_null(b);
    base_free(a);
    base_free(b);
}

static void oversized_allocations_fail(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX;
    int64_t before = base_mem_in_use();
    assert_null(base_malloc(huge));
    assert_null(base_malloc(huge / 2));
    assert_null(base_calloc(huge / 4, 8));
    char *a = base_malloc(8);
    assert_null(base_realloc(a, huge));
    memset(a, 1, 8);
    base_free(a);
    assert_int_equal(before, base_mem_in_use());
}

static void excluded_memory_is_not_counted(void **state)
{
    (void)state;
    int64_t before = base_mem_in_use();
    void *a = base_malloc(100), *b = base_malloc(10);
    base_mem_exclude(a, true);
    base_mem_exclude(a, true);
    base_mem_exclude(NULL, true);
    assert_int_equal(before + 10, base_mem_in_use());
    base_mem_exclude(a, false);
    base_mem_exclude(b, true);
    assert_int_equal(before + 100, base_mem_in_use());
    base_free(a);
    base_free(b);
    assert_int_equal(before, base_mem_in_use());
}

static void *work(void *arg)
{
    for (size_t i = 0; i < 20000; i++) {
        void *p = base_malloc(i % 64);
        p = base_realloc(p, i % 32);
        base_free(p);
    }
    return arg;
}

static void counts_are_correct_with_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    int64_t before = base_mem_in_use();
    for (int i = 0; i < 4; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
    assert_int_equal(before, base_mem_in_use());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_in_use_is_counted),
        cmocka_unit_test(the_high_water_mark_is_recorded),
        cmocka_unit_test(keeps_contents_when_growing),
        cmocka_unit_test(a_list_grows_as_needed),
        cmocka_unit_test(a_list_that_cannot_grow_is_unchanged),
        cmocka_unit_test(an_allocation_of_zero_bytes_succeeds),
        cmocka_unit_test(oversized_allocations_fail),
        cmocka_unit_test(excluded_memory_is_not_counted),
        cmocka_unit_test(counts_are_correct_with_threads),
    };
    return cmocka_run_group_tests_name("base_mem", tests, NULL, NULL);
}
