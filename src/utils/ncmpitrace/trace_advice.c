/* What may be done about it: rules, each with when it holds and what it says. Shares are
 * of the time that all processes spent in calls. */
#include <string.h>

#include "trace.h"
#include "util_message.h"

enum { SMALL = 65536, MANY = 100, LARGE = 1 << 20 };

static double share(const struct trace *t, double time)
{
    double all = trace_call_time(t);
    return all > 0 ? 100 * time / all : 0;
}

static double share_of(const struct trace *t, const char *part)
{
    return share(t, trace_own(t, part));
}

static double share_of_calls(const struct trace *t, const char *name)
{
    const struct trace_row *r = trace_find(t, name);
    return r == NULL ? 0 : share(t, r->all.time);
}

/* Data calls: collective ones, or those of a process alone; and what they moved. */
static struct trace_cell accesses(const struct trace *t, bool collective)
{
    struct trace_cell sum = {0};
    for (int i = 0; i < t->nrows; i++) {
        const struct trace_row *r = &t->rows[i];
        bool data = strncmp(r->name, "ncmpi_put_", 10) == 0 ||
                    strncmp(r->name, "ncmpi_get_", 10) == 0;
        bool all = strcmp(r->name + strlen(r->name) - 4, "_all") == 0;
        if (!r->call || !data || all != collective) continue;
        sum.n += r->all.n;
        sum.bytes += r->all.bytes;
        sum.time += r->all.time;
    }
    return sum;
}

/* Is this a call that puts values (`way` is "put"), or gets them? */
static bool moves_values(const struct trace_row *r, const char *way)
{
    static const char *const posted[] = {"ncmpi_", "ncmpi_i", "ncmpi_b"};
    for (int i = 0; i < 3 && r->call; i++) {
        const size_t n = strlen(posted[i]);
        if (strncmp(r->name, posted[i], n) == 0 && strncmp(r->name + n, way, 3) == 0 &&
            r->name[n + 3] == '_')
            return true;
    }
    return false;
}

/* What one process put or got, or all of them: -1. */
static struct trace_cell moved(const struct trace *t, const char *way, int64_t pid)
{
    struct trace_cell sum = {0};
    for (int i = 0; i < t->nrows; i++) {
        const struct trace_row *r = &t->rows[i];
        if (!moves_values(r, way) || pid >= r->ncells) continue;
        const struct trace_cell *c = pid < 0 ? &r->all : &r->cells[pid];
        sum.n += c->n;
        sum.bytes += c->bytes;
        sum.time += c->time;
    }
    return sum;
}

static bool are_small(const struct trace *t, const struct trace_cell *c)
{
    return c->n >= MANY * t->there && c->bytes / c->n < SMALL;
}

/* ---- rules: the words, and whether they are to be said ---- */

static bool small_alone(const struct trace *t, char *words)
{
    const struct trace_cell c = accesses(t, false);
    if (c.n == 0 || !are_small(t, &c) || share(t, c.time) < 20) return false;
    snprintf(
        words, TRACE_ADVICE,
        "%lld independent calls of %lld bytes on the average took %.0f %% of the time. "
        "Make them collective, put more values with each, or post them (ncmpi_iput_*) "
        "and wait for all at once (ncmpi_wait_all).",
        (long long)c.n, (long long)(c.bytes / c.n), share(t, c.time));
    return true;
}

static bool small_together(const struct trace *t, char *words)
{
    const struct trace_cell c = accesses(t, true);
    double agreeing = share_of(t, "agreement") + share_of(t, "wait");
    if (c.n == 0 || !are_small(t, &c) || share(t, c.time) < 20 || agreeing < 20)
        return false;
    snprintf(
        words, TRACE_ADVICE,
        "%lld collective calls of %lld bytes on the average: agreeing and waiting took "
        "%.0f %% of the time. Post them (ncmpi_iput_*, ncmpi_iget_*) and wait for many "
        "at "
        "once (ncmpi_wait_all), which agrees once.",
        (long long)c.n, (long long)(c.bytes / c.n), agreeing);
    return true;
}

static bool one_is_late(const struct trace *t, char *words)
{
    int64_t worst = 0;
    for (int64_t pid = 1; pid < t->nprocesses; pid++)
        if (t->processes[pid].caused > t->processes[worst].caused) worst = pid;
    if (t->nprocesses == 0 || t->there < 2) return false;
    double caused = t->processes[worst].caused;
    int64_t times = t->processes[worst].late; /* once may be chance */
    if (share(t, t->waited) < 10 || caused < 0.6 * t->waited) return false;
    if (times < 5 || 2 * times < t->late) return false;
    snprintf(
        words, TRACE_ADVICE,
        "The others wait for process %lld, %.0f %% of the time in calls: it comes last "
        "to "
        "agreements. It has more to compute or to write before, or its node is slower: "
        "share out the work more evenly.",
        (long long)worst, share(t, caused));
    return true;
}

static bool conversion(const struct trace *t, char *words)
{
    double time = share_of(t, "conversion");
    if (time < 30) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Gathering and converting values took %.0f %% of the time. Keep them in memory "
        "in the variable's type and without gaps, or define the variable in the type "
        "that they have.",
        time);
    return true;
}

static bool stripes(const struct trace *t, char *words)
{
    if (t->all_stripes == 0 || t->shared_stripes * 10 < t->all_stripes) return false;
    snprintf(
        words, TRACE_ADVICE,
        "%lld of %lld stripes of the file were written by several nodes, which take "
        "turns for each. Use collective calls, with the hint nc_transfer=node, and begin "
        "variables at whole stripes: the hint nc_var_align_size.",
        (long long)t->shared_stripes, (long long)t->all_stripes);
    return true;
}

static bool moves(const struct trace *t, char *words)
{
    const struct trace_row *r = trace_find(t, "move data");
    if (r == NULL ||
        share_of_calls(t, "ncmpi_enddef") + share_of_calls(t, "ncmpi__enddef") < 10)
        return false;
    snprintf(
        words, TRACE_ADVICE,
        "Definitions outgrew the room of the header, and data had to move, %lld times. "
        "Leave room at the first enddef: the hint nc_header_align_size, or h_minfree of "
        "ncmpi__enddef.",
        (long long)(r->all.n / (t->there > 0 ? t->there : 1)));
    return true;
}

static bool filling(const struct trace *t, char *words)
{
    const struct trace_row *r = trace_find(t, "fill");
    double time = r == NULL ? 0 : share(t, r->all.time);
    if (time < 10) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Filling took %.0f %% of the time. Variables that are written completely need "
        "none: ncmpi_set_fill with NC_NOFILL, which holds without it.",
        time);
    return true;
}

static bool records(const struct trace *t, char *words)
{
    const struct trace_variable *v = t->variables.list.items, *worst = NULL;
    for (int64_t i = 0; i < t->variables.list.n; i++)
        if (v[i].record && v[i].n >= MANY * t->there && v[i].bytes / v[i].n < SMALL &&
            (worst == NULL || v[i].n > worst->n))
            worst = &v[i];
    if (worst == NULL || worst->name == NULL) return false;
    char name[100];
    snprintf(name, sizeof name, "%s", worst->name);
    util_tame(name);
    snprintf(
        words, TRACE_ADVICE,
        "Records of '%s' were accessed %lld times, %lld bytes at a time. Records of "
        "several variables lie among each other in the file: access all variables of a "
        "record with one wait, several records at once, or give the variable a fixed "
        "dimension.",
        name, (long long)worst->n, (long long)(worst->bytes / worst->n));
    return true;
}

static bool syncing(const struct trace *t, char *words)
{
    double time = share_of(t, "sync file"); /* enddef syncs, too, what it moves */
    if (time < 10 || share_of_calls(t, "ncmpi_sync") < 10) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Bringing the file to the device took %.0f %% of the time. Call ncmpi_sync only "
        "where a power cut must not undo what was written: other processes see it "
        "without.",
        time);
    return true;
}

static bool opening(const struct trace *t, char *words)
{
    double time = share_of_calls(t, "ncmpi_create") + share_of_calls(t, "ncmpi_open") +
                  share_of_calls(t, "ncmpi_close");
    if (time < 50 || t->sets.list.n < 3) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Opening and closing %lld datasets took %.0f %% of the time. Keep files open, "
        "put variables of several files into one, or open a file by the processes alone "
        "that need it.",
        (long long)t->sets.list.n, time);
    return true;
}

static bool one_puts_all(const struct trace *t, char *words)
{
    const struct trace_cell all = moved(t, "put", -1);
    double time = share(t, all.time) + share_of_calls(t, "ncmpi_wait_all");
    if (t->there < 2 || all.bytes < LARGE || time < 20) return false;
    for (int64_t pid = 0; pid < t->nprocesses; pid++) {
        const double part =
            100.0 * (double)moved(t, "put", pid).bytes / (double)all.bytes;
        if (part < 90) continue;
        snprintf(
            words, TRACE_ADVICE,
            "Process %lld puts %.0f %% of the bytes, and putting takes %.0f %% of the "
            "time. Do not gather values in one process: let each put its own with "
            "the functions that end in _all, which write in parallel.",
            (long long)pid, part, time);
        return true;
    }
    return false;
}

static bool all_get_all(const struct trace *t, char *words)
{
    const struct trace_cell all = moved(t, "get", -1);
    if (t->there < 2 || t->read_extent < LARGE || share(t, all.time) < 20) return false;
    if ((double)all.bytes < 0.8 * (double)t->there * (double)t->read_extent) return false;
    for (int64_t pid = 0; pid < t->nprocesses; pid++)
        if (t->processes[pid].there &&
            (double)moved(t, "get", pid).bytes < 0.8 * (double)t->read_extent)
            return false;
    snprintf(
        words, TRACE_ADVICE,
        "Each of %lld processes gets as many bytes as are read of files, %lld MiB, "
        "which takes %.0f %% of the time. If they are the same for all, let each get "
        "its part alone, or one get them and send them to the others (MPI_Bcast).",
        (long long)t->there, (long long)(t->read_extent >> 20), share(t, all.time));
    return true;
}

static bool read_again(const struct trace *t, char *words)
{
    if (t->read_extent < LARGE || share_of(t, "read") < 5) return false;
    const double times = (double)t->read_bytes / (double)t->read_extent;
    if (times < 1.5) return false;
    snprintf(
        words, TRACE_ADVICE,
        "The file was read %.1f times over: %lld MiB, between places %lld MiB "
        "apart. With nc_stage=enable and a fast nc_stage_dirname it is read once. If "
        "it is staged already, the stage has too little room: nc_stage_size, or a "
        "larger device.",
        times, (long long)(t->read_bytes >> 20), (long long)(t->read_extent >> 20));
    return true;
}

/* Calls of one process, each of which takes many places of the file in turn. */
static bool many_writes(const struct trace *t, char *words)
{
    const struct trace_row *r = trace_find(t, "write");
    const struct trace_cell puts = moved(t, "put", -1);
    double time = share_of(t, "write");
    if (r == NULL || puts.n == 0 || time < 20) return false;
    if (r->all.n < MANY * puts.n || r->all.bytes / r->all.n >= SMALL) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Each put made %lld writes of %lld bytes on the average, %.0f %% of the time: "
        "its values lie in short runs of the file. Make the calls collective "
        "(_all), with the hint nc_transfer=node if they are; divide another "
        "dimension than the last; or keep each process's values together "
        "(nc_blob=enable).",
        (long long)(r->all.n / puts.n), (long long)(r->all.bytes / r->all.n), time);
    return true;
}

static bool small_writes(const struct trace *t, char *words)
{
    int64_t small = t->writes[0], all = 0;
    for (int i = 0; i < TRACE_CLASSES; i++)
        all += t->writes[i];
    double time = share_of(t, "write");
    char other[TRACE_ADVICE];
    if (all < MANY || small * 2 < all || time < 20) return false;
    if (small_alone(t, other) || many_writes(t, other)) return false;
    snprintf(words, TRACE_ADVICE,
             "%lld of %lld writes to the file had less than 4 KiB, and writing took %.0f "
             "%% of "
             "the time. The hint nc_transfer=node puts pieces together in memory first; "
             "nc_burst_buf=enable writes them to a log.",
             (long long)small, (long long)all, time);
    return true;
}

static bool compressing(const struct trace *t, char *words)
{
    double time = share_of(t, "compression"), writing = share_of(t, "write");
    if (time < 20 || time < writing) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Waiting for compression took %.0f %% of the time, writing what came of it "
        "%.0f %%: the file takes values faster than they are compressed. "
        "nc_compress=lz4 is quicker, nc_compress=zstd/none@VAR,... leaves out variables "
        "that do not shrink, and fewer digits (nc_quantize) shrink more.",
        time, writing);
    return true;
}

/* Where nothing else says why. */
static bool all_are_late(const struct trace *t, char *words)
{
    char other[TRACE_ADVICE];
    if (small_together(t, other) || moves(t, other) || opening(t, other)) return false;
    if (one_puts_all(t, other)) return false;
    if (share(t, t->waited) < 30 || one_is_late(t, other)) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Processes wait for each other %.0f %% of the time in calls, now for one, now "
        "for "
        "another. Make fewer collective calls: post requests and wait for many at once. "
        "With more processes than cores this says little.",
        share(t, t->waited));
    return true;
}

static const struct rule {
    const char *name;
    bool (*holds)(const struct trace *t, char *words);
} rules[] = {
    {"small-independent", small_alone},
    {"small-collective", small_together},
    {"one-late", one_is_late},
    {"conversion", conversion},
    {"shared-stripes", stripes},
    {"header-moves", moves},
    {"fill", filling},
    {"records", records},
    {"sync", syncing},
    {"open-close", opening},
    {"one-puts-all", one_puts_all},
    {"all-get-all", all_get_all},
    {"read-again", read_again},
    {"many-writes", many_writes},
    {"small-writes", small_writes},
    {"compression", compressing},
    {"all-wait", all_are_late},
};

bool trace_advise(const struct trace *t, int *i, const char **rule,
                  char words[TRACE_ADVICE])
{
    for (; *i < (int)(sizeof rules / sizeof rules[0]); ++*i) {
        *rule = rules[*i].name;
        if (rules[*i].holds(t, words)) return true;
    }
    return false;
}
