/* Stores values of blobs in frames (subfile_frame.h). doc/formats.md describes the files.
 * Private to this module.
 *
 * In a dataset with frames, all values of one record of a blob are either in frames of
 * its subfile or in the master; the variable's table records which. So each element has
 * exactly one location. A log only grows: nothing in it is overwritten.
 *
 * - A process that puts all of its blob, together with its group, makes frames
 *   (blob_pack). The group agrees on the length of all frames, so that each process knows
 *   where to write its own. Each process writes its frames, then the chain that lists
 *   them, then the entry in the table. If the job is killed, either the old values or the
 *   new ones remain. If the old values may be on the device, the frames are synced before
 *   the entry is written, so that this also holds after a power failure.
 * - Any other put goes to the master. If it changes part of a blob that is in frames, the
 *   whole blob is moved to the master first, and its entry is cleared
 *   (blob_frames_leave). The subfile is locked meanwhile, because two processes may do
 *   this at the same time, and the second one must not overwrite newer values of the
 *   first with old ones.
 *
 * The module subfile reads tables and frames, and caches them. It reads tables again in
 * each call, because other processes may have put. */
#ifndef BLOB_FRAMES_H
#define BLOB_FRAMES_H

#include "blob.h"

/* ---- blob_log.c: the group's log ---- */

/* Returns whether this opening may make frames; the same in the whole group. */
static inline bool blob_frames_made(const struct blob *b)
{
    return b->facts.framed && b->base.ds->writable && b->own != NULL;
}

/* Returns the record count for the subfile's header. If the subfile has a log, the record
 * count is the log's size in bytes. */
static inline int64_t blob_frames_records(const struct blob *b, int64_t records)
{
    if (!b->facts.framed) return records;
    return b->frames.end > 0 || b->own == NULL ? b->frames.end
                                               : b->own->ds.header.numrecs;
}

/* Adds a page to a variable's table in the group's subfile. Local. NC_ENOMEM. */
int blob_frames_add_page(struct blob_sub *own, int varid, int level, int64_t page);

/* Returns whether the device may have a record's current values, so that a failure must
 * not lose them. */
static inline bool blob_frames_may_be_safe(const struct blob *b, int varid,
                                           int64_t record)
{
    return b->base.ds->header.vars[varid].is_record ? record < b->frames.safe
                                                    : b->frames.safe > 0;
}

/* Marks all cached parts of tables as stale. Local. */
static inline void blob_frames_forget(struct blob *b)
{
    b->frames.cache.turn++;
}

/* Agrees in the group on where the log in its subfile ends. */
int blob_frames_end_all(struct blob *b);

/* Initialises the frames of an opened dataset, all of whose values may already have been
 * synced. New values are compressed as before unless the hint specifies otherwise.
 * Local. */
void blob_frames_opened(struct blob *b);

/* ---- blob_frames.c: getting values from frames ---- */

/* If the element is in the master, sets the part's location to the master. Local. */
int blob_frames_locate(struct blob *b, struct blob_decomp *d, int64_t at,
                       struct subfile_part *part);
/* Moves the blob that contains the element from its frames to the master, unless it is
 * there already. Sets the part's location to the master. Local. */
int blob_frames_leave(struct blob *b, struct blob_decomp *d, int64_t at,
                      struct subfile_part *part);

/* Returns the distance in bytes between records in the offsets of a raw request. */
int64_t blob_frames_stride(const struct blob *b, const struct blob_sub *sub, int varid);

/* Performs a raw request for a variable of the master. Its offsets refer to the subfile's
 * variable, in which each record has the elements of the decomposition. Local. */
int blob_frames_get(struct blob *b, struct blob_sub *sub, struct access_request *r);

void blob_frames_free(struct blob *b);

/* ---- blob_pack.c: packing values into frames ---- */

/* Puts to decomposed variables. The processes of the group pack whole blobs into frames
 * together; all other requests go through blob_move. */
int blob_frames_put_all(struct blob *b, struct access_request *const *reqs, int64_t n);

/* Returns whether the hints contain compression rules that this build supports. */
bool blob_frames_wanted(const struct hints *h);

#endif
