/* The driver interface: what a dataset asks of whatever stores it.
 *
 * Drivers are stacked. A slot that a driver leaves NULL falls through to the driver
 * below it, so that one which changes how data is written is just a `put` and a few
 * words. api holds the definitions and checks every argument; what reaches a
 * driver is well-formed.
 *
 * A function whose name ends in _all is collective over the dataset's communicator, and
 * no other is (see "Errors" in doc/architecture.md). They return NC_ codes. A collective
 * function returns the same code on every process only where it says `agreed`. */
#ifndef DRIVER_H
#define DRIVER_H

#include "access_request.h"
#include "dataset.h"
#include "trace_record.h"

/* May the close of a dataset be left to later? */
enum driver_defer {
    DRIVER_NOW,    /* no */
    DRIVER_BY_MPI, /* it may, but who moves values meanwhile calls MPI-IO for it */
    DRIVER_READY,  /* it may, but has nothing to gain from that */
    DRIVER_LATER   /* all that was put is safe, and goes to the file meanwhile */
};

/* One layer of the stack. A driver's own state begins with this. */
struct driver {
    const struct driver_ops *ops;
    struct driver *lower; /* NULL at the bottom */
    struct dataset *ds;
};

/* Counts the bytes of a request that has been carried out. Who made it does so, not
 * the layers it passes. */
void driver_count_bytes(struct dataset *ds, const struct access_request *r, bool put);

/* Other files than the dataset's own that have values of it. */
struct driver_parts {
    int n;
    bool all;                             /* the own one has none */
    char *(*path)(void *who, int number); /* NULL: no memory; the caller frees it */
    void *who;
};

struct driver_ops {
    const char *name;

    /* Runs of bytes that ascend are better one raw request than a request each. */
    bool likes_runs;
    /* A bput needs no attached buffer. */
    bool needs_no_buffer;

    /* Does the dataset, by its hints or by what was found in its file, want this layer?
     * Layers below it are there. Local; NULL: always. */
    bool (*wanted)(const struct dataset *ds, bool create);

    /* What keeps a new dataset from having this layer, before anything is made or
     * removed. Local, process 0's; NULL: nothing does. */
    int (*refuse)(const struct dataset *ds);

    /* Make a new file, or open one and decode its header into ds->header. lower is the
     * layer below, already there (NULL at the bottom), *self the new one; on failure
     * nothing of it is left behind. Agreed. */
    int (*create_all)(struct dataset *ds, int cmode, struct driver *lower,
                      struct driver **self);
    int (*open_all)(struct dataset *ds, int omode, struct driver *lower,
                    struct driver **self);

    /* For layers below one that scatters values: where it does, once it is open; and a
     * layer that reads of such a file, which is open on `lower`, are to go through: on
     * top of that, or that itself. Both local. */
    void (*parts)(struct driver *self, const struct driver_parts *parts);
    struct driver *(*part)(struct driver *self, int number, struct driver *lower);

    /* All layers of a dataset that was there are open. Without what fails here the layer
     * does nothing. */
    void (*opened_all)(struct driver *self);

    /* Removes a dataset that nobody has open; for a bottom driver. Local. */
    int (*remove)(const char *path, MPI_Info info);
    /* Removes what the layer keeps of a dataset beside its file, if it has anything; the
     * file is still as it was, and is to be deleted or made anew. *all: there was no such
     * file, and what was removed was the dataset. Local. */
    int (*remove_parts)(const char *path, bool anew, bool *all);

    /* The name of a file that may tell of a dataset whose own name has none, to be opened
     * in its place; NULL: no memory. The caller frees it. */
    char *(*stand_in)(const char *path);

    /* Ends the layer and frees it, whatever it returns. abort throws away what enddef
     * has not written: a file that create made and no enddef completed is removed. */
    int (*close_all)(struct driver *self);
    int (*abort_all)(struct driver *self);

    /* Definitions may change from here ... */
    int (*redef_all)(struct driver *self);
    /* Before they are agreed on: would the file take what ds->header says in place of
     * `before` (NULL for a new file), or has another program changed it? Local. */
    int (*check_definitions)(struct driver *self, const struct cdf_header *before);
    /* ... to here: ds->header has its new layout, `before` the old one (NULL for a
     * new file). Moves data, fills, writes the header. Agreed. */
    int (*enddef_all)(struct driver *self, const struct cdf_header *before);

    /* The header changed in data mode, and still fits: write it. */
    int (*write_header_all)(struct driver *self);

    int (*begin_indep_all)(struct driver *self);
    int (*end_indep_all)(struct driver *self);

    /* Move n requests, as if one after the other; the result is the first bad status.
     * Of put_all and get_all every process calls the same one, n may be 0 anywhere, and
     * ds->header.numrecs is agreed on return; `error` is the caller's own trouble with
     * its arguments (n is then 0), which takes part in the agreement. put and get are
     * independent. */
    int (*put_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error);
    int (*get_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error);
    int (*put)(struct driver *self, struct access_request *const *reqs, int64_t n);
    int (*get)(struct driver *self, struct access_request *const *reqs, int64_t n);

    /* Nonblocking puts in data mode. post may take the values of some requests at once,
     * which then get a ticket; local. wait_all and wait are put_all and put for requests
     * of which some may have one; NULL: those. cancel takes those with a ticket back; the
     * status of one for which it is too late is NC_EFLUSHED, of the others NC_NOERR;
     * local. */
    void (*post)(struct driver *self, struct access_request *const *reqs, int64_t n);
    int (*wait_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                    int error);
    int (*wait)(struct driver *self, struct access_request *const *reqs, int64_t n);
    void (*cancel)(struct driver *self, struct access_request *const *reqs, int64_t n);

    /* sync: everything written is on its way to the device and visible to all.
     * sync_numrecs: numrecs agreed and in the file. flush: whatever is staged is in
     * the file. */
    int (*sync_all)(struct driver *self);
    int (*sync_numrecs_all)(struct driver *self);
    int (*flush_all)(struct driver *self);

    /* The same of what this process alone put, in independent mode. */
    int (*sync)(struct driver *self);
    int (*flush)(struct driver *self);

    /* Whatever is staged by now goes to the file while the program computes; is it there,
     * as far as this process alone is concerned? Local; NULL: nothing is staged. */
    int (*flush_start)(struct driver *self);
    int (*flush_test)(struct driver *self, bool *through);

    /* A request, or all (NULL), will be read soon; until what was announced so is there,
     * or cannot be. Local; NULL: nothing is kept. */
    int (*prefetch)(struct driver *self, const struct access_request *r);
    int (*prefetch_wait)(struct driver *self);

    /* What all do together so that close_all may come later. What fails here it tells. */
    void (*prepare_close_all)(struct driver *self);
    /* May close_all come later? Nothing but flush_start is called until then, with which
     * what was put may go to the file; the program may give the file another name, and
     * close_all goes by what the layer has opened by now. Where the answer is no,
     * close_all is called as if nobody had asked. Local; NULL: it may not. */
    enum driver_defer (*defer)(struct driver *self);

    /* Adds the hints in force to info; local. */
    int (*inq_info)(struct driver *self, MPI_Info info);
};

/* The drivers, each defined in its room. */
extern const struct driver_ops mpio_ops;
extern const struct driver_ops blob_ops;
extern const struct driver_ops burst_ops;
extern const struct driver_ops stage_ops;

/* Build the stack for a new file, or for one that is there, from the registry's table;
 * *top is the layer that is called. Agreed; on failure nothing is left. */
int driver_create_all(struct dataset *ds, int cmode, struct driver **top);
int driver_open_all(struct dataset *ds, int omode, struct driver **top);

/* The first error of what the wanted layers refuse, see struct driver_ops. Local. */
int driver_refuse(const struct dataset *ds);

/* Removes what all drivers keep of a dataset beside its file, see struct driver_ops.
 * Local. NC_EFILE ... */
int driver_remove_parts(const char *path, bool anew, bool *all);

/* Removes a dataset that nobody has open. Local. NC_ENOENT, NC_EFILE ... */
int driver_delete(const char *path, MPI_Info info);

/* Calls of a slot, of this layer or the first below it that has it. */
void driver_parts(struct driver *d, const struct driver_parts *parts);
struct driver *driver_part(struct driver *d, int number, struct driver *lower);
void driver_opened_all(struct driver *d);
int driver_close_all(struct driver *d);
int driver_abort_all(struct driver *d);
int driver_redef_all(struct driver *d);
int driver_check_definitions(struct driver *d, const struct cdf_header *before);
int driver_enddef_all(struct driver *d, const struct cdf_header *before);
int driver_write_header_all(struct driver *d);
int driver_begin_indep_all(struct driver *d);
int driver_end_indep_all(struct driver *d);
int driver_put_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                   int error);
int driver_get_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                   int error);
int driver_put(struct driver *d, struct access_request *const *reqs, int64_t n);
int driver_get(struct driver *d, struct access_request *const *reqs, int64_t n);
void driver_post(struct driver *d, struct access_request *const *reqs, int64_t n);
int driver_wait_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                    int error);
int driver_wait(struct driver *d, struct access_request *const *reqs, int64_t n);
void driver_cancel(struct driver *d, struct access_request *const *reqs, int64_t n);
int driver_sync_all(struct driver *d);
int driver_sync_numrecs_all(struct driver *d);
int driver_flush_all(struct driver *d);
int driver_sync(struct driver *d);
int driver_flush(struct driver *d);
int driver_flush_start(struct driver *d);
int driver_flush_test(struct driver *d, bool *through);
int driver_prefetch(struct driver *d, const struct access_request *r);
int driver_prefetch_wait(struct driver *d);
void driver_prepare_close_all(struct driver *d);
enum driver_defer driver_defer(struct driver *d);
int driver_inq_info(struct driver *d, MPI_Info info);

#endif
