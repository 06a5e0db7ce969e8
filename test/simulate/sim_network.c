/* Simulates the network: connections and the bytes in transit. Messages have random
 * delays, a few of them longer than the receiver's timeout. Messages arrive in order, but
 * in pieces. If a process closes a socket or dies, its peer learns of this after a delay,
 * just as bytes would arrive. A node that fails sends nothing, so its peers notice the
 * failure only through a timeout. */
#include "sim_network.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct sim_socket *sockets;

uint64_t sim_network_draw(uint64_t n)
{
    static uint64_t chance;
    if (chance == 0) chance = sim_the_plan()->seed * 37 + 11;
    return sim_draw(&chance, n);
}

/* Wakes all waiting processes after a change. Each process then checks its condition
 * again. */
static void wake(void)
{
    sim_wake(&sockets, 1000);
}

void sim_network_wait(double until)
{
    sim_wait(&sockets, isinf(until) ? 0 : until);
}

/* ---- delays ---- */

/* Chooses a random delay for a message. Within a node there is no delay. */
static double latency(const struct sim_socket *s)
{
    static const struct {
        uint64_t below; /* cumulative probability, out of 512 */
        double most;
    } kinds[] = {{400, 5e-6}, {490, 1e-3}, {511, 1e-1}, {512, 6}};
    if (s->family == AF_UNIX || s->family == 0) return 0;
    const uint64_t kind = sim_network_draw(512);
    int i = 0;
    while (kind >= kinds[i].below)
        i++;
    return kinds[i].most * (double)(1 + sim_network_draw(1000)) / 1000;
}

/* Returns the time at which data sent to a socket now will arrive. Data never arrives
 * before earlier data. */
static double arrival(struct sim_socket *s)
{
    double at = sim_clock() + latency(s);
    return s->latest = at > s->latest ? at : s->latest;
}

static void lower(double *next, double at)
{
    if (at < *next) *next = at;
}

/* ---- opening and closing ---- */

struct sim_socket *sim_socket_new(int family)
{
    struct sim_socket *s = sim_room(sizeof *s);
    *s = (struct sim_socket){.family = family,
                             .node = sim_self()->node,
                             .pid = sim_self()->pid,
                             .ends = INFINITY,
                             .next = sockets};
    s->last = &s->first;
    return sockets = s;
}

void sim_socket_pair(struct sim_socket *a, struct sim_socket *b)
{
    a->peer = b;
    b->peer = a;
    a->state = b->state = SIM_CONNECTED;
}

static void drop_first(struct sim_socket *s)
{
    struct sim_parcel *p = s->first;
    s->waiting -= p->n;
    s->first = p->next;
    if (s->first == NULL) s->last = &s->first;
    for (int i = 0; i < p->nrights; i++)
        sim_open_drop(p->rights[i], false);
    free(p);
}

/* Sends the bytes that MSG_MORE held back. */
static void release(struct sim_socket *s, double at)
{
    for (struct sim_parcel *p = s->first; p != NULL; p = p->next)
        if (p->held) {
            p->held = false;
            lower(&p->at, at);
        }
}

/* Notifies the peer of a close: sends the end of the stream, or a reset if there were
 * unread bytes. */
static void hang_up(struct sim_socket *s)
{
    struct sim_socket *to = s->peer;
    to->ends = arrival(to);
    to->error = s->waiting > 0 ? ECONNRESET : 0;
    release(to, to->ends);
}

static void drop_all(struct sim_socket *s)
{
    while (s->first != NULL)
        drop_first(s);
}

/* Resets a connection that was never accepted. Any bytes that the connecting process has
 * sent are lost. */
static void refuse(struct sim_socket *caller)
{
    caller->peer->closed = true;
    drop_all(caller->peer);
    if (caller->state == SIM_CONNECTS && sim_clock() < caller->answered)
        caller->refused = ECONNREFUSED;
    caller->ends = arrival(caller);
    caller->error = ECONNRESET;
}

void sim_socket_close(struct sim_socket *s, bool lost)
{
    s->lost = lost && s->family != AF_UNIX;
    if (s->lost || s->closed) return;
    s->closed = true;
    for (struct sim_socket *c = s->callers; c != NULL; c = c->callers)
        refuse(c->peer);
    if (s->peer != NULL && !s->peer->closed) hang_up(s);
    drop_all(s);
    wake();
}

/* ---- connecting ---- */

struct sim_socket *sim_socket_find(int family, int node, int name)
{
    struct sim_socket *s = sockets;
    while (s != NULL &&
           (s->closed || s->state != SIM_LISTENS || s->node != node || s->name != name ||
            (s->family == AF_UNIX) != (family == AF_UNIX)))
        s = s->next;
    return s;
}

bool sim_socket_is_full(const struct sim_socket *listener)
{
    int n = 0;
    for (const struct sim_socket *c = listener->callers; c != NULL; c = c->callers)
        n++;
    return n > listener->backlog;
}

static void call_nobody(struct sim_socket *caller, int node)
{
    caller->state = SIM_CONNECTS;
    caller->refused = ECONNREFUSED;
    caller->answered = node < 0 ? INFINITY : arrival(caller);
}

/* If the backlog is full, retries a second later. */
void sim_socket_call(struct sim_socket *caller, struct sim_socket *listener, int node)
{
    if (listener == NULL) {
        call_nobody(caller, node);
        return;
    }
    const double again = sim_socket_is_full(listener) ? 1 : 0;
    struct sim_socket *end = sim_socket_new(caller->family), **last = &listener->callers;
    sim_socket_pair(caller, end);
    end->node = listener->node;
    end->pid = listener->pid;
    end->answered = caller->answered = arrival(end) + again;
    if (caller->node != listener->node) caller->state = SIM_CONNECTS;
    while (*last != NULL)
        last = &(*last)->callers;
    *last = end;
    if (listener->lost) caller->answered = INFINITY;
    wake();
}

struct sim_socket *sim_socket_caller(struct sim_socket *listener, bool takes,
                                     double *next)
{
    for (struct sim_socket **p = &listener->callers; *p != NULL; p = &(*p)->callers) {
        struct sim_socket *end = *p;
        lower(next, end->answered);
        if (sim_clock() < end->answered) continue;
        if (takes) {
            *p = end->callers;
            end->callers = NULL;
        }
        return end;
    }
    return NULL;
}

/* ---- bytes ---- */

/* Returns the free space in the receive buffer. Depending on the seed, the buffer has
 * space for less than two of the smallest staged blocks, or for many blocks. */
int64_t sim_socket_room(const struct sim_socket *s)
{
    const int64_t most = sim_the_plan()->seed % 2 ? 6000 : 300000;
    return s->waiting < most ? most - s->waiting : 0;
}

static struct sim_parcel *send_piece(struct sim_socket *to, const void *bytes, int64_t n)
{
    struct sim_parcel *p = sim_room(sizeof *p + (size_t)n);
    *p = (struct sim_parcel){.n = n};
    memcpy(p->bytes, bytes, (size_t)n);
    *to->last = p;
    to->last = &p->next;
    to->waiting += n;
    return p;
}

/* Bytes that are sent to a closed socket are lost, and the sender gets a reset. */
void sim_socket_send(struct sim_socket *s, const void *bytes, int64_t n, bool more,
                     struct sim_open *const *rights, int nrights)
{
    enum { HELD_MS = 200 };
    struct sim_socket *to = s->peer;
    struct sim_parcel *p = NULL;
    if (to->closed) {
        s->ends = arrival(s);
        s->error = ECONNRESET;
        wake();
        return;
    }
    for (int64_t done = 0, part; done < n; done += part) {
        part = sim_network_draw(4) ? n - done
                                   : 1 + (int64_t)sim_network_draw((uint64_t)(n - done));
        p = send_piece(to, (const char *)bytes + done, part);
        p->at = more ? sim_clock() + HELD_MS * 1e-3 : arrival(to);
        p->held = more;
        if (!more) release(to, p->at);
    }
    for (int i = 0; i < nrights; i++)
        (p->rights[i] = rights[i])->refs++;
    if (p != NULL) p->nrights = nrights;
    wake();
}

struct sim_parcel *sim_socket_arrived(const struct sim_socket *s, double *next)
{
    if (s->first != NULL && sim_clock() >= s->first->at) return s->first;
    lower(next, s->first != NULL ? s->first->at : s->ends);
    return NULL;
}

void sim_socket_received(struct sim_socket *s, int64_t n)
{
    s->first->from += n;
    s->first->n -= n;
    s->waiting -= n;
    if (s->first->n == 0) drop_first(s);
    wake();
}
