/* Exchanges blocks between nodes. Each block has a home, the node that knows the block's
 * keeper. The keeper is the first node that asked for the block. Requests are sent over a
 * socket, on which a thread of the other node listens. Therefore no process has to be in
 * an MPI call, any level of thread support suffices, and a node that does not reply is
 * skipped after a time limit. What a node reports about another one is only a hint: a
 * node serves only blocks that it has itself, and only if both nodes have the same
 * version of the file. */
#ifndef STAGE_NODES_H
#define STAGE_NODES_H

#include "stage.h"

enum { STAGE_ADDRESSES = 4, STAGE_TOKEN = 16 };

/* A node's addresses, and the token that requests must contain. The port is 0 if the node
 * does not listen. */
struct stage_address {
    unsigned char token[STAGE_TOKEN];
    int32_t port, count;
    int32_t families[STAGE_ADDRESSES];
    unsigned char addresses[STAGE_ADDRESSES][16];
};

/* Requests and replies have fixed sizes; the block follows a STAGE_BYTES reply. */
struct stage_request {
    unsigned char token[STAGE_TOKEN];
    uint64_t stamp; /* digest of the files' identities */
    int64_t block, from, n;
    int32_t requester,
        lacking_node; /* requesting node; node known to lack the block, or -1 */
};
enum stage_reply_kind {
    STAGE_BYTES = 1, /* the block's bytes follow the reply */
    STAGE_PENDING,   /* a process on this node is fetching the block */
    STAGE_KEEPER,    /* the block's keeper is `keeper`; -1 if no node has space */
    STAGE_MIRRORED,  /* the block is in the mirror */
    STAGE_ABSENT,    /* this node does not have the block */
    STAGE_REFUSED    /* this node's files differ or changed too recently */
};
struct stage_reply {
    int32_t kind, keeper;
    uint32_t sum; /* checksum of the block, if this node has it */
};

/* ---- stage_shared.c ---- */

/* Returns the keeper of a block whose home is this node. `requester` becomes the keeper
 * if the block has none, or if its keeper is `without`, which no longer has the block.
 * Returns -1 if no node has space for the block. */
int stage_shared_keeper(struct stage_shared *all, int64_t block, int requester,
                        int without);

/* ---- stage_nodes.c ---- */

/* If several nodes exchange blocks, creates a communicator of their first processes. It
 * is created on all of them or on none, because a single process could not free it. All
 * processes get the same result. */
int stage_nodes_create_comm_all(struct stage *s);
/* Sets the number of nodes (1 without a communicator) and this node's number. NC_EMPI. */
int stage_nodes_count(struct stage *s, struct stage_shared *plan);
/* Starts listening in each node's first process, and stores all nodes' addresses in the
 * node's shared memory. Frees the communicator. */
void stage_nodes_exchange_all(struct stage *s);
static inline int stage_home(const struct stage_shared *all, int64_t block)
{
    return (int)(block % all->nodes);
}

/* ---- stage_server.c ---- */

/* Returns a listening socket and stores its address in *place; -1 on error. */
int stage_server_listen(struct stage_address *place);
/* Start and stop the thread that serves blocks, in the node's first process. */
void stage_server_begin(struct stage *s);
void stage_server_stop(struct stage *s);
/* Returns the number of bytes served since the last call. */
int64_t stage_server_bytes_served(struct stage *s);

/* ---- stage_client.c ---- */

enum stage_result {
    STAGE_GOT,       /* bytes received, or n = 0 and a node has or is reading the block */
    STAGE_KEPT_HERE, /* this node is the keeper and must read the file */
    STAGE_FULL,      /* no node has space for the block */
    STAGE_NO_ANSWER  /* no exchange or no reply: the caller must read the file */
};
/* Requests bytes [from, from + n) of a block from its home or its keeper. */
enum stage_result stage_client_get(struct stage *s, struct stage_connections *lines,
                                   int64_t block, int64_t from, void *bytes, int64_t n);
void stage_connections_begin(struct stage_connections *lines);
void stage_connections_end(struct stage_connections *lines);

/* ---- stage_shared_dir.c ---- */

/* Creates one staged file for all nodes if the hint asks for it: one process creates the
 * file, each node's first process opens it, and the plan is adapted. The caller must
 * unlink `path` when all processes have opened it. If there is no common file, `path` is
 * set to "" and each node creates its own. */
void stage_shared_dir_make_all(struct stage *s, struct stage_shared *plan, int looked,
                               char *path, size_t size);
/* Returns true if a claimed block need not be fetched, because the mirror has it or has
 * no space for it, and finishes the claim in that case. */
bool stage_shared_dir_try_finish(struct stage *s, struct stage_connections *lines,
                                 const struct stage_claim *c);

#endif
