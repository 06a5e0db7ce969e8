/* Gives advice based on rules. Each rule has a text, and a condition under which it
 * applies. Shares are percentages of the time that all processes spent in calls. */
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

/* Sums up the data calls, either collective or independent, and the bytes that they
 * transferred. */
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

/* Returns whether this row is for a call that puts values (`way` is "put") or gets
 * them. */
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

/* Sums up the puts or gets of one process, or of all processes if `pid` is -1. */
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

/* ---- rules: each function returns whether the rule applies, and formats its text ----
 */

static bool unused_hints(const struct trace *t, char *words)
{
    snprintf(words, TRACE_ADVICE, "Hints without an effect: %.450s.", t->unused);
    util_escape_controls(words);
    return t->unused[0] != '\0';
}

static bool small_independent(const struct trace *t, char *words)
{
    const struct trace_cell c = accesses(t, false);
    if (c.n == 0 || !are_small(t, &c) || share(t, c.time) < 20) return false;
    snprintf(words, TRACE_ADVICE,
             "%lld independent calls of %lld bytes on average took %.0f %% of the time. "
             "Make them collective, put more values in each call, or post them "
             "(ncmpi_iput_*) and wait for all of them at once (ncmpi_wait_all).",
             (long long)c.n, (long long)(c.bytes / c.n), share(t, c.time));
    return true;
}

static bool small_collective(const struct trace *t, char *words)
{
    const struct trace_cell c = accesses(t, true);
    double agreeing = share_of(t, "agreement") + share_of(t, "wait");
    if (c.n == 0 || !are_small(t, &c) || share(t, c.time) < 20 || agreeing < 20)
        return false;
    snprintf(words, TRACE_ADVICE,
             "In %lld collective calls of %lld bytes on average, agreements and waiting "
             "took %.0f %% of the time. Post them (ncmpi_iput_*, ncmpi_iget_*) and wait "
             "for many at once (ncmpi_wait_all), which needs only one agreement.",
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
    int64_t times =
        t->processes[worst].late_count; /* a single long wait may be a coincidence */
    if (share(t, t->waited) < 10 || caused < 0.6 * t->waited) return false;
    if (times < 5 || 2 * times < t->late_count) return false;
    snprintf(words, TRACE_ADVICE,
             "Other processes wait for process %lld during %.0f %% of the time in calls, "
             "because it arrives last at agreements. It computes or writes more before "
             "the calls, or its node is slower: balance the work better.",
             (long long)worst, share(t, caused));
    return true;
}

static bool conversion(const struct trace *t, char *words)
{
    double time = share_of(t, "conversion");
    if (time < 30) return false;
    snprintf(words, TRACE_ADVICE,
             "Gathering and converting values took %.0f %% of the time. Store them in "
             "memory in the variable's type and without gaps, or define the variable "
             "with the type of the values in memory.",
             time);
    return true;
}

static bool stripes(const struct trace *t, char *words)
{
    if (t->all_stripes == 0 || t->shared_stripes * 10 < t->all_stripes) return false;
    snprintf(
        words, TRACE_ADVICE,
        "%lld of %lld stripes of the file were written by several nodes, which wait for "
        "each other's locks. Use collective calls, with the hint nc_transfer=node, and "
        "align variables with stripes (hint nc_var_align_size).",
        (long long)t->shared_stripes, (long long)t->all_stripes);
    return true;
}

static bool moves(const struct trace *t, char *words)
{
    const struct trace_row *r = trace_find(t, "move data");
    if (r == NULL ||
        share_of_calls(t, "ncmpi_enddef") + share_of_calls(t, "ncmpi__enddef") < 10)
        return false;
    snprintf(words, TRACE_ADVICE,
             "Data had to move %lld times, because definitions outgrew the space for the "
             "header. Reserve space at the first enddef, with the hint "
             "nc_header_align_size or the argument h_minfree of ncmpi__enddef.",
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
        "Filling took %.0f %% of the time. Variables that are written completely need no "
        "filling: call ncmpi_set_fill with NC_NOFILL, which is also the default.",
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
    util_escape_controls(name);
    snprintf(words, TRACE_ADVICE,
             "Records of '%s' were accessed %lld times, %lld bytes at a time. In the "
             "file, records of all record variables are interleaved: access all "
             "variables of a record with one wait, access several records at once, or "
             "give the variable a fixed-size dimension.",
             name, (long long)worst->n, (long long)(worst->bytes / worst->n));
    return true;
}

static bool syncing(const struct trace *t, char *words)
{
    double time = share_of(t, "sync file"); /* enddef also syncs the data it moves */
    if (time < 10 || share_of_calls(t, "ncmpi_sync") < 10) return false;
    snprintf(words, TRACE_ADVICE,
             "Syncing the file took %.0f %% of the time. Call ncmpi_sync only where the "
             "values must survive a power failure: other processes see them without it.",
             time);
    return true;
}

static bool opening(const struct trace *t, char *words)
{
    double time = share_of_calls(t, "ncmpi_create") + share_of_calls(t, "ncmpi_open") +
                  share_of_calls(t, "ncmpi_close");
    if (time < 50 || t->sets.list.n < 3) return false;
    snprintf(words, TRACE_ADVICE,
             "Opening and closing %lld datasets took %.0f %% of the time. Keep files "
             "open, combine the variables of several files in one, or open each file "
             "only on the processes that need it.",
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
            "Process %lld puts %.0f %% of the bytes, and puts take %.0f %% of the time. "
            "Do not gather values on one process: let each process put its own values "
            "with the functions that end in _all, which write in parallel.",
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
    snprintf(words, TRACE_ADVICE,
             "Each of %lld processes gets about as many bytes as are read from the "
             "files, %lld MiB, which takes %.0f %% of the time. If all of them get the "
             "same values, let each process get only the part that it needs, or let one "
             "process get all and broadcast them (MPI_Bcast).",
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
        "The file was read %.1f times: %lld MiB in a range of %lld MiB. With "
        "nc_stage=enable and a fast nc_stage_dirname it is read once. If it is already "
        "staged, the stage is too small: increase nc_stage_size, or use a larger device.",
        times, (long long)(t->read_bytes >> 20), (long long)(t->read_extent >> 20));
    return true;
}

/* Applies if every put writes many short runs of bytes to the file. */
static bool many_writes(const struct trace *t, char *words)
{
    const struct trace_row *r = trace_find(t, "write");
    const struct trace_cell puts = moved(t, "put", -1);
    double time = share_of(t, "write");
    if (r == NULL || puts.n == 0 || time < 20) return false;
    if (r->all.n < MANY * puts.n || r->all.bytes / r->all.n >= SMALL) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Each put made %lld writes of %lld bytes on average, which took %.0f %% of the "
        "time, because its values are in short runs of the file. Use collective calls "
        "(_all) with the hint nc_transfer=node; decompose a dimension other than the "
        "last one; or store the values of each process together (nc_blob=enable).",
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
    if (small_independent(t, other) || many_writes(t, other)) return false;
    snprintf(words, TRACE_ADVICE,
             "%lld of %lld writes to the file were shorter than 4 KiB, and writing took "
             "%.0f %% of the time. The hint nc_transfer=node combines pieces in memory "
             "first; nc_burst_buf=enable writes them to a log.",
             (long long)small, (long long)all, time);
    return true;
}

static bool compressing(const struct trace *t, char *words)
{
    double time = share_of(t, "compression"), writing = share_of(t, "write");
    if (time < 20 || time < writing) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Waiting for compression took %.0f %% of the time, and writing the compressed "
        "data %.0f %%: the file system is faster than the compression. nc_compress=lz4 "
        "is faster, nc_compress=zstd/none@VAR,... excludes variables that compress "
        "badly, and fewer digits (nc_quantize) compress better.",
        time, writing);
    return true;
}

/* Applies only if no other rule explains the waiting. */
static bool all_are_late(const struct trace *t, char *words)
{
    char other[TRACE_ADVICE];
    if (small_collective(t, other) || moves(t, other) || opening(t, other)) return false;
    if (one_puts_all(t, other)) return false;
    if (share(t, t->waited) < 30 || one_is_late(t, other)) return false;
    snprintf(
        words, TRACE_ADVICE,
        "Processes wait for each other during %.0f %% of the time in calls, each time "
        "for a different one. Make fewer collective calls: post requests and wait for "
        "many at once. If there are more processes than cores, this is expected.",
        share(t, t->waited));
    return true;
}

static const struct rule {
    const char *name;
    bool (*holds)(const struct trace *t, char *words);
} rules[] = {
    {"unused-hints", unused_hints},
    {"small-independent", small_independent},
    {"small-collective", small_collective},
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
