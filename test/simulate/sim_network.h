/* Sockets and pipes, and the bytes between them: what sim_sockets.c makes calls of. */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "sim_files.h"

/* Descriptors that a message has beside it. */
enum { SIM_RIGHTS = 2 };

/* Bytes on their way to a socket. */
struct sim_parcel {
    double at;       /* when they arrive */
    bool held;       /* until more is sent */
    int64_t from, n; /* of `bytes`: what nobody has received */
    struct sim_open *rights[SIM_RIGHTS];
    int nrights;
    struct sim_parcel *next;
    unsigned char bytes[];
};

enum sim_socket_state { SIM_FRESH, SIM_LISTENS, SIM_CONNECTS, SIM_CONNECTED };

/* It is never freed, so that the other side may look at one that was closed. */
struct sim_socket {
    int family; /* 0: an end of a pipe */
    int node;
    int64_t pid;
    enum sim_socket_state state;
    int name; /* its port, or its name on the node */
    bool closed, lost /* with its node: nobody hears of it */;
    double patience[2]; /* seconds, of receiving and of sending; 0: for ever */
    /* It listens: the ends of its callers, in order; how many there may be. */
    struct sim_socket *callers;
    int backlog;
    /* It connects: when the answer comes, and which errno that is. */
    double answered;
    int refused;
    /* It is connected. */
    struct sim_socket *peer;
    struct sim_parcel *first, **last;
    int64_t waiting; /* bytes that nobody has received */
    double latest;   /* what was sent last arrives */
    double ends;     /* the other side's close arrives */
    int error;       /* what that is; 0: the end of the bytes */
    struct sim_socket *next;
};

/* Chance of the network's own. */
uint64_t sim_network_draw(uint64_t n);

struct sim_socket *sim_socket_new(int family);
void sim_socket_pair(struct sim_socket *a, struct sim_socket *b);
/* Closed for good. lost: with its node, and nothing of that goes out. */
void sim_socket_close(struct sim_socket *s, bool lost);

/* The one that listens there, or did when its node was lost. NULL: nobody. */
struct sim_socket *sim_socket_find(int family, int node, int name);
bool sim_socket_is_full(const struct sim_socket *listener);
/* Connects, at once on the same node; elsewhere see `answered` and `refused`. Where
 * nobody listens (NULL) that is the answer; from a node that cannot be reached (-1) none
 * comes. */
void sim_socket_call(struct sim_socket *caller, struct sim_socket *listener, int node);
/* The next one that has come, which is taken from the others if `takes` says so. NULL:
 * none yet; *next is lowered to when one will. */
struct sim_socket *sim_socket_caller(struct sim_socket *listener, bool takes,
                                     double *next);

/* How many bytes more it may be sent. */
int64_t sim_socket_room(const struct sim_socket *s);
/* Sends bytes, for which there is room, with some descriptors beside them. more: they
 * wait for what follows. */
void sim_socket_send(struct sim_socket *s, const void *bytes, int64_t n, bool more,
                     struct sim_open *const *rights, int nrights);
/* What has arrived. NULL: nothing; *next is lowered to when something will. */
struct sim_parcel *sim_socket_arrived(const struct sim_socket *s, double *next);
/* n of its bytes were received. */
void sim_socket_received(struct sim_socket *s, int64_t n);

/* Until something of the network changes, or its clock is at `until`. */
void sim_network_wait(double until);

#endif
