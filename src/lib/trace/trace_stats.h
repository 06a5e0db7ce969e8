/* What the library did for a dataset: each process counts, nobody adds up before the
 * report is asked for. */
#ifndef TRACE_STATS_H
#define TRACE_STATS_H

#include <mpi.h>
#include <stdint.h>

/* Nothing but int64_t: it is reduced as an array. */
struct trace_stats {
#define TRACE_STAT(name, together, what) int64_t name;
#include "trace_stats.def"
#undef TRACE_STAT
};

/* What compression has made of a variable's values on this process. As above. */
struct trace_framed {
    int64_t values, frames; /* bytes before and after */
    int64_t time;           /* nanoseconds that it took, waited for or not */
};

struct dataset;

/* Makes room for what variables from `old` to `nvars` have become. Local. NC_ENOMEM. */
int trace_stats_grow(struct dataset *ds, int old, int nvars);

/* Adds what was counted in `from`, and begins anew there. */
void trace_stats_take(struct trace_stats *to, struct trace_stats *from);

/* Adds this process's counts to info, as nc_stat_NAME. Local. NC_EMPI. */
int trace_stats_info(const struct trace_stats *s, MPI_Info info);

/* Process 0 writes what all counted where the hint nc_report says; a file that cannot be
 * written is no error, the report then goes to standard error. Collective. NC_EMPI. */
int trace_stats_report_all(const struct dataset *ds);

/* A line of this process's to the same place, where a report is asked for. Local. */
void trace_stats_tell(const struct dataset *ds, const char *line);

#endif
