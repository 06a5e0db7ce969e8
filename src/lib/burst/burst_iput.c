/* Nonblocking puts that are logged when they are posted. A wait drains its requests and
 * those earlier writes that they overlap. A cancel removes writes that are not in the
 * file yet. A request's ticket is the lower half of its write's serial. A write that is
 * no longer listed is in the file. */
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"
#include "burst_pool.h"

void burst_iput(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    if (self->ds->hints.burst_log_at != HINTS_LOG_AT_POST) return;
    double since = MPI_Wtime();
    int64_t serial = b->list.serial, logged = 0;
    if (b->logging.unlogged == 0) logged = burst_log_requests(b, reqs, n);
    for (int64_t i = 0; i < logged; i++)
        access_set_ticket(reqs[i], (uint32_t)(serial = burst_next_serial(serial)));
    (void)base_holds(logged < n || serial == b->list.serial); /* one write per request */
    b->logging.unlogged += n - logged;
    burst_add_time(b, since);
}

/* ---- waiting ---- */

/* Collects the requests without a ticket, which the wait puts like ordinary requests.
 * Until then, later posts are not logged either, to preserve the order. NC_ENOMEM. */
static int find_unlogged(struct burst *b, struct access_request *const *reqs, int64_t n,
                         struct access_request ***unlogged, int64_t *count)
{
    *count = 0;
    *unlogged = base_malloc((size_t)n * sizeof(struct access_request *));
    for (int64_t i = 0; i < n; i++) {
        if (reqs[i]->has_ticket) continue;
        b->logging.unlogged--;
        if (*unlogged != NULL)
            (*unlogged)[(*count)++] = reqs[i];
        else
            reqs[i]->status = NC_ENOMEM;
    }
    return *unlogged == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Chooses the writes of these requests, all writes after serial `before`, and earlier
 * writes that overlap a chosen one and so must be drained first. Returns the variables of
 * the chosen writes. Bounds are stored per bit of these, so it may choose too many. */
static uint64_t choose_writes(struct burst *b, struct access_request *const *reqs,
                              int64_t n, int64_t before)
{
    int64_t low[64], high[64];
    uint64_t vars = 0;
    for (int64_t i = 0; i < b->list.n; i++)
        b->list.writes[i]->chosen = b->list.writes[i]->serial > before;
    for (int64_t i = 0; i < n; i++) {
        struct burst_write *w = burst_list_get(&b->list, access_ticket(reqs[i]));
        if (w != NULL) w->chosen = true;
    }
    for (int i = 0; i < 64; i++)
        low[i] = INT64_MAX, high[i] = INT64_MIN;
    for (int64_t i = b->list.n - 1; i >= 0; i--) {
        struct burst_write *w = b->list.writes[i];
        int bit = w->varid % 64;
        if (w->low < high[bit] && w->high > low[bit]) w->chosen = true;
        if (!w->chosen) continue;
        if (w->low < low[bit]) low[bit] = w->low;
        if (w->high > high[bit]) high[bit] = w->high;
        vars |= burst_bit(w->varid);
    }
    return vars;
}

/* Ends a wait whose drain returned `err`. Stores errors of failed writes in requests. */
static int end_wait(struct burst *b, struct access_request *const *reqs, int64_t n,
                    double since, int err)
{
    for (int64_t i = 0; i < n; i++) {
        const struct burst_write *w = burst_list_get(&b->list, access_ticket(reqs[i]));
        if (w != NULL && w->status != NC_NOERR) reqs[i]->status = (short)w->status;
    }
    burst_add_time(b, since);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        err = reqs[i]->status;
    return err;
}

int burst_wait_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error)
{
    struct burst *b = (struct burst *)self;
    struct access_request **unlogged;
    int64_t count, before = b->list.serial;
    if (self->ds->hints.burst_log_at != HINTS_LOG_AT_POST)
        return burst_put_all(self, reqs, n, error);
    int found = find_unlogged(b, reqs, n, &unlogged, &count);
    error = burst_put_all(self, unlogged, count, error != NC_NOERR ? error : found);
    base_free(unlogged);
    double since = MPI_Wtime();
    uint64_t vars = choose_writes(b, reqs, n, before);
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, &vars, 1, MPI_UINT64_T, MPI_BOR, self->ds->comm);
    int err = base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
    if (err == NC_NOERR) err = burst_drain_all(b, vars, true);
    return end_wait(b, reqs, n, since, error != NC_NOERR ? error : err);
}

int burst_wait(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    struct access_request **unlogged;
    int64_t count, before = b->list.serial;
    if (self->ds->hints.burst_log_at != HINTS_LOG_AT_POST)
        return burst_put(self, reqs, n);
    int error = find_unlogged(b, reqs, n, &unlogged, &count);
    if (count > 0) error = burst_put(self, unlogged, count);
    base_free(unlogged);
    double since = MPI_Wtime();
    (void)choose_writes(b, reqs, n, before);
    int err = burst_drain_chosen_alone(b), retired = burst_commit(b);
    if (err == NC_NOERR) err = retired;
    return end_wait(b, reqs, n, since, error != NC_NOERR ? error : err);
}

/* ---- cancelling ---- */

static int cancel_ticket(struct burst *b, uint32_t ticket)
{
    struct burst_write *w = burst_list_get(&b->list, ticket);
    if (w == NULL || w->written) return NC_EFLUSHED;
    /* After a failed commit the entry may be struck already. */
    int err = w->seq < 0 ? NC_NOERR : burst_log_strike(&b->log, w->sum_at);
    if (err != NC_NOERR)
        return base_error_set(NC_EFLUSHED, "the entry in the log cannot be removed");
    w->cancelled = true;
    b->base.ds->stats.burst_cancelled_bytes += burst_bytes(w);
    return NC_NOERR;
}

void burst_cancel(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    if (self->ds->hints.burst_log_at != HINTS_LOG_AT_POST) return;
    burst_pool_pause(b->drain.pool);
    for (int64_t i = 0; i < n; i++)
        if (reqs[i]->has_ticket)
            reqs[i]->status = (short)cancel_ticket(b, access_ticket(reqs[i]));
        else
            b->logging.unlogged--;
    burst_list_remove(&b->list, 0);
    burst_update_waiting(&self->ds->stats);
    burst_pool_resume(b->drain.pool);
}
