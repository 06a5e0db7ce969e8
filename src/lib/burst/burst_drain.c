/* Draining: all processes together, in rounds of batches that fit the memory that may be
 * taken; or what one process has logged, alone. */
#include "base_error.h"
#include "base_mem.h"
#include "burst.h"

/* What the processes find out before they drain. */
struct plan {
    int64_t waiting;  /* writes that are not in the file, of the process with most */
    int64_t logged;   /* those that are known at all */
    int64_t from, to; /* epochs */
    int64_t batches;
    int error;
};

static void survey(const struct burst *b, uint64_t vars, struct plan *p)
{
    *p = (struct plan){.from = INT64_MAX, .to = -1};
    for (int64_t i = 0; i < b->nwrites; i++) {
        const struct burst_write *w = b->writes[i];
        if (!(vars & burst_bit(w->varid))) continue;
        p->logged++;
        p->waiting += !w->written;
        if (w->epoch < p->from) p->from = w->epoch;
        if (w->epoch > p->to) p->to = w->epoch;
    }
}

static int agree_on_plan_all(struct burst *b, uint64_t vars, bool chosen, struct plan *p,
                             int *failed)
{
    struct burst_walk k;
    survey(b, vars, p);
    burst_walk_start(&k, b, vars);
    k.chosen = chosen;
    p->batches = burst_walk_batches(&k);
    int64_t all[5] = {p->waiting, p->logged, -p->from, p->to, p->batches};
    int err = dataset_agree_all(b->base.ds, NC_NOERR, failed, all, 5);
    *p = (struct plan){all[0], all[1], -all[2], all[3], all[4], err};
    return err;
}

/* Rounds of batches, of all processes together. */
static int drain_rounds_all(struct burst_walk *k, int64_t batches)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < batches; i++) {
        int err = burst_walk_put_all(k);
        if (first == NC_NOERR) first = err;
        if (k->b->progress != NULL) k->b->progress(k->b, i + 1, batches);
    }
    return first;
}

/* How many rounds the walk takes of the process that needs most. */
static int agree_on_rounds_all(struct burst_walk *k, int64_t *batches)
{
    *batches = burst_walk_batches(k);
    return dataset_agree_all(k->b->base.ds, NC_NOERR, NULL, batches, 1);
}

/* The next epoch after `epoch` in which any process has a write of a contested variable.
 */
static int next_epoch_all(struct burst *b, const unsigned char *contested, uint64_t vars,
                          int64_t *epoch)
{
    int64_t next = INT64_MAX;
    for (int64_t i = 0; i < b->nwrites; i++) {
        const struct burst_write *w = b->writes[i];
        if ((vars & burst_bit(w->varid)) && contested[w->varid] && w->epoch > *epoch &&
            w->epoch < next)
            next = w->epoch;
    }
    next = -next;
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &next, 1);
    *epoch = -next;
    return err;
}

/* Contested variables: everything that is known, written before or not, one epoch after
 * the other. */
static int drain_in_order_all(struct burst *b, uint64_t vars,
                              const unsigned char *contested)
{
    int64_t epoch = -1, batches;
    int first = NC_NOERR, err;
    while ((err = next_epoch_all(b, contested, vars, &epoch)) == NC_NOERR &&
           epoch != INT64_MAX) {
        struct burst_walk k;
        burst_walk_start(&k, b, vars);
        k.contested = contested;
        k.want_contested = k.again = true;
        k.epoch = epoch;
        err = agree_on_rounds_all(&k, &batches);
        if (err != NC_NOERR) return err;
        err = drain_rounds_all(&k, batches);
        if (first == NC_NOERR) first = err;
    }
    return err != NC_NOERR ? err : first;
}

static int drain_the_rest_all(struct burst *b, uint64_t vars, bool chosen,
                              const unsigned char *contested, int64_t batches)
{
    struct burst_walk k;
    burst_walk_start(&k, b, vars);
    k.contested = contested;
    k.chosen = chosen;
    int err = contested == NULL ? NC_NOERR : agree_on_rounds_all(&k, &batches);
    return err == NC_NOERR ? drain_rounds_all(&k, batches) : err;
}

/* Are there writes that failed? */
static int own_result(struct burst *b, int err)
{
    int failed = burst_walk_report(b);
    return failed != NC_NOERR ? failed : err;
}

/* Where writes are late (file_late.c) an error says no more than that some did not get
 * there. They are put again, but for those that never may be: see burst_retire.c. */
static void doubt(struct burst *b)
{
    for (int64_t i = 0; i < b->nwrites; i++)
        if (!b->writes[i]->alone) burst_unwrite(b, b->writes[i]);
    burst_note_waiting(&b->base.ds->stats);
}

/* What is logged, on any process. An error on all, or on none. */
static int drain_logged_all(struct burst *b, uint64_t vars, bool chosen,
                            const struct plan *p)
{
    unsigned char *contested = NULL;
    int told, err = NC_NOERR;
    burst_change(b);
    if (p->from < p->to && b->base.ds->nprocs > 1)
        err = burst_contested_all(b, vars, &contested);
    if (err == NC_NOERR && p->waiting > 0)
        err = drain_the_rest_all(b, vars, chosen, contested, p->batches);
    if (contested != NULL) {
        int ordered = drain_in_order_all(b, vars, contested);
        if (err == NC_NOERR) err = ordered;
    }
    base_free(contested);
    int whole = burst_whole_all(b);
    if (err == NC_NOERR) err = whole;
    /* Known everywhere: nobody goes on while another still writes. */
    err = dataset_concur_all(b->base.ds, own_result(b, err), &told, NULL, 0);
    if (err == NC_NOERR) err = told;
    if (err == NC_NOERR)
        burst_forget(b, vars);
    else
        doubt(b);
    burst_changed(b, b->base.ds->rank == 0);
    return err;
}

static int drain_all(struct burst *b, uint64_t vars, bool chosen)
{
    struct plan p;
    int failed;
    struct trace_span span = trace_begin(b->base.ds->trace);
    burst_pool_pause(b->pool);
    burst_walk_forgive(b);
    int err = agree_on_plan_all(b, vars, chosen, &p, &failed);
    if (err == NC_NOERR && p.logged > 0) err = drain_logged_all(b, vars, chosen, &p);
    burst_pool_go_on(b->pool);
    trace_end(b->base.ds->trace, TRACE_DRAIN, span);
    return err != NC_NOERR ? err : failed;
}

int burst_drain_all(struct burst *b, uint64_t vars)
{
    return drain_all(b, vars, false);
}

int burst_drain_chosen_all(struct burst *b, uint64_t vars)
{
    return drain_all(b, vars, true);
}

static bool touches(const struct burst_write *w, int64_t low, int64_t high)
{
    return w->low < high && w->high > low;
}

/* All of a walk, by this process alone. The threads are paused. */
static int walk_alone(struct burst_walk *k)
{
    int first = NC_NOERR;
    burst_walk_forgive(k->b);
    burst_change(k->b);
    while (!burst_walk_ended(k)) {
        int err = burst_walk_put(k);
        if (first == NC_NOERR) first = err;
    }
    int whole = burst_whole(k->b);
    if (whole != NC_NOERR) doubt(k->b);
    if (first == NC_NOERR) first = whole;
    burst_changed(k->b, true);
    return own_result(k->b, first);
}

int burst_drain_alone(struct burst *b, int64_t low, int64_t high)
{
    struct burst_walk k;
    burst_pool_pause(b->pool);
    burst_walk_start(&k, b, BURST_ALL);
    while (k.end > 0 && !touches(b->writes[k.end - 1], low, high))
        k.end--;
    int err = walk_alone(&k);
    burst_pool_go_on(b->pool);
    return err;
}

int burst_drain_chosen_alone(struct burst *b)
{
    struct burst_walk k;
    burst_pool_pause(b->pool);
    burst_walk_start(&k, b, BURST_ALL);
    k.chosen = true;
    int err = walk_alone(&k);
    burst_pool_go_on(b->pool);
    return err;
}
