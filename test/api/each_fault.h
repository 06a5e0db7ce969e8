/* Steps of a dataset's life, each of which is tried with one fault after the other. */
#ifndef EACH_FAULT_H
#define EACH_FAULT_H

#include <mpi.h>
#include <stdbool.h>

#include "cases.h"

struct step {
    const char *name;
    bool agreed; /* all processes are told of an error, or none is */
    int variants;
    void (*before)(void);  /* all goes well in it */
    int (*call)(void);     /* something fails on one process; the NC_ code */
    void (*after)(int rc); /* and well again; no dataset is left open */
};

enum { STEPS = 56 };
extern const struct step steps[STEPS]; /* the last without a name */

/* The case at hand. */
extern const char *hints; /* "key=value;..." */
extern int variant;       /* of the step, 0 and up */
extern bool any_fault;    /* the fault was met, by anybody */

/* What a step may leave, and the next one must not find: on one process. */
void remove_files(void);

#endif
