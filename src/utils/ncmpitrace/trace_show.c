/* Prints the summary of a trace as text. */
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "util_message.h"

/* Returns the time that one process spent in a row: the total time for a call, and the
 * time not spent in other parts for a part. */
static double process_time(const struct trace_row *r, int64_t pid)
{
    if (pid >= r->ncells) return 0;
    return r->call ? r->cells[pid].time : r->cells[pid].own;
}

static double weight(const struct trace_row *r)
{
    return r->call ? r->all.time : r->all.own;
}

static int by_weight(const void *a, const void *b)
{
    const struct trace_row *const *p = a, *const *q = b;
    return weight(*p) > weight(*q) ? -1 : weight(*p) < weight(*q);
}

static int sorted(const struct trace *t, bool call, const struct trace_row **rows)
{
    int n = 0;
    for (int i = 0; i < t->nrows; i++)
        if (t->rows[i].call == call) rows[n++] = &t->rows[i];
    qsort(rows, (size_t)n, sizeof(struct trace_row *), by_weight);
    return n;
}

/* Formats a number of bytes in human-readable form. */
struct shown {
    char text[32];
};
static struct shown size(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    struct shown s;
    int i = 0;
    for (; bytes >= 10000 && i < 5; i++)
        bytes /= 1024;
    snprintf(s.text, sizeof s.text, "%.*f %s", i == 0 || bytes >= 100 ? 0 : 1, bytes,
             units[i]);
    return s;
}

static void show_row(const struct trace *t, const struct trace_row *r, double all,
                     struct util_out *out)
{
    double least = -1, largest = 0;
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        if (!t->processes[pid].there) continue;
        double time = process_time(r, pid);
        if (least < 0 || time < least) least = time;
        if (time > largest) largest = time;
    }
    char name[TRACE_WORD];
    snprintf(name, sizeof name, "%s", r->name);
    util_escape_controls(name);
    util_out_print(out, "%-26s %9lld %6.1f %10.4f %10.4f %10.4f %12s %10.4f\n", name,
                   (long long)r->all.n, all > 0 ? 100 * weight(r) / all : 0, least / 1e6,
                   weight(r) / (double)t->there / 1e6, largest / 1e6,
                   size((double)r->all.bytes).text, r->all.longest / 1e6);
}

static void show_rows(const struct trace *t, bool call, struct util_out *out)
{
    const struct trace_row *rows[TRACE_NAMES];
    const int n = sorted(t, call, rows);
    const double all = trace_call_time(t);
    util_out_print(out, "\n%-26s %9s %6s %10s %10s %10s %12s %10s\n",
                   call ? "call" : "part", "number", "%", "min s", "mean s", "max s",
                   "bytes", "longest s");
    for (int i = 0; i < n; i++)
        show_row(t, rows[i], all, out);
    if (!call)
        util_out_print(out, "%-26s %9s %6.1f %10s %10.4f\n", "(the library)", "",
                       all > 0 ? 100 * trace_library_time(t) / all : 0, "",
                       trace_library_time(t) / (double)t->there / 1e6);
}

/* ---- waiting ---- */

static void show_waits(const struct trace *t, struct util_out *out)
{
    enum { MOST = 5 };
    double below = -1;
    if (t->waited <= 0) return;
    util_out_print(
        out,
        "\n"
        "waiting for the last process at agreements: %.4f s, sum of all processes\n",
        t->waited / 1e6);
    for (int i = 0; i < MOST; i++) {
        int64_t next = -1;
        for (int64_t pid = 0; pid < t->nprocesses; pid++) {
            double caused = t->processes[pid].caused;
            if (below >= 0 && caused >= below) continue;
            if (next < 0 || caused > t->processes[next].caused) next = pid;
        }
        if (next < 0 || t->processes[next].caused < 0.01 * t->waited) break;
        below = t->processes[next].caused;
        int host = t->processes[next].host;
        char name[64];
        snprintf(name, sizeof name, "%s",
                 host < 0 ? "?" : ((char **)t->hosts.items)[host]);
        util_escape_controls(name);
        util_out_print(out, "  for process %lld (%s): %.4f s, %.0f %%\n", (long long)next,
                       name, below / 1e6, 100 * below / t->waited);
    }
    if (t->unknown > 0.01 * t->waited)
        util_out_print(out, "for an unknown process: %.4f s\n", t->unknown / 1e6);
}

/* ---- the file ---- */

static void show_sizes(const char *what, const int64_t *classes, struct util_out *out)
{
    int64_t all = 0;
    for (int i = 0; i < TRACE_CLASSES; i++)
        all += classes[i];
    if (all == 0) return;
    util_out_print(out, "%-10s", what);
    for (int i = 0; i < TRACE_CLASSES; i++)
        util_out_print(out, " %12lld", (long long)classes[i]);
    util_out_print(out, "\n");
}

static void show_file(const struct trace *t, struct util_out *out)
{
    util_out_print(out, "\n%-10s %12s %12s %12s %12s %12s\n", "file", "< 4 KiB",
                   "< 64 KiB", "< 1 MiB", "< 16 MiB", "larger");
    show_sizes("reads", t->reads, out);
    show_sizes("writes", t->writes, out);
    if (t->all_stripes > 0)
        util_out_print(out, "stripes written: %lld, by several nodes: %lld\n",
                       (long long)t->all_stripes, (long long)t->shared_stripes);
}

/* ---- compression ---- */

static void show_framed(const struct trace *t, struct util_out *out)
{
    enum { MOST = 50 };
    const struct trace_variable *v = t->variables.list.items;
    int shown = 0;
    for (int64_t i = 0; i < t->variables.list.n; i++) {
        if (v[i].frames == 0) continue;
        if (shown == 0)
            util_out_print(out, "\n%-26s %12s %12s %7s %10s\n", "compressed", "bytes",
                           "frames", "ratio", "s");
        if (++shown > MOST) break;
        char name[TRACE_WORD];
        snprintf(name, sizeof name, "%s", v[i].name == NULL ? "?" : v[i].name);
        util_escape_controls(name);
        util_out_print(out, "%-26s %12s %12s %7.2f %10.4f\n", name,
                       size((double)v[i].values).text, size((double)v[i].frames).text,
                       (double)v[i].values / (double)v[i].frames, v[i].packing / 1e6);
    }
    if (shown > MOST) util_out_text(out, "and others\n");
}

/* ---- advice ---- */

/* Prints paragraphs with lines that fit a terminal. */
static void show_words(const char *words, struct util_out *out)
{
    enum { WIDTH = 90 };
    size_t column = 2;
    util_out_text(out, "*");
    while (*words != '\0') {
        size_t n = strcspn(words, " ");
        if (column + n >= WIDTH) {
            util_out_text(out, "\n ");
            column = 1;
        }
        util_out_text(out, " ");
        util_out_bytes(out, words, n);
        column += n + 1;
        words += n + (words[n] == ' ');
    }
    util_out_text(out, "\n");
}

static void show_advice(const struct trace *t, struct util_out *out)
{
    char words[TRACE_ADVICE];
    const char *rule;
    util_out_text(out, "\n");
    bool any = false;
    for (int i = 0; trace_advise(t, &i, &rule, words); i++) {
        show_words(words, out);
        any = true;
    }
    if (!any) util_out_text(out, "No problems were found.\n");
}

/* Returns whether an earlier dataset has the same path. */
static bool seen_before(const struct trace_set *sets, int64_t i)
{
    for (int64_t k = 0; k < i; k++)
        if (sets[k].path != NULL && strcmp(sets[k].path, sets[i].path) == 0) return true;
    return false;
}

void trace_show(const struct trace *t, struct util_out *out)
{
    double busy = trace_call_time(t), wall = 0;
    for (int64_t pid = 0; pid < t->nprocesses; pid++)
        wall +=
            t->processes[pid].there ? t->processes[pid].end - t->processes[pid].begin : 0;
    const struct trace_set *sets = t->sets.list.items;
    for (int64_t i = 0; i < t->sets.list.n && i < 10; i++) {
        char path[200];
        if (sets[i].path == NULL || seen_before(sets, i)) continue;
        snprintf(path, sizeof path, "%s", sets[i].path);
        util_escape_controls(path);
        util_out_print(out, "%s\n", path);
    }
    if (t->sets.list.n > 1)
        util_out_print(out, "opened or created %lld times\n", (long long)t->sets.list.n);
    util_out_print(out,
                   "%lld processes, %.4f s from the first call to the end of the last; "
                   "%.1f %% of it in calls\n",
                   (long long)t->there, (t->end - t->begin) / 1e6,
                   wall > 0 ? 100 * busy / wall : 0);
    if (t->errors > 0)
        util_out_print(out, "calls that returned an error: %lld\n", (long long)t->errors);
    show_rows(t, true, out);
    show_rows(t, false, out);
    show_waits(t, out);
    show_file(t, out);
    show_framed(t, out);
    show_advice(t, out);
}
