/* Tests definitions in memory: names, dimensions, variables, fill values, and
 * copies of headers. */
#include "cdf_random.h"
#include "unit.h"
#include "base_error.h"
#include "base_mem.h"

static struct cdf_header h;

static int start(void **state)
{
    (void)state;
    cdf_init(&h, 5);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cdf_free(&h);
    return base_mem_in_use() == 0 ? 0 : -1;
}

static int def_dim(const char *name, int64_t length)
{
    int id = -1;
    int err = cdf_def_dim(&h, name, length, &id);
    if (err == NC_NOERR) assert_int_equal(h.ndims - 1, id);
    return err;
}

static int def_var(const char *name, int type, int ndims, const int *dimids)
{
    int id = -1;
    int err = cdf_def_var(&h, name, type, ndims, dimids, &id);
    if (err == NC_NOERR) assert_int_equal(h.nvars - 1, id);
    return err;
}

/* ---- names ---- */

static void good_names_are_kept(void **state)
{
    (void)state;
    const char *const good[] = {"a",
                                "Z9",
                                "_x",
                                "0day",
                                "a b",
                                "a+b@c.d:e-f",
                                "a!\"#$",
                                "\xc3\xa9",
                                "\xe6\xb8\xa9\xe5\xba\xa6",
                                "\xf0\x9f\x98\x80",
                                "a\\b",
                                "\xed\x9f\xbf",
                                "\xf4\x8f\xbf\xbf"};
    char norm[NC_MAX_NAME + 1];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(NC_NOERR, cdf_check_name(good[i], norm));
        assert_string_equal(good[i], norm);
    }
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               "/",
                               "a/b",
                               " a",
                               "a ",
                               "-a",
                               "+",
                               ".x",
                               "a\n",
                               "a\tb",
                               "a\x7f",
                               "\x01",
                               "@",
                               "\xff",
                               "a\x80",
                               "\xc3",
                               "\xc0\xaf",
                               "\xe0\x80\x80",
                               "\xed\xa0\x80",
                               "\xf4\x90\x80\x80",
                               "\xf5\x80\x80\x80",
                               "a\xe6\xb8",
                               "\xf0\x80\x80\x80"};
    char norm[NC_MAX_NAME + 1];
    assert_int_equal(NC_EBADNAME, cdf_check_name(NULL, norm));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(NC_EBADNAME, cdf_check_name(bad[i], norm));
}

static void names_have_a_longest(void **state)
{
    (void)state;
    char name[NC_MAX_NAME + 2], norm[NC_MAX_NAME + 1];
    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME] = '\0';
    assert_int_equal(NC_NOERR, cdf_check_name(name, norm));
    assert_int_equal(NC_NOERR, def_dim(name, 1));
    name[NC_MAX_NAME] = 'n';
    name[NC_MAX_NAME + 1] = '\0';
    assert_int_equal(NC_EMAXNAME, cdf_check_name(name, norm));
    assert_int_equal(NC_EMAXNAME, def_dim(name, 1));
}

static void names_are_composed(void **state)
{
    (void)state;
    char norm[NC_MAX_NAME + 1];
    int id;
    assert_int_equal(NC_NOERR, cdf_check_name("e\xcc\x81t", norm));
    if (strcmp(norm, "e\xcc\x81t") == 0) skip(); /* built without utf8proc */
    assert_string_equal("\xc3\xa9t", norm);
    assert_int_equal(NC_NOERR, def_dim("e\xcc\x81t", 1));
    assert_int_equal(NC_ENAMEINUSE, def_dim("\xc3\xa9t", 1));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "e\xcc\x81t", &id));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "\xc3\xa9t", &id));

    /* The composed form of this name is longer: three bytes become six. */
    char name[NC_MAX_NAME + 1] = "";
    while (strlen(name) + 3 <= NC_MAX_NAME)
        strcat(name, "\xe0\xa5\x98");
    assert_int_equal(NC_EMAXNAME, cdf_check_name(name, norm));
}

/* ---- dimensions ---- */

static void dimensions_are_checked(void **state)
{
    (void)state;
    int id;
    assert_int_equal(NC_NOERR, def_dim("x", 10));
    assert_int_equal(NC_ENAMEINUSE, def_dim("x", 10));
    assert_int_equal(NC_EBADNAME, def_dim("/", 10));
    assert_int_equal(NC_EDIMSIZE, def_dim("y", -1));
    assert_int_equal(NC_NOERR, def_dim("t", NC_UNLIMITED));
    assert_int_equal(1, h.unlimited);
    assert_int_equal(NC_EUNLIMIT, def_dim("t2", NC_UNLIMITED));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "t", &id));
    assert_int_equal(1, id);
    assert_int_equal(NC_EBADDIM, cdf_find_dim(&h, "t2", &id));
    assert_int_equal(NC_EBADDIM, cdf_find_dim(&h, "", &id));
    assert_int_equal(NC_EBADDIM, cdf_find_dim(&h, NULL, &id));
    assert_int_equal(2, h.ndims);
}

static void dimensions_have_the_formats_limit(void **state)
{
    (void)state;
    const struct {
        int format;
        int64_t most, too_much;
    } limit[] = {{1, NC_MAX_INT, (int64_t)NC_MAX_INT + 1},
                 {2, NC_MAX_INT, (int64_t)NC_MAX_INT + 1},
                 {5, INT64_MAX, INT64_MIN}};
    for (int i = 0; i < 3; i++) {
        cdf_free(&h);
        cdf_init(&h, limit[i].format);
        assert_int_equal(NC_NOERR, def_dim("x", limit[i].most));
        assert_int_equal(NC_EDIMSIZE, def_dim("y", limit[i].too_much));
    }
}

static void names_can_be_changed(void **state)
{
    (void)state;
    int id;
    const int ids[] = {0};
    assert_int_equal(NC_NOERR, def_dim("x", 10));
    assert_int_equal(NC_NOERR, def_dim("y", 10));
    assert_int_equal(NC_NOERR, def_var("v", NC_INT, 1, ids));
    assert_int_equal(NC_EBADDIM, cdf_rename_dim(&h, 2, "z"));
    assert_int_equal(NC_EBADDIM, cdf_rename_dim(&h, -1, "z"));
    assert_int_equal(NC_ENAMEINUSE, cdf_rename_dim(&h, 0, "y"));
    assert_int_equal(NC_ENAMEINUSE, cdf_rename_dim(&h, 0, "x"));
    assert_int_equal(NC_EBADNAME, cdf_rename_dim(&h, 0, "a/b"));
    assert_int_equal(NC_NOERR, cdf_rename_dim(&h, 0, "a much longer name than before"));
    assert_int_equal(NC_EBADDIM, cdf_find_dim(&h, "x", &id));
    assert_int_equal(NC_NOERR, cdf_find_dim(&h, "a much longer name than before", &id));
    assert_int_equal(0, id);
    assert_int_equal(NC_NOERR, cdf_rename_dim(&h, 1, "x"));
    assert_int_equal(NC_ENOTVAR, cdf_rename_var(&h, 1, "w"));
    assert_int_equal(NC_NOERR, cdf_rename_var(&h, 0, "w"));
    assert_int_equal(NC_NOERR, cdf_find_var(&h, "w", &id));
    assert_int_equal(NC_ENOTVAR, cdf_find_var(&h, "v", &id));
}

static void repeated_renames_use_no_more_memory(void **state)
{
    (void)state;
    char name[NC_MAX_NAME + 1];
    int64_t before = 0;
    assert_int_equal(NC_NOERR, def_dim("x", 10));
    for (int i = 0; i < 20000; i++) {
        if (i == 1000) before = base_mem_in_use();
        sprintf(name, "n%0*d", i * 7 % 200 + 1, i);
        assert_int_equal(NC_NOERR, cdf_rename_dim(&h, 0, name));
    }
    assert_int_equal(before, base_mem_in_use());
}

/* ---- variables ---- */

static void variables_are_measured(void **state)
{
    (void)state;
    const int ids[] = {1, 0, 0};
    assert_int_equal(NC_NOERR, def_dim("x", 3));
    assert_int_equal(NC_NOERR, def_dim("t", 0));
    assert_int_equal(NC_NOERR, def_var("fixed", NC_SHORT, 1, ids + 1));
    assert_int_equal(NC_NOERR, def_var("record", NC_BYTE, 3, ids));
    assert_int_equal(NC_NOERR, def_var("scalar", NC_DOUBLE, 0, NULL));
    const struct cdf_var *v = h.vars;
    assert_false(v[0].is_record || v[2].is_record || v[0].fill);
    assert_true(v[1].is_record);
    assert_int_equal(8, v[0].size);
    assert_int_equal(3, v[0].nelems);
    assert_int_equal(12, v[1].size);
    assert_int_equal(9, v[1].nelems);
    assert_int_equal(0, v[1].shape[0]);
    assert_int_equal(3, v[1].shape[2]);
    assert_int_equal(8, v[2].size);
    assert_int_equal(1, v[2].nelems);
    assert_int_equal(-1, v[1].begin);
}

static void variables_are_checked(void **state)
{
    (void)state;
    const int ids[] = {0, 1, 2, 2, 2}, bad[] = {3}, negative[] = {-1};
    assert_int_equal(NC_NOERR, def_dim("x", 3));
    assert_int_equal(NC_NOERR, def_dim("t", 0));
    assert_int_equal(NC_NOERR, def_dim("huge", (int64_t)1 << 31));
    assert_int_equal(NC_NOERR, def_var("v", NC_INT, 1, ids));
    assert_int_equal(NC_ENAMEINUSE, def_var("v", NC_INT, 1, ids));
    assert_int_equal(NC_EBADNAME, def_var("", NC_INT, 1, ids));
    assert_int_equal(NC_EBADTYPE, def_var("w", 0, 1, ids));
    assert_int_equal(NC_EBADTYPE, def_var("w", NC_STRING, 1, ids));
    assert_int_equal(NC_EINVAL, def_var("w", NC_INT, -1, ids));
    assert_int_equal(NC_EINVAL, def_var("w", NC_INT, 1, NULL));
    assert_int_equal(NC_EBADDIM, def_var("w", NC_INT, 1, bad));
    assert_int_equal(NC_EBADDIM, def_var("w", NC_INT, 1, negative));
    assert_int_equal(NC_EUNLIMPOS, def_var("w", NC_INT, 2, ids));
    assert_int_equal(NC_EVARSIZE, def_var("w", NC_BYTE, 3, ids + 2));
    assert_int_equal(NC_EVARSIZE, def_var("w", NC_SHORT, 2, ids + 2)); /* 2^63 bytes */
    assert_int_equal(NC_NOERR, def_var("w", NC_BYTE, 2, ids + 2));
    assert_int_equal(2, h.nvars);
}

static void new_types_require_cdf5(void **state)
{
    (void)state;
    for (int type = NC_BYTE; type <= NC_UINT64; type++) {
        int old = type <= NC_DOUBLE ? NC_NOERR : NC_ESTRICTCDF2;
        assert_int_equal(old, cdf_check_type(1, type));
        assert_int_equal(old, cdf_check_type(2, type));
        assert_int_equal(NC_NOERR, cdf_check_type(5, type));
    }
    assert_int_equal(NC_EBADTYPE, cdf_check_type(1, NC_STRING));
    assert_int_equal(NC_EBADTYPE, cdf_check_type(5, 0));
    assert_int_equal(NC_EBADTYPE, cdf_check_type(5, -1));
}

static void many_variables_are_found(void **state)
{
    (void)state;
    char name[32];
    int id;
    for (int i = 0; i < 20000; i++) {
        sprintf(name, "v%d", i);
        assert_int_equal(NC_NOERR, def_var(name, NC_INT, 0, NULL));
    }
    for (int i = 0; i < 20000; i++) {
        sprintf(name, "v%d", i);
        assert_int_equal(NC_NOERR, cdf_find_var(&h, name, &id));
        assert_int_equal(i, id);
        assert_string_equal(name, h.vars[i].name);
    }
}

/* ---- fill values ---- */

static uint64_t fill_of(int varid)
{
    unsigned char bytes[8] = {0};
    uint64_t v = 0;
    cdf_fill_value(&h, varid, bytes);
    for (int i = 0; i < cdf_type_size(h.vars[varid].type); i++)
        v = v << 8 | bytes[i];
    return v;
}

static void each_type_has_its_fill_value(void **state)
{
    (void)state;
    char name[8];
    float f = NC_FILL_FLOAT;
    double d = NC_FILL_DOUBLE;
    uint32_t f_bits;
    uint64_t d_bits;
    memcpy(&f_bits, &f, 4);
    memcpy(&d_bits, &d, 8);
    const uint64_t fill[] = {[NC_BYTE] = (uint8_t)NC_FILL_BYTE,
                             [NC_CHAR] = NC_FILL_CHAR,
                             [NC_SHORT] = (uint16_t)NC_FILL_SHORT,
                             [NC_INT] = (uint32_t)NC_FILL_INT,
                             [NC_FLOAT] = f_bits,
                             [NC_DOUBLE] = d_bits,
                             [NC_UBYTE] = NC_FILL_UBYTE,
                             [NC_USHORT] = NC_FILL_USHORT,
                             [NC_UINT] = NC_FILL_UINT,
                             [NC_INT64] = (uint64_t)NC_FILL_INT64,
                             [NC_UINT64] = NC_FILL_UINT64};
    for (int type = NC_BYTE; type <= NC_UINT64; type++) {
        sprintf(name, "v%d", type);
        assert_int_equal(NC_NOERR, def_var(name, type, 0, NULL));
        assert_true(fill_of(type - 1) == fill[type]);
    }
}

static void the_fill_value_attribute_takes_precedence(void **state)
{
    (void)state;
    void *values;
    assert_int_equal(NC_NOERR, def_var("v", NC_SHORT, 0, NULL));
    assert_int_equal(NC_NOERR, cdf_put_att(&h, 0, "_FillValue", NC_SHORT, 1, &values));
    memcpy(values, "\x12\x34", 2);
    assert_int_equal(0x1234, fill_of(0));
    assert_int_equal(NC_NOERR, cdf_put_att(&h, 0, "_FillValue", NC_BYTE, 1, &values));
    assert_int_equal(0x8001, fill_of(0)); /* attribute of the wrong type is ignored */
    assert_int_equal(NC_NOERR, cdf_put_att(&h, 0, "_FillValue", NC_SHORT, 0, &values));
    assert_int_equal(0x8001, fill_of(0));
}

/* ---- copies ---- */

static void a_copy_is_the_same_and_independent(void **state)
{
    (void)state;
    const int formats[] = {1, 2, 5};
    for (int i = 0; i < 300; i++) {
        struct cdf_header a, b;
        size_t length, same;
        random_header(&a, formats[i % 3]);
        assert_int_equal(NC_NOERR, cdf_copy(&b, &a));
        assert_int_equal(0, headers_differ(&a, &b));
        unsigned char *bytes = encoded(&a, &length);
        cdf_free(&a);
        random_definitions(&b, 0, 0, 0); /* changing b must not affect a's objects */
        unsigned char *copied = encoded(&b, &same);
        assert_int_equal(length, same);
        assert_memory_equal(bytes, copied, length);
        int id = 0;
        if (b.nvars > 0) {
            assert_int_equal(NC_NOERR, cdf_find_var(&b, b.vars[b.nvars - 1].name, &id));
            assert_int_equal(b.nvars - 1, id);
        }
        assert_int_equal(NC_NOERR, cdf_def_dim(&b, "one more", 3, &id));
        free(bytes);
        free(copied);
        cdf_free(&b);
    }
}

#define with_header(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    random_start();
    const struct CMUnitTest tests[] = {
        with_header(good_names_are_kept),
        with_header(bad_names_are_refused),
        with_header(names_have_a_longest),
        with_header(names_are_composed),
        with_header(dimensions_are_checked),
        with_header(dimensions_have_the_formats_limit),
        with_header(names_can_be_changed),
        with_header(repeated_renames_use_no_more_memory),
        with_header(variables_are_measured),
        with_header(variables_are_checked),
        with_header(new_types_require_cdf5),
        with_header(many_variables_are_found),
        with_header(each_type_has_its_fill_value),
        with_header(the_fill_value_attribute_takes_precedence),
        with_header(a_copy_is_the_same_and_independent),
    };
    return cmocka_run_group_tests_name("cdf_model", tests, NULL, NULL);
}
