/* What the library did for a dataset: each process counts, nobody adds up before the
 * report is asked for. */
#ifndef DRIVER_STATS_H
#define DRIVER_STATS_H

#include <mpi.h>
#include <stdint.h>

/* Nothing but int64_t: it is reduced as an array. */
struct driver_stats {
#define DRIVER_STAT(name, together, what) int64_t name;
#include "driver_stats.def"
#undef DRIVER_STAT
};

struct driver_dataset;

/* Adds what was counted in `from`, and begins anew there. */
void driver_stats_take(struct driver_stats *to, struct driver_stats *from);

/* Adds this process's counts to info, as nc_stat_NAME. Local. NC_EMPI. */
int driver_stats_info(const struct driver_stats *s, MPI_Info info);

/* Process 0 writes what all counted where the hint nc_report says; a file that cannot be
 * written is no error, the report then goes to standard error. Collective. NC_EMPI. */
int driver_stats_report_all(const struct driver_dataset *ds);

/* A line of this process's to the same place, where a report is asked for. Local. */
void driver_stats_tell(const struct driver_dataset *ds, const char *line);

#endif
