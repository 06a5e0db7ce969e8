/* Copies all values of a dataset to a new file with the same definitions. */
#ifndef DRIVER_COPY_H
#define DRIVER_COPY_H

#include <stdatomic.h>

#include "driver.h"

struct driver_copy {
    struct driver *from, *to; /* both have the definitions of to->ds */
    atomic_bool *unwanted;    /* stops copying when it becomes true */
    /* Shows progress: `done` of the share's `all` bytes; NULL if not needed. */
    void (*report)(void *arg, int64_t done, int64_t all);
    void *arg;
};

/* Copies this process's share, except blocks of zeros: a new file reads as zeros where
 * nothing was written. Local; makes no MPI calls if the drivers' get and put make none.
 */
int driver_copy_share(const struct driver_copy *c);

#endif
