/* Reads a trace, one event per line, with jansson as the JSON parser. Checks every value
 * before using it, because the file may contain anything. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "trace.h"
#include "util_message.h"

#ifdef HAVE_JANSSON

#include <jansson.h>

/* State of the line being read. Decoding does not stop at an invalid member: the error is
 * stored in `wrong`, which the caller checks when the line ends. */
struct line {
    struct trace *t;
    const char *wrong; /* error message; NULL if there was none */
    int64_t set, pid, tid;
};

static void report_line(struct line *l, const char *wrong)
{
    if (l->wrong == NULL) l->wrong = wrong;
}

/* ---- members ---- */

/* Exceeds any valid count, offset or time. */
static const int64_t most = (int64_t)1 << 60;

static int64_t integer(struct line *l, const json_t *o, const char *key,
                       int64_t otherwise)
{
    const json_t *v = json_object_get(o, key);
    if (v == NULL) return otherwise;
    int64_t n = json_is_integer(v) ? (int64_t)json_integer_value(v) : -1;
    if (n >= 0 && n < most) return n;
    report_line(l, "a number that is out of range");
    return 0;
}

static double real(struct line *l, const json_t *o, const char *key, double otherwise)
{
    const json_t *v = json_object_get(o, key);
    if (v == NULL) return otherwise;
    double x = json_is_number(v) ? json_number_value(v) : -1;
    if (x >= 0 && x < 1e15) return x;
    report_line(l, "a time that is out of range");
    return 0;
}

static const char *text(struct line *l, const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (v != NULL && !json_is_string(v)) report_line(l, "a name that is not a string");
    return json_string_value(v);
}

static void need(struct line *l, int failed)
{
    if (failed != 0)
        report_line(l, "more entries than a trace can have, or out of memory");
}

/* ---- events ---- */

static bool is_write(const char *name)
{
    return strcmp(name, "write") == 0 || strcmp(name, "collective write") == 0;
}

static bool is_read(const char *name)
{
    return strcmp(name, "read") == 0 || strcmp(name, "collective read") == 0;
}

/* Adds n parts of one kind, with their times and the other data on the line. */
static void add_parts(struct line *l, const char *name, const struct trace_cell *c,
                      int64_t low, int64_t high, int64_t first, int64_t last)
{
    need(l, trace_add_cell(l->t, name, false, l->pid, c));
    if (l->wrong != NULL) return;
    if (c->n > 0 && (is_write(name) || is_read(name)))
        need(l, trace_add_transfer(l->t, l->set, l->pid, is_write(name), c->n, c->bytes,
                                   low, high));
    if (c->n > 0 && strcmp(name, "agreement") == 0 && first >= 0)
        need(l, trace_add_agreements(l->t, l->set, l->pid, first, last, c->n, c->time));
}

static void add_line_part(struct line *l, const char *name, const json_t *args,
                          double start, double time)
{
    const struct trace_cell c = {.n = 1,
                                 .bytes = integer(l, args, "bytes", 0),
                                 .time = time,
                                 .own = real(l, args, "own", time),
                                 .longest = time};
    int64_t low = integer(l, args, "offset", -1), number = integer(l, args, "number", -1);
    add_parts(l, name, &c, low, low < 0 ? -1 : low + c.bytes, number, number);
    if (l->wrong == NULL) need(l, trace_add_box(l->t, name, false, l->pid, start, time));
}

static void add_call_lines(struct line *l, const json_t *calls)
{
    const char *name;
    json_t *o;
    json_object_foreach((json_t *)calls, name, o)
    {
        struct trace_cell c = {.n = integer(l, o, "n", 1),
                               .bytes = integer(l, o, "bytes", 0),
                               .time = real(l, o, "us", 0),
                               .own = real(l, o, "own", 0)};
        c.longest = real(l, o, "longest", c.time);
        int64_t var = integer(l, o, "var", -1);
        need(l, trace_add_cell(l->t, name, true, l->pid, &c));
        if (l->wrong == NULL && var >= 0)
            need(l, trace_add_access(l->t, l->set, var, c.n, c.bytes));
        if (json_object_get(o, "error") != NULL) l->t->errors++;
    }
}

static void add_call_line(struct line *l, const char *name, const json_t *args,
                          double start, double time)
{
    const char *part, *widest = name;
    json_t *o;
    add_call_lines(l, json_object_get(args, "calls"));
    json_object_foreach(json_object_get(args, "parts"), part, o)
    {
        const struct trace_cell c = {.n = integer(l, o, "n", 1),
                                     .bytes = integer(l, o, "bytes", 0),
                                     .time = real(l, o, "us", 0),
                                     .own = real(l, o, "us", 0),
                                     .longest = real(l, o, "longest", 0)};
        add_parts(l, part, &c, integer(l, o, "low", -1), integer(l, o, "high", -1),
                  integer(l, o, "first", -1), integer(l, o, "last", -1));
        if (c.time > time / 2) widest = part;
    }
    bool several = strcmp(name, "several calls") == 0;
    if (l->wrong != NULL || (several && widest == name)) return;
    need(l, trace_add_box(l->t, widest, widest == name, l->pid, start, time));
}

static void add_note(struct line *l, const json_t *args)
{
    const struct trace_note n = {.set = l->set,
                                 .pid = l->pid,
                                 .path = text(l, args, "path"),
                                 .host = text(l, args, "host"),
                                 .variable = text(l, args, "variable"),
                                 .hint = text(l, args, "hint"),
                                 .reason = text(l, args, "reason"),
                                 .processes = integer(l, args, "processes", 0),
                                 .stripe = integer(l, args, "stripe", 0),
                                 .stripes = integer(l, args, "stripes", 0),
                                 .var = integer(l, args, "var", 0),
                                 .record = integer(l, args, "record", 0),
                                 .values = integer(l, args, "values", 0),
                                 .frames = integer(l, args, "frames", 0),
                                 .packing = real(l, args, "us", 0)};
    if (l->wrong == NULL) need(l, trace_add_note(l->t, &n));
}

static void add_event(struct line *l, const json_t *e)
{
    const json_t *args = json_object_get(e, "args");
    const char *name = text(l, e, "name"), *kind = text(l, e, "cat");
    if (!json_is_object(e)) report_line(l, "not an event");
    if (l->wrong == NULL && kind == NULL && text(l, e, "ph") != NULL)
        return; /* an event from another program */
    l->pid = integer(l, e, "pid", -1);
    l->set = integer(l, args, "set", -1);
    double start = real(l, e, "ts", -1), time = real(l, e, "dur", 0);
    if (name == NULL || kind == NULL || l->pid < 0 || l->set < 0 || start < 0)
        report_line(l, "not an event of this library");
    if (l->wrong == NULL) need(l, trace_add_process(l->t, l->pid, start, start + time));
    if (l->wrong != NULL) return;
    if (strcmp(kind, "call") == 0) add_call_line(l, name, args, start, time);
    if (strcmp(kind, "part") == 0) add_line_part(l, name, args, start, time);
    if (strcmp(kind, "note") == 0) add_note(l, args);
}

/* ---- lines ---- */

/* State of reading the file, apart from the events. */
struct state {
    const char *path;
    int64_t number, bad, first_bad;
    char why[200];
    bool end; /* the end of the trace has been reached */
    bool cut; /* the last line is incomplete */
};

static void note_bad(struct state *s, const char *why)
{
    if (s->bad++ > 0) return;
    s->first_bad = s->number;
    snprintf(s->why, sizeof s->why, "%s", why);
}

/* Removes the blanks, brackets and commas around an event. */
static size_t strip(char **at, size_t n, bool first)
{
    static const char blank[] = " \t\r\n";
    while (n > 0 && strchr(blank, **at) != NULL)
        ++*at, n--;
    if (first && n > 0 && **at == '[') {
        ++*at;
        n--;
    }
    while (n > 0 && strchr(" \t\r\n,]", (*at)[n - 1]) != NULL)
        n--;
    return n;
}

static void read_line(struct trace *t, struct state *s, char *bytes, size_t n)
{
    json_error_t error;
    struct line l = {.t = t};
    bool ended = n > 0 && bytes[n - 1] == '\n';
    n = strip(&bytes, n, s->number == 1);
    if (n == 0) return;
    json_t *e = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &error);
    if (e == NULL && !ended && s->end)
        s->cut = true;
    else if (e == NULL)
        note_bad(s, error.text);
    if (e == NULL) return;
    add_event(&l, e);
    json_decref(e);
    if (l.wrong != NULL) note_bad(s, l.wrong);
}

/* Prints warnings about the file. Returns the result of trace_read. */
static int warn_about_file(const struct trace *t, const struct state *s, int64_t before)
{
    if (t->events == before) {
        util_message(TRACE_TOOL, s->path, -1,
                     "not a trace of this library (hint nc_trace)%s%s",
                     s->bad > 0 ? ": " : "", s->bad > 0 ? s->why : "");
        return -1;
    }
    if (s->bad > 0)
        util_message(TRACE_TOOL, s->path, -1,
                     "%lld lines are invalid; the first one is line %lld: %s",
                     (long long)s->bad, (long long)s->first_bad, s->why);
    else if (s->cut)
        util_message(TRACE_TOOL, s->path, -1,
                     "the last line is incomplete and was ignored");
    return s->bad > 0;
}

int trace_read(struct trace *t, const char *path)
{
    enum {
        ENOUGH = 100,
        LONGEST = 1 << 20
    }; /* maximum length of a line in bytes; the library writes at most 8 KiB */
    struct state s = {.path = path};
    const int64_t before = t->events;
    char *bytes = base_malloc(LONGEST);
    errno = bytes == NULL ? ENOMEM : 0;
    FILE *in = bytes == NULL ? NULL : fopen(path, "r");
    while (in != NULL && fgets(bytes, LONGEST, in) != NULL) {
        s.number++;
        s.end = feof(in) != 0;
        read_line(t, &s, bytes, strlen(bytes));
        if (s.bad >= ENOUGH && t->events == before) break; /* the file is not a trace */
    }
    bool failed = in == NULL || ferror(in) != 0;
    if (failed) util_message(TRACE_TOOL, path, -1, "%s", strerror(errno));
    base_free(bytes);
    if (in != NULL) (void)fclose(in);
    return failed ? -1 : warn_about_file(t, &s, before);
}

#else

int trace_read(struct trace *t, const char *path)
{
    (void)t;
    util_message(TRACE_TOOL, path, -1,
                 "cannot be read, as this program was built without jansson (Debian: "
                 "libjansson-dev)");
    return -1;
}

#endif
