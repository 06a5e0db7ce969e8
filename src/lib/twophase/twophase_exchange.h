/* Exchanges messages between nodes. Each exchanging process sends what its node's
 * processes have packed for some other nodes, and receives from its counterparts on those
 * nodes. */
#ifndef TWOPHASE_EXCHANGE_H
#define TWOPHASE_EXCHANGE_H

#include "twophase_engine.h"
#include "twophase_pack.h"

/* Data that a process has packed for a node in a step, at `offset` in its area. In gets,
 * the answer of `answer_size` bytes is stored at `answer` in the area. Entries are stored
 * at the end of the area in reverse order. */
struct twophase_entry {
    int64_t node;
    int64_t offset, used;
    int64_t answer, answer_size;
};

static inline struct twophase_entry *twophase_entry_at(const struct twophase_window *w,
                                                       int64_t step, int rank, int64_t i)
{
    unsigned char *end = twophase_window_area(w, step, rank) + w->area_size;
    return (struct twophase_entry *)(void *)end - (i + 1);
}

/* A message: this node's entries for one other node. */
struct twophase_message {
    int node;
    MPI_Datatype packed, answer; /* positions of the bytes relative to w->areas */
    int64_t answer_size;         /* number of bytes requested */
};

/* Bytes that another node requests. */
struct twophase_request {
    int node;
    int64_t used, answer_size;
    unsigned char *bytes; /* NULL if out of memory or the question is invalid */
};

/* The messages in one step. */
struct twophase_exchange {
    struct twophase *t;
    bool put;
    struct twophase_message *messages;
    MPI_Request *requests; /* MPI requests for the messages, then for the answers */
    int nmessages;
    struct twophase_request *questions;
    int nquestions;
    int incoming;
    int answers; /* MPI tag for answers */
};

/* Collects the messages that this process sends in a step. On error, some messages are
 * missing. Local. NC_ENOMEM, NC_EMPI. */
int twophase_exchange_collect(struct twophase_exchange *x, int64_t step);

/* Exchanges the message counts, and reduces *least to the minimum. NC_EMPI. Collective
 * over w->column. */
int twophase_exchange_count_all(struct twophase_exchange *x, int64_t *least);

/* Sends this process's messages and receives those from other nodes. Stores put values in
 * the block. Saves the questions that gets send, and extends [*low, *high) to cover the
 * bytes that they request. Collective over w->column. */
int twophase_exchange_messages(struct twophase_exchange *x, const struct access_block *b,
                               int64_t *low, int64_t *high);

/* Answers the saved questions from the block, and waits for the answers to this process's
 * own questions. Collective over w->column. */
int twophase_exchange_answers(struct twophase_exchange *x, const struct access_block *b);

void twophase_exchange_free(struct twophase_exchange *x);

#endif
