/* Threads that bring what is logged to the file while the program computes. They call no
 * MPI: each writes with pwritev through a descriptor of the process's own, so that any
 * level of thread support does. What they have written counts as a first copy: draining
 * looks whether other processes' writes get in the way, and then writes again in order.
 *
 * Whenever processes write to the file together, threads are paused on all of them:
 * MPI-IO may read, change and write back what lies between its runs. */
#include "burst_pool.h"

#include <stdlib.h>
#include <time.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_number.h"

/* ---- taking work ---- */

/* Is there a write that nobody has taken, and that may be? With the lock. */
static bool is_more(const struct burst_pool *p)
{
    return p->next < p->b->nwrites && p->b->writes[p->next]->serial <= p->until;
}

/* The next writes, in order; false if there are none. With the lock. */
static bool next_writes(struct burst_pool *p, struct burst_work *t)
{
    int64_t bytes = 0;
    t->n = 0;
    t->low = INT64_MAX;
    t->high = 0;
    t->first = p->next;
    for (; is_more(p) && t->n < BURST_TAKEN && bytes < p->room; p->next++) {
        struct burst_write *w = p->b->writes[p->next];
        if (w->written) continue;
        t->writes[t->n++] = w;
        bytes += burst_bytes(w);
        if (w->low < t->low) t->low = w->low;
        if (w->high > t->high) t->high = w->high;
    }
    return t->n > 0;
}

/* Does a thread still write something earlier that this would overlap? */
static bool has_to_wait(const struct burst_pool *p, const struct burst_work *t)
{
    for (int i = 0; i < p->nthreads; i++) {
        const struct burst_work *other = &p->works[i];
        if (other != t && other->n > 0 && other->first < t->first &&
            other->low < t->high && other->high > t->low)
            return true;
    }
    return false;
}

static int64_t microseconds(int64_t since)
{
    return (base_now(CLOCK_MONOTONIC) - since) / 1000;
}

/* With the lock: what came of the work. */
static void finish_work(struct burst_pool *p, struct burst_work *t, int err)
{
    for (int i = 0; i < t->n && err == NC_NOERR; i++) {
        t->writes[i]->written = true;
        p->drained += burst_bytes(t->writes[i]);
    }
    p->wrote = true;
    if (err != NC_NOERR) p->stuck = true;
    if (err != NC_NOERR) p->error = err;
    if (err != NC_NOERR && t->first < p->failed) p->failed = t->first;
    t->n = 0;
    p->active--;
    base_worker_tell(&p->worker);
}

/* ---- when ---- */

static bool may_take(const struct burst_pool *p)
{
    return !p->paused && !p->stuck && is_more(p);
}

/* Puts come in bursts, and go at the speed of the log alone while no thread copies beside
 * them: one begins when none has come for a moment, or when that takes too long; at once
 * where the program says when. */
static void watch_space(struct burst_pool *p)
{
    enum { LONGEST = 3600000, TOO_LONG = 50 };
    int64_t asked = p->b->base.ds->hints.burst_delay, seen;
    int64_t moment = (asked < LONGEST ? asked : LONGEST) * 1000;
    if (p->until != INT64_MAX) moment = 0;
    const int64_t since = base_now(CLOCK_MONOTONIC);
    p->watching = true;
    do {
        seen = p->b->serial;
        if (moment > 0) base_worker_sleep(&p->worker, moment);
    } while (!p->worker.stop && !p->ready && may_take(p) &&
             (p->b->putting || p->b->serial != seen) &&
             microseconds(since) < TOO_LONG * moment);
    p->watching = false;
    p->ready = may_take(p);
}

/* Work, when it is time for it; false: there is none. */
static bool get_work(struct burst_pool *p, struct burst_work *t)
{
    while (may_take(p) && !p->ready && !p->watching && !p->worker.stop)
        watch_space(p);
    if (p->worker.stop) return false;
    bool any = may_take(p), taken = any && p->ready && next_writes(p, t);
    p->ready = taken && is_more(p);
    p->wanted = !p->ready;
    if (p->ready) base_worker_wake(&p->worker); /* there is more, for another */
    return taken;
}

static bool drain_next(void *of)
{
    struct burst_work *t = of;
    struct burst_pool *p = t->pool;
    if (!get_work(p, t)) return false;
    p->active++;
    while (has_to_wait(p, t))
        base_worker_wait(&p->worker);
    base_worker_unlock(&p->worker);
    const int64_t since = base_now(CLOCK_MONOTONIC);
    burst_change(p->b);
    struct trace_span span = trace_begin(p->b->base.ds->trace);
    int err = burst_work_write(t);
    trace_end(p->b->base.ds->trace, TRACE_DRAIN, span);
    burst_changed(p->b, true);
    int64_t spent = microseconds(since);
    base_worker_lock(&p->worker);
    p->hidden_us += spent;
    finish_work(p, t, err);
    return true;
}

/* The caller, with the lock: what threads did is done as far as others can see. */
static void add_to_stats(struct burst_pool *p)
{
    struct trace_stats *stats = &p->b->base.ds->stats;
    stats->burst_drained_bytes += p->drained;
    stats->burst_hidden_us += p->hidden_us;
    p->drained = p->hidden_us = 0;
    burst_note_waiting(stats);
    if (p->wrote) p->b->file_dirty = p->b->unsynced = true;
    p->wrote = false;
}

/* ---- life ---- */

static void free_pool(struct burst_pool *p)
{
    for (int i = 0; p->works != NULL && i < p->nthreads; i++)
        access_staging_free(&p->works[i].staging);
    cdf_free(&p->header);
    base_free(p->works);
    base_free(p);
}

static struct burst_pool *new_pool(struct burst *b, int nthreads)
{
    enum { LEAST = 64 << 10, MOST = 4 << 20 };
    struct burst_pool *p = base_calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    if (cdf_copy(&p->header, &b->base.ds->header) != NC_NOERR) {
        base_free(p);
        return NULL;
    }
    p->b = b;
    p->failed = INT64_MAX;
    p->works = base_calloc((size_t)nthreads, sizeof *p->works);
    for (; p->works != NULL && p->nthreads < nthreads; p->nthreads++)
        p->works[p->nthreads].pool = p;
    p->room = burst_memory(b) / nthreads;
    if (p->room < LEAST) p->room = LEAST;
    if (p->room > MOST) p->room = MOST;
    if (p->nthreads == nthreads) return p;
    free_pool(p);
    return NULL;
}

/* They write to the dataset's file, and know of no subfiles. That MPI-IO makes no
 * independent access (romio_no_indep_rw) is nothing to them: each node has the file open
 * beside MPI-IO, by one process, as its logs say which file they are of. */
bool burst_pool_may(const struct burst *b)
{
    return burst_file_coherent(b) && b->base.ds->base == 0 && !b->base.ds->netcdf4;
}

/* With threads that may take what is logged up to a serial. */
static void start_pool(struct burst *b, int64_t until)
{
    enum { MOST = 64 };
    const struct base_hints *hints = &b->base.ds->hints;
    int64_t asked = hints->burst_threads < MOST ? hints->burst_threads : MOST;
    if (!burst_pool_may(b)) return;
    struct burst_pool *p = new_pool(b, (int)asked);
    if (p == NULL) return;
    p->until = until;
    base_worker_init(&p->worker);
    int n = 0;
    while (n < asked && base_worker_start(&p->worker, drain_next, &p->works[n]))
        n++;
    b->pool = p;
    if (n == 0) burst_pool_stop(b);
}

void burst_pool_start(struct burst *b)
{
    if (b->base.ds->hints.burst_flush == BASE_FLUSH_IMMEDIATE) start_pool(b, INT64_MAX);
}

/* With the lock: what failed, and what follows it behind it. */
static void try_again(struct burst_pool *p)
{
    base_worker_unlock(&p->worker);
    burst_pool_pause(p);
    burst_pool_go_on(p);
    base_worker_lock(&p->worker);
    p->stuck = false;
}

bool burst_pool_ready(struct burst *b)
{
    if (b->pool == NULL) start_pool(b, 0);
    return b->pool != NULL;
}

bool burst_pool_begin(struct burst *b)
{
    struct burst_pool *p = burst_pool_ready(b) ? b->pool : NULL;
    if (p == NULL) return false;
    base_worker_lock(&p->worker);
    if (p->stuck) try_again(p);
    if (p->until != INT64_MAX) p->until = b->serial;
    p->ready = is_more(p);
    base_worker_wake_all(&p->worker);
    base_worker_unlock(&p->worker);
    return true;
}

/* Is all that was logged up to a serial in the file? With the lock. */
static bool is_written(const struct burst *b, int64_t serial)
{
    for (int64_t i = 0; i < b->nwrites && b->writes[i]->serial <= serial; i++)
        if (!b->writes[i]->written && !b->writes[i]->cancelled) return false;
    return true;
}

/* Is nobody at it, or about to be? A look at the threads, however much is logged. */
static bool is_past(const struct burst_pool *p, int64_t serial)
{
    if (is_more(p) && p->b->writes[p->next]->serial <= serial) return false;
    for (int i = 0; i < p->nthreads; i++)
        if (p->works[i].n > 0 && p->works[i].writes[0]->serial <= serial) return false;
    return true;
}

int burst_pool_test(struct burst *b, int64_t serial, bool *through)
{
    struct burst_pool *p = b->pool;
    if (p == NULL) {
        *through = is_written(b, serial);
        return NC_NOERR;
    }
    int err = NC_NOERR;
    base_worker_lock(&p->worker);
    add_to_stats(p);
    *through = p->stuck ? is_written(b, serial) : is_past(p, serial);
    if (!*through && p->stuck && p->active == 0) err = p->error;
    base_worker_unlock(&p->worker);
    return err;
}

void burst_pool_stop(struct burst *b)
{
    struct burst_pool *p = b->pool;
    if (p == NULL) return;
    base_worker_stop(&p->worker);
    add_to_stats(p);
    free_pool(p);
    b->pool = NULL;
}

void burst_pool_tell(struct burst_pool *p)
{
    if (p == NULL) return;
    base_worker_lock(&p->worker);
    add_to_stats(p);
    base_worker_unlock(&p->worker);
}

void burst_pool_pause(struct burst_pool *p)
{
    if (p == NULL) return;
    base_worker_lock(&p->worker);
    p->paused++;
    while (p->active > 0)
        base_worker_wait(&p->worker);
    /* What follows something that failed has to be written behind it, again. */
    for (int64_t i = p->failed; i < p->b->nwrites; i++)
        burst_unwrite(p->b, p->b->writes[i]);
    p->failed = INT64_MAX;
    add_to_stats(p);
    base_worker_unlock(&p->worker);
}

void burst_pool_go_on(struct burst_pool *p)
{
    if (p == NULL) return;
    base_worker_lock(&p->worker);
    p->paused--;
    p->next = 0;
    if (p->b->nwrites == 0) p->stuck = false; /* try again */
    base_worker_wake_all(&p->worker);
    base_worker_unlock(&p->worker);
}

void burst_pool_lock(struct burst_pool *p)
{
    base_worker_lock(&p->worker);
}

void burst_pool_unlock(struct burst_pool *p)
{
    bool wake = p->wanted;
    p->wanted = false;
    base_worker_unlock(&p->worker);
    if (wake) base_worker_wake(&p->worker);
}
