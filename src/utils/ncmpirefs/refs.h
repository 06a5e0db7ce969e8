/* ncmpirefs: which bytes of its files are the chunks of a dataset, for programs that read
 * Zarr by references (Kerchunk).
 *
 * Zarr's chunks are all of one shape. A variable is cut so that each chunk is one run of
 * bytes in one file (refs_grid.c); what is not, such as the last chunk where it reaches
 * beyond the end of a file, is copied into the references (refs_chunks.c). */
#ifndef REFS_H
#define REFS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_home.h"
#include "util_json.h"
#include "util_out.h"

#define REFS_TOOL "ncmpirefs"

/* Fewer bytes than this are copied: a reference would take more. */
enum { REFS_WORTHY = 64 };

/* How a variable is cut. */
struct refs_var {
    const struct cdf_var *var;
    struct util_homes homes;
    bool apart;      /* its records do not lie side by side: a chunk is of one record */
    bool copied;     /* all values are copied */
    bool compressed; /* chunks are shuffled, and compressed by zstd */
    bool left_out;
    int size;        /* bytes of an element */
    int64_t *shape;  /* ndims each: the whole's, */
    int64_t *chunk;  /* that of a chunk, */
    int64_t *at;     /* the first element of the chunk that is looked at, */
    int64_t *run;    /* and the largest chunk that is one run of bytes */
    int64_t nelems;  /* of a chunk */
    int64_t nchunks; /* 0: there are no values */
};

struct refs {
    const char *path, *to, *url;
    char name[PATH_MAX];             /* where nothing else is asked for: FILE.json */
    int64_t chunk_bytes, copy_bytes; /* most in a chunk; most of a variable copied */
    bool force, skip;
    struct util_classic file;
    struct refs_var *vars; /* of the header, in its order */
    char **urls;           /* quoted: of the dataset's file, then of each subfile */
    int nurls;
    struct util_json j;
    struct util_out out;
};

/* An error line about a variable. -1. */
int refs_complain(const struct refs *r, const struct cdf_var *v, const char *what);

/* ---- refs_grid.c ---- */

/* Chooses the shape of the chunks. 0, or -1 after an error line. */
int refs_cut(struct refs *r, int varid);

/* Makes it one whose values are all copied. */
void refs_copy_all(struct refs *r, struct refs_var *p);

/* Which chunk a variable's first one is in p->at, and the next; false: there is none. */
void refs_first_chunk(struct refs_var *p);
bool refs_next_chunk(struct refs_var *p);

/* ---- refs_chunks.c ---- */

/* Looks where all chunks are. 0; or -1 after an error line, also where more would have to
 * be copied than the user allows. */
int refs_look(struct refs *r, struct refs_var *p);

/* Writes the references of all chunks. 0, or -1 after an error line. */
int refs_chunks(struct refs *r, struct refs_var *p);

/* n bytes as "base64:..." in quotes; to has room for REFS_BASE64(n) bytes. */
#define REFS_BASE64(n) (((n) + 2) / 3 * 4 + 16)
void refs_base64(const unsigned char *from, int64_t n, const char *before, char *to);

/* ---- refs_meta.c ---- */

/* Writes what Zarr has about the whole, and about a variable. 0, or -1 after an error
 * line. */
int refs_group(struct refs *r);
int refs_array(struct refs *r, const struct refs_var *p);

/* The text of a string in JSON, quoted, for base_free. NULL: no memory. */
char *refs_quoted(const char *text);

#endif
