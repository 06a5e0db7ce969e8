/* Pending nonblocking requests of a dataset. */
#ifndef API_QUEUE_H
#define API_QUEUE_H

#include "api_dataset.h"

/* ids[] never decreases, so that a binary search finds one; the requests of one id stand
 * together. A request that has ended leaves NULL behind, until there are many. */
struct api_queue {
    struct access_request **reqs; /* in the order of posting */
    int *ids;
    int64_t used, capacity;
    int64_t ended;                    /* NULLs among reqs[0..used) */
    int pending;                      /* ids that have not ended */
    int next_id;                      /* back to 0 whenever the queue is empty */
    int64_t buffer_size, buffer_used; /* of bput, in bytes of external values */
    bool attached;
    int64_t kept; /* bytes of values that puts took at the post: see api_queue_keep */
};

/* The dataset's queue, made when it is first needed. NULL when memory is short. */
struct api_queue *api_queue_of(struct api_dataset *d);

/* Adds n requests under one new id. They are the queue's from then on. NC_ENOMEM,
 * NC_EMAX_REQ. */
int api_queue_add(struct api_queue *q, struct access_request *const *reqs, int64_t n,
                  int *id);

/* Where the first request of an id stands, or -1; and the next one of the same id. */
int64_t api_queue_find(const struct api_queue *q, int id);
static inline int64_t api_queue_next(const struct api_queue *q, int64_t i)
{
    int64_t next = i + 1;
    return next < q->used && q->ids[next] == q->ids[i] ? next : -1;
}

/* Ends and frees the requests of an id, the first of which stands at i; unless they were
 * cancelled, their bytes count. Returns their first bad status. Places stay good until
 * api_queue_tidy. */
int api_queue_end(struct api_dataset *d, int64_t i, bool cancelled);
void api_queue_tidy(struct api_queue *q);

/* The buffer of bput: what a request takes of it, and taking it. NC_EINSUFFBUF. */
bool api_buffer_attached(const struct api_queue *q);
int64_t api_buffered_bytes(const struct api_dataset *d, const struct access_request *r);
int api_buffer_charge(struct api_queue *q, int64_t bytes);

/* Takes the values of the put that was added last, of n requests, if they are few: its
 * buffer may be used again. Where they are many, of it or of all that are pending, or
 * memory is short, they stay where they are, and the caller must not touch them. */
void api_queue_keep(struct api_dataset *d, int64_t n);

#endif
