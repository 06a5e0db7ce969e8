/* Tests the file layout: where variables are placed in new files and after a
 * redefinition. */
#include "cdf_random.h"
#include "unit.h"
#include "base_error.h"
#include "base_mem.h"

static struct cdf_header h;
static const int time_x[] = {0, 1};

static void dim(const char *name, int64_t length)
{
    int id;
    assert_int_equal(NC_NOERR, cdf_def_dim(&h, name, length, &id));
}

/* Defines a variable with `ndims` of the dimensions (time, x), starting at index
 * `first`. */
static struct cdf_var *var(const char *name, int type, int first, int ndims)
{
    int id;
    assert_int_equal(NC_NOERR, cdf_def_var(&h, name, type, ndims, time_x + first, &id));
    return &h.vars[id];
}

/* Creates a dataset with dimensions time (unlimited) and x. */
static void start(int format, int64_t x)
{
    cdf_init(&h, format);
    dim("time", 0);
    dim("x", x);
}

static void lay_out(const struct cdf_header *before, int64_t header_minfree,
                    int64_t fixed_align, int64_t fixed_minfree, int64_t record_align)
{
    struct cdf_padding room = {.header_minfree = header_minfree,
                               .fixed_align = fixed_align,
                               .fixed_minfree = fixed_minfree,
                               .record_align = record_align};
    assert_int_equal(NC_NOERR, cdf_layout(&h, before, &room));
    assert_int_equal(cdf_encoded_size(&h), h.size);
}

static void attribute(int64_t bytes)
{
    void *values;
    assert_int_equal(NC_NOERR,
                     cdf_put_att(&h, NC_GLOBAL, "history", NC_CHAR, bytes, &values));
    memset(values, 'h', (size_t)bytes);
}

/* ---- new files ---- */

static void fixed_size_variables_come_first_in_any_order(void **state)
{
    (void)state;
    start(1, 5);
    var("r1", NC_INT, 0, 2);
    var("f1", NC_SHORT, 1, 1);
    var("r2", NC_BYTE, 0, 2);
    var("f2", NC_DOUBLE, 1, 1);
    lay_out(NULL, 0, 1, 0, 0);
    assert_int_equal(h.size, h.begin_fixed);
    assert_int_equal(h.size, h.vars[1].begin);
    assert_int_equal(h.size + 12, h.vars[3].begin);
    assert_int_equal(h.size + 52, h.begin_record);
    assert_int_equal(h.size + 52, h.vars[0].begin);
    assert_int_equal(h.size + 72, h.vars[2].begin);
    assert_int_equal(28, h.record_size);
    assert_int_equal(2, h.nrecord_vars);
    h.numrecs = 3;
    assert_int_equal(h.size + 52 + 3 * 28, cdf_file_size(&h));
    cdf_free(&h);
}

static void padding_and_alignment_are_applied(void **state)
{
    (void)state;
    start(2, 5);
    var("f", NC_SHORT, 1, 1);
    var("r", NC_SHORT, 0, 2);
    lay_out(NULL, 3000, 512, 1000, 4096);
    assert_int_equal((h.size + 3000 + 511) / 512 * 512, h.begin_fixed);
    assert_int_equal(h.begin_fixed, h.vars[0].begin);
    assert_int_equal((h.begin_fixed + 12 + 1000 + 4095) / 4096 * 4096, h.begin_record);
    assert_int_equal(h.begin_record, h.vars[1].begin);
    cdf_free(&h);
    start(2, 5);
    var("f", NC_SHORT, 1, 1);
    lay_out(NULL, 0, 6, 0, 0); /* 6 is rounded up to 8 */
    assert_int_equal(0, h.begin_fixed % 8);
    cdf_free(&h);
}

static void without_fixed_variables_records_follow_the_header(void **state)
{
    (void)state;
    start(5, 5);
    var("r", NC_SHORT, 0, 2);
    lay_out(NULL, 100, 64, 0, 1024);
    assert_int_equal(1024, h.begin_record);
    assert_int_equal(1024, h.begin_fixed);
    cdf_free(&h);
    start(5, 5);
    lay_out(NULL, 100, 64, 0, 1024);
    assert_int_equal(h.size, cdf_file_size(&h));
    cdf_free(&h);
}

static void a_record_variable_alone_is_not_padded(void **state)
{
    (void)state;
    start(1, 5);
    var("r", NC_BYTE, 0, 2);
    lay_out(NULL, 0, 4, 0, 4);
    assert_int_equal(5, h.record_size);
    assert_int_equal(8, h.vars[0].size);
    var("s", NC_BYTE, 0, 2);
    lay_out(NULL, 0, 4, 0, 4);
    assert_int_equal(16, h.record_size);
    cdf_free(&h);
}

/* ---- limits ---- */

static int try_layout(void)
{
    return cdf_layout(&h, NULL, &plain_room);
}

static void one_huge_variable_must_be_the_last(void **state)
{
    (void)state;
    const struct {
        int format, type;
        int64_t x; /* slightly too large for vsize if the variable has this type */
    } rows[] = {{1, NC_SHORT, 1 << 30}, {2, NC_INT, 1 << 30}};
    for (int i = 0; i < 2; i++) {
        start(rows[i].format, rows[i].x);
        var("small", NC_INT, 0, 0);
        var("huge", rows[i].type, 1, 1);
        assert_int_equal(NC_NOERR, try_layout());
        var("after", NC_INT, 0, 0);
        assert_int_equal(NC_EVARSIZE, try_layout());
        assert_non_null(strstr(base_error_text(NC_EVARSIZE), "'huge'"));
        cdf_free(&h);

        start(rows[i].format, rows[i].x);
        var("huge", rows[i].type, 1, 1);
        var("record", NC_INT, 0, 1);
        assert_int_equal(NC_EVARSIZE, try_layout());
        cdf_free(&h);

        start(rows[i].format, rows[i].x);
        var("record", NC_INT, 0, 1);
        var("small", NC_INT, 0, 0);
        var("huge record", rows[i].type, 0, 2);
        assert_int_equal(NC_NOERR, try_layout());
        var("record after", NC_INT, 0, 1);
        assert_int_equal(NC_EVARSIZE, try_layout());
        cdf_free(&h);
    }
    start(5, (int64_t)1 << 31);
    var("huge", NC_SHORT, 1, 1);
    var("huge too", NC_SHORT, 1, 1);
    var("record", NC_SHORT, 0, 2);
    assert_int_equal(NC_NOERR, try_layout());
    cdf_free(&h);
}

/* A new record variable makes all records longer, including the existing ones. */
static void records_end_before_2_to_63(void **state)
{
    (void)state;
    const int64_t most = (INT64_MAX - 1000) / 4;
    start(5, 1);
    var("record", NC_INT, 0, 1);
    assert_int_equal(NC_NOERR, try_layout());
    assert_in_range(cdf_max_records(&h), most, INT64_MAX / 4);
    h.numrecs = cdf_max_records(&h);
    assert_int_equal(NC_NOERR, try_layout());
    var("more", NC_INT, 0, 1);
    assert_int_equal(NC_EVARSIZE, try_layout());
    h.numrecs = most / 2;
    assert_int_equal(NC_NOERR, try_layout());
    cdf_free(&h);
    for (int format = 1; format <= 2; format++) {
        start(format, 1);
        var("record", NC_INT, 0, 1);
        assert_int_equal(NC_NOERR, try_layout());
        assert_int_equal(UINT32_MAX - 1, cdf_max_records(&h));
        cdf_free(&h);
    }
}

static void starts_have_the_formats_limit(void **state)
{
    (void)state;
    start(1, 500000000);
    var("a", NC_INT, 1, 1);
    var("b", NC_SHORT, 1, 1); /* begins at 2 GB, which is valid, and ends at 3 GB */
    assert_int_equal(NC_NOERR, try_layout());
    var("c", NC_SHORT, 1, 1);
    assert_int_equal(NC_EVARSIZE, try_layout());
    cdf_free(&h);
    start(5, (int64_t)1 << 60);
    var("a", NC_INT, 1, 1);
    assert_int_equal(NC_NOERR, try_layout());
    var("b", NC_INT, 1, 1);
    assert_int_equal(NC_EVARSIZE, try_layout());
    cdf_free(&h);
    start(5, (int64_t)1 << 60);
    var("a", NC_INT, 0, 2);
    var("b", NC_INT, 0, 2);
    assert_int_equal(NC_EVARSIZE, try_layout());
    cdf_free(&h);
    start(5, 10);
    var("a", NC_INT, 1, 1);
    struct cdf_padding far = {
        .header_minfree = INT64_MAX, .fixed_align = 4, .record_align = 4};
    assert_int_equal(NC_EVARSIZE, cdf_layout(&h, NULL, &far));
    struct cdf_padding coarse = {.fixed_align = INT64_MAX, .record_align = 4};
    assert_int_equal(NC_EVARSIZE, cdf_layout(&h, NULL, &coarse));
    cdf_free(&h);
}

/* ---- layouts after a redefinition ---- */

/* Creates a dataset with variables f and r, and with `room` free bytes after the header.
 * Stores a copy of the header in `before`. */
static void reopened(struct cdf_header *before, int64_t room, int64_t gap)
{
    start(1, 5);
    var("f", NC_INT, 1, 1);
    var("r", NC_INT, 0, 2);
    lay_out(NULL, room, 4, gap, 4);
    h.numrecs = 2;
    assert_int_equal(NC_NOERR, cdf_copy(before, &h));
}

static void a_header_that_fits_moves_nothing(void **state)
{
    (void)state;
    struct cdf_header before;
    reopened(&before, 200, 0);
    attribute(160);
    lay_out(&before, CDF_DEFAULT_PADDING, 4096, 0, 65536);
    assert_true(h.size > before.size);
    assert_int_equal(before.begin_fixed, h.begin_fixed);
    assert_int_equal(before.vars[0].begin, h.vars[0].begin);
    assert_int_equal(before.begin_record, h.begin_record);
    assert_int_equal(before.vars[1].begin, h.vars[1].begin);
    cdf_free(&before);
    cdf_free(&h);
}

static void a_header_that_does_not_fit_moves_all(void **state)
{
    (void)state;
    struct cdf_header before;
    reopened(&before, 0, 0);
    attribute(1);
    lay_out(&before, 100, 256, 50, 512);
    assert_int_equal((h.size + 100 + 255) / 256 * 256, h.begin_fixed);
    assert_int_equal(h.begin_fixed, h.vars[0].begin);
    assert_int_equal((h.begin_fixed + 20 + 50 + 511) / 512 * 512, h.begin_record);
    cdf_free(&before);
    cdf_free(&h);
}

static void requested_padding_moves_variables_that_fit(void **state)
{
    (void)state;
    struct cdf_header before;
    reopened(&before, 200, 0);
    lay_out(&before, 200, 4, 0, 4);
    assert_int_equal(before.begin_fixed, h.begin_fixed);
    lay_out(&before, 204, 4, 0, 4);
    assert_int_equal(before.begin_fixed + 4, h.begin_fixed);
    assert_int_equal(before.begin_record + 4, h.begin_record);
    lay_out(&before, 0, 4, 12, 4);
    assert_int_equal(before.begin_fixed, h.begin_fixed);
    assert_int_equal(before.begin_record + 12, h.begin_record);
    struct cdf_padding strict = {.fixed_align = 4096, .fixed_strict = true};
    assert_int_equal(NC_NOERR, cdf_layout(&h, &before, &strict));
    assert_int_equal(4096, h.begin_fixed);
    assert_int_equal(4096 + 20, h.begin_record);
    strict = (struct cdf_padding){.record_align = 65536, .record_strict = true};
    assert_int_equal(NC_NOERR, cdf_layout(&h, &before, &strict));
    assert_int_equal(before.begin_fixed, h.begin_fixed);
    assert_int_equal(65536, h.begin_record);
    cdf_free(&before);
    cdf_free(&h);
}

static void fixed_variables_use_the_gap_before_the_records(void **state)
{
    (void)state;
    struct cdf_header before;
    reopened(&before, 500, 40);
    var("new", NC_INT, 1, 1);
    lay_out(&before, 0, 4, 0, 4);
    assert_int_equal(h.vars[0].begin + 20, h.vars[2].begin);
    assert_int_equal(before.begin_record, h.begin_record);
    var("newer", NC_DOUBLE, 1, 1);
    lay_out(&before, 0, 4, 0, 4);
    assert_int_equal(h.vars[2].begin + 20, h.vars[3].begin);
    assert_int_equal(h.vars[3].begin + 40, h.begin_record);
    cdf_free(&before);
    cdf_free(&h);
}

static void a_deleted_attribute_moves_nothing(void **state)
{
    (void)state;
    struct cdf_header before;
    start(1, 5);
    attribute(1000);
    var("f", NC_INT, 1, 1);
    lay_out(NULL, 0, 4, 0, 4);
    assert_int_equal(NC_NOERR, cdf_copy(&before, &h));
    assert_int_equal(NC_NOERR, cdf_del_att(&h, NC_GLOBAL, "history"));
    lay_out(&before, 0, 4, 0, 4);
    assert_int_equal(before.vars[0].begin, h.vars[0].begin);
    assert_true(h.size < before.size);
    cdf_free(&before);
    cdf_free(&h);
}

/* A new variable must not be placed where the longer header was, because elements that
 * are never written would contain remains of that header. */
static void no_variable_overlaps_the_old_header(void **state)
{
    (void)state;
    struct cdf_header before;
    start(1, 5);
    attribute(1000);
    lay_out(NULL, 0, 4, 0, 4);
    assert_int_equal(NC_NOERR, cdf_copy(&before, &h));
    assert_int_equal(NC_NOERR, cdf_del_att(&h, NC_GLOBAL, "history"));
    var("f", NC_INT, 1, 1);
    lay_out(&before, 0, 512, 0, 4);
    assert_int_equal((before.size + 511) / 512 * 512, h.vars[0].begin);
    cdf_free(&before);
    cdf_free(&h);
}

/* ---- random redefinitions ---- */

static int64_t end_of_fixed(const struct cdf_header *a, int nvars)
{
    int64_t end = a->begin_fixed;
    for (int i = 0; i < nvars; i++)
        if (!a->vars[i].is_record) end = a->vars[i].begin + a->vars[i].size;
    return end;
}

static void check_redef(const struct cdf_header *before, const struct cdf_header *after,
                        const struct cdf_padding *room)
{
    const int64_t minfree = room->header_minfree > 0 ? room->header_minfree : 0;
    const bool fits =
        after->size + minfree <= before->begin_fixed &&
        (!room->fixed_strict || before->begin_fixed % room->fixed_align == 0);
    const int64_t end = end_of_fixed(after, after->nvars);
    for (int i = 0; i < before->nvars; i++)
        assert_true(after->vars[i].begin >= before->vars[i].begin);
    for (int i = 0; i < before->nvars && fits; i++)
        if (!before->vars[i].is_record)
            assert_int_equal(before->vars[i].begin, after->vars[i].begin);
    if (!fits && after->nrecord_vars < after->nvars) {
        assert_int_equal(0, after->begin_fixed % room->fixed_align);
        assert_true(after->begin_fixed >= after->size + room->header_minfree);
    }
    if (after->nrecord_vars == 0) return;
    const bool alone = after->nrecord_vars == after->nvars;
    const int64_t anew = (after->size + minfree + room->fixed_align - 1) /
                         room->fixed_align * room->fixed_align;
    const int64_t first = room->fixed_strict ? anew : after->size + minfree;
    const int64_t least = (alone ? first : end) + room->fixed_minfree;
    assert_true(after->begin_record >= least);
    if (before->nrecord_vars > 0 && before->begin_record >= least &&
        (!room->record_strict || before->begin_record % room->record_align == 0))
        assert_int_equal(before->begin_record, after->begin_record);
    else
        assert_int_equal(0, after->begin_record % room->record_align);
}

static void random_redefinitions_give_valid_layouts(void **state)
{
    (void)state;
    const int formats[] = {1, 2, 5};
    for (int i = 0; i < 3000; i++) {
        struct cdf_header before, back;
        size_t length;
        random_header(&before, formats[i % 3]);
        assert_int_equal(NC_NOERR, cdf_copy(&h, &before));
        assert_int_equal(NC_NOERR, cdf_layout(&h, &before, &plain_room));
        assert_int_equal(0, headers_differ(&before, &h)); /* old variables do not move */

        random_definitions(&h, 2, random_of(0, 1) ? 3 : 0, random_of(0, 1) ? 3 : 0);
        struct cdf_padding room = {
            .header_minfree = random_of(CDF_DEFAULT_PADDING, 99),
            .fixed_align = 4 << random_of(0, 6),
            .fixed_minfree = random_of(0, 1) * random_of(0, 99),
            .record_align = 4 << random_of(0, 6),
            .fixed_strict = random_of(0, 1),
            .record_strict = random_of(0, 1),
        };
        assert_int_equal(NC_NOERR, cdf_layout(&h, &before, &room));
        if (before.nvars > 0) check_redef(&before, &h, &room);

        /* Decoding the header checks that offsets are in order and that variables do not
         * overlap. */
        unsigned char *bytes = encoded(&h, &length);
        assert_int_equal(NC_NOERR, cdf_decode(&back, bytes, length, INT64_MAX, NULL));
        assert_int_equal(0, headers_differ(&h, &back));
        free(bytes);
        cdf_free(&back);
        cdf_free(&before);
        cdf_free(&h);
    }
}

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_size_variables_come_first_in_any_order),
        cmocka_unit_test(padding_and_alignment_are_applied),
        cmocka_unit_test(without_fixed_variables_records_follow_the_header),
        cmocka_unit_test(a_record_variable_alone_is_not_padded),
        cmocka_unit_test(one_huge_variable_must_be_the_last),
        cmocka_unit_test(records_end_before_2_to_63),
        cmocka_unit_test(starts_have_the_formats_limit),
        cmocka_unit_test(a_header_that_fits_moves_nothing),
        cmocka_unit_test(a_header_that_does_not_fit_moves_all),
        cmocka_unit_test(requested_padding_moves_variables_that_fit),
        cmocka_unit_test(fixed_variables_use_the_gap_before_the_records),
        cmocka_unit_test(a_deleted_attribute_moves_nothing),
        cmocka_unit_test(no_variable_overlaps_the_old_header),
        cmocka_unit_test(random_redefinitions_give_valid_layouts),
    };
    return cmocka_run_group_tests_name("cdf_layout", tests, NULL, NULL);
}
