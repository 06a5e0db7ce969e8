/* The processes on a node that have a dataset open together, and memory that they share.
 *
 * The first layer that needs them looks them up, and all layers share the result. Objects
 * that outlive the dataset, such as cached memory, hold a reference. Each process counts
 * its references; all processes on a node reach the same count. */
#ifndef NODE_H
#define NODE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"

struct node {
    bool found;    /* the dataset's processes have agreed to use this node */
    MPI_Comm comm; /* communicator that returns errors; MPI_COMM_NULL if none */
    int rank, nprocs;
    int references; /* number of references */
};

/* Allocates a node with one reference, owned by the dataset; NULL if out of memory. */
struct node *node_new(void);

/* Returns a dataset's node with one more reference. The hint nc_node_procs divides each
 * node into groups of that many processes. Collective over the dataset. If this process
 * fails, returns NULL, sets *lacking to 1 (otherwise 0), and sets *error to NC_EMPI. The
 * processes must then agree on whether any of them lacks the node. If so, all processes
 * must call node_abandon, because freeing the node is collective. */
struct node *node_find_all(struct dataset *ds, int *error, int64_t *lacking);
void node_abandon(struct dataset *ds);

/* Add and drop a reference; dropping the last frees the node. No-op if n is NULL. */
struct node *node_retain(struct node *n);
void node_release_all(struct node *n);

/* Makes `n` the dataset's node, unless the dataset already has one. Both nodes have the
 * same processes. Local. */
void node_assign(struct dataset *ds, struct node *n);

/* Drops the dataset's reference when it is closed. */
void node_leave_all(struct dataset *ds);

/* ---- shared memory ----
 *
 * The memory is accessed only by loads and stores, never by MPI_Put or MPI_Get. Accesses
 * are ordered by C11 atomics and fences, or by a collective MPI call between store and
 * load, with node_memory_sync on both sides. For MPI this is one passive epoch in the
 * unified memory model, which shared memory provides. MPI_Win_lock_all with
 * MPI_MODE_NOCHECK begins it without communication, because no process ever locks
 * exclusively. Atomics must be lock-free: a lock inside an atomic would be private to
 * each process. */
struct node_memory {
    MPI_Win window; /* MPI_WIN_NULL if there is none */
    void *bytes;
};

#define NODE_NO_MEMORY ((struct node_memory){.window = MPI_WIN_NULL})
enum { NODE_SHARED_64 = ATOMIC_LLONG_LOCK_FREE == 2 }; /* 64-bit atomics are lock-free */

/* Allocates `size` (> 0) bytes for the node, all in the first process's part of the
 * window; only the first process's `size` matters. If the window exists despite an error,
 * it exists on all processes, which must free it with node_memory_free_all. Collective
 * over the node; each process returns its own error. NC_ENOMEM. */
int node_memory_make_all(const struct node *n, int64_t size, struct node_memory *m);

/* Abandons the memory on all processes if any of them lacks it, because freeing it is
 * collective. Collective over the node. */
void node_memory_agree_all(const struct node *n, struct node_memory *m);

void node_memory_sync(const struct node_memory *m);
void node_memory_free_all(struct node_memory *m);

/* ---- words that processes wait on ----
 *
 * Changing a word is a release operation, and seeing the change is an acquire operation.
 * No wake-up is lost: the waker changes the word, then reads the number of sleepers; the
 * sleeper increments that number, then reads the word. All four accesses are sequentially
 * consistent, so either the waker sees the sleeper or the sleeper sees the change. The
 * futex call does not sleep if the word has changed in between. */
struct node_word {
    atomic_uint value, sleepers;
    char padding[56]; /* padding to a cache line */
};

unsigned node_word_get(const struct node_word *w);
void node_word_set(struct node_word *w, unsigned value);
bool node_word_change(struct node_word *w, unsigned from,
                      unsigned to); /* atomic compare and exchange */
void node_word_await(struct node_word *w, unsigned value);

/* A monotonic counter of arrivals, stored in a word. The same number of processes arrive
 * each time. Each process has its own copy of this struct. */
struct node_counter {
    struct node_word *word;
    int expected;   /* number of processes that arrive each time */
    unsigned since; /* value of the word when the call began */
    int spins;      /* number of polls before sleeping */
};

/* Returns the number of polls when `nprocs` processes wait. If there are enough cores,
 * polling takes about as long as a wake-up; otherwise it is brief, because other
 * processes need the core. */
int node_spins(int nprocs);

/* Counts this process's arrival. Waiting processes then see its earlier stores. */
void node_arrive(struct node_counter *c);
/* Waits until all processes have arrived `times` times since the call began. */
void node_await(const struct node_counter *c, int64_t times);
/* Ends a call in which every process arrives exactly `times` times. */
void node_end_call(struct node_counter *c, int64_t times);
/* A barrier: waits until all processes that share the counter have called it. */
void node_barrier_all(struct node_counter *c);

/* A state word, and a number for each process on a node, in shared memory. */
struct node_board {
    int rank, nprocs;
    struct node_word *state;
    int64_t *names;               /* the numbers, indexed by rank */
    struct node_counter *barrier; /* barrier of these processes */
};

#endif
