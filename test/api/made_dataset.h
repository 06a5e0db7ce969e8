/* Helpers that nearly every interface test uses to create, open and close datasets. They
 * record failures. If a dataset cannot be opened, they return -1 as the ncid, so all
 * later checks fail as well. */
#ifndef MADE_DATASET_H
#define MADE_DATASET_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* Creates a file in the case's format and directory, and leaves the dataset in define
 * mode. */
static inline int new_dataset(const char *name)
{
    int ncid = -1;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path(name),
                                    NC_CLOBBER | check.cmode, MPI_INFO_NULL, &ncid));
    return ncid;
}

static inline int open_dataset(const char *name, int omode)
{
    int ncid = -1;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path(name), omode, MPI_INFO_NULL, &ncid));
    return ncid;
}

/* Returns an info object with hints that select a stack of drivers. Replaces %s in the
 * text with the case's directory. */
static inline MPI_Info stack_info(const char *stack)
{
    char text[1024];
    const char *at = strstr(stack, "%s");
    if (at == NULL) return check_info(stack);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - stack), stack, check_path(""),
             at + 2);
    return check_info(text);
}

/* Same as new_dataset, but creates the file through a stack of drivers. Stores the NC_
 * code in *err. */
static inline int create_through(MPI_Comm comm, const char *name, const char *stack,
                                 int *err)
{
    int ncid = -1;
    MPI_Info info = stack_info(stack);
    *err = ncmpi_create(comm, check_path(name), NC_CLOBBER | check.cmode, info, &ncid);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return ncid;
}

static inline void close_dataset(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Returns whether the burst buffer is enabled, so that puts are logged. */
static inline bool has_log(int ncid)
{
    MPI_Info info = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, "nc_burst_buf", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return PNETCDF_BURST_BUFFERING && found && strcmp(value, "enable") == 0;
}

/* Completes any closes that hints have deferred. Must be called before a test examines
 * the file or the memory in use. */
static inline void complete_closes(void)
{
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
}

static inline int new_dim(int ncid, const char *name, MPI_Offset length)
{
    int dimid = -1;
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, name, length, &dimid));
    return dimid;
}

static inline int new_var(int ncid, const char *name, nc_type type, int ndims,
                          const int *dimids)
{
    int varid = -1;
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, type, ndims, dimids, &varid));
    return varid;
}

/* begin_data leaves define mode and enters the case's data mode; end_data leaves that
 * data mode. */
static inline void begin_data(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
}

static inline void end_data(int ncid)
{
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}

/* Put or get in the case's data mode. Return the NC_ code. */
static inline int put_ints(int ncid, int varid, const MPI_Offset *start,
                           const MPI_Offset *count, const int *values)
{
    return check.collective ? ncmpi_put_vara_int_all(ncid, varid, start, count, values)
                            : ncmpi_put_vara_int(ncid, varid, start, count, values);
}

static inline int get_ints(int ncid, int varid, const MPI_Offset *start,
                           const MPI_Offset *count, int *values)
{
    return check.collective ? ncmpi_get_vara_int_all(ncid, varid, start, count, values)
                            : ncmpi_get_vara_int(ncid, varid, start, count, values);
}

/* Makes independent writes visible to other processes. Collective. */
static inline void make_visible(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline MPI_Offset dim_length(int ncid, int dimid)
{
    MPI_Offset length = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, dimid, &length));
    return length;
}

/* Returns the value that ncmpi_inq_file_info reports for a hint, or "" if it reports
 * none. The string is in a static buffer. */
static inline const char *hint_in_force(int ncid, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info = MPI_INFO_NULL;
    int there = 0;
    value[0] = '\0';
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, NULL));
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    if (info == MPI_INFO_NULL) return value;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    return there ? value : "";
}

#endif
