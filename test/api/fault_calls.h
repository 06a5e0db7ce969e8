/* Accesses a variable through a collective data function of any family. Used by tests
 * that inject faults into all families. */
#ifndef FAULT_CALLS_H
#define FAULT_CALLS_H

#include "made_dataset.h"

enum {
    N = 7,    /* elements per process, unless the shape implies their number */
    MOST = 16 /* maximum number of processes */
};

/* The arguments that one process passes. All variables are one-dimensional. */
struct access {
    int varid, num; /* `num` is for varn and mput */
    const MPI_Offset *start, *count, *stride, *imap;
    int *buf;
    MPI_Offset bufcount;
    MPI_Datatype buftype;
};

/* The elements of a variable that a process accesses. The variable has N * nprocs
 * elements. */
enum shape { ALL, ONE, BLOCK, CYCLIC };

/* Flags for `takes`: which arguments a family's functions have, and when they report
 * errors. */
enum {
    START = 1,
    COUNT = 2,
    STRIDE = 4,
    IMAP = 8,
    NUM = 16,
    FILETYPE = 32, /* built from start and count */
    POSTED = 64    /* reports errors at the post, before the collective call */
};

struct family {
    const char *name;
    int (*call)(int ncid, const struct access *a, bool put);
    enum shape shape;
    unsigned takes;
};

/* The first FIRST_FAMILIES families take different paths through the library. Each of the
 * remaining families shares the path of one of the first. */
enum { FIRST_FAMILIES = 10, FAMILIES = 22 };
extern const struct family families[FAMILIES];

/* place_of returns the index within the variable of this process's i-th element.
 * elements_of returns the number of elements that this process accesses. */
MPI_Offset place_of(enum shape shape, MPI_Offset i);
MPI_Offset elements_of(enum shape shape);

/* The arguments that a process passes, together with the arrays to which they point. */
struct arguments {
    struct access a;
    MPI_Offset start[1], count[1], stride[1], imap[1];
    int values[N * MOST];
};

/* Fills in valid arguments with which this process accesses a variable. For a put, fills
 * the buffer with the values of a round; for a get, with -1. */
void prepare(struct arguments *g, const struct family *f, int varid, bool put, int round);

int value_at(int round, MPI_Offset place);

#endif
