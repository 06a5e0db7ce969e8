/* Accesses of all kinds, with values of all types in memory: for sim_program.c. */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include <mpi.h>

#include "sim.h"

enum sim_verb { SIM_PUTS, SIM_GETS, SIM_IPUTS, SIM_BPUTS, SIM_IGETS };

/* This process's part of some rows of a variable. */
struct sim_access {
    enum sim_verb verb;
    enum sim_kind kind;
    bool all; /* collective, where it is not posted */
    int ncid, var, memory;
    int64_t rows, each; /* elements: rows x each, which is their order in `values` */
    MPI_Offset start[2], count[2], stride[2];
    double *values; /* as doubles, whatever the library is given */
    bool cancels;   /* of what is posted, one more, which is cancelled */
    const struct sim_var *of;
    int64_t shape[2]; /* the variable's own */
};

/* Posts are waited for: collectively, or each process for its own. Returns an NC_ code;
 * of a get, NC_ERANGE only where the type in memory has each value of the variable's. */
int sim_access(struct sim_access *a);

/* The i-th type in memory that has all of the values that the variable gets. */
int sim_memory_for(const struct sim_var *v, uint64_t i);
/* The one that has each value that there may be, fill values among them. */
bool sim_memory_has_all(int memory, int type);

/* Attributes, which have values of the i-th type in memory that the format has; those of
 * an op are its own. *right: they are what was put. */
int sim_attribute_put(int ncid, int var, const char *name, int op, int n);
int sim_attribute_get(int ncid, int var, const char *name, int op, int n, bool *right);

/* ---- sim_wrong.c ---- */

/* A dataset in data mode, and one of its variables of numbers, which has rows. */
struct wrong_dataset {
    const char *path;
    int ncid, var;
    MPI_Offset row; /* elements */
    bool safe;      /* what one is told, all are */
};

/* Collective. One process of all is the culprit. */
void sim_go_wrong(const struct wrong_dataset *d, int kind, bool culprit);

/* ---- sim_define.c ---- */

/* A redefinition's own attribute, of n values; and a dimension, a variable and attributes
 * that it makes and names anew. */
int sim_define(int ncid, int op, int n);
int sim_define_more(int ncid, int op);
int sim_find_attribute(int ncid, int op, int n, bool *right);

/* Asks whatever there is to ask; NC_EINVAL: two answers do not fit each other. */
int sim_ask(int ncid, const char *path);

#endif
