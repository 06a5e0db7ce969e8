/* Accesses netCDF-4 files, which are HDF5 files, through netCDF-C.
 *
 * nc4_library loads netCDF-C when the first such file is opened. It is not linked, so a
 * program that opens no such file does not load it, and a netCDF-C that was itself built
 * with PnetCDF does not interfere (RTLD_LOCAL, and RTLD_DEEPBIND where possible).
 * nc4_model builds a struct cdf_header from an open file and transfers values. nc4_define
 * changes a file's definitions to match a header. None of these modules includes mpi.h,
 * and the serial tools link them:
 *
 *     struct nc4_file f;
 *     struct cdf_header h;
 *     int err = nc4_open(&f, path, false);
 *     if (err == NC_NOERR) err = nc4_read_header(&f, &h);
 *     if (err == NC_NOERR) err = nc4_get(&f, &h, varid, start, count, NULL, values);
 *     cdf_free(&h);
 *     nc4_close(&f);
 *
 * nc4_open returns NC_ENOTBUILT, with a message, if there is no netCDF-C. nc4_driver.h is
 * the driver, which uses MPI.
 *
 * Objects that a classic header cannot represent are omitted and listed in
 * nc4_file.omitted: groups, user-defined types with their variables and attributes,
 * strings. The header has format 5 and one unlimited dimension: the first that is the
 * leading dimension of every variable that uses it. Other unlimited dimensions keep the
 * length that they had when the file was opened. The classic model has no fixed dimension
 * of length 0, so such a dimension and its variables are also omitted. The same applies
 * to objects whose names netCDF would not create, which other HDF5 programs may write. A
 * dimension that has two links in the file is one dimension.
 *
 * Unlike classic files, netCDF-4 files store fill modes: a variable that was created in
 * no-fill mode is still in that mode when the file is opened again. Its values that were
 * never written are read as zeros.
 *
 * The layout in the header (begin, size, record_size) is that of a CDF-5 file with the
 * same definitions. Nothing is stored at these offsets. They serve callers that compare
 * definitions, and requests that specify the bytes they access (vard).
 *
 * HDF5 is not thread-safe, so nc4_call holds a lock. If a file is open in parallel, calls
 * are collective, and only one thread of a program at a time may make calls on all such
 * files. */
#ifndef NC4_H
#define NC4_H

#include <stdbool.h>
#include <stdint.h>

#include "cdf.h"
#include "pnetcdf_constants.h"

enum {
    NC4_RANK = 1024 /* maximum number of dimensions per variable in netCDF-C */
};

struct nc4_file {
    int ncid;     /* netCDF-C's id; -1 if not open */
    bool classic; /* the file uses the model NC_NETCDF4_CLASSIC */
    int *ids;     /* netCDF-C's ids of the header's dimensions, then of its variables */
    int ndims, nvars;
    bool *limitless; /* for each dimension read, whether it is unlimited in the file */
    int nread;       /* number of dimensions that were read; the others are new */
    char *omitted;   /* omitted objects, one per line ("variable v (string)"); or NULL */
};

/* ---- nc4_model.c: functions return NC_ codes and record messages ---- */

/* Opens a file. On error it need not be closed. NC_ENOTBUILT if there is no netCDF-C. */
int nc4_open(struct nc4_file *f, const char *path, bool writable);
/* Creates a file. cmode has the same meaning as in ncmpi_create. */
int nc4_create(struct nc4_file *f, const char *path, int cmode);
/* Initializes *f after netCDF-C has opened a file with result `err`. */
int nc4_opened(struct nc4_file *f, int err, int ncid, const char *what, const char *path);
int nc4_close(struct nc4_file *f);

/* Reads the file's definitions into *h, and records netCDF-C's ids. After success, free
 * *h with cdf_free. */
int nc4_read_header(struct nc4_file *f, struct cdf_header *h);

/* Transfer a hyperslab of external values, which are big-endian as in a classic file.
 * `stride` may be NULL. nc4_put swaps the bytes of its buffer in place. */
int nc4_get(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external);
int nc4_put(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external);

/* ---- nc4_define.c ---- */

/* Storage parameters for new variables. */
struct nc4_storage {
    const char *chunks; /* chunk lengths such as "v:2,3/w:10"; NULL for defaults */
    int (*level)(const void *of, const char *name); /* returns a variable's deflate level
                                                     * (0 if none); NULL for no
                                                     * compression */
    const void *of;
};

/* Changes an open file's definitions to match a header. For an existing file, the header
 * must be derived from the one that nc4_read_header returned: dimensions, variables and
 * attributes may be added or renamed, and attributes may be changed or removed. The
 * function reads the current definitions from the file, so after an error it can be
 * called again with the same or the earlier definitions, but dimensions and variables
 * that were already created remain. Collective if the file is open in parallel; all
 * processes must then pass the same header. */
int nc4_define(struct nc4_file *f, const struct cdf_header *h,
               const struct nc4_storage *how);

/* Returns the number of dimensions before the last unlimited one (0 if it is the first).
 * nc4_get calls netCDF-C once for each combination of their indices. */
int nc4_count_leading_dims(const struct nc4_file *f, const struct cdf_var *v);

/* Converts a netCDF-C error to an NC_ code. The message names the operation (`what`) and
 * the object (`name`). */
int nc4_error(int code, const char *what, const char *name);

/* Returns whether one of the header's dimensions was unlimited when the file was read. */
static inline bool nc4_is_limitless(const struct nc4_file *f, int dimid)
{
    return dimid < f->nread && f->limitless[dimid];
}

static inline int nc4_dim(const struct nc4_file *f, int dimid)
{
    return f->ids[dimid];
}

static inline int nc4_var(const struct nc4_file *f, int varid)
{
    return varid == NC_GLOBAL ? NC_GLOBAL : f->ids[f->ndims + varid];
}

#endif
