/* The default driver: one shared file through MPI-IO. */
#ifndef MPIO_H
#define MPIO_H

#include "driver.h"
#include "mpio_file.h"
#include "mpio_window.h"

struct mpio {
    struct driver base;
    struct mpio_file file;
    bool created;            /* made by us and no enddef has completed yet */
    bool defined;            /* an enddef has completed: close gives the file its size */
    int64_t numrecs_in_file; /* what the header in the file says */
    int64_t failures;        /* the dataset's, when that was written */
    int64_t known_size;      /* the file has at least this many bytes, all know */
    int64_t unit;            /* who writes what changes at multiples of it: a stripe */
    struct mpio_window window; /* of the processes that share memory */
    unsigned char *staging;    /* kept between calls */
    size_t staging_size;
};

/* staging memory of at least size bytes; its contents are lost. NC_ENOMEM. */
int mpio_reserve(struct mpio *m, size_t size);

/* ---- mpio_open.c ---- */
int mpio_create_all(struct driver_dataset *ds, int cmode, struct driver *lower,
                    struct driver **self);
int mpio_open_all(struct driver_dataset *ds, int omode, struct driver *lower,
                  struct driver **self);
int mpio_close_all(struct driver *self);
int mpio_abort_all(struct driver *self);

/* ---- mpio_header.c: collective, the result local unless said otherwise ---- */

/* Process 0 reads and decodes the header, all receive it. Agreed. */
int mpio_read_header_all(struct mpio *m);
/* Process 0 writes the header, from the definitions of the dataset. */
int mpio_write_header_all(struct driver *self);
/* Process 0 writes numrecs if the file has another. Called with numrecs agreed. */
int mpio_write_numrecs_all(struct mpio *m);
/* This process alone, in independent mode: its numrecs is in the file, if the file has
 * fewer, and is at least the file's. */
int mpio_sync_numrecs(struct mpio *m);
/* Agrees on numrecs and writes it. */
int mpio_sync_numrecs_all(struct driver *self);

/* ---- mpio_define.c, mpio_move.c ---- */
int mpio_redef_all(struct driver *self);
int mpio_enddef_all(struct driver *self, const struct cdf_header *before);
/* Moves what has another place in the new layout, all processes together. Agreed. */
int mpio_move_all(struct mpio *m, const struct cdf_header *before);

/* ---- mpio_transfer.c ---- */
int mpio_put_all(struct driver *self, struct driver_request *const *reqs, int64_t n,
                 int error);
int mpio_get_all(struct driver *self, struct driver_request *const *reqs, int64_t n,
                 int error);
int mpio_put(struct driver *self, struct driver_request *const *reqs, int64_t n);
int mpio_get(struct driver *self, struct driver_request *const *reqs, int64_t n);

#endif
