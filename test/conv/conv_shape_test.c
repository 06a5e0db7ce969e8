/* Tests lengths near the sizes of vectors and blocks, all alignments, and an out-of-range
 * element at every position. */
#include "unit.h"

#include "conv_loops.h"
#include "conv_model.h"

enum { MOST = 2 * CONV_BLOCK + 70, GUARD = 64 };

/* Buffers in which the elements may have any alignment, with guard bytes before and after
 * them. */
static char source[8 * MOST + 2 * GUARD], target[8 * MOST + 2 * GUARD],
    expected[8 * MOST + 2 * GUARD];

static size_t below(size_t n)
{
    return conv_model_random() % n;
}

/* Converts `n` elements, chosen from `values` at random. All other bytes of the buffers
 * must remain unchanged. */
static void check_length(struct conv_model_pair pair, const char *values, size_t nvalues,
                         size_t n)
{
    size_t size = (size_t)conv_size(pair.from);
    size_t from_at = below(GUARD), to_at = below(GUARD);
    char fill[8];
    static char before[sizeof source];

    for (size_t i = 0; i < n; i++)
        memcpy(source + from_at + i * size, values + below(nvalues) * size, size);
    memcpy(before, source, sizeof source);
    memset(target, 0x5a, sizeof target);
    memset(expected, 0x5a, sizeof expected);
    conv_model_fill(pair, fill);
    int rc = conv_model_run(pair, expected + to_at, source + from_at, n, fill);
    if (conv_model_call(pair, target + to_at, source + from_at, n, fill) != rc)
        fail_msg("%s: %zu elements do not return %d", conv_model_name(pair), n, rc);
    if (memcmp(target, expected, sizeof target) != 0)
        fail_msg("%s: %zu elements from offset %zu to %zu differ", conv_model_name(pair),
                 n, from_at, to_at);
    assert_memory_equal(before, source, sizeof source);
}

static void any_length_at_any_address(void **state)
{
    (void)state;
    static const size_t lengths[] = {CONV_BLOCK - 1, CONV_BLOCK, CONV_BLOCK + 1, MOST};
    struct conv_model_pair pair = {0};
    while (conv_model_next(&pair)) {
        size_t nvalues;
        char *values = conv_model_values(pair, &nvalues);
        for (size_t n = 0; n <= 70; n++)
            check_length(pair, values, nvalues, n);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            check_length(pair, values, nvalues, lengths[i]);
        free(values);
    }
}

/* Finds a value that the pair's conversion can represent (if `good` is set) or cannot
 * represent. Returns false if there is none. */
static bool find(struct conv_model_pair pair, bool good, char *value)
{
    size_t n, size = (size_t)conv_size(pair.from), start;
    char *values = conv_model_values(pair, &n), to[8];
    bool found = false;
    start = below(n);
    for (size_t i = 0; i < n && !found; i++) {
        memcpy(value, values + (start + i) % n * size, size);
        found = conv_model_convert(pair, to, value, "\0\0\0\0\0\0\0") == good;
    }
    free(values);
    return found;
}

static void check_places(struct conv_model_pair pair, const char *good, const char *bad)
{
    enum { N = 70 };
    size_t size = (size_t)conv_size(pair.from), to_size = (size_t)conv_size(pair.to);
    char fill[8], converted[8];
    conv_model_fill(pair, fill);
    conv_model_convert(pair, converted, good, fill);
    for (size_t i = 0; i < N; i++)
        memcpy(source + i * size, good, size);
    assert_int_equal(NC_NOERR, conv_model_call(pair, target, source, N, fill));
    for (size_t place = 0; place < N; place++) {
        memcpy(source + place * size, bad, size);
        assert_int_equal(NC_ERANGE, conv_model_call(pair, target, source, N, fill));
        for (size_t i = 0; i < N; i++)
            if (memcmp(target + i * to_size, i == place ? fill : converted, to_size) != 0)
                fail_msg("%s: element %zu is wrong when %zu is out of range",
                         conv_model_name(pair), i, place);
        memcpy(source + place * size, good, size);
    }
}

static void only_the_element_out_of_range_is_filled(void **state)
{
    (void)state;
    struct conv_model_pair pair = {0};
    int pairs = 0;
    while (conv_model_next(&pair)) {
        char good[8], bad[8];
        assert_true(find(pair, true, good));
        if (!find(pair, false, bad)) continue;
        check_places(pair, good, bad);
        pairs++;
    }
    /* The number of type pairs for which values may be out of range. For both puts and
     * gets, these are 38 of the 56 pairs of integer types, the 16 conversions from a
     * floating-point type to an integer type, and double to float. */
    assert_int_equal(2 * (38 + 16 + 1), pairs);
}

static void zero_elements_need_no_buffers(void **state)
{
    (void)state;
    assert_int_equal(NC_NOERR, conv_put(NULL, NC_INT, NULL, CONV_DOUBLE, 0, NULL));
    assert_int_equal(NC_NOERR, conv_get(NULL, CONV_DOUBLE, NULL, NC_DOUBLE, 0));
    assert_int_equal(NC_NOERR, conv_put(NULL, NC_CHAR, NULL, CONV_TEXT, 0, NULL));
}

static void fill_repeats_a_value(void **state)
{
    (void)state;
    static const char value[] = "\1\2\3\4\5\6\7\10";
    for (int size = 1; size <= 8; size *= 2)
        for (size_t n = 0; n < MOST; n += n < 70 ? 1 : 1 + below(400)) {
            size_t at = below(GUARD);
            memset(target, 0x5a, sizeof target);
            memset(expected, 0x5a, sizeof expected);
            for (size_t i = 0; i < n; i++)
                memcpy(expected + at + i * (size_t)size, value, (size_t)size);
            conv_fill(target + at, value, size, n);
            assert_memory_equal(expected, target, sizeof target);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_length_at_any_address),
        cmocka_unit_test(only_the_element_out_of_range_is_filled),
        cmocka_unit_test(zero_elements_need_no_buffers),
        cmocka_unit_test(fill_repeats_a_value),
    };
    conv_model_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
