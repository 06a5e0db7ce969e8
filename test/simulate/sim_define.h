/* Declares the calls that sim_program.c makes: definitions, inquiries, and invalid
 * calls. */
#ifndef SIM_DEFINE_H
#define SIM_DEFINE_H

#include "access.h"
#include "sim.h"

/* Returns a type in memory that can represent all values that are put to v. The search
 * starts at type i, modulo the number of types. */
int sim_memory_for(const struct sim_var *v, uint64_t i);
/* Returns whether a type in memory can represent all values of an external type,
 * including its fill value. */
bool sim_memory_has_all(int memory, int type);

/* ---- sim_wrong.c ---- */

/* The dataset and variable for invalid calls. The dataset is in data mode, and the
 * variable is numeric and has a fixed size. */
struct wrong_dataset {
    const char *path;
    int ncid, var;
    MPI_Offset row; /* elements per row */
    bool safe;      /* whether safe mode is on, in which a wrong argument on one process
                     * causes an error on all processes */
};

/* Makes an invalid call and checks its error code. Collective. `culprit` is true on
 * exactly one process, which passes the wrong argument. */
void sim_go_wrong(const struct wrong_dataset *d, int kind, bool culprit);

/* ---- sim_define.c ---- */

/* Puts the n values of the attribute that redefinition `op` adds. */
int sim_define(int ncid, int op, int n);
/* Defines a dimension and a variable with attributes. Renames the dimension, the variable
 * and one of the attributes. */
int sim_define_more(int ncid, int op);
/* Gets the attribute that redefinition `op` added. Sets *right to whether it has the
 * values that were put. */
int sim_find_attribute(int ncid, int op, int n, bool *right);

/* Makes inquiries of all kinds about a dataset. Returns NC_EINVAL if two results
 * contradict each other. */
int sim_ask(int ncid, const char *path);

#endif
