/* Combines calls and their parts into trace lines. Short calls share a line. */
#include "trace_record.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base_number.h"
#include "trace_impl.h"

/* Limits in nanoseconds. A part shorter than SHORT_PART is only counted in the line of
 * its call. A call shorter than its limit joins the line of the previous calls if it
 * follows within GAP and the line then spans less than SPAN, which is too short to be
 * visible in a timeline. If the program is killed, at most the last five seconds are
 * lost.
 *
 * Reading the clock takes 20 ns. In a sequence of brief independent accesses, each call
 * is timed, but the parts are timed in only one of SAMPLE calls. */
enum {
    SHORT_PART = 10000,
    SHORT_CALL = 20000,
    GAP = 50000,
    SPAN = 5000000,
    BRIEF = 4000,
    SAMPLE = 16
};
static const int64_t max_delay_ns = 5000000000;

static void lock_trace(struct trace *t)
{
    if (t->threads) pthread_mutex_lock(&t->lock);
}

static void unlock_trace(struct trace *t)
{
    if (t->threads) pthread_mutex_unlock(&t->lock);
}

/* ---- parts ---- */

/* Returns true if the current parts are not timed. Always false if there are several
 * threads, because their calls may change the flag concurrently. */
static bool is_untimed(const struct trace *t)
{
    return !t->threads && t->untimed;
}

struct trace_span trace_begin_part(struct trace *t)
{
    if (is_untimed(t)) return (struct trace_span){0};
    lock_trace(t);
    struct trace_span span = {.since = base_now(CLOCK_MONOTONIC), .counted = t->counted};
    unlock_trace(t);
    return span;
}

static void widen_sum(struct trace_sum *all, const struct trace_sum *p)
{
    if (p->longest > all->longest) all->longest = p->longest;
    if (p->low >= 0 && (all->low < 0 || p->low < all->low)) all->low = p->low;
    if (p->high > all->high) all->high = p->high;
    if (all->first < 0) all->first = p->first;
    if (p->last >= 0) all->last = p->last;
    all->n += p->n;
    all->own += p->own;
    all->bytes += p->bytes;
}

static void add_trace_part(struct trace_group *g, enum trace_part part,
                           const struct trace_sum *p)
{
    if (g->used >> part & 1)
        widen_sum(&g->parts[part], p);
    else
        g->parts[part] = *p;
    g->used |= 1U << part;
}

void trace_end_part(struct trace *t, enum trace_part part, struct trace_span span,
                    struct trace_where where)
{
    const int64_t high = where.offset < 0 ? -1 : where.offset + where.bytes;
    struct trace_sum one = {
        1, 0, 0, where.bytes, where.offset, high, where.number, where.number};
    if (is_untimed(t)) {
        add_trace_part(&t->now, part, &one);
        return;
    }
    lock_trace(t);
    int64_t end = base_now(CLOCK_MONOTONIC);
    one.longest = one.own = end - span.since;
    bool called = t->depth > 0 && t->caller == trace_thread(t);
    if (called) {
        one.own -= t->counted - span.counted;
        t->counted += one.own;
    }
    if (called && one.longest < SHORT_PART)
        add_trace_part(&t->now, part, &one);
    else
        trace_add_part(t, part, span.since, end, one.own, where);
    unlock_trace(t);
}

/* ---- calls ---- */

static int64_t bytes_moved(const struct trace *t)
{
    return t->ds->stats.put_bytes + t->ds->stats.get_bytes;
}

/* If several threads make calls, only one call at a time records its parts in its line.
 * The parts of concurrent calls get their own lines. */
struct trace_span trace_begin_call(struct trace *t, bool alone)
{
    lock_trace(t);
    int thread = trace_thread(t);
    if (t->depth == 0) {
        t->caller = thread;
        t->now.used = 0;
        t->depth = 1;
        t->alone = alone;
        t->untimed = alone && !t->threads && t->brief % SAMPLE != 0;
    } else if (t->caller == thread) {
        t->depth++;
    }
    struct trace_span span = {base_now(CLOCK_MONOTONIC), t->counted, bytes_moved(t)};
    unlock_trace(t);
    return span;
}

/* Returns the line's entry for a name, or else a free entry; NULL if the line is full. */
static struct trace_call *find_name(struct trace_group *g, const char *name)
{
    for (int i = 0; i < g->ncalls; i++)
        if (g->calls[i].name == name) return &g->calls[i];
    return g->ncalls < TRACE_NAMES ? &g->calls[g->ncalls] : NULL;
}

static void add_call(struct trace_group *g, struct trace_call *all,
                     const struct trace_call *c)
{
    if (all == &g->calls[g->ncalls]) {
        *all = *c;
        g->ncalls++;
        return;
    }
    if (c->longest > all->longest) all->longest = c->longest;
    if (c->varid != all->varid) all->varid = -1;
    if (all->err == 0) all->err = c->err;
    all->n++;
    all->time += c->time;
    all->own += c->own;
    all->bytes += c->bytes;
}

static void end_group(struct trace *t)
{
    if (t->before.ncalls > 0) trace_add_group(t, &t->before);
    t->before.ncalls = 0;
    t->before.used = 0;
}

/* Adds a call and its parts to the line of the previous calls. */
static void merge_call(struct trace *t, struct trace_call *all,
                       const struct trace_call *c, int64_t start, int64_t end)
{
    struct trace_group *g = &t->before;
    if (g->ncalls == 0) g->start = start;
    g->thread = t->caller;
    g->end = end;
    add_call(g, all, c);
    for (unsigned left = t->now.used; left != 0; left &= left - 1) {
        enum trace_part part = (enum trace_part)__builtin_ctz(left);
        add_trace_part(g, part, &t->now.parts[part]);
    }
}

/* Estimates the total time of parts that were not timed: the time of the call, minus the
 * time spent outside of parts in the last call whose parts were timed. */
static void share_time(struct trace *t, struct trace_call *c)
{
    int kinds = __builtin_popcount(t->now.used);
    if (kinds > 0 && c->time > t->own) c->own = t->own;
    for (unsigned left = t->now.used; left != 0; left &= left - 1) {
        struct trace_sum *p = &t->now.parts[__builtin_ctz(left)];
        p->own = (c->time - c->own) / kinds;
        p->longest = p->own / p->n;
    }
}

/* The trace to which this program's latest call belongs. Calls share a line only if there
 * was no call on another dataset between them. */
static _Atomic(const struct trace *) latest;

static void record_call(struct trace *t, struct trace_call *c, int64_t start, int64_t end)
{
    if (t->untimed)
        share_time(t, c);
    else
        t->own = c->own;
    t->untimed = false;
    t->brief = t->alone && c->time < BRIEF ? t->brief + 1 : 0;
    struct trace_group *g = &t->before;
    struct trace_call *all = find_name(g, c->name);
    bool same = atomic_load_explicit(&latest, memory_order_relaxed) == t;
    if (!same) atomic_store_explicit(&latest, t, memory_order_relaxed);
    if (!same || all == NULL || g->thread != t->caller || c->time >= SHORT_CALL ||
        start - g->end > GAP || end - g->start > SPAN) {
        end_group(t);
        all = &g->calls[0];
    }
    merge_call(t, all, c, start, end);
    t->now.used = 0;
    if (c->time >= SHORT_CALL) end_group(t);
    if (end - t->flushed_at > max_delay_ns) trace_flush(t);
}

void trace_end_call(struct trace *t, struct trace_span span, const char *name, int varid,
                    int err)
{
    lock_trace(t);
    int64_t end = base_now(CLOCK_MONOTONIC), time = end - span.since;
    struct trace_call c = {name,  1,  time, time, time, bytes_moved(t) - span.bytes,
                           varid, err};
    if (t->depth > 0 && t->caller == trace_thread(t)) {
        t->depth--;
        c.own -= t->counted - span.counted;
        if (t->depth == 0) record_call(t, &c, span.since, end);
    } else {
        struct trace_group alone = {.start = span.since, .end = end, .ncalls = 1};
        alone.thread = trace_thread(t);
        alone.calls[0] = c;
        trace_add_group(t, &alone);
    }
    unlock_trace(t);
}

void trace_note_file(struct dataset *ds, int64_t stripe, int64_t stripes)
{
    struct trace *t = ds->trace;
    if (t == NULL) return;
    lock_trace(t);
    trace_add_file(t, stripe, stripes);
    unlock_trace(t);
}

/* Process 0 writes the names for all processes, for a limited number of variables. */
void trace_note_variables(struct dataset *ds, int first)
{
    enum { MOST = 1000 };
    struct trace *t = ds->trace;
    if (t == NULL || ds->rank != 0) return;
    lock_trace(t);
    for (int id = first; id < ds->header.nvars && id < MOST; id++)
        trace_add_variable(t, id);
    unlock_trace(t);
}

void trace_note_unused(struct trace *t, const char *key, const char *reason)
{
    if (t == NULL) return;
    lock_trace(t);
    trace_add_unused(t, key, reason);
    unlock_trace(t);
}
