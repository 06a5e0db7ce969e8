/* Tests gathering bytes from a region and scattering bytes to it, in parts of any
 * size. */
#include "region_model.h"
#include "unit.h"

struct space {
    int64_t low;
    size_t n;
    unsigned char *bytes; /* bytes[i] is the byte at offset low + i */
};

static struct space space_of(const struct region *r)
{
    int64_t high;
    struct space s;
    region_bounds(r, &s.low, &high);
    s.n = (size_t)(high - s.low);
    s.bytes = malloc(s.n + 1);
    assert_non_null(s.bytes);
    for (size_t i = 0; i < s.n; i++)
        s.bytes[i] = (unsigned char)model_random(0, 255);
    return s;
}

/* Returns the address that corresponds to offset 0. It may be outside of `bytes`. */
static void *base_of(const struct space *s)
{
    return (void *)((uintptr_t)s->bytes - (uintptr_t)s->low);
}

static size_t some_amount(size_t n)
{
    return (size_t)(model_random(0, 2) ? model_random(1, 40)
                                       : model_random(1, (int64_t)n));
}

static void gather_all(const struct region *r, const struct space *s,
                       unsigned char *packed, size_t n)
{
    struct region_cursor *c = region_cursor_new(r);
    assert_non_null(c);
    for (size_t done = 0; done < n;) {
        size_t want = some_amount(n);
        size_t got = region_gather(c, base_of(s), packed + done, want);
        assert_int_equal(want < n - done ? want : n - done, got);
        done += got;
    }
    assert_int_equal(0, region_gather(c, base_of(s), packed, 1));
    region_cursor_free(c);
}

static void scatter_all(const struct region *r, const struct space *s,
                        const unsigned char *packed, size_t n)
{
    struct region_cursor *c = region_cursor_new(r);
    assert_non_null(c);
    for (size_t done = 0; done < n;) {
        size_t want = some_amount(n);
        size_t got = region_scatter(c, base_of(s), packed + done, want);
        assert_int_equal(want < n - done ? want : n - done, got);
        done += got;
    }
    assert_int_equal(0, region_scatter(c, base_of(s), packed, 1));
    region_cursor_free(c);
}

static void check_both_ways(const struct region *r, const struct model *m)
{
    struct space s = space_of(r), expected = s;
    unsigned char *packed = malloc(m->n + 1);
    assert_non_null(packed);
    gather_all(r, &s, packed, m->n);
    for (size_t i = 0; i < m->n; i++)
        assert_int_equal(s.bytes[m->at[i] - s.low], packed[i]);

    expected.bytes = malloc(s.n + 1);
    assert_non_null(expected.bytes);
    memcpy(expected.bytes, s.bytes, s.n);
    for (size_t i = 0; i < m->n; i++) {
        packed[i] = (unsigned char)model_random(0, 255);
        expected.bytes[m->at[i] - s.low] = packed[i];
    }
    scatter_all(r, &s, packed, m->n);
    if (s.n > 0) assert_memory_equal(expected.bytes, s.bytes, s.n);
    free(expected.bytes);
    free(packed);
    free(s.bytes);
}

static void compositions_go_out_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct model m = {0};
        struct region *r = model_region((int)model_random(0, 3), &m);
        assert_non_null(r);
        check_both_ways(r, &m);
        region_free(r);
        model_free(&m);
    }
}

/* Tests every run length that has its own loop, and the adjacent lengths. */
static void runs_of_every_length_go_out_and_back(void **state)
{
    (void)state;
    for (int64_t length = 1; length <= 33; length++) {
        const int64_t count = 9, stride = (model_random(0, 1) ? 1 : -1) * (length + 3);
        struct model m = {0};
        for (int64_t i = 0; i < count; i++)
            model_add(&m, 5 + i * stride, length);
        struct region *r = region_loops(5, 1, &count, &stride, length);
        assert_non_null(r);
        check_both_ways(r, &m);
        region_free(r);
        model_free(&m);
    }
}

/* Tests transposed planes, in parts of any size, and planes whose rows overlap. */
static void transposed_planes_go_out_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        int64_t length = 1 << model_random(0, 4), n = model_random(2, 200);
        const int64_t count[] = {model_random(1, 3), model_random(2, 9), n};
        int64_t pitch = length + model_random(-1, 1), row = (n + 1) * count[1] * pitch;
        const int64_t stride[] = {row, model_random(0, 1) ? pitch : -pitch,
                                  count[1] * pitch - model_random(0, 1)};
        struct model m = {0};
        for (int64_t x = 0; x < count[0]; x++)
            for (int64_t y = 0; y < count[1]; y++)
                for (int64_t z = 0; z < n; z++)
                    model_add(&m, x * stride[0] + y * stride[1] + z * stride[2], length);
        struct region *r = region_loops(0, 3, count, stride, length);
        assert_non_null(r);
        check_both_ways(r, &m);
        region_free(r);
        model_free(&m);
    }
}

static void the_whole_region_may_be_asked_for_at_once(void **state)
{
    (void)state;
    const int64_t count = 4, stride = 3;
    struct region *r = region_loops(0, 1, &count, &stride, 2);
    char packed[9] = "";
    assert_non_null(r);
    struct region_cursor *c = region_cursor_new(r);
    assert_non_null(c);
    assert_int_equal(8, region_gather(c, "ab-cd-ef-gh", packed, SIZE_MAX));
    assert_string_equal("abcdefgh", packed);
    region_cursor_free(c);
    region_free(r);
}

static void offsets_may_be_addresses(void **state)
{
    (void)state;
    char memory[] = "some memory", packed[7] = "";
    struct region *r = region_block((int64_t)(intptr_t)&memory[5], 6);
    assert_non_null(r);
    struct region_cursor *c = region_cursor_new(r);
    assert_non_null(c);
    assert_int_equal(6, region_gather(c, NULL, packed, 6));
    assert_string_equal("memory", packed);
    region_cursor_free(c);
    region_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compositions_go_out_and_back),
        cmocka_unit_test(runs_of_every_length_go_out_and_back),
        cmocka_unit_test(transposed_planes_go_out_and_back),
        cmocka_unit_test(the_whole_region_may_be_asked_for_at_once),
        cmocka_unit_test(offsets_may_be_addresses),
    };
    model_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
