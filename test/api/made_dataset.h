/* Short forms of what nearly every test of the interface does first and last. Failures
 * are noted; ncid is then -1, and all that follows fails too. */
#ifndef MADE_DATASET_H
#define MADE_DATASET_H

#include <string.h>

#include "check.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* A new file of the case's format in its directory, in define mode. */
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

static inline void close_dataset(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Does the burst buffer take what is put? */
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

/* Before a look at a file, or at memory: with hints that defer closes there may be some
 * left. */
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

/* From define mode to the data mode of the case, and out of it. */
static inline void begin_data(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
}

static inline void end_data(int ncid)
{
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}

/* Access in the case's data mode; the NC_ code. */
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

/* What every process must do before another looks at its independent writes. */
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

/* What ncmpi_inq_file_info tells of a hint; "" if nothing. A static buffer. */
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
