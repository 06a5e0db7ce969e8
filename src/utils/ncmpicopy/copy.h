/* Internals shared by the files of ncmpicopy.
 *
 * While values are copied, each process stores its first error in struct copy, so that
 * all processes continue to make the same collective calls. copy_data reports these
 * errors at the end. */
#ifndef COPY_H
#define COPY_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "pnetcdf_constants.h"
#include "util_identity.h"
#include "util_progress.h"
#include "util_slab.h"
#include "util_type.h"

#define COPY_TOOL "ncmpicopy"

enum { COPY_MOST_SLABS = 64 };

struct copy_options {
    int format;            /* 1, 2, 5, UTIL_NC4 or UTIL_NC7; 0 to keep the format */
    int deflate;           /* compression level for netCDF-4; -1 if not given */
    const char *variables; /* list of the variables to copy; NULL for all */
    struct util_slab slab[COPY_MOST_SLABS];
    int nslabs;
    int64_t room;          /* free bytes to reserve after the header */
    bool fixed;            /* make the unlimited dimension a fixed one */
    const char *unlimited; /* dimension to make unlimited, or NULL */
    bool force, unchecked;
    const char *from, *to;
};

struct copy_dim {
    char name[NC_MAX_NAME + 1];
    int64_t length;               /* length of the dimension in the source */
    int64_t start, count, stride; /* indices to copy */
    bool used, unlimited;         /* copy the dimension; make it unlimited */
    int out;                      /* id in the copy */
};

struct copy_var {
    int in, out; /* ids in the source and in the copy */
    int type;
    int size; /* size of an element in bytes */
    int ndims;
    int *dimids;          /* ids of the dimensions in the source */
    int64_t *length;      /* shape in the copy */
    int64_t *from, *step; /* first index and stride in the source, for each dimension */
    int64_t total;        /* number of elements to copy */
    bool record;          /* whether it is a record variable in the copy */
    bool done;            /* whether its values have been copied */
};

struct copy {
    struct copy_options options;
    int rank, nprocs;
    int in, out;
    struct copy_dim *dims;
    int ndims;
    int unlimited; /* id in the source; -1 if none */
    struct copy_var *vars;
    int nvars;
    bool rights_after_create; /* the rights must be set after the copy is created */
    struct util_identity id;  /* identity of the copy; unset if uncertain */
    int64_t size;             /* size of the source file; -1 if unknown or meaningless */
    int64_t records_done;     /* number of records already copied by copy_bytes */
    int64_t bytes, moved;     /* total size in bytes of all values, and of the values
                               * copied so far */
    int err;           /* first error on this process while copying values, or NC_NOERR */
    const char *path;  /* file to which the error refers, or NULL */
    const char *words; /* message of an error from outside the library, or NULL */
    struct util_progress progress;
};

/* Returns whether the copy is a netCDF-4 file. Must not be called before the format is
 * known. */
static inline bool copy_is_nc4(const struct copy *c)
{
    return c->options.format == UTIL_NC4 || c->options.format == UTIL_NC7;
}

/* Prints an error that a library function returned. If all processes got the same error,
 * prints it only once. Returns -1. */
int copy_complain(const char *path, const char *what, int err);

/* ---- copy_plan.c ---- */

/* Chooses the variables to copy, and the part of each variable. Returns 0, or -1 after
 * printing an error. The result is the same on all processes. */

int copy_plan(struct copy *c);
void copy_plan_free(struct copy *c);

/* ---- copy_define.c ---- */

/* Defines everything in the copy and leaves define mode. Returns 0, or -1 on error; the
 * result is the same on all processes. */
int copy_define(struct copy *c);

/* ---- copy_bytes.c ---- */

/* Copies the values that both files store as the same bytes, verifies the copies, and
 * marks the variables or records as done. Stores errors in *c. Collective. */
void copy_bytes(struct copy *c);

/* ---- copy_parts.c ---- */

/* Copies values into subfiles or into a netCDF-4 file. Stores errors in *c.
 * Collective. */
void copy_parts(struct copy *c);

/* ---- copy_data.c ---- */

#define COPY_DIFFERS "the values read differ from those written"

/* Stores an error about the file `path`, unless an error is stored already. */
void copy_keep_error(struct copy *c, const char *path, int err);

/* Adds `bytes` to the number of bytes that all processes have copied. */
void copy_moved(struct copy *c, int64_t bytes);

/* Copies the values and compares the copy with the source. Returns 0, or -1 after the
 * process that failed has printed an error. The result is the same on all processes. */
int copy_data(struct copy *c);

#endif
