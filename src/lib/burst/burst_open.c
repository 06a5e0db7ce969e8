/* Implements the burst driver's operations other than put and get: create; open, which
 * replays the logs of killed jobs; redef and enddef; changes of mode; sync, flush and
 * close. An operation that needs the complete file drains the log before it calls the
 * layer below. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"
#include "burst_pool.h"

static bool burst_is_wanted(const struct dataset *ds, bool create)
{
    (void)create;
    return ds->hints.burst == HINTS_ENABLE;
}

void burst_detach_all(struct burst *b)
{
    burst_end_write_checks(b);
    burst_list_free(&b->list);
    burst_file_close(&b->file);
    node_release_all(b->node);
    base_free(b);
}

/* A file accepts one write at a time, so puts are faster if each process has its own log
 * (benchmarks/burst.md). But on a file system that nodes share, creating, syncing,
 * listing and removing two files per process loads the metadata server. So on such a file
 * system, though not on one local to the host, the processes of a node share a log if
 * there are more than FEW of them. */
enum { FEW = 8 };

static const struct driver_ops slots;

/* Adds the layer on all processes or on none. */
int burst_attach_all(struct dataset *ds, struct driver *lower, struct burst **out)
{
    struct burst *b = base_calloc(1, sizeof *b);
    int err = dataset_agree_all(ds, b == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err != NC_NOERR || b == NULL) {
        base_free(b);
        return err;
    }
    driver_stack(&b->base, &slots, lower, ds);
    b->base.prefers_merged_runs = false;
    /* In a netCDF-4 file, a get needs the records of all variables. So puts are not
     * logged until the wait. */
    if (ds->netcdf4) ds->hints.burst_log_at = HINTS_LOG_AT_WAIT;
    b->coherent = ds->hints.burst_coherent || ds->netcdf4;
    b->logging.memory = NODE_NO_MEMORY;
    b->file.ds = ds;
    b->file.log = &b->log;
    b->file.handle = FILE_NO_DESCRIPTOR;
    b->file.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    burst_log_init(&b->log);
    int found = burst_file_find_paths(&b->file);
    int64_t lacks;
    struct node *node = node_find_all(ds, &err, &lacks);
    bool shareable = !lacks && !(b->file.dir != NULL && base_fs_is_local(b->file.dir));
    int64_t all[2] = {lacks, shareable ? node->nprocs : 1};
    err = dataset_agree_all(ds, err == NC_NOERR ? found : err, NULL, all, 2);
    if (all[0]) node_abandon(ds);
    b->node = all[0] ? NULL : node;
    b->logging.shared =
        NODE_SHARED_64 && (ds->hints.burst_shared_logs == HINTS_ENABLE ||
                           (ds->hints.burst_shared_logs == HINTS_AUTO && all[1] > FEW));
    if (err != NC_NOERR) {
        burst_detach_all(b);
        return err;
    }
    burst_file_open_all(&b->file, b->node);
    burst_begin_write_checks(b);
    *out = b;
    return NC_NOERR;
}

static int create_all(struct dataset *ds, int cmode, struct driver *lower,
                      struct driver **self)
{
    struct burst *b = NULL;
    (void)cmode;
    int err = burst_attach_all(ds, lower, &b);
    if (err != NC_NOERR || b == NULL) return err;
    burst_remove_old_logs(b);
    *self = &b->base;
    return NC_NOERR;
}

static int open_burst_all(struct dataset *ds, int omode, struct driver *lower,
                          struct driver **self)
{
    struct burst *b = NULL;
    (void)omode;
    int err = burst_attach_all(ds, lower, &b);
    if (err != NC_NOERR || b == NULL) return err;
    b->commit.dirty = ds->writable; /* earlier openings may have written to it */
    err = burst_recover_all(b);
    if (err == NC_NOERR && ds->writable) err = burst_start_all(b);
    if (err != NC_NOERR)
        burst_detach_all(b);
    else
        *self = &b->base;
    return err;
}

/* Writes everything to the file. Then syncs the file if any process has written to it and
 * an earlier sync has promised that the values are safe. Agreed. */
static int complete_burst_all(struct burst *b)
{
    int err = burst_drain_all(b, BURST_ALL, false);
    if (err == NC_NOERR) err = burst_write_records_all(b);
    if (err != NC_NOERR || !b->commit.promised) return err;
    int64_t dirty = b->commit.dirty || b->commit.doubtful;
    err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &dirty, 1);
    return err == NC_NOERR && dirty ? burst_sync_drained_all(b) : err;
}

/* Completes the file unless it was deleted. `retain` is true if the log will not be
 * removed. Agreed. */
static int finish_drain_all(struct burst *b, bool retain)
{
    int err = b->base.ds->deleted ? NC_NOERR : complete_burst_all(b);
    if (err != NC_NOERR) return err;
    err = base_holds(b->list.n == 0 || b->base.ds->deleted);
    if (err == NC_NOERR && retain) {
        burst_log_drained(&b->log, b->log.commit.count);
        err = burst_log_write_head(&b->log);
    } else if (err == NC_NOERR) {
        /* The new generation shows that no log is needed, in whatever order they are
         * removed. This log is about to be removed, so errors do not matter. */
        bool used = b->log.used;
        burst_log_reset(&b->log);
        /* A log that reappears after a power cut must also have the new generation. */
        if (used) (void)burst_log_sync_head(&b->log);
    }
    return dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
}

/* Closes this layer and those below it. An error of this layer takes precedence. */
static int close_burst_all(struct driver *self, bool abort)
{
    struct burst *b = (struct burst *)self;
    struct driver *lower = self->lower;
    char text[1024];
    bool retain =
        self->ds->hints.burst_del_on_close == HINTS_DISABLE && !self->ds->deleted;
    int err = self->ds->writable ? finish_drain_all(b, retain) : NC_NOERR;
    snprintf(text, sizeof text, "%s", base_error_detail(err));
    burst_pool_stop(b);
    self->ds->logs_remain = err != NC_NOERR;
    burst_begin_change(&b->file); /* a retained log needs a note about the final file */
    int ended = driver_call(lower, close_all, abort);
    b->file.buffered &= ended != NC_NOERR;
    burst_end_change(&b->file, true);
    burst_end_all(b, retain || err != NC_NOERR);
    burst_detach_all(b);
    if (err != NC_NOERR) return base_error_set(err, "%s", text);
    return ended;
}

static int drain_and_restart_all(struct burst *b)
{
    b->epoch++;
    int err = b->base.ds->writable ? burst_drain_all(b, BURST_ALL, false) : NC_NOERR;
    return err == NC_NOERR && b->base.ds->writable ? burst_restart_all(b) : err;
}

/* Empties the log but does not remove it; burst_lifecycle.c explains why. */
static int redef_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = drain_and_restart_all(b);
    if (err != NC_NOERR) return err;
    burst_begin_collective_change(b);
    err = burst_end_change_all(b, driver_call(self->lower, redef_all));
    b->logging.active =
        false; /* if redef is not completed, puts bypass the log until the next flush */
    return err;
}

static int enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct burst *b = (struct burst *)self;
    burst_begin_collective_change(b);
    int err = burst_end_change_all(b, driver_call(self->lower, enddef_all, before));
    if (err != NC_NOERR) return err;
    b->commit.dirty = true;
    if (!b->logging.made) return burst_start_all(b);
    burst_resume(b);
    return NC_NOERR;
}

static int write_burst_header_all(struct driver *self)
{
    ((struct burst *)self)->commit.dirty = true;
    burst_begin_collective_change((struct burst *)self);
    return burst_end_change_all((struct burst *)self,
                                driver_call(self->lower, write_header_all));
}

static int begin_burst_indep_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = drain_and_restart_all(b);
    if (err == NC_NOERR) err = driver_call(self->lower, begin_indep_all);
    b->indep = err == NC_NOERR;
    b->epoch++;
    return err;
}

static int end_burst_indep_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    if (self->ds->writable) (void)burst_commit(b); /* on error it is retried later */
    b->indep = false;
    b->epoch++;
    burst_begin_collective_change(b);
    return burst_end_change_all(b, driver_call(b->base.lower, end_indep_all));
}

/* After a failed sync, checks the logged values of all writes in this process's log (see
 * burst_log_check). */
static void check_values(struct burst *b)
{
    for (int64_t i = 0; i < b->list.n; i++) {
        const struct burst_write *w = b->list.writes[i];
        bool waits = !w->cancelled && !w->written && w->source < 0 && w->seq >= 0;
        if (waits) burst_log_check(&b->log, w->data_off, burst_bytes(w), w->sum);
    }
}

/* In collective mode, gets consider all logs, so syncing the logs suffices, unless
 * e10_cache=coherent requests that values be in the file. In independent mode a process
 * reads only its own log, so values must be in the file. */
static int sync_burst_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int failed, err = NC_NOERR;
    if (!self->ds->writable) return driver_call(self->lower, sync_all);
    burst_pool_pause(
        b->drain.pool); /* updates the list with what the threads have written */
    burst_pool_resume(b->drain.pool);
    bool unlogged =
        !b->logging.active && burst_together(b); /* some values may be in no log */
    enum { DRAIN, SYNC_FILE, CHECK, NVALUES };
    bool to_file = b->indep || self->ds->hints.burst_coherent;
    int64_t need[NVALUES] = {to_file || unlogged, b->commit.dirty || !b->logging.active};
    if (b->logging.active && !to_file && burst_log_sync(&b->log) != NC_NOERR)
        need[DRAIN] = need[CHECK] = 1;
    if (!b->logging.active) err = burst_log_sync_head(&b->log);
    if (err == NC_NOERR && self->ds->rank == 0 && !b->commit.named) {
        err = base_sync_directory(b->file.path);
        b->commit.named = err == NC_NOERR;
    }
    err = dataset_agree_all(self->ds, err, &failed, need, NVALUES);
    if (err == NC_NOERR) err = failed;
    if (need[CHECK]) check_values(b);
    if (need[DRAIN]) {
        int drained = drain_and_restart_all(b);
        if (err == NC_NOERR) err = drained;
    }
    b->commit.promised = true;
    b->epoch++;
    int synced =
        need[DRAIN] || need[SYNC_FILE] ? burst_sync_all(b) : burst_write_records_all(b);
    if (need[DRAIN] || need[SYNC_FILE]) b->commit.dirty = synced != NC_NOERR;
    if (err == NC_NOERR && synced == NC_NOERR && b->logging.active && !need[DRAIN])
        burst_log_synced(&b->log);
    return dataset_concur_all(self->ds, err != NC_NOERR ? err : synced, NULL, NULL, 0);
}

static int flush_all(struct driver *self)
{
    int err = drain_and_restart_all((struct burst *)self);
    int flushed = driver_call(self->lower, flush_all);
    return err != NC_NOERR ? err : flushed;
}

/* Drains everything that this process has logged; in independent mode, retires it. */
static int drain_own(struct burst *b)
{
    int err = burst_drain_alone(b, 0, INT64_MAX), retired = burst_commit(b);
    return err != NC_NOERR ? err : retired;
}

/* Drains in the calling thread if draining threads cannot be started. Never waits for
 * other processes. */
static int flush_start(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    b->drain.requested = b->list.serial;
    if (b->list.n == 0) return driver_call(self->lower, background.flush_start);
    if (burst_pool_begin(b)) return NC_NOERR;
    if (burst_together(b))
        return base_error_set(
            NC_ENOTSUPPORT,
            "no thread can drain the log of this file; with romio_no_indep_rw, or if "
            "several processes write to a netCDF-4 file, only collective calls drain it");
    double since = MPI_Wtime();
    int err = drain_own(b);
    burst_add_time(b, since);
    return err;
}

static int flush_test(struct driver *self, bool *written)
{
    struct burst *b = (struct burst *)self;
    int err = burst_pool_test(b, b->drain.requested, written);
    bool any = b->list.n > 0 && b->list.writes[0]->serial <= b->drain.requested;
    if (err == NC_NOERR && *written && any) err = burst_commit(b);
    if (err == NC_NOERR) return NC_NOERR;
    return base_error_set(err, "draining in the background failed; the values remain in "
                               "the log, and the next flush or close tries again");
}

/* If there are subfiles, drains the log now, because threads cannot write to them. */
static void prepare_close_all(struct driver *self)
{
    int err = self->ds->base > 0 ? drain_and_restart_all((struct burst *)self) : NC_NOERR;
    if (err == NC_NOERR) driver_call(self->lower, background.prepare_close_all);
}

/* A close can be deferred if all puts are in the log and threads can drain it.
 * flush_start makes them do so. */
static enum driver_defer defer_burst(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    bool safe = b->logging.active && b->log.spill.fd < 0;
    if (!safe || driver_call(self->lower, background.defer) == DRIVER_NOW)
        return DRIVER_NOW;
    return b->list.n == 0 || burst_pool_ready(b) ? DRIVER_LATER : DRIVER_NOW;
}

static int inq_burst_info(struct driver *self, MPI_Info info)
{
    struct burst *b = (struct burst *)self;
    const struct dataset *ds = self->ds;
    burst_pool_report(b->drain.pool); /* the caller may read the statistics next */
    int err = driver_call(self->lower, inq_info, info);
    if (err != NC_NOERR || ds->hints.deferred_close != HINTS_ENABLE) return err;
    bool joined = ds->base > 0 && ds->hints.blob_join == HINTS_JOIN_BACKGROUND;
    bool may = ds->writable && (joined || burst_pool_can_write(b));
    return base_mpi_error(
        MPI_Info_set(info, "nc_deferred_close", may ? "enable" : "disable"), NC_EMPI,
        "MPI_Info_set");
}

/* Drains what this process has put in independent mode, so that other processes may then
 * put to the same bytes (see burst_commit.c). */
static int flush_alone(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = self->ds->writable ? drain_own(b) : NC_NOERR;
    return err == NC_NOERR ? burst_sync_committed(b) : err;
}

static int sync_burst_alone(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = self->ds->writable ? drain_own(b) : NC_NOERR;
    if (err == NC_NOERR) err = driver_call(self->lower, sync);
    return err == NC_NOERR ? burst_sync_committed(b) : err;
}

static const struct driver_ops slots = {
    .close_all = close_burst_all,
    .redef_all = redef_all,
    .enddef_all = enddef_all,
    .write_header_all = write_burst_header_all,
    .begin_indep_all = begin_burst_indep_all,
    .end_indep_all = end_burst_indep_all,
    .put_all = burst_put_all,
    .get_all = burst_get_all,
    .put = burst_put,
    .get = burst_get,
    .sync_all = sync_burst_all,
    .sync_numrecs_all = burst_sync_numrecs_all,
    .flush_all = flush_all,
    .inq_info = inq_burst_info,
    .sync = sync_burst_alone,
    .flush = flush_alone,
    .posting = {.post = burst_iput,
                .wait_all = burst_wait_all,
                .wait = burst_wait,
                .cancel = burst_cancel},
    .background = {.flush_start = flush_start,
                   .flush_test = flush_test,
                   .prepare_close_all = prepare_close_all,
                   .defer = defer_burst},
};

const struct driver_kind burst_driver = {
    .wanted = burst_is_wanted,
    .create_all = create_all,
    .open_all = open_burst_all,
};
