/* New decompositions: blob_decompose.c chooses them, blob_define.c writes them into the
 * subfiles, and then the master's first page commits them. */
#ifndef BLOB_DECOMPOSE_H
#define BLOB_DECOMPOSE_H

#include "blob.h"

/* The elements that this process puts to one or more variables with the same map. */
struct blob_claim {
    int varid;
    struct subfile_map map;
    struct subfile_slab form;
};

struct blob_new {
    int number; /* number of the decomposition; 0 if it was discarded */
    int varid;  /* first variable with this decomposition */
    uint64_t print[2];
    struct blob_claim *claim; /* this process's claim; NULL if it puts nothing */
    struct subfile_map own;   /* copy of the claim's map */
    int64_t start, nelems,
        most_runs; /* first element of this process's blob; total number of elements;
                    * number of runs in the longest map */
};

/* Defines the new decompositions in the subfiles, together with the open variables that
 * have them according to state[]. Then writes the maps. Collective; the result may be the
 * group's or this process's own. After an error the subfile is as before, except that it
 * may contain the new definitions; no process then considers the variables decomposed. */
int blob_define_all(struct blob *b, struct blob_new *fresh, int n, const int *state);

/* Commits the decompositions in the master's first page with a single write. The page
 * then also states that all subfiles have headers, so that an empty subfile is recognised
 * as truncated. If the write fails, restores the page; if that fails as well, sets
 * b->torn. Agreed. */
int blob_commit_all(struct blob *b, const struct blob_new *fresh, int n);

/* Counts the open variables. Local. */
void blob_count_open(struct blob *b);

/* Adds the decompositions to the dataset, which must have space for them. Local. */
void blob_adopt(struct blob *b, struct blob_new *fresh, int n);

#endif
