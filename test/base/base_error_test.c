/* Tests the error messages. Every error code in the interface must have a message. A
 * detail must be reported only with the code for which it was set, and only to the thread
 * that set it. */
#include "base_error.h"
#include "unit.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>

static const struct row {
    int code;
    const char *name;
} rows[] = {
#define BASE_ERROR(code, text) {code, #code},
#include "base_errors.def"
#undef BASE_ERROR
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void every_code_has_its_own_message(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const char *text = base_error_text(rows[i].code);
        assert_string_equal(rows[i].name, base_error_name(rows[i].code));
        assert_true(strlen(text) >= 8 && strlen(text) < 300);
        assert_true(isupper((unsigned char)text[0]));
        assert_int_not_equal(0, strncmp(text, "NC_E", 4)); /* more than the code's name */
        /* A message consists of a problem and a remedy, unless programs compare it
         * literally. */
        if (rows[i].code != 0 && rows[i].code != NC_EMULTIDEFINE_ATTR_VAL)
            assert_non_null(strstr(text, "; "));
        assert_true(strcspn(text, ";") <= 50);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(rows[k].code, rows[i].code);
            assert_string_not_equal(rows[k].name, rows[i].name);
            assert_string_not_equal(base_error_text(rows[k].code), text);
        }
    }
}

/* Each "#define NC_E... (-n)" in the header must have a row in the table of messages. */
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

static void a_detail_is_reported_only_for_its_code(void **state)
{
    (void)state;
    assert_int_equal(NC_EBADDIM, base_error_set(NC_EBADDIM, "dimension %d of %d", 7, 3));
    assert_non_null(
        strstr(base_error_text(NC_EBADDIM), "dimension 7 of 3: Dimension not found; "));
    assert_null(strstr(base_error_text(NC_ENOTVAR), "dimension 7"));
    assert_string_equal("dimension 7 of 3", base_error_detail(NC_EBADDIM));
    assert_string_equal("", base_error_detail(NC_ENOTVAR));
}

/* The system's text replaces the phrase of the code, and advice replaces the remedy, also
 * if the detail came from another process. */
static void a_system_error_is_described_once(void **state)
{
    (void)state;
    static const struct {
        int number, otherwise, code;
        const char *text;
    } cases[] = {
        {ENOENT, NC_EFILE, NC_ENOENT,
         "opening x: No such file or directory; check the path"},
        {ENOSPC, NC_EWRITE, NC_ENO_SPACE,
         "opening x: No space left on device; free some space"},
        {EROFS, NC_EWRITE, NC_EPERM,
         "opening x: Read-only file system; mount it for writing, or write elsewhere"},
        {EIO, NC_EREAD, NC_EREAD,
         "opening x: Input/output error; the device or the file server failed; check the "
         "system log"},
        {EPIPE, NC_EREAD, NC_EREAD,
         "opening x: Broken pipe; check the file system, and that no other program "
         "truncates the file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char remote[1200];
        errno = cases[i].number;
        assert_int_equal(cases[i].code,
                         base_error_system(cases[i].otherwise, "opening", "x"));
        assert_string_equal(cases[i].text, base_error_text(cases[i].code));
        base_error_set(cases[i].code, "process 3: %s", base_error_detail(cases[i].code));
        snprintf(remote, sizeof remote, "process 3: %s", cases[i].text);
        assert_string_equal(remote, base_error_text(cases[i].code));
    }
    base_error_set(NC_ENOENT, "Broken pipe");
    assert_string_equal("Broken pipe: No such file; check the path",
                        base_error_text(NC_ENOENT));
}

static void a_detail_survives_an_error_during_cleanup(void **state)
{
    (void)state;
    base_error_begin();
    base_error_set(NC_ENOTVAR, "variable %d", 9);
    base_error_set(NC_EBADDIM, "dimension %d", 7);
    base_error_set(NC_EFILE, "while closing");
    base_error_set(NC_EFILE, "while closing another");
    assert_string_equal("", base_error_detail(NC_ENOTVAR)); /* only the last two details
                                                             * are stored */
    assert_string_equal("dimension 7", base_error_detail(NC_EBADDIM));
    assert_string_equal("while closing another", base_error_detail(NC_EFILE));
    assert_int_equal(NC_EBADDIM, base_error_end(NC_EBADDIM));
    assert_non_null(strstr(base_error_text(NC_EBADDIM), "dimension 7: "));
    base_error_begin();
    assert_string_equal("", base_error_detail(NC_EFILE));
    base_error_set(NC_EIO, "in the next call");
    assert_string_equal("", base_error_detail(NC_EBADDIM));
}

static void long_details_are_truncated(void **state)
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

static void each_thread_has_its_own_detail(void **state)
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

static void names_are_formatted_on_request(void **state)
{
    (void)state;
    char name[300];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(NC_ENOTATT,
                     base_error_named(NC_ENOTATT, "'%.80s' of '%.80s'", "units", "temp"));
    assert_string_equal("'units' of 'temp'", base_error_detail(NC_ENOTATT));
    assert_string_equal("'units' of 'temp'", base_error_detail(NC_ENOTATT));
    assert_non_null(strstr(base_error_text(NC_ENOTATT), "'units' of 'temp': Attr"));
    base_error_named(NC_ENOTVAR, "'%.80s'%s", name, NULL);
    assert_int_equal(82, strlen(base_error_detail(NC_ENOTVAR)));

    struct base_error_note note;
    base_error_named(NC_ENOTVAR, "'%.80s'%s", "kept", NULL);
    base_error_save(&note);
    base_error_set(NC_EIO, "tried");
    base_error_restore(&note);
    assert_string_equal("'kept'", base_error_detail(NC_ENOTVAR));
}

static void the_detail_is_that_of_the_last_failed_call(void **state)
{
    (void)state;
    base_error_begin();
    assert_int_equal(NC_EINVAL, base_error_end(base_error_set(NC_EINVAL, "first")));
    base_error_begin();
    assert_int_equal(NC_NOERR, base_error_end(NC_NOERR)); /* a call that succeeds */
    assert_string_equal("first", base_error_detail(NC_EINVAL));
    base_error_begin();
    assert_int_equal(NC_EIO, base_error_end(NC_EIO));
    assert_string_equal("first", base_error_detail(NC_EINVAL));
    base_error_begin();
    assert_int_equal(NC_EINVAL, base_error_end(NC_EINVAL)); /* this code has no detail */
    assert_string_equal("", base_error_detail(NC_EINVAL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_own_message),
        cmocka_unit_test(every_code_of_the_interface_has_a_row),
        cmocka_unit_test(unknown_codes_are_named_by_number),
        cmocka_unit_test(a_detail_is_reported_only_for_its_code),
        cmocka_unit_test(a_system_error_is_described_once),
        cmocka_unit_test(a_detail_survives_an_error_during_cleanup),
        cmocka_unit_test(long_details_are_truncated),
        cmocka_unit_test(each_thread_has_its_own_detail),
        cmocka_unit_test(names_are_formatted_on_request),
        cmocka_unit_test(the_detail_is_that_of_the_last_failed_call),
    };
    return cmocka_run_group_tests_name("base_error", tests, NULL, NULL);
}
