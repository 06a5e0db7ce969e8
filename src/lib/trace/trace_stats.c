/* Reports the counters: individually in an info object, or all together in a report. */
#include "trace_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "config.h"
#include "dataset.h"

enum together { ADD, LARGEST };

static const struct counter {
    const char *name;
    enum together together;
    const char *what;
} table[] = {
#define TRACE_STAT(name, together, what) {#name, together, what},
#include "trace_stats.def"
#undef TRACE_STAT
};

enum { COUNTERS = sizeof(struct trace_stats) / sizeof(int64_t) };

int trace_stats_grow(struct dataset *ds, int old, int nvars)
{
    struct trace_framed *grown =
        base_realloc(ds->frames.vars, ((size_t)nvars + 1) * sizeof *grown);
    if (grown == NULL) return NC_ENOMEM;
    memset(grown + old, 0, ((size_t)nvars + 1 - (size_t)old) * sizeof *grown);
    ds->frames = (struct trace_frames){grown, nvars};
    return NC_NOERR;
}

void trace_stats_take(struct trace_stats *to, struct trace_stats *from)
{
    int64_t sum[COUNTERS], more[COUNTERS];
    memcpy(sum, to, sizeof sum);
    memcpy(more, from, sizeof more);
    for (int i = 0; i < COUNTERS; i++) {
        if (table[i].together == ADD)
            sum[i] += more[i];
        else if (more[i] > sum[i])
            sum[i] = more[i];
    }
    memcpy(to, sum, sizeof sum);
    *from = (struct trace_stats){0};
}

int trace_stats_info(const struct trace_stats *s, MPI_Info info)
{
    int64_t counts[COUNTERS];
    memcpy(counts, s, sizeof counts);
    int mpi = MPI_SUCCESS;
    for (int i = 0; i < COUNTERS && mpi == MPI_SUCCESS; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[32];
        snprintf(key, sizeof key, "nc_stat_%s", table[i].name);
        snprintf(text, sizeof text, "%lld", (long long)counts[i]);
        mpi = MPI_Info_set(info, key, text);
    }
    return base_mpi_error(mpi, NC_EMPI, "returning statistics");
}

/* ---- the report ---- */

struct text {
    char bytes[8192]; /* large enough for 100 counters and a long path */
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format,
                                                      ...)
{
    va_list args;
    size_t room = sizeof t->bytes - t->length;
    va_start(args, format);
    int n = vsnprintf(t->bytes + t->length, room, format, args);
    va_end(args);
    if (n > 0) t->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* Omits counters that are zero on all processes. */
static void compose_report(const struct dataset *ds, const int64_t *sum,
                           const int64_t *most, const int64_t *least, struct text *t)
{
    add(t, "%.1024s: statistics of %d process%s\n", ds->path, ds->nprocs,
        ds->nprocs > 1 ? "es" : "");
    add(t, "PnetCDF %-34s %16s %16s %16s\n", LIBRARY_VERSIONS, "total", "minimum",
        "maximum");
    for (int i = 0; i < COUNTERS; i++) {
        if (most[i] == 0) continue;
        int64_t all = table[i].together == ADD ? sum[i] : most[i];
        add(t, "%-42s %16lld %16lld %16lld\n", table[i].what, (long long)all,
            (long long)least[i], (long long)most[i]);
    }
}

/* Writes the text with a single call, so that reports from several programs do not mix.
 * Does not block on a full pipe. */
static bool append(const char *path, const struct text *t)
{
    int fd = base_open_with(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd < 0) return false;
    bool written = base_write_stream(fd, t->bytes, t->length);
    int saved = errno;
    if (close(fd) == 0) return written;
    if (written) saved = errno;
    errno = saved;
    return false;
}

static void deliver(const struct dataset *ds, struct text *t)
{
    char path[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    if (ds->hints.report == HINTS_REPORT_FILE &&
        MPI_Info_get(ds->info, "nc_report", MPI_MAX_INFO_VAL, path, &there) ==
            MPI_SUCCESS &&
        there) {
        if (append(path, t)) return;
        add(t, "(not written to %.1024s: %s)\n", path, strerror(errno));
    }
    (void)base_write_stream(STDERR_FILENO, t->bytes, t->length);
}

/* Number of variables per reduction, which limits memory use. */
enum { AT_ONCE = 32 };

static void compose_framed(const struct dataset *ds, const struct trace_framed *sums,
                           int first, struct text *t)
{
    for (int i = 0; i < AT_ONCE && first + i < ds->header.nvars; i++) {
        const struct trace_framed *f = &sums[i];
        if (f->frames <= 0) continue;
        if (t->length == 0)
            add(t,
                "%.1024s: compression by variable\n"
                "%-42s %16s %16s %7s %8s\n",
                ds->path, "variable", "bytes", "compressed bytes", "ratio", "s");
        add(t, "%-42.100s %16lld %16lld %7.2f %8.3f\n", ds->header.vars[first + i].name,
            (long long)f->values, (long long)f->frames,
            (double)f->values / (double)f->frames, (double)f->time / 1e9);
    }
}

/* Reports compression per variable. Times are totals over all processes. After a failed
 * definition, the number of variables may differ between processes. */
static int report_framed_all(const struct dataset *ds, int64_t nvars)
{
    enum { EACH = sizeof(struct trace_framed) / sizeof(int64_t) };
    int mpi = MPI_SUCCESS;
    for (int first = 0; first < nvars && mpi == MPI_SUCCESS; first += AT_ONCE) {
        struct trace_framed mine[AT_ONCE] = {{0}}, sums[AT_ONCE] = {{0}};
        struct text t = {.length = 0};
        for (int i = 0; i < AT_ONCE && first + i < ds->frames.n; i++)
            mine[i] = ds->frames.vars[first + i];
        mpi = MPI_Reduce(mine, sums, AT_ONCE * EACH, MPI_INT64_T, MPI_SUM, 0, ds->comm);
        compose_framed(ds, sums, first, &t);
        if (t.length > 0) deliver(ds, &t);
    }
    return mpi;
}

int trace_stats_report_all(const struct dataset *ds)
{
    /* The maximum of the negated values yields the minimum without a second reduction. */
    enum { FRAMED = 2 * COUNTERS, ALL };
    int64_t mine[ALL], ends[ALL] = {0}, sum[COUNTERS];
    memcpy(mine, &ds->stats, COUNTERS * sizeof mine[0]);
    for (int i = 0; i < COUNTERS; i++)
        mine[COUNTERS + i] = -mine[i];
    mine[FRAMED] = ds->stats.blob_framed_bytes > 0 ? ds->frames.n : 0;
    int mpi = MPI_Allreduce(mine, ends, ALL, MPI_INT64_T, MPI_MAX, ds->comm);
    int other = MPI_Reduce(mine, sum, COUNTERS, MPI_INT64_T, MPI_SUM, 0, ds->comm);
    const int64_t framed = mpi == MPI_SUCCESS ? ends[FRAMED] : 0;
    if (mpi == MPI_SUCCESS) mpi = other;
    if (mpi == MPI_SUCCESS && ds->rank == 0) {
        struct text t = {.length = 0};
        for (int i = 0; i < COUNTERS; i++)
            ends[COUNTERS + i] = -ends[COUNTERS + i];
        compose_report(ds, sum, ends, ends + COUNTERS, &t);
        deliver(ds, &t);
    }
    other = report_framed_all(ds, framed);
    return base_mpi_error(mpi != MPI_SUCCESS ? mpi : other, NC_EMPI,
                          "summing statistics");
}

void trace_stats_add_line(const struct dataset *ds, const char *line)
{
    struct text t = {.length = 0};
    if (ds->hints.report <= HINTS_REPORT_NONE) return;
    add(&t, "%.1024s: process %d: %s\n", ds->path, ds->rank, line);
    deliver(ds, &t);
}

/* Returns whether the line was written before, as remembered by its hash. Several threads
 * may close datasets at once. */
static bool was_written(const struct text *t)
{
    enum { MOST = 1024 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t written[MOST];
    static int n;
    const uint64_t hash = base_hash(t->bytes, t->length, 0);
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < n && written[i] != hash)
        i++;
    const bool before = i < n || n == MOST;
    if (!before) written[n++] = hash;
    pthread_mutex_unlock(&lock);
    return before;
}

void trace_stats_warn(const struct dataset *ds, const char *line)
{
    struct text t = {.length = 0};
    if (ds->hints.report == HINTS_REPORT_SILENT) return;
    add(&t, "%.1024s: %s\n", ds->path, line);
    if (ds->hints.report == HINTS_REPORT_FILE) deliver(ds, &t);
    if (!was_written(&t)) (void)base_write_stream(STDERR_FILENO, t.bytes, t.length);
}
