/* Locks on stripes and objects. A node must hold a lock before it writes data, or reads
 * data that may be cached elsewhere. There are two policies:
 *
 * - Each stripe has a lock.
 * - lock_grows: locks cover ranges of an object, which is the part of a file on one
 *   server. The server extends each granted range up to the next lock that another node
 *   holds, so a node that is the only user needs just one request. If there are many
 *   other locks, the extension is limited to 32 MiB. A request revokes conflicting locks
 *   of other nodes completely, however small the overlap is. This is Lustre's policy.
 *
 * Requests that wait for a lock are queued. A node keeps its lock until the server
 * revokes it. The transfer starts when all requests under the lock have been served, and
 * takes simulated time. */
#include <limits.h>
#include <simgrid/actor.h>
#include <simgrid/mutex.h>
#include <stdlib.h>

#include "machine_lock.h"

enum { NOBODY = -1, READERS = -2 };

struct stripe {
    int owner, waiting;
    double busy; /* time at which the last request under this lock is complete */
    sg_mutex_t turn;
};

struct range {
    int owner;
    int64_t low, high;
    double busy;
};

struct object {
    struct range *ranges;
    int n;
    long room;
    sg_mutex_t turn;
};

struct locks {
    struct stripe *stripes;
    long nstripes;
    struct object *objects; /* one list of locks per server */
    long nobjects;
};

struct locks *locks_new(void)
{
    return machine_grow(NULL, 0, 1, sizeof(struct locks));
}

void locks_forget(struct locks *l)
{
    free(l->stripes);
    for (long i = 0; i < l->nobjects; i++)
        free(l->objects[i].ranges);
    free(l->objects);
    *l = (struct locks){.nstripes = 0};
}

static double price(int want)
{
    const struct machine *m = machine_get();
    return want == READERS ? m->lock_transfer_reading : m->lock_transfer;
}

static void take_turn(sg_mutex_t *turn)
{
    if (*turn == NULL) *turn = sg_mutex_init();
    sg_mutex_lock(*turn);
}

/* Waits until the requests under a lock have been served and the lock has been
 * transferred. */
static void call_back(double busy, int want)
{
    machine_count.lock_transfers++;
    machine_wait_until(busy);
    sg_actor_sleep_for(price(want));
}

/* ---- one lock per stripe ---- */

static struct stripe *stripe_at(struct locks *l, long i)
{
    if (i >= l->nstripes) {
        long n = 2 * i + 64;
        l->stripes = machine_grow(l->stripes, l->nstripes, n, sizeof *l->stripes);
        for (; l->nstripes < n; l->nstripes++)
            l->stripes[l->nstripes].owner = NOBODY;
    }
    return &l->stripes[i];
}

static bool is_taken(const struct stripe *s, int want, int node)
{
    return s->owner != NOBODY && s->owner != want && s->owner != node && price(want) > 0;
}

/* Requests a stripe's lock. The array of stripes may move while the process sleeps, so
 * the stripe is looked up again afterwards. */
static double use_stripe(struct locks *l, const struct lock_use *u, int want, int node)
{
    struct stripe *s = stripe_at(l, u->stripe);
    bool queue = s->waiting > 0 || is_taken(s, want, node);
    if (queue) {
        s->waiting++;
        take_turn(&s->turn);
        s = stripe_at(l, u->stripe);
        if (is_taken(s, want, node)) {
            call_back(s->busy, want);
            s = stripe_at(l, u->stripe);
        }
    }
    if (s->owner != node) s->owner = want;
    double done = u->serve(u);
    if (s->busy < done) s->busy = done;
    if (queue) {
        s->waiting--;
        sg_mutex_unlock(s->turn);
    }
    return done;
}

/* ---- extended range locks ---- */

static struct object *object_at(struct locks *l, long server)
{
    if (server >= l->nobjects) {
        l->objects =
            machine_grow(l->objects, l->nobjects, server + 1, sizeof *l->objects);
        l->nobjects = server + 1;
    }
    return &l->objects[server];
}

static struct range *held(struct object *o, const struct lock_use *u, int want, int node)
{
    for (int i = 0; i < o->n; i++) {
        struct range *r = &o->ranges[i];
        if (r->low <= u->low && u->high <= r->high &&
            (r->owner == want || r->owner == node))
            return r;
    }
    return NULL;
}

/* Revokes conflicting locks. Returns the number of revoked locks, and stores in *busy the
 * time until which they are in use. */
static int take_away(struct object *o, const struct lock_use *u, int want, double *busy)
{
    int taken = 0, kept = 0;
    for (int i = 0; i < o->n; i++) {
        struct range r = o->ranges[i];
        bool conflicts = r.owner != want && r.low < u->high && u->low < r.high;
        if (!conflicts) o->ranges[kept++] = r;
        if (conflicts && *busy < r.busy) *busy = r.busy;
        taken += conflicts;
    }
    o->n = kept;
    return taken;
}

static void grant(struct object *o, const struct lock_use *u, int want, int taken)
{
    enum { MANY = 32, GROWN = 32 << 20 };
    struct range grown = {want, 0, INT64_MAX, 0};
    if (taken > MANY) grown.high = u->low + GROWN > u->high ? u->low + GROWN : u->high;
    for (int i = 0; i < o->n; i++) {
        const struct range *r = &o->ranges[i];
        if (r->owner == want) continue;
        if (r->high <= u->low && r->high > grown.low) grown.low = r->high;
        if (r->low >= u->high && r->low < grown.high) grown.high = r->low;
    }
    if (o->n == o->room) {
        o->ranges = machine_grow(o->ranges, o->room, 2 * o->room + 8, sizeof *o->ranges);
        o->room = 2 * o->room + 8;
    }
    o->ranges[o->n++] = grown;
}

static double use_range(struct locks *l, const struct lock_use *u, int want, int node)
{
    bool queue = held(object_at(l, u->server), u, want, node) == NULL;
    if (queue) take_turn(&object_at(l, u->server)->turn);
    struct object *o = object_at(l, u->server);
    if (held(o, u, want, node) == NULL) {
        double busy = 0;
        int taken = take_away(o, u, want, &busy);
        if (taken > 0) call_back(busy, want);
        o = object_at(l, u->server);
        grant(o, u, want, taken);
    }
    double done = u->serve(u);
    struct range *r = held(object_at(l, u->server), u, want, node);
    if (r != NULL && r->busy < done) r->busy = done;
    if (queue) sg_mutex_unlock(object_at(l, u->server)->turn);
    return done;
}

double locks_use(struct locks *l, const struct lock_use *u, bool writing, int node)
{
    int want = writing ? node : READERS;
    if (!writing && machine_get()->lock_transfer_reading <= 0) return u->serve(u);
    return (machine_get()->lock_grows > 0 ? use_range : use_stripe)(l, u, want, node);
}
