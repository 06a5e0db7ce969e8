/* Declares the state that all layers of an open dataset share (its processes, name and
 * file, hints, definitions and statistics) and the agreements among its processes.
 *
 * Why no process hangs
 *
 * MPI-IO reports an error only to the process in which it occurs, and a process with bad
 * arguments must not leave the others waiting. So no process returns early from a
 * collective data call. A process that found an error continues with zero elements and
 * passes the error code down to the agreement (dataset_agree_all): one reduction for
 * errors, the number of records and the choice of the path. It is the only
 * synchronization that the library adds to a direct transfer, because synchronization is
 * expensive. (An exchange across nodes has a second one at its end.)
 *
 * Each process returns its own error. A failure of the file itself is noticed only after
 * the agreement. The process that notices it returns the error and records it in the
 * dataset, and the next agreement reports it to all. In safe mode (PNETCDF_SAFE_MODE=1) a
 * second reduction reports it in the same call.
 *
 * Errors
 *
 * Errors are negative NC_ codes. The lowest-level function that knows what is wrong adds
 * a message with base_error_set. The code is returned upwards, and ncmpi_strerror joins
 * the general text and the message. Module base converts MPI error codes. Nothing is
 * printed except a requested report, warnings about hints that are unknown or have no
 * effect, and, when MPI ends, errors of deferred closes that no call has reported.
 *
 * Rules for collective functions
 *
 * A function that can reach a collective call ends in _all. If its argument `how`
 * determines whether it is collective, it ends in _either. No other function may reach a
 * collective call. test/house/collective enforces this and the following rules on the
 * sources, as parsed by clang:
 *
 * - Whether a collective call is reached depends only on values that are the same on all
 *   processes: constants, hints, definitions, nprocs, modes, and results of agreements.
 *   It must not depend on an error of this process, its rank, or whether an allocation
 *   succeeded. So no return, break, condition or && on such a value precedes or encloses
 *   a collective call: continue without data and pass the error down.
 * - dataset_agree_all turns a process's own error into one that is the same on all.
 *   dataset_concur_all returns each process's own error if it has one; it is an error on
 *   all processes or on none. Pointers whose absence was reported to an agreement need
 *   not be checked again.
 * - An object is not freed collectively if the agreement on it failed: if only some
 *   processes have a window or communicator, none frees it.
 * - Within a node, and among the nodes' first processes, the same rules apply to their
 *   own communicators.
 * - A call with a subfile's dataset (blob_sub.ds, .driver) is collective over its group,
 *   the processes that have the subfile open. Agreements there are valid in the group
 *   only. In a function whose name ends in _alone, the process has the subfile to itself
 *   and waits for no other.
 *
 * New state that decides on collective calls, and is the same on all processes, is listed
 * in test/house/collective_tables.py with the reason. The test then checks what is stored
 * in it.
 *
 * Definitions that change in data mode take effect when all processes have changed them
 * and the header is written. If one process fails, all restore the previous
 * definitions. */
#ifndef DATASET_H
#define DATASET_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"
#include "base_require.h"
#include "hints.h"
#include "hints_effect.h"
#include "cdf.h"
#include "trace_stats.h"

/* Slots through which a layer adds a value to every agreement. */
enum { DATASET_SLOT_GETS, DATASET_SLOT_BLOB, DATASET_SLOT_END, DATASET_SLOTS };

struct blob_lease;
struct file_descriptor;
struct node;
struct trace;

/* Whether another job writes to the file in which a dataset is being created. */
enum dataset_use {
    DATASET_UNUSED,
    DATASET_IN_USE,
    DATASET_MAYBE_USED, /* unknown: the file system has no locks */
    DATASET_REPLACED    /* the replacement of the file has succeeded or failed */
};

#define DATASET_REPLAYS UINT64_MAX

/* The identity of a dataset's file, as seen by process 0. */
struct dataset_identity {
    int64_t device, inode;     /* inode is 0 if unknown */
    int64_t host;              /* id of process 0's host */
    int64_t modified, changed; /* st_mtim and st_ctim in ns, before any process opened the
                                * file, which may change them (base_fs.h); 0 if unknown */
};

/* An open dataset. The api module creates and frees it. */
struct dataset {
    MPI_Comm comm; /* duplicate communicator that returns errors */
    int rank, nprocs;
    char *path;           /* as passed by the user, without a file-system prefix */
    char *full_path;      /* absolute path, for opening the file later */
    bool prefixed;        /* the path had a prefix, which requests MPI-IO */
    bool extend_at_close; /* close extends the file to the size that its header implies */
    bool deleted;         /* the file will be deleted: logged values need not reach it */
    bool partial;         /* a subfile: other nodes use other files of the dataset */
    struct dataset_identity identity;
    struct file_descriptor
        *shared_descriptor; /* descriptor that other layers may duplicate; NULL if none */
    struct file_descriptor
        *created_descriptor; /* not NULL if this job has created the file, whose name then
                              * must not be a symbolic link. If its fd is not -1, process
                              * 0 used it to create the file. file_open_all takes it over;
                              * otherwise its owner closes it. */
    uint64_t log_token; /* token of this job's logs, or DATASET_REPLAYS while other logs
                         * are replayed; 0 if none */
    const int *guard;   /* process 0's descriptor with the write lock; NULL if none */
    int64_t announced_size; /* file size that other processes have announced */
    int64_t base; /* offset of the dataset in the file: after its superblock, if any */
    int netcdf4;  /* NC_FORMAT_NETCDF4 or NC_FORMAT_NETCDF4_CLASSIC; else 0 */
    const char
        *omitted;     /* unsupported objects in a netCDF-4 file, one per line; or NULL */
    bool is_stand_in; /* another file was opened in place of a missing one */
    struct hints hints;
    struct hints_effects effects;
    bool writable;
    /* If not NULL, called by process 0 once it has opened the file, before anything in
     * the file is read or changed. fd may be -1. If this fails, no process opens the
     * file. driver_replace explains `use`. */
    int (*opened)(struct dataset *ds, int fd, enum dataset_use use);
    struct blob_lease *lease; /* lease on a dataset in subfiles; NULL if not needed */
    /* If not NULL, called before each write to the file; an error prevents the write. */
    int (*may_write)(void *may_write_arg);
    void *may_write_arg;
    int64_t violations; /* base_violations() when the dataset was opened */
    bool open_failed;   /* opening failed, so layers close without completing anything */
    bool logs_remain; /* values remain in logs, so the closed file is incomplete; same on
                       * all processes */
    bool safe_mode;
    struct cdf_header header; /* the current definitions */
    MPI_Info info;            /* the user's hints */
    int64_t
        numrecs_seen; /* number of records that this process found or has put. Excludes
                       * failed puts, whose records disappear with the next agreement */
    int failed;       /* this process's I/O error, not yet reported by an agreement */
    int64_t failures; /* number of agreements that reported such an error; the same on all
                         processes */
    int64_t slots[DATASET_SLOTS],
        agreed_slots[DATASET_SLOTS]; /* values that layers pass to every
                                      * agreement, and their maxima */
    struct trace_stats stats;        /* this process's counters */
    struct trace_frames frames;      /* compression counters of variables */
    struct node *node;   /* the processes on this node; NULL until a layer needs them */
    struct trace *trace; /* NULL if no trace was requested */
};

/* Returns an error if an invariant has been violated since the dataset was opened. */
static inline int dataset_is_sound(const struct dataset *ds)
{
    return BASE_EXPECTED(base_violations() == ds->violations)
               ? NC_NOERR
               : base_refuse_after_violation();
}

/* Called before each write to one of the dataset's files. */
static inline int dataset_may_write(const struct dataset *ds)
{
    int err = dataset_is_sound(ds);
    if (err != NC_NOERR) return err;
    return ds->may_write == NULL ? NC_NOERR : ds->may_write(ds->may_write_arg);
}

/* Returns whether an error concerns only this process's values or its memory layout. In
 * safe mode, all other errors of one process are reported to all processes. */
static inline bool dataset_is_local_error(int error)
{
    return error == NC_ERANGE || error == NC_EIOMISMATCH || error == NC_EMULTITYPES;
}

/* Agrees on the result of a collective call. One reduction computes the worst error on
 * any process and the maximum of each of n values (n <= DATASET_AGREE_MAX). If `failed`
 * is not NULL, sets *failed to the worst I/O error that any process has recorded in an
 * earlier call (ds->failed), and clears that record, unless this call refuses the
 * process's own arguments; otherwise the next agreement reports it. Returns the worst
 * error, the same on all processes. */
enum { DATASET_AGREE_MAX = 10 };
#define DATASET_REPORTED_ELSEWHERE "reported by another process, which has the details"
int dataset_agree_all(struct dataset *ds, int error, int *failed, int64_t *values, int n);

/* Records an I/O error for the next agreement. Keeps an earlier error, which may come
 * from a duty in an unrelated call. */
static inline void dataset_defer_error(struct dataset *ds, int error)
{
    if (ds->failed == NC_NOERR) ds->failed = error;
}

/* Work that a process does before every agreement, of any dataset, to make its writes
 * visible to other processes. dataset_agreements returns how many agreements this process
 * has joined, which shows whether data read earlier may be stale. */
struct dataset_duty {
    void (*run)(void *arg);
    void *arg;
    struct dataset_duty *next;
};
void dataset_add_duty(struct dataset_duty *d);
void dataset_drop_duty(struct dataset_duty *d);
int64_t dataset_agreements(void);

/* Same as dataset_agree_all, but returns this process's own error if it has one. The
 * result is an error on all processes or on none. */
int dataset_concur_all(struct dataset *ds, int error, int *failed, int64_t *values,
                       int n);

/* Broadcasts n bytes from process `root`; n may be any size. NC_EMPI. */
int dataset_share_all(struct dataset *ds, void *bytes, int64_t n, int root);

/* If the agreed error is process 0's own, broadcasts its message. Returns the agreed
 * error. */
int dataset_share_message_all(struct dataset *ds, int error, int own);

/* Shares process 0's result, and its message if it is an error, with all processes.
 * Returns that result, or NC_EMPI. */
int dataset_share_result_all(struct dataset *ds, int result);

/* Records that this process has extended the dataset to at least `records` records. */
void dataset_raise_records(struct dataset *ds, int64_t records);

#endif
