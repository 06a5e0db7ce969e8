/* Draws a trace with gnuplot: a lane for each process, coloured by how the process spent
 * its time, and below the lanes a bar for each process. */
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "util_plot.h"

/* Kinds of parts, with their colours. The kind that contains the others comes first, so
 * it is drawn beneath them. Readers with red-green blindness can also distinguish the
 * colours, which test/utils/colours.awk checks. */
static const struct kind {
    const char *name, *colour;
    const char *parts[6];
} kinds[] = {
    {"library", "#d0d0d0", {NULL}},
    {"exchange", "#332288", {"exchange", "messages", "survey", NULL}},
    {"move, fill, log, drain, subfiles",
     "#aa3377",
     {"move data", "fill", "log", "drain", "subfiles", NULL}},
    {"open, sync, resize", "#ee6677", {"open file", "sync file", "resize file", NULL}},
    {"waiting, agreeing", "#e69f00", {"agreement", "broadcast", "wait", NULL}},
    {"conversion", "#eedd88", {"conversion", NULL}},
    {"write", "#225522", {"write", "collective write", NULL}},
    {"read", "#33bbee", {"read", "collective read", NULL}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int kind_of(const struct trace_row *r)
{
    for (int k = 1; k < KINDS && !r->call; k++)
        for (int i = 0; kinds[k].parts[i] != NULL; i++)
            if (strcmp(kinds[k].parts[i], r->name) == 0) return k;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct trace_box *p = a, *q = b;
    if (p->pid != q->pid) return p->pid < q->pid ? -1 : 1;
    return p->start < q->start ? -1 : p->start > q->start;
}

static void put_box(const struct trace *t, FILE *out, int pid, double from, double to)
{
    const double lane = (double)t->processes[pid].lane;
    from = (from - t->begin) / 1e6;
    to = (to - t->begin) / 1e6;
    fprintf(out, "%.7g %.9g %.7g %.7g %.9g %.9g\n", (from + to) / 2, lane, from, to,
            lane - 0.4, lane + 0.4);
}

/* Writes the sorted boxes of one kind. Merges boxes that are too close to be
 * distinguished. */
static void put_boxes(const struct trace *t, FILE *out, int kind)
{
    const struct trace_box *b = t->boxes.items;
    const double least = (t->end - t->begin) / 1000;
    double from = 0, to = 0;
    int pid = -1;
    fprintf(out, "$kind%d << END\nnan nan nan nan nan nan\n",
            kind); /* gnuplot rejects empty data */
    for (int64_t i = 0; i < t->boxes.n; i++) {
        if (kind_of(&t->rows[b[i].row]) != kind) continue;
        const double end = b[i].start + b[i].time;
        if (pid == b[i].pid && b[i].start < to + least) {
            if (end > to) to = end;
            continue;
        }
        if (pid >= 0) put_box(t, out, pid, from, to);
        pid = b[i].pid;
        from = b[i].start;
        to = end;
    }
    if (pid >= 0) put_box(t, out, pid, from, to);
    fprintf(out, "END\n");
}

/* Returns the distance between consecutive ranks that get labels. */
static long long ranks_apart(const struct trace *t)
{
    return t->there / 20 + 1;
}

/* Labels the lanes with ranks. Some ranks may be missing from the trace. */
static void put_ranks(const struct trace *t, FILE *out)
{
    const char *comma = "";
    fprintf(out, "set ytics (");
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        const struct trace_process *p = &t->processes[pid];
        if (!p->there || p->lane % ranks_apart(t) != 0) continue;
        fprintf(out, "%s'%lld' %lld", comma, (long long)pid, (long long)p->lane);
        comma = ", ";
    }
    fprintf(out, ")\n");
}

static void put_lanes(const struct trace *t, FILE *out)
{
    if (t->boxes.n > 0)
        qsort(t->boxes.items, (size_t)t->boxes.n, sizeof(struct trace_box), by_place);
    for (int k = 0; k < KINDS; k++)
        put_boxes(t, out, k);
    fprintf(out, "set title ");
    const struct trace_set *sets = t->sets.list.items;
    const char *title = t->sets.list.n > 0 ? sets[0].path : NULL;
    for (int64_t i = 1; title != NULL && i < t->sets.list.n; i++)
        if (sets[i].path == NULL || strcmp(sets[i].path, title) != 0)
            title = "several datasets";
    util_plot_quoted(out, title == NULL ? "" : title);
    fprintf(out,
            " noenhanced\nset xlabel 'seconds'\nset ylabel 'process'\n"
            "set xrange [0:%.9g]\nset yrange [%lld.5:-0.5]\n",
            (t->end - t->begin) / 1e6, (long long)t->there - 1);
    put_ranks(t, out);
    fprintf(out, "set key outside right top\nplot ");
    for (int k = 0; k < KINDS; k++)
        fprintf(out,
                "%s$kind%d using 1:2:3:4:5:6 with boxxyerror fillstyle solid noborder "
                "linecolor rgb '%s' title '%s'",
                k == 0 ? "" : ", ", k, kinds[k].colour, kinds[k].name);
    fprintf(out, "\n");
}

/* Returns the seconds that a process spent on activities of one kind. */
static double spent(const struct trace *t, int64_t pid, int kind)
{
    double sum = 0;
    for (int i = 0; i < t->nrows; i++) {
        const struct trace_row *r = &t->rows[i];
        if (kind_of(r) == kind && pid < r->ncells) sum += r->cells[pid].own;
    }
    return sum / 1e6;
}

/* Writes stacked bars: each kind starts where the previous one ends. */
static void put_bars(const struct trace *t, FILE *out)
{
    int64_t last = 0;
    fprintf(out, "$bars << END\n");
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        if (!t->processes[pid].there) continue;
        last = pid;
        fprintf(out, "%lld", (long long)pid);
        double sum = 0;
        for (int k = 0; k < KINDS; k++)
            fprintf(out, " %.9g", sum += spent(t, pid, k));
        fprintf(out, "\n");
    }
    fprintf(out,
            "END\nset title 'in calls'\nset xlabel 'process'\nset ylabel 'seconds'\n"
            "set xrange [-0.6:%lld.6]\nset yrange [0:*]\nset ytics autofreq\n"
            "set xtics 0, %lld\nset boxwidth 0.8\nunset key\nplot ",
            (long long)last, ranks_apart(t));
    for (int k = KINDS - 1; k >= 0; k--)
        fprintf(
            out,
            "%s$bars using 1:%d with boxes fillstyle solid noborder linecolor rgb '%s'",
            k == KINDS - 1 ? "" : ", ", k + 2, kinds[k].colour);
    fprintf(out, "\n");
}

int trace_draw(const struct trace *t, const char *path)
{
    struct util_plot p;
    if (util_plot_open(&p, TRACE_TOOL, path, 480 + 12 * t->there) != 0) return -1;
    fprintf(p.out, "set multiplot layout 2,1\n");
    put_lanes(t, p.out);
    put_bars(t, p.out);
    fprintf(p.out, "unset multiplot\n");
    return util_plot_close(&p);
}
