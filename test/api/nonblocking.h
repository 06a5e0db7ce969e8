/* Helpers for tests of nonblocking requests. */
#ifndef NONBLOCKING_H
#define NONBLOCKING_H

#include "made_dataset.h"

/* Waits for requests in the case's data mode. */
static inline int wait_for(int ncid, int n, int *ids, int *statuses)
{
    return check.collective ? ncmpi_wait_all(ncid, n, ids, statuses)
                            : ncmpi_wait(ncid, n, ids, statuses);
}

/* Stores a random permutation of the numbers 0 to n - 1. Each process gets a different
 * one. */
static inline void shuffled(int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)check_random_own((uint64_t)i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

#endif
