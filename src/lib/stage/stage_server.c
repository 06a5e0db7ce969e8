/* Serves blocks to other nodes, in a thread of the node's first process. The thread polls
 * the listening socket and the connections. It reads a request, checks its token, and
 * replies according to the table: with the block's bytes from the staged file, the
 * keeper's number, or a refusal. It never waits for a single client and never fetches a
 * block itself. */
#include "stage_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_worker.h"

#ifndef MSG_MORE
#define MSG_MORE 0 /* saves a packet if the system supports it */
#endif

enum { MAX_CLIENTS = 64, CHUNK = 1 << 17, WAKE = 0, LISTENER = 1, FIRST = 2 };

/* A connection: the request being received, and the unsent part of the reply. */
struct client {
    int fd; /* socket; -1 if the entry is unused */
    bool answering;
    size_t got, sent; /* bytes of the request received, and of the reply's header sent */
    struct stage_request question;
    struct stage_reply answer;
    struct stage_slot_ref hold;
    int64_t at, left; /* offset in the staged file; bytes still to be sent */
    uint64_t last;    /* clock value of the last request */
};

struct stage_server {
    struct stage_shared *shared;
    struct stage_table *table;
    struct stage_address *own;
    int file, listener, wake[2];
    bool crowded; /* accept failed: retry later */
    struct base_worker worker;
    _Atomic int64_t given;
    uint64_t clock;
    struct client clients[MAX_CLIENTS];
    unsigned char chunk[CHUNK];
};

/* ---- listening ---- */

static bool set_flags(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static bool make_server_token(unsigned char *token)
{
    return getentropy(token, STAGE_TOKEN) == 0;
}

static void note_address(struct stage_address *place, const void *bytes, size_t n,
                         int family)
{
    if (place->count == STAGE_ADDRESSES) return;
    place->families[place->count] = family == AF_INET6 ? 6 : 4;
    memcpy(place->addresses[place->count++], bytes, n);
}

/* Adds this node's addresses, IPv4 first. Adds loopback addresses only as a last
 * resort. */
static void note_addresses(struct stage_address *place)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) return;
    for (int pass = 0; pass < 3 && (pass < 2 || place->count == 0); pass++)
        for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
            const void *a = i->ifa_addr;
            int family = pass == 1 ? AF_INET6 : AF_INET;
            bool back = (i->ifa_flags & IFF_LOOPBACK) != 0;
            if (a == NULL || i->ifa_addr->sa_family != family || back != (pass == 2) ||
                !(i->ifa_flags & IFF_UP))
                continue;
            const struct sockaddr_in6 *a6 = a;
            const struct sockaddr_in *a4 = a;
            if (family == AF_INET)
                note_address(place, &a4->sin_addr, sizeof a4->sin_addr, family);
            else if (!IN6_IS_ADDR_LINKLOCAL(&a6->sin6_addr))
                note_address(place, &a6->sin6_addr, sizeof a6->sin6_addr, family);
        }
    freeifaddrs(all);
}

/* Binds one socket; an IPv6 socket also accepts IPv4 connections. */
static int bind_any(int family)
{
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    const void *any = &any4;
    socklen_t length = sizeof any4;
    int off = 0, fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    bool good = set_flags(fd);
    if (family == AF_INET6) {
        any = &any6;
        length = sizeof any6;
        good = good && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0;
    }
    if (good && bind(fd, any, length) == 0 && listen(fd, MAX_CLIENTS) == 0) return fd;
    (void)close(fd);
    return -1;
}

int stage_server_listen(struct stage_address *place)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int fd = bind_any(AF_INET6);
    if (fd < 0) fd = bind_any(AF_INET);
    if (fd < 0) return -1;
    if (make_server_token(place->token) &&
        getsockname(fd, (struct sockaddr *)&bound, &length) == 0) {
        place->port =
            ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)&bound)->sin_port);
        note_addresses(place);
        return fd;
    }
    (void)close(fd);
    return -1;
}

/* ---- answers ---- */

static bool is_authentic_request(const struct stage_server *v,
                                 const struct stage_request *q)
{
    unsigned other = 0;
    for (int i = 0; i < STAGE_TOKEN; i++)
        other |= q->token[i] ^ v->own->token[i];
    return other == 0;
}

static bool is_valid_request(const struct stage_shared *all,
                             const struct stage_request *q)
{
    return q->block >= 0 && q->block < all->nblocks && q->from >= 0 && q->n >= 0 &&
           q->from <= all->block && q->n <= all->block - q->from && q->requester >= 0 &&
           q->requester < all->nodes;
}

static struct stage_reply make_answer(struct stage_server *v, struct client *w)
{
    const struct stage_request *q = &w->question;
    struct stage_shared *all = v->shared;
    uint64_t stamp = atomic_load(&all->stamp);
    if (stamp == 0 || stamp != q->stamp || !is_valid_request(all, q) ||
        stage_table_is_disabled(v->table))
        return (struct stage_reply){STAGE_REFUSED, -1, 0};
    if (stage_table_find(v->table, q->block, &w->hold)) {
        if (all->mirror && q->n == 0)
            return (struct stage_reply){STAGE_MIRRORED, all->node, w->hold.sum};
        w->at = w->hold.slot * all->block + q->from;
        w->left = q->n;
        return (struct stage_reply){STAGE_BYTES, all->node, w->hold.sum};
    }
    if (stage_table_is_busy(v->table, q->block))
        return (struct stage_reply){STAGE_PENDING, all->node, 0};
    if (stage_home(all, q->block) != all->node)
        return (struct stage_reply){STAGE_ABSENT, -1, 0};
    int keeper = stage_shared_keeper(all, q->block, q->requester, q->lacking_node);
    if (keeper == all->node)
        keeper = stage_shared_keeper(all, q->block, q->requester, all->node);
    return (struct stage_reply){STAGE_KEEPER, keeper, 0};
}

/* ---- connections ---- */

static void close_client(struct client *w)
{
    (void)close(w->fd);
    *w = (struct client){.fd = -1};
}

/* Sends as much as possible without blocking. Returns false on error. */
static bool send_part(int fd, const void *bytes, size_t n, size_t *sent, int more)
{
    ssize_t done = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT | more);
    *sent = done > 0 ? (size_t)done : 0;
    return done >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* Sends more of the reply. Returns false if the slot was reused in the meantime. The
 * caller then closes the connection, and the client detects that bytes are missing. */
static bool send_more(struct stage_server *v, struct client *w)
{
    size_t sent;
    const char *head = (const char *)&w->answer;
    while (w->sent < sizeof w->answer) {
        if (!send_part(w->fd, head + w->sent, sizeof w->answer - w->sent, &sent,
                       w->left > 0 ? MSG_MORE : 0))
            return false;
        if (sent == 0) return true;
        w->sent += sent;
    }
    while (w->left > 0) {
        int64_t n = w->left < CHUNK ? w->left : CHUNK;
        if (base_read_at(v->file, w->at, v->chunk, n, "the staged file") != NC_NOERR ||
            !stage_table_is_current(v->table, &w->hold) ||
            !stage_space_is_complete(v->shared, v->file))
            return false;
        atomic_fetch_add(&v->given, n); /* count before the client can see it */
        bool good = send_part(w->fd, v->chunk, (size_t)n, &sent, 0);
        atomic_fetch_sub(&v->given, n - (int64_t)sent);
        if (!good || sent == 0) return good;
        w->at += (int64_t)sent;
        w->left -= (int64_t)sent;
    }
    w->answering = false;
    w->got = 0;
    return true;
}

static bool receive_request(struct stage_server *v, struct client *w)
{
    char *question = (char *)&w->question;
    ssize_t n = recv(w->fd, question + w->got, sizeof w->question - w->got, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0) return false;
    w->got += (size_t)n;
    if (w->got < sizeof w->question) return true;
    if (!is_authentic_request(v, &w->question)) return false;
    w->last = ++v->clock;
    w->left = 0;
    w->sent = 0;
    w->answer = make_answer(v, w);
    w->answering = true;
    return true;
}

static void serve_client(struct stage_server *v, struct client *w)
{
    bool good = w->answering || receive_request(v, w);
    if (good && w->answering) good = send_more(v, w);
    if (!good) close_client(w);
}

/* Returns a free connection, or the least recently used idle one, whose client can
 * reconnect. Returns NULL if replies are in progress on all connections. */
static struct client *find_client_slot(struct stage_server *v)
{
    struct client *oldest = NULL;
    for (int i = 0; i < MAX_CLIENTS; i++) {
        struct client *w = &v->clients[i];
        if (w->fd < 0) return w;
        if (!w->answering && (oldest == NULL || w->last < oldest->last)) oldest = w;
    }
    return oldest;
}

/* Accepts a connection. Returns false if the system currently cannot accept one. */
static bool accept_client(struct stage_server *v)
{
    int fd = accept(v->listener, NULL, NULL), on = 1;
    struct client *w = find_client_slot(v);
    if (fd < 0) return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (w == NULL || !set_flags(fd)) {
        (void)close(fd);
        return true;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (w->fd >= 0) close_client(w);
    *w = (struct client){.fd = fd, .last = ++v->clock};
    return true;
}

/* Closes all connections, so that clients notice immediately that no reply will come. */
static void close_all_clients(struct stage_server *v)
{
    (void)shutdown(v->listener, SHUT_RDWR);
    for (int i = 0; i < MAX_CLIENTS; i++)
        if (v->clients[i].fd >= 0) close_client(&v->clients[i]);
}

/* Waits for the next events and handles them. Returns false to stop the thread. */
static bool serve(struct stage_server *v)
{
    enum { AGAIN_MS = 100 };
    struct pollfd fds[FIRST + MAX_CLIENTS];
    fds[WAKE] = (struct pollfd){v->wake[0], POLLIN, 0};
    fds[LISTENER] = (struct pollfd){v->listener, POLLIN, 0};
    if (v->crowded || find_client_slot(v) == NULL) fds[LISTENER].fd = -1;
    for (int i = 0; i < MAX_CLIENTS; i++) {
        const struct client *w = &v->clients[i];
        short events = w->answering ? POLLOUT : POLLIN;
        fds[FIRST + i] = (struct pollfd){w->fd, events, 0};
    }
    if (poll(fds, FIRST + MAX_CLIENTS, v->crowded ? AGAIN_MS : -1) < 0) {
        if (errno == EINTR) return true;
        close_all_clients(v);
        return false;
    }
    if (fds[WAKE].revents != 0) return false;
    for (int i = 0; i < MAX_CLIENTS; i++)
        if (fds[FIRST + i].revents != 0) serve_client(v, &v->clients[i]);
    v->crowded = fds[LISTENER].revents != 0 && !accept_client(v);
    return true;
}

/* Serves clients without holding the lock, which protects nothing used here. */
static bool run_server(void *of)
{
    struct stage_server *v = of;
    if (v->worker.stop) return false;
    base_worker_unlock(&v->worker);
    bool more = serve(v);
    base_worker_lock(&v->worker);
    return more;
}

/* ---- start and stop ---- */

static struct stage_server *new_server(struct stage *s)
{
    struct stage_server *v = base_calloc(1, sizeof *v);
    if (v != NULL && pipe(v->wake) != 0) {
        base_free(v);
        v = NULL;
    }
    if (v == NULL) return NULL;
    v->shared = s->shared;
    v->table = s->table;
    v->own = stage_address_of(s->shared, s->shared->node);
    v->file = s->file;
    v->listener = s->listener;
    base_worker_init(&v->worker);
    for (int i = 0; i < MAX_CLIENTS; i++)
        v->clients[i].fd = -1;
    return v;
}

static void free_server(struct stage_server *v)
{
    (void)close(v->wake[1]); /* wakes poll in the thread */
    base_worker_stop(&v->worker);
    (void)close(v->wake[0]);
    for (int i = 0; i < MAX_CLIENTS; i++)
        if (v->clients[i].fd >= 0) close_client(&v->clients[i]);
    base_free(v);
}

void stage_server_begin(struct stage *s)
{
    if (s->listener < 0) return;
    struct stage_server *v = s->file < 0 ? NULL : new_server(s);
    if (v != NULL && set_flags(v->wake[0]) && set_flags(v->wake[1]) &&
        base_worker_start(&v->worker, run_server, v)) {
        s->server = v;
        return;
    }
    (void)close(s->listener); /* clients notice immediately that no reply will come */
    s->listener = -1;
    if (v != NULL) free_server(v);
}

void stage_server_stop(struct stage *s)
{
    if (s->server != NULL) free_server(s->server);
    s->server = NULL;
}

int64_t stage_server_bytes_served(struct stage *s)
{
    return s->server == NULL ? 0 : atomic_exchange(&s->server->given, 0);
}
