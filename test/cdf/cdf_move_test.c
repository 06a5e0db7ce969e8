/* Tests moving data from one layout to another, on a file that is simulated in memory. */
#include "cdf_random.h"
#include "unit.h"

enum { HEADER = 0xfe, FILLED = 0xfd };

/* Returns the value of byte number `at` in record `rec` of a variable. */
static unsigned char content(int var, int64_t rec, int64_t at)
{
    return (unsigned char)(var * 31 + rec * 101 + at * 7 + (at >> 8) + 1);
}

/* Returns the number of bytes that a variable's values occupy in one record, without
 * padding. */
static int64_t bytes_of(const struct cdf_var *v)
{
    return v->nelems * cdf_type_size(v->type);
}

static void write_all(const struct cdf_header *h, unsigned char *file)
{
    for (int i = 0; i < h->nvars; i++)
        for (int64_t rec = 0; rec < (h->vars[i].is_record ? h->numrecs : 1); rec++)
            for (int64_t at = 0; at < bytes_of(&h->vars[i]); at++)
                file[cdf_record_offset(h, &h->vars[i], rec) + at] = content(i, rec, at);
}

static void check_all(const struct cdf_header *h, int nvars, const unsigned char *file)
{
    for (int i = 0; i < nvars; i++)
        for (int64_t rec = 0; rec < (h->vars[i].is_record ? h->numrecs : 1); rec++)
            for (int64_t at = 0; at < bytes_of(&h->vars[i]); at++)
                if (file[cdf_record_offset(h, &h->vars[i], rec) + at] !=
                    content(i, rec, at))
                    fail_msg("variable %d, record %d, byte %d", i, (int)rec, (int)at);
}

/* Returns how many bytes change their offsets, including padding. */
static int64_t bytes_to_move(const struct cdf_header *a, const struct cdf_header *b)
{
    int64_t sum = 0;
    for (int i = 0; i < a->nvars; i++) {
        const struct cdf_var *v = &a->vars[i];
        bool alone = v->is_record && a->nrecord_vars == 1;
        for (int64_t rec = 0; rec < (v->is_record ? a->numrecs : 1); rec++)
            if (cdf_record_offset(a, v, rec) != cdf_record_offset(b, &b->vars[i], rec))
                sum += alone ? bytes_of(v) : v->size;
    }
    return sum;
}

/* Applies all moves to the file and returns their number. */
static int play(const struct cdf_header *before, const struct cdf_header *after,
                unsigned char *file)
{
    struct cdf_move_state state = {0};
    struct cdf_move move;
    int64_t moved = 0, last = INT64_MAX;
    int steps = 0;
    while (cdf_next_move(before, after, &state, &move)) {
        assert_true(move.to > move.from && move.length > 0);
        assert_true(move.from + move.length <= last); /* from the end to the beginning */
        last = move.from;
        memmove(file + move.to, file + move.from, (size_t)move.length);
        moved += move.length;
        steps++;
    }
    assert_false(cdf_next_move(before, after, &state, &move));
    assert_int_equal(bytes_to_move(before, after), moved);
    return steps;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Checks that the sequence of moves can be resumed at any point, even within a move, and
 * then continues as usual. */
static void check_places(const struct cdf_header *before, const struct cdf_header *after)
{
    struct cdf_move_state state = {0}, there;
    struct cdf_move move, found;
    int64_t place = 0, total = cdf_move_total(before, after);
    while (cdf_next_move(before, after, &state, &move)) {
        int64_t into = random_of(0, (int)(move.length < 1000 ? move.length : 1000) - 1);
        assert_true(cdf_seek_move(before, after, place + into, &there, &found));
        assert_int_equal(move.from + move.length - into, found.from + found.length);
        assert_int_equal(move.to + move.length - into, found.to + found.length);
        assert_true(found.from >= move.from);
        if (!cdf_next_move(before, after, &there, &found)) found.from = 0;
        assert_true(found.from < move.from + move.length - into);
        place += move.length;
    }
    assert_int_equal(place, total);
    assert_false(cdf_seek_move(before, after, total, &there, &found));
}

/* Overwrites the values of variables [first, end) with `byte`. If `new` is set, skips
 * variables that are not filled. */
static void overwrite(const struct cdf_header *h, int first, int end, bool new,
                      unsigned char *file, int byte)
{
    for (int i = first; i < end; i++)
        for (int64_t rec = 0; rec < (h->vars[i].is_record ? h->numrecs : 1); rec++)
            if (!new || h->vars[i].fill)
                memset(file + cdf_record_offset(h, &h->vars[i], rec), byte,
                       (size_t)bytes_of(&h->vars[i]));
}

/* Zeroes all vacated bytes, in portions of random length, as if several processes shared
 * the work. */
static void vacate(const struct cdf_header *before, const struct cdf_header *after,
                   unsigned char *file)
{
    struct cdf_gap v;
    assert_int_equal(NC_NOERR, cdf_find_gap(&v, before, after));
    for (int64_t at = 0; at < v.total;) {
        struct cdf_extent x = cdf_gap_extent_at(&v, at);
        assert_true(x.length > 0 && x.length <= v.total - at);
        assert_true(x.offset + x.length <= cdf_file_size(before));
        int64_t n = random_of(0, 2) == 0 ? random_of(1, x.length) : x.length;
        memset(file + x.offset, 0, (size_t)n);
        at += n;
    }
    cdf_free_gap(&v);
}

/* Checks that after the header, the file contains only old values and fill values. No
 * other bytes may remain in new variables or between variables. */
static void check_rest(const struct cdf_header *after, int nold, unsigned char *file)
{
    overwrite(after, 0, nold, false, file, 0);
    for (int i = nold; i < after->nvars; i++)
        for (int64_t rec = 0; rec < (after->vars[i].is_record ? after->numrecs : 1);
             rec++) {
            unsigned char *place = file + cdf_record_offset(after, &after->vars[i], rec);
            for (int64_t at = 0; at < bytes_of(&after->vars[i]); at++)
                assert_int_equal(after->vars[i].fill ? FILLED : 0, place[at]);
        }
    overwrite(after, nold, after->nvars, true, file, 0);
    for (int64_t at = after->size; at < cdf_file_size(after); at++)
        if (file[at] != 0) fail_msg("byte %lld is %d", (long long)at, file[at]);
}

static int move_all(const struct cdf_header *before, const struct cdf_header *after)
{
    size_t size = (size_t)larger(cdf_file_size(before), cdf_file_size(after)) + 64;
    unsigned char *file = calloc(1, size);
    assert_non_null(file);
    memset(file, HEADER, (size_t)before->size);
    write_all(before, file);
    int steps = play(before, after, file);
    check_places(before, after);
    overwrite(after, before->nvars, after->nvars, true, file, FILLED);
    vacate(before, after, file);
    check_all(after, before->nvars, file);
    check_rest(after, before->nvars, file);
    free(file);
    return steps;
}

static void any_redef_keeps_every_value(void **state)
{
    (void)state;
    const int formats[] = {1, 2, 5};
    int moving = 0;
    for (int i = 0; i < 4000; i++) {
        struct cdf_header before, after;
        random_header(&before, formats[i % 3]);
        assert_int_equal(NC_NOERR, cdf_copy(&after, &before));
        random_definitions(&after, 2, random_of(0, 3), random_of(0, 3));
        struct cdf_padding room = {.header_minfree = random_of(0, 99),
                                   .fixed_align = 4 << random_of(0, 6),
                                   .fixed_minfree = random_of(0, 99),
                                   .record_align = 4 << random_of(0, 6)};
        for (int id = before.nvars; id < after.nvars; id++)
            after.vars[id].fill = random_of(0, 1) == 0;
        assert_int_equal(NC_NOERR, cdf_layout(&after, &before, &room));
        moving += move_all(&before, &after) > 0;
        cdf_free(&before);
        cdf_free(&after);
    }
    assert_true(moving > 500);
}

/* Defines time (unlimited) and x, `nfixed` variables with dimension x, and `nrecord`
 * variables with dimensions (time, x). */
static void define(struct cdf_header *h, int nfixed, int nrecord, int type)
{
    const int ids[] = {0, 1};
    char name[] = "a";
    int id;
    cdf_init(h, 1);
    assert_int_equal(NC_NOERR, cdf_def_dim(h, "time", 0, &id));
    assert_int_equal(NC_NOERR, cdf_def_dim(h, "x", 3, &id));
    for (int i = 0; i < nfixed + nrecord; i++, name[0]++) {
        bool record = i >= nfixed;
        assert_int_equal(NC_NOERR,
                         cdf_def_var(h, name, type, 1 + record, ids + !record, &id));
    }
    assert_int_equal(NC_NOERR, cdf_layout(h, NULL, &plain_room));
    h->numrecs = 50;
}

static void lengthen_header(struct cdf_header *h)
{
    void *values;
    assert_int_equal(NC_NOERR, cdf_put_att(h, NC_GLOBAL, "more", NC_INT, 9, &values));
    memset(values, 0, 36);
}

static void add_record_var(struct cdf_header *h)
{
    const int ids[] = {0, 1};
    int id;
    assert_int_equal(NC_NOERR, cdf_def_var(h, "new", NC_BYTE, 2, ids, &id));
}

static int steps_after(int nfixed, int nrecord, int type,
                       void (*change)(struct cdf_header *h))
{
    struct cdf_header before, after;
    define(&before, nfixed, nrecord, type);
    assert_int_equal(NC_NOERR, cdf_copy(&after, &before));
    change(&after);
    assert_int_equal(NC_NOERR, cdf_layout(&after, &before, &plain_room));
    int steps = move_all(&before, &after);
    cdf_free(&before);
    cdf_free(&after);
    return steps;
}

static void variables_with_equal_distance_move_in_one_step(void **state)
{
    (void)state;
    assert_int_equal(1, steps_after(5, 5, NC_INT, lengthen_header));
    assert_int_equal(1, steps_after(5, 0, NC_INT, lengthen_header));
    assert_int_equal(1, steps_after(0, 5, NC_INT, lengthen_header));
    assert_int_equal(1, steps_after(3, 1, NC_BYTE, lengthen_header));
}

static void a_new_record_variable_moves_each_record(void **state)
{
    (void)state;
    /* The header grows as well. Record 0 moves together with the fixed-size variables. */
    assert_int_equal(50, steps_after(5, 5, NC_INT, add_record_var));
    /* A single record variable is not padded. It becomes padded when another one is
     * added. */
    assert_int_equal(50, steps_after(0, 1, NC_BYTE, add_record_var));
}

static void records_move_even_if_their_section_does_not(void **state)
{
    (void)state;
    struct cdf_header before, after;
    struct cdf_padding roomy = {
        .header_minfree = 1000, .fixed_align = 4, .record_align = 4};
    define(&before, 2, 2, NC_SHORT);
    assert_int_equal(NC_NOERR, cdf_layout(&before, NULL, &roomy));
    assert_int_equal(NC_NOERR, cdf_copy(&after, &before));
    add_record_var(&after);
    assert_int_equal(NC_NOERR, cdf_layout(&after, &before, &plain_room));
    assert_int_equal(before.begin_record, after.begin_record);
    assert_int_equal(49, move_all(&before, &after)); /* one per record, except record 0 */
    cdf_free(&before);
    cdf_free(&after);
}

static void nothing_moves_without_need(void **state)
{
    (void)state;
    struct cdf_header before, after;
    define(&before, 2, 2, NC_SHORT);
    assert_int_equal(NC_NOERR, cdf_copy(&after, &before));
    assert_int_equal(0, move_all(&before, &after));
    before.numrecs = 0;
    after.numrecs = 0;
    add_record_var(&after);
    lengthen_header(&after);
    assert_int_equal(NC_NOERR, cdf_layout(&after, &before, &plain_room));
    assert_int_equal(1, move_all(&before, &after)); /* the fixed-size section only */
    cdf_free(&before);
    cdf_free(&after);
}

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_redef_keeps_every_value),
        cmocka_unit_test(variables_with_equal_distance_move_in_one_step),
        cmocka_unit_test(a_new_record_variable_moves_each_record),
        cmocka_unit_test(records_move_even_if_their_section_does_not),
        cmocka_unit_test(nothing_moves_without_need),
    };
    return cmocka_run_group_tests_name("cdf_move", tests, NULL, NULL);
}
