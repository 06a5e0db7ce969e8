/* A dataset whose values are partly in subfiles (doc/blob.md), read as the one file that
 * it stands for. No MPI. */
#ifndef UTIL_BLOB_H
#define UTIL_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_progress.h"

/* Something is wrong with a file of the dataset: one line without a full stop. NULL: the
 * line names the file. */
typedef void util_blob_tell(void *to, const char *path, const char *reason);

/* Are its values in subfiles, as its header tells, which has been decoded? */
bool util_blob_is_apart(const struct util_classic *c);

/* Opens the subfiles that are there of such a dataset, and finds out which variables they
 * have. Of another library's dataset the header is from then on the one of the whole, and
 * what is missing is told. Goes on behind what it tells;
 * then the result is -1, and what could not be read is taken for missing. NULL in
 * c->blob: no memory, or an envelope that is not good. */
int util_blob_open(struct util_classic *c, util_blob_tell *tell, void *to);
void util_blob_close(struct util_classic *c);

/* Reads all maps: in order, inside, of as many elements as they say, and no element
 * twice; tells which subfiles are missing, and what the master file is too short for. 0,
 * or -1 after it told something. */
int util_blob_check(struct util_classic *c, util_blob_tell *tell, void *to);

/* Reads what blobs have, and compares it with the checksums of the time when it was
 * written: a share of it, of so many. 0, or -1 after it told something; what there was is
 * counted. The progress is one of util_blob_sum_turns. Nothing is compared where the
 * build has no checksums (base_can_sum), or of other libraries' subfiles. */
struct util_blob_sums {
    int64_t right, wrong;
    int64_t none; /* blobs of which nobody knows one */
};
int util_blob_check_sums(struct util_classic *c, int64_t share, int64_t shares,
                         util_blob_tell *tell, void *to, struct util_progress *progress,
                         struct util_blob_sums *sums);
int64_t util_blob_sum_turns(const struct util_classic *c, int64_t share, int64_t shares);

/* Did the last program that wrote to it close it? Else it is still at work, or was
 * killed: what it has not put reads as zeros. Of other libraries' files nobody knows:
 * true. */
bool util_blob_is_complete(const struct util_classic *c);

#define UTIL_BLOB_BEHIND                                                                 \
    "it is from before the dataset was closed: what was put since the last sync may be " \
    "missing"

/* A subfile that may lack what was put since the last sync before the last close: put
 * back from a copy of that time, or the power went. NULL: none is so. */
const char *util_blob_behind(const struct util_classic *c);

/* Does a job make one file of it, by the record of the process that does? */
enum { UTIL_BLOB_WHO = 160 };
bool util_blob_is_joined(const struct util_classic *c, char who[UTIL_BLOB_WHO]);

/* Is it still as it was when it was opened? */
bool util_blob_is_unchanged(const struct util_classic *c);

/* The name of the one file that is made of it under a path, as long as it is not whole;
 * NULL: no memory. The caller frees it. */
char *util_blob_joining(const struct util_classic *c, const char *path);

/* The name of a file that takes a subfile's place when it is whole; NULL: no memory. The
 * caller frees it. */
char *util_blob_compacting(const struct util_classic *c, const char *subfile);

/* The subfiles that there should be, and the name of one. */
int util_blob_count(const struct util_classic *c);
const char *util_blob_path(const struct util_classic *c, int number);

/* Why a tool must not write what it makes of the dataset to `path`; NULL: it may. Without
 * `force` no file is replaced, with it only a regular file that is not the dataset's. */
const char *util_blob_refuses(const struct util_classic *c, const char *path, bool force);

/* Of another library's dataset no file has the header of the whole. Its bytes, and zeros
 * for what is behind them. */
bool util_blob_has_head(const struct util_classic *c);
int64_t util_blob_head(const struct util_classic *c, int64_t offset, void *bytes,
                       size_t length);

/* Lays what is in blobs over the length bytes at an offset, of which the master file had
 * so many. Returns how many there are now; -1: util_classic_why has words. */
int64_t util_blob_lay(const struct util_classic *c, int64_t offset, void *bytes,
                      size_t length, int64_t had);

/* What was wrong the last time, or "". */
const char *util_blob_why(const struct util_classic *c);

#endif
