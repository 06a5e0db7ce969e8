/* Hyperslabs of random programs: how to choose one, divide it among processes, and number
 * its elements; and the kinds of calls that access them. Elements are numbered in C
 * order. Nothing here uses the library or MPI. */
#ifndef PLAN_SLAB_H
#define PLAN_SLAB_H

#include <stdint.h>

/* Kinds of calls: vars, vara, var1 (one call per element), varm with a transposed buffer,
 * varn, mput or mget, vars with an MPI type that describes memory, and vard with an MPI
 * type that describes the file. */
enum plan_kind {
    PLAN_STRIDED,
    PLAN_BLOCK,
    PLAN_SINGLE,
    PLAN_MAPPED,
    PLAN_LIST,
    PLAN_MANY,
    PLAN_FLEXIBLE,
    PLAN_TYPED,
    PLAN_KINDS
};

enum { PLAN_RANK = 4 }; /* maximum number of dimensions of a variable */

struct plan_slab {
    int ndims;
    int64_t start[PLAN_RANK], count[PLAN_RANK], stride[PLAN_RANK];
};

/* Sets one dimension of the slab so that it lies within `length`, which must be positive.
 * `at` and `many` are random numbers. */
void plan_slab_set(struct plan_slab *s, int dim, int64_t length, uint64_t at,
                   uint64_t many, int64_t stride);

/* Returns the share of process `rank` when `nprocs` processes divide a slab evenly along
 * dimension `dim`. The share may be empty. For a scalar, every process gets the whole
 * slab. */
struct plan_slab plan_slab_share(const struct plan_slab *s, int dim, int rank,
                                 int nprocs);

/* Returns the number of elements. */
int64_t plan_slab_size(const struct plan_slab *s);

/* Stores in `index` the position of a slab's i-th element within the slab. */
void plan_slab_index(const struct plan_slab *s, int64_t i, int64_t index[PLAN_RANK]);

/* Returns the number of a slab's i-th element within the variable. */
int64_t plan_slab_element(const struct plan_slab *s, const int64_t *shape, int64_t i);

/* Sets imap to Fortran order, in which the first dimension varies fastest. */
void plan_slab_transpose(const struct plan_slab *s, int64_t imap[PLAN_RANK]);

#endif
