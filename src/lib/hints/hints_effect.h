/* Which hints have had no effect, and why. Layers record facts about what a dataset's
 * opening has done; a table of rules says which of them each hint needs. Does not use
 * MPI. */
#ifndef HINTS_EFFECT_H
#define HINTS_EFFECT_H

#include <stdbool.h>
#include <stddef.h>

#include "hints_table.h"

/* Facts about an opening of a dataset. Those of the first group are known once it is
 * open; the others may become true at any time until it is closed. */
enum hints_fact {
    HINTS_CREATED = 1 << 0,
    HINTS_EXISTED = 1 << 1,
    HINTS_WRITABLE = 1 << 2,
    HINTS_READ_ONLY = 1 << 3,
    HINTS_CLASSIC = 1 << 4, /* not a netCDF-4 file */
    HINTS_NETCDF4 = 1 << 5,
    HINTS_SUBFILES = 1 << 6,
    HINTS_LOG = 1 << 7,        /* puts write to a log */
    HINTS_STAGE = 1 << 8,      /* gets use a stage */
    HINTS_STRIPES = 1 << 9,    /* the file system has reported the file's stripes */
    HINTS_SEVERAL = 1 << 10,   /* there are several processes */
    HINTS_ROMIO = 1 << 11,     /* MPI-IO may be ROMIO */
    HINTS_THREADS = 1 << 12,   /* threads may write to the file */
    HINTS_ENOUGH = 1 << 13,    /* there are not more subfiles than processes */
    HINTS_REPLAYED = 1 << 14,  /* values of old logs were replayed */
    HINTS_WANTS_LOG = 1 << 15, /* nc_burst_buf or e10_cache is enabled */
    HINTS_WANTS_STAGE = 1 << 16,

    HINTS_LAID_OUT = 1 << 17,  /* an enddef has placed variables */
    HINTS_RECORDS = 1 << 18,   /* there are record variables */
    HINTS_QUANTIZED = 1 << 19, /* there are quantized variables */
    HINTS_TOGETHER = 1 << 20,  /* collective calls have transferred values */
    HINTS_VIEWED = 1 << 21,    /* some of them through a view */
    HINTS_JOINT = 1 << 22,     /* some of them jointly */
    HINTS_ACROSS = 1 << 23,    /* some of them across nodes */
    HINTS_POSIX = 1 << 24,     /* the file was opened without MPI-IO */
    HINTS_BLOBS = 1 << 25,     /* values were put into subfiles */
    HINTS_FRAMES = 1 << 26,    /* values were compressed */
    HINTS_LOGGED = 1 << 27,    /* values were put into a log */
    HINTS_STAGED = 1 << 28,    /* values were read through the stage */
    HINTS_DEFERRED = 1 << 29   /* the close was deferred */
};

/* The facts that layers have recorded, and why a log or a stage could not be created
 * ("" if it could, or if another process knows). */
struct hints_effects {
    unsigned facts;
    char no_log[200], no_stage[200];
};

/* Returns why a hint that was requested has no effect; NULL if it has one, or may have
 * one until the close (`closing` is false). */
const char *hints_unused(const struct hints *h, const struct hints_row *t,
                         const struct hints_effects *e, bool closing);

#endif
