/* Gives tests access to the library's counters (enabled by the hint nc_statistics). */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "pnetcdf.h"

/* Creates a dataset with counters enabled and leaves it in define mode. If `key` is not
 * NULL, also sets the hint `key` to `value`. */
static inline int counting_dataset(const char *name, const char *key, const char *value)
{
    int ncid = -1;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_statistics", "enable");
    if (key != NULL) MPI_Info_set(info, key, value);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path(name),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Returns the current value of this process's counter, or -1 if there is none with this
 * name. */
static inline long long count_of(int ncid, const char *counter)
{
    char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
    MPI_Info info = MPI_INFO_NULL;
    int there = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    if (info == MPI_INFO_NULL) return -1;
    snprintf(key, sizeof key, "nc_stat_%s", counter);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there);
    MPI_Info_free(&info);
    return there ? strtoll(text, NULL, 10) : -1;
}

#endif
