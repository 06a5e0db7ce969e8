/* Object servers. */
#ifndef SCALE_MACHINE_SERVER_H
#define SCALE_MACHINE_SERVER_H

#include "machine_impl.h"

struct server;
struct server *server_at(long number);

/* n bytes come to the server: when the answer is back at the node. */
double server_serve(struct server *s, int64_t n);

#endif
