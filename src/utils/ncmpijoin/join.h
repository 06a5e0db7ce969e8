/* What the files of ncmpijoin share. */
#ifndef JOIN_H
#define JOIN_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_progress.h"

#define JOIN_TOOL "ncmpijoin"

enum { JOIN_PIECE = 4 << 20 }; /* bytes at a time */

struct join_options {
    bool force, check, remove, compact, verbose;
    const char *from, *to;
};

struct join {
    struct join_options options;
    int rank, nprocs;
    struct util_classic in;
    int64_t size;             /* bytes of the one file */
    char temporary[PATH_MAX]; /* its name until it is whole; then, and before, "" */
    int made;                 /* the first process's descriptor of it, with a lock; -1 */
    int lock;                 /* ... of the dataset; -1 */
    bool reads_only;          /* ... which cannot be locked */
    int out;
    char *bytes, *others; /* a piece of each */
    int64_t done;         /* bytes of this process */
    struct util_progress progress;
};

/* 0 if it is on all processes, else -1. Collective. */
int join_agree_all(int status);

/* ---- join_bytes.c: each returns 0, or -1 after an error line ---- */

/* This process's share of the file is written, and on the device. Local. */
int join_write(struct join *j);

/* Another's share of it is read again, and compared with the dataset. Local. */
int join_compare(struct join *j);

/* ---- join_hold.c, join_files.c: of the first process alone; each 0, or -1 after an
 * error line ----
 */

/* Has the dataset to itself, until the program ends; what a killed join has left is
 * removed. */
int join_hold(struct join *j);

/* Is it so still, and has nobody changed it? */
int join_is_held(const struct join *j);

/* Makes the file under its temporary name, and as long as it will be. */
int join_create(struct join *j);

/* May its subfiles be written anew? */
int join_can_compact(const struct join *j);

/* Writes this process's share of the subfiles anew; how many bytes shorter they are.
 * Local; 0, or -1 after an error line. */
int join_compact(struct join *j, int64_t *saved);

/* Gives it its name. */
int join_rename(struct join *j);

/* Removes the subfiles, then the master file. */
int join_remove(struct join *j);

/* Removes what is not complete. */
void join_give_up(const struct join *j);

#endif
