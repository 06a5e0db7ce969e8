/* Internals shared by the files of ncmpijoin. */
#ifndef JOIN_H
#define JOIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "blob_lease.h"
#include "util_classic.h"
#include "util_progress.h"

#define JOIN_TOOL "ncmpijoin"

struct join_options {
    bool force, check, remove, compact, verbose;
    const char *from, *to;
};

struct join {
    struct join_options options;
    int rank, nprocs;
    struct util_classic in;
    struct blob_lease *lease; /* lease on the dataset; NULL if none */
    struct util_progress progress;
};

/* Returns 0 if status is 0 on all processes, otherwise -1. Collective. */
int join_agree_all(int status);

/* ---- join_file.c ---- */

/* Opens the dataset through the library and joins it into the file OUT, which is checked
 * if the options say so. Returns 0, or -1 after printing an error. Collective. */
int join_file_all(struct join *j);

/* ---- join_hold.c, join_compact.c: called only by the first process unless noted; each
 * function returns 0, or -1 after printing an error ---- */

/* Acquires the lease on the dataset. Must be called before the dataset is opened. */
int join_hold(struct join *j);

/* Removes what a killed join left behind, and checks the state of the opened dataset. */
int join_begin(struct join *j);

/* Checks that this program still owns the lease and that the dataset is unchanged. */
int join_is_held(const struct join *j);

/* Removes the subfiles, and then the master file. */
int join_remove(struct join *j);

/* Releases the lease. */
void join_release(struct join *j);

/* Checks that the subfiles can be compacted. */
int join_can_compact(const struct join *j);

/* Compacts this process's share of the subfiles. Sets *saved to the number of bytes
 * saved. Called by every process. Local. */
int join_compact(struct join *j, int64_t *saved);

#endif
