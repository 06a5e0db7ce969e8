/* The model of a random program: what every variable holds, in plain memory. All
 * processes keep the same model, since all draw the same random numbers. */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include "check.h"
#include "pnetcdf.h"

enum {
    MAX_DIMS = 6,
    MAX_VARS = 8,
    MAX_RANK = 4,   /* dimensions of a variable */
    MAX_LENGTH = 6, /* of a dimension */
    MAX_RECORDS = 7
};

struct model_var {
    nc_type type;
    int ndims, dimids[MAX_RANK];
    MPI_Offset shape[MAX_RANK]; /* MAX_RECORDS where the dimension is unlimited */
    bool is_record;
    MPI_Offset nelems;
    double *value;
    bool *known; /* has it been written? */
};

struct model {
    int ndims, nvars, natts, unlimited;
    MPI_Offset length[MAX_DIMS]; /* NC_UNLIMITED for the unlimited one */
    MPI_Offset numrecs;
    struct model_var vars[MAX_VARS];
    int names;  /* names given so far */
    int writes; /* puts so far */
};

/* A hyperslab; stride is always given. */
struct slab {
    MPI_Offset start[MAX_RANK], count[MAX_RANK], stride[MAX_RANK];
};

void model_free(struct model *m);

/* Gives a defined variable its values, none known. */
void model_add_var(struct model *m, nc_type type, int ndims, const int *dimids);

/* A random hyperslab of a variable; of what is there for a get (false if that is
 * nothing), with records to come for a put. */
bool model_random_slab(const struct model *m, const struct model_var *v, bool put,
                       struct slab *s);

/* This process's part when all share a slab: an even part of a random dimension, or, if
 * not `even`, of the slab's elements whatever one process gets. Same draws everywhere. */
struct slab model_share(const struct model_var *v, const struct slab *s, int dim,
                        int rank, int nprocs);

MPI_Offset slab_nelems(const struct model_var *v, const struct slab *s);

/* Which element of the variable the i-th of a slab is. */
MPI_Offset slab_element(const struct model_var *v, const struct slab *s, MPI_Offset i);

/* What a program's write number `write` gives an element. Fits every type. */
double model_value(const struct model_var *v, int write, MPI_Offset element);

/* All elements of the slab are written. */
void model_write(struct model *m, struct model_var *v, const struct slab *s, int write);

/* ---- values in memory, of a C type that an MPI type names ---- */

/* A random type that can hold the variable's values. */
MPI_Datatype memory_type(const struct model_var *v);
void memory_set(void *buf, MPI_Datatype type, MPI_Offset i, double value);
double memory_get(const void *buf, MPI_Datatype type, MPI_Offset i);

#endif
