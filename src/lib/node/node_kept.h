/* Things that outlive their dataset, for the next one of the same processes: shared
 * memory and what belongs to it is dear to make. All processes of a dataset keep a thing
 * or none does, and those that are left when MPI ends are freed by all, in the order of
 * their numbers.
 *
 * Threads of a process may be at different datasets. So a thing is taken out before the
 * processes agree on whether they took the same, and it is put back if not; and no two
 * that a process keeps, or is about to, have one number. */
#ifndef NODE_KEPT_H
#define NODE_KEPT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_mpi.h"
#include "dataset.h"

enum { NODE_KEPT_MOST = 16 };

/* All things of one kind. What is not constant is node_kept's. */
struct node_kept {
    enum base_end end;
    int most;                      /* at a time; NODE_KEPT_MOST or less */
    size_t size;                   /* of a thing */
    void *things;                  /* `most` of them */
    void (*free_all)(void *thing); /* when MPI ends */
    int64_t last;                  /* number that this process knows of */
    struct node_slot {
        int64_t number; /* 0: free */
        MPI_Group group;
        bool kept; /* held if not */
    } slots[NODE_KEPT_MOST];
};

/* The number of a new thing is the most that any process has, agreed on when it is made,
 * and noted by all. */
int64_t node_kept_number(struct node_kept *k);
void node_kept_note(struct node_kept *k, int64_t number);

/* Holds a place for the dataset's thing of this number; false: there is none, or it could
 * not be told from another one. Local. When all have agreed, what is held gets the thing,
 * or is let go. */
bool node_kept_hold(struct node_kept *k, const struct dataset *ds, int64_t number);
void node_kept_keep(struct node_kept *k, int64_t number, const void *thing);
void node_kept_let_go(struct node_kept *k, int64_t number);

/* Takes the last thing of these processes that `fits`, if all have the same, or else
 * *taken is false. `error` is this process's own; agreed. */
int node_kept_take_all(struct node_kept *k, struct dataset *ds,
                       bool (*fits)(const void *thing, const void *of), const void *of,
                       int error, void *thing, bool *taken);

#endif
