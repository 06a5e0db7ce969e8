/* About the library, and about a dataset's file. All local. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api_closing.h"
#include "api_dataset.h"
#include "api_words.h"
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

/* Programs ask after their last close, to find leaks. What the library then holds for
 * closes that were deferred is none, and is freed when they are complete. */
int ncmpi_inq_malloc_size(MPI_Offset *size)
{
    int open;
    int err = ncmpi_inq_files_opened(&open, NULL);
    bool none = open == 0 && api_closing_is_pending();
    if (size != NULL) *size = none ? 0 : base_mem_in_use();
    return err;
}

int ncmpi_inq_malloc_max_size(MPI_Offset *size)
{
    if (size != NULL) *size = base_mem_high_water();
    return NC_NOERR;
}

/* Blocks are counted, not listed. */
int ncmpi_inq_malloc_list(void)
{
    return base_error_set(NC_ENOTENABLED, "blocks of memory are counted, not listed");
}

/* ---- a dataset ---- */

int ncmpi_inq_format(int ncid, int *formatp)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR && formatp != NULL) *formatp = d->ds.header.format;
    return err;
}

int ncmpi_inq_version(int ncid, int *NC_mode)
{
    int format, err = ncmpi_inq_format(ncid, &format);
    if (err == NC_NOERR && NC_mode != NULL)
        *NC_mode = format == 5   ? NC_64BIT_DATA
                   : format == 2 ? NC_64BIT_OFFSET
                                 : NC_CLASSIC_MODEL;
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

/* What this process has put or got: values, headers, and what enddef moved. */
static int inq_moved(int ncid, bool put, MPI_Offset *size)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || size == NULL) return err;
    api_lock(d); /* other threads may be counting */
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
    api_lock(d); /* counts are being changed by other threads */
    err = driver_call(d->top, inq_info, *info_used);
    if (err == NC_NOERR && d->ds.hints.statistics == BASE_ENABLE)
        err = trace_stats_info(&d->ds.stats, *info_used);
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

static int read_signature(const char *path, unsigned char *head, size_t *length)
{
    int fd = base_open(path, O_RDONLY);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    int64_t n = base_read_some(fd, 0, head, (int64_t)*length);
    int err = n < 0 ? base_error_system(NC_EREAD, "reading", path) : NC_NOERR;
    close(fd);
    *length = n < 0 ? 0 : (size_t)n;
    return err;
}

int ncmpi_inq_file_format(const char *filename, int *formatp)
{
    unsigned char head[4096 + 8];
    size_t length = sizeof head;
    base_error_begin();
    if (filename == NULL) return api_null(NC_EINVAL, "filename");
    if (formatp != NULL) *formatp = NC_FORMAT_UNKNOWN;
    int err = read_signature(api_path(filename), head, &length);
    if (err == NC_NOERR && formatp != NULL) *formatp = cdf_signature(head, length);
    return err; /* not to know the format is an answer */
}
