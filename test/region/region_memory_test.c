/* Makes each allocation fail, one per run. Constructors must return NULL and leak
 * nothing. */
#include "region_tree.h"
#include "unit.h"
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

/* Builds a region long enough to have marks for seeking. */
static struct region *long_list(void)
{
    enum { N = 3 * REGION_MARK_EVERY };
    const int64_t count = 2, stride = 5;
    int64_t displ[N];
    struct region *kids[N];
    for (int64_t i = 0; i < N; i++) {
        displ[i] = 100 * i;
        kids[i] =
            i % 3 ? region_block(0, 1 + i % 7) : region_loops(0, 1, &count, &stride, 2);
    }
    return region_list(N, displ, kids);
}

static struct region *long_list_of_blocks(void)
{
    enum { N = 3 * REGION_MARK_EVERY };
    int64_t displ[N], length[N];
    for (int64_t i = 0; i < N; i++) {
        displ[i] = 10 * i;
        length[i] = 1 + i % 7;
    }
    return region_blocks(N, displ, length);
}

static struct region *copy_of_long_list(void)
{
    struct region *r = long_list(), *copy = r == NULL ? NULL : region_clone(r);
    region_free(r);
    return copy;
}

static void check_every_failure(struct region *(*make)(void))
{
    bool failed = true;
    for (int k = 0; failed; k++) {
        short_memory_in = k;
        struct region *r = make();
        failed = short_memory_in < 0; /* whether allocation k was reached */
        short_memory_in = -1;
        /* harmless if the failed allocation would only have shrunk a block */
        if (!failed) assert_non_null(r);
        if (r != NULL) assert_true(region_bytes(r) > 0);
        region_free(r);
        assert_int_equal(0, base_mem_in_use());
        assert_true(k < 1000);
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
    check_every_failure(long_list);
    check_every_failure(long_list_of_blocks);
    check_every_failure(copy_of_long_list);
}

static void check_seeks(const struct region *r)
{
    struct region_cursor *walker = region_cursor_new(r), *seeker = region_cursor_new(r);
    assert_true(walker != NULL && seeker != NULL);
    struct region_strip s;
    int64_t at, rank = 0;
    for (; region_next(walker, 3, 1, &s); rank += s.length) {
        assert_true(region_skip_to(seeker, rank));
        assert_true(region_peek(seeker, &at));
        assert_int_equal(s.offset, at);
        assert_int_equal(rank, region_seek(seeker, s.offset));
    }
    assert_int_equal(region_bytes(r), rank);
    region_cursor_free(walker);
    region_cursor_free(seeker);
}

/* Seeking allocates no memory. If the marks could not be allocated, seeking must work
 * without them. */
static void seeking_survives_short_memory(void **state)
{
    (void)state;
    struct region *(*const make[])(void) = {long_list, long_list_of_blocks,
                                            copy_of_long_list};
    for (size_t i = 0; i < sizeof make / sizeof make[0]; i++) {
        int without = 0;
        bool failed = true;
        for (int k = 0; failed; k++) {
            short_memory_in = k;
            struct region *r = make[i]();
            failed = short_memory_in < 0;
            short_memory_in = -1;
            if (r == NULL) continue;
            without += r->marks == NULL;
            check_seeks(r);
            region_free(r);
        }
        assert_int_equal(1, without);
    }
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
        cmocka_unit_test(seeking_survives_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
