/* Counters: told one by one through an info object, or all together as a report. */
#include "trace_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mpi.h"
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
    return base_mpi_error(mpi, NC_EMPI, "telling statistics");
}

/* ---- the report ---- */

struct text {
    char bytes[8192]; /* 100 counters and a long path fit */
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

/* What nobody ever did is left out. */
static void compose_report(const struct dataset *ds, const int64_t *sum,
                           const int64_t *most, const int64_t *least, struct text *t)
{
    add(t, "%.1024s: what %d process%s did\n", ds->path, ds->nprocs,
        ds->nprocs > 1 ? "es" : "");
    add(t, "PnetCDF %-34s %16s %16s %16s\n", LIBRARY_VERSIONS, "all", "least", "most");
    for (int i = 0; i < COUNTERS; i++) {
        if (most[i] == 0) continue;
        int64_t all = table[i].together == ADD ? sum[i] : most[i];
        add(t, "%-42s %16lld %16lld %16lld\n", table[i].what, (long long)all,
            (long long)least[i], (long long)most[i]);
    }
}

/* All of it at once, so that the reports of several programs do not mix. Never waits for
 * the other end of a pipe. */
static bool append(const char *path, const struct text *t)
{
    int fd = base_open_with(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd < 0) return false;
    bool written = base_write_on(fd, t->bytes, t->length);
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
    if (ds->hints.report == BASE_REPORT_FILE &&
        MPI_Info_get(ds->info, "nc_report", MPI_MAX_INFO_VAL, path, &there) ==
            MPI_SUCCESS &&
        there) {
        if (append(path, t)) return;
        add(t, "(not in %.1024s: %s)\n", path, strerror(errno));
    }
    (void)base_write_on(STDERR_FILENO, t->bytes, t->length);
}

int trace_stats_report_all(const struct dataset *ds)
{
    /* The least is the largest of the opposites: one reduction less. */
    int64_t mine[2 * COUNTERS], ends[2 * COUNTERS], sum[COUNTERS];
    memcpy(mine, &ds->stats, COUNTERS * sizeof mine[0]);
    for (int i = 0; i < COUNTERS; i++)
        mine[COUNTERS + i] = -mine[i];
    int mpi = MPI_Reduce(mine, ends, 2 * COUNTERS, MPI_INT64_T, MPI_MAX, 0, ds->comm);
    int other = MPI_Reduce(mine, sum, COUNTERS, MPI_INT64_T, MPI_SUM, 0, ds->comm);
    if (mpi == MPI_SUCCESS) mpi = other;
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "adding up statistics");
    if (ds->rank != 0) return NC_NOERR;

    struct text t = {.length = 0};
    for (int i = 0; i < COUNTERS; i++)
        ends[COUNTERS + i] = -ends[COUNTERS + i];
    compose_report(ds, sum, ends, ends + COUNTERS, &t);
    deliver(ds, &t);
    return NC_NOERR;
}

void trace_stats_tell(const struct dataset *ds, const char *line)
{
    struct text t = {.length = 0};
    if (ds->hints.report == BASE_REPORT_NONE) return;
    add(&t, "%.1024s: process %d: %s\n", ds->path, ds->rank, line);
    deliver(ds, &t);
}
