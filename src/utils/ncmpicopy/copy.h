/* What the files of ncmpicopy share. */
#ifndef COPY_H
#define COPY_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "pnetcdf_constants.h"
#include "util_progress.h"
#include "util_slab.h"
#include "util_type.h"

#define COPY_TOOL "ncmpicopy"

enum { COPY_MOST_SLABS = 64 };

struct copy_options {
    int format;            /* 1, 2, 5, UTIL_NC4, UTIL_NC7; 0: the source's */
    int deflate;           /* level, for netCDF-4; -1: none given */
    const char *variables; /* only these, as a list; NULL: all */
    struct util_slab slab[COPY_MOST_SLABS];
    int nslabs;
    int64_t room;          /* free bytes behind the header */
    bool fixed;            /* the unlimited dimension becomes a fixed one */
    const char *unlimited; /* this one becomes unlimited; or NULL */
    bool force, unchecked;
    const char *from, *to;
};

struct copy_dim {
    char name[NC_MAX_NAME + 1];
    int64_t length;               /* in the source */
    int64_t start, count, stride; /* what is taken of it */
    bool used, unlimited;         /* in the copy */
    int out;                      /* its id there */
};

struct copy_var {
    int in, out; /* its ids */
    int type;
    int size; /* bytes of an element */
    int ndims;
    int *dimids;          /* of the source */
    int64_t *length;      /* of the copy's dimensions */
    int64_t *from, *step; /* where they start in the source, and their strides */
    int64_t total;        /* elements */
    bool record;          /* in the copy */
    bool done;            /* its values are there */
};

struct copy {
    struct copy_options options;
    int rank, nprocs;
    int in, out;
    struct copy_dim *dims;
    int ndims;
    int unlimited; /* in the source; -1: none */
    struct copy_var *vars;
    int nvars;
    int64_t size;         /* of the source, when it was looked at; -1: it tells nothing */
    int64_t records_done; /* of the copy's record variables, likewise */
    int64_t bytes, moved; /* of all values, and of those that are there */
    int err;              /* the first that this process has met, in the data */
    const char *path;     /* the file that it is about; NULL: none */
    const char *words;    /* what is wrong, if it is not the library that knows */
    struct util_progress progress;
};

/* Is the copy a netCDF-4 file? Once its format is settled. */
static inline bool copy_is_nc4(const struct copy *c)
{
    return c->options.format == UTIL_NC4 || c->options.format == UTIL_NC7;
}

/* Says what a function of the library returned, once for all processes that met it. */
int copy_complain(const char *path, const char *what, int err);

/* ---- copy_plan.c: what is copied ---- */

/* 0, or -1 after an error line; alike on all processes. */
int copy_plan(struct copy *c);
void copy_plan_free(struct copy *c);

/* ---- copy_define.c ---- */

/* Defines all in the copy, and leaves define mode. 0 or -1, alike on all processes. */
int copy_define(struct copy *c);

/* ---- copy_bytes.c ---- */

/* Moves what is alike in both files, byte for byte, compares it, and marks it as done.
 * Errors are kept. Collective. */
void copy_bytes(struct copy *c);

/* ---- copy_parts.c ---- */

/* Copies the values into subfiles, or into a netCDF-4 file. Errors are kept.
 * Collective. */
void copy_parts(struct copy *c);

/* ---- copy_data.c ---- */

#define COPY_DIFFERS "what was read is not what had been written"

/* Keeps an error about the file `path`, if it is the first one. */
void copy_keep_error(struct copy *c, const char *path, int err);

/* So many bytes more are there, of all processes. */
void copy_moved(struct copy *c, int64_t bytes);

/* Copies the values, and compares them with what is in the copy then. 0, or -1 after an
 * error line of the process that met it; alike on all processes. */
int copy_data(struct copy *c);

#endif
