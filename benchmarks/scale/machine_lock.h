/* The locks on a file, which a node must acquire before a server handles its request. */
#ifndef SCALE_MACHINE_LOCK_H
#define SCALE_MACHINE_LOCK_H

#include "machine_impl.h"

struct locks;

struct locks *locks_new(void);
/* Frees the locks. The file must no longer exist, and no process may be using its
 * locks. */
void locks_forget(struct locks *l);

/* The part of a request that one server handles: the stripe in the file and the byte
 * range in the server's object. `serve` performs it and returns the time at which the
 * server is done. */
struct lock_use {
    long stripe, server; /* `server` is relative to the file's first server */
    int64_t low, high;
    double (*serve)(const struct lock_use *u);
    struct server *by;
};

/* Waits until the node has the lock, and then passes the request to the server. Returns
 * the time at which the server is done. */
double locks_use(struct locks *l, const struct lock_use *u, bool writing, int node);

#endif
