/* The queue of a dataset's pending nonblocking requests. */
#ifndef API_QUEUE_H
#define API_QUEUE_H

#include "api_dataset.h"

/* ids[] is ascending, so an id can be found by binary search, and the requests with the
 * same id are adjacent. An ended request is replaced with NULL. The NULLs are removed
 * when half of the entries are NULL. */
struct api_queue {
    struct access_request **reqs;     /* in posting order */
    int *ids;                         /* id of each request */
    int64_t used, capacity;           /* length and capacity of both arrays */
    int64_t ended;                    /* number of NULLs in reqs[0..used) */
    int pending;                      /* number of ids with pending requests */
    int next_id;                      /* reset to 0 whenever the queue is empty */
    int64_t buffer_size, buffer_used; /* size and usage of the attached buffer, in
                                       * bytes of external types */
    bool attached;                    /* a buffer for bput is attached */
    int64_t kept; /* bytes of values stored in requests (API_INLINE) */
};

/* Returns the dataset's queue, which the first call creates. Returns NULL if out of
 * memory. */
struct api_queue *api_queue_of(struct api_dataset *d);

/* Adds n requests with one new id. The queue then owns them. NC_ENOMEM, NC_EMAX_REQ. */
int api_queue_add(struct api_queue *q, struct access_request *const *reqs, int64_t n,
                  int *id);

/* Return the index of the first request with an id, and of the next one with the same id.
 * Return -1 if there is none. */
int64_t api_queue_find(const struct api_queue *q, int id);
static inline int64_t api_queue_next(const struct api_queue *q, int64_t i)
{
    int64_t next = i + 1;
    return next < q->used && q->ids[next] == q->ids[i] ? next : -1;
}

/* Ends and frees all requests with one id; i is the index of the first of them. Counts
 * their bytes unless they were cancelled. Returns the first error status. Queue indices
 * remain valid until api_queue_trim removes the NULLs. */
int api_queue_end(struct api_dataset *d, int64_t i, bool cancelled);
void api_queue_trim(struct api_queue *q);

/* Return whether a bput buffer is attached, and reserve bytes in it. NC_EINSUFFBUF. */
bool api_buffer_attached(const struct api_queue *q);
int api_buffer_charge(struct api_queue *q, int64_t bytes);

/* Copies the values of the last put, which has n requests, so that the caller may reuse
 * its buffer. Copies nothing if the put is large, if all pending puts together are large,
 * or if memory is short. The caller must then preserve its buffer. */
void api_queue_copy_values(struct api_dataset *d, int64_t n);

#endif
