/* One access through every family of collective data functions: what differs between
 * them is what the tests of faults cross with faults. */
#ifndef FAULT_CALLS_H
#define FAULT_CALLS_H

#include "made_dataset.h"

enum {
    N = 7,    /* elements of a process, where a family lets it choose */
    MOST = 16 /* processes */
};

/* The arguments of a process, in one dimension. */
struct access {
    int varid, num; /* num of varn and mput */
    const MPI_Offset *start, *count, *stride, *imap;
    int *buf;
    MPI_Offset bufcount;
    MPI_Datatype buftype;
};

/* Which elements of a variable of N * nprocs a process accesses. */
enum shape { ALL, ONE, BLOCK, CYCLIC };

/* Arguments that a family has, as bits of `takes`. */
enum {
    START = 1,
    COUNT = 2,
    STRIDE = 4,
    IMAP = 8,
    NUM = 16,
    FILETYPE = 32, /* start and count go into one */
    POSTED = 64    /* mistakes come to light before the collective call */
};

struct family {
    const char *name;
    int (*call)(int ncid, const struct access *a, bool put);
    enum shape shape;
    unsigned takes;
};

/* The first go different ways through the library; the others are theirs by other names.
 */
enum { FIRST_FAMILIES = 10, FAMILIES = 22 };
extern const struct family families[FAMILIES];

/* The place in the variable of this process's i-th element, and how many it has. */
MPI_Offset place_of(enum shape shape, MPI_Offset i);
MPI_Offset elements_of(enum shape shape);

/* What a process passes, and where it is kept. */
struct arguments {
    struct access a;
    MPI_Offset start[1], count[1], stride[1], imap[1];
    int values[N * MOST];
};

/* Good arguments for an access of this process to a variable, with the values of a round
 * if it is a put, else -1. */
void prepare(struct arguments *g, const struct family *f, int varid, bool put, int round);

int value_at(int round, MPI_Offset place);

#endif
