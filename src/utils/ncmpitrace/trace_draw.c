/* A picture of a trace: a lane for each process, and what its time went to by colour; a
 * bar for each process below. gnuplot draws it. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"
#include "util_message.h"

/* Parts by what they have in common; what others lie in comes first, and is drawn below.
 */
static const struct kind {
    const char *name, *colour;
    const char *parts[5];
} kinds[] = {
    {"library", "#c8c8c8", {NULL}},
    {"exchange", "#7570b3", {"exchange", "messages", "survey", NULL}},
    {"move, fill, log, drain", "#e7298a", {"move data", "fill", "log", "drain", NULL}},
    {"open, sync, resize", "#a6761d", {"open file", "sync file", "resize file", NULL}},
    {"waiting, agreeing", "#d95f02", {"agreement", "broadcast", "wait", NULL}},
    {"conversion", "#e6ab02", {"conversion", NULL}},
    {"write", "#1b9e77", {"write", "collective write", NULL}},
    {"read", "#66a6ff", {"read", "collective read", NULL}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int kind_of(const struct trace_row *r)
{
    for (int k = 1; k < KINDS && !r->call; k++)
        for (int i = 0; kinds[k].parts[i] != NULL; i++)
            if (strcmp(kinds[k].parts[i], r->name) == 0) return k;
    return 0;
}

/* A text in quotes: these and what steers gnuplot are left out. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++)
        fputc(strchr("\"\\`@$", *text) != NULL || (unsigned char)*text < ' ' ? '?'
                                                                             : *text,
              out);
    fputc('"', out);
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

/* Those of a kind, which are in order; what no eye tells apart is one. */
static void put_boxes(const struct trace *t, FILE *out, int kind)
{
    const struct trace_box *b = t->boxes.items;
    const double least = (t->end - t->begin) / 1000;
    double from = 0, to = 0;
    int pid = -1;
    fprintf(out, "$kind%d << END\nnan nan nan nan nan nan\n", kind); /* never empty */
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

/* So many ranks are between two that are written. */
static long long ranks_apart(const struct trace *t)
{
    return t->there / 20 + 1;
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
    put_quoted(out, title == NULL ? "" : title);
    fprintf(out,
            " noenhanced\nset xlabel 'seconds'\nset ylabel 'process'\n"
            "set xrange [0:%.9g]\nset yrange [%lld.5:-0.5]\nset ytics %lld\n"
            "set key outside right top\nplot ",
            (t->end - t->begin) / 1e6, (long long)t->there - 1, ranks_apart(t));
    for (int k = 0; k < KINDS; k++)
        fprintf(out,
                "%s$kind%d using 1:2:3:4:5:6 with boxxyerror fillstyle solid noborder "
                "linecolor rgb '%s' title '%s'",
                k == 0 ? "" : ", ", k, kinds[k].colour, kinds[k].name);
    fprintf(out, "\n");
}

/* What a process had of a kind, in seconds. */
static double spent(const struct trace *t, int64_t pid, int kind)
{
    double sum = 0;
    for (int i = 0; i < t->nrows; i++) {
        const struct trace_row *r = &t->rows[i];
        if (kind_of(r) == kind && pid < r->ncells) sum += r->cells[pid].own;
    }
    return sum / 1e6;
}

/* Bars that stand on each other: each kind begins where those before it end. */
static void put_bars(const struct trace *t, FILE *out)
{
    fprintf(out, "$bars << END\n");
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        if (!t->processes[pid].there) continue;
        fprintf(out, "%lld", (long long)pid);
        double sum = 0;
        for (int k = 0; k < KINDS; k++)
            fprintf(out, " %.9g", sum += spent(t, pid, k));
        fprintf(out, "\n");
    }
    fprintf(out,
            "END\nset title 'in calls'\nset xlabel 'process'\nset ylabel 'seconds'\n"
            "set xrange [*:*]\nset yrange [0:*]\nset ytics autofreq\nset xtics %lld\n"
            "set boxwidth 0.8\nunset key\nplot ",
            ranks_apart(t));
    for (int k = KINDS - 1; k >= 0; k--)
        fprintf(
            out,
            "%s$bars using 1:%d with boxes fillstyle solid noborder linecolor rgb '%s'",
            k == KINDS - 1 ? "" : ", ", k + 2, kinds[k].colour);
    fprintf(out, "\n");
}

static const char no_gnuplot[] =
    "gnuplot is not there or could not draw it (Debian: gnuplot-nox)";

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

static int refuse(const char *path, const char *why)
{
    util_message(TRACE_TOOL, path, -1, "%s", why);
    return -1;
}

/* gnuplot, which reads what is written to the result; NULL: it is not there. */
static FILE *start_gnuplot(pid_t *child)
{
    char *const words[] = {(char *)"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0) return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[0]);
    FILE *out = failed ? NULL : fdopen(ends[1], "w");
    if (out == NULL) (void)close(ends[1]);
    return out;
}

/* Has it drawn all? */
static bool end_gnuplot(FILE *out, pid_t child)
{
    int status = -1;
    bool written = fclose(out) == 0;
    pid_t ended;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return written && ended == child && status == 0;
}

int trace_draw(const struct trace *t, const char *path)
{
    const bool svg = ends_in(path, ".svg");
    int64_t height = 480 + 12 * t->there;
    if (!svg && !ends_in(path, ".png"))
        return refuse(path, "a picture is a .svg or a .png");
    if (strpbrk(path, "\"\\`@$\n") != NULL)
        return refuse(path, "gnuplot takes no such name");
    if (height > 4000) height = 4000;
    (void)signal(SIGPIPE, SIG_IGN); /* what gnuplot does not read is its error */
    pid_t child;
    FILE *out = start_gnuplot(&child);
    if (out == NULL) return refuse(path, no_gnuplot);
    fprintf(out,
            svg ? "set terminal svg size 1000,%lld font 'sans,12'\n"
                : "set terminal pngcairo size 1000,%lld font 'sans,11'\n",
            (long long)height);
    fprintf(out, "set output \"%s\"\nset multiplot layout 2,1\n", path);
    put_lanes(t, out);
    put_bars(t, out);
    fprintf(out, "unset multiplot\nset output\n");
    return end_gnuplot(out, child) ? 0 : refuse(path, no_gnuplot);
}
