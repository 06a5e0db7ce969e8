/* The model of a random program: the expected values of every variable, stored in plain
 * memory. All processes draw the same random numbers, so they have the same model. */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include "check.h"
#include "plan_slab.h"
#include "plan_value.h"

enum {
    MAX_DIMS = 6,
    MAX_VARS = 8,
    MAX_RANK = PLAN_RANK,
    MAX_LENGTH = 6, /* maximum length of a dimension */
    MAX_RECORDS = 7,
    MOST = MAX_RECORDS * MAX_LENGTH * MAX_LENGTH * MAX_LENGTH /* elements of a variable */
};

struct model_var {
    int type; /* enum plan_type */
    int ndims, dimids[MAX_RANK];
    int64_t shape[MAX_RANK]; /* length of each dimension; MAX_RECORDS if unlimited */
    bool is_record;
    int64_t nelems;
    uint64_t *value; /* see plan_value.h */
    bool *known;     /* true for each element that has been written */
};

struct model {
    int ndims, nvars, natts, unlimited;
    int64_t length[MAX_DIMS]; /* length; 0 (NC_UNLIMITED) if unlimited */
    int64_t numrecs;
    struct model_var vars[MAX_VARS];
    int names;  /* number of names used so far */
    int writes; /* number of puts so far */
};

void model_free(struct model *m);

/* Adds a newly defined variable, whose values are all unknown. */
void model_add_var(struct model *m, int type, int ndims, const int *dimids);

/* Chooses a random hyperslab of a variable. For a put, it may contain new records. For a
 * get, it contains only existing records; if there are none, returns false. */
bool model_random_slab(const struct model *m, const struct model_var *v, bool put,
                       struct plan_slab *s);

/* Returns a random type in memory for an access to the variable. */
int model_random_memory(const struct model_var *v);

/* Returns the value that put number `write` stores in an element if the values have the
 * type `memory` in memory. */
uint64_t model_value(const struct model_var *v, int write, int memory, int64_t element);

/* Records that put number `write` wrote the slab, and increases the number of records if
 * necessary. */
void model_write(struct model *m, struct model_var *v, const struct plan_slab *s,
                 int write, int memory);

#endif
