/* Reads a dataset whose values are partly in subfiles (doc/blob.md) as if it were a
 * single file. No MPI. */
#ifndef UTIL_BLOB_H
#define UTIL_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_progress.h"

/* Reports a fault in a file of the dataset. `reason` is one line without a full stop; it
 * names the file if `path` is NULL. */
typedef void util_blob_report_fn(void *to, const char *path, const char *reason);

/* Returns whether the dataset's values are in subfiles. Its header must be decoded. */
bool util_blob_is_apart(const struct util_classic *c);

/* Opens the subfiles and determines which variables they contain. If another library
 * wrote the dataset, c->header becomes the header of the whole dataset, and missing
 * subfiles are reported. Returns 0, or -1 if anything was reported. Continues after a
 * report, and treats subfiles that it could not read as missing. Sets c->blob to NULL if
 * out of memory or if the superblock is invalid. */
int util_blob_open(struct util_classic *c, util_blob_report_fn *report, void *to);
void util_blob_close(struct util_classic *c);

/* Checks that all maps are in order, within bounds and of the recorded length, and that
 * no element occurs twice. Reports missing subfiles, and a master file that is too short.
 * Returns 0, or -1 if anything was reported. */
int util_blob_check(struct util_classic *c, util_blob_report_fn *report, void *to);

/* Verifies the recorded checksums of a share of the blobs (number `share` of `shares`),
 * and counts the results. Returns 0, or -1 if anything was reported. Progress counts up
 * to util_blob_sum_turns. No-op if the build has no checksums (base_can_sum) or if
 * another library wrote the subfiles. */
struct util_blob_sums {
    int64_t right, wrong;
    int64_t none; /* blobs without a recorded checksum */
};
int util_blob_check_sums(struct util_classic *c, int64_t share, int64_t shares,
                         util_blob_report_fn *report, void *to,
                         struct util_progress *progress, struct util_blob_sums *sums);
int64_t util_blob_sum_turns(const struct util_classic *c, int64_t share, int64_t shares);

/* Returns whether the last writer closed the dataset. If not, the writer is still running
 * or was killed, and values that it has not put read as zeros. Returns true for datasets
 * of other libraries, which do not record this. */
bool util_blob_is_complete(const struct util_classic *c);

#define UTIL_BLOB_BEHIND                                                                 \
    "it is older than the last close of the dataset: values put since the last sync "    \
    "may be missing"

/* Returns the path of a subfile that may lack the puts between the last sync and the last
 * close, because the subfile was restored from an older copy, or because of a power cut.
 * Returns NULL if there is none. */
const char *util_blob_behind(const struct util_classic *c);

/* Returns whether the dataset is unchanged since this program opened it. */
bool util_blob_is_unchanged(const struct util_classic *c);

/* Returns the temporary name of the single file that is being joined at `path`; NULL if
 * out of memory. The caller frees it. */
char *util_blob_joining(const struct util_classic *c, const char *path);

/* Returns the temporary name of the file that will replace a subfile; NULL if out of
 * memory. The caller frees it. */
char *util_blob_compacting(const struct util_classic *c, const char *subfile);

/* Return the number of subfiles of the complete dataset, and the path of subfile
 * `number`. */
int util_blob_count(const struct util_classic *c);
const char *util_blob_path(const struct util_classic *c, int number);

/* Returns the reason why a tool must not write its output to `path`; NULL if it may.
 * Without `force`, no file may be replaced; with it, only a regular file that is not part
 * of the dataset. */
const char *util_blob_refuses(const struct util_classic *c, const char *path, bool force);

/* For another library's dataset, in which no file contains the header of the whole
 * dataset: return whether that header has been composed, and read bytes of the composed
 * header, with zeros after its end. */
bool util_blob_has_head(const struct util_classic *c);
int64_t util_blob_head(const struct util_classic *c, int64_t offset, void *bytes,
                       size_t length);

/* Inserts the values in blobs into the `length` bytes at `offset`, of which the master
 * file contained only the first `had`. Returns the number of valid bytes; -1 on error
 * (see util_classic_why). */
int64_t util_blob_insert(const struct util_classic *c, int64_t offset, void *bytes,
                         size_t length, int64_t had);

/* Returns the message of the last error, or "". */
const char *util_blob_why(const struct util_classic *c);

#endif
