/* Tests seeking. A cursor must reach every byte from any position, and continue from
 * there just like a cursor that has walked to that byte. */
#include "region_model.h"
#include "unit.h"
#include "base_mem.h"
#include "region_tree.h"

/* ---- random regions ---- */

static int64_t extent_of(const struct model *m)
{
    return m->n == 0 ? 0 : m->at[m->n - 1] + 1 - m->at[0];
}

static struct region *some_ascending(int depth, struct model *m);

/* Returns a list of regions that is sometimes long enough for several marks. */
static struct region *ascending_list(int depth, struct model *m)
{
    enum { MOST = 4 * REGION_MARK_EVERY };
    struct region *kids[MOST];
    int64_t displ[MOST], end = model_random(-100, 100);
    int64_t n = model_random(0, 9) ? model_random(0, 5) : model_random(60, MOST);
    bool plain = model_random(0, 1);
    if (n > 5) depth = 1;
    for (int64_t i = 0; i < n; i++) {
        struct model one = {0};
        kids[i] = some_ascending(plain ? 0 : depth - 1, &one);
        displ[i] = one.n == 0 ? 0 : end - one.at[0];
        model_copy(m, &one, displ[i]);
        end += extent_of(&one) + model_random(0, 3) * model_random(0, 5);
        model_free(&one);
    }
    return region_list(n, displ, kids);
}

static struct region *ascending_repeat(int depth, struct model *m)
{
    struct model one = {0};
    struct region *child = some_ascending(depth - 1, &one);
    int64_t count = one.n > 2000 ? 2 : model_random(1, 5);
    int64_t stride = extent_of(&one) + model_random(0, 1) * model_random(0, 20);
    for (int64_t i = 0; i < count; i++)
        model_copy(m, &one, i * stride);
    model_free(&one);
    return region_repeat(child, count, stride);
}

static struct region *some_ascending(int depth, struct model *m)
{
    int64_t kind = depth > 0 ? model_random(0, 4) : 0;
    if (kind > 2) return ascending_list(depth, m);
    if (kind > 0) return ascending_repeat(depth, m);
    int64_t offset = model_random(-40, 40), length = model_random(0, 9);
    model_add(m, offset, length);
    return region_block(offset, length);
}

/* Returns a long list of blocks, or of various loops, in random order. */
static struct region *long_list(struct model *m)
{
    enum { MOST = 5 * REGION_MARK_EVERY };
    struct region *kids[MOST];
    int64_t displ[MOST], n = model_random(REGION_MARK_EVERY - 2, MOST);
    bool plain = model_random(0, 1);
    for (int64_t i = 0; i < n; i++) {
        struct model one = {0};
        kids[i] = model_region(plain ? 0 : 1, &one);
        displ[i] = model_random(-400, 400);
        model_copy(m, &one, displ[i]);
        model_free(&one);
    }
    return region_list(n, displ, kids);
}

/* ---- comparison with the model ---- */

/* Advances the cursor by one step of a random kind. Returns the new position. */
static size_t step(struct region_cursor *c, const struct region *r, const struct model *m,
                   size_t at)
{
    struct region_plane p;
    struct region_strip s;
    int64_t limit = m->at[at < m->n ? at : m->n - 1] + model_random(-5, 60), next;
    assert_int_equal(at < m->n, region_peek(c, &next));
    if (at < m->n) assert_int_equal(m->at[at], next);
    switch (model_random(0, 3)) {
    case 0:
        if (!region_next(c, model_random(1, 30), model_random(1, 4), &s)) break;
        return at + model_check_strip(&s, m, at);
    case 1:
        if (!region_next_plane(c, model_random(1, 200), &p)) break;
        for (s = p.strip; p.rows > 0; p.rows--, s.offset += p.pitch)
            at += model_check_strip(&s, m, at);
        return at;
    case 2:
        return at + model_check_blocks(c, limit, m, at);
    default:
        if (!region_is_ascending(r)) return at;
        if (region_next_below(c, limit, 1, &s)) return at + model_check_strip(&s, m, at);
        assert_true(at == m->n || m->at[at] >= limit);
        return at;
    }
    assert_int_equal(m->n, at);
    return at;
}

/* Seeks to a random rank or, if the region allows it, to a random offset. */
static size_t seek(struct region_cursor *c, const struct region *r, const struct model *m)
{
    size_t at = (size_t)model_random(0, (int64_t)m->n);
    if (!region_is_ascending(r) || model_random(0, 1)) {
        assert_true(region_skip_to(c, (int64_t)at));
        return at;
    }
    int64_t offset = m->at[at < m->n ? at : m->n - 1] + model_random(-9, 9);
    if (model_random(0, 20) == 0) offset = model_random(0, 1) ? INT64_MIN : INT64_MAX;
    for (at = 0; at < m->n && m->at[at] < offset;)
        at++;
    assert_int_equal(at, region_seek(c, offset));
    return at;
}

static void check_seeks(struct region *r, const struct model *m)
{
    assert_non_null(r);
    struct region_cursor *c = region_cursor_new(r);
    assert_non_null(c);
    size_t at = 0;
    for (int64_t i = model_random(1, 25); m->n > 0 && i > 0; i--) {
        at = seek(c, r, m);
        for (int64_t steps = model_random(0, 8); steps > 0; steps--)
            at = step(c, r, m, at);
        assert_false(region_skip_to(c, -1 - model_random(0, 9)));
        assert_false(region_skip_to(c, (int64_t)m->n + model_random(1, 9)));
    }
    struct region_strip s;
    while (region_next(c, INT64_MAX, INT64_MAX, &s))
        at += model_check_strip(&s, m, at);
    assert_int_equal(m->n, at);
    assert_true(region_skip_to(c, (int64_t)m->n));
    assert_false(region_next(c, INT64_MAX, INT64_MAX, &s));
    region_cursor_free(c);
}

static void a_cursor_goes_on_from_wherever_it_seeks(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct model m = {0};
        struct region *r =
            i % 100 ? model_region((int)model_random(0, 4), &m) : long_list(&m);
        check_seeks(r, &m);
        region_free(r);
        model_free(&m);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void ascending_regions_are_sought_by_offset(void **state)
{
    (void)state;
    for (int i = 0; i < 5000; i++) {
        struct model m = {0};
        struct region *r = some_ascending((int)model_random(0, 4), &m);
        assert_true(region_is_ascending(r));
        check_seeks(r, &m);
        region_free(r);
        model_free(&m);
    }
}

static void a_copy_is_sought_as_well(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct model m = {0};
        struct region *r = long_list(&m), *copy = region_clone(r);
        region_free(r);
        check_seeks(copy, &m);
        region_free(copy);
        model_free(&m);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void an_empty_region_is_at_its_end(void **state)
{
    (void)state;
    struct region *r = region_block(0, 0);
    struct region_cursor *c = region_cursor_new(r);
    int64_t at;
    assert_int_equal(0, region_seek(c, -5));
    assert_int_equal(0, region_seek(c, 5));
    assert_true(region_skip_to(c, 0));
    assert_false(region_skip_to(c, 1));
    assert_false(region_peek(c, &at));
    region_cursor_free(c);
    region_free(r);
}

/* ---- regions that are too large to walk ---- */

static int64_t place(struct region_cursor *c, int64_t rank)
{
    int64_t at;
    assert_true(region_skip_to(c, rank));
    assert_true(region_peek(c, &at));
    return at;
}

/* Checks that seeking to an offset agrees with seeking to the rank of the byte at that
 * offset. Tests offsets within a run, at its end, and in a gap. */
static void check_offset(struct region_cursor *c, const struct region *r, int64_t offset)
{
    int64_t at, rank = region_seek(c, offset);
    bool more = region_peek(c, &at);
    assert_int_equal(rank < region_bytes(r), more);
    if (more) assert_true(at >= offset);
    if (more) assert_int_equal(at, place(c, rank));
    if (rank > 0) assert_true(place(c, rank - 1) < offset);
}

static int64_t large(int64_t most)
{
    int64_t bits = model_random(1, 62);
    return model_random(0, ((int64_t)1 << bits) - 1) % (most + 1);
}

/* Returns the offset of a byte in nested loops, of which the last varies fastest. */
static int64_t slab_place(const int64_t *count, const int64_t *stride, int64_t size,
                          int64_t rank)
{
    int64_t at = rank % size, n = rank / size;
    for (int k = 2; k >= 0; n /= count[k--])
        at += n % count[k] * stride[k];
    return at;
}

static void huge_slabs_are_sought(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const int64_t size = model_random(1, 9);
        const int64_t count[] = {model_random(2, 500), model_random(2, 1000),
                                 model_random(2, 1000000000000)};
        const int64_t inner = size + model_random(1, 2);
        const int64_t row = inner * count[2] + large(1000);
        const int64_t outer = row * count[1] / (i % 2 ? 1 : 3) + large(1000);
        const int64_t stride[] = {outer, i % 4 < 2 ? row : -row, inner};
        struct region *r = region_loops(0, 3, count, stride, size);
        if (r == NULL) continue; /* otherwise offsets would be out of range */
        struct region_cursor *c = region_cursor_new(r);
        assert_int_equal(i % 2 && i % 4 < 2, region_is_ascending(r));
        for (int j = 0; j < 20; j++) {
            int64_t rank = large(region_bytes(r) - 1);
            int64_t at = slab_place(count, stride, size, rank);
            assert_int_equal(at, place(c, rank));
            if (!region_is_ascending(r)) continue;
            assert_int_equal(rank, region_seek(c, at));
            check_offset(c, r, at + 1);
            check_offset(c, r, at + large(outer));
        }
        region_cursor_free(c);
        region_free(r);
    }
}

/* Tests a long list of loops and blocks that is repeated 10^12 times. Expected offsets
 * are computed directly. */
static void huge_repetitions_of_lists_are_sought(void **state)
{
    (void)state;
    enum { N = 200 };
    const int64_t count[] = {3, 5}, turns = 1000000000000, apart = 2000000;
    int64_t displ[N], first[N + 1] = {0};
    struct region *kids[N];
    for (int64_t i = 0; i < N; i++) {
        const int64_t stride[] = {100, 10 + i % 3};
        kids[i] = i % 4 ? region_block(0, i) : region_loops(0, 2, count, stride, 2);
        displ[i] = i * 1000;
        first[i + 1] = first[i] + region_bytes(kids[i]);
    }
    const int64_t all = first[N];
    struct region *r = region_repeat(region_list(N, displ, kids), turns, apart);
    assert_non_null(r);
    assert_true(region_is_ascending(r));
    struct region_cursor *c = region_cursor_new(r);
    for (int j = 0; j < 2000; j++) {
        int64_t turn = large(turns - 1), i = model_random(1, N - 1);
        int64_t rank = turn * all + first[i], at = turn * apart + displ[i];
        assert_int_equal(at, place(c, rank));
        assert_int_equal(rank, region_seek(c, at));
        assert_int_equal(rank, region_seek(c, at - 1));
        rank = turn * all + first[i + 1] - 1;
        assert_int_equal(rank, region_seek(c, place(c, rank)));
        check_offset(c, r, large((turns + 1) * apart));
    }
    region_cursor_free(c);
    region_free(r);
}

/* Tests blocks at the lowest and at the highest offsets. The distance between them
 * exceeds the largest integer. */
static void places_as_far_apart_as_can_be_are_sought(void **state)
{
    (void)state;
    const int64_t displ[] = {INT64_MIN, -9, 5, INT64_MAX - 3}, length[] = {2, 4, 8, 3};
    const int64_t begins[] = {0, 2, 6, 14};
    struct region *r = region_blocks(4, displ, length);
    struct region_cursor *c = region_cursor_new(r);
    assert_true(region_is_ascending(r));
    for (int64_t i = 3; i >= 0; i--) {
        assert_int_equal(begins[i], region_seek(c, displ[i]));
        assert_int_equal(begins[i] + 1, region_seek(c, displ[i] + 1));
        assert_int_equal(displ[i] + 1, place(c, begins[i] + 1));
        assert_int_equal(begins[i] + length[i], region_seek(c, displ[i] + length[i]));
    }
    assert_int_equal(6, region_seek(c, 0));
    region_cursor_free(c);
    r = region_repeat(r, 2, 0);
    assert_non_null(r);
    assert_false(region_is_ascending(r));
    region_free(r);
}

/* ---- memory ---- */

static void marks_take_hardly_any_memory(void **state)
{
    (void)state;
    enum { N = 100000 };
    static int64_t displ[N], length[N];
    for (int64_t i = 0; i < N; i++) {
        displ[i] = 20 * i;
        length[i] = 1 + i % 7;
    }
    int64_t before = base_mem_in_use();
    struct region *r = region_blocks(N, displ, length);
    assert_true(base_mem_in_use() - before < N * 16 + N / 7 + 100);
    region_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cursor_goes_on_from_wherever_it_seeks),
        cmocka_unit_test(ascending_regions_are_sought_by_offset),
        cmocka_unit_test(a_copy_is_sought_as_well),
        cmocka_unit_test(an_empty_region_is_at_its_end),
        cmocka_unit_test(huge_slabs_are_sought),
        cmocka_unit_test(huge_repetitions_of_lists_are_sought),
        cmocka_unit_test(places_as_far_apart_as_can_be_are_sought),
        cmocka_unit_test(marks_take_hardly_any_memory),
    };
    model_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
