/* What the files of util_blob share. */
#ifndef UTIL_BLOB_IMPL_H
#define UTIL_BLOB_IMPL_H

#include <stdbool.h>

#include "base_error.h"
#include "blob_foreign.h"
#include "blob_parts.h"
#include "blob_source.h"
#include "cdf_envelope.h"
#include "util_blob.h"

enum { UTIL_BLOB_WANTS = 1 << 16, UTIL_BLOB_BYTES = 1 << 20 };

/* What was read last of a subfile whose values are in frames. */
struct util_blob_rows {
    const struct util_blob_decomp *decomp; /* whose blobs these are; NULL: none */
    int64_t nblobs, *start, *count;
    const struct util_blob_var *var; /* whose chains have these places; NULL: none */
    int64_t record;
    struct blob_place *places;
};

struct util_blob_sub {
    char *path;
    struct util_classic file; /* fd -1: not open now */
    bool there;
    bool behind; /* from before the last close: see blob_moment.h */
    int *varids; /* its variable for each of the master's; -1: none */
    int64_t log; /* where the log of frames begins */
    struct util_blob_rows rows;
};

/* A variable that is in blobs: all of it, or of each record. */
struct util_blob_var {
    int varid, decomp, size;
    int64_t begin, bytes;
    bool record;
};

struct util_blob_decomp {
    int number;
    int varid; /* the first that has it */
    int64_t nelems;
    int64_t found; /* elements in the parts of the index that have been checked */
    struct blob_index index;
};

struct util_blob {
    struct cdf_envelope facts;
    struct blob_foreign foreign; /* whose it is, if it is another library's */
    const struct cdf_header *whole;
    unsigned char *head; /* ... the bytes of its header */
    struct util_blob_sub *subs;
    int nmissing;
    int nopen, hand; /* of descriptors */
    struct util_blob_var *vars;
    int nvars, nfixed;
    struct util_blob_decomp *decomps;
    int ndecomps;
    struct blob_part
        *wants;         /* bytes of subfiles that belong somewhere: UTIL_BLOB_WANTS */
    int *order, nwants; /* ... those of one run after the other */
    struct blob_runs runs;
    struct util_blob_frames *frames; /* if values are in frames */
    char *bytes;                     /* UTIL_BLOB_BYTES */
    char words[1024];
};

static inline int util_blob_no_memory(void)
{
    return base_error_set(NC_ENOMEM, "%s", base_error_text(NC_ENOMEM));
}

static inline bool util_blob_is_foreign(const struct util_blob *b)
{
    return b->foreign.kind != BLOB_FOREIGN_NONE;
}

/* util_blob_foreign.c. The definitions of the whole take the header's place, the facts
 * say what the files are; an error has words. */
int util_blob_take_whole(struct util_classic *c);
/* What all subfiles say together; an error has words. */
int util_blob_take_homes(struct util_classic *c);
/* Has a subfile all values that count? An error has words. */
int util_blob_find_cut(const struct util_classic *c, int number);

/* util_blob_moment.c. NULL, or what is wrong: with the moment of a subfile whose header
 * was read; with its size. */
const char *util_blob_wrong_moment(struct util_blob *b, const struct util_classic *c,
                                   int number);
const char *util_blob_wrong_size(const struct util_blob *b, int number);

/* The descriptor of a subfile; -1: errno. */
int util_blob_fd(struct util_blob *b, int number);

/* n bytes of a subfile, zeros behind its end: records may have been added of which it has
 * nothing. NC_EREAD with words. */
int util_blob_bytes(struct util_blob *b, int number, int64_t at, void *bytes, int64_t n);

/* Numbers of a map. Errors have words. */
int util_blob_numbers(struct util_blob *b, int number, const struct blob_numbers *list);

/* The file ends before the data of a variable do: NC_ENOTNC with words. */
int util_blob_cut(const struct util_blob_sub *s, const struct cdf_var *v);

/* Processes, and so blobs, of a subfile. */
int64_t util_blob_group_size(const struct util_blob *b, int64_t group);

/* What a subfile tells of the decomposition of its variable `id`. Errors have words. */
int util_blob_source(const struct util_blob *b, int number, int id,
                     const struct util_blob_decomp *d, struct blob_source *s);

/* Makes the index of a decomposition have element `at`. Errors have words. */
int util_blob_index(const struct util_classic *c, struct util_blob_decomp *d, int64_t at);

/* What a subfile has of a variable, of one record. */
struct util_blob_row {
    const struct util_classic *c;
    int number; /* the subfile's */
    const struct util_blob_var *var;
    int64_t record;
};

/* "variable 'T', record 3: what process 12 wrote"; blob -1: without the process. */
enum { UTIL_BLOB_WHOSE = NC_MAX_NAME + 160 };
void util_blob_whose(const struct util_blob_row *r, int64_t blob,
                     char words[UTIL_BLOB_WHOSE]);

/* ---- util_blob_frames.c: values in frames. Errors have words. ---- */

int util_blob_frames_open(struct util_blob *b);
void util_blob_frames_close(struct util_blob *b);
void util_blob_rows_free(struct util_blob_rows *rows);

/* Finds the log of a subfile, whose header was read. NULL, or what is wrong. */
const char *util_blob_log_find(struct util_blob_sub *s);

/* Does the log have n bytes from that place on? */
bool util_blob_log_has(struct util_blob *b, int number, int64_t at, int64_t n);

/* The blob that has an element of the subfile's variable. */
struct util_blob_framed {
    int64_t blob, start, end; /* elements */
    bool in_master;           /* it has no frames: all its values are there */
};
int util_blob_framed_at(const struct util_blob_row *r, int64_t pos,
                        struct util_blob_framed *to);

/* Reads n bytes of values, from byte `at` of the subfile's variable on; all of them have
 * frames. */
int util_blob_framed_read(const struct util_blob_row *r, int64_t at, void *bytes,
                          int64_t n);

/* How many blobs there are. */
int util_blob_framed_blobs(const struct util_blob_row *r, int64_t *n);

/* The chain of a blob; nelems 0: it has none. Its frames are there until the next call.
 */
struct blob_chain;
int util_blob_framed_chain(const struct util_blob_row *r, int64_t blob,
                           struct blob_chain *chain);

/* Frame i of a blob that has some, and its bytes as they are, of the right checksum;
 * these stay until the next call. */
struct blob_frame;
int util_blob_framed_bytes(const struct util_blob_row *r, int64_t blob, int64_t i,
                           struct blob_frame *frame, const unsigned char **bytes);

/* Reads and expands all frames of a blob, if it has any. */
int util_blob_framed_check(const struct util_blob_row *r, int64_t blob, bool *any);

/* ---- util_blob_tables.c ---- */

/* Where the pages of a variable are in the log; 0: there is none. Errors have words. */
int util_blob_levels(struct util_blob *b, int number, const struct util_blob_var *v,
                     int64_t at[BLOB_LEVELS]);

/* Is all of such a page in the log, and so of a size that can be? */
bool util_blob_page_is_there(struct util_blob *b, int number, int level, int64_t at);

/* Records that the tables of a subfile reach to. */
int64_t util_blob_framed_records(struct util_blob *b, int number);

/* Do the pages of all tables lie in the logs, each at a place of its own? 0, or -1 after
 * it told something. */
int util_blob_check_tables(const struct util_classic *c, util_blob_tell *tell, void *to);

#endif
