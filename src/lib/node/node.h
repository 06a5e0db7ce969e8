/* The processes of a node that have a dataset open together, and memory that they share.
 *
 * They are found once a dataset, when the first of its layers asks for them; all layers
 * share them. What is kept beyond the dataset, memory above all, holds them on. A process
 * counts who holds them by itself: every process of the node does so alike. */
#ifndef NODE_H
#define NODE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"

struct node {
    bool found;    /* by all of the dataset's processes, as far as these have agreed */
    MPI_Comm comm; /* with errors returned; MPI_COMM_NULL: none */
    int rank, nprocs;
    int holders;
};

/* Memory for it, which a dataset holds from its beginning on; NULL: there is none. */
struct node *node_new(void);

/* The node of a dataset, for one more holder; with the hint nc_node_procs that many of
 * its processes at most, as if they were a node. Collective over the dataset; NULL, with
 * *lacking 1 and not 0, and the error are this process's own: NC_EMPI. The caller agrees
 * on whether any process lacks it: if so, all call node_lose and forget what they got, as
 * it cannot be freed by some alone. */
struct node *node_find_all(struct dataset *ds, int *error, int64_t *lacking);
void node_lose(struct dataset *ds);

/* One holder more, and one less; the last one frees it. NULL: nothing is done. */
struct node *node_hold(struct node *n);
void node_release_all(struct node *n);

/* The dataset holds this one, of the same processes, unless it has found its own. Local.
 */
void node_take_over(struct dataset *ds, struct node *n);

/* The dataset ends: it holds its node no longer. */
void node_leave_all(struct dataset *ds);

/* ---- memory ----
 *
 * It is used by loads and stores, never by MPI_Put and its like, and ordered by the
 * processor: by C11's atomics and fences, or by a collective call of MPI between the
 * store and the load with node_memory_sync on either side. To MPI all of that is one
 * passive epoch (MPI_Win_lock_all, which as MPI_MODE_NOCHECK asks nobody: no process
 * locks it exclusively) in the unified memory model, which shared memory has. An atomic
 * must be one of the processor: a lock inside it would be each process's own. */
struct node_memory {
    MPI_Win window; /* MPI_WIN_NULL: there is none */
    void *bytes;
};

#define NODE_NO_MEMORY ((struct node_memory){.window = MPI_WIN_NULL})
enum { NODE_SHARED_64 = ATOMIC_LLONG_LOCK_FREE == 2 }; /* may 64 bits be shared so? */

/* `size` bytes for all of the node; all of it lies with the first process, whose size
 * counts. Collective over the node; the error is this process's own. NC_ENOMEM. */
int node_memory_make_all(const struct node *n, int64_t size, struct node_memory *m);

/* What a process was refused is the others' no more, who could not free it without that
 * one. Collective over the node. */
void node_memory_whole_all(const struct node *n, struct node_memory *m);

void node_memory_sync(const struct node_memory *m);
void node_memory_free_all(struct node_memory *m);

/* ---- words that are waited for ----
 *
 * Changing a word releases what this process wrote, and a process that sees the change
 * acquires it. No wake-up is lost: changing the word, looking for sleepers, noting
 * oneself as one and looking at the word are in one order for all (sequentially
 * consistent), so that either the sleeper is seen, or it sees the change; and the system
 * does not let it sleep if the word is another by then. */
struct node_word {
    atomic_uint value, sleepers;
    char apart[56]; /* a cache line of its own */
};

unsigned node_word_get(const struct node_word *w);
void node_word_set(struct node_word *w, unsigned value);
bool node_word_change(struct node_word *w, unsigned from,
                      unsigned to); /* if it is `from` */
void node_word_await(struct node_word *w, unsigned value);

/* A word that goes up only, by one for each process that has come so far; the same number
 * of them come each time. Each process has one of these for it. */
struct node_counter {
    struct node_word *word;
    int all;        /* how many come each time */
    unsigned since; /* where it was when the call began */
    int spins;      /* looks at it before sleeping */
};

/* How often to look where so many processes wait. Where there are cores enough, as long
 * as it takes to be woken; where not, the others need this one's. */
int node_spins(int nprocs);

/* This process has come so far: what it wrote before is seen by those that waited. */
void node_arrive(struct node_counter *c);
/* Until all have come so many times since the call began. */
void node_await(const struct node_counter *c, int64_t times);
/* The call ends: all have come, or will, so many times. */
void node_settle(struct node_counter *c, int64_t times);
/* Waits for all. */
void node_meet_all(struct node_counter *c);

/* Where the processes of a node tell each other something, in memory that they share: a
 * word, and a number of each. */
struct node_board {
    int rank, nprocs;
    struct node_word *state;
    int64_t *names;           /* one for each process */
    struct node_counter *met; /* where they meet */
};

#endif
