/* Simulated sockets and pipes, and the bytes in transit between them. sim_sockets.c
 * implements system calls on top of them. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "sim_files.h"

/* Maximum number of descriptors passed with one message. */
enum { SIM_RIGHTS = 2 };

/* Bytes in transit to a socket, or bytes that have arrived but have not been received. */
struct sim_parcel {
    double at;       /* arrival time */
    bool held;       /* whether to hold the bytes back until more are sent */
    int64_t from, n; /* part of `bytes` that has not been received */
    struct sim_open *rights[SIM_RIGHTS];
    int nrights;
    struct sim_parcel *next;
    unsigned char bytes[];
};

enum sim_socket_state { SIM_FRESH, SIM_LISTENS, SIM_CONNECTS, SIM_CONNECTED };

/* A socket or one end of a pipe. It is never freed, because its peer may still refer to
 * it. */
struct sim_socket {
    int family; /* AF_...; 0 for an end of a pipe */
    int node;
    int64_t pid;
    enum sim_socket_state state;
    int name; /* port, or number that identifies a local address */
    bool closed, lost /* whether the node failed, so that the peer is not notified */;
    double patience[2]; /* receive and send timeouts in seconds; 0 for none */
    /* SIM_LISTENS: local ends of the connections to accept, in order of arrival. */
    struct sim_socket *callers;
    int backlog;
    /* SIM_CONNECTS: arrival time of the reply, and the errno that it carries (0 if the
     * connection was accepted). */
    double answered;
    int refused;
    /* SIM_CONNECTED. */
    struct sim_socket *peer;
    struct sim_parcel *first, **last;
    int64_t waiting; /* number of bytes that have not been received */
    double latest;   /* arrival time of the last bytes sent */
    double ends;     /* arrival time of the peer's close */
    int error;       /* errno that the close causes; 0 if the close is orderly */
    struct sim_socket *next;
};

/* Draws a number below `n` from the network's random state. */
uint64_t sim_network_draw(uint64_t n);

struct sim_socket *sim_socket_new(int family);
void sim_socket_pair(struct sim_socket *a, struct sim_socket *b);
/* Closes a socket. `lost` means that its node failed, in which case the peer is not
 * notified. */
void sim_socket_close(struct sim_socket *s, bool lost);

/* Returns the socket that listens at an address on a node, or that did so when the node
 * failed. Returns NULL if there is none. */
struct sim_socket *sim_socket_find(int family, int node, int name);
bool sim_socket_is_full(const struct sim_socket *listener);
/* Connects a socket. Within a node, the connection takes effect immediately. Otherwise
 * the reply, whose errno is `refused`, arrives at the time `answered`. The connection is
 * refused if the listener is NULL. An unreachable node (-1) never replies. */
void sim_socket_call(struct sim_socket *caller, struct sim_socket *listener, int node);
/* Returns the next connection to a listening socket, and removes it from the queue if
 * `takes` is true. If no connection has arrived yet, returns NULL and lowers *next to the
 * time at which one will. */
struct sim_socket *sim_socket_caller(struct sim_socket *listener, bool takes,
                                     double *next);

/* Returns the free space in a socket's receive buffer. */
int64_t sim_socket_room(const struct sim_socket *s);
/* Sends descriptors and bytes, which must fit into the peer's buffer. If `more` is set,
 * holds the bytes back until more are sent. */
void sim_socket_send(struct sim_socket *s, const void *bytes, int64_t n, bool more,
                     struct sim_open *const *rights, int nrights);
/* Returns the first parcel that has arrived. If there is none, returns NULL and lowers
 * *next to the time of the next arrival. */
struct sim_parcel *sim_socket_arrived(const struct sim_socket *s, double *next);
/* Removes the first n bytes that have arrived. */
void sim_socket_received(struct sim_socket *s, int64_t n);

/* Waits until something changes in the network, or until the time `until`. */
void sim_network_wait(double until);

#endif
