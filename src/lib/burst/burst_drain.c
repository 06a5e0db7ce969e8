/* Drains the log. Before a collective drain, the processes agree on what must be drained.
 * A variable is contested if writes of different epochs by several processes may overlap
 * in it (burst_conflicts.c). Uncontested variables are drained first, in rounds of one
 * batch per process. Contested ones follow, epoch by epoch, so that the later call takes
 * precedence; this includes writes that a thread has already written. An independent
 * drain writes this process's log in order. Failed writes stay listed. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "burst.h"
#include "burst_reader.h"
#include "burst_pool.h"

/* ---- failed writes ---- */

/* Clears the results of earlier attempts. */
static void clear_status(struct burst *b)
{
    for (int64_t i = 0; i < b->list.n; i++)
        b->list.writes[i]->status = NC_NOERR;
}

static void describe_region(const struct burst *b, const struct burst_write *w,
                            char *text, size_t size)
{
    const struct cdf_var *v = &b->base.ds->header.vars[w->varid];
    int n = snprintf(text, size, "'%s'", v->name);
    for (int i = 0; !(w->flags & BURST_RAW) && i < v->ndims && n < (int)size; i++)
        n += snprintf(text + n, size - (size_t)n, "%s%lld+%lld%s", i == 0 ? "[" : ",",
                      (long long)w->slab[i], (long long)w->slab[v->ndims + i],
                      i == v->ndims - 1 ? "]" : "");
    if ((w->flags & BURST_RAW) && n < (int)size)
        snprintf(text + n, size - (size_t)n, "[bytes %lld to %lld of the file]",
                 (long long)w->low, (long long)w->high - 1);
}

/* Reports all of this process's writes that have failed since clear_status, and marks
 * them and all later ones as not written. Returns the first error, or `err`. */
static int report_failed(struct burst *b, int err)
{
    const char *log = b->log.meta_fd >= 0       ? b->log.meta_path
                      : b->recover.nchecked > 0 ? burst_reader_path(b->recover.checked[0])
                                                : "gone";
    char names[600] = "", what[400], line[800], more[80] = "", why[300];
    size_t used = 0;
    long long all = 0, named = 0; /* `named` counts those that fit into the message */
    int first = NC_NOERR;
    for (int64_t i = 0; i < b->list.n; i++) {
        struct burst_write *w = b->list.writes[i];
        if (first == NC_NOERR) first = w->status;
        if (first != NC_NOERR)
            burst_mark_unwritten(b, w); /* it must come after the write that failed */
        if (w->status == NC_NOERR) continue;
        describe_region(b, w, what, sizeof what);
        if (all++ == named && used + strlen(what) + 2 <= sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? " " : "", what);
            named++;
        }
        if (b->base.ds->hints.report <= HINTS_REPORT_NONE) continue;
        snprintf(line, sizeof line, "not written to the file: %s (%s); the log is %s",
                 what, base_error_name(w->status), log);
        trace_stats_add_line(b->base.ds, line);
    }
    if (first == NC_NOERR) return err;
    burst_update_waiting(&b->base.ds->stats);
    if (all > named)
        snprintf(more, sizeof more, " and %lld more, which nc_report lists", all - named);
    snprintf(why, sizeof why, "%s", base_error_detail(first));
    return base_error_set(
        first,
        "%lld logged writes could not be written to the file: %s%s; the log is %s%s%s",
        all, names, more, log, *why == '\0' ? "" : "; the first error: ", why);
}

/* On a file system with delayed writes (file_coherence.c), an error does not show which
 * writes were lost. Repeats all except those put in independent mode (burst_commit.c). */
static void mark_all_unwritten(struct burst *b)
{
    for (int64_t i = 0; i < b->list.n; i++)
        if (!b->list.writes[i]->alone) burst_mark_unwritten(b, b->list.writes[i]);
    burst_update_waiting(&b->base.ds->stats);
}

/* ---- collective drains ---- */

/* The agreed plan of a drain: maxima, except that `from` is a minimum. */
struct plan {
    int64_t waiting;  /* number of writes that are not in the file */
    int64_t logged;   /* number of listed writes */
    int64_t from, to; /* first and last epoch */
    int64_t batches;
};

static int agree_on_plan_all(struct burst *b, uint64_t vars, bool chosen, struct plan *p,
                             int *failed)
{
    struct burst_walk k;
    *p = (struct plan){.from = INT64_MAX, .to = -1};
    for (int64_t i = 0; i < b->list.n; i++) {
        const struct burst_write *w = b->list.writes[i];
        if (!(vars & burst_bit(w->varid))) continue;
        p->logged++;
        p->waiting += !w->written;
        if (w->epoch < p->from) p->from = w->epoch;
        if (w->epoch > p->to) p->to = w->epoch;
    }
    burst_walk_start(&k, b, vars);
    k.chosen = chosen;
    int64_t all[5] = {p->waiting, p->logged, -p->from, p->to, burst_walk_batches(&k)};
    int err = dataset_agree_all(b->base.ds, NC_NOERR, failed, all, 5);
    *p = (struct plan){all[0], all[1], -all[2], all[3], all[4]};
    return err;
}

/* Puts this number of batches on all processes together. Returns the first error. */
static int drain_rounds_all(struct burst_walk *k, int64_t batches)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < batches; i++) {
        int err = burst_walk_put_all(k);
        if (first == NC_NOERR) first = err;
        if (k->b->drain.progress != NULL) k->b->drain.progress(k->b, i + 1, batches);
    }
    bool ended = burst_walk_ended(k);
    return first != NC_NOERR ? first : base_holds(ended);
}

/* Sets *batches to the largest number of batches that any process needs. */
static int agree_on_rounds_all(struct burst_walk *k, int64_t *batches)
{
    *batches = burst_walk_batches(k);
    return dataset_agree_all(k->b->base.ds, NC_NOERR, NULL, batches, 1);
}

/* Sets *epoch to the next epoch in which any process wrote to a contested variable. */
static int next_epoch_all(struct burst *b, const unsigned char *contested, uint64_t vars,
                          int64_t *epoch)
{
    int64_t next = INT64_MAX;
    for (int64_t i = 0; i < b->list.n; i++) {
        const struct burst_write *w = b->list.writes[i];
        if ((vars & burst_bit(w->varid)) && contested[w->varid] && w->epoch > *epoch &&
            w->epoch < next)
            next = w->epoch;
    }
    next = -next;
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &next, 1);
    *epoch = -next;
    return err;
}

/* Writes contested variables epoch by epoch, including values already in the file. */
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

static int drain_uncontested_all(struct burst *b, uint64_t vars, bool chosen,
                                 const unsigned char *contested, int64_t batches)
{
    struct burst_walk k;
    burst_walk_start(&k, b, vars);
    k.contested = contested;
    k.chosen = chosen;
    int err = contested == NULL ? NC_NOERR : agree_on_rounds_all(&k, &batches);
    return err == NC_NOERR ? drain_rounds_all(&k, batches) : err;
}

/* Drains what the processes have logged. Returns an error on all processes or on none. */
static int drain_logged_all(struct burst *b, uint64_t vars, bool chosen,
                            const struct plan *p)
{
    unsigned char *contested = NULL;
    int failed, err = NC_NOERR;
    burst_begin_change(&b->file);
    if (p->from < p->to && b->base.ds->nprocs > 1)
        err = burst_contested_all(b, vars, &contested);
    if (err == NC_NOERR && p->waiting > 0)
        err = drain_uncontested_all(b, vars, chosen, contested, p->batches);
    if (contested != NULL) {
        int ordered = drain_in_order_all(b, vars, contested);
        if (err == NC_NOERR) err = ordered;
    }
    base_free(contested);
    int flushed = burst_flush_change_all(&b->file, b->base.lower);
    if (err == NC_NOERR) err = flushed;
    /* All processes must know the result before any continues: others may still be
     * writing. */
    err = dataset_concur_all(b->base.ds, report_failed(b, err), &failed, NULL, 0);
    if (err == NC_NOERR) err = failed;
    if (err == NC_NOERR)
        burst_list_remove(&b->list, vars);
    else
        mark_all_unwritten(b);
    burst_end_change(&b->file, b->base.ds->rank == 0);
    return err;
}

int burst_drain_all(struct burst *b, uint64_t vars, bool chosen)
{
    struct plan p;
    int failed;
    struct trace_span span = trace_begin(b->base.ds->trace);
    burst_pool_pause(b->drain.pool);
    clear_status(b);
    int err = agree_on_plan_all(b, vars, chosen, &p, &failed);
    if (err == NC_NOERR && p.logged > 0) err = drain_logged_all(b, vars, chosen, &p);
    burst_pool_resume(b->drain.pool);
    trace_end(b->base.ds->trace, TRACE_DRAIN, span);
    return err != NC_NOERR ? err : failed;
}

/* ---- independent drains ---- */

/* Writes everything that the walk selects, then resumes the paused threads. Local. */
static int drain_walk(struct burst_walk *k)
{
    struct burst *b = k->b;
    int first = NC_NOERR;
    clear_status(b);
    burst_begin_change(&b->file);
    while (!burst_walk_ended(k)) {
        int err = burst_walk_put(k);
        if (first == NC_NOERR) first = err;
    }
    int flushed = burst_flush_change(&b->file, b->base.lower);
    if (flushed != NC_NOERR) mark_all_unwritten(b);
    if (first == NC_NOERR) first = flushed;
    burst_end_change(&b->file, true);
    first = report_failed(b, first);
    burst_pool_resume(b->drain.pool);
    return first;
}

int burst_drain_alone(struct burst *b, int64_t low, int64_t high)
{
    struct burst_walk k;
    burst_pool_pause(b->drain.pool);
    burst_walk_start(&k, b, BURST_ALL);
    for (; k.end > 0; k.end--) {
        const struct burst_write *w = b->list.writes[k.end - 1];
        if (w->low < high && w->high > low) break;
    }
    return drain_walk(&k);
}

int burst_drain_chosen_alone(struct burst *b)
{
    struct burst_walk k;
    burst_pool_pause(b->drain.pool);
    burst_walk_start(&k, b, BURST_ALL);
    k.chosen = true;
    return drain_walk(&k);
}
