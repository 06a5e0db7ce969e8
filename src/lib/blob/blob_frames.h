/* Values of blobs in frames (blob_frame.h), as doc/formats.md describes the files; known
 * to this room only.
 *
 * In a dataset that is framed a blob's values of a record are either in frames of its
 * subfile, or in the master file, all of them: the table of the variable says which. So
 * an element still has one home, and nothing is ever changed within a log, which only
 * grows.
 *
 * - Who puts all of its own blob together with the others of its group (blob_pack) makes
 *   frames. The group agrees on how long they are all together, so that each process
 *   knows where its own go; when they are there a chain tells of them, and when that is
 *   there, the place in the table changes. A job that is killed leaves the old values or
 *   the new ones. Where the old ones may be on the device, frames come to the device
 *   first: when the power goes it is the same.
 * - Any other put goes to the master. Where a blob is in frames that is put a part of,
 * all of it goes to the master before, and the place then says so (blob_frames_leave):
 *   under a lock of the subfile, as two processes may want that at once, and who is the
 *   second must not put old values over what the first has put since.
 *
 * One opening at a time makes frames, as no other may write at the log's end: the one
 * that made the moment (blob_hold.h). What others put goes to the master.
 *
 * What is got is read frame by frame; some are kept, by their place in the log, where
 * nothing else ever comes to lie. Tables are read anew by each call, as others may have
 * put. */
#ifndef BLOB_FRAMES_H
#define BLOB_FRAMES_H

#include "blob.h"
#include "blob_frame.h"
#include "blob_source.h"

/* ---- blob_table.c: where chains are ---- */

/* May this opening make frames? The same on all processes of a group. */
static inline bool blob_frames_made(const struct blob *b)
{
    return b->facts.framed && b->makes && b->own != NULL;
}

/* Records of a subfile, as its header is to tell them: bytes of the log, if it has one.
 */
int64_t blob_frames_records(const struct blob *b, int64_t records);

/* Which blob has element pos of a subfile's variable; *first: its first one, *n: how many
 * it has. Errors have words. Local. */
int blob_frames_find(struct blob *b, struct blob_sub *sub, struct blob_decomp *d,
                     int64_t pos, int64_t *blob, int64_t *first, int64_t *n);

/* Where the chain is of a blob's record; the table is read, if this call has not done so.
 * NC_ENOTNC with words. Local. */
int blob_frames_place(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                      int64_t blob, struct blob_place *place);

/* The page of a variable that has the record, as it is now; 0: there is none. Local. */
int blob_frames_page(struct blob *b, struct blob_sub *sub, int varid, int64_t record,
                     int64_t *page);
/* From here on it is there. Local. NC_ENOMEM. */
int blob_frames_add_page(struct blob *b, struct blob_sub *sub, int varid, int level,
                         int64_t page);

/* All that is known of a variable's pages, BLOB_LEVELS of them; NULL: nothing. Local. */
const int64_t *blob_frames_known(const struct blob_sub *sub, int varid);

/* What was read of tables may have changed. Local. */
static inline void blob_frames_forget(struct blob *b)
{
    b->frames.turn++;
}

/* Requests of the log, from `at` on; *region is the caller's to free. NC_ENOMEM. */
struct blob_log_request {
    struct region *where;
    union {
        struct access_request r;
        unsigned char
            room[sizeof(struct access_request) + ACCESS_RAW_SLAB * sizeof(int64_t)];
    } one;
};
int blob_log_request(const struct blob_sub *sub, struct blob_log_request *q,
                     struct region *where, int64_t n, const void *bytes);
int blob_log_read(struct blob_sub *sub, int64_t at, void *bytes, int64_t n);
int blob_log_write(struct blob_sub *sub, int64_t at, const void *bytes, int64_t n);

/* The log of the group's subfile ends where all of it know from here on. */
int blob_frames_end_all(struct blob *b);

/* Of a dataset that was opened: all it has may be on the devices, and it is compressed as
 * before, where the hint says nothing else. Local. */
void blob_frames_opened(struct blob *b);

void blob_frames_free_sub(struct blob_sub *sub);

/* ---- blob_frames.c: values from frames ---- */

/* Is the element's home the master? Then the part's is, too. Local. */
int blob_frames_home(struct blob *b, struct blob_decomp *d, int64_t at,
                     struct blob_part *part);
/* The same after its blob has left the frames, before a part of it is put. Local. */
int blob_frames_leave(struct blob *b, struct blob_decomp *d, int64_t at,
                      struct blob_part *part);

/* Bytes between two records of a variable in the offsets of a raw request. */
int64_t blob_frames_stride(const struct blob *b, const struct blob_sub *sub, int varid);

/* Carries out a raw request, of the master's variable: its offsets are those in the
 * subfile's own, of which each record has the elements of the decomposition. Local. */
int blob_frames_get(struct blob *b, struct blob_sub *sub, struct access_request *r);

/* Of checksums: no other dataset has any that are right. */
uint64_t blob_frames_seed(const struct blob *b);

void blob_frames_free(struct blob *b);

/* ---- blob_pack.c: frames from values ---- */

/* Puts of variables with a decomposition: what is all of the own blob becomes frames,
 * with that of the other processes of the group; the rest is moved, see blob_move. */
int blob_frames_put_all(struct blob *b, struct access_request *const *reqs, int64_t n);

/* How a dataset is compressed; are there such rules, in this build? */
bool blob_frames_wanted(const struct base_hints *h);

#endif
