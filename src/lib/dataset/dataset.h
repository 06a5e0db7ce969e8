/* What all layers of an open dataset share: its processes, its name and file, the hints,
 * the definitions, and what was counted; and how its processes agree.
 *
 * A function whose name ends in _all is collective over the dataset's communicator, and
 * no other is (see "Errors" in doc/architecture.md). */
#ifndef DATASET_H
#define DATASET_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"
#include "base_hints.h"
#include "cdf.h"
#include "trace_stats.h"

/* Who has a word to add to each agreement. */
enum { DATASET_WORD_GETS, DATASET_WORD_BLOB, DATASET_WORDS };

struct file_descriptor;
struct node;
struct trace;

/* What api and all drivers of a dataset share. api makes and frees it. */
struct dataset {
    MPI_Comm comm; /* a duplicate, with errors returned */
    int rank, nprocs;
    char *path;    /* as the user gave it, file-system prefix removed */
    char *full;    /* the same from the root: who opens the file later uses this */
    bool prefixed; /* there was one: the user has MPI-IO in mind */
    bool whole;    /* a close gives the file the size that its header promises */
    bool deleted;  /* the file is to be gone: what is staged need not come there */
    bool partial;  /* processes of other nodes have other files of the same dataset */
    int64_t device, inode, host;  /* of the file, as process 0 found it, and where that
                                   * runs; inode 0: unknown */
    struct file_descriptor *lent; /* a layer's, for the others; NULL: none has one */
    int64_t base; /* where in the file the dataset begins: behind its envelope, if any */
    bool stands_in; /* the file was opened because the dataset's own name has none */
    struct base_hints hints;
    bool writable;
    /* Asked before each write to the file, where not NULL: an error, and it is not made.
     */
    int (*may_write)(void *asked);
    void *asked;
    bool undone; /* it never opened: layers that are there end, and complete nothing */
    bool safe_mode;
    struct cdf_header header; /* the definitions, as they are now */
    MPI_Info info;            /* everything the user asked for */
    int64_t held;     /* records that this process found, or has put: what a put that
                       * failed was to add is held by nobody, and drops out with
                       * the next agreement */
    int failed;       /* an I/O error here that the others have not been told of yet */
    int64_t failures; /* how many times an agreement told of one: the same everywhere */
    int64_t word[DATASET_WORDS],
        heard[DATASET_WORDS]; /* of callers': every agreement tells
                               * them, the largest are heard */
    struct trace_stats stats; /* counted by this process */
    struct node *node;        /* the processes of this node, once a layer has asked */
    struct trace *trace;      /* NULL: nobody asked for one */
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

/* The same as a call's last word: a process's own error, if it has one, else the worst.
 * So it is an error on all or on none, and who has none may go on. */
int dataset_concur_all(struct dataset *ds, int error, int *failed, int64_t *values,
                       int n);

/* n bytes of process root's, whatever n, on all. NC_EMPI. */
int dataset_share_all(struct dataset *ds, void *bytes, int64_t n, int root);

/* An agreed error with the words of process 0, where it is that one's own. It is what is
 * returned. */
int dataset_share_words_all(struct dataset *ds, int error, int own);

/* There are so many records at least, by this process's doing. */
void dataset_hold_records(struct dataset *ds, int64_t records);

#endif
