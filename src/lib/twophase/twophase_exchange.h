/* Messages between nodes. Each exchanging process of a node sends what the processes
 * of the node have packed for some of the others, and receives from its like there. */
#ifndef TWOPHASE_EXCHANGE_H
#define TWOPHASE_EXCHANGE_H

#include "twophase_engine.h"
#include "twophase_pack.h"

/* What a process has packed for a node in a step: at `offset` in its area. Of gets the
 * answer, of `asked` bytes, comes to `answer` in the area. Entries lie at the end of the
 * area, the first one last. */
struct twophase_entry {
    int64_t node;
    int64_t offset, used;
    int64_t answer, asked;
};

static inline struct twophase_entry *twophase_entry_at(const struct twophase_window *w,
                                                       int64_t step, int rank, int64_t i)
{
    unsigned char *end = twophase_window_area(w, step, rank) + w->area_size;
    return (struct twophase_entry *)(void *)end - (i + 1);
}

/* A message: entries of this node's processes, for one other node. */
struct twophase_message {
    int node;
    MPI_Datatype packed, answer; /* where they lie, from w->areas on */
};

/* What another node wants to read. */
struct twophase_question {
    int node;
    int64_t used, asked;
    unsigned char *bytes; /* NULL: memory was short, or it cannot be read */
};

/* One step's messages. */
struct twophase_exchange {
    struct twophase *t;
    bool put;
    struct twophase_message *messages;
    MPI_Request *requests; /* the messages', then the answers' */
    int nmessages;
    struct twophase_question *questions;
    int nquestions;
    int incoming;
    int answers; /* their tag */
};

/* Makes messages of what the node has packed for those this process exchanges with.
 * Local. NC_ENOMEM, NC_EMPI: some are left out. */
int twophase_exchange_collect(struct twophase_exchange *x, int64_t step);

/* All tell each other how many messages there are for whom. *least becomes the least of
 * all. Collective over w->column. NC_EMPI. */
int twophase_exchange_count_all(struct twophase_exchange *x, int64_t *least);

/* Sends the messages and receives the others'. Values that are put come to the block;
 * questions are kept, *low and *high of them being where the bytes lie that they ask for.
 * Collective over w->column. */
int twophase_exchange_messages(struct twophase_exchange *x, const struct access_block *b,
                               int64_t *low, int64_t *high);

/* Answers the questions out of the block, and waits for the answers to one's own.
 * Collective over w->column. */
int twophase_exchange_answers(struct twophase_exchange *x, const struct access_block *b);

void twophase_exchange_free(struct twophase_exchange *x);

#endif
