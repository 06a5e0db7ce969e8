/* ncmpirefs writes references (in Kerchunk's format) through which programs read a
 * dataset as Zarr: for each chunk, the file and the range of bytes that contain it.
 *
 * All chunks of a Zarr array have the same shape. refs_grid.c chooses the shape so that
 * each chunk is one run of bytes in one file. Any other chunk, such as a last chunk that
 * extends beyond the end of a file, is copied into the references (refs_chunks.c).
 * refs_meta.c writes the metadata. */
#ifndef REFS_H
#define REFS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "util_classic.h"
#include "util_location.h"
#include "util_json.h"
#include "util_out.h"

#define REFS_TOOL "ncmpirefs"

/* Chunks with fewer bytes are copied, because a reference would be longer than the
 * bytes. */
enum { REFS_WORTHY = 64 };

/* The division of a variable into chunks. */
struct refs_var {
    const struct cdf_var *var;
    struct util_locations locations;
    bool apart;      /* records are not contiguous, so a chunk contains only one */
    bool copied;     /* all values are copied */
    bool compressed; /* chunks are shuffled and compressed with zstd */
    bool left_out;
    int size;        /* bytes per element */
    int64_t *shape;  /* four arrays of length ndims: shape of the variable */
    int64_t *chunk;  /* shape of a chunk */
    int64_t *at;     /* indices of the first element of the current chunk */
    int64_t *run;    /* shape of the largest chunk that is contiguous in its file */
    int64_t nelems;  /* number of elements in a chunk */
    int64_t nchunks; /* number of chunks; 0 if there are no values */
};

struct refs {
    const char *path, *to, *url;
    char name[PATH_MAX]; /* default output path: FILE.json */
    int64_t chunk_bytes,
        copy_bytes; /* maximum size in bytes of a chunk, and of a copied variable */
    bool force, skip;
    struct util_classic file;
    struct refs_var *vars; /* one for each variable of the header, in the same order */
    char **urls;           /* quoted URLs: first the dataset's file, then each subfile */
    int nurls;
    struct util_json j;
    struct util_out out;
};

/* Prints an error about a variable. Returns -1. */
int refs_complain(const struct refs *r, const struct cdf_var *v, const char *what);

/* ---- refs_grid.c ---- */

/* Chooses the shape of the chunks. Returns 0, or -1 after printing an error. */
int refs_cut(struct refs *r, int varid);

/* Marks the variable as one whose values are all copied. */
void refs_copy_all(struct refs *r, struct refs_var *p);

/* Set p->at to the variable's first chunk or to the next one. Return false if there is
 * none. */
void refs_first_chunk(struct refs_var *p);
bool refs_next_chunk(struct refs_var *p);

/* ---- refs_chunks.c ---- */

/* Examines the locations of all chunks, and decides how to encode them. Returns 0, or -1
 * after printing an error, for example if more bytes must be copied than the user
 * allows. */
int refs_look(struct refs *r, struct refs_var *p);

/* Writes the references of all chunks. Returns 0, or -1 after printing an error. */
int refs_chunks(struct refs *r, struct refs_var *p);

/* Writes n bytes as "base64:..." in quotes. `to` must have space for REFS_BASE64(n)
 * bytes. */
#define REFS_BASE64(n) (((n) + 2) / 3 * 4 + 16)
void refs_base64(const unsigned char *from, int64_t n, const char *before, char *to);

/* ---- refs_meta.c ---- */

/* Write the Zarr metadata for the group and for a variable. Return 0, or -1 after
 * printing an error. */
int refs_group(struct refs *r);
int refs_array(struct refs *r, const struct refs_var *p);

/* Returns a quoted JSON string, to be freed with base_free. Returns NULL if out of
 * memory. */
char *refs_quoted(const char *text);

#endif
