/* Compares the conversions between all pairs of types with the model, value by value. */
#include "unit.h"

#include "conv_loops.h"
#include "conv_model.h"

/* The set of loops under test, or NULL to test the public functions. */
static const struct conv_loops *loops;

static int convert(struct conv_model_pair pair, char *to, const char *from, size_t n,
                   const void *fill)
{
    if (loops == NULL) return conv_model_call(pair, to, from, n, fill);
    size_t size = (size_t)conv_size(pair.from), to_size = (size_t)conv_size(pair.to);
    conv_loop *loop = pair.put ? loops->put[conv_model_xtype(pair.to)][pair.from]
                               : loops->get[conv_model_xtype(pair.from)][pair.to];
    if (loop == NULL) {
        assert_true(conv_is_copy(conv_model_xtype(pair.from), pair.to));
        memcpy(to, from, n * size);
        return NC_NOERR;
    }
    bool out_of_range = false;
    for (size_t i = 0; i < n; i += CONV_BLOCK)
        out_of_range |= loop(to + i * to_size, from + i * size,
                             n - i < CONV_BLOCK ? n - i : CONV_BLOCK, fill);
    return out_of_range ? NC_ERANGE : NC_NOERR;
}

static void compare(struct conv_model_pair pair)
{
    size_t n, size = (size_t)conv_size(pair.from), to_size = (size_t)conv_size(pair.to);
    char fill[8];
    char *values = conv_model_values(pair, &n);
    char *expected = malloc(n * to_size), *result = malloc(n * to_size);
    assert_true(expected != NULL && result != NULL);
    memset(result, 0x55, n * to_size);
    conv_model_fill(pair, fill);
    int rc = conv_model_run(pair, expected, values, n, fill);
    if (convert(pair, result, values, n, fill) != rc)
        fail_msg("%s does not return %d", conv_model_name(pair), rc);
    for (size_t i = 0; i < n * to_size; i++)
        if (expected[i] != result[i])
            fail_msg("%s: source byte %#x ..., byte %zu of element %zu is %#x, not %#x",
                     conv_model_name(pair), (unsigned char)values[i / to_size * size],
                     i % to_size, i / to_size, (unsigned char)result[i],
                     (unsigned char)expected[i]);
    free(values);
    free(expected);
    free(result);
}

static void compare_all(const struct conv_loops *which)
{
    struct conv_model_pair pair = {0};
    loops = which;
    while (conv_model_next(&pair))
        compare(pair);
}

static void put_and_get_convert_every_pair(void **state)
{
    (void)state;
    compare_all(NULL);
}

static void plain_loops_convert_every_pair(void **state)
{
    (void)state;
    compare_all(&conv_loops_plain);
}

static void text_is_copied(void **state)
{
    (void)state;
    char text[256], there[256], back[256];
    for (int i = 0; i < 256; i++)
        text[i] = (char)i;
    assert_int_equal(NC_NOERR, conv_put(there, NC_CHAR, text, CONV_TEXT, 256, ""));
    assert_memory_equal(text, there, 256);
    assert_int_equal(NC_NOERR, conv_get(back, CONV_TEXT, there, NC_CHAR, 256));
    assert_memory_equal(text, back, 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_and_get_convert_every_pair),
        cmocka_unit_test(plain_loops_convert_every_pair),
        cmocka_unit_test(text_is_copied),
    };
    conv_model_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
