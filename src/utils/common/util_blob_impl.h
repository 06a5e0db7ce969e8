/* Internals shared by the files of util_blob.
 *
 * Functions that return an NC_ error also set a message (base_error_detail). */
#ifndef UTIL_BLOB_IMPL_H
#define UTIL_BLOB_IMPL_H

#include <stdbool.h>

#include "base_error.h"
#include "cdf_superblock.h"
#include "subfile_cache.h"
#include "subfile_foreign.h"
#include "subfile_open.h"
#include "subfile_parts.h"
#include "util_blob.h"

enum { UTIL_BLOB_PIECES = 1 << 16, UTIL_BLOB_BYTES = 1 << 20 };

struct util_blob_sub {
    struct util_blob *of; /* the dataset */
    char *path;
    struct util_classic file; /* fd is -1 while the file is closed */
    bool there;
    bool behind; /* it may be from before the last close (subfile_generation.h) */
    struct subfile subfile; /* the file's contents, to be read through this struct */
};

/* A variable whose values are in blobs. `bytes` is the size of one record, or of a
 * fixed-size variable. */
struct util_blob_var {
    int varid, decomp, size;
    int64_t begin, bytes;
    bool record;
};

struct util_blob_decomp {
    int number;
    int varid; /* first variable with this decomposition */
    int64_t nelems;
    int64_t found; /* number of elements in those parts of the index that were checked */
    struct subfile_index index;
};

struct util_blob {
    struct cdf_superblock facts;
    struct subfile_foreign foreign; /* the layout if another library wrote the dataset */
    unsigned char *head; /* the encoded header of the whole dataset, if composed */
    struct util_blob_sub *subs;
    int nmissing;
    int nopen, hand; /* number of open descriptors; subfile whose descriptor was last
                      * closed to reopen another */
    struct util_blob_var *vars;
    int nvars, nfixed;
    int *numbers; /* number of each variable's decomposition; 0 if none */
    struct util_blob_decomp *decomps;
    int ndecomps;
    struct subfile_part *pieces; /* up to UTIL_BLOB_PIECES pieces to be read */
    int *order, npieces;         /* indices of pieces, sorted by run */
    struct subfile_runs runs;
    struct subfile_cache cache;
    char *bytes; /* buffer of UTIL_BLOB_BYTES bytes */
    char words[1024];
};

/* Returns the message of the last error. */
static inline const char *util_blob_message(int err)
{
    const char *detail = base_error_detail(err);
    return detail[0] != '\0' ? detail : base_error_text(err);
}

static inline int util_blob_no_memory(void)
{
    return base_error_set(NC_ENOMEM, "%s", base_error_text(NC_ENOMEM));
}

static inline bool util_blob_is_foreign(const struct util_blob *b)
{
    return b->foreign.kind != SUBFILE_FOREIGN_NONE;
}

/* ---- util_blob_foreign.c ---- */

/* Replaces the header with that of the whole dataset, and sets b->facts. */
int util_blob_compose(struct util_classic *c);
/* Completes and encodes the header of the whole dataset, given the totals over all
 * subfiles. */
int util_blob_assign(struct util_classic *c, const struct subfile_tally *t);
/* Checks that a subfile is long enough for all values that are read from it. */
int util_blob_find_cut(const struct util_classic *c, int number);

/* ---- util_blob.c ---- */

/* Reads n bytes of a subfile. Bytes after its end read as zeros, because the dataset may
 * have new records to which the subfile contributes nothing. NC_EREAD on error. */
int util_blob_bytes(struct util_blob *b, int number, int64_t at, void *bytes, int64_t n);

/* Reports that the file ends before the data of a variable. Returns NC_ENOTNC. */
int util_blob_cut(const struct util_blob_sub *s, const struct cdf_var *v);

/* Extends the index of a decomposition so that it covers element `at`. */
int util_blob_index(const struct util_classic *c, struct util_blob_decomp *d, int64_t at);

/* One record of a variable in a subfile. */
struct util_blob_row {
    const struct util_classic *c;
    int number; /* number of the subfile */
    const struct util_blob_var *var;
    int64_t record;
};

/* ---- util_blob_frames.c: values in frames ---- */

/* Finds the blob that contains an element of the subfile's variable. Sets *in_master to
 * whether the blob has no frames, so that all of its values are in the master file. */
int util_blob_framed_at(const struct util_blob_row *r, int64_t pos,
                        struct subfile_blob *blob, bool *in_master);

/* Reads n bytes of values, starting at byte `at` of the subfile's variable. All of these
 * values must be in frames. */
int util_blob_framed_read(const struct util_blob_row *r, int64_t at, void *bytes,
                          int64_t n);

/* Sets the elements of a blob and finds its chain, which is valid until the next call.
 * Sets *chain to NULL if the blob has no frames. */
int util_blob_framed_chain(const struct util_blob_row *r, struct subfile_blob *blob,
                           const struct subfile_chain **chain);

/* Returns the number of records that a subfile's tables cover. */
int64_t util_blob_framed_records(struct util_blob *b, int number);

/* Checks that the pages of all tables are inside the logs and do not overlap. Returns 0,
 * or -1 if anything was reported. */
int util_blob_check_tables(const struct util_classic *c, util_blob_report_fn *report,
                           void *to);

#endif
