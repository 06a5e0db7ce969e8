/* Inquires about the library and about a dataset's file. All functions are local. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_deferred_close.h"
#include "api_dataset.h"
#include "api_errors.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "config.h"
#include "pnetcdf.h"

const char *ncmpi_strerror(int err)
{
    return base_error_text(err);
}

const char *ncmpi_strerrno(int err)
{
    return base_error_name(err);
}

const char *ncmpi_inq_libvers(void)
{
    return LIBRARY_VERSIONS " of " PNETCDF_RELEASE_DATE;
}

/* ---- memory ---- */

/* Programs call this after their last close to find leaks. Memory in use by deferred
 * closes is not counted, since completing them frees it. */
int ncmpi_inq_malloc_size(MPI_Offset *size)
{
    int open;
    int err = ncmpi_inq_files_opened(&open, NULL);
    bool none = open == 0 && api_deferred_close_is_pending();
    if (size != NULL) *size = none ? 0 : base_mem_in_use();
    return err;
}

int ncmpi_inq_malloc_max_size(MPI_Offset *size)
{
    if (size != NULL) *size = base_mem_high_water();
    return NC_NOERR;
}

int ncmpi_inq_malloc_list(void)
{
    return base_error_set(NC_ENOTENABLED,
                          "memory allocations are counted, but not listed");
}

/* ---- a dataset ---- */

int ncmpi_inq_format(int ncid, int *formatp)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR && formatp != NULL)
        *formatp = d->ds.netcdf4 != 0 ? d->ds.netcdf4 : d->ds.header.format;
    return err;
}

int ncmpi_inq_version(int ncid, int *NC_mode)
{
    static const int modes[] = {[NC_FORMAT_CLASSIC] = NC_CLASSIC_MODEL,
                                [NC_FORMAT_CDF2] = NC_64BIT_OFFSET,
                                [NC_FORMAT_NETCDF4] = NC_NETCDF4,
                                [NC_FORMAT_NETCDF4_CLASSIC] =
                                    NC_NETCDF4 | NC_CLASSIC_MODEL,
                                [NC_FORMAT_CDF5] = NC_64BIT_DATA};
    int format, err = ncmpi_inq_format(ncid, &format);
    if (err == NC_NOERR && NC_mode != NULL) *NC_mode = modes[format];
    return err;
}

int ncmpi_inq_path(int ncid, int *pathlen, char *path)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (pathlen != NULL) *pathlen = (int)strlen(d->ds.path);
    if (path != NULL) strcpy(path, d->ds.path);
    return NC_NOERR;
}

/* Returns the number of bytes that this process has written or read: values, headers, and
 * data moved by enddef. */
static int inq_moved(int ncid, bool put, MPI_Offset *size)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || size == NULL) return err;
    api_lock(d); /* other threads may change the counts */
    const struct trace_stats *s = &d->ds.stats;
    *size = put ? s->put_bytes + s->header_written_bytes
                : s->get_bytes + s->header_read_bytes;
    *size += s->redef_moved_bytes;
    api_unlock(d);
    return NC_NOERR;
}

int ncmpi_inq_put_size(int ncid, MPI_Offset *size)
{
    return inq_moved(ncid, true, size);
}

int ncmpi_inq_get_size(int ncid, MPI_Offset *size)
{
    return inq_moved(ncid, false, size);
}

int ncmpi_inq_file_info(int ncid, MPI_Info *info_used)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (info_used == NULL) return NC_NOERR;
    int mpi = MPI_Info_create(info_used);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Info_create");
    api_lock(d); /* other threads may change the counts */
    err = driver_call(d->top, inq_info, *info_used);
    if (err == NC_NOERR && d->ds.hints.statistics == HINTS_ENABLE)
        err = trace_stats_info(&d->ds.stats, *info_used);
    if (err == NC_NOERR) err = api_effects_info(d, *info_used);
    api_unlock(d);
    if (err != NC_NOERR) MPI_Info_free(info_used);
    return err;
}

int ncmpi_get_file_info(int ncid, MPI_Info *info_used)
{
    return ncmpi_inq_file_info(ncid, info_used);
}

int ncmpi_inq_striping(int ncid, int *striping_size, int *striping_count)
{
    MPI_Info info;
    int err = ncmpi_inq_file_info(ncid, &info);
    if (err != NC_NOERR) return err;
    if (striping_size != NULL)
        *striping_size = (int)base_mpi_number(info, "striping_unit");
    if (striping_count != NULL)
        *striping_count = (int)base_mpi_number(info, "striping_factor");
    MPI_Info_free(&info);
    return NC_NOERR;
}

/* ---- a file that is not open ---- */

int ncmpi_inq_file_format(const char *filename, int *formatp)
{
    int format;
    base_error_begin();
    if (filename == NULL) return api_null(NC_EINVAL, "filename");
    int err = driver_file_format(api_path(filename), &format);
    if (formatp != NULL) *formatp = format;
    return err; /* NC_FORMAT_UNKNOWN is a valid result */
}
