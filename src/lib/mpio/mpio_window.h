/* Memory that the processes of a node share: where blocks of the file are assembled. */
#ifndef MPIO_WINDOW_H
#define MPIO_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver.h"

/* What one process tells the others of its node before it waits for them. */
struct mpio_slot {
    int64_t next;      /* where its next byte in the file lies; INT64_MAX: nowhere */
    int64_t low, high; /* bytes of the round it has a part in */
    int64_t error;     /* an NC_ code */
    int64_t pad[4];    /* a cache line of its own */
};

enum {
    MPIO_BUFFERS = 2,
    MPIO_SLACK = 8,       /* bytes behind a buffer's end */
    MPIO_LEAST_BLOCK = 64 /* the smallest size of a buffer */
};

/* One of the buffers: `size` bytes of the file and a little more, and a mark for each. */
struct mpio_buffer {
    unsigned char *bytes, *marks;
};

struct mpio_window {
    enum { MPIO_WINDOW_NEW, MPIO_WINDOW_READY, MPIO_WINDOW_REFUSED } state;
    MPI_Group group;     /* all processes it was made for */
    int64_t share, most; /* the hints it was made by */
    int64_t number;      /* which of all that were made */
    MPI_Comm comm;       /* the processes of this node */
    int rank, nprocs;
    MPI_Comm leaders; /* the first process of each node, on those; else MPI_COMM_NULL */
    int node, nodes;  /* which this is, and how many there are */
    unsigned char *inbox; /* a leader's: for what others send */
    MPI_Win win;
    void *own;       /* in its place where the node is one process */
    int64_t size;    /* of a buffer: a power of 2, the same on all nodes */
    int64_t cleared; /* marks from the first on that are in use */
    struct mpio_control *control;
    struct mpio_buffer buffers[MPIO_BUFFERS];
    unsigned turn; /* of the slots */
    int spins;     /* looks at the others before sleeping */
};

/* Makes the window or takes one that another dataset left, unless that was tried before.
 * Collective, over all of the dataset's processes; the same result everywhere: is it
 * there? */
bool mpio_window_ready_all(struct mpio_window *w, struct driver_dataset *ds);
void mpio_window_free_all(struct mpio_window *w);

/* Waits for all processes of the node, each with its slot; *all (one a process) are
 * then theirs, until the next call. What they wrote to the window is seen. */
void mpio_window_meet_all(struct mpio_window *w, const struct mpio_slot *mine,
                          const struct mpio_slot **all);

#endif
