/* Error texts: every code of the interface has one, and details stay their own. */
#include "base_error.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct row {
    int code;
    const char *name;
} rows[] = {
#define BASE_ERROR(code, text) {code, #code},
#include "base_errors.def"
#undef BASE_ERROR
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void every_row_has_a_sentence_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const char *text = base_error_text(rows[i].code);
        assert_string_equal(rows[i].name, base_error_name(rows[i].code));
        assert_true(strlen(text) >= 8 && strlen(text) < 300);
        assert_true(isupper((unsigned char)text[0]));
        assert_int_not_equal(0, strncmp(text, "NC_E", 4)); /* not just a name */
        /* what is wrong; what to do. But one that programs compare whole. */
        if (rows[i].code != 0 && rows[i].code != NC_EMULTIDEFINE_ATTR_VAL)
            assert_non_null(strstr(text, "; "));
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(rows[k].code, rows[i].code);
            assert_string_not_equal(rows[k].name, rows[i].name);
            assert_string_not_equal(base_error_text(rows[k].code), text);
        }
    }
}

/* The header's own list: each "#define NC_E... (-n)" must be a row. */
static void every_code_of_the_interface_has_a_row(void **state)
{
    (void)state;
    const char *srcdir = getenv("srcdir");
    char path[4096], line[512], name[64];
    int code, found = 0;
    snprintf(path, sizeof path, "%s/include/pnetcdf_constants.h",
             srcdir == NULL ? "." : srcdir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "#define %63s (%d)", name, &code) != 2) continue;
        if (strncmp(name, "NC_E", 4) != 0) continue;
        found++;
        assert_null(strstr(base_error_name(code), "Unknown"));
    }
    fclose(f);
    assert_true(found >= ROWS - 2);
}

static void unknown_codes_are_named_by_number(void **state)
{
    (void)state;
    assert_string_equal("Unknown Error -9999", base_error_text(-9999));
    assert_string_equal("Unknown Error 99999", base_error_text(99999));
    assert_string_equal("Unknown code -9999", base_error_name(-9999));
    assert_string_equal(strerror(ENOENT), base_error_text(ENOENT));
}

static void a_detail_is_told_with_its_own_code_only(void **state)
{
    (void)state;
    assert_int_equal(NC_EBADDIM, base_error_set(NC_EBADDIM, "dimension %d of %d", 7, 3));
    assert_non_null(strstr(base_error_text(NC_EBADDIM), "(dimension 7 of 3)"));
    assert_null(strstr(base_error_text(NC_ENOTVAR), "dimension 7"));
    assert_string_equal("dimension 7 of 3", base_error_detail(NC_EBADDIM));
    assert_string_equal("", base_error_detail(NC_ENOTVAR));
    base_error_set(NC_ENOTVAR, "x");
    assert_string_equal("", base_error_detail(NC_EBADDIM));
}

static void long_details_are_cut(void **state)
{
    (void)state;
    char *text = calloc(1, 100001);
    assert_non_null(text);
    memset(text, 'x', 100000);
    base_error_set(NC_EIO, "%s", text);
    assert_true(strlen(base_error_text(NC_EIO)) < 1536);
    free(text);
}

static void *other(void *arg)
{
    *(int *)arg = base_error_detail(NC_EIO)[0] != '\0';
    base_error_set(NC_EIO, "the other");
    return NULL;
}

static void threads_have_details_of_their_own(void **state)
{
    (void)state;
    pthread_t thread;
    int seen = -1;
    base_error_set(NC_EIO, "mine");
    assert_int_equal(0, pthread_create(&thread, NULL, other, &seen));
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_int_equal(0, seen);
    assert_string_equal("mine", base_error_detail(NC_EIO));
}

static void names_are_put_together_when_asked_for(void **state)
{
    (void)state;
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(NC_ENOTATT,
                     base_error_named(NC_ENOTATT, "'%.80s' of '%.80s'", "units", "temp"));
    assert_string_equal("'units' of 'temp'", base_error_detail(NC_ENOTATT));
    assert_string_equal("'units' of 'temp'", base_error_detail(NC_ENOTATT));
    assert_non_null(strstr(base_error_text(NC_ENOTATT), "('units' of 'temp')"));
    base_error_named(NC_ENOTVAR, "'%.80s'%s", name, NULL);
    assert_int_equal(82, strlen(base_error_detail(NC_ENOTVAR)));

    struct base_error_note note;
    base_error_named(NC_ENOTVAR, "'%.80s'%s", "kept", NULL);
    base_error_keep(&note);
    base_error_set(NC_EIO, "tried");
    base_error_restore(&note);
    assert_string_equal("'kept'", base_error_detail(NC_ENOTVAR));
}

static void words_are_of_the_latest_call_that_failed(void **state)
{
    (void)state;
    base_error_begin();
    assert_int_equal(NC_EINVAL, base_error_end(base_error_set(NC_EINVAL, "first")));
    base_error_begin();
    assert_int_equal(NC_NOERR, base_error_end(NC_NOERR)); /* another one, which is well */
    assert_string_equal("first", base_error_detail(NC_EINVAL));
    base_error_begin();
    assert_int_equal(NC_EIO, base_error_end(NC_EIO));
    assert_string_equal("first", base_error_detail(NC_EINVAL));
    base_error_begin();
    assert_int_equal(NC_EINVAL, base_error_end(NC_EINVAL)); /* it has no words */
    assert_string_equal("", base_error_detail(NC_EINVAL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_sentence_of_its_own),
        cmocka_unit_test(every_code_of_the_interface_has_a_row),
        cmocka_unit_test(unknown_codes_are_named_by_number),
        cmocka_unit_test(a_detail_is_told_with_its_own_code_only),
        cmocka_unit_test(long_details_are_cut),
        cmocka_unit_test(threads_have_details_of_their_own),
        cmocka_unit_test(names_are_put_together_when_asked_for),
        cmocka_unit_test(words_are_of_the_latest_call_that_failed),
    };
    return cmocka_run_group_tests_name("base_error", tests, NULL, NULL);
}
