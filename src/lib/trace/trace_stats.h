/* Counters for operations on a dataset. Each process has its own counters, which are
 * combined only in a report. */
#ifndef TRACE_STATS_H
#define TRACE_STATS_H

#include <mpi.h>
#include <stdint.h>

/* Must contain only int64_t members, because it is reduced as an array of them. */
struct trace_stats {
#define TRACE_STAT(name, together, what) int64_t name;
#include "trace_stats.def"
#undef TRACE_STAT
};

/* A variable's compression on this process. Must contain only int64_t members. */
struct trace_framed {
    int64_t values, frames; /* bytes before and after compression */
    int64_t time;           /* nanoseconds, including background threads */
};

/* The compression of all variables. */
struct trace_frames {
    struct trace_framed *vars;
    int n;
};

struct dataset;

/* Allocates counters for variables `old` to `nvars` - 1. Local. NC_ENOMEM. */
int trace_stats_grow(struct dataset *ds, int old, int nvars);

/* Adds the counters in `from` to those in `to`, and resets `from`. */
void trace_stats_take(struct trace_stats *to, struct trace_stats *from);

/* Adds this process's counters to info with the keys nc_stat_NAME. Local. NC_EMPI. */
int trace_stats_info(const struct trace_stats *s, MPI_Info info);

/* Process 0 writes the totals to the file named by the hint nc_report, or to standard
 * error if that file cannot be written. Collective. NC_EMPI. */
int trace_stats_report_all(const struct dataset *ds);

/* Writes a line about this process to the report, if one was requested. Local. */
void trace_stats_add_line(const struct dataset *ds, const char *line);

/* Writes a line to standard error, and to the report if that is a file, unless nc_report
 * is "none". A program gets the same line once for each dataset. Local. */
void trace_stats_warn(const struct dataset *ds, const char *line);

#endif
