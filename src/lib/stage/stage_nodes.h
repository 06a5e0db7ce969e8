/* Blocks that go from node to node. A block has a home, a node that knows which node
 * keeps it: the first that asked for it. Who needs a block of another node's asks for it
 * by a socket, at which a thread of that node listens: so nobody has to be in a call of
 * MPI for it, at any level of thread support, and a node that does not answer is waited
 * for only so long. What a node says of another is no more than a hint: a node gives away
 * what it has, for the same file as the one who asks knows, and nothing else. */
#ifndef STAGE_NODES_H
#define STAGE_NODES_H

#include "stage.h"

enum { STAGE_ADDRESSES = 4, STAGE_TOKEN = 16 };

/* Where a node listens, and the token that a question has to have; port 0: it does not.
 */
struct stage_place {
    unsigned char token[STAGE_TOKEN];
    int32_t port, count;
    int32_t families[STAGE_ADDRESSES];
    unsigned char addresses[STAGE_ADDRESSES][16];
};

/* A question has one size, an answer another, and then the bytes. */
struct stage_question {
    unsigned char token[STAGE_TOKEN];
    uint64_t stamp; /* of the file */
    int64_t block, from, n;
    int32_t asker, without; /* nodes; one that has it not, -1: none */
};
enum stage_answered {
    STAGE_BYTES = 1, /* they follow */
    STAGE_COMING,    /* a process of the node is bringing it */
    STAGE_KEEPER,    /* the node below keeps it */
    STAGE_MIRRORED,  /* it is in the file of all nodes */
    STAGE_NOT,       /* it is not here */
    STAGE_REFUSED    /* the file is another here, or too young to be sure */
};
struct stage_answer {
    int32_t kind, keeper;
    uint32_t sum; /* of the block, where it is here */
};

/* ---- stage_nodes.c ---- */

/* A communicator of the nodes' first processes, if there are several and they exchange
 * blocks: all have it, or nobody, who could not free it alone. Agreed. */
int stage_nodes_meet_all(struct stage *s);
/* How many there are, 1 without it, and which this is. NC_EMPI. */
int stage_nodes_count(struct stage *s, struct stage_shared *plan);
/* The first process of each node begins to listen, and learns where the others do: into
 * the memory that its node shares. The communicator has served then. */
void stage_nodes_exchange_all(struct stage *s);
/* Which node keeps a block whose home is this one: the asker if no other is known, or
 * only the one that has it not. -1: nobody, there is no room for it. */
int stage_nodes_keeper(struct stage_shared *all, int64_t block, int asker, int without);

static inline int stage_home(const struct stage_shared *all, int64_t block)
{
    return (int)(block % all->nodes);
}

/* ---- stage_serve.c ---- */

/* A socket that listens, and where that is. -1: none. */
int stage_serve_listen(struct stage_place *place);
/* A thread that answers, in the first process of a node. Without it nobody does. */
void stage_serve_begin(struct stage *s);
void stage_serve_stop(struct stage *s);
/* How many bytes it has given away since it was asked last. */
int64_t stage_serve_given(struct stage *s);

/* ---- stage_ask.c ---- */

enum stage_asked {
    STAGE_GOT,   /* of n 0: another node has it, or is bringing it; it is in the mirror,
                    where there is one */
    STAGE_OURS,  /* this node is to keep it, and brings it from the file */
    STAGE_FULL,  /* nobody is to */
    STAGE_NOBODY /* there is no exchange, or nobody answers: from the file */
};
/* Bytes [from, from + n) of a block. */
enum stage_asked stage_ask(struct stage *s, struct stage_lines *lines, int64_t block,
                           int64_t from, void *bytes, int64_t n);
void stage_lines_begin(struct stage_lines *lines);
void stage_lines_end(struct stage_lines *lines);

/* ---- stage_mirror.c ---- */

/* A staged file of all nodes, where the hint asks for one: made by one process, opened by
 * each node's first, and then part of the plan. Its path, which is to be unlinked when
 * all processes have opened it; "" where there is none, and each node has a file of its
 * own. */
void stage_mirror_make_all(struct stage *s, struct stage_shared *plan, int looked,
                           char *path, size_t size);
/* Is there nothing to bring for a claim: because the block is in the mirror already, or
 * has no room there? The claim is finished then. */
bool stage_mirror_settles(struct stage *s, struct stage_lines *lines,
                          const struct stage_claim *c);

#endif
