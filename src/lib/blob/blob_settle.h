/* New decompositions, on their way into the subfiles. */
#ifndef BLOB_SETTLE_H
#define BLOB_SETTLE_H

#include "blob.h"

/* What this process puts of a variable, and of others that are dealt out alike. */
struct blob_claim {
    int varid;
    struct blob_map map;
    struct blob_form form;
};

struct blob_new {
    int number; /* 0: given up */
    int varid;  /* the first that has it */
    uint64_t print[2];
    int64_t total;            /* elements of all processes */
    struct blob_claim *claim; /* this process's; NULL: it has nothing */
    struct blob_map own;      /* a copy of its map */
    int64_t start, nelems,
        most_runs; /* in the subfile: of the own blob, of all, of any */
};

/* Defines the new decompositions in the subfiles, and each variable that is open and has
 * one in state[], then writes the maps. All processes take part; the result is each
 * group's or process's own. After an error the subfile is as it was, but that what was
 * defined may be there; nobody then takes the variables for settled. */
int blob_define_all(struct blob *b, struct blob_new *fresh, int n, const int *state);

/* The master says that these decompositions count, in one write, and that all subfiles
 * have headers, so that one which is empty was cut off. What failed is taken back; where
 * that fails, too, b->torn is set. Agreed. */
int blob_commit_all(struct blob *b, const struct blob_new *fresh, int n);

/* The dataset has these decompositions from here on. Room for them there is. Local. */
void blob_adopt(struct blob *b, struct blob_new *fresh, int n);

#endif
