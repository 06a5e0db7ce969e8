/* netCDF-4 files, which are HDF5 files, by way of netCDF-C.
 *
 * nc4_library loads netCDF-C when the first such file is met, and links nothing: a
 * program that has none loads none, and a netCDF-C that was itself built with PnetCDF
 * does not get in the way (RTLD_LOCAL, and RTLD_DEEPBIND where it can be). nc4_model
 * makes a struct cdf_header of an open file and moves values; nc4_define brings the
 * definitions of a file to those of a header. None of these includes mpi.h, and the
 * serial tools link them:
 *
 *     struct nc4_file f;
 *     struct cdf_header h;
 *     int err = nc4_open(&f, path, false);   NC_ENOTBUILT: no netCDF-C, with words
 *     if (err == NC_NOERR) err = nc4_read_header(&f, &h);
 *     if (err == NC_NOERR) err = nc4_get(&f, &h, varid, start, count, NULL, values);
 *     cdf_free(&h);
 *     nc4_close(&f);
 *
 * nc4_driver.h is the driver, with MPI.
 *
 * What a classic header has no place for is left out, and named in nc4_file.left:
 * groups, the types that users define and their variables and attributes, strings. A
 * header that was read has format 5 and, of the dimensions without limit, one: the
 * first one that no variable has in another place than the first. All others have the
 * length that they had when the file was opened. The classic model has no fixed
 * dimension of length 0, so that one, and its variables, are left out too.
 *
 * Fill modes are in the file, other than in a classic one: a variable that was made in
 * no-fill mode is so when it is opened again.
 *
 * The layout of the header (begin, size, record_size) is what a CDF-5 file of the same
 * definitions would have. Nothing lies there: it serves those who compare definitions,
 * and the requests which say what they access by its bytes (vard).
 *
 * HDF5 is not safe with threads, so nc4_call holds a lock. Where a file is open in
 * parallel, calls are collective, and of all such files of a program one thread may
 * make calls at a time. */
#ifndef NC4_H
#define NC4_H

#include <stdbool.h>
#include <stdint.h>

#include "cdf.h"
#include "pnetcdf_constants.h"

enum {
    NC4_RANK = 1024 /* dimensions of a variable, at most: netCDF-C's bound */
};

struct nc4_file {
    int ncid;     /* netCDF-C's; -1: not open */
    bool classic; /* its model is NC_NETCDF4_CLASSIC's */
    int *ids;     /* netCDF-C's of the header's dimensions, then of its variables */
    int ndims, nvars;
    bool *limitless; /* of each dimension that was read: has it no limit in the file? */
    int nread;       /* how many were; later ones are new */
    char *left;      /* out, a line each: "variable v (string)"; NULL: nothing is */
};

/* ---- nc4_model.c: NC_ codes, with words ---- */

/* Opens a file; NC_ENOTBUILT where there is no netCDF-C. nothing is to be closed after an
 * error. */
int nc4_open(struct nc4_file *f, const char *path, bool writable);
/* Makes one; cmode is ncmpi_create's. */
int nc4_create(struct nc4_file *f, const char *path, int cmode);
/* Whatever netCDF-C opened it, with this result. */
int nc4_opened(struct nc4_file *f, int err, int ncid, const char *what, const char *path);
int nc4_close(struct nc4_file *f);

/* The definitions of the file and what the header's ids stand for. On success only, *h is
 * to be freed with cdf_free. */
int nc4_read_header(struct nc4_file *f, struct cdf_header *h);

/* Values of a hyperslab in external form, as a classic file has them: big-endian. stride
 * may be NULL. nc4_put changes their order of bytes in their place. */
int nc4_get(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external);
int nc4_put(const struct nc4_file *f, const struct cdf_header *h, int varid,
            const int64_t *start, const int64_t *count, const int64_t *stride,
            void *external);

/* ---- nc4_define.c ---- */

/* How new variables are stored. */
struct nc4_storing {
    const char *chunks; /* "v:2,3/w:10": the lengths of chunks; NULL: netCDF-C's choice */
    int (*level)(const void *of, const char *name); /* of deflate, 0: none; NULL: none */
    const void *of;
};

/* Gives an open file the definitions of a header: one that nc4_read_header made of it,
 * and that since then got new dimensions, variables and attributes, other names and
 * values, or lost attributes; or any, of a new file. It is the file that tells what there
 * is, so that after an error the same, or the definitions from before, can be tried
 * again: but dimensions and variables that are there stay. Collective where the file is
 * open in parallel, and then the same everywhere. */
int nc4_define(struct nc4_file *f, const struct cdf_header *h,
               const struct nc4_storing *how);

/* The number of dimensions in front of the last one without limit: 0 where that is the
 * first. nc4_get makes a call of netCDF-C's for all of their indices. */
int nc4_front(const struct nc4_file *f, const struct cdf_var *v);

/* An error of netCDF-C: a code, and words that say what was being done to `name`. */
int nc4_error(int code, const char *what, const char *name);

/* Did a dimension of the header have no limit when the file was read? */
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
