/* Tests the lines of a trace character by character, by the test's own clock: how calls
 * and their parts are combined and their times divided, the extremes of numbers and
 * names, and which lines are lost if the file cannot be written. Also tests how counters
 * are combined. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "base_mem.h"
#include "trace_impl.h"

static int64_t clock_ns;

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    t->tv_sec = (time_t)(clock_ns / 1000000000);
    t->tv_nsec = (long)(clock_ns % 1000000000);
    return 0;
}

static struct dataset ds;
static struct trace t;

static void new_trace(void)
{
    memset(&ds, 0, sizeof ds);
    memset(&t, 0, sizeof t);
    clock_ns = 1000000;
    ds.trace = &t;
    ds.path = "a.nc";
    t.ds = &ds;
    t.id = 7;
    t.pid = 3;
    t.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    t.shift = 1767225600LL * 1000000000; /* so that times are those of the clock */
    t.flushed_at = clock_ns;
    assert_true(t.fd >= 0);
}

/* Checks the text of the trace since the last call, and empties it. */
#define assert_lines(want) check_lines(want, __LINE__)
static void check_lines(const char *want, int line)
{
    t.text[t.used] = '\0';
    if (strcmp(want, t.text) != 0)
        fail_msg("line %d:\n%s instead of\n%s", line, t.text, want);
    t.used = 0;
}

#define HEAD(name, cat, ts, dur)                                                         \
    "{\"name\":\"" name "\",\"cat\":\"" cat                                              \
    "\",\"ph\":\"X\",\"pid\":3,\"tid\":0,\"ts\":" ts ",\"dur\":" dur                     \
    ",\"args\":{\"set\":7"
#define NOTE(name)                                                                       \
    "{\"name\":\"" name                                                                  \
    "\",\"cat\":\"note\",\"ph\":\"i\",\"s\":\"t\",\"pid\":3,\"tid\":0,"                  \
    "\"ts\":1000.000,\"args\":{\"set\":7"

/* ---- calls and parts ---- */

/* A call of `total` ns, whose parts begin after 100 ns: an exchange of `outer` ns that
 * contains a read of `inner` ns. No part if it is negative. */
static void make_call(const char *name, int64_t total, int64_t outer, int64_t inner,
                      int varid, int err)
{
    struct trace_span call = trace_enter_access(&t, false), out, in;
    clock_ns += 100;
    out = trace_begin(outer >= 0 ? &t : NULL);
    in = trace_begin(inner >= 0 ? &t : NULL);
    clock_ns += inner > 0 ? inner : 0;
    trace_end_at(inner >= 0 ? &t : NULL, TRACE_READ, in, 4096 + inner, 10);
    clock_ns += outer > 0 ? outer - (inner > 0 ? inner : 0) : 0;
    trace_end_numbered(outer >= 0 ? &t : NULL, TRACE_EXCHANGE, out, outer);
    clock_ns += total - 100 - (outer > 0 ? outer : 0);
    ds.stats.get_bytes += 80;
    assert_int_equal(err, trace_leave(&t, call, name, varid, err));
}

static void a_long_call_has_a_line_without_its_parts_times(void **state)
{
    (void)state;
    new_trace();
    make_call("get", 50000, 8000, 3000, 2, 0);
    assert_lines(HEAD("get", "call", "1000.000",
                      "50.000") ",\"calls\":{\"get\":{\"n\":1,\"us\":"
                                "50.000,\"own\":42.000,\"bytes\":80,\"var\":2}},"
                                "\"parts\":{\"exchange\":{\"n\":1,"
                                "\"us\":5.000,\"longest\":8.000,\"first\":8000,\"last\":"
                                "8000},\"read\":{\"n\":1,"
                                "\"us\":3.000,\"longest\":3.000,\"bytes\":10,\"low\":"
                                "7096,\"high\":7106}}}},\n");
    make_call("get", 50000, 30000, 20000, -1, -36); /* long parts have lines */
    assert_lines(HEAD("read", "part", "1050.100",
                      "20.000") ",\"offset\":24096,\"bytes\":10}},"
                                "\n" HEAD("exchange", "part", "1050.100",
                                          "30.000") ",\"own\":10.000,"
                                                    "\"number\":30000}},"
                                                    "\n" HEAD("get", "call", "1050.000",
                                                              "50.000") ",\""
                                                                        "cal"
                                                                        "ls"
                                                                        "\":"
                                                                        "{\""
                                                                        "get"
                                                                        "\":"
                                                                        "{\""
                                                                        "n\""
                                                                        ":1,"
                                                                        "\"u"
                                                                        "s\""
                                                                        ":50"
                                                                        ".00"
                                                                        "0,"
                                                                        "\"o"
                                                                        "wn"
                                                                        "\":"
                                                                        "20."
                                                                        "000"
                                                                        ",\""
                                                                        "byt"
                                                                        "es"
                                                                        "\":"
                                                                        "80,"
                                                                        "\"e"
                                                                        "rro"
                                                                        "r\""
                                                                        ":-"
                                                                        "36}"
                                                                        "}}}"
                                                                        ","
                                                                        "\n");
    close(t.fd);
}

static void short_calls_share_a_line(void **state)
{
    (void)state;
    new_trace();
    make_call("get", 1000, -1, -1, 2, 0);
    make_call("get", 3000, 500, 200, 2, -60);
    make_call("put", 2000, 700, -1, 4, 0);
    make_call("put", 4000, -1, -1, 5, 0); /* another variable */
    assert_lines("");
    make_call("get", 20000, -1, -1, 2, 0); /* is long */
    assert_lines(
        HEAD("several calls", "call", "1000.000",
             "10.000") ",\"calls\":{\"get\":{\"n\":2,\"us\":4.000,\"own\":3.500,"
                       "\"longest\":3.000,\"bytes\":160,"
                       "\"var\":2,\"error\":-60},\"put\":{\"n\":2,\"us\":6.000,\"own\":5."
                       "300,\"longest\":4.000,"
                       "\"bytes\":160}},\"parts\":{\"exchange\":{\"n\":2,\"us\":1.000,"
                       "\"longest\":0.700,"
                       "\"first\":500,\"last\":700},\"read\":{\"n\":1,\"us\":0.200,"
                       "\"longest\":0.200,"
                       "\"bytes\":10,\"low\":4296,\"high\":4306}}}},\n" HEAD(
                           "get", "call", "1010.000",
                           "20.000") ",\"calls\":{\"get\":{\"n\":1,\"us\":20.000,\"own\":"
                                     "20.000,\"bytes\":80,\"var\":2}}}},\n");
    close(t.fd);
}

/* Counts the lines, and empties the trace. */
static int count_lines(void)
{
    int n = 0;
    for (size_t i = 0; i < t.used; i++)
        n += t.text[i] == '\n';
    t.used = 0;
    return n;
}

/* For each rule: a call follows a short one, and either joins its line or ends it. */
static void a_line_ends_by_time_name_and_dataset(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    static const struct {
        int64_t gap; /* ns between the calls */
        int before;  /* number of short calls */
        int kinds;   /* number of their names */
        int lines;   /* written when the last call ends */
    } rows[] = {{50000, 1, 1, 0}, {50001, 1, 1, 1}, {0, 4999, 1, 0}, {0, 5000, 1, 1},
                {0, 8, 8, 0},     {0, 9, 9, 1},     {0, 7, 7, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        new_trace();
        for (int k = 0; k < rows[i].before; k++)
            make_call(names[k % rows[i].kinds], 1000, -1, -1, 0, 0);
        clock_ns += rows[i].gap;
        make_call(names[0], 1000, -1, -1, 0, 0);
        assert_int_equal(rows[i].lines, count_lines());
        close(t.fd);
    }
    static struct trace other;
    new_trace();
    make_call("a", 1000, -1, -1, 0, 0);
    other = t;
    other.before.ncalls = 0;
    trace_leave(&other, trace_enter(&other), "a", 0, 0);
    make_call("a", 1000, -1, -1, 0, 0);
    assert_int_equal(1, count_lines());
    close(t.fd);
}

/* Parts of frequent brief accesses are timed in one of 16 calls. Their time is then
 * estimated, so that own times and parts still add up to the time of the call. */
static void times_of_brief_accesses_add_up(void **state)
{
    int64_t own = 0, parts = 0, total = 0;
    (void)state;
    new_trace();
    for (int i = 0; i < 100; i++) {
        struct trace_span call = trace_enter_access(&t, true);
        clock_ns += 300;
        struct trace_span part = trace_begin(&t);
        clock_ns += 400 + i;
        trace_end_at(&t, TRACE_WRITE, part, 8 * i, 8);
        total += 700 + i;
        (void)trace_leave(&t, call, "put", 0, 0);
    }
    const struct trace_group *g = &t.before;
    own = g->calls[0].own;
    parts = g->parts[TRACE_WRITE].own;
    assert_int_equal(1, g->ncalls);
    assert_int_equal(100, g->calls[0].n);
    assert_int_equal(100, g->parts[TRACE_WRITE].n);
    assert_int_equal(800, g->parts[TRACE_WRITE].bytes);
    assert_int_equal(0, g->parts[TRACE_WRITE].low);
    assert_int_equal(800, g->parts[TRACE_WRITE].high);
    assert_int_equal(total, g->calls[0].time);
    assert_int_equal(total, own + parts);
    assert_in_range(own, 29000, 31000);
    close(t.fd);
}

/* ---- text ---- */

static void notes_have_all_fields(void **state)
{
    static struct cdf_var vars[] = {{.name = "u"}, {.name = "v\"w", .is_record = true}};
    const struct trace_framed f = {INT64_MAX, 1, 1500};
    (void)state;
    new_trace();
    ds.header.vars = vars;
    ds.header.nvars = 2;
    ds.rank = 5;
    ds.nprocs = 2147483647;
    trace_add_dataset(&t, "n1");
    assert_lines(NOTE("dataset") ",\"path\":\"a.nc\",\"host\":\"n1\",\"rank\":5,"
                                 "\"processes\":2147483647}},\n");
    trace_note_file(&ds, INT64_MIN, INT64_MAX);
    assert_lines(NOTE("file") ",\"stripe\":-9223372036854775808,"
                              "\"stripes\":9223372036854775807}},\n");
    trace_note_variables(&ds, 1); /* only process 0 does */
    assert_lines("");
    ds.rank = 0;
    trace_note_variables(&ds, 1);
    assert_lines(
        NOTE("variable") ",\"var\":1,\"variable\":\"v\\u0022w\",\"record\":1}},\n");
    trace_add_framed(&t, 1, &f);
    assert_lines(NOTE("frames") ",\"var\":1,\"values\":9223372036854775807,\"frames\":1,"
                                "\"us\":1.500}},\n");
    close(t.fd);
}

static void any_path_is_valid_json(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"a\\b\x7f\x1f\n", "a\\u005cb\\u007f\\u001f\\u000a"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d"},
        {"\xff\xc3(\xe2\x82", "\\u00ff\\u00c3(\\u00e2\\u0082"},
        {"\xc0\x80\xed\xa0\x80", "\\u00c0\\u0080\\u00ed\\u00a0\\u0080"},
    };
    char want[512], path[2048] = "";
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        new_trace();
        ds.path = (char *)(intptr_t)rows[i][0];
        trace_add_dataset(&t, "h");
        snprintf(want, sizeof want,
                 NOTE("dataset") ",\"path\":\"%s\",\"host\":\"h\",\"rank\":0,"
                                 "\"processes\":0}},\n",
                 rows[i][1]);
        assert_lines(want);
        close(t.fd);
    }
    new_trace();
    for (int i = 0; i < 667; i++) /* the end of a long path, in whole characters */
        strcat(path, "\xe2\x82\xac");
    ds.path = path;
    trace_add_dataset(&t, "h");
    const char *text = strstr(t.text, "\"path\":\"") + 8;
    assert_int_equal(999, strchr(text, '"') - text);
    assert_int_equal(0, strncmp(text, "\xe2\x82\xac", 3));
    close(t.fd);
}

/* The longest possible line must fit the buffer. */
static void the_longest_line_fits(void **state)
{
    static const char name[] = "a_name_of_a_function_with_fifty_characters_or_more";
    struct trace_group g = {
        .start = INT64_MIN / 2, .end = INT64_MAX / 2, .ncalls = TRACE_NAMES};
    (void)state;
    new_trace();
    t.shift = t.id = t.pid = INT32_MAX;
    for (int i = 0; i < TRACE_NAMES; i++)
        g.calls[i] = (struct trace_call){name,      INT64_MAX, INT64_MIN, INT64_MIN,
                                         INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN};
    for (int i = 0; i < TRACE_PARTS; i++)
        g.parts[i] = (struct trace_sum){INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX,
                                        INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    g.used = (1U << TRACE_PARTS) - 1;
    trace_add_group(&t, &g);
    assert_in_range(t.used, TRACE_LINE / 2, TRACE_LINE);
    close(t.fd);
}

/* ---- the file ---- */

static void lines_that_cannot_be_written_are_counted(void **state)
{
    char path[] = "/tmp/ncmpi-trace.XXXXXX";
    struct stat st;
    (void)state;
    new_trace();
    close(t.fd);
    t.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    errno = EDOM;
    for (int i = 0; i < 3; i++)
        trace_add_file(&t, i, i);
    trace_flush(&t);
    assert_true(t.fd == -1 && t.used == 0);
    assert_int_equal(3, t.lost);
    assert_int_equal(ENOSPC, t.why);
    assert_int_equal(EDOM, errno); /* which belongs to the program */
    trace_add_file(&t, 4, 4);
    trace_flush(&t);
    assert_int_equal(4, t.lost);

    /* A full buffer is written at once. The dataset itself must not be. */
    for (int is_dataset = 0; is_dataset < 2; is_dataset++) {
        new_trace();
        close(t.fd);
        t.fd = is_dataset ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : mkstemp(path);
        assert_int_equal(0, fstat(t.fd, &st));
        t.device = ds.identity.device = (int64_t)st.st_dev;
        t.inode = (int64_t)st.st_ino;
        ds.identity.inode = is_dataset ? t.inode : t.inode + 1;
        int64_t before = st.st_size, n = 0;
        while (n == 0 || t.used > 0) {
            trace_add_file(&t, 1, 1);
            n++;
        }
        assert_int_equal(0, stat(path, &st));
        assert_int_equal(is_dataset ? n : 0, t.lost);
        assert_int_equal(is_dataset ? EEXIST : 0, t.why);
        if (is_dataset) assert_int_equal(before, st.st_size);
        if (!is_dataset) assert_in_range(st.st_size, TRACE_TEXT, TRACE_TEXT + TRACE_LINE);
        if (t.fd >= 0) close(t.fd);
    }
    unlink(path);
}

/* ---- counters ---- */

static void counters_are_added_or_the_largest_taken(void **state)
{
    static const bool adds[] = {
#define ADD                              true
#define LARGEST                          false
#define TRACE_STAT(name, together, what) together,
#include "trace_stats.def"
#undef TRACE_STAT
    };
    enum { N = sizeof adds / sizeof adds[0] };
    union {
        struct trace_stats s;
        int64_t n[N];
    } to, from;
    (void)state;
    assert_int_equal(sizeof to.n, sizeof to.s);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < N; i++) {
            to.n[i] = (INT64_C(1) << 40) + 3 * i * (i % 2 == turn ? 1 : -1);
            from.n[i] = (INT64_C(1) << 40) + 5 * i * (i % 2 == turn ? -1 : 1);
        }
        trace_stats_take(&to.s, &from.s);
        for (int i = 0; i < N; i++) {
            int64_t sum = (INT64_C(1) << 41) + (i % 2 == turn ? -2 : 2) * i;
            int64_t most = (INT64_C(1) << 40) + (i % 2 == turn ? 3 : 5) * i;
            assert_true(to.n[i] == (adds[i] ? sum : most));
            assert_int_equal(0, from.n[i]);
        }
    }
    new_trace();
    for (int n = 0, old = 0; n < 40; old = n, n += 1 + n / 3) {
        assert_int_equal(NC_NOERR, trace_stats_grow(&ds, old, n));
        assert_int_equal(n, ds.frames.n);
        for (int i = old; i < n; i++) {
            assert_true(ds.frames.vars[i].values == 0 && ds.frames.vars[i].frames == 0);
            ds.frames.vars[i] = (struct trace_framed){i + 1, i + 2, i + 3};
        }
        for (int i = 0; i < n; i++)
            assert_true(ds.frames.vars[i].values == i + 1 &&
                        ds.frames.vars[i].time == i + 3);
    }
    base_free(ds.frames.vars);
    close(t.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_call_has_a_line_without_its_parts_times),
        cmocka_unit_test(short_calls_share_a_line),
        cmocka_unit_test(a_line_ends_by_time_name_and_dataset),
        cmocka_unit_test(times_of_brief_accesses_add_up),
        cmocka_unit_test(notes_have_all_fields),
        cmocka_unit_test(any_path_is_valid_json),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(lines_that_cannot_be_written_are_counted),
        cmocka_unit_test(counters_are_added_or_the_largest_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
