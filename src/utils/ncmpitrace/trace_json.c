/* Prints the summary as JSON. Times are in seconds. */
#include "trace.h"
#include "util_json.h"

enum { DIGITS = 9 };

static void write_row(const struct trace_row *r, struct util_json *j)
{
    util_json_open(j, NULL, '{');
    util_json_text(j, "name", r->name);
    util_json_int(j, "number", r->all.n);
    util_json_real(j, "seconds", r->all.time / 1e6, DIGITS);
    util_json_real(j, "own_seconds", r->all.own / 1e6, DIGITS);
    util_json_real(j, "longest_seconds", r->all.longest / 1e6, DIGITS);
    util_json_int(j, "bytes", r->all.bytes);
    util_json_close(j, '}');
}

static void write_rows(const struct trace *t, const char *name, bool call,
                       struct util_json *j)
{
    util_json_open(j, name, '[');
    for (int i = 0; i < t->nrows; i++)
        if (t->rows[i].call == call) write_row(&t->rows[i], j);
    util_json_close(j, ']');
}

static void write_processes(const struct trace *t, struct util_json *j)
{
    util_json_open(j, "processes", '[');
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        const struct trace_process *p = &t->processes[pid];
        if (!p->there) continue;
        util_json_open(j, NULL, '{');
        util_json_int(j, "rank", pid);
        if (p->host >= 0) util_json_text(j, "host", ((char **)t->hosts.items)[p->host]);
        util_json_real(j, "calls_seconds", p->time / 1e6, DIGITS);
        util_json_real(j, "waited_for_seconds", p->caused / 1e6, DIGITS);
        util_json_close(j, '}');
    }
    util_json_close(j, ']');
}

static void write_sizes(const char *name, const int64_t *classes, struct util_json *j)
{
    util_json_open(j, name, '[');
    for (int i = 0; i < TRACE_CLASSES; i++)
        util_json_int(j, NULL, classes[i]);
    util_json_close(j, ']');
}

static void write_framed(const struct trace *t, struct util_json *j)
{
    const struct trace_variable *v = t->variables.list.items;
    util_json_open(j, "compressed", '[');
    for (int64_t i = 0; i < t->variables.list.n; i++) {
        if (v[i].frames == 0) continue;
        util_json_open(j, NULL, '{');
        if (v[i].name != NULL) util_json_text(j, "variable", v[i].name);
        util_json_int(j, "bytes", v[i].values);
        util_json_int(j, "frame_bytes", v[i].frames);
        util_json_real(j, "seconds", v[i].packing / 1e6, DIGITS);
        util_json_close(j, '}');
    }
    util_json_close(j, ']');
}

void trace_write_json(const struct trace *t, struct util_out *out)
{
    struct util_json json, *j = &json;
    const struct trace_set *sets = t->sets.list.items;
    char words[TRACE_ADVICE];
    const char *rule;
    util_json_start(j, out);
    util_json_open(j, NULL, '{');
    util_json_open(j, "datasets", '[');
    for (int64_t i = 0; i < t->sets.list.n; i++) {
        if (sets[i].path == NULL) continue;
        util_json_open(j, NULL, '{');
        util_json_text(j, "path", sets[i].path);
        util_json_int(j, "processes", sets[i].processes);
        util_json_int(j, "stripe", sets[i].stripe);
        util_json_close(j, '}');
    }
    util_json_close(j, ']');
    util_json_real(j, "seconds", (t->end - t->begin) / 1e6, DIGITS);
    util_json_real(j, "calls_seconds", trace_call_time(t) / 1e6, DIGITS);
    util_json_real(j, "library_seconds", trace_library_time(t) / 1e6, DIGITS);
    util_json_real(j, "waited_seconds", t->waited / 1e6, DIGITS);
    util_json_int(j, "errors", t->errors);
    write_rows(t, "calls", true, j);
    write_rows(t, "parts", false, j);
    write_processes(t, j);
    write_sizes("reads_by_size", t->reads, j);
    write_sizes("writes_by_size", t->writes, j);
    util_json_int(j, "stripes", t->all_stripes);
    util_json_int(j, "shared_stripes", t->shared_stripes);
    write_framed(t, j);
    util_json_open(j, "advice", '[');
    for (int i = 0; trace_advise(t, &i, &rule, words); i++) {
        util_json_open(j, NULL, '{');
        util_json_text(j, "rule", rule);
        util_json_text(j, "words", words);
        util_json_close(j, '}');
    }
    util_json_close(j, ']');
    util_json_close(j, '}');
    util_out_text(out, "\n");
}
