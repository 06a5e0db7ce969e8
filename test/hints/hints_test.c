/* Tests the table of hints and the reader of hints files. The rows of the table must be
 * consistent, a Path must match the right datasets, and an error in a file must be
 * reported with its line and column. */
#include "unit.h"

#include "base_error.h"
#include "hints_effect.h"
#include "hints_file.h"
#include "hints_table.h"
#include "base_mem.h"

/* ---- the table ---- */

/* Checks that every value in backquotes in a hint's documentation is valid. */
static void documented_values_are_valid(void **state)
{
    (void)state;
    int named = 0;
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        assert_ptr_equal(t, hints_find(t->key));
        assert_non_null(t->values);
        assert_null(strchr(t->what, '|'));
        for (const char *at = t->values; (at = strchr(at, '`')) != NULL;) {
            char value[40];
            size_t length = strcspn(++at, "`");
            snprintf(value, sizeof value, "%.*s", (int)length, at);
            if (!hints_accepts(t, value)) fail_msg("%s does not take %s", t->key, value);
            at += length + 1;
            named++;
        }
    }
    assert_true(named > 40);
}

/* Checks that a requested hint has an effect if all facts hold, and is reported with a
 * reason if none does, unless it acts on every dataset. */
static void hints_without_effect_have_a_reason(void **state)
{
    static const char *const always = "nc_driver nc_statistics nc_report nc_trace";
    (void)state;
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        const struct hints_effects none = {.facts = 0}, all = {.facts = ~0U};
        struct hints h;
        hints_set_defaults(&h);
        assert_null(hints_unused(&h, t, &none, true));
        h.e10_cache = strncmp(t->key, "e10_", 4) == 0 ? HINTS_ENABLE : HINTS_DISABLE;
        h.asked[t - hints_table] = 1;
        const bool reported = hints_unused(&h, t, &none, true) != NULL;
        if (reported == (strstr(always, t->key) != NULL)) fail_msg("%s", t->key);
        const bool unused = hints_unused(&h, t, &all, true) != NULL;
        if (unused != (t->group == HINTS_GROUP_UNUSED)) fail_msg("%s", t->key);
    }
}

/* Checks that each hint's default is valid and is the documented one. */
static void defaults_are_documented(void **state)
{
    (void)state;
    struct hints h;
    hints_set_defaults(&h);
    int same = 0;
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        char text[40], quoted[1100];
        const char *value = hints_value(&h, t, text, sizeof text);
        snprintf(quoted, sizeof quoted, "`%s`", value);
        same += *value != '\0' &&
                (strcmp(quoted, t->without) == 0 || strcmp(value, t->without) == 0);
        if (t->kind == HINTS_KIND_WORD && t->words != NULL)
            assert_true(strcmp(quoted, t->without) == 0 ||
                        strcmp(value, t->without) == 0 ||
                        strcmp(t->without, "`disable`") == 0);
    }
    assert_true(same > 25);
}

static void invalid_values_change_nothing(void **state)
{
    (void)state;
    struct hints h, same;
    hints_set_defaults(&h);
    hints_set_defaults(&same);
    hints_set(&h, "nc_ibuf_size", "-1");
    hints_set(&h, "nc_ibuf_size", "12x");
    hints_set(&h, "nc_transfer", "teleport");
    hints_set(&h, "nc_nothing", "1");
    assert_memory_equal(&h, &same, sizeof h);
    hints_set(&h, "nc_ibuf_size", "12");
    assert_int_equal(12, h.ibuf_size);
}

/* ---- paths ---- */

static void paths_match_the_intended_files(void **state)
{
    static const struct {
        const char *path, *full;
        bool named;
    } cases[] = {
        {"/w/a.nc", "/w/a.nc", true},
        {"/w/a.nc", "/w/./a.nc", true},
        {"/w/a.nc", "/w//a.nc", true},
        {"/w/./a.nc", "/w/a.nc", true},
        {"/w/a.nc", "/w/a.nc2", false},
        {"a.nc", "/w/a.nc", true},
        {"./a.nc", "/w/a.nc", true},
        {"/a.nc", "/w/ba.nc", false},
        {"a.nc", "/w/ba.nc", true},
        {".nc", "/w/a.nc", true},
        {"/w", "/w/a.nc", true},
        {"/w/", "/w/x/a.nc", true},
        {"/w", "/ww/a.nc", false},
        {"/w", "/x/w/a.nc", false},
        {"w", "/x/w/a.nc", true},
        {"w", "/x/ww/a.nc", false},
        {"w/", "/x/w", false},
        {"w", "/x/w", true},
        {"/", "/x/w", true},
        {"/x/w/a.nc/", "/x/w/a.nc", false},
        {"*.nc", "/w/a.nc", true},
        {"*.nc", "/w/a.ncx", false},
        {"/w/*.nc", "/w/a.nc", true},
        {"/w/*.nc", "/w/x/a.nc", false},
        {"/w/*", "/w/x/a.nc", true}, /* matches because the directory x matches */
        {"run?", "/w/run1/x/a.nc", true},
        {"run?/", "/w/run1", false},
        {"run[12]/a.nc", "/w/run2/a.nc", true},
        {"run[12]/a.nc", "/w/run3/a.nc", false},
        {"/run?", "/w/run1/a.nc", false},
        {"[", "/w/a.nc", false},
        {".", "/w/a.nc", true},
        {"./", "/w/a.nc", true},
        {".", ".", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct hints_file_entry e = {.path = cases[i].path};
        if (hints_file_entry_matches(&e, cases[i].full) != cases[i].named)
            fail_msg("%s, %s", cases[i].path, cases[i].full);
    }
    assert_int_equal(0, base_mem_in_use());
}

/* ---- files ---- */

static char named[2000];

static void tell(const struct hints_file *f, struct hints_file_place place,
                 const char *words)
{
    (void)f;
    size_t n = strlen(named);
    snprintf(named + n, sizeof named - n, "%d:%d %s\n", place.line, place.column, words);
}

static int parse(struct hints_file *f, const char *text)
{
    *named = '\0';
    *f = (struct hints_file){.name = "h", .warn = tell};
    return hints_file_parse(f, text, strlen(text));
}

static bool has_jansson(void)
{
    struct hints_file f;
    int err = parse(&f, "{\"File\":[]}");
    hints_file_free(&f);
    return err == NC_NOERR;
}

static void hints_of_a_file_are_applied(void **state)
{
    struct hints_file f;
    (void)state;
    if (!has_jansson()) skip();
    assert_int_equal(NC_NOERR, parse(&f, "{\"Guardnames\": \"a, b\", \"File\": [\n"
                                         "{\"Path\": \"/w\", \"Type\": \"MPI\",\n"
                                         "  \"cb_nodes\": 8, \"x\": \"\\u00e9, y\"},\n"
                                         "{\"romio_no_indep_rw\": true, \"Path\": \"q\"},"
                                         "{\"Type\": \"MPI\", \"Path\": \"r\"}]}"));
    assert_string_equal("", named);
    assert_int_equal(2, f.nguards);
    assert_string_equal("b", f.guards[1]);
    assert_int_equal(5, f.nentries);
    for (int i = 0; i < 2; i++) { /* guards come first, so that entries can override
                                   * them */
        assert_true(f.entries[i].guard && !f.entries[2 + i].guard);
        assert_string_equal(f.guards[i], f.entries[i].path);
        assert_string_equal("nc_deferred_close", f.entries[i].pairs[0].key);
    }
    const struct hints_file_entry *e = f.entries + f.nguards;
    assert_string_equal("/w", e[0].path);
    assert_int_equal(2, e[0].npairs);
    assert_string_equal("8", e[0].pairs[0].value);
    assert_string_equal("\xc3\xa9, y", e[0].pairs[1].value);
    assert_int_equal(3, e[0].pairs[1].place.line);
    assert_int_equal(18, e[0].pairs[1].place.column);
    assert_string_equal("true", e[1].pairs[0].value);
    assert_int_equal(0, e[2].npairs);
    hints_file_free(&f);
    assert_int_equal(0, base_mem_in_use());
}

static void invalid_entries_are_reported_with_their_position(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"{\"x\": {\"a\": [\"]\\\"\"]}, \"File\": []}", "1:2 'x' is neither"},
        {"{}", "1:1 there is neither `File` nor `Guardnames`"},
        {"{\"Guardnames\": 5, \"File\": []}", "1:2 Guardnames must be"},
        {"{\"File\": [{\"Path\": \"a\", \"Type\": \"X\"}]}",
         "1:25 entries with a Type other"},
        {"{\"File\": [{\"Path\": \"\xc3\xa9\",\n \"nc_foo\": \"1\"}]}",
         "2:2 unknown hint"},
        {"{\"File\": [{\"\xc3\xa9\": \"a\", \"nc_transfer\": \"x\", \"Path\": \"a\"}]}",
         "1:22 invalid value for nc_transfer: 'x'; expected one of: `auto`"},
        {"{\"File\": [{\"Path\": \"a\", \"k\": 1.5}]}", "1:25 the value of 'k'"},
        {"{\"File\": [{\"Path\": \"a\", \"k\": \"\"}]}", "1:25 the value of 'k'"},
        {"{\"File\": [{\"Path\": \"a\", \"k\": null}]}", "1:25 the value of 'k'"},
        {"{\"File\": [{\"Path\": \"a\", \"k\": [{}]}]}", "1:25 the value of 'k'"},
        {"{\"File\": [{\"Path\": \"a\", \"\": \"1\"}]}", "1:25 '' is not a valid"},
        {"{\"File\": [{\"Path\": \"a\"},\n{\"Path\": \"b\"},\n {\"Path\": \"a\"}]}",
         "3:3 line 1 has the same Path"},
    };
    (void)state;
    if (!has_jansson()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hints_file f;
        assert_int_equal(NC_NOERR, parse(&f, cases[i].text));
        if (strncmp(named, cases[i].words, strlen(cases[i].words)) != 0)
            fail_msg("%s: %s", cases[i].text, named);
        assert_ptr_equal(strchr(named, '\n') + 1, strchr(named, '\0')); /* reported only
                                                                         * once */
        hints_file_free(&f);
    }
    assert_int_equal(0, base_mem_in_use());
}

static void invalid_files_are_rejected_with_a_position(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "line 1, column 1: "},
        {"{\"File\":\n [}", "line 2, column "},
        {"[]", "line 1, column 1: expected an object"},
        {"5", "line 1, column 1: expected an object"},
        {"{\"File\": {}}", "line 1, column 2: File must be a list"},
        {"{\"File\": [\n5]}", "line 2, column 1: an entry of File is not an object"},
        {"{\"File\": [{},\n {\"a\": \"b\"}]}",
         "line 1, column 11: an entry of File has no"},
        {"{\"File\": [{\"Path\": \"a\"},\n {\"a\": \"b\"}]}",
         "line 2, column 2: an entry of File has no Path"},
        {"{\"File\": [{\"Path\": 5}]}",
         "line 1, column 12: Path must be a non-empty string"},
        {"{\"File\": [{\"Path\": \"\"}]}",
         "line 1, column 12: Path must be a non-empty string"},
        {"{\"File\": [], \"File\": []}", "line 1, column "},
        {"{\"File\": []} x", "line 1, column "},
    };
    (void)state;
    if (!has_jansson()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hints_file f;
        assert_int_equal(NC_EINVAL, parse(&f, cases[i].text));
        if (strstr(base_error_detail(NC_EINVAL), cases[i].words) == NULL)
            fail_msg("%s: %s", cases[i].text, base_error_detail(NC_EINVAL));
        hints_file_free(&f);
    }
    assert_int_equal(0, base_mem_in_use());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_values_are_valid),
        cmocka_unit_test(defaults_are_documented),
        cmocka_unit_test(hints_without_effect_have_a_reason),
        cmocka_unit_test(invalid_values_change_nothing),
        cmocka_unit_test(paths_match_the_intended_files),
        cmocka_unit_test(hints_of_a_file_are_applied),
        cmocka_unit_test(invalid_entries_are_reported_with_their_position),
        cmocka_unit_test(invalid_files_are_rejected_with_a_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
