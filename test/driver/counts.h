/* For tests of what the library does: counts, as a program asks for them. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "pnetcdf.h"

/* A dataset that tells its counts, in define mode; more hints as "key=value", or NULL. */
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

/* This process's count so far; -1 if there is none of that name. */
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
