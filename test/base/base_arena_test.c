/* Tests the arena. Blocks must be aligned and must not overlap, and little memory may be
 * wasted. */
#include "base_arena.h"
#include "unit.h"
#include "base_mem.h"

static void blocks_are_disjoint_and_aligned(void **state)
{
    (void)state;
    enum { N = 3000 };
    static unsigned char *blocks[N];
    struct base_arena arena = {0};
    for (int i = 0; i < N; i++) {
        size_t size = (size_t)(i * 37 % 301);
        blocks[i] = base_arena_alloc(&arena, size);
        assert_non_null(blocks[i]);
        assert_int_equal(0, (uintptr_t)blocks[i] % _Alignof(max_align_t));
        memset(blocks[i], i & 0xff, size);
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i * 37 % 301; k++)
            assert_int_equal(i & 0xff, blocks[i][k]);
    base_arena_free(&arena);
}

static void packed_blocks_keep_their_alignment_only(void **state)
{
    (void)state;
    enum { N = 3000 };
    static unsigned char *blocks[N];
    struct base_arena arena = {0};
    int64_t before = base_mem_in_use();
    for (int i = 0; i < N; i++) {
        size_t align = (size_t)1 << i % 4;
        blocks[i] = base_arena_alloc_packed(&arena, 8, align);
        assert_non_null(blocks[i]);
        assert_int_equal(0, (uintptr_t)blocks[i] % align);
        memset(blocks[i], i & 0xff, 8);
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 8; k++)
            assert_int_equal(i & 0xff, blocks[i][k]);
    assert_true(base_mem_in_use() - before < N * 8 * 3 / 2);
    base_arena_free(&arena);
}

static void an_arena_can_be_reused_after_free(void **state)
{
    (void)state;
    struct base_arena arena = {0};
    int64_t before = base_mem_in_use();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++)
            assert_non_null(base_arena_alloc(&arena, 100));
        assert_true(base_mem_in_use() > before);
        base_arena_free(&arena);
        assert_int_equal(before, base_mem_in_use());
    }
}

static void takes_a_block_larger_than_a_chunk(void **state)
{
    (void)state;
    struct base_arena arena = {0};
    char *large = base_arena_alloc(&arena, 1000000);
    assert_non_null(large);
    memset(large, 1, 1000000);
    assert_non_null(base_arena_alloc(&arena, 1));
    base_arena_free(&arena);
}

static void wastes_at_most_a_quarter(void **state)
{
    (void)state;
    struct base_arena arena = {0};
    int64_t before = base_mem_in_use(), asked = 0;
    for (int i = 0; i < 100000; i++) {
        assert_non_null(base_arena_alloc(&arena, 48));
        asked += 48;
        int64_t taken = base_mem_in_use() - before;
        assert_true(taken <= asked + asked / 4 + 4096 + taken / 50);
    }
    base_arena_free(&arena);
}

static void oversized_allocations_fail(void **state)
{
    (void)state;
    struct base_arena arena = {0};
    assert_null(base_arena_alloc(&arena, SIZE_MAX));
    assert_null(base_arena_alloc(&arena, SIZE_MAX - 8));
    assert_non_null(base_arena_alloc(&arena, 8));
    base_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_disjoint_and_aligned),
        cmocka_unit_test(packed_blocks_keep_their_alignment_only),
        cmocka_unit_test(an_arena_can_be_reused_after_free),
        cmocka_unit_test(takes_a_block_larger_than_a_chunk),
        cmocka_unit_test(wastes_at_most_a_quarter),
        cmocka_unit_test(oversized_allocations_fail),
    };
    return cmocka_run_group_tests_name("base_arena", tests, NULL, NULL);
}
