/* Reads decompositions from a subfile, that is, the maps that list which elements of a
 * variable are in each blob. Validates everything that it reads. */
#ifndef SUBFILE_DECOMP_H
#define SUBFILE_DECOMP_H

#include "subfile.h"
#include "subfile_map.h"

/* A part of a variable that needs no map: indices [low, low + n) of one dimension, whose
 * length is `length`. `outer` and `inner` are the numbers of elements in the dimensions
 * before and after this one. */
struct subfile_block {
    int64_t outer, length, low, n, inner;
};

/* The variables of a subfile that describe one decomposition. */
struct subfile_decomp {
    struct subfile *file;
    /* Reads n lists; file->read_numbers by default. If the processes of a group read
     * `together`, each of them makes the same number of calls; a process with an error or
     * with nothing to read passes n = 0. */
    subfile_read *read;
    bool together;

    int decomposition;
    int nreqs, start, count, offsets, lengths, sums; /* variable ids; their names are
                                                      * "Dk." and the member's name */
    int64_t nblobs, most;       /* number of blobs; maximum number of runs in a blob */
    int64_t nelems;             /* number of elements in all blobs of the subfile */
    int64_t limit;              /* number of elements of the whole variable */
    bool any_order;             /* another library wrote the runs, in any order */
    struct subfile_block block; /* if block.inner is not 0, the subfile has no maps, and
                                 * this is its only blob */
    int64_t low, high;          /* runs outside [low, high) may be skipped */
};

/* Finds the variables that describe a decomposition. Each record has nelems elements in
 * the subfile's variable and `limit` in the whole variable. NC_ENOTNC with a message. */
int subfile_decomp_find(struct subfile_decomp *s, int decomposition, int64_t nelems,
                        int64_t limit);

/* Reads where each blob begins in the subfile's variable, and its number of elements.
 * NC_ENOTNC if the blobs are not contiguous. */
int subfile_decomp_read_blobs(const struct subfile_decomp *s, int64_t *start,
                              int64_t *count);

/* Reads the runs of one blob in order and passes each of them to `add`, which returns
 * false to stop or sets *err. `error` is the caller's own error, if any. */
typedef bool subfile_add_piece(void *to, const struct subfile_piece *piece, int *err);
int subfile_decomp_read_map(const struct subfile_decomp *s, int64_t blob,
                            subfile_add_piece *add, void *to, int error);

/* Reads the part of the index that contains element `at`; usually this is the whole
 * index. `open` prepares reading from each of nsubs subfiles. On error, the index is
 * empty. */
typedef int subfile_decomp_open(void *who, int sub, struct subfile_decomp *s);
int subfile_decomp_read_index(struct subfile_index *x, int64_t limit, int64_t at,
                              int nsubs, subfile_decomp_open *open, void *who);

#endif
