/* Locks of stripes, and of objects: what a node must have before it writes, or reads what
 * may be cached elsewhere. Two policies:
 *
 * - A stripe has a lock of its own, and nothing else goes with it.
 * - lock_grows: an object, which is the part of a file that one server has, has locks of
 *   ranges. The server grows what it grants as far as nobody else's lock is in the
 *   way, so that a node which is alone asks once; where many are in the way, by 32 MiB
 *   at most. A request takes away whole locks of other nodes, however little of them
 *   it needs. So does Lustre.
 *
 * Requests that wait for a lock queue. A node uses the one it has until it is called
 * back; what it was used for by then is waited for, and then the transfer takes its time.
 */
#include <limits.h>
#include <simgrid/actor.h>
#include <simgrid/mutex.h>
#include <stdlib.h>

#include "machine_lock.h"

enum { NOBODY = -1, READERS = -2 };

struct stripe {
    int owner, waiting;
    double busy; /* until the requests it was given for are done */
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
    struct object *objects; /* one for each server */
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

/* What others did with a lock is waited for, and then the transfer. */
static void call_back(double busy, int want)
{
    machine_count.lock_transfers++;
    machine_wait_until(busy);
    sg_actor_sleep_for(price(want));
}

/* ---- a lock for each stripe ---- */

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

/* Stripes move when the array of them grows, so this looks again whenever it has slept.
 */
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

/* ---- locks of ranges, which grow ---- */

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

/* Takes away what is in the way: how many locks, and until when they are busy. */
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
