/* Requests blocks from other nodes over a few open connections. The client first asks the
 * block's home, which names the keeper, and then the keeper. If a node fails to reply
 * three times in a row, this node stops asking it and reads the file instead. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base_number.h"
#include "stage_nodes.h"

enum { CONNECT_MS = 1000, ANSWER_S = 3, TIMES = 3 };

/* ---- one connection ---- */

/* Waits up to CONNECT_MS for the connection. Each retry uses only the remaining time,
 * because signals, such as those of a profiler, may interrupt poll many times. */
static bool wait_to_connect(int fd)
{
    const int64_t ms = 1000000, until = stage_now() + CONNECT_MS * ms;
    struct pollfd p = {fd, POLLOUT, 0};
    int err = 0, n, left = CONNECT_MS;
    socklen_t length = sizeof err;
    while ((n = poll(&p, 1, left)) < 0 && errno == EINTR && left > 0) {
        left = (int)((until - stage_now()) / ms);
        if (left < 0) left = 0;
    }
    return n == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length) == 0 && err == 0;
}

static int connect_to(const struct stage_address *place, int i)
{
    struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons(place->port)};
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons(place->port)};
    const struct timeval most = {ANSWER_S, 0};
    bool newer = place->families[i] == 6;
    int on = 1, fd = socket(newer ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    memcpy(&a4.sin_addr, place->addresses[i], sizeof a4.sin_addr);
    memcpy(&a6.sin6_addr, place->addresses[i], sizeof a6.sin6_addr);
    const void *to = newer ? (const void *)&a6 : &a4;
    socklen_t length = newer ? sizeof a6 : sizeof a4;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        (connect(fd, to, length) == 0 || (errno == EINPROGRESS && wait_to_connect(fd))) &&
        fcntl(fd, F_SETFL, 0) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) == 0) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return fd;
    }
    (void)close(fd);
    return -1;
}

static bool send_whole(int fd, const void *bytes, size_t n, int64_t until)
{
    for (ssize_t done; n > 0; bytes = (const char *)bytes + done, n -= (size_t)done) {
        done = send(fd, bytes, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR && stage_now() < until) done = 0;
        if (done < 0) return false;
    }
    return true;
}

static bool receive_whole(int fd, void *bytes, size_t n, int64_t until)
{
    for (ssize_t done; n > 0; bytes = (char *)bytes + done, n -= (size_t)done) {
        done = recv(fd, bytes, n, MSG_WAITALL);
        if (done < 0 && errno == EINTR && stage_now() < until)
            done = 0;
        else if (done <= 0)
            return false;
    }
    return true;
}

/* ---- open connections ---- */

void stage_connections_begin(struct stage_connections *lines)
{
    lines->clock = 0;
    for (int i = 0; i < STAGE_CONNECTIONS; i++)
        lines->line[i] = (struct stage_connection){.node = -1, .fd = -1};
}

static void close_connection(struct stage_connection *l)
{
    if (l->fd >= 0) (void)close(l->fd);
    *l = (struct stage_connection){.node = -1, .fd = -1};
}

void stage_connections_end(struct stage_connections *lines)
{
    for (int i = 0; i < STAGE_CONNECTIONS; i++)
        close_connection(&lines->line[i]);
}

/* Returns a connection to a node: the existing one, or a new one that replaces the least
 * recently used. Returns NULL if the node cannot be reached. */
static struct stage_connection *
get_connection(struct stage *s, struct stage_connections *lines, int node, bool *old)
{
    struct stage_address *place = stage_address_of(s->shared, node);
    struct stage_peer *mark = stage_peer_of(s->shared, node);
    struct stage_connection *l = &lines->line[0];
    for (int i = 0; i < STAGE_CONNECTIONS; i++) {
        struct stage_connection *other = &lines->line[i];
        if (other->node == node || (l->node != node && other->used < l->used)) l = other;
    }
    *old = l->node == node;
    l->used = ++lines->clock;
    if (*old) return l;
    close_connection(l);
    int best = atomic_load(&mark->best);
    for (int i = 0; i < place->count && i < STAGE_ADDRESSES && l->fd < 0; i++) {
        int which = (best + i) % place->count;
        l->fd = connect_to(place, which);
        if (l->fd >= 0) atomic_store(&mark->best, which);
    }
    if (l->fd < 0) return NULL;
    l->node = node;
    l->used = lines->clock;
    return l;
}

static bool exchange_messages(const struct stage_connection *l,
                              const struct stage_request *q, struct stage_reply *a,
                              void *bytes)
{
    int64_t until = stage_now() + (int64_t)ANSWER_S * 1000000000;
    return send_whole(l->fd, q, sizeof *q, until) &&
           receive_whole(l->fd, a, sizeof *a, until) &&
           (a->kind != STAGE_BYTES || receive_whole(l->fd, bytes, (size_t)q->n, until));
}

/* Sends a request and receives the reply. If an old connection fails, retries with a new
 * one, because a node with too many connections closes idle ones. */
static bool request_from_node(struct stage *s, struct stage_connections *lines, int node,
                              struct stage_request *q, struct stage_reply *a, void *bytes)
{
    struct stage_peer *mark = stage_peer_of(s->shared, node);
    int64_t since = stage_now();
    bool old = true;
    memcpy(q->token, stage_address_of(s->shared, node)->token, sizeof q->token);
    while (old && stage_address_of(s->shared, node)->port != 0 &&
           atomic_load(&mark->failures) < TIMES) {
        struct stage_connection *l = get_connection(s, lines, node, &old);
        if (l != NULL && exchange_messages(l, q, a, bytes)) {
            atomic_store(&mark->failures, 0);
            if (a->kind == STAGE_BYTES) {
                atomic_fetch_add(&s->counts.far, q->n);
                stage_speed_add(&s->node_speed, q->n, since);
            }
            return true;
        }
        if (l != NULL) close_connection(l);
        if (!old) atomic_fetch_add(&mark->failures, 1);
    }
    atomic_fetch_add(&s->counts.unanswered, 1);
    return false;
}

/* ---- requesting a block ---- */

/* Returns whether other nodes are so much slower than the file that they may be
 * bypassed. */
static bool is_slow(struct stage *s)
{
    enum { SEEN = 32, SLOWER = 4 };
    int64_t bytes = atomic_load(&s->node_speed.bytes),
            source = atomic_load(&s->file_speed.bytes);
    if (s->ds->hints.stage_exchange == HINTS_ENABLE) return false;
    if (bytes < SEEN * s->shared->block || source == 0) return false;
    return (double)atomic_load(&s->node_speed.ns) / (double)bytes >
           SLOWER * (double)atomic_load(&s->file_speed.ns) / (double)source;
}

/* Returns how long to wait for a block that another node is fetching: a few times as long
 * as fetching it here would take. */
static int64_t block_timeout(struct stage *s)
{
    enum { LONGEST = 10, LEAST_MS = 20, TIMES_AS_LONG = 4 };
    int64_t source = atomic_load(&s->file_speed.bytes);
    if (s->ds->hints.stage_exchange == HINTS_ENABLE) return (int64_t)LONGEST * 1000000000;
    double one = source == 0 ? 0
                             : (double)atomic_load(&s->file_speed.ns) / (double)source *
                                   (double)s->shared->block;
    return (int64_t)LEAST_MS * 1000000 + (int64_t)(TIMES_AS_LONG * one);
}

/* Gets a node's reply. If the node is this one, it must be the block's home, and no
 * message is sent. Returns false if there is no reply. */
static bool request_from_any(struct stage *s, struct stage_connections *lines, int node,
                             struct stage_request *q, struct stage_reply *a, void *bytes)
{
    struct stage_shared *all = s->shared;
    if (node < 0 || node >= all->nodes) return false;
    if (node != all->node) return request_from_node(s, lines, node, q, a, bytes);
    *a = (struct stage_reply){
        STAGE_KEEPER, stage_shared_keeper(all, q->block, all->node, q->lacking_node), 0};
    return true;
}

enum stage_result stage_client_get(struct stage *s, struct stage_connections *lines,
                                   int64_t block, int64_t from, void *bytes, int64_t n)
{
    enum { LOST = 3, PAUSE_US = 200 };
    struct stage_shared *all = s->shared;
    struct stage_request q = {.stamp = atomic_load(&all->stamp),
                              .block = block,
                              .from = from,
                              .n = n,
                              .requester = all->node,
                              .lacking_node = -1};
    if (all->nodes == 1 || q.stamp == 0 || is_slow(s)) return STAGE_NO_ANSWER;
    int64_t until = stage_now() + block_timeout(s);
    int home = stage_home(all, block), at = home, lost = 0;
    struct stage_reply a;
    while (request_from_any(s, lines, at, &q, &a, bytes)) {
        lines->sum = a.sum;
        bool there = a.kind == STAGE_BYTES || (a.kind == STAGE_PENDING && n == 0);
        if (a.kind == STAGE_MIRRORED || (there && !all->mirror)) return STAGE_GOT;
        if (a.kind == STAGE_PENDING) {
            if (stage_now() > until) break;
            base_sleep_us(PAUSE_US);
        } else if (a.kind == STAGE_KEEPER) {
            if (a.keeper == all->node) return STAGE_KEPT_HERE;
            if (a.keeper < 0) return STAGE_FULL;
            at = a.keeper;
        } else if (a.kind == STAGE_ABSENT && ++lost < LOST) {
            q.lacking_node = at;
            at = home;
        } else {
            break;
        }
    }
    return STAGE_NO_ANSWER;
}
