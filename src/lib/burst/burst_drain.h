/* Moves values from the log to the file: a walk over the list selects writes and puts
 * them batch by batch through the layer below. */
#ifndef BURST_DRAIN_H
#define BURST_DRAIN_H

#include "burst_list.h"

struct burst;

struct burst_drain {
    struct burst_pool *pool; /* draining threads; NULL if there are none */
    int64_t requested;       /* serial of the last write when flush_start was called */
    int64_t logged_bytes;    /* burst_logged_bytes when the caller last drained */
    void (*progress)(const struct burst *b, int64_t done, int64_t all); /* may be NULL */
};

/* ---- burst_batch.c ---- */

/* An iteration over logged writes. */
struct burst_walk {
    struct burst *b;
    const struct cdf_header *header;
    struct burst_write *const *writes;
    uint64_t vars;
    const unsigned char *contested; /* one flag per variable; may be NULL */
    bool want_contested; /* true: select contested variables; false: the others */
    bool again;          /* also select writes that are in the file, unless put in
                          * independent mode */
    bool chosen;         /* select only writes whose `chosen` is set */
    int64_t epoch;       /* select only writes of this epoch; -1 for all */
    int64_t end;         /* index after the last write */
    int64_t limit;       /* maximum size of a batch's values in bytes */
    int64_t i, done;     /* index of the current write; number of elements done */
};
/* Returns the number of bytes that a process may use to buffer values for draining. */
int64_t burst_memory(const struct burst *b);
void burst_walk_start(struct burst_walk *k, struct burst *b, uint64_t vars);
/* Skips writes that are not selected. Returns true if no write is left. */
bool burst_walk_ended(struct burst_walk *k);
/* Returns the number of remaining batches, without advancing. */
int64_t burst_walk_batches(const struct burst_walk *k);
/* A batch: requests for the next writes of a walk. Writes over the limit are split. */
struct burst_batch {
    struct base_arena arena;
    struct burst_piece *pieces;
    struct access_request **reqs;
    int64_t n, made; /* number of requests; the values of the first `made` are ready */
    int64_t used;    /* total size of their values in bytes */
    unsigned char *bytes;
};
/* Fills a zeroed batch. The caller must free it, even after an error. Threads may call
 * this for writes that they have acquired. */
int burst_batch_make(struct burst_walk *k, struct burst_batch *t);
void burst_batch_free(struct burst_batch *t);
/* Writes the next batch, which may be empty, through the layer below. Marks the writes
 * that this completes. */
int burst_walk_put_all(struct burst_walk *k);
int burst_walk_put(struct burst_walk *k);
/* Reads elements [from, from + n) of a write, in the type in which they were put; xtype
 * is the external type of the variable. */
int burst_read_values(const struct burst *b, const struct burst_write *w, int xtype,
                      int64_t from, int64_t n, void *bytes);
/* Marks a write as not written, because it must come after one that failed. */
void burst_mark_unwritten(struct burst *b, struct burst_write *w);

/* ---- burst_drain.c ---- */

/* Writes all logged values of the variables `vars` to the file. With `chosen`, writes
 * only the chosen writes of all processes, except that contested variables are drained
 * entirely. `vars` must be the same on all processes. Collective; agreed. */
int burst_drain_all(struct burst *b, uint64_t vars, bool chosen);
/* Drains this process's log up to the last write that touches file bytes [low, high).
 * Local. */
int burst_drain_alone(struct burst *b, int64_t low, int64_t high);
/* Drains the chosen writes of this process. Local. */
int burst_drain_chosen_alone(struct burst *b);

/* ---- burst_conflicts.c ---- */

/* Finds variables in which writes by several processes in different epochs may overlap.
 * Sets *flags to an array of one byte per variable, or to NULL if there is no such
 * variable. Collective; agreed. */
int burst_contested_all(struct burst *b, uint64_t vars, unsigned char **flags);
/* Sets *found to true on all processes if any process reads values of these variables
 * that another process has logged, or if `own` is true on any process. May err on the
 * side of true. Collective; agreed. */
int burst_conflicts_all(struct burst *b, uint64_t vars,
                        struct access_request *const *reqs, int64_t n, bool own,
                        bool *found);

#endif
