/* What all layers of an open dataset share: its processes, its name and file, the hints,
 * the definitions, and what was counted; and how its processes agree.
 *
 * A function whose name ends in _all is collective over the dataset's communicator, and
 * no other is.
 *
 * Errors are negative NC_ codes. The lowest function that knows what is wrong says it
 * in words with base_error_set; the code travels up as the result, and ncmpi_strerror
 * joins text and words. MPI error codes become NC_ codes in base. Nothing is printed
 * except a report that was asked for, a warning about unknown hints in PNETCDF_HINTS,
 * and, when MPI ends, errors of deferred closes that no call has reported.
 *
 * MPI-IO keeps errors to the process that has them, and a process with bad arguments
 * must not leave the others waiting. So in a collective data call no process returns
 * early: one that found an error continues with zero elements and passes the code down to
 * the agreement, dataset_agree_all, one reduction for errors, number of
 * records and choice of way. It is the only synchronisation that the library adds to a
 * direct transfer, since nothing is more expensive. (An exchange across nodes has a
 * second one at its end.) Each process returns its own error. A failure of the file
 * itself is only noticed after the agreement: the process that has it returns it and
 * records it in the dataset, and the next agreement reports it to all; in safe mode
 * (PNETCDF_SAFE_MODE=1) a second reduction does so in the same call.
 *
 * A function from which a collective call can be reached ends in _all; one whose
 * argument `how` says whether it is collective, in _either; no other may reach one.
 * test/house/collective enforces this and the following rules on the sources, as clang
 * parses them:
 *
 * - Whether a collective call is reached depends only on what is the same on all
 *   processes: constants, hints, definitions, nprocs, modes, and results of agreements.
 *   Not on an error of this process, on its rank, or on whether it had memory. So no
 *   return, break, condition or && on such a thing precedes or encloses a collective
 *   call: continue with nothing, and pass the error down.
 * - dataset_agree_all turns a process's own error into one that is the same on all;
 *   dataset_concur_all keeps each process's own, and is an error on all or on none.
 *   Pointers whose absence was reported to an agreement need not be checked again.
 * - An object is not freed collectively if the agreement on it failed: if only some
 *   processes have a window or communicator, none frees it.
 * - Within a node, and between the nodes' first processes, the same holds for their
 *   own communicators.
 * - What is called with a subfile's dataset (blob_sub.ds, .driver) is collective over the
 *   processes that have it open: its group. Agreements there hold in the group only. In a
 *   function whose name ends in _alone the process has it to itself and waits for no
 *   other.
 *
 * New state that decides on collective calls, and is the same on all processes, is
 * named in test/house/collective_tables.py, with the reason; the test then examines what
 * is stored there.
 *
 * Definitions that change in data mode are kept until all processes have changed them
 * and the header is written: where one of them fails, all have what they had. */
#ifndef DATASET_H
#define DATASET_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"
#include "base_hints.h"
#include "cdf.h"
#include "trace_stats.h"

/* Slots that layers may use to piggyback a value on every agreement. */
enum { DATASET_WORD_GETS, DATASET_WORD_BLOB, DATASET_WORD_END, DATASET_WORDS };

struct file_descriptor;
struct node;
struct trace;

/* What api and all drivers of a dataset share. api makes and frees it. */
struct dataset {
    MPI_Comm comm; /* a duplicate, with errors returned */
    int rank, nprocs;
    char *path;    /* as the user gave it, file-system prefix removed */
    char *full;    /* the same from the root: used to open the file later */
    bool prefixed; /* there was one: the user has MPI-IO in mind */
    bool whole;    /* a close gives the file the size that its header promises */
    bool deleted;  /* the file is to be gone: what is staged need not come there */
    bool partial;  /* processes of other nodes have other files of the same dataset */
    int64_t device, inode, host; /* of the file, as process 0 found it, and where that
                                  * runs; inode 0: unknown */
    int64_t modified; /* when it was, as process 0 found it before any process opened it,
                       * which may move that time (base_fs.h), in ns; 0: unknown */
    struct file_descriptor *lent; /* a layer's, for the others; NULL: none has one */
    int64_t promised;             /* others make the file so long, sooner or later */
    int64_t base; /* where in the file the dataset begins: behind its envelope, if any */
    int netcdf4;  /* NC_FORMAT_NETCDF4 or NC_FORMAT_NETCDF4_CLASSIC: the file is one of
                   * these; 0: it is a classic one */
    const char
        *left_out;  /* of such a file, a line each: "variable v (string)"; or NULL */
    bool stands_in; /* the file was opened because the dataset's own name has none */
    struct base_hints hints;
    bool writable;
    /* Asked before each write to the file, where not NULL: an error, and it is not made.
     */
    int (*may_write)(void *asked);
    void *asked;
    bool undone;  /* it never opened: layers that are there end, and complete nothing */
    bool lacking; /* values stay in logs: the file is closed, and not complete. Agreed. */
    bool safe_mode;
    struct cdf_header header; /* the definitions, as they are now */
    MPI_Info info;            /* everything the user asked for */
    int64_t held;     /* records that this process found, or has put: what a put that
                       * failed was to add is held by nobody, and drops out with
                       * the next agreement */
    int failed;       /* an I/O error here that the others have not been told of yet */
    int64_t failures; /* how many times an agreement told of one: the same everywhere */
    int64_t word[DATASET_WORDS],
        heard[DATASET_WORDS];    /* of callers': every agreement tells
                                  * them, the largest are heard */
    struct trace_stats stats;    /* counted by this process */
    struct trace_framed *framed; /* likewise, of each of the first variables */
    int nframed;
    struct node *node;   /* the processes of this node, once a layer has asked */
    struct trace *trace; /* NULL: nobody asked for one */
};

static inline int dataset_may_write(const struct dataset *ds)
{
    return ds->may_write == NULL ? NC_NOERR : ds->may_write(ds->asked);
}

/* In safe mode a mistake of one process is told to all; but the values it brings, and how
 * its memory is described, are its own affair. */
static inline bool dataset_is_own(int error)
{
    return error == NC_ERANGE || error == NC_EIOMISMATCH || error == NC_EMULTITYPES;
}

/* The one small agreement of a collective call: the worst of all processes' errors, and
 * the maximum of each of n values (n <= DATASET_AGREE_MAX), in one reduction.
 * *failed (may be NULL) gets the worst I/O error that any process had left over from
 * an earlier call, ds->failed, which is cleared: the next agreement reports it.
 * Returns the worst error, the same everywhere. */
enum { DATASET_AGREE_MAX = 10 };
int dataset_agree_all(struct dataset *ds, int error, int *failed, int64_t *values, int n);

/* NC_NOERR, or an I/O error that the next agreement is to report. The first one counts:
 * it may be of a duty, in the middle of a call that knows nothing of it. */
static inline void dataset_owe(struct dataset *ds, int error)
{
    if (ds->failed == NC_NOERR) ds->failed = error;
}

/* What a process has to do before it agrees with others on anything, whatever the
 * dataset: what it wrote is to be where they find it. How many agreements this process
 * has been in tells whether what it last saw of others may be old. */
struct dataset_duty {
    void (*settle)(void *who);
    void *who;
    struct dataset_duty *next;
};
void dataset_add_duty(struct dataset_duty *d);
void dataset_drop_duty(struct dataset_duty *d);
int64_t dataset_agreements(void);

/* The same as a call's last word: a process's own error, if it has one, else the worst.
 * So it is an error on all or on none, and who has none may go on. */
int dataset_concur_all(struct dataset *ds, int error, int *failed, int64_t *values,
                       int n);

/* n bytes of process root's, whatever n, on all. NC_EMPI. */
int dataset_share_all(struct dataset *ds, void *bytes, int64_t n, int root);

/* An agreed error with the words of process 0, where it is that one's own. It is what is
 * returned. */
int dataset_share_words_all(struct dataset *ds, int error, int own);

/* Notes that this process has extended the dataset to at least `records` records. */
void dataset_hold_records(struct dataset *ds, int64_t records);

#endif
