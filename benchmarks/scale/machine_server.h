/* Object servers. */
#ifndef SCALE_MACHINE_SERVER_H
#define SCALE_MACHINE_SERVER_H

#include "machine_impl.h"

struct server;
struct server *server_at(long number);

/* Serves a request of n bytes. Returns the time at which the reply reaches the node. */
double server_serve(struct server *s, int64_t n);

#endif
