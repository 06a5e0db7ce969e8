/* The threads that drain, and what one of them is at. */
#ifndef BURST_POOL_H
#define BURST_POOL_H

#include "access_tile.h"
#include "base_worker.h"
#include "burst.h"

enum { BURST_TAKEN = 1024 };

/* One thread's work: writes that follow each other. */
struct burst_work {
    struct burst_pool *pool;
    struct burst_write *writes[BURST_TAKEN];
    int n;             /* 0: none */
    int64_t first;     /* the place of the first among all */
    int64_t low, high; /* the bytes of the file that they touch */
    struct access_staging staging;
};

struct burst_pool {
    struct burst *b;
    struct base_worker worker;
    struct cdf_header header; /* as it was at first: names and attributes of the dataset's
                               * may change while threads look where variables lie */
    struct burst_work *works;
    int nthreads;
    int64_t room;   /* of each, for values on their way to the file */
    int64_t next;   /* the first write that nobody has taken */
    int64_t until;  /* serial of the last that may be; all: INT64_MAX */
    int error;      /* of the last that failed */
    int64_t failed; /* the first that failed since the last pause */
    bool stuck;     /* one failed: nothing is taken until all is in the file otherwise */
    int active;
    int64_t drained, hidden_us; /* what the dataset's statistics have not been told */
    bool wanted;                /* a thread sleeps until something is logged */
    bool watching;              /* one waits until no more puts come */
    bool ready; /* none came for a while: the rest is taken without waiting again */
    _Atomic int paused;
    bool wrote;
};

/* Brings the writes to the file. NC_EWRITE, NC_ENOMEM ... */
int burst_work_write(struct burst_work *t);

#endif
