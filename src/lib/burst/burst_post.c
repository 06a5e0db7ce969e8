/* Nonblocking puts that are logged when they are posted. Waiting for some brings those to
 * the file, and no others but what has to be there before them; cancelling takes back
 * what has not got there. A request's ticket is its write's serial number: a write that
 * is found no more is in the file. */
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"

void burst_post(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    if (self->ds->hints.burst_log_at != BASE_LOG_AT_POST) return;
    double since = MPI_Wtime();
    int64_t serial = b->serial, through = 0;
    if (b->unlogged == 0) through = burst_log_requests(b, reqs, n);
    for (int64_t i = 0; i < through; i++)
        access_set_ticket(reqs[i], (uint32_t)(serial = burst_next_serial(serial)));
    b->unlogged += n - through;
    burst_note_time(b, since);
}

/* Requests end. One without a ticket is logged when it is waited for: while there are
 * any, nothing that is posted later may be in the log before them. */
static void end_unlogged(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        b->unlogged -= !reqs[i]->taken;
}

/* ---- choosing ---- */

/* Those without a ticket, which are put as any others: *many. NC_ENOMEM. */
static int find_others(struct access_request *const *reqs, int64_t n,
                       struct access_request ***others, int64_t *many)
{
    *many = 0;
    *others = base_malloc((size_t)n * sizeof(struct access_request *));
    for (int64_t i = 0; i < n; i++)
        if (!reqs[i]->taken && *others != NULL)
            (*others)[(*many)++] = reqs[i];
        else if (!reqs[i]->taken)
            reqs[i]->status = NC_ENOMEM;
    return *others == NULL ? NC_ENOMEM : NC_NOERR;
}

/* What comes before a chosen write in its place must be there first. Bounds of what is
 * chosen are kept by variables' bits: rather too much than too little. */
static uint64_t choose_earlier(struct burst *b)
{
    int64_t low[64], high[64];
    uint64_t vars = 0;
    for (int i = 0; i < 64; i++)
        low[i] = INT64_MAX, high[i] = INT64_MIN;
    for (int64_t i = b->nwrites - 1; i >= 0; i--) {
        struct burst_write *w = b->writes[i];
        int bit = w->varid % 64;
        if (w->low < high[bit] && w->high > low[bit]) w->chosen = true;
        if (!w->chosen) continue;
        if (w->low < low[bit]) low[bit] = w->low;
        if (w->high > high[bit]) high[bit] = w->high;
        vars |= burst_bit(w->varid);
    }
    return vars;
}

static uint64_t choose_vars(struct burst *b, struct access_request *const *reqs,
                            int64_t n, int64_t before)
{
    for (int64_t i = 0; i < b->nwrites; i++)
        b->writes[i]->chosen = b->writes[i]->serial > before;
    for (int64_t i = 0; i < n; i++) {
        struct burst_write *w = burst_find(b, access_ticket(reqs[i]));
        if (w != NULL) w->chosen = true;
    }
    return choose_earlier(b);
}

/* ---- waiting ---- */

static int drain_chosen_all(struct burst *b, uint64_t vars)
{
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, &vars, 1, MPI_UINT64_T, MPI_BOR, b->base.ds->comm);
    int err = base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
    return err != NC_NOERR ? err : burst_drain_chosen_all(b, vars);
}

/* Each request that did not get to the file says so. */
static void report_failures(const struct burst *b, struct access_request *const *reqs,
                            int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const struct burst_write *w = burst_find(b, access_ticket(reqs[i]));
        if (w != NULL && w->status != NC_NOERR) reqs[i]->status = (short)w->status;
    }
}

/* What a wait comes to, after the drain that ended with err. */
static int end_wait(struct burst *b, struct access_request *const *reqs, int64_t n,
                    double since, int err)
{
    report_failures(b, reqs, n);
    burst_note_time(b, since);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        err = reqs[i]->status;
    return err;
}

int burst_wait_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error)
{
    struct burst *b = (struct burst *)self;
    struct access_request **others;
    int64_t many, before = b->serial;
    if (self->ds->hints.burst_log_at != BASE_LOG_AT_POST)
        return burst_put_all(self, reqs, n, error);
    end_unlogged(b, reqs, n);
    int found = find_others(reqs, n, &others, &many);
    error = burst_put_all(self, others, many, error != NC_NOERR ? error : found);
    base_free(others);
    double since = MPI_Wtime();
    int err = drain_chosen_all(b, choose_vars(b, reqs, n, before));
    return end_wait(b, reqs, n, since, error != NC_NOERR ? error : err);
}

int burst_wait(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    struct access_request **others;
    int64_t many, before = b->serial;
    if (self->ds->hints.burst_log_at != BASE_LOG_AT_POST) return burst_put(self, reqs, n);
    end_unlogged(b, reqs, n);
    int error = find_others(reqs, n, &others, &many);
    if (many > 0) error = burst_put(self, others, many);
    base_free(others);
    double since = MPI_Wtime();
    (void)choose_vars(b, reqs, n, before);
    int err = burst_drain_chosen_alone(b), retired = burst_retire(b);
    if (err == NC_NOERR) err = retired;
    return end_wait(b, reqs, n, since, error != NC_NOERR ? error : err);
}

/* ---- cancelling ---- */

static int take_ticket_back(struct burst *b, uint32_t ticket)
{
    struct burst_write *w = burst_find(b, ticket);
    if (w == NULL || w->written) return NC_EFLUSHED;
    int err = burst_log_strike(&b->log, w->sum_at);
    if (err != NC_NOERR) return base_error_set(NC_EFLUSHED, "it cannot be taken back");
    w->cancelled = true;
    b->base.ds->stats.burst_cancelled_bytes += burst_bytes(w);
    return NC_NOERR;
}

void burst_cancel(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    if (self->ds->hints.burst_log_at != BASE_LOG_AT_POST) return;
    end_unlogged(b, reqs, n);
    burst_pool_pause(b->pool);
    for (int64_t i = 0; i < n; i++)
        if (reqs[i]->taken)
            reqs[i]->status = (short)take_ticket_back(b, access_ticket(reqs[i]));
    burst_forget(b, 0);
    burst_note_waiting(&self->ds->stats);
    burst_pool_go_on(b->pool);
}
