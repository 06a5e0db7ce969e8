/* A thread's writes to the file: the walk of any drain, through tiles as any put; but the
 * thread calls no MPI, and writes by a descriptor of the process's own. */
#include <time.h>

#include "access_tile.h"
#include "base_error.h"
#include "base_io.h"
#include "burst_pool.h"

/* Not faster than the hint allows, unless somebody waits. */
static void slow_down(const struct burst_pool *p, int64_t bytes)
{
    int64_t most = p->b->base.ds->hints.burst_bandwidth;
    if (most <= 0) return;
    int64_t nanoseconds = (int64_t)((double)bytes / (double)most * 1e9);
    const struct timespec step = {0, 10000000};
    for (; nanoseconds > 0 && !p->paused && !p->worker.stop; nanoseconds -= step.tv_nsec)
        nanosleep(&step, NULL);
}

/* Pieces from number i on that follow each other in the file: with one call. */
static int write_piece_chain(const struct burst_pool *p, const struct access_tile *t,
                             int64_t i, int64_t *next)
{
    enum { MOST = 1024 };
    struct iovec pieces[MOST];
    int n = 0;
    int64_t at = t->pieces[i].offset, end = at;
    while (i < t->npieces && n < MOST && t->pieces[i].offset == end) {
        const struct access_piece *q = &t->pieces[i++];
        pieces[n++] = (struct iovec){t->bytes + q->pos, (size_t)q->length};
        end += q->length;
    }
    *next = i;
    return base_write_pieces(p->b->file.fd, at, pieces, n, p->b->base.ds->path);
}

/* The next tile. What is out of range has been told to who put it. */
static int write_next_tile(const struct burst_pool *p, struct access_stream *s,
                           struct access_tile *t)
{
    enum { BYTES = 1 << 20, PIECES = 1 << 16 };
    access_tile_clear(t);
    int err = access_stream_plan(s, t, BYTES, PIECES);
    if (err == NC_NOERR) err = access_stream_settle(s, t);
    if (err == NC_NOERR) err = access_stream_pack(s, t);
    if (err == NC_ERANGE) err = NC_NOERR;
    for (int64_t i = 0; i < t->npieces && err == NC_NOERR;)
        err = write_piece_chain(p, t, i, &i);
    slow_down(p, t->used);
    return err;
}

static int write_batch(struct burst_work *t, const struct burst_batch *batch)
{
    int64_t most = 0, copied = 0; /* of no interest */
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

int burst_work_write(struct burst_work *t)
{
    struct burst_walk k = {.b = t->pool->b,
                           .header = &t->pool->header,
                           .writes = t->writes,
                           .vars = BURST_ALL,
                           .epoch = -1,
                           .end = t->n,
                           .limit = t->pool->room};
    int err = NC_NOERR;
    while (err == NC_NOERR && !burst_walk_ended(&k)) {
        struct burst_batch batch = {0};
        err = burst_batch_make(&k, &batch);
        if (err == NC_NOERR) err = write_batch(t, &batch);
        burst_batch_free(&batch);
    }
    return err;
}
