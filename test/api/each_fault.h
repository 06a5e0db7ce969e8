/* The steps in a dataset's life into which each_fault.c and soak.c inject faults. */
#ifndef EACH_FAULT_H
#define EACH_FAULT_H

#include <mpi.h>
#include <stdbool.h>

#include "cases.h"

struct step {
    const char *name;
    bool agreed; /* whether an error on one process must be reported on all */
    int variants;
    void (*before)(void);  /* runs without faults */
    int (*call)(void);     /* runs with a fault on one process; returns the NC_ code */
    void (*after)(int rc); /* runs without faults; closes the dataset */
};

enum { STEPS = 56 };
extern const struct step steps[STEPS]; /* terminated by an element without a name */

/* The current case. */
extern const char *hints; /* "key=value;..." */
extern int variant;       /* variant of the step, counted from 0 */
extern bool any_fault;    /* whether the fault occurred on any process */

/* Removes all files that a step may have left behind, so that the next step starts
 * without them. Must be called on one process only. */
void remove_files(void);

#endif
