/* Parts of requests, each of which lies side by side in a file and in memory: joined to
 * runs of the file, and sorted. No MPI: the tools use them, too. */
#ifndef BLOB_PARTS_H
#define BLOB_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_sort.h"

struct access_request;

struct blob_part {
    int64_t record, at, n; /* elements of a variable in its home, or any other units */
    char *values;
    int64_t copy;              /* where in the memory of copies they are; -1: nowhere; of
                                * a run that was joined to another: which one */
    struct access_request *of; /* the caller's own */
    int sub;                   /* home: a subfile; -1: the master */
    int run;                   /* which one it is of; of a run: how many are, none if it
                                * was joined to another */
};

/* What goes on in its home as a run, though other parts come between. Zero-initialised is
 * empty and ready. */
struct blob_runs {
    struct blob_part *list; /* `values` and `of` are the first part's */
    int64_t n, room;
    struct base_key *keys;        /* an order of such a list, and as many spare */
    int64_t keys_room, nkeys;     /* so many have been sorted */
    const struct base_key *order; /* of those not joined; NULL: the list, as it is */
    int64_t nordered;
};
void blob_runs_free(struct blob_runs *x);

struct blob_joining {
    int64_t gap, spare; /* units between two parts that are taken along; all together */
    int64_t most;       /* a part of so many is a run by itself, */
    int64_t longest;    /* and no others are longer than this */
};

/* Makes runs of n parts. What is in the master has no gaps. NC_ENOMEM. */
int blob_runs_make(struct blob_runs *x, struct blob_part *parts, int64_t n,
                   const struct blob_joining *how);

/* Finds their order by home, record and place; at one place it stays as it is. *apart:
 * nothing is in two of them. The last order is tried first: a program's variables come in
 * the same one, as a rule. NC_ENOMEM. */
int blob_runs_sort(struct blob_runs *x, bool *apart);

/* Joins those that follow one another in that order, with how->gap units between them at
 * most and how->spare in all: each unit is in one run only then, whatever order the parts
 * came in, and so is read once. NC_ENOMEM. */
int blob_runs_join(struct blob_runs *x, const struct blob_joining *how);

/* The i-th of x->nordered, in that order. */
static inline struct blob_part *blob_runs_at(const struct blob_runs *x, int64_t i)
{
    return &x->list[x->order == NULL ? i : x->order[i].index];
}

/* The run that a part is in. */
static inline const struct blob_part *blob_runs_of(const struct blob_runs *x,
                                                   const struct blob_part *part)
{
    const struct blob_part *run = &x->list[part->run];
    return run->run > 0 ? run : &x->list[run->copy];
}

#endif
