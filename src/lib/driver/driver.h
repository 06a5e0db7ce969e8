/* The driver interface: the operations that store a dataset.
 *
 * Drivers are stacked in layers. A layer has a table of functions, its slots; a NULL slot
 * means that of the layer below. So a layer that changes how data are written needs
 * little more than a `put`. doc/driver.md describes how to add one. api holds the
 * definitions and checks every argument; requests that reach a driver are well-formed.
 *
 * A function whose name ends in _all is collective over the dataset's communicator, and
 * no other is (see dataset.h). They return NC_ codes. A collective
 * function returns the same code on every process only where it says `agreed`.
 *
 * How a dataset is opened:
 *
 * 1. ncmpi_open duplicates the communicator and collects the hints. Process 0's terms
 *    (hints, mode) hold for all; where others differ they learn it here.
 * 2. driver.c asks the drivers in its table whose file this is, by its first bytes.
 * 3. Process 0 opens it, in file_open. The agreement on that also tells the file's
 *    size; its stripes and on how many servers they lie, as the file system or MPI-IO
 *    tells process 0, else as the user does (striping_unit, striping_factor); whether
 *    process 0 goes through MPI-IO; which file it is (device, inode and host:
 *    file_identity), so that a process that opens it later gets the same one or none;
 *    and whether the processes run on several hosts. So the choice of each later call
 *    is made from what all have alike, without asking again. Others open it when they
 *    first read or write. On several nodes one process of each does, in the first
 *    collective transfer (file_lend): the first process opens the file, and passes its
 *    descriptor over a Unix socket to those of its node that listen (file_descriptor,
 *    file_lend); one that receives none opens the file itself. The burst buffer does
 *    the same when it is attached, and the layers of a dataset copy each other's
 * descriptor (ds->lent). Processes that share an open share a count of the device's
 * errors, as the system reports each error to one process only.
 * 4. mpio_header: process 0 reads the beginning of the file; while cdf_decode asks for
 *    more, it reads more. Then all receive the bytes and decode them, or the error
 *    with its words.
 * 5. cdf_decode takes bytes and a length, never a file or a communicator. Input is
 *    untrusted: every count is compared with the available bytes, every product checked.
 *    The layout is recomputed; sizes in the file are ignored.
 *
 * Collective calls of MPI, as counted on 2 processes; the error of each step must be
 * known to all before the next one, or some would wait for ever:
 *
 * - create: the communicator, terms (a broadcast, an agreement; over the caller's
 *   communicator, as the dataset's own may be refused to one process alone), an
 *   agreement on process 0's open; of a file that is there another one, when it has
 *   been emptied
 * - open: the same, then the header (a broadcast and an agreement, if it has up to 8
 *   KiB)
 * - enddef: an agreement before the header is written and one after it
 * - redef: two agreements: definitions, number of records
 * - close: of a file that may be written an agreement (records, size); an agreement
 * - a first transfer through a view: another communicator that is given back (for
 *   ROMIO, which ends the program where it gets none), MPI_File_open, an agreement on
 *   it
 *
 * test/driver/call_counts asserts these numbers. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stddef.h>

#include "access_request.h"
#include "dataset.h"
#include "trace_record.h"

struct driver;

/* May the close of a dataset be left to later? */
enum driver_defer {
    DRIVER_NOW,    /* no */
    DRIVER_BY_MPI, /* it may, but who moves values meanwhile calls MPI-IO for it */
    DRIVER_READY,  /* it may, but has nothing to gain from that */
    DRIVER_LATER   /* all that was put is safe, and goes to the file meanwhile */
};

/* Other files than the dataset's own that have values of it. */
struct driver_parts {
    int n;
    bool all;                             /* the own one has none */
    char *(*path)(void *who, int number); /* NULL: no memory; the caller frees it */
    void *who;
};

/* Nonblocking puts in data mode. A layer that has put_all must see all that is put:
 * unless it has these, too, nothing is posted, whatever is below it. */
struct driver_posting {
    /* Takes the values of some requests at once, which then get a ticket. Local. */
    void (*post)(struct driver *self, struct access_request *const *reqs, int64_t n);
    /* put_all and put for requests of which some may have a ticket. */
    int (*wait_all)(struct driver *self, struct access_request *const *reqs, int64_t n,
                    int error);
    int (*wait)(struct driver *self, struct access_request *const *reqs, int64_t n);
    /* Takes those with a ticket back. The status of one for which it is too late is
     * NC_EFLUSHED, of the others NC_NOERR. Local. */
    void (*cancel)(struct driver *self, struct access_request *const *reqs, int64_t n);
};

/* What goes on while the program computes, or when it has closed the dataset. Likewise,
 * a layer that has put_all and no defer has none of these. */
struct driver_background {
    /* Whatever is staged by now goes to the file; is it there, as far as this process
     * alone is concerned? Local. */
    int (*flush_start)(struct driver *self);
    int (*flush_test)(struct driver *self, bool *through);
    /* What all do together so that close_all may come later. What fails here it tells. */
    void (*prepare_close_all)(struct driver *self);
    /* May close_all come later? Nothing but flush_start is called until then, with which
     * what was put may go to the file; the program may give the file another name, and
     * close_all goes by what the layer has opened by now. Where the answer is no,
     * close_all is called as if nobody had asked. Local. */
    enum driver_defer (*defer)(struct driver *self);
};

/* Values that are kept near the process. */
struct driver_ahead {
    /* A request, or all (NULL), will be read soon. Local. */
    int (*prefetch)(struct driver *self, const struct access_request *r);
    /* Waits until what was announced so is there, or cannot be. Local. */
    int (*prefetch_wait)(struct driver *self);
};

/* For layers below one that scatters values over files. */
struct driver_files {
    /* Which they are, once it is open. Local. */
    void (*parts)(struct driver *self, const struct driver_parts *parts);
    /* The layer that reads of such a file, which is open on `lower`, are to go through:
     * on top of that, or that itself. Local. */
    struct driver *(*part)(struct driver *self, int number, struct driver *lower);
    /* All layers of a dataset that was there are open. Without what fails here the layer
     * does nothing. */
    void (*opened_all)(struct driver *self);
};

/* The slots of a layer: function pointers, and nothing else. */
struct driver_ops {
    /* Ends the layer and frees it, whatever it returns, and those below. abort throws
     * away what enddef has not written: a file that create made and no enddef completed
     * is removed. */
    int (*close_all)(struct driver *self, bool abort);

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

    /* sync: everything written is on its way to the device and visible to all.
     * sync_numrecs: numrecs agreed and in the file. flush: whatever is staged is in
     * the file. */
    int (*sync_all)(struct driver *self);
    int (*sync_numrecs_all)(struct driver *self);
    int (*flush_all)(struct driver *self);

    /* The same of what this process alone put, in independent mode. */
    int (*sync)(struct driver *self);
    int (*flush)(struct driver *self);

    /* Adds the hints in force to info; local. */
    int (*inq_info)(struct driver *self, MPI_Info info);

    /* What only some can do. */
    struct driver_posting posting;
    struct driver_background background;
    struct driver_ahead ahead;
    struct driver_files files;
};

typedef void (*driver_function)(void);
enum { DRIVER_SLOTS = sizeof(struct driver_ops) / sizeof(driver_function) };

/* One layer of the stack. A driver's own state begins with this. */
struct driver {
    struct driver_ops ops;           /* all of them, those of the layers below, too */
    struct driver *at[DRIVER_SLOTS]; /* the layer whose each one is */
    struct driver *lower;            /* NULL at the bottom */
    struct driver *bottom;
    struct dataset *ds;

    /* It has posting: a bput needs no attached buffer. */
    bool posts;
    /* Runs of bytes that ascend are better one raw request than a request each; as of the
     * layer below, unless this one says otherwise. */
    bool likes_runs;
};

/* Makes `self` a layer on top of `lower` (NULL: at the bottom) that has these slots.
 * Where neither has one of posting, background, ahead and files there is nothing to be
 * done. */
void driver_stack(struct driver *self, const struct driver_ops *own, struct driver *lower,
                  struct dataset *ds);

/* Calls a slot: driver_call(lower, put_all, reqs, n, error), driver_call(d,
 * ahead.prefetch, r). The function is given the layer it is of. */
#define driver_call(d, slot, ...)                                                        \
    ((d)->ops.slot((d)->at[offsetof(struct driver_ops, slot) / sizeof(driver_function)], \
                   ##__VA_ARGS__))

/* Counts the bytes of a completed request. Its maker does so, not
 * the layers it passes. */
void driver_count_bytes(struct dataset *ds, const struct access_request *r, bool put);

/* A driver, as the registry knows it: what is asked where there is no layer of it. */
struct driver_kind {
    /* Does the dataset, by its hints or by what was found in its file, want this layer?
     * Layers below it are there. Local; NULL: always. */
    bool (*wanted)(const struct dataset *ds, bool create);

    /* What keeps a new dataset from having this layer, before anything is made or
     * removed. Local, process 0's; NULL: nothing does. */
    int (*refuse)(const struct dataset *ds);

    /* Make a new file, or open one and decode its header into ds->header. lower is the
     * layer below, already there (NULL at the bottom), *self the new one, or lower; on
     * failure nothing of it is left behind. Agreed. */
    int (*create_all)(struct dataset *ds, int cmode, struct driver *lower,
                      struct driver **self);
    int (*open_all)(struct dataset *ds, int omode, struct driver *lower,
                    struct driver **self);

    /* Removes a dataset that nobody has open; for a bottom driver. Local. */
    int (*remove)(const char *path, MPI_Info info);
    /* Removes what the layer keeps of a dataset beside its file, if it has anything; the
     * file is still as it was, and is to be deleted or made anew. *all: there was no such
     * file, and what was removed was the dataset. Local. */
    int (*remove_parts)(const char *path, bool anew, bool *all);

    /* The name of a file that may tell of a dataset whose own name has none, to be opened
     * in its place; NULL: no memory. The caller frees it. */
    char *(*stand_in)(const char *path);
};

/* Each is defined in its room. */
extern const struct driver_kind mpio_driver;
extern const struct driver_kind nc4_driver;
extern const struct driver_kind blob_driver;
extern const struct driver_kind burst_driver;
extern const struct driver_kind stage_driver;

/* All of them, from the bottom of a stack to its top, and NULL. Of the first two, which
 * have the file, a dataset wants one. */
extern const struct driver_kind *const driver_registry[];

/* Build the stack for a new file, or for one that is there, from the registry's table;
 * *top is the layer that is called. Agreed; on failure nothing is left. */
int driver_create_all(struct dataset *ds, int cmode, struct driver **top);
int driver_open_all(struct dataset *ds, int omode, struct driver **top);

/* What a file is, by its first bytes: see cdf_signature. Local. NC_ENOENT, NC_EFILE ...
 */
int driver_file_format(const char *path, int *format);

/* The first error of what the wanted layers refuse, see struct driver_kind. Local. */
int driver_refuse(const struct dataset *ds);

/* Removes what all drivers keep of a dataset beside its file, see struct driver_kind.
 * Local. NC_EFILE ... */
int driver_remove_parts(const char *path, bool anew, bool *all);

/* Removes a dataset that nobody has open. Local. NC_ENOENT, NC_EFILE ... */
int driver_delete(const char *path, MPI_Info info);

#endif
