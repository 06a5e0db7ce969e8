/* Locks of a file, under which its servers work. */
#ifndef SCALE_MACHINE_LOCK_H
#define SCALE_MACHINE_LOCK_H

#include "machine_impl.h"

struct locks;

struct locks *locks_new(void);
/* The file is gone, and nobody holds any. */
void locks_forget(struct locks *l);

/* The part of a request that one server has: which stripe of the file it is, and where it
 * lies in the server's object. `serve` tells when the server is through with it. */
struct lock_use {
    long stripe, server; /* `server` counts from the file's first */
    int64_t low, high;
    double (*serve)(const struct lock_use *u);
    struct server *by;
};

/* Waits until the node has the lock that it takes, and has the server serve the request:
 * when it is through. */
double locks_use(struct locks *l, const struct lock_use *u, bool writing, int node);

#endif
