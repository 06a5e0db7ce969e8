/* The driver interface, which consists of the operations that store a dataset.
 *
 * Drivers are stacked in layers. A layer has a table of functions, its slots. If a slot
 * is NULL, the layer inherits it from the layer below, so a layer that changes how data
 * are written needs little more than a `put`. doc/driver.md describes how to add a layer.
 * The api module stores the definitions and checks every argument, so requests that reach
 * a driver are valid.
 *
 * Functions whose names end in _all, and no others, are collective over the dataset's
 * communicator (see dataset.h). They return NC_ codes. Only functions marked `agreed`
 * return the same code on every process.
 *
 * Opening a dataset:
 *
 * 1. ncmpi_open duplicates the communicator and collects the hints. Process 0's terms
 *    (hints, mode) apply to all processes. Processes whose terms differ are informed
 *    here.
 * 2. driver.c determines the driver from the first bytes of the file.
 * 3. Process 0 opens the file in file_open. The agreement on the result also distributes
 *    - the size of the file,
 *    - its stripe size and number of servers, as reported to process 0 by the file system
 *      or MPI-IO; otherwise as given by the user (striping_unit, striping_factor),
 *    - whether process 0 uses MPI-IO,
 *    - the file's identity (device, inode, host: file_identity), so that a process that
 *      opens the file later gets the same file or none,
 *    - whether the processes run on several hosts.
 *    Later choices depend on values that all processes share, and need no communication.
 *    Other processes open the file at their first read or write. With several nodes, the
 *    first process on each node opens it in the first collective transfer, and passes its
 *    descriptor over a Unix socket to the processes on its node that listen
 *    (file_descriptor, file_fdpass). A process that receives none opens the file itself.
 *    The burst buffer does the same when it is attached, and a dataset's layers duplicate
 *    each other's descriptor (ds->shared_descriptor). Processes that share an open file
 *    also share a count of device errors, because the system reports each error to only
 *    one process.
 * 4. mpio_header: process 0 reads the beginning of the file, and further bytes as long as
 *    cdf_decode requests more. All processes then receive the bytes and decode them, or
 *    receive the error and its message.
 * 5. cdf_decode takes bytes and a length, never a file or a communicator. Its input is
 *    untrusted: every count is compared with the available bytes, and every product is
 *    checked. The layout is recomputed; sizes stored in the file are ignored.
 *
 * The following collective MPI calls were counted on 2 processes. All processes must know
 * the error of a step before the next step, or some of them would wait forever:
 *
 * - create: duplicating the communicator; the terms (a broadcast and an agreement over
 *   the caller's communicator, because a process may fail to get the dataset's
 *   communicator); an agreement on process 0's open; for an existing file, another one
 *   after it is truncated
 * - open: the same, followed by the header (a broadcast and an agreement if it has up to
 *   8 KiB)
 * - enddef: an agreement before the header is written, and one after
 * - redef: two agreements: definitions, number of records
 * - close: an agreement; for a writable file another one (records, size)
 * - the first transfer through a view: creating and freeing a communicator (for ROMIO,
 *   which terminates the program if it gets none); MPI_File_open; an agreement on the
 *   result
 *
 * test/driver/call_counts asserts these numbers. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>

#include "access_request.h"
#include "dataset.h"
#include "trace_record.h"

struct driver;

/* Whether closing a dataset may be deferred. */
enum driver_defer {
    DRIVER_NOW,    /* must close immediately */
    DRIVER_BY_MPI, /* deferrable, but background transfers call MPI-IO */
    DRIVER_READY,  /* deferrable; no background work remains */
    DRIVER_LATER   /* deferrable: all puts are safe and will be moved in the background */
};

/* Files, other than its own, that contain the dataset's values. */
struct driver_parts {
    int n;
    bool all;                             /* the dataset's own file contains no values */
    char *(*path)(void *arg, int number); /* returns a path that the caller frees, or
                                           * NULL if out of memory */
    void *arg;
};

/* Slots for nonblocking puts in data mode. A layer that implements put_all must see every
 * put. Unless it also implements these slots, nothing is posted to the layers below. */
struct driver_posting {
    /* Copies the values of some requests immediately, and assigns each request a ticket.
     * Local. */
    void (*post)(struct driver *self, struct access_request *const *reqs, int64_t n);
    /* Same as put_all and put, but some of the requests may have tickets. */
    int (*wait_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                    int error);
    int (*wait)(struct driver *self, struct access_request *const *reqs, int64_t n);
    /* Cancels requests that have tickets. Sets their status to NC_NOERR, or to
     * NC_EFLUSHED if it is too late to cancel. Local. */
    void (*cancel)(struct driver *self, struct access_request *const *reqs, int64_t n);
};

/* Slots for background work while the program computes, or after it has closed the
 * dataset. A layer that implements put_all but not defer inherits none of these slots. */
struct driver_background {
    /* Start writing all logged values to the file, and test whether this process's values
     * have been written. Local. */
    int (*flush_start)(struct driver *self);
    int (*flush_test)(struct driver *self, bool *through);
    /* Performs the collective work that must be done before close_all can be deferred.
     * close_all reports its errors. */
    void (*prepare_close_all)(struct driver *self);
    /* Returns whether close_all may be called later. Until then only flush_start is
     * called, which may start background writes. The program may rename the file in the
     * meantime; close_all uses the files that the layer has open. If the result is
     * DRIVER_NOW, close_all is called immediately. Local. */
    enum driver_defer (*defer)(struct driver *self);
};

/* Slots that prefetch values. */
struct driver_prefetch_ops {
    /* Announces that a request, or all data (NULL), will be read soon. Local. */
    int (*prefetch)(struct driver *self, const struct access_request *r);
    /* Waits until the announced values are available or have failed to arrive. Local. */
    int (*prefetch_wait)(struct driver *self);
};

/* Slots for layers below a layer that stores values in several files. */
struct driver_files {
    /* Announces such files after the dataset has been opened. Local. */
    void (*parts)(struct driver *self, const struct driver_parts *parts);
    /* Returns the layer through which to read such a file, which is open on `lower`: a
     * layer on top of `lower`, or `lower` itself. Local. */
    struct driver *(*part)(struct driver *self, int number, struct driver *lower);
    /* Called after all layers of an existing dataset have been opened. On failure, the
     * layer becomes inactive. */
    void (*opened_all)(struct driver *self);
};

/* The slots of a layer. Contains only function pointers. */
struct driver_ops {
    /* Closes and frees the layer and all layers below, even if it returns an error. If
     * `abort` is set, discards changes that no enddef has written, and removes a new file
     * for which no enddef has completed. */
    int (*close_all)(struct driver *self, bool abort);

    /* Begins a change to the definitions. */
    int (*redef_all)(struct driver *self);
    /* Called before the processes agree on the definitions. Checks that ds->header can
     * replace `before` (NULL for a new file) in the file, and that no other program has
     * changed the file. Local. */
    int (*check_definitions)(struct driver *self, const struct cdf_header *before);
    /* Ends a change to the definitions: moves data, fills variables and writes the
     * header. ds->header is the new layout, `before` the old one (NULL for a new file).
     * All processes get the same result. */
    int (*enddef_all)(struct driver *self, const struct cdf_header *before);

    /* Writes a header that was changed in data mode and still fits into its space. */
    int (*write_header_all)(struct driver *self);

    int (*begin_indep_all)(struct driver *self);
    int (*end_indep_all)(struct driver *self);

    /* Transfer n requests as if one after the other. Return the first status that is an
     * error. put_all and get_all are collective. n may be 0 on any process, and
     * ds->header.numrecs is agreed on when they return. `error` is an error in the
     * caller's arguments (n is then 0), which becomes part of the agreement. put and get
     * are independent. */
    int (*put_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error);
    int (*get_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error);
    int (*put)(struct driver *self, struct access_request *const *reqs, int64_t n);
    int (*get)(struct driver *self, struct access_request *const *reqs, int64_t n);

    /* sync_all flushes all written data to the device and makes it visible to all
     * processes. sync_numrecs_all agrees on numrecs and writes it. flush_all writes all
     * logged values to the file. */
    int (*sync_all)(struct driver *self);
    int (*sync_numrecs_all)(struct driver *self);
    int (*flush_all)(struct driver *self);

    /* Same as sync_all and flush_all, but for this process's puts in independent mode. */
    int (*sync)(struct driver *self);
    int (*flush)(struct driver *self);

    /* Adds to `info` the hints that the layer uses. Local. */
    int (*inq_info)(struct driver *self, MPI_Info info);

    /* Optional groups of slots. */
    struct driver_posting posting;
    struct driver_background background;
    struct driver_prefetch_ops prefetching;
    struct driver_files files;
};

typedef void (*driver_function)(void);
enum { DRIVER_SLOTS = sizeof(struct driver_ops) / sizeof(driver_function) };

/* One layer of the stack. A driver's state begins with this struct. */
struct driver {
    struct driver_ops ops;           /* slots after inheritance */
    struct driver *at[DRIVER_SLOTS]; /* for each slot, the layer that implements it */
    struct driver *lower;            /* layer below; NULL at the bottom */
    struct driver *bottom;
    struct dataset *ds;

    /* The stack implements `posting`, so bput needs no attached buffer. */
    bool posts;
    /* A raw request for ascending runs of bytes is faster than one request for each run.
     * Inherited from the layer below unless the layer sets it. */
    bool prefers_merged_runs;
};

/* Makes `self` a layer with these slots on top of `lower` (NULL at the bottom). If no
 * layer implements a slot of posting, background, prefetching or files, the slot becomes
 * a function that does nothing. */
void driver_stack(struct driver *self, const struct driver_ops *own, struct driver *lower,
                  struct dataset *ds);

/* Calls a slot, for example driver_call(lower, put_all, reqs, n, error) or driver_call(d,
 * prefetching.prefetch, r). The function receives the layer that implements the slot. */
#define driver_call(d, slot, ...)                                                        \
    ((d)->ops.slot((d)->at[offsetof(struct driver_ops, slot) / sizeof(driver_function)], \
                   ##__VA_ARGS__))

/* Counts the bytes of a completed request. The creator of the request calls this, not the
 * layers that the request passes through. */
void driver_count_bytes(struct dataset *ds, const struct access_request *r, bool put);

/* Why a job accesses a dataset that may already exist. */
enum driver_intent { DRIVER_READ, DRIVER_WRITE, DRIVER_REPLACE, DRIVER_DELETE };

/* A driver in the registry. Its operations do not need an open layer. */
struct driver_kind {
    /* Returns whether the dataset needs this layer, according to its hints or its file.
     * The layers below exist already. Local. NULL means always. */
    bool (*wanted)(const struct dataset *ds, bool create);

    /* Returns an error if a new dataset cannot have this layer. Called before any file is
     * created or removed. Local, on process 0. NULL means no restriction. */
    int (*refuse)(const struct dataset *ds);

    /* Acquires the lease that the intent requires, before any part of a dataset is
     * changed, replaced or removed. *lease remains NULL if the intent requires none; a
     * reader then only waits briefly for a dataset that is being created or redefined.
     * ds->full_path is the file's path. fd is the file's open descriptor, or -1 if it is
     * not open or may not exist. Returns NC_EFILE if another job owns the dataset; other
     * errors if it could not be replaced or deleted completely. Local, on process 0. NULL
     * means no lease. */
    int (*acquire)(const struct dataset *ds, int fd, enum driver_intent intent,
                   struct blob_lease **lease);
    void (*release)(struct blob_lease *lease);

    /* Create a file, or open one and decode its header into ds->header. `lower` is the
     * layer below (NULL at the bottom). Set *self to the new layer, or to `lower`. On
     * failure, nothing remains allocated or open. All processes get the same result. */
    int (*create_all)(struct dataset *ds, int cmode, struct driver *lower,
                      struct driver **self);
    int (*open_all)(struct dataset *ds, int omode, struct driver *lower,
                    struct driver **self);

    /* Removes a dataset that is not open. Only bottom drivers implement this. Local. */
    int (*remove)(const char *path, MPI_Info info);
    /* Removes the other files of a dataset that belong to this layer. The dataset's own
     * file is still unchanged, but will then be deleted, or recreated (`anew`). Sets *all
     * if there is no such file, so that the whole dataset has been removed. Local. */
    int (*remove_parts)(const char *path, bool anew, bool *all);

    /* Returns the path of a file to open if the dataset's file does not exist. Returns
     * NULL if out of memory. The caller must free the path. */
    char *(*stand_in)(const char *path);
};

/* Each driver is defined in its module. */
extern const struct driver_kind mpio_driver;
extern const struct driver_kind nc4_driver;
extern const struct driver_kind blob_driver;
extern const struct driver_kind burst_driver;
extern const struct driver_kind stage_driver;

/* All drivers, from the bottom to the top of a stack, terminated by NULL. A dataset uses
 * exactly one of the first two, which access its file. */
extern const struct driver_kind *const driver_registry[];

/* Build the stack of layers for a new or an existing file, and set *top to the layer to
 * call. On failure, nothing remains allocated or open. Returns the agreed result. */
int driver_create_all(struct dataset *ds, int cmode, struct driver **top);
int driver_open_all(struct dataset *ds, int omode, struct driver **top);

/* Determines a file's format from its first bytes, as cdf_signature does. Local.
 * NC_ENOENT, NC_EFILE ... */
int driver_file_format(const char *path, int *format);

/* Calls the `refuse` functions (struct driver_kind) of all layers that the dataset needs.
 * Returns the first error. Local. */
int driver_refuse(const struct dataset *ds);

/* Called before a dataset is created in an existing file. Acquires the lease on the old
 * dataset, and removes all drivers' other files. fd is the open file, or -1. On error
 * nothing has been removed, and the message names the owner of the lease. If another job
 * writes to the file, or may do so, a new file will replace it; if it is certain that a
 * job writes, nothing is removed. The caller then gives the new file the dataset's name,
 * and calls again with DATASET_REPLACED. This releases the lease, because the new file
 * gets its own. Until then no other job can acquire the old lease to create the dataset.
 * Local, on process 0. */
int driver_replace(struct dataset *ds, int fd, enum dataset_use use);

/* Releases a lease that no layer has taken over. Local. */
void driver_release(struct dataset *ds);

/* Removes a dataset. `owned` means that this process has deferred its close, so its job
 * owns the lease. Local. NC_ENOENT; NC_EFILE if another job owns the dataset; ... */
int driver_delete(const char *path, MPI_Info info, bool owned);

#endif
