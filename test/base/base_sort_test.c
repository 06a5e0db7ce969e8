/* Compares base_sort_keys with qsort, for keys of every width. The sort must be
 * stable. */
#include "unit.h"

#include "base_sort.h"

enum { MOST = 3000 };

static int by_key(const void *a, const void *b)
{
    const struct base_key *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static uint64_t any(int bits)
{
    uint64_t x = 0;
    for (int i = 0; i < 5; i++)
        x = x << 15 ^ (uint64_t)rand();
    return bits == 0 ? 0 : x >> (64 - bits);
}

static void keys_are_sorted_like_qsort(void **state)
{
    static struct base_key keys[MOST], spare[MOST], expected[MOST];
    static const int numbers[] = {0, 1, 2, 17, 256, MOST},
                     widths[] = {0, 1, 7, 9, 33, 64};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
            int n = numbers[i];
            uint64_t high = widths[k] < 64 ? any(64 - widths[k]) << widths[k] : 0;
            for (int j = 0; j < n; j++)
                keys[j] = (struct base_key){high | any(widths[k]), j};
            memcpy(expected, keys, sizeof expected);
            qsort(expected, (size_t)n, sizeof *expected, by_key);
            base_sort_keys(keys, spare, n);
            for (int j = 0; j < n; j++) {
                assert_true(keys[j].key == expected[j].key);
                assert_int_equal(keys[j].index, expected[j].index);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_are_sorted_like_qsort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
