/* Comparing: every kind of difference has its own code and names what differs. */
#include <stdio.h>

#include "cdf_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* Attributes that differ in what they say: how many, the first one's code. */
static void noted(int64_t atts, int code, const char *sentence)
{
    struct cdf_difference d;
    assert_int_equal(NC_NOERR, cdf_compare(&mine, &theirs, &d));
    assert_int_equal(atts, d.atts);
    assert_int_equal(code, d.att_code);
    assert_string_equal(sentence, d.text);
}

static void equal_ones_are_equal(void **state)
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
    told(NC_EMULTIDEFINE_CMODE, "the file's format is CDF-5 here, CDF-2 on process 0");
}

static void dimensions(void **state)
{
    (void)state;
    int id;
    theirs.dims[1].length = 181;
    told(NC_EMULTIDEFINE_DIM_SIZE,
         "dimension 'lat' has length 180 here, 181 on process 0");
    assert_int_equal(NC_NOERR, cdf_rename_dim(&theirs, 1, "lon"));
    told(NC_EMULTIDEFINE_DIM_NAME, "dimension 1 is 'lat' here, 'lon' on process 0");
    assert_int_equal(NC_NOERR, cdf_def_dim(&theirs, "x", 1, &id));
    told(NC_EMULTIDEFINE_DIM_NUM, "there are 2 dimensions here, 3 on process 0");
}

static void variables(void **state)
{
    (void)state;
    int id;
    theirs.vars[0].begin += 4;
    told(NC_EMULTIDEFINE_VAR_BEGIN,
         "variable 'v' starts at byte 260 here, 264 on process 0");
    ((int *)theirs.vars[0].dimids)[1] = 0;
    told(NC_EMULTIDEFINE_VAR_DIMIDS,
         "dimension 1 of variable 'v' has id 1 here, 0 on process 0");
    theirs.vars[0].ndims = 1;
    told(NC_EMULTIDEFINE_VAR_NDIMS, "variable 'v' has 2 dimensions here, 1 on process 0");
    theirs.vars[0].type = NC_FLOAT;
    told(NC_EMULTIDEFINE_VAR_TYPE, "variable 'v' has type 4 here, 5 on process 0");
    assert_int_equal(NC_NOERR, cdf_rename_var(&theirs, 0, "w"));
    told(NC_EMULTIDEFINE_VAR_NAME, "variable 0 is 'v' here, 'w' on process 0");
    assert_int_equal(NC_NOERR, cdf_def_var(&theirs, "x", NC_INT, 0, NULL, &id));
    told(NC_EMULTIDEFINE_VAR_NUM, "there are 1 variables here, 2 on process 0");
}

static void attributes(void **state)
{
    (void)state;
    put(&theirs, 0, "_FillValue", NC_INT, 1, "\xff\xff\xff\xff");
    noted(1, NC_EMULTIDEFINE_VAR_FILL_VALUE,
          "attribute '_FillValue' of variable 'v' differs in element 0: 7 here, -1 on "
          "process 0");
    put(&theirs, 0, "_FillValue", NC_INT, 1, "\0\0\0\7");
    put(&theirs, 0, "range", NC_INT, 2, "\0\0\0\1\0\0\1\0");
    noted(1, NC_EMULTIDEFINE_ATTR_VAL,
          "attribute 'range' of variable 'v' differs in element 1: 2 here, 256 on "
          "process 0");
    put(&theirs, 0, "range", NC_INT, 1, "\0\0\0\1");
    noted(1, NC_EMULTIDEFINE_ATTR_LEN,
          "attribute 'range' of variable 'v' has length 2 here, 1 on process 0");
    put(&theirs, 0, "range", NC_FLOAT, 1, "\0\0\0\1");
    noted(1, NC_EMULTIDEFINE_ATTR_TYPE,
          "attribute 'range' of variable 'v' has type 4 here, 5 on process 0");
    put(&theirs, NC_GLOBAL, "title", NC_CHAR, 4, "diff");
    noted(2, NC_EMULTIDEFINE_ATTR_VAL,
          "attribute 'title' of the dataset differs in element 0: 'same' here, 'diff' on "
          "process 0; attribute 'range' of variable 'v' has type 4 here, 5 on process 0");
    /* what must not differ is what is told */
    assert_int_equal(NC_NOERR, cdf_rename_att(&theirs, 0, "range", "r"));
    told(NC_EMULTIDEFINE_ATTR_NAME,
         "attribute 0 of variable 'v' is 'range' here, 'r' on process 0");
    put(&theirs, 0, "more", NC_INT, 0, "");
    told(NC_EMULTIDEFINE_ATTR_NUM, "variable 'v' has 2 attributes here, 3 on process 0");
}

/* Many that differ are all counted; as many are named as there is room for. */
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

/* They end with what the other header says, whatever the sizes. */
static void attributes_are_taken_over(void **state)
{
    (void)state;
    struct cdf_difference d;
    put(&theirs, NC_GLOBAL, "title", NC_CHAR, 11, "a long text");
    put(&theirs, 0, "range", NC_DOUBLE, 1, "\0\0\0\0\0\0\0\0");
    put(&theirs, 0, "_FillValue", NC_INT, 1, "\0\0\0\1");
    assert_int_equal(NC_NOERR, cdf_take_atts(&mine, &theirs));
    assert_int_equal(NC_NOERR, cdf_compare(&mine, &theirs, &d));
    assert_int_equal(0, d.atts);
    assert_int_equal(cdf_encoded_size(&theirs), cdf_encoded_size(&mine));
}

/* A value of each type as it is shown. */
static void values_are_shown_in_their_type(void **state)
{
    (void)state;
    const struct {
        int type;
        const char *a, *b, *words;
    } rows[] = {
        {NC_BYTE, "\xff", "\1", "-1 here, 1 on"},
        {NC_UBYTE, "\xff", "\1", "255 here, 1 on"},
        {NC_SHORT, "\xff\xfe", "\1\0", "-2 here, 256 on"},
        {NC_USHORT, "\xff\xfe", "\1\0", "65534 here, 256 on"},
        {NC_UINT, "\xff\xff\xff\xff", "\0\0\0\1", "4294967295 here, 1 on"},
        {NC_FLOAT, "\x3f\x80\0\0", "\xbf\xc0\0\0", "1 here, -1.5 on"},
        {NC_DOUBLE, "\x3f\xf0\0\0\0\0\0\0", "\xc0\0\0\0\0\0\0\0", "1 here, -2 on"},
        {NC_INT64, "\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\1",
         "-1 here, 1 on"},
        {NC_UINT64, "\xff\xff\xff\xff\xff\xff\xff\xff", "\0\0\0\0\0\0\0\1",
         "18446744073709551615 here, 1 on"}};
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
        with_headers(equal_ones_are_equal),
        with_headers(formats),
        with_headers(dimensions),
        with_headers(variables),
        with_headers(attributes),
        with_headers(many_attributes),
        with_headers(attributes_are_taken_over),
        with_headers(values_are_shown_in_their_type),
    };
    return cmocka_run_group_tests_name("cdf_compare", tests, NULL, NULL);
}
