/* Tests the comparison of headers. Each kind of difference must have its own code, and
 * the message must name the objects that differ. */
#include "unit.h"

#include "cdf_random.h"

static struct cdf_header mine, theirs;

static void put(struct cdf_header *h, int varid, const char *name, int type, int64_t n,
                const void *bytes)
{
    void *values;
    assert_int_equal(NC_NOERR, cdf_put_att(h, varid, name, type, n, &values));
    memcpy(values, bytes, (size_t)(n * cdf_type_size(type)));
}

static int define(struct cdf_header *h)
{
    int id, ids[] = {0, 1};
    cdf_init(h, 5);
    assert_int_equal(NC_NOERR, cdf_def_dim(h, "time", 0, &id));
    assert_int_equal(NC_NOERR, cdf_def_dim(h, "lat", 180, &id));
    assert_int_equal(NC_NOERR, cdf_def_var(h, "v", NC_INT, 2, ids, &id));
    put(h, NC_GLOBAL, "title", NC_CHAR, 4, "same");
    put(h, 0, "range", NC_INT, 2, "\0\0\0\1\0\0\0\2");
    put(h, 0, "_FillValue", NC_INT, 1, "\0\0\0\7");
    return cdf_layout(h, NULL, &plain_room);
}

static int start(void **state)
{
    (void)state;
    return define(&mine) != NC_NOERR || define(&theirs) != NC_NOERR ? -1 : 0;
}

static int stop(void **state)
{
    (void)state;
    cdf_free(&mine);
    cdf_free(&theirs);
    return 0;
}

static void told(int code, const char *sentence)
{
    struct cdf_difference d;
    assert_int_equal(code, cdf_compare(&mine, &theirs, &d));
    assert_string_equal(sentence, d.text);
}

/* Checks how many attributes differ, and the code of the first difference. */
static void noted(int64_t atts, int code, const char *sentence)
{
    struct cdf_difference d;
    assert_int_equal(NC_NOERR, cdf_compare(&mine, &theirs, &d));
    assert_int_equal(atts, d.atts);
    assert_int_equal(code, d.att_code);
    assert_string_equal(sentence, d.text);
}

static void equal_headers_have_no_difference(void **state)
{
    (void)state;
    told(NC_NOERR, "");
    theirs.numrecs = 7;
    theirs.vars[0].fill = true;
    told(NC_NOERR, "");
}

static void formats(void **state)
{
    (void)state;
    theirs.format = 2;
    told(NC_EMULTIDEFINE_CMODE, "the file format is CDF-5 here, but CDF-2 on process 0");
}

static void dimensions(void **state)
{
    (void)state;
    int id;
    theirs.dims[1].length = 181;
    told(NC_EMULTIDEFINE_DIM_SIZE,
         "dimension 'lat' has length 180 here, but 181 on process 0");
    assert_int_equal(NC_NOERR, cdf_rename_dim(&theirs, 1, "lon"));
    told(NC_EMULTIDEFINE_DIM_NAME, "dimension 1 is 'lat' here, but 'lon' on process 0");
    assert_int_equal(NC_NOERR, cdf_def_dim(&theirs, "x", 1, &id));
    told(NC_EMULTIDEFINE_DIM_NUM, "there are 2 dimensions here, but 3 on process 0");
}

static void variables(void **state)
{
    (void)state;
    int id;
    theirs.vars[0].begin += 4;
    told(NC_EMULTIDEFINE_VAR_BEGIN,
         "variable 'v' starts at byte 260 here, but at 264 on process 0");
    ((int *)theirs.vars[0].dimids)[1] = 0;
    told(NC_EMULTIDEFINE_VAR_DIMIDS,
         "variable 'v' has dimension 'lat' here, but 'time' on process 0");
    theirs.vars[0].ndims = 1;
    told(NC_EMULTIDEFINE_VAR_NDIMS,
         "variable 'v' has 2 dimensions here, but 1 on process 0");
    theirs.vars[0].type = NC_FLOAT;
    told(NC_EMULTIDEFINE_VAR_TYPE, "variable 'v' has type 4 here, but 5 on process 0");
    assert_int_equal(NC_NOERR, cdf_rename_var(&theirs, 0, "w"));
    told(NC_EMULTIDEFINE_VAR_NAME, "variable 0 is 'v' here, but 'w' on process 0");
    assert_int_equal(NC_NOERR, cdf_def_var(&theirs, "x", NC_INT, 0, NULL, &id));
    told(NC_EMULTIDEFINE_VAR_NUM, "there are 1 variables here, but 2 on process 0");
}

static void attributes(void **state)
{
    (void)state;
    put(&theirs, 0, "_FillValue", NC_INT, 1, "\xff\xff\xff\xff");
    noted(
        1, NC_EMULTIDEFINE_VAR_FILL_VALUE,
        "attribute '_FillValue' of variable 'v' differs in element 0: 7 here, but -1 on "
        "process 0");
    put(&theirs, 0, "_FillValue", NC_INT, 1, "\0\0\0\7");
    put(&theirs, 0, "range", NC_INT, 2, "\0\0\0\1\0\0\1\0");
    noted(1, NC_EMULTIDEFINE_ATTR_VAL,
          "attribute 'range' of variable 'v' differs in element 1: 2 here, but 256 on "
          "process 0");
    put(&theirs, 0, "range", NC_INT, 1, "\0\0\0\1");
    noted(1, NC_EMULTIDEFINE_ATTR_LEN,
          "attribute 'range' of variable 'v' has length 2 here, but 1 on process 0");
    put(&theirs, 0, "range", NC_FLOAT, 1, "\0\0\0\1");
    noted(1, NC_EMULTIDEFINE_ATTR_TYPE,
          "attribute 'range' of variable 'v' has type 4 here, but 5 on process 0");
    put(&theirs, NC_GLOBAL, "title", NC_CHAR, 4, "diff");
    noted(
        2, NC_EMULTIDEFINE_ATTR_VAL,
        "attribute 'title' of the dataset differs in element 0: 'same' here, but 'diff' "
        "on process 0; attribute 'range' of variable 'v' has type 4 here, but 5 on "
        "process 0");
    /* a difference that is an error takes precedence over one that is not */
    assert_int_equal(NC_NOERR, cdf_rename_att(&theirs, 0, "range", "r"));
    told(NC_EMULTIDEFINE_ATTR_NAME,
         "attribute 0 of variable 'v' is 'range' here, but 'r' on process 0");
    put(&theirs, 0, "more", NC_INT, 0, "");
    told(NC_EMULTIDEFINE_ATTR_NUM,
         "variable 'v' has 2 attributes here, but 3 on process 0");
}

/* Every difference must be counted, and the text must name as many of them as fit. */
static void many_attributes(void **state)
{
    (void)state;
    enum { MANY = 50 };
    struct cdf_difference d;
    for (int i = 0; i < MANY; i++) {
        char name[8];
        snprintf(name, sizeof name, "a%d", i);
        put(&mine, NC_GLOBAL, name, NC_CHAR, 1, "x");
        put(&theirs, NC_GLOBAL, name, NC_CHAR, 2, "yz");
    }
    assert_int_equal(NC_NOERR, cdf_layout(&theirs, NULL, &plain_room));
    assert_int_equal(NC_NOERR, cdf_compare(&mine, &theirs, &d));
    assert_int_equal(MANY, d.atts);
    assert_non_null(strstr(d.text, "; attribute 'a1' of the dataset has length 1 here"));
    assert_string_equal("process 0", d.text + strlen(d.text) - strlen("process 0"));
}

/* This header's attributes must be replaced with those of the other header, whatever
 * their sizes. */
static void attributes_are_adopted(void **state)
{
    (void)state;
    struct cdf_difference d;
    put(&theirs, NC_GLOBAL, "title", NC_CHAR, 11, "a long text");
    put(&theirs, 0, "range", NC_DOUBLE, 1, "\0\0\0\0\0\0\0\0");
    put(&theirs, 0, "_FillValue", NC_INT, 1, "\0\0\0\1");
    assert_int_equal(NC_NOERR, cdf_replace_atts(&mine, &theirs));
    assert_int_equal(NC_NOERR, cdf_compare(&mine, &theirs, &d));
    assert_int_equal(0, d.atts);
    assert_int_equal(cdf_encoded_size(&theirs), cdf_encoded_size(&mine));
}

/* Values of each type must be printed correctly. */
static void values_are_shown_in_their_type(void **state)
{
    (void)state;
    const struct {
        int type;
        const char *a, *b, *words;
    } rows[] = {
        {NC_BYTE, "\xff", "\1", "-1 here, but 1 on"},
        {NC_UBYTE, "\xff", "\1", "255 here, but 1 on"},
        {NC_SHORT, "\xff\xfe", "\1\0", "-2 here, but 256 on"},
        {NC_USHORT, "\xff\xfe", "\1\0", "65534 here, but 256 on"},
        {NC_UINT, "\xff\xff\xff\xff", "\0\0\0\1", "4294967295 here, but 1 on"},
        {NC_FLOAT, "\x3f\x80\0\0", "\xbf\xc0\0\0", "1 here, but -1.5 on"},
        {NC_DOUBLE, "\x3f\xf0\0\0\0\0\0\0", "\xc0\0\0\0\0\0\0\0", "1 here, but -2 on"},
        {NC_INT64, "\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\1",
         "-1 here, but 1 on"},
        {NC_UINT64, "\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\1",
         "18446744073709551615 here, but 1 on"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cdf_difference d;
        put(&mine, NC_GLOBAL, "a", rows[i].type, 1, rows[i].a);
        put(&theirs, NC_GLOBAL, "a", rows[i].type, 1, rows[i].b);
        assert_int_equal(NC_NOERR, cdf_compare(&mine, &theirs, &d));
        assert_int_equal(NC_EMULTIDEFINE_ATTR_VAL, d.att_code);
        assert_non_null(strstr(d.text, rows[i].words));
    }
}

#define with_headers(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_headers(equal_headers_have_no_difference),
        with_headers(formats),
        with_headers(dimensions),
        with_headers(variables),
        with_headers(attributes),
        with_headers(many_attributes),
        with_headers(attributes_are_adopted),
        with_headers(values_are_shown_in_their_type),
    };
    return cmocka_run_group_tests_name("cdf_compare", tests, NULL, NULL);
}
