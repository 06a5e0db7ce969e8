/* Memory that the processes of a node share: where blocks of the file are assembled, and
 * what is on its way to other nodes.
 *
 * What is not atomic in it (slots, marks, blocks, areas, names) is written by one process
 * before it counts itself, or changes the state, and read by others after they saw that:
 * release and acquire, on any processor. For the words that are waited for, and what MPI
 * has to do with it, see node.h. */
#ifndef TWOPHASE_WINDOW_H
#define TWOPHASE_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"
#include "node.h"

/* What a process tells the others of its node before a step. */
struct twophase_slot {
    int64_t next;      /* the next round it has a part in; INT64_MAX: none */
    int64_t low, high; /* bytes of the block that it needs; none: low is INT64_MAX */
    int64_t error;     /* an NC_ code */
    int64_t entries;   /* messages to other nodes that it has packed */
    int64_t pad[3];    /* a cache line of its own */
};

/* Counters in the window, which go up only: so many processes have come so far. The same
 * number of them come each time. */
enum twophase_counter {
    TWOPHASE_ARRIVED,  /* at a barrier of the node */
    TWOPHASE_PACKED,   /* put their values into the block and their area; or asked */
    TWOPHASE_PLANNED,  /* the first one knows what comes next on all nodes */
    TWOPHASE_MOVED,    /* messages of the step are sent and received */
    TWOPHASE_STORED,   /* their share of the block is in the file, or read from it */
    TWOPHASE_ANSWERED, /* what other nodes have read is here */
    TWOPHASE_COUNTERS
};

enum {
    TWOPHASE_BUFFERS = 2,
    TWOPHASE_LEAST_BLOCK = 64 /* the smallest size of a buffer */
};

/* One of the buffers: `size` bytes of the file and a little more, and a mark for each. */
struct twophase_buffer {
    unsigned char *bytes, *marks;
};

/* So many messages go to a process so many ranks behind this one. */
struct twophase_tally {
    int32_t distance, messages;
};

/* Within a node some processes write and read the file, others exchange with other nodes,
 * so that both go on at the same time; one alone does both. Process number j of each
 * node, if it is one that exchanges, has a communicator with number j of the others,
 * where its rank is the number of its node. */
struct twophase_window {
    enum { TWOPHASE_WINDOW_NEW, TWOPHASE_WINDOW_READY, TWOPHASE_WINDOW_REFUSED } state;
    int64_t share, most, storers; /* the hints it was made by */
    int64_t unit;                 /* and the stripes of the file */
    int64_t number;               /* which of all that were made */
    struct node *own;             /* the processes of this node; NULL: this one alone */
    int rank, nprocs;
    int first_storer; /* from this rank on they write and read the file */
    MPI_Comm column;  /* of one that exchanges with other nodes; else MPI_COMM_NULL */
    int columns;      /* how many exchange, the same on all nodes */
    int node, nodes;  /* which this is, and how many there are */
    struct node_memory memory;
    void *alone;       /* in its place where the node is one process */
    int64_t size;      /* of a buffer: a power of 2, the same on all nodes */
    int64_t area_size; /* of a process's area; 0 if there is one node */
    int64_t cleared;   /* marks from the first on that are in use */
    struct twophase_control *control;
    struct twophase_buffer buffers[TWOPHASE_BUFFERS];
    unsigned char *areas; /* TWOPHASE_BUFFERS of each process */
    unsigned char *inbox; /* for two messages from other nodes: area_size each */
    struct twophase_tally
        *tallies; /* four lists of whom messages go to: nodes + 1 each */
    struct node_counter counters[TWOPHASE_COUNTERS];
};

/* Makes the window or takes one that another dataset left, unless that was tried before.
 * Collective, over all of the dataset's processes; the same result everywhere: is it
 * there? */
bool twophase_window_ready_all(struct twophase_window *w, struct dataset *ds,
                               int64_t unit);
void twophase_window_free_all(struct twophase_window *w);

/* Keeps a window that is worth it from one dataset to the next: to make one takes several
 * collective calls and finds all its pages anew. There is room for it, which is held;
 * when all have agreed, it is kept if all hold some. Local. */
bool twophase_window_hold(const struct twophase_window *w, const struct dataset *ds);
void twophase_window_settle(struct twophase_window *w, bool keep);

/* Process rank's slot, and its area, of a step; those of two steps take turns. Slots
 * number nprocs and following are those of the processes that exchange with other nodes.
 */
struct twophase_slot *twophase_window_slot(const struct twophase_window *w, int64_t step,
                                           int rank);
unsigned char *twophase_window_area(const struct twophase_window *w, int64_t step,
                                    int rank);

/* A word and, of each process, a number, for the file's descriptors (file_lend). */
struct node_board twophase_window_board(struct twophase_window *w);

#endif
