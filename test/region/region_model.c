/* See region_model.h. */
#include "region_model.h"
#include "unit.h"

#include <time.h>

#include "splitmix.h"

static uint64_t state;

void model_seed(void)
{
    const char *given = getenv("NCMPI_TEST_SEED");
    state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) % 1000000;
    printf("# seed %llu\n", (unsigned long long)state);
}

int64_t model_random(int64_t low, int64_t high)
{
    return low + (int64_t)(splitmix_next(&state) % (uint64_t)(high - low + 1));
}

void model_add(struct model *m, int64_t offset, int64_t length)
{
    while (m->n + (size_t)length > m->room) {
        m->room = m->room == 0 ? 256 : 2 * m->room;
        m->at = realloc(m->at, m->room * sizeof *m->at);
        assert_non_null(m->at);
    }
    for (int64_t i = 0; i < length; i++)
        m->at[m->n++] = offset + i;
}

void model_copy(struct model *m, const struct model *from, int64_t shift)
{
    for (size_t i = 0; i < from->n; i++)
        model_add(m, from->at[i] + shift, 1);
}

void model_free(struct model *m)
{
    free(m->at);
    *m = (struct model){0};
}

/* ---- random regions ---- */

static struct region *some_block(struct model *m)
{
    int64_t offset = model_random(-40, 40), length = model_random(0, 9);
    model_add(m, offset, length);
    return region_block(offset, length);
}

static void add_loops(struct model *m, int64_t offset, int ndims, const int64_t *count,
                      const int64_t *stride, int64_t size)
{
    if (ndims == 0) model_add(m, offset, size);
    for (int64_t i = 0; ndims > 0 && i < count[0]; i++)
        add_loops(m, offset + i * stride[0], ndims - 1, count + 1, stride + 1, size);
}

static struct region *some_loops(struct model *m)
{
    int64_t count[3], stride[3], offset = model_random(-40, 40);
    int64_t size = model_random(1, 4);
    int ndims = (int)model_random(0, 3);
    for (int k = 0; k < ndims; k++) {
        count[k] = model_random(0, 9) == 0 ? 0 : model_random(1, 4);
        stride[k] = model_random(0, 2) ? model_random(-20, 20) : 4 * size;
    }
    add_loops(m, offset, ndims, count, stride, size);
    return region_loops(offset, ndims, count, stride, size);
}

static struct region *some_blocks(struct model *m)
{
    int64_t displ[6], length[6], n = model_random(0, 6);
    for (int64_t i = 0; i < n; i++) {
        bool follows = i > 0 && model_random(0, 2) == 0;
        displ[i] = follows ? displ[i - 1] + length[i - 1] : model_random(-40, 40);
        length[i] = model_random(0, 5);
        model_add(m, displ[i], length[i]);
    }
    return region_blocks(n, displ, length);
}

static struct region *some_repeat(int depth, struct model *m)
{
    struct model one = {0};
    struct region *child = model_region(depth - 1, &one);
    int64_t count = model_random(0, 5);
    int64_t stride = model_random(0, 1) ? (int64_t)one.n : model_random(-50, 50);
    for (int64_t i = 0; i < count; i++)
        model_copy(m, &one, i * stride);
    model_free(&one);
    return region_repeat(child, count, stride);
}

static struct region *some_list(int depth, struct model *m)
{
    struct region *children[4];
    int64_t displ[4], n = model_random(0, 4);
    for (int64_t i = 0; i < n; i++) {
        struct model one = {0};
        children[i] = model_region(depth - 1, &one);
        displ[i] = model_random(-60, 60);
        model_copy(m, &one, displ[i]);
        model_free(&one);
    }
    return region_list(n, displ, children);
}

struct region *model_region(int depth, struct model *m)
{
    switch (model_random(0, depth > 0 ? 5 : 2)) {
    case 0:
        return some_block(m);
    case 1:
        return some_loops(m);
    case 2:
        return some_blocks(m);
    case 3:
        return some_repeat(depth, m);
    default:
        return some_list(depth, m);
    }
}

/* ---- checking ---- */

static void check_answers(const struct region *r, const struct model *m)
{
    int64_t low = 0, high = 0, l, h, offset = -1, runs = 0;
    bool ascending = true;
    for (size_t i = 0; i < m->n; i++) {
        if (i == 0 || m->at[i] < low) low = m->at[i];
        if (i == 0 || m->at[i] >= high) high = m->at[i] + 1;
        runs += i == 0 || m->at[i] != m->at[i - 1] + 1;
        ascending = ascending && (i == 0 || m->at[i] > m->at[i - 1]);
    }
    region_bounds(r, &l, &h);
    assert_int_equal(low, l);
    assert_int_equal(high, h);
    assert_int_equal(m->n, region_bytes(r));
    assert_true(region_runs(r) >= runs);
    assert_true(region_runs(r) <= (int64_t)m->n);
    assert_int_equal(runs <= 1, region_is_block(r, &offset));
    if (runs <= 1) assert_int_equal(m->n == 0 ? 0 : low, offset);
    assert_int_equal(ascending, region_is_ascending(r));
}

size_t model_check_strip(const struct region_strip *s, const struct model *m, size_t at)
{
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = 0; j < s->length; j++) {
            assert_true(at < m->n);
            assert_int_equal(m->at[at++], s->offset + i * s->stride + j);
        }
    return (size_t)(s->count * s->length);
}

size_t model_check_blocks(struct region_cursor *c, int64_t limit, const struct model *m,
                          size_t at)
{
    struct region_span span;
    int64_t longest = model_random(1, 20), most = model_random(1, 60), bytes = 0;
    if (!region_next_blocks(c, limit, longest, most, &span)) return 0;
    for (int64_t i = 0; i < span.n; i++) {
        const struct region_extent *x = &span.blocks[i];
        struct region_strip s = {
            .offset = span.base + x->offset, .length = x->length, .count = 1};
        assert_true(x->length <= longest && s.offset + s.length <= limit);
        bytes += (int64_t)model_check_strip(&s, m, at + (size_t)bytes);
    }
    assert_true(bytes <= most);
    assert_int_equal(bytes, span.bytes);
    return (size_t)bytes;
}

/* Walks through an ascending region in several calls, each with a higher limit. */
static void check_limits(const struct region *r, const struct model *m)
{
    struct region_cursor *c = region_cursor_new(r);
    struct region_strip s;
    int64_t limit = m->n > 0 ? m->at[0] : 0, next;
    size_t at = 0;
    assert_non_null(c);
    while (at < m->n) {
        limit += model_random(0, 20);
        at += model_check_blocks(c, limit, m, at);
        while (region_next_below(c, limit, 1, &s)) {
            assert_true(s.offset + (s.count - 1) * s.stride + s.length <= limit);
            at += model_check_strip(&s, m, at);
        }
        assert_int_equal(at < m->n, region_peek(c, &next));
        if (at < m->n) {
            assert_true(m->at[at] >= limit);
            assert_int_equal(m->at[at], next);
            if (next > limit + 100) limit = next;
        }
    }
    assert_false(region_next_below(c, INT64_MAX, 1, &s));
    region_cursor_free(c);
}

void model_check(const struct region *r, const struct model *m)
{
    assert_non_null(r);
    check_answers(r, m);
    if (region_is_ascending(r)) check_limits(r, m);
    struct region_cursor *c = region_cursor_new(r);
    struct region_strip s;
    size_t at = 0;
    int64_t runs = 0, tight = model_random(0, 1);
    assert_non_null(c);
    for (;;) {
        int64_t max_bytes = tight ? model_random(1, 12) : INT64_MAX;
        int64_t max_runs = tight ? model_random(1, 4) : INT64_MAX;
        if (!region_next(c, max_bytes, max_runs, &s)) break;
        assert_true(s.count >= 1 && s.count <= max_runs);
        assert_true(s.length >= 1 && s.length * s.count <= max_bytes);
        at += model_check_strip(&s, m, at);
        runs += s.count;
    }
    assert_int_equal(m->n, at);
    if (!tight) assert_int_equal(region_runs(r), runs);
    assert_false(region_next(c, 1, 1, &s));
    region_cursor_free(c);
}
