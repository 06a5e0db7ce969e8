/* Compares lists of segments with a naive model, for random lists and extreme offsets. */
#include "unit.h"

#include "base_error.h"
#include "base_segments.h"

enum { MOST = 2000 };

struct item {
    int64_t offset, length;
    int number; /* position in the original list */
};

static int64_t any(int64_t range)
{
    uint64_t x = 0;
    for (int i = 0; i < 5; i++)
        x = x << 15 ^ (uint64_t)rand();
    return (int64_t)(x % (uint64_t)range);
}

/* Checks that a list is a stable permutation of `before` in ascending order. */
static void check_sorted(const struct item *list, const struct item *before, int n)
{
    static char seen[MOST];
    for (int i = 0; i < n; i++)
        seen[i] = 0;
    for (int i = 0; i < n; i++) {
        const struct item *was = &before[list[i].number];
        assert_int_equal(0, seen[list[i].number]++);
        assert_true(list[i].offset == was->offset && list[i].length == was->length);
        if (i == 0) continue;
        assert_true(list[i - 1].offset <= list[i].offset);
        if (list[i - 1].offset == list[i].offset)
            assert_true(list[i - 1].number < list[i].number);
    }
}

static void a_sorted_list_is_a_stable_permutation(void **state)
{
    static struct item list[MOST], before[MOST];
    static const int numbers[] = {0, 1, 2, 3, 17, 40, 300, MOST};
    static const int64_t firsts[] = {0, INT64_MIN, -50, INT64_MAX - 1000};
    (void)state;
    for (size_t k = 0; k < sizeof firsts / sizeof firsts[0]; k++)
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            for (int64_t range = 1; range <= 1000; range *= 10) {
                int n = numbers[i];
                for (int j = 0; j < n; j++)
                    before[j] = list[j] =
                        (struct item){firsts[k] + any(range), any(9), j};
                assert_int_equal(NC_NOERR, base_segments_sort(list, n, sizeof *list));
                check_sorted(list, before, n);
            }
}

/* Makes n ascending segments. If `gap` is negative, some of them overlap. */
static void make_ascending(struct item *list, int n, int64_t first, int64_t gap)
{
    for (int i = 0; i < n; i++) {
        list[i] = (struct item){first, 1 + any(5), i};
        first += list[i].length + (gap < 0 ? -any(2) : any(gap + 1));
    }
}

static void searches_find_what_a_scan_finds(void **state)
{
    static struct item list[MOST];
    static const int numbers[] = {0, 1, 2, 3, 50};
    static const int64_t firsts[] = {0, 7, INT64_MAX - 1000};
    (void)state;
    for (int round = 0; round < 30; round++) {
        int n = numbers[round % 5];
        int64_t first = firsts[round % 3], end = first + 500;
        make_ascending(list, n, first, round % 4);
        for (int64_t at = first == 0 ? 0 : first - 3; at < end; at++) {
            int64_t after = 0;
            while (after < n && list[after].offset + list[after].length <= at)
                after++;
            assert_int_equal(after, base_segments_find(list, n, sizeof *list, at));
        }
        assert_int_equal(-1, base_segments_find_overlap(list, n, sizeof *list));
    }
}

static void the_first_overlap_is_found(void **state)
{
    static struct item list[MOST];
    (void)state;
    for (int round = 0; round < 200; round++) {
        int n = round % 9;
        int64_t expected = -1;
        make_ascending(list, n, round % 2 == 0 ? 3 : INT64_MAX - 100, -1);
        for (int i = n - 2; i >= 0; i--)
            if (list[i].offset + list[i].length > list[i + 1].offset) expected = i;
        assert_int_equal(expected, base_segments_find_overlap(list, n, sizeof *list));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sorted_list_is_a_stable_permutation),
        cmocka_unit_test(searches_find_what_a_scan_finds),
        cmocka_unit_test(the_first_overlap_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
