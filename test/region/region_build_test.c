/* Tests that constructors build regions that contain the right bytes and have the
 * simplest possible form. */
#include "region_model.h"
#include "unit.h"
#include "base_mem.h"

/* A hyperslab. add_slab enumerates its bytes dimension by dimension, directly from the
 * definition. */
struct slab {
    int ndims;
    int64_t shape[6], start[6], count[6], stride[6];
    int64_t size, row0;
};

static void add_slab(struct model *m, const struct slab *s, int k, int64_t offset)
{
    if (k == s->ndims) {
        model_add(m, offset, s->size);
        return;
    }
    int64_t row = s->size;
    for (int j = k + 1; j < s->ndims; j++)
        row *= s->shape[j];
    if (k == 0 && s->row0 != 0) row = s->row0;
    for (int64_t i = 0; i < s->count[k]; i++)
        add_slab(m, s, k + 1, offset + (s->start[k] + i * s->stride[k]) * row);
}

static struct slab some_slab(bool strided)
{
    struct slab s = {.ndims = (int)model_random(0, 6), .size = 1 << model_random(0, 3)};
    for (int k = 0; k < s.ndims; k++) {
        s.stride[k] = strided ? model_random(1, 3) : 1;
        s.shape[k] = model_random(1, 7);
        int64_t most = (s.shape[k] + s.stride[k] - 1) / s.stride[k];
        if (most > 4) most = 4;
        s.count[k] = model_random(0, 30) ? model_random(1, most) : 0;
        int64_t span = s.count[k] == 0 ? 0 : (s.count[k] - 1) * s.stride[k] + 1;
        s.start[k] = model_random(0, s.shape[k] - span);
        if (model_random(0, 1)) s.start[k] = 0;
    }
    if (model_random(0, 1)) s.row0 = model_random(1, 3000);
    return s;
}

static void slabs_are_nested_loops(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i++) {
        bool strided = model_random(0, 2) > 0;
        struct slab s = some_slab(strided);
        struct model m = {0};
        int64_t offset = model_random(0, 1000);
        struct region *r = region_slab(offset, s.ndims, s.shape, s.start, s.count,
                                       strided ? s.stride : NULL, s.size, s.row0);
        add_slab(&m, &s, 0, offset);
        model_check(r, &m);
        region_free(r);
        model_free(&m);
    }
}

static void compositions_keep_every_byte_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct model m = {0};
        struct region *r = model_region((int)model_random(0, 4), &m);
        model_check(r, &m);
        region_free(r);
        model_free(&m);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void check_block(struct region *r, int64_t offset, int64_t bytes)
{
    int64_t at;
    assert_non_null(r);
    assert_true(region_is_block(r, &at));
    assert_int_equal(offset, at);
    assert_int_equal(bytes, region_bytes(r));
    assert_int_equal(bytes > 0, region_runs(r));
    region_free(r);
}

static void contiguous_pieces_become_one_block(void **state)
{
    (void)state;
    const int64_t shape[] = {9, 5, 7}, zero[] = {0, 0, 0};
    const int64_t rows[] = {3, 5, 7}, start[] = {2, 0, 0};
    const int64_t one[] = {1, 1, 4}, far[] = {8, 4, 3};
    check_block(region_slab(100, 3, shape, zero, shape, NULL, 8, 0), 100, 9 * 5 * 7 * 8);
    check_block(region_slab(0, 3, shape, start, rows, NULL, 2, 0), 2 * 70, 3 * 70);
    check_block(region_slab(0, 3, shape, start, rows, NULL, 2, 70), 2 * 70, 3 * 70);
    check_block(region_slab(0, 3, shape, far, one, NULL, 4, 0), (8 * 35 + 31) * 4, 16);
    check_block(region_slab(7, 0, NULL, NULL, NULL, NULL, 4, 0), 7, 4);
    check_block(region_repeat(region_repeat(region_block(3, 4), 5, 4), 6, 20), 3, 120);

    const int64_t displ[] = {4, 8, 8, 9}, length[] = {4, 0, 1, 7};
    check_block(region_blocks(4, displ, length), 4, 12);
    struct region *kids[] = {region_block(0, 4), region_block(0, 0), region_block(0, 1),
                             region_repeat(region_block(0, 1), 7, 1)};
    check_block(region_list(4, displ, kids), 4, 12);
}

static void empty_regions_are_the_same(void **state)
{
    (void)state;
    const int64_t count[] = {3, 0}, stride[] = {8, 1}, displ[] = {5, 6};
    struct region *kids[] = {region_block(5, 0), region_block(0, 0)};
    check_block(region_block(17, 0), 0, 0);
    check_block(region_loops(9, 2, count, stride, 4), 0, 0);
    check_block(region_loops(9, 1, count, stride, 0), 0, 0);
    check_block(region_slab(9, 2, count, count, count, NULL, 4, 0), 0, 0);
    check_block(region_repeat(region_block(17, 2), 0, 5), 0, 0);
    check_block(region_repeat(region_block(17, 0), INT64_MAX, INT64_MAX), 0, 0);
    check_block(region_list(0, displ, kids), 0, 0);
    check_block(region_list(2, displ, kids), 0, 0);
    check_block(region_blocks(0, displ, displ), 0, 0);
}

static void a_slab_of_any_size_is_small(void **state)
{
    (void)state;
    const int64_t shape[] = {1 << 20, 1 << 20, 1 << 20}, start[] = {1, 2, 3};
    const int64_t count[] = {1 << 18, 1 << 18, 1 << 18}, stride[] = {3, 2, 3};
    int64_t before = base_mem_in_use();
    struct region *r = region_slab(0, 3, shape, start, count, stride, 1, 0);
    assert_non_null(r);
    assert_true(base_mem_in_use() - before < 130);
    assert_int_equal((int64_t)1 << 54, region_runs(r));
    region_free(r);
}

static void evenly_spaced_children_become_a_loop(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t displ[N], length[N];
    struct region *kids[N];
    const int64_t count[] = {4, 3}, stride[] = {50, 7};
    for (int i = 0; i < N; i++) {
        displ[i] = 8 * i;
        length[i] = 4;
        kids[i] = region_loops(i * 192, 2, count, stride, 2);
    }
    int64_t before = base_mem_in_use();
    struct region *blocks = region_blocks(N, displ, length);
    assert_true(base_mem_in_use() - before < 100);
    struct region *list = region_list(N, displ, kids);
    assert_true(base_mem_in_use() < 300);
    assert_int_equal(N, region_runs(blocks));
    assert_int_equal(N * 12, region_runs(list));
    region_free(blocks);
    region_free(list);
}

/* Returns a list that contains two loops with different strides. */
static struct region *pair(struct model *m, int64_t shift, int64_t apart)
{
    const int64_t count = 2, stride[] = {3, 5}, displ[] = {shift, shift + apart};
    struct region *kids[2];
    for (int i = 0; i < 2; i++) {
        kids[i] = region_loops(0, 1, &count, &stride[i], 1);
        model_add(m, displ[i], 1);
        model_add(m, displ[i] + stride[i], 1);
    }
    return region_list(2, displ, kids);
}

static void lists_that_differ_inside_are_kept_apart(void **state)
{
    (void)state;
    const int64_t zero[] = {0, 0, 0};
    for (int64_t apart = 50; apart <= 51; apart++) {
        struct model m = {0};
        struct region *kids[] = {pair(&m, 0, 50), pair(&m, 100, 50),
                                 pair(&m, 200, apart)};
        struct region *r = region_list(3, zero, kids);
        model_check(r, &m);
        region_free(r);
        model_free(&m);
    }
}

static void overflow_is_refused(void **state)
{
    (void)state;
    const int64_t big = (int64_t)1 << 40, counts[] = {big, big}, ones[] = {1, 1};
    const int64_t far[] = {INT64_MAX, INT64_MAX}, zero[] = {0, 0};
    const int64_t negative[] = {2, -1}, edge[] = {INT64_MAX - 1, INT64_MIN};
    const int64_t lengths[] = {1, INT64_MAX};
    assert_null(region_block(INT64_MAX, 1));
    assert_null(region_block(0, -1));
    assert_null(region_loops(0, 2, counts, ones, 1));
    assert_null(region_loops(0, 1, counts, far, 1));
    assert_null(region_loops(0, 2, negative, ones, 1));
    assert_null(region_slab(0, 2, counts, zero, counts, NULL, 1, 0));
    assert_null(region_slab(0, 2, far, far, ones, NULL, 8, 0));
    assert_null(region_slab(0, 2, ones, zero, negative, NULL, 8, 0));
    assert_null(region_repeat(region_block(0, big), big, 0));
    assert_null(region_repeat(region_block(0, 1), -1, 0));
    assert_null(region_repeat(NULL, 1, 0));
    assert_null(region_blocks(2, zero, far));
    assert_null(region_blocks(1, far, ones));
    assert_null(region_blocks(1, zero, negative + 1));
    assert_null(region_blocks(-1, zero, zero));
    struct region *kids[] = {region_block(0, 2), region_block(0, 4)};
    assert_null(region_list(2, edge, kids));
    struct region *missing[] = {region_block(0, 2), NULL};
    assert_null(region_list(2, zero, missing));
    struct region *r = region_blocks(2, edge, ones); /* far apart, but representable */
    assert_non_null(r);
    region_free(r);
    r = region_blocks(2, zero, lengths);
    assert_null(r);
    assert_int_equal(0, base_mem_in_use());
}

/* The stride of a dimension does not matter if only one of its elements is selected. */
static void strides_of_single_elements_do_not_matter(void **state)
{
    (void)state;
    const int64_t shape[] = {9, 8}, start[] = {1, 2}, count[] = {1, 1};
    const int64_t stride[] = {INT64_MAX, INT64_MAX};
    check_block(region_slab(0, 2, shape, start, count, stride, 4, 0), 40, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_are_nested_loops),
        cmocka_unit_test(compositions_keep_every_byte_in_order),
        cmocka_unit_test(contiguous_pieces_become_one_block),
        cmocka_unit_test(empty_regions_are_the_same),
        cmocka_unit_test(a_slab_of_any_size_is_small),
        cmocka_unit_test(evenly_spaced_children_become_a_loop),
        cmocka_unit_test(lists_that_differ_inside_are_kept_apart),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(strides_of_single_elements_do_not_matter),
    };
    model_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
