/* Asking other nodes for blocks. One that does not answer in time, three times in a row,
 * is not asked any more by anybody of this node; the file has all that it has. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "stage_nodes.h"

enum { CONNECT_MS = 1000, ANSWER_S = 3, TIMES = 3 };

/* ---- one connection ---- */

/* A program may be interrupted more often than that, by a profiler's clock: what is left
 * of a time limit then is looked at. */
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

static int connect_to(const struct stage_place *place, int i)
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

/* ---- the few that are kept ---- */

void stage_lines_begin(struct stage_lines *lines)
{
    lines->clock = 0;
    for (int i = 0; i < STAGE_LINES; i++)
        lines->line[i] = (struct stage_line){.node = -1, .fd = -1};
}

static void hang_up(struct stage_line *l)
{
    if (l->fd >= 0) (void)close(l->fd);
    *l = (struct stage_line){.node = -1, .fd = -1};
}

void stage_lines_end(struct stage_lines *lines)
{
    for (int i = 0; i < STAGE_LINES; i++)
        hang_up(&lines->line[i]);
}

/* One that is there, or a new one in place of the one that was not used for longest.
 * NULL: nobody is there. */
static struct stage_line *line_to(struct stage *s, struct stage_lines *lines, int node,
                                  bool *old)
{
    struct stage_place *place = stage_place_of(s->shared, node);
    struct stage_mark *mark = stage_mark_of(s->shared, node);
    struct stage_line *l = &lines->line[0];
    for (int i = 0; i < STAGE_LINES; i++) {
        struct stage_line *other = &lines->line[i];
        if (other->node == node || (l->node != node && other->used < l->used)) l = other;
    }
    *old = l->node == node;
    l->used = ++lines->clock;
    if (*old) return l;
    hang_up(l);
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

static bool talk(const struct stage_line *l, const struct stage_question *q,
                 struct stage_answer *a, void *bytes)
{
    int64_t until = stage_now() + (int64_t)ANSWER_S * 1000000000;
    return send_whole(l->fd, q, sizeof *q, until) &&
           receive_whole(l->fd, a, sizeof *a, until) &&
           (a->kind != STAGE_BYTES || receive_whole(l->fd, bytes, (size_t)q->n, until));
}

/* A connection that was there may have been closed by the other side, which has not room
 * for all. */
static bool ask_node(struct stage *s, struct stage_lines *lines, int node,
                     struct stage_question *q, struct stage_answer *a, void *bytes)
{
    struct stage_mark *mark = stage_mark_of(s->shared, node);
    int64_t since = stage_now();
    bool old = true;
    memcpy(q->token, stage_place_of(s->shared, node)->token, sizeof q->token);
    while (old && stage_place_of(s->shared, node)->port != 0 &&
           atomic_load(&mark->failures) < TIMES) {
        struct stage_line *l = line_to(s, lines, node, &old);
        if (l != NULL && talk(l, q, a, bytes)) {
            atomic_store(&mark->failures, 0);
            if (a->kind == STAGE_BYTES) {
                atomic_fetch_add(&s->counts.far, q->n);
                stage_pace_count(&s->far, q->n, since);
            }
            return true;
        }
        if (l != NULL) hang_up(l);
        if (!old) atomic_fetch_add(&mark->failures, 1);
    }
    atomic_fetch_add(&s->counts.unanswered, 1);
    return false;
}

/* ---- a block ---- */

/* Where the hint leaves it open, other nodes that are clearly slower than the file are
 * left alone. */
static bool is_slow(struct stage *s)
{
    enum { SEEN = 32, SLOWER = 4 };
    int64_t bytes = atomic_load(&s->far.bytes), source = atomic_load(&s->near.bytes);
    if (s->ds->hints.stage_exchange == BASE_ENABLE) return false;
    if (bytes < SEEN * s->shared->block || source == 0) return false;
    return (double)atomic_load(&s->far.ns) / (double)bytes >
           SLOWER * (double)atomic_load(&s->near.ns) / (double)source;
}

/* How long one waits for a block that another node is bringing: a few times what bringing
 * it oneself would take. */
static int64_t patience(struct stage *s)
{
    enum { LONGEST = 10, LEAST_MS = 20, TIMES_AS_LONG = 4 };
    int64_t source = atomic_load(&s->near.bytes);
    if (s->ds->hints.stage_exchange == BASE_ENABLE) return (int64_t)LONGEST * 1000000000;
    double one = source == 0 ? 0
                             : (double)atomic_load(&s->near.ns) / (double)source *
                                   (double)s->shared->block;
    return (int64_t)LEAST_MS * 1000000 + (int64_t)(TIMES_AS_LONG * one);
}

/* The answer of a node, which may be this one, as the block's home. False: none. */
static bool ask_any(struct stage *s, struct stage_lines *lines, int node,
                    struct stage_question *q, struct stage_answer *a, void *bytes)
{
    struct stage_shared *all = s->shared;
    if (node < 0 || node >= all->nodes) return false;
    if (node != all->node) return ask_node(s, lines, node, q, a, bytes);
    *a = (struct stage_answer){
        STAGE_KEEPER, stage_nodes_keeper(all, q->block, all->node, q->without), 0};
    return true;
}

enum stage_asked stage_ask(struct stage *s, struct stage_lines *lines, int64_t block,
                           int64_t from, void *bytes, int64_t n)
{
    enum { LOST = 3, PAUSE_NS = 200000 };
    const struct timespec pause = {0, PAUSE_NS};
    struct stage_shared *all = s->shared;
    struct stage_question q = {.stamp = atomic_load(&all->stamp),
                               .block = block,
                               .from = from,
                               .n = n,
                               .asker = all->node,
                               .without = -1};
    if (all->nodes == 1 || q.stamp == 0 || is_slow(s)) return STAGE_NOBODY;
    int64_t until = stage_now() + patience(s);
    int home = stage_home(all, block), at = home, lost = 0;
    struct stage_answer a;
    while (ask_any(s, lines, at, &q, &a, bytes)) {
        lines->sum = a.sum;
        bool there = a.kind == STAGE_BYTES || (a.kind == STAGE_COMING && n == 0);
        if (a.kind == STAGE_MIRRORED || (there && !all->mirror)) return STAGE_GOT;
        if (a.kind == STAGE_COMING) {
            if (stage_now() > until) break;
            (void)nanosleep(&pause, NULL);
        } else if (a.kind == STAGE_KEEPER) {
            if (a.keeper == all->node) return STAGE_OURS;
            if (a.keeper < 0) return STAGE_FULL;
            at = a.keeper;
        } else if (a.kind == STAGE_NOT && ++lost < LOST) {
            q.without = at;
            at = home;
        } else {
            break;
        }
    }
    return STAGE_NOBODY;
}
