/* Simulates the socket and pipe calls that the library uses. For seeds below SIM_RICH,
 * socket() fails, and the library works without sockets. At random, calls are interrupted
 * by signals or transfer only part of the data. */
#define _GNU_SOURCE /* for struct ucred */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim_network.h"
#include "sim_wrapped.h"

/* Decides at random whether a signal, such as a profiler's, interrupts the call. */
static bool is_interrupted(void)
{
    return sim_network_draw(64) == 0;
}

static struct sim_socket *socket_of(int fd)
{
    const struct sim_open *o = sim_open_of(fd);
    return o != NULL ? o->socket : NULL;
}

static struct sim_open *new_open(struct sim_socket *s, int flags)
{
    struct sim_open *o = sim_room(sizeof *o);
    *o = (struct sim_open){.socket = s, .flags = O_RDWR | (flags & O_NONBLOCK)};
    snprintf(o->path, sizeof o->path, s->family == 0 ? "pipe" : "socket");
    return o;
}

/* ---- addresses ---- */

/* Depending on the seed, nodes have interfaces with IPv4 addresses, IPv6 addresses or
 * both, and possibly an unreachable interface before the others; or they have only a
 * loopback interface. */
enum net { BOTH, OLD, NEW, HIDDEN_FIRST, ONLY_BACK, NETS };
enum { OWN = 0x0a000001, HIDDEN = 0xac100001, BACK = 0x7f000001 };

static enum net net(void)
{
    uint64_t s = sim_the_plan()->seed;
    uint64_t kind = sim_draw(&s, 16);
    return kind < NETS ? (enum net)kind : BOTH;
}

static struct sockaddr_in6 new_address(uint16_t first, int node)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    a.sin6_addr.s6_addr[0] = (uint8_t)(first >> 8);
    a.sin6_addr.s6_addr[1] = (uint8_t)first;
    a.sin6_addr.s6_addr[15] = (uint8_t)(1 + node);
    return a;
}

static struct sockaddr_in old_address(uint32_t address)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(address)}};
}

/* Returns the node that has this address, or -1 if the calling node cannot reach it. */
static int node_at(const struct sockaddr *to)
{
    if (to->sa_family == AF_INET6) {
        const struct in6_addr *a = &((const struct sockaddr_in6 *)to)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(a) ? sim_self()->node : a->s6_addr[15] - 1;
    }
    uint32_t a = ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr);
    if (a == BACK) return sim_self()->node;
    return a >= OWN && a < OWN + SIM_PROCESSES ? (int)(a - OWN) : -1;
}

static int port_of(const struct sockaddr *a)
{
    return ntohs(a->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
                                          : ((const struct sockaddr_in *)a)->sin_port);
}

struct interface {
    struct ifaddrs list;
    union {
        struct sockaddr_in old;
        struct sockaddr_in6 new;
    } address;
};

static struct ifaddrs *interface(struct ifaddrs *next, unsigned flags,
                                 const void *address, size_t n)
{
    struct interface *i = sim_room(sizeof *i);
    memcpy(&i->address, address, n);
    i->list = (struct ifaddrs){.ifa_next = next,
                               .ifa_flags = IFF_UP | flags,
                               .ifa_addr = (struct sockaddr *)&i->address};
    return &i->list;
}

int __wrap_getifaddrs(struct ifaddrs **all)
{
    const int node = sim_self()->node;
    const struct sockaddr_in back = old_address(BACK), own = old_address(OWN + node),
                             hidden = old_address(HIDDEN + node);
    const struct sockaddr_in6 near = new_address(0xfe80, node),
                              far = new_address(0xfd00, node);
    const enum net kind = net();
    *all = NULL;
    if (sim_step("getifaddrs", "", 0, 0) != 0) return fails(ENOMEM);
    if (kind == BOTH || kind == NEW) {
        *all = interface(*all, 0, &far, sizeof far);
        *all = interface(*all, 0, &near, sizeof near);
    }
    if (kind != NEW && kind != ONLY_BACK) *all = interface(*all, 0, &own, sizeof own);
    if (kind == HIDDEN_FIRST) *all = interface(*all, 0, &hidden, sizeof hidden);
    *all = interface(*all, IFF_LOOPBACK, &back, sizeof back);
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
    while (all != NULL) {
        struct ifaddrs *next = all->ifa_next;
        free(all); /* frees the struct interface, whose first member this is */
        all = next;
    }
}

/* ---- creating sockets ---- */

int __wrap_getentropy(void *bytes, size_t n)
{
    return __wrap_getrandom(bytes, n, 0) == (ssize_t)n ? 0 : -1;
}

int __wrap_socket(int family, int type, int protocol)
{
    (void)protocol;
    if (sim_the_plan()->seed < SIM_RICH) return fails(EAFNOSUPPORT);
    if (sim_step("socket", "", family, type) != 0) return fails(EMFILE);
    if (family == AF_INET6 && net() == OLD) return fails(EAFNOSUPPORT);
    return sim_descriptor(new_open(sim_socket_new(family), type));
}

int __wrap_pipe(int fds[2])
{
    struct sim_socket *ends[2] = {sim_socket_new(0), sim_socket_new(0)};
    if (sim_step("socket", "pipe", 0, 0) != 0) return fails(EMFILE);
    sim_socket_pair(ends[0], ends[1]);
    for (int i = 0; i < 2; i++)
        fds[i] = sim_descriptor(new_open(ends[i], 0));
    return 0;
}

/* Binds a socket to an arbitrary port or name that is unique on the node. The library
 * never requests a particular port or name. */
int __wrap_bind(int fd, const struct sockaddr *at, unsigned length)
{
    enum { FIRST = 20000 };
    static int names[SIM_PROCESSES];
    struct sim_socket *s = socket_of(fd);
    (void)length;
    if (s == NULL) return fails(ENOTSOCK);
    if (sim_step("bind", "socket", at->sa_family, 0) != 0) return fails(EADDRINUSE);
    s->name = FIRST + names[s->node]++ % FIRST;
    return 0;
}

int __wrap_listen(int fd, int backlog)
{
    struct sim_socket *s = socket_of(fd);
    if (s == NULL) return fails(ENOTSOCK);
    s->state = SIM_LISTENS;
    s->backlog = backlog;
    return 0;
}

/* Makes an abstract address: a zero byte and five hexadecimal digits. */
static unsigned name_on_node(int name, struct sockaddr_un *a)
{
    char digits[6];
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(digits, sizeof digits, "%05x", (unsigned)name);
    memcpy(a->sun_path + 1, digits, 5);
    return offsetof(struct sockaddr_un, sun_path) + 6;
}

int __wrap_getsockname(int fd, struct sockaddr *at, unsigned *length)
{
    const struct sim_socket *s = socket_of(fd);
    if (s == NULL) return fails(ENOTSOCK);
    const in_port_t port = htons((uint16_t)s->name);
    struct sockaddr_in6 new = {.sin6_family = AF_INET6, .sin6_port = port};
    struct sockaddr_in old = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_un local;
    const void *a = &local;
    unsigned n = name_on_node(s->name, &local);
    if (s->family != AF_UNIX) {
        a = s->family == AF_INET6 ? (const void *)&new : &old;
        n = s->family == AF_INET6 ? sizeof new : sizeof old;
    }
    memcpy(at, a, n < *length ? n : *length);
    *length = n;
    return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, unsigned length)
{
    struct sim_socket *s = socket_of(fd);
    struct timeval t;
    if (s == NULL) return fails(ENOTSOCK);
    if (level != SOL_SOCKET || (name != SO_RCVTIMEO && name != SO_SNDTIMEO)) return 0;
    if (length != sizeof t) return fails(EINVAL);
    memcpy(&t, value, sizeof t);
    s->patience[name == SO_SNDTIMEO] = (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
    return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, unsigned *length)
{
    struct sim_socket *s = socket_of(fd);
    if (s == NULL) return fails(ENOTSOCK);
    if (level == SOL_SOCKET && name == SO_ERROR && *length == sizeof(int)) {
        int error = sim_clock() >= s->answered ? s->refused : 0;
        memcpy(value, &error, sizeof error);
        return 0;
    }
    if (level != SOL_SOCKET || name != SO_PEERCRED || *length < sizeof(struct ucred))
        return fails(EINVAL);
    if (s->peer == NULL) return fails(ENOTCONN);
    struct ucred who = {(pid_t)s->peer->pid, geteuid(), getegid()};
    memcpy(value, &who, *length = sizeof who);
    return 0;
}

/* ---- connecting sockets ---- */

static int connect_on_node(struct sim_socket *s, const struct sockaddr_un *to)
{
    const int name = (int)strtoul(to->sun_path + 1, NULL, 16);
    struct sim_socket *listener = sim_socket_find(AF_UNIX, s->node, name);
    if (listener == NULL || listener->lost) return fails(ECONNREFUSED);
    if (sim_socket_is_full(listener)) return fails(EAGAIN);
    sim_socket_call(s, listener, s->node);
    return 0;
}

/* A connection attempt to an unused address fails immediately or is never answered. */
int __wrap_connect(int fd, const struct sockaddr *to, unsigned length)
{
    struct sim_socket *s = socket_of(fd);
    (void)length;
    if (s == NULL) return fails(ENOTSOCK);
    if (sim_step("connect", "socket", to->sa_family, 0) != 0) return fails(ECONNREFUSED);
    if (to->sa_family == AF_UNIX) return connect_on_node(s, (const void *)to);
    const int node = node_at(to);
    if (node < 0 && sim_network_draw(2)) return fails(EHOSTUNREACH);
    sim_socket_call(s, sim_socket_find(to->sa_family, node, port_of(to)), node);
    if (s->state == SIM_CONNECTED) return 0;
    return fails(EINPROGRESS);
}

int __wrap_accept4(int fd, struct sockaddr *from, unsigned *length, int flags)
{
    struct sim_socket *s = socket_of(fd), *caller;
    double next = INFINITY;
    (void)from, (void)length;
    if (s == NULL) return fails(ENOTSOCK);
    if (sim_step("accept", "socket", 0, 0) != 0) return fails(EMFILE);
    if (s->state != SIM_LISTENS || s->closed) return fails(EINVAL);
    caller = sim_socket_caller(s, true, &next);
    return caller != NULL ? sim_descriptor(new_open(caller, flags)) : fails(EAGAIN);
}

int __wrap_accept(int fd, struct sockaddr *from, unsigned *length)
{
    return __wrap_accept4(fd, from, length, 0);
}

int __wrap_shutdown(int fd, int how)
{
    struct sim_socket *s = socket_of(fd);
    (void)how;
    if (s == NULL) return fails(ENOTSOCK);
    (void)sim_step("shutdown", "socket", 0, 0);
    sim_socket_close(s, false);
    return 0;
}

/* ---- sending and receiving ---- */

/* How long a call may wait: until the time `until`, or not at all if `none` is set. */
struct waiting {
    bool none;
    double until;
};

static struct waiting waiting_of(int fd, int flags, bool sends)
{
    const struct sim_open *o = sim_open_of(fd);
    const double most = o->socket->patience[sends];
    return (struct waiting){.none = (flags & MSG_DONTWAIT) || (o->flags & O_NONBLOCK),
                            .until = most > 0 ? sim_clock() + most : INFINITY};
}

/* Waits until a change may have occurred. Returns 0, or the errno with which the call
 * must fail. */
static int wait_longer(const struct waiting *w, double next)
{
    if (w->none || sim_clock() >= w->until) return EAGAIN;
    if (is_interrupted()) return EINTR;
    sim_network_wait(next < w->until ? next : w->until);
    return 0;
}

/* Sends as many bytes as fit into the peer's buffer or, at random, fewer. */
static ssize_t send_bytes(int fd, const void *bytes, int64_t n, int flags,
                          struct sim_open *const *rights, int nrights)
{
    struct sim_socket *s = socket_of(fd);
    if (s == NULL) return fails(ENOTSOCK);
    if (sim_step("send", "socket", flags, n) != 0) return fails(ECONNRESET);
    const struct waiting w = waiting_of(fd, flags, true);
    for (;;) {
        if (s->state != SIM_CONNECTED || s->closed) return fails(EPIPE);
        if (s->error != 0 && sim_clock() >= s->ends) return fails(s->error);
        const int64_t room = sim_socket_room(s->peer);
        if (room > 0) {
            if (n > room) n = room;
            if (n > 1 && sim_network_draw(8) == 0)
                n = 1 + (int64_t)sim_network_draw((uint64_t)n);
            sim_socket_send(s, bytes, n, flags & MSG_MORE, rights, nrights);
            return n;
        }
        const int error = wait_longer(&w, s->error != 0 ? s->ends : INFINITY);
        if (error != 0) return fails(error);
    }
}

/* Receives the descriptors that were sent with a message. At random, pretends that the
 * process's descriptor table has space for only one of them. */
static void take_rights(const struct sim_parcel *p, struct msghdr *m)
{
    struct cmsghdr *head = m->msg_control;
    int fds[SIM_RIGHTS], n = 0;
    const int most = p->nrights > 0 && sim_network_draw(64) == 0 ? 1 : p->nrights;
    for (; n < most; n++)
        fds[n] = sim_descriptor(p->rights[n]);
    const size_t bytes = (size_t)n * sizeof fds[0];
    *head = (struct cmsghdr){CMSG_LEN(bytes), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), fds, bytes);
    m->msg_controllen = n > 0 ? CMSG_SPACE(bytes) : 0;
}

/* Receives the bytes that have arrived, or all n bytes if MSG_WAITALL is set. */
static ssize_t receive_bytes(int fd, char *bytes, int64_t n, int flags,
                             struct msghdr *beside)
{
    struct sim_socket *s = socket_of(fd);
    int64_t done = 0;
    if (s == NULL) return fails(ENOTSOCK);
    if (sim_step("receive", "socket", flags, n) != 0) return fails(ECONNRESET);
    const struct waiting w = waiting_of(fd, flags, false);
    while (done < n) {
        double next = INFINITY;
        const struct sim_parcel *p = sim_socket_arrived(s, &next);
        if (p != NULL) {
            const int64_t part = p->n < n - done ? p->n : n - done;
            memcpy(bytes + done, p->bytes + p->from, (size_t)part);
            if (beside != NULL && p->from == 0) take_rights(p, beside);
            sim_socket_received(s, part);
            done += part;
            continue;
        }
        if (done > 0 && !(flags & MSG_WAITALL)) break;
        const bool ended = s->first == NULL && sim_clock() >= s->ends;
        const int error = ended ? s->error : wait_longer(&w, next);
        if (done == 0 && error != 0) return fails(error);
        if (ended || error != 0) break;
    }
    sim_note("received %lld", (long long)done);
    return done;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t n, int flags)
{
    return send_bytes(fd, bytes, (int64_t)n, flags, NULL, 0);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t n, int flags)
{
    return receive_bytes(fd, bytes, (int64_t)n, flags, NULL);
}

/* Sends the bytes in one buffer together with descriptors. */
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(m);
    struct sim_open *rights[SIM_RIGHTS];
    int fds[SIM_RIGHTS];
    if (head->cmsg_len != CMSG_LEN(sizeof fds)) return fails(EINVAL);
    memcpy(fds, CMSG_DATA(head), sizeof fds);
    for (int i = 0; i < SIM_RIGHTS; i++)
        if ((rights[i] = sim_open_of(fds[i])) == NULL) return fails(EBADF);
    return send_bytes(fd, m->msg_iov[0].iov_base, (int64_t)m->msg_iov[0].iov_len, flags,
                      rights, SIM_RIGHTS);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
    if (m->msg_controllen < CMSG_SPACE(SIM_RIGHTS * sizeof(int))) return fails(EINVAL);
    const ssize_t n = receive_bytes(fd, m->msg_iov[0].iov_base,
                                    (int64_t)m->msg_iov[0].iov_len, flags, m);
    if (n <= 0) m->msg_controllen = 0;
    return n;
}

/* ---- poll ---- */

/* Returns whether a socket is connected. Lowers *next to the time of a pending reply. */
static bool is_connected(struct sim_socket *s, double *next)
{
    if (s->state == SIM_CONNECTS && sim_clock() >= s->answered && s->refused == 0)
        s->state = SIM_CONNECTED;
    if (s->state == SIM_CONNECTS && s->answered < *next) *next = s->answered;
    return s->state == SIM_CONNECTED;
}

/* Returns a socket's current events. Lowers *next to the time of its next event. */
static short look_at(struct sim_socket *s, short events, double *next)
{
    short found = 0;
    double arrives = INFINITY;
    if (s->state == SIM_LISTENS)
        return sim_socket_caller(s, false, next) != NULL ? POLLIN : 0;
    if (!is_connected(s, next))
        return sim_clock() >= s->answered ? POLLERR | POLLHUP | POLLOUT : 0;
    const bool ended = sim_clock() >= s->ends;
    if (sim_socket_arrived(s, &arrives) != NULL || ended) found |= POLLIN;
    if (ended && s->error != 0) found |= POLLERR | POLLHUP;
    if (ended && s->family == 0) found |= POLLHUP;
    if (!ended && s->error != 0 && s->ends < *next) *next = s->ends;
    if (sim_socket_room(s->peer) > 0) found |= POLLOUT;
    if ((events & POLLIN) && arrives < *next) *next = arrives;
    return found & (events | POLLERR | POLLHUP);
}

int __wrap_poll(struct pollfd *fds, unsigned long n, int ms)
{
    if (sim_step("poll", "socket", (int64_t)n, ms) != 0) return fails(ENOMEM);
    const struct waiting w = {ms == 0, ms < 0 ? INFINITY : sim_clock() + 1e-3 * ms};
    for (;;) {
        int found = 0;
        double next = INFINITY;
        for (unsigned long i = 0; i < n; i++) {
            struct sim_socket *s = socket_of(fds[i].fd);
            fds[i].revents = s == NULL ? 0 : look_at(s, fds[i].events, &next);
            found += fds[i].revents != 0;
        }
        if (found > 0) return found;
        const int error = wait_longer(&w, next);
        if (error != 0) return error == EAGAIN ? 0 : fails(error);
    }
}
