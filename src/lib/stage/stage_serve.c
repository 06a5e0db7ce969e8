/* A thread of a node's first process answers other nodes. It gives away what is in the
 * staged file, never waits for anybody, and brings nothing itself. */
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
#define MSG_MORE 0 /* saves a message where there is such a thing */
#endif

enum { VISITORS = 64, CHUNK = 1 << 17, WAKE = 0, LISTENER = 1, FIRST = 2 };

/* Who asks, and what is still to be sent. */
struct visitor {
    int fd; /* -1: nobody */
    bool answering;
    size_t got, sent; /* of the question; of the answer's head */
    struct stage_question question;
    struct stage_answer answer;
    struct stage_hold hold;
    int64_t at, left; /* of the staged file */
    uint64_t last;    /* when it last said something */
};

struct stage_server {
    struct stage_shared *shared;
    struct stage_table *table;
    struct stage_place *own;
    int file, listener, wake[2];
    bool crowded; /* nobody else can come in just now */
    struct base_worker worker;
    _Atomic int64_t given;
    uint64_t clock;
    struct visitor visitors[VISITORS];
    unsigned char chunk[CHUNK];
};

/* ---- where it listens ---- */

static bool set_flags(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static bool make_server_token(unsigned char *token)
{
    return getentropy(token, STAGE_TOKEN) == 0;
}

static void note_address(struct stage_place *place, const void *bytes, size_t n,
                         int family)
{
    if (place->count == STAGE_ADDRESSES) return;
    place->families[place->count] = family == AF_INET6 ? 6 : 4;
    memcpy(place->addresses[place->count++], bytes, n);
}

/* The addresses of this node, those of IPv4 first; if it has only those that lead back to
 * itself, these. */
static void note_addresses(struct stage_place *place)
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

/* One socket for both kinds of addresses, where the system has the newer one. */
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
    if (good && bind(fd, any, length) == 0 && listen(fd, VISITORS) == 0) return fd;
    (void)close(fd);
    return -1;
}

int stage_serve_listen(struct stage_place *place)
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

static bool is_known_question(const struct stage_server *v,
                              const struct stage_question *q)
{
    unsigned other = 0;
    for (int i = 0; i < STAGE_TOKEN; i++)
        other |= q->token[i] ^ v->own->token[i];
    return other == 0;
}

static bool makes_sense(const struct stage_shared *all, const struct stage_question *q)
{
    return q->block >= 0 && q->block < all->nblocks && q->from >= 0 && q->n >= 0 &&
           q->from <= all->block && q->n <= all->block - q->from && q->asker >= 0 &&
           q->asker < all->nodes;
}

static struct stage_answer make_answer(struct stage_server *v, struct visitor *w)
{
    const struct stage_question *q = &w->question;
    struct stage_shared *all = v->shared;
    uint64_t stamp = atomic_load(&all->stamp);
    if (stamp == 0 || stamp != q->stamp || !makes_sense(all, q) ||
        stage_table_broken(v->table))
        return (struct stage_answer){STAGE_REFUSED, -1, 0};
    if (stage_table_find(v->table, q->block, &w->hold)) {
        if (all->mirror && q->n == 0)
            return (struct stage_answer){STAGE_MIRRORED, all->node, w->hold.sum};
        w->at = w->hold.slot * all->block + q->from;
        w->left = q->n;
        return (struct stage_answer){STAGE_BYTES, all->node, w->hold.sum};
    }
    if (stage_table_is_busy(v->table, q->block))
        return (struct stage_answer){STAGE_COMING, all->node, 0};
    if (stage_home(all, q->block) != all->node)
        return (struct stage_answer){STAGE_NOT, -1, 0};
    int keeper = stage_nodes_keeper(all, q->block, q->asker, q->without);
    if (keeper == all->node)
        keeper = stage_nodes_keeper(all, q->block, q->asker, all->node);
    return (struct stage_answer){STAGE_KEEPER, keeper, 0};
}

/* ---- visitors ---- */

static void dismiss(struct visitor *w)
{
    (void)close(w->fd);
    *w = (struct visitor){.fd = -1};
}

/* What can be sent without waiting. False: nothing comes of it any more. */
static bool send_part(int fd, const void *bytes, size_t n, size_t *sent, int more)
{
    ssize_t done = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT | more);
    *sent = done > 0 ? (size_t)done : 0;
    return done >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* A place that was given to another block meanwhile ends the visit: who asked sees that
 * bytes are lacking. */
static bool send_more(struct stage_server *v, struct visitor *w)
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
            !stage_table_held(v->table, &w->hold) ||
            !stage_space_is_whole(v->shared, v->file))
            return false;
        atomic_fetch_add(&v->given, n); /* before the other node can count them */
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

static bool hear(struct stage_server *v, struct visitor *w)
{
    char *question = (char *)&w->question;
    ssize_t n = recv(w->fd, question + w->got, sizeof w->question - w->got, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0) return false;
    w->got += (size_t)n;
    if (w->got < sizeof w->question) return true;
    if (!is_known_question(v, &w->question)) return false;
    w->last = ++v->clock;
    w->left = 0;
    w->sent = 0;
    w->answer = make_answer(v, w);
    w->answering = true;
    return true;
}

static void attend(struct stage_server *v, struct visitor *w)
{
    bool good = w->answering || hear(v, w);
    if (good && w->answering) good = send_more(v, w);
    if (!good) dismiss(w);
}

/* Room for another one: who was silent for longest goes, and asks by a new connection
 * when it wants more. NULL: all are being answered. */
static struct visitor *room_for_one(struct stage_server *v)
{
    struct visitor *oldest = NULL;
    for (int i = 0; i < VISITORS; i++) {
        struct visitor *w = &v->visitors[i];
        if (w->fd < 0) return w;
        if (!w->answering && (oldest == NULL || w->last < oldest->last)) oldest = w;
    }
    return oldest;
}

/* False: who waits at the door cannot come in just now. */
static bool let_in(struct stage_server *v)
{
    int fd = accept(v->listener, NULL, NULL), on = 1;
    struct visitor *w = room_for_one(v);
    if (fd < 0) return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (w == NULL || !set_flags(fd)) {
        (void)close(fd);
        return true;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (w->fd >= 0) dismiss(w);
    *w = (struct visitor){.fd = fd, .last = ++v->clock};
    return true;
}

/* Who asks is to know at once that nobody answers any more. */
static void shut(struct stage_server *v)
{
    (void)shutdown(v->listener, SHUT_RDWR);
    for (int i = 0; i < VISITORS; i++)
        if (v->visitors[i].fd >= 0) dismiss(&v->visitors[i]);
}

/* Waits for what comes next, and answers. False: it is to end, or cannot go on. */
static bool serve(struct stage_server *v)
{
    enum { AGAIN_MS = 100 };
    struct pollfd fds[FIRST + VISITORS];
    fds[WAKE] = (struct pollfd){v->wake[0], POLLIN, 0};
    fds[LISTENER] = (struct pollfd){v->listener, POLLIN, 0};
    if (v->crowded || room_for_one(v) == NULL) fds[LISTENER].fd = -1;
    for (int i = 0; i < VISITORS; i++) {
        const struct visitor *w = &v->visitors[i];
        short events = w->answering ? POLLOUT : POLLIN;
        fds[FIRST + i] = (struct pollfd){w->fd, events, 0};
    }
    if (poll(fds, FIRST + VISITORS, v->crowded ? AGAIN_MS : -1) < 0) {
        if (errno == EINTR) return true;
        shut(v);
        return false;
    }
    if (fds[WAKE].revents != 0) return false;
    for (int i = 0; i < VISITORS; i++)
        if (fds[FIRST + i].revents != 0) attend(v, &v->visitors[i]);
    v->crowded = fds[LISTENER].revents != 0 && !let_in(v);
    return true;
}

/* Sleeps in poll, and shares nothing that the lock would be for. */
static bool run_server(void *of)
{
    struct stage_server *v = of;
    if (v->worker.stop) return false;
    base_worker_unlock(&v->worker);
    bool more = serve(v);
    base_worker_lock(&v->worker);
    return more;
}

/* ---- its life ---- */

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
    v->own = stage_place_of(s->shared, s->shared->node);
    v->file = s->file;
    v->listener = s->listener;
    base_worker_init(&v->worker);
    for (int i = 0; i < VISITORS; i++)
        v->visitors[i].fd = -1;
    return v;
}

static void free_server(struct stage_server *v)
{
    (void)close(v->wake[1]); /* is heard at the other end */
    base_worker_stop(&v->worker);
    (void)close(v->wake[0]);
    for (int i = 0; i < VISITORS; i++)
        if (v->visitors[i].fd >= 0) dismiss(&v->visitors[i]);
    base_free(v);
}

void stage_serve_begin(struct stage *s)
{
    if (s->listener < 0) return;
    struct stage_server *v = s->file < 0 ? NULL : new_server(s);
    if (v != NULL && set_flags(v->wake[0]) && set_flags(v->wake[1]) &&
        base_worker_start(&v->worker, run_server, v)) {
        s->server = v;
        return;
    }
    (void)close(s->listener); /* who asks is to know at once that nobody answers */
    s->listener = -1;
    if (v != NULL) free_server(v);
}

void stage_serve_stop(struct stage *s)
{
    if (s->server != NULL) free_server(s->server);
    s->server = NULL;
}

int64_t stage_serve_given(struct stage *s)
{
    return s->server == NULL ? 0 : atomic_exchange(&s->server->given, 0);
}
