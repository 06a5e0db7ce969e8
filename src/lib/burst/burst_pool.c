/* Threads that drain the log while the program computes. A thread acquires consecutive
 * writes, waits until no thread is writing earlier ones that overlap them, and writes
 * them. Like any drain it makes batches, and like any put it packs them into tiles, but
 * it writes through a POSIX descriptor. Threads never call MPI, so any level of thread
 * support suffices. Their writes are provisional: a drain checks whether other processes'
 * writes conflict, and if so repeats the writes in order. While the processes write
 * to the file together, all threads are paused, because MPI-IO may read and write back
 * the bytes between its runs. */
#include "burst_pool.h"

#include <stdlib.h>
#include <time.h>

#include "access_tile.h"
#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_number.h"
#include "base_worker.h"
#include "burst.h"

enum { MOST_WRITES = 1024 };

/* One thread's work: consecutive logged writes that are not in the file yet. */
struct job {
    struct burst_pool *pool;
    struct burst_write *writes[MOST_WRITES];
    int n;             /* number of writes; 0 if the thread has no work */
    int64_t first;     /* index of the first of these writes in the list */
    int64_t low, high; /* the writes touch bytes of the file within [low, high) */
    struct access_staging staging;
};

struct burst_pool {
    struct burst *b;
    struct base_worker worker;
    struct cdf_header header; /* a copy, because the dataset's own header may change while
                               * threads look up where variables begin */
    struct job *works;
    int nthreads;
    int64_t buffer_size; /* bytes of values that each thread buffers */
    int64_t next;        /* index of the first write that no thread has acquired */
    int64_t until;       /* serial of the last write that threads may acquire */
    int error;           /* error code of the last write that failed */
    int64_t failed;      /* index of the first write that failed since the last pause */
    bool stuck; /* a write failed, so no thread acquires work until a drain or retry */
    int active; /* number of threads that are writing */
    int64_t drained, hidden_us; /* not added to the dataset's statistics yet */
    bool wanted;                /* a thread sleeps until something is logged */
    bool waiting;               /* a thread waits for the puts to stop */
    bool ready; /* puts have paused, so the rest is drained without another wait */
    _Atomic int paused; /* number of pauses in effect */
    bool wrote;         /* a thread has written since the statistics were last updated */
};

/* ---- writing ---- */

/* Limits the bandwidth to the hint's value, unless a caller is waiting for the thread. */
static void slow_down(const struct burst_pool *p, int64_t bytes)
{
    int64_t most = p->b->base.ds->hints.burst_bandwidth;
    if (most <= 0) return;
    enum { STEP = 10000 };
    int64_t us = (int64_t)((double)bytes / (double)most * 1e6);
    for (; us > 0 && !p->paused && !p->worker.stop; us -= STEP)
        base_sleep_us(STEP);
}

/* Writes consecutive pieces with one call, starting with piece i. Sets *next to the index
 * after the last one. */
static int write_piece_chain(const struct burst_pool *p, const struct access_tile *t,
                             int64_t i, int64_t *next)
{
    enum { MOST = 1024 };
    struct iovec pieces[MOST];
    int n = 0;
    int64_t at = t->pieces[i].offset, end = at;
    while (i < t->npieces && n < MOST && t->pieces[i].offset == end) {
        const struct access_piece *q = &t->pieces[i++];
        base_require(q->pos >= 0 && q->length > 0 && q->length <= t->used - q->pos);
        pieces[n++] = (struct iovec){t->bytes + q->pos, (size_t)q->length};
        end += q->length;
    }
    *next = i;
    return base_write_pieces(p->b->file.handle.fd, at, pieces, n, p->b->base.ds->path);
}

/* Writes the next tile. Ignores range errors, which the put has already reported. */
static int write_next_tile(const struct burst_pool *p, struct access_stream *s,
                           struct access_tile *t)
{
    enum { BYTES = 1 << 20, PIECES = 1 << 16 };
    access_tile_clear(t);
    int err = access_stream_plan(s, t, BYTES, PIECES);
    if (err == NC_NOERR) err = access_stream_finish_plan(s, t);
    if (err == NC_NOERR) err = access_stream_pack(s, t);
    if (err == NC_ERANGE) err = NC_NOERR;
    for (int64_t i = 0; i < t->npieces && err == NC_NOERR;)
        err = write_piece_chain(p, t, i, &i);
    slow_down(p, t->used);
    return err;
}

static int write_batch(struct job *t, const struct burst_batch *batch)
{
    int64_t most = 0, copied = 0; /* unused statistics */
    struct access_tile tile = {0};
    struct access_stream s = {.header = &t->pool->header,
                              .staging = &t->staging,
                              .reqs = batch->reqs,
                              .n = batch->n,
                              .put = true};
    int err = NC_NOERR;
    t->staging.most = &most;
    t->staging.copied = &copied;
    while (err == NC_NOERR && !access_stream_ended(&s))
        err = write_next_tile(t->pool, &s, &tile);
    access_stream_free(&s);
    access_tile_free(&tile);
    return err;
}

/* Writes a thread's work to the file. NC_EWRITE, NC_ENOMEM ... */
static int write_job(struct job *t)
{
    struct burst_walk k = {.b = t->pool->b,
                           .header = &t->pool->header,
                           .writes = t->writes,
                           .vars = BURST_ALL,
                           .epoch = -1,
                           .end = t->n,
                           .limit = t->pool->buffer_size};
    int err = dataset_is_sound(t->pool->b->base.ds);
    while (err == NC_NOERR && !burst_walk_ended(&k)) {
        struct burst_batch batch = {0};
        err = burst_batch_make(&k, &batch);
        if (err == NC_NOERR) err = write_batch(t, &batch);
        burst_batch_free(&batch);
    }
    return err;
}

/* ---- acquiring work ---- */

/* Returns whether there is a write for threads to acquire. Caller must hold the lock. */
static bool is_more(const struct burst_pool *p)
{
    return p->next < p->b->list.n && p->b->list.writes[p->next]->serial <= p->until;
}

/* Acquires the next writes, in order. Returns false if there are none. Caller must hold
 * the lock. */
static bool next_writes(struct burst_pool *p, struct job *t)
{
    int64_t bytes = 0;
    t->n = 0;
    t->low = INT64_MAX;
    t->high = 0;
    t->first = p->next;
    for (; is_more(p) && t->n < MOST_WRITES && bytes < p->buffer_size; p->next++) {
        struct burst_write *w = p->b->list.writes[p->next];
        if (w->written) continue;
        t->writes[t->n++] = w;
        bytes += burst_bytes(w);
        if (w->low < t->low) t->low = w->low;
        if (w->high > t->high) t->high = w->high;
    }
    return t->n > 0;
}

/* Returns whether another thread is still writing earlier writes that overlap these. */
static bool must_wait(const struct burst_pool *p, const struct job *t)
{
    for (int i = 0; i < p->nthreads; i++) {
        const struct job *other = &p->works[i];
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

/* Records the result of a thread's work. Caller must hold the lock. */
static void finish_work(struct burst_pool *p, struct job *t, int err)
{
    for (int i = 0; i < t->n && err == NC_NOERR; i++) {
        t->writes[i]->written = true;
        p->drained += burst_bytes(t->writes[i]);
    }
    p->wrote = true;
    if (err != NC_NOERR) {
        p->stuck = true;
        p->error = err;
        if (t->first < p->failed) p->failed = t->first;
    }
    t->n = 0;
    p->active--;
    base_worker_report_done(&p->worker);
}

/* ---- when to start ---- */

static bool can_acquire(const struct burst_pool *p)
{
    return !p->paused && !p->stuck && is_more(p);
}

/* Puts come in bursts, and a thread that copied at the same time would slow them down. So
 * this function waits until no put has occurred for the delay set by the hint, but at
 * most TOO_LONG delays. It does not wait if the program itself has started the drain. */
static void wait_for_quiet(struct burst_pool *p)
{
    enum { LONGEST = 3600000, TOO_LONG = 50 };
    int64_t delay = p->b->base.ds->hints.burst_delay, serial;
    delay = (delay < LONGEST ? delay : LONGEST) * 1000;
    if (p->until != INT64_MAX) delay = 0;
    const int64_t since = base_now(CLOCK_MONOTONIC);
    p->waiting = true;
    do {
        serial = p->b->list.serial;
        if (delay > 0) base_worker_sleep(&p->worker, delay);
    } while (!p->worker.stop && !p->ready && can_acquire(p) &&
             (p->b->logging.putting || p->b->list.serial != serial) &&
             microseconds(since) < TOO_LONG * delay);
    p->waiting = false;
    p->ready = can_acquire(p);
}

/* Acquires work once it is time to start. Returns false if there is none. */
static bool get_work(struct burst_pool *p, struct job *t)
{
    while (can_acquire(p) && !p->ready && !p->waiting && !p->worker.stop)
        wait_for_quiet(p);
    if (p->worker.stop) return false;
    bool any = can_acquire(p), acquired = any && p->ready && next_writes(p, t);
    p->ready = acquired && is_more(p);
    p->wanted = !p->ready;
    if (p->ready) base_worker_wake(&p->worker); /* another thread can acquire the rest */
    return acquired;
}

static bool drain_next(void *of)
{
    struct job *t = of;
    struct burst_pool *p = t->pool;
    if (!get_work(p, t)) return false;
    p->active++;
    while (must_wait(p, t))
        base_worker_wait(&p->worker);
    base_worker_unlock(&p->worker);
    const int64_t since = base_now(CLOCK_MONOTONIC);
    burst_begin_change(&p->b->file);
    struct trace_span span = trace_begin(p->b->base.ds->trace);
    int err = write_job(t);
    trace_end(p->b->base.ds->trace, TRACE_DRAIN, span);
    burst_end_change(&p->b->file, true);
    int64_t spent = microseconds(since);
    base_worker_lock(&p->worker);
    p->hidden_us += spent;
    finish_work(p, t, err);
    return true;
}

/* Adds the threads' work to the statistics. Only the program's own thread calls this.
 * Caller must hold the lock. */
static void add_to_stats(struct burst_pool *p)
{
    struct trace_stats *stats = &p->b->base.ds->stats;
    stats->burst_drained_bytes += p->drained;
    stats->burst_hidden_us += p->hidden_us;
    p->drained = p->hidden_us = 0;
    burst_update_waiting(stats);
    if (p->wrote) p->b->commit.dirty = p->b->commit.threads_dirty = true;
    p->wrote = false;
}

/* ---- starting and stopping ---- */

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
    p->buffer_size = burst_memory(b) / nthreads;
    if (p->buffer_size < LEAST) p->buffer_size = LEAST;
    if (p->buffer_size > MOST) p->buffer_size = MOST;
    if (p->nthreads == nthreads) return p;
    free_pool(p);
    return NULL;
}

/* Threads write only to the dataset's file, not to subfiles. romio_no_indep_rw does not
 * affect them, because one process of each node opens the file without MPI-IO anyway, to
 * identify the file in its log. */
bool burst_pool_can_write(const struct burst *b)
{
    return burst_file_coherent(&b->file) && b->base.ds->base == 0 && !b->base.ds->netcdf4;
}

/* Starts threads that may acquire the writes up to serial `until`. */
static void start_pool(struct burst *b, int64_t until)
{
    enum { MOST = 64 };
    const struct hints *hints = &b->base.ds->hints;
    int64_t nthreads = hints->burst_threads < MOST ? hints->burst_threads : MOST;
    if (!burst_pool_can_write(b)) return;
    struct burst_pool *p = new_pool(b, (int)nthreads);
    if (p == NULL) return;
    p->until = until;
    base_worker_init(&p->worker);
    int n = 0;
    while (n < nthreads && base_worker_start(&p->worker, drain_next, &p->works[n]))
        n++;
    b->drain.pool = p;
    if (n == 0) burst_pool_stop(b);
}

void burst_pool_start(struct burst *b)
{
    if (b->base.ds->hints.burst_flush == HINTS_FLUSH_IMMEDIATE) start_pool(b, INT64_MAX);
}

bool burst_pool_ready(struct burst *b)
{
    if (b->drain.pool == NULL) start_pool(b, 0);
    return b->drain.pool != NULL;
}

bool burst_pool_begin(struct burst *b)
{
    struct burst_pool *p = burst_pool_ready(b) ? b->drain.pool : NULL;
    if (p == NULL) return false;
    base_worker_lock(&p->worker);
    if (p->stuck) { /* let the threads retry failed writes and those after them */
        base_worker_unlock(&p->worker);
        burst_pool_pause(p);
        burst_pool_resume(p);
        base_worker_lock(&p->worker);
        p->stuck = false;
    }
    if (p->until != INT64_MAX) p->until = b->list.serial;
    p->ready = is_more(p);
    base_worker_wake_all(&p->worker);
    base_worker_unlock(&p->worker);
    return true;
}

/* Returns whether writes up to a serial are in the file. Caller must hold the lock. */
static bool is_written(const struct burst *b, int64_t serial)
{
    for (int64_t i = 0; i < b->list.n && b->list.writes[i]->serial <= serial; i++)
        if (!b->list.writes[i]->written && !b->list.writes[i]->cancelled) return false;
    return true;
}

/* Returns whether no thread is writing, or will write, any write up to a serial. Unlike
 * is_written, it does not search the list. */
static bool is_past(const struct burst_pool *p, int64_t serial)
{
    if (is_more(p) && p->b->list.writes[p->next]->serial <= serial) return false;
    for (int i = 0; i < p->nthreads; i++)
        if (p->works[i].n > 0 && p->works[i].writes[0]->serial <= serial) return false;
    return true;
}

int burst_pool_test(struct burst *b, int64_t serial, bool *written)
{
    struct burst_pool *p = b->drain.pool;
    if (p == NULL) {
        *written = is_written(b, serial);
        return NC_NOERR;
    }
    int err = NC_NOERR;
    base_worker_lock(&p->worker);
    add_to_stats(p);
    *written = p->stuck ? is_written(b, serial) : is_past(p, serial);
    if (!*written && p->stuck && p->active == 0) err = p->error;
    base_worker_unlock(&p->worker);
    return err;
}

void burst_pool_stop(struct burst *b)
{
    struct burst_pool *p = b->drain.pool;
    if (p == NULL) return;
    base_worker_stop(&p->worker);
    add_to_stats(p);
    free_pool(p);
    b->drain.pool = NULL;
}

void burst_pool_report(struct burst_pool *p)
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
    /* Writes that follow a failed one must be written again after it. */
    for (int64_t i = p->failed; i < p->b->list.n; i++)
        burst_mark_unwritten(p->b, p->b->list.writes[i]);
    p->failed = INT64_MAX;
    add_to_stats(p);
    base_worker_unlock(&p->worker);
}

void burst_pool_resume(struct burst_pool *p)
{
    if (p == NULL) return;
    base_worker_lock(&p->worker);
    (void)base_holds(p->paused > 0);
    p->paused--;
    p->next = 0;
    if (p->b->list.n == 0) p->stuck = false; /* no failed write remains */
    base_worker_wake_all(&p->worker);
    base_worker_unlock(&p->worker);
}

/* ---- the caller's side ---- */

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
