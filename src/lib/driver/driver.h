/* The driver interface: what a dataset asks of whatever stores it.
 *
 * Drivers are stacked. A slot that a driver leaves NULL falls through to the driver
 * below it, so that one which changes how data is written is just a `put` and a few
 * words. api holds the definitions and checks every argument; what reaches a
 * driver is well-formed.
 *
 * Every function is collective over the dataset's communicator unless it says
 * otherwise, and returns an NC_ code. A collective function returns the same code on
 * every process only where it says `agreed`. */
#ifndef DRIVER_H
#define DRIVER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base_hints.h"
#include "cdf.h"
#include "conv.h"
#include "region.h"

/* What api and all drivers of a dataset share. api makes and frees it. */
struct driver_dataset {
    MPI_Comm comm; /* a duplicate, with errors returned */
    int rank, nprocs;
    char *path;    /* file-system prefix removed */
    struct base_hints hints;
    bool writable;
    bool safe_mode;
    struct cdf_header header; /* the definitions, as they are now */
    int64_t put_bytes, get_bytes; /* moved by this process, headers included */
};

/* One layer of the stack. A driver's own state begins with this. */
struct driver {
    const struct driver_ops *ops;
    struct driver *lower; /* NULL at the bottom */
    struct driver_dataset *ds;
};

/* One hyperslab of one variable, to or from one buffer. */
struct driver_request {
    int varid;
    const MPI_Offset *start, *count; /* one per dimension of the variable */
    const MPI_Offset *stride;        /* likewise; NULL: all 1 */
    void *buf;                       /* a put never changes it */
    const struct region *mem;        /* its bytes in buf, in order; NULL: contiguous */
    enum conv_type type;             /* of the values in memory */
    int64_t nelems;                  /* product of count[] */
    int status;                      /* out: this request's own result */
};

enum driver_mode { DRIVER_INDEPENDENT, DRIVER_COLLECTIVE };

struct driver_ops {
    const char *name;

    /* Is a file that starts with these bytes this driver's? For the bottom
     * driver's open; local. NULL: never. */
    bool (*recognises)(const unsigned char *head, size_t length);

    /* Make a new file, or open one and decode its header into ds->header. *self is the new layer;
     * on failure nothing is left behind. Agreed. */
    int (*create)(struct driver_dataset *ds, int cmode, struct driver **self);
    int (*open)(struct driver_dataset *ds, int omode, struct driver **self);

    /* Ends the layer and frees it, whatever it returns. abort throws away what enddef
     * has not written: a file that create made and no enddef completed is removed. */
    int (*close)(struct driver *self);
    int (*abort)(struct driver *self);

    /* Definitions may change from here ... */
    int (*redef)(struct driver *self);
    /* ... to here: ds->header has its new layout, `before` the old one (NULL for a
     * new file). Moves data, fills, writes the header. Agreed. */
    int (*enddef)(struct driver *self, const struct cdf_header *before);

    /* The header changed in data mode, and still fits: write it. */
    int (*write_header)(struct driver *self);

    int (*begin_indep)(struct driver *self);
    int (*end_indep)(struct driver *self);

    /* Move n requests, as if one after the other. In DRIVER_COLLECTIVE every process
     * calls it, n may be 0 anywhere, and ds->header.numrecs is agreed on return.
     * The result is the first bad status; `error` is the caller's own trouble with its
     * arguments (n is then 0), which takes part in the agreement. */
    int (*put)(struct driver *self, struct driver_request *reqs, int64_t n,
               enum driver_mode mode, int error);
    int (*get)(struct driver *self, struct driver_request *reqs, int64_t n,
               enum driver_mode mode, int error);

    /* Writes fill values to record `rec` of a record variable, all processes together. */
    int (*fill_record)(struct driver *self, int varid, MPI_Offset rec);

    /* sync: everything written is on its way to the device and visible to all.
     * sync_numrecs: numrecs agreed and in the file. flush: whatever is staged is in
     * the file. */
    int (*sync)(struct driver *self);
    int (*sync_numrecs)(struct driver *self);
    int (*flush)(struct driver *self);

    /* Adds the hints in force to info; local. */
    int (*inq_info)(struct driver *self, MPI_Info info);
};

/* The registry. Returns the bottom driver for a new file, or for a file by its first
 * bytes; NULL if none takes it. */
const struct driver_ops *driver_default(void);
const struct driver_ops *driver_by_signature(const unsigned char *head, size_t length);

/* Calls of a slot, of this layer or the first below it that has it. */
int driver_close(struct driver *d);
int driver_abort(struct driver *d);
int driver_redef(struct driver *d);
int driver_enddef(struct driver *d, const struct cdf_header *before);
int driver_write_header(struct driver *d);
int driver_begin_indep(struct driver *d);
int driver_end_indep(struct driver *d);
int driver_put(struct driver *d, struct driver_request *reqs, int64_t n,
               enum driver_mode mode, int error);
int driver_get(struct driver *d, struct driver_request *reqs, int64_t n,
               enum driver_mode mode, int error);
int driver_fill_record(struct driver *d, int varid, MPI_Offset rec);
int driver_sync(struct driver *d);
int driver_sync_numrecs(struct driver *d);
int driver_flush(struct driver *d);
int driver_inq_info(struct driver *d, MPI_Info info);

#endif
