/* The processes of a node move blocks of the file through memory they share. */
#ifndef MPIO_NODE_H
#define MPIO_NODE_H

#include "mpio_walk.h"

/* What all processes have agreed on. */
struct mpio_reach {
    int64_t low, high; /* all that anybody moves lies between */
    int shift;         /* ... at multiples of 1 << shift */
};

/* Moves what the walk, begun or empty, is about. Collective, after mpio_window_ready.
 * The result is this process's own error; *io is the worst error that the file gave
 * anybody, the same everywhere. */
int mpio_node_move_all(struct mpio *m, struct mpio_walk *walk,
                       const struct mpio_reach *reach, int *io);

/* ---- mpio_cover.c ---- */

/* Writes the bytes [low, high) of the block that are marked, and clears their marks. What
 * lies between them in the file stays. low is a multiple of 1 << shift. */
int mpio_cover_write(struct mpio *m, const struct mpio_block *b, int64_t low,
                     int64_t high);

/* ---- mpio_exchange.c: collective over the first processes of the nodes ---- */

/* What a process writes of a block begins at multiples of this in the file: of a stripe,
 * if a block has two of them, else of a page. */
int64_t mpio_node_unit(const struct mpio *m);

/* Where node's part of bytes [low, high) of the block begins; that of the node behind the
 * last is high. Each node reads and writes its part alone. */
int64_t mpio_node_cut(const struct mpio *m, const struct mpio_block *b, int node,
                      int64_t low, int64_t high);

/* put: the marked bytes of the block come to the nodes whose part they are in, and their
 * marks go. get: every node has all parts. NC_EMPI. */
int mpio_exchange_put_all(struct mpio *m, const struct mpio_block *b, int64_t low,
                          int64_t high);
int mpio_exchange_get_all(struct mpio *m, const struct mpio_block *b, int64_t low,
                          int64_t high);

#endif
