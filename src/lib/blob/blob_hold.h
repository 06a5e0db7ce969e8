/* Who may write to a dataset in subfiles, and the moment that its files are of (see
 * blob_moment.h); known to this room only.
 *
 * Process 0 has the master file open, with a lock: shared while the dataset is open for
 * writing, exclusive while it is opened and while one file is made of it. The first
 * opening makes a new moment; one that finds others at work joins theirs, as nobody can
 * tell their values apart. */
#ifndef BLOB_HOLD_H
#define BLOB_HOLD_H

#include "blob.h"

/* The moment of a dataset that is created. */
void blob_hold_first(struct cdf_envelope *e);

/* Process 0's, of a dataset that is created: its first page is written. Local. */
int blob_hold_create(struct blob *b);

/* Process 0's, of one that is opened: reads its page. For writing, begins a moment, if
 * nobody else writes; b->facts and b->makes then say so. What a killed join has left is
 * removed. NC_EFILE with words: another program keeps this one out. Local. */
int blob_hold_open(struct blob *b);

/* This moment is written into the subfiles that the process answers for, after so many
 * syncs. `sync`: they are on their devices. Local. */
int blob_hold_stamp(struct blob *b, uint64_t syncs, bool sync);

/* Process 0's: all subfiles have the moment, and values may change. Local. */
int blob_hold_begun(struct blob *b);

/* The number that the next sync by all has, as process 0 says; 0: not to be written. */
int64_t blob_hold_next_sync(struct blob *b);

/* Process 0's: that sync is through. Local. */
int blob_hold_synced(struct blob *b, int64_t syncs);

/* Process 0's: decompositions, and whether all subfiles have headers, as `after` has
 * them, and `before` had. Local. */
int blob_hold_commit(const struct blob *b, const struct cdf_envelope *before,
                     const struct cdf_envelope *after);

/* Process 0's: nobody else writes, and nobody can, as one file is made. NC_EFILE with
 * words. Local. */
int blob_hold_join(struct blob *b);

/* Process 0's: lets go. `complete`: all that was put is in the files, and they are
 * closed. Local. */
int blob_hold_end(struct blob *b, bool complete);

/* The same of a dataset that is no more, or was never opened: what has begun is taken
 * back if nothing has changed. Local. */
void blob_hold_drop(struct blob *b);

/* Makes an empty file with the rights of an open one. It was not there before: NC_EEXIST.
 * Local. */
int blob_hold_make_file(int model, const char *path);

/* Reads the moment of a subfile, and compares it with the master's. NC_ENOTNC with words.
 * Local. */
int blob_hold_check(struct blob *b, struct blob_sub *s);

/* A subfile's variable for its moment, as its header is made. */
int blob_hold_define(struct cdf_header *h);

#endif
