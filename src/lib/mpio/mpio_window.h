/* Memory that the processes of a node share: where blocks of the file are assembled, and
 * what is on its way to other nodes.
 *
 * What is not atomic in it (slots, marks, blocks, areas, names) is written by one process
 * before it counts itself, or changes the state, and read by others after they saw that:
 * release and acquire, on any processor. The words that are waited for are atomic and
 * sequentially consistent. What MPI has to do with it: base_mpi_window_begin. */
#ifndef MPIO_WINDOW_H
#define MPIO_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver.h"

/* What a process tells the others of its node before a step. */
struct mpio_slot {
    int64_t next;      /* the next round it has a part in; INT64_MAX: none */
    int64_t low, high; /* bytes of the block that it needs; none: low is INT64_MAX */
    int64_t error;     /* an NC_ code */
    int64_t entries;   /* messages to other nodes that it has packed */
    int64_t pad[3];    /* a cache line of its own */
};

/* Counters in the window, which go up only: so many processes have come so far. The same
 * number of them come each time. */
enum mpio_counter {
    MPIO_ARRIVED,  /* at a barrier of the node */
    MPIO_PACKED,   /* put their values into the block and their area; or asked */
    MPIO_PLANNED,  /* the first one knows what comes next on all nodes */
    MPIO_MOVED,    /* messages of the step are sent and received */
    MPIO_STORED,   /* their share of the block is in the file, or read from it */
    MPIO_ANSWERED, /* what other nodes have read is here */
    MPIO_COUNTERS
};

enum {
    MPIO_BUFFERS = 2,
    MPIO_LEAST_BLOCK = 64 /* the smallest size of a buffer */
};

/* One of the buffers: `size` bytes of the file and a little more, and a mark for each. */
struct mpio_buffer {
    unsigned char *bytes, *marks;
};

/* So many messages go to a process so many ranks behind this one. */
struct mpio_tally {
    int32_t distance, messages;
};

/* Within a node some processes write and read the file, others exchange with other nodes,
 * so that both go on at the same time; one alone does both. Process number j of each
 * node, if it is one that exchanges, has a communicator with number j of the others,
 * where its rank is the number of its node. */
struct mpio_window {
    enum { MPIO_WINDOW_NEW, MPIO_WINDOW_READY, MPIO_WINDOW_REFUSED } state;
    MPI_Group group;              /* all processes it was made for */
    int64_t share, most, storers; /* the hints it was made by */
    int64_t unit;                 /* and the stripes of the file */
    int64_t number;               /* which of all that were made */
    MPI_Comm comm;                /* the processes of this node */
    int rank, nprocs;
    int first_storer; /* from this rank on they write and read the file */
    MPI_Comm column;  /* of one that exchanges with other nodes; else MPI_COMM_NULL */
    int columns;      /* how many exchange, the same on all nodes */
    int node, nodes;  /* which this is, and how many there are */
    MPI_Win win;
    void *own;         /* in its place where the node is one process */
    int64_t size;      /* of a buffer: a power of 2, the same on all nodes */
    int64_t area_size; /* of a process's area; 0 if there is one node */
    int64_t cleared;   /* marks from the first on that are in use */
    struct mpio_control *control;
    struct mpio_buffer buffers[MPIO_BUFFERS];
    unsigned char *areas;          /* MPIO_BUFFERS of each process */
    unsigned char *inbox;          /* for two messages from other nodes: area_size each */
    struct mpio_tally *tallies;    /* four lists of whom messages go to: nodes + 1 each */
    int all[MPIO_COUNTERS];        /* how many come each time */
    unsigned count[MPIO_COUNTERS]; /* where the counters were when the call began */
    int spins;                     /* looks at the others before sleeping */
};

/* Makes the window or takes one that another dataset left, unless that was tried before.
 * Collective, over all of the dataset's processes; the same result everywhere: is it
 * there? */
bool mpio_window_ready_all(struct mpio_window *w, struct dataset *ds, int64_t unit);
void mpio_window_free_all(struct mpio_window *w);

/* Process rank's slot, and its area, of a step; those of two steps take turns. Slots
 * number nprocs and following are those of the processes that exchange with other nodes.
 */
struct mpio_slot *mpio_window_slot(const struct mpio_window *w, int64_t step, int rank);
unsigned char *mpio_window_area(const struct mpio_window *w, int64_t step, int rank);

/* A word and, of each process, a number, for mpio_share. Changing it releases what this
 * process wrote, and who sees it acquires that; change_state: if it is `from` now. */
int mpio_window_state(const struct mpio_window *w);
void mpio_window_set_state(struct mpio_window *w, int state);
bool mpio_window_change_state(struct mpio_window *w, int from, int to);
void mpio_window_await_state(const struct mpio_window *w, int state);
int64_t *mpio_window_name(const struct mpio_window *w, int rank);

/* This process has come so far: what it wrote before is seen by who waited for it. */
void mpio_window_arrive(struct mpio_window *w, enum mpio_counter c);
/* Until all have come so many times since the call began. */
void mpio_window_await(const struct mpio_window *w, enum mpio_counter c, int64_t times);
/* The call ends: all have come, or will, so many times. */
void mpio_window_end(struct mpio_window *w, enum mpio_counter c, int64_t times);
/* Waits for all processes of the node. */
void mpio_window_meet_all(struct mpio_window *w);

#endif
