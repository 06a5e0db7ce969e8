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
    /* A variable's own shape and type: what SIM_TYPED has to know. */
    int64_t shape[2];
    int type;
};

/* Posts are waited for: collectively, or each process for its own. Returns an NC_ code;
 * of a get, NC_ERANGE only where the type in memory has each value of the variable's. */
int sim_access(struct sim_access *a);

/* The i-th type in memory that has all of the values that this type's variables get. */
int sim_memory_for(int type, uint64_t i);
/* The one that has each value that there may be, fill values among them. */
bool sim_memory_has_all(int memory, int type);

/* An attribute of that redefinition, of n values of one of the types: written; read and
 * compared. *right is as it is only where it is there. */
int sim_attribute_put(int ncid, int op, int n);
int sim_attribute_get(int ncid, int op, int n, bool *right);

#endif
