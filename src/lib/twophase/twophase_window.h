/* The window: memory shared by the processes on a node, in which blocks of the file are
 * assembled and values for other nodes are packed.
 *
 * Parts that are not atomic (slots, marks, blocks, areas, names) are written by one
 * process before it increments a counter or changes the state, and read by others after
 * they have seen that change: release and acquire, on any processor. node.h describes the
 * words on which processes wait, and what the window requires of MPI. */
#ifndef TWOPHASE_WINDOW_H
#define TWOPHASE_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "dataset.h"
#include "node.h"

/* Data that a process publishes within its node before a step. */
struct twophase_slot {
    int64_t next;      /* next round in which the process has values; INT64_MAX if none */
    int64_t low, high; /* range needed from its node's block; low is INT64_MAX if none */
    int64_t error;     /* this process's error code */
    int64_t entries;   /* number of entries packed for other nodes */
    int64_t pad[3];    /* pads the slot to a cache line */
};

/* Monotonic counters in the window. Each counts the arrivals so far; the same number of
 * processes arrive each time. A process arrives when it has: */
enum twophase_counter {
    TWOPHASE_ARRIVED,  /* reached a barrier on the node */
    TWOPHASE_PACKED,   /* stored values in the block and area, or packed questions */
    TWOPHASE_PLANNED,  /* learned the next round of all nodes (first process only) */
    TWOPHASE_MOVED,    /* sent and received a step's messages */
    TWOPHASE_STORED,   /* written, or read, a share of the block */
    TWOPHASE_ANSWERED, /* received the answers from other nodes */
    TWOPHASE_COUNTERS
};

enum {
    TWOPHASE_BUFFERS = 2,
    TWOPHASE_LEAST_BLOCK = 64 /* minimum size of a buffer, in bytes */
};

/* A buffer: `size` bytes of the file plus slack, and their marks. */
struct twophase_buffer {
    unsigned char *bytes, *marks;
};

/* Number of messages from this process to the process `distance` ranks after it. */
struct twophase_tally {
    int32_t distance, messages;
};

/* On each node, some processes write and read the file while others exchange messages
 * with other nodes; a process that is alone does both. The j-th exchanging processes on
 * all nodes share a communicator, `column`, in which a process's rank is its node's
 * number. */
struct twophase_window {
    enum { TWOPHASE_WINDOW_NEW, TWOPHASE_WINDOW_READY, TWOPHASE_WINDOW_REFUSED } state;
    int64_t share, most, storers; /* hints that determine the window's size */
    int64_t unit;                 /* stripe size of the file, in bytes */
    int64_t number;               /* serial number, for node_cache */
    struct node *own;             /* processes on this node; NULL if only one */
    int rank, nprocs;
    int first_storer; /* ranks from this one on write and read the file */
    MPI_Comm column;  /* the exchanging process's communicator or MPI_COMM_NULL */
    int columns;      /* number of exchanging processes, the same on all nodes */
    int node, nodes;  /* index of this node; number of nodes */
    struct node_memory memory;
    void *alone;       /* used instead of `memory` if the node has one process */
    int64_t size;      /* size of a buffer in bytes: a power of 2, the same on all
                        * nodes */
    int64_t area_size; /* size of a process's area in bytes; 0 if there is one node */
    int64_t cleared;   /* number of initialized marks */
    struct twophase_control *control;
    struct twophase_buffer buffers[TWOPHASE_BUFFERS];
    unsigned char *areas; /* TWOPHASE_BUFFERS areas for each process */
    unsigned char *inbox; /* two received messages of up to area_size bytes each */
    struct twophase_tally
        *tallies; /* four lists of message counts, nodes + 1 entries each */
    struct node_counter counters[TWOPHASE_COUNTERS];
};

/* Creates the window, or reuses a cached one, on the first call. Returns whether the
 * window is available, the same on all processes. Collective over the dataset. */
bool twophase_window_ready_all(struct twophase_window *w, struct dataset *ds,
                               int64_t unit);
void twophase_window_free_all(struct twophase_window *w);

/* Cache the window when its dataset is closed, because creating another one takes several
 * collective calls and touches all its pages. _hold tries to reserve a cache slot. After
 * the processes have agreed, _settle caches the window if all have reserved a slot
 * (`keep`), and otherwise releases the slot. Local. */
bool twophase_window_reserve_slot(const struct twophase_window *w,
                                  const struct dataset *ds);
void twophase_window_store_or_release(struct twophase_window *w, bool keep);

/* Return a process's slot and area for a step. Consecutive steps alternate between two of
 * each. Slots from nprocs on belong to the exchanging processes. */
struct twophase_slot *twophase_window_slot(const struct twophase_window *w, int64_t step,
                                           int rank);
unsigned char *twophase_window_area(const struct twophase_window *w, int64_t step,
                                    int rank);

/* Returns a state word and a number for each process, for passing descriptors
 * (file_fdpass). */
struct node_board twophase_window_board(struct twophase_window *w);

#endif
