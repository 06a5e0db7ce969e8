/* Life of the layer, and its calls that are neither put nor get. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"

static bool burst_is_wanted(const struct dataset *ds, bool create)
{
    (void)create;
    return ds->hints.burst == BASE_ENABLE;
}

void burst_note_time(struct burst *b, double since)
{
    b->base.ds->stats.burst_visible_us += (int64_t)((MPI_Wtime() - since) * 1e6);
}

void burst_detach_all(struct burst *b)
{
    burst_unwatch_writes(b);
    base_arena_free(&b->arena);
    burst_forget_places(b);
    base_free(b->writes);
    burst_forget_file(b);
    node_release_all(b->node);
    base_free(b);
}

/* A file takes one write at a time, so processes put faster into logs of their own
 * (benchmarks/burst.md). On a file system that nodes share, however, making, syncing,
 * listing and removing two files for each process keeps its metadata server busy: there
 * more processes of a node than this write one log together. */
enum { FEW = 8 };

/* The number of processes that one log would serve, as far as it matters. */
static int64_t processes_to_share(const struct burst *b, const struct node *node)
{
    return b->dir != NULL && base_fs_of_host(b->dir) ? 1 : node->nprocs;
}

static const struct driver_ops slots;

/* A new layer; all or none have it. */
int burst_attach_all(struct dataset *ds, struct driver *lower, struct burst **out)
{
    struct burst *b = base_calloc(1, sizeof *b);
    int err = dataset_agree_all(ds, b == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    if (err != NC_NOERR || b == NULL) {
        base_free(b);
        return err;
    }
    driver_stack(&b->base, &slots, lower, ds);
    b->base.likes_runs = false;
    /* A netCDF-4 file is read when it has everything: records of any variable count. */
    if (ds->netcdf4) ds->hints.burst_log_at = BASE_LOG_AT_WAIT;
    b->coherent = ds->hints.burst_coherent || ds->netcdf4;
    b->memory = NODE_NO_MEMORY;
    b->file = FILE_NO_DESCRIPTOR;
    b->noting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    burst_log_init(&b->log);
    int found = burst_find_file(b);
    int64_t lacking;
    struct node *node = node_find_all(ds, &err, &lacking);
    int64_t all[2] = {lacking, lacking ? 1 : processes_to_share(b, node)};
    err = dataset_agree_all(ds, err == NC_NOERR ? found : err, NULL, all, 2);
    if (all[0]) node_lose(ds);
    b->node = all[0] ? NULL : node;
    b->shared =
        NODE_SHARED_64 && (ds->hints.burst_shared_logs == BASE_ENABLE ||
                           (ds->hints.burst_shared_logs == BASE_AUTO && all[1] > FEW));
    if (err != NC_NOERR) {
        burst_detach_all(b);
        return err;
    }
    burst_open_file_all(b);
    burst_watch_writes(b);
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
    burst_discard(b);
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
    b->file_dirty = ds->writable; /* by earlier openings, perhaps: see struct file */
    err = burst_recover_all(b);
    if (err == NC_NOERR && ds->writable) err = burst_begin_all(b);
    if (err != NC_NOERR)
        burst_detach_all(b);
    else
        *self = &b->base;
    return err;
}

/* Process 0 writes what there is once; with no independent access MPI-IO may have another
 * one do it, behind the call. */
static bool looks(const struct burst *b)
{
    return b->base.ds->rank == 0 || b->base.ds->hints.no_indep_rw;
}

/* Before a call of all that changes the file. Where what the layer below writes then goes
 * through MPI-IO, which may read, change and write back what lies between, no thread
 * writes meanwhile. */
void burst_change_below(struct burst *b)
{
    if (b->base.ds->hints.no_indep_rw) burst_pool_pause(b->pool);
    burst_change(b);
}

/* After it, with that result. */
int burst_changed_below_all(struct burst *b, int err)
{
    int whole = burst_whole_all(b);
    if (err == NC_NOERR) err = whole;
    burst_changed(b, looks(b));
    if (b->base.ds->hints.no_indep_rw) burst_pool_go_on(b->pool);
    return err;
}

/* What threads wrote the layer below does not know of, and would not sync on this node.
 * Its agreement reports what fails. */
static void sync_own(struct burst *b)
{
    if (!b->unsynced) return;
    int err = file_descriptor_sync(&b->file, b->path);
    if (err == NC_NOERR)
        b->unsynced = false;
    else
        dataset_owe(b->base.ds, err);
}

int burst_sync_all(struct burst *b)
{
    burst_change_below(b);
    sync_own(b);
    if (!b->base.ds->netcdf4)
        return burst_changed_below_all(b, driver_call(b->base.lower, sync_all));
    /* A change ends with netCDF-C's sync, which leaves everything with the system. */
    int err = burst_changed_below_all(b, NC_NOERR);
    if (err != NC_NOERR || b->file.fd < 0) return err;
    return file_descriptor_sync(&b->file, b->path);
}

/* A system tells once that a page did not get to the device, and then takes it for
 * written: another sync that goes well says nothing of it. So where one failed, the log
 * is never started anew, and stays behind for a replay. All are told of it: what they do
 * next, and whether they still owe a sync, depends on it. */
int burst_sync_drained_all(struct burst *b)
{
    if (b->doubtful)
        return base_error_set(NC_EWRITE,
                              "%s: a sync has failed, so that what was logged before is "
                              "safe in %s only; ncmpilog replay -f brings it to the file",
                              b->path, b->log.meta_fd < 0 ? "no log" : b->log.meta_path);
    int err = dataset_concur_all(b->base.ds, burst_sync_all(b), NULL, NULL, 0);
    b->doubtful = err != NC_NOERR;
    return err;
}

/* Any process may have drained on its own: all sync if one must. Agreed. */
static int sync_what_was_drained_all(struct burst *b)
{
    int64_t dirty = b->file_dirty || b->doubtful;
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &dirty, 1);
    return err == NC_NOERR && dirty ? burst_sync_drained_all(b) : err;
}

/* All is in the file, and safe if that was promised. Agreed. */
static int complete_burst_all(struct burst *b)
{
    int err = burst_drain_all(b, BURST_ALL);
    if (err == NC_NOERR) err = burst_settle_records_all(b);
    return err == NC_NOERR && b->promised ? sync_what_was_drained_all(b) : err;
}

/* The same, or the file is gone; the log may go, too. Agreed. */
static int finish_drain_all(struct burst *b, bool keep)
{
    int err = b->base.ds->deleted ? NC_NOERR : complete_burst_all(b);
    if (err != NC_NOERR) return err;
    if (keep) {
        burst_log_drained(&b->log, b->log.commit.count);
        err = burst_log_noted(&b->log);
    } else {
        /* From here on the generation tells that no log is needed, in any order; and the
         * log is about to go. */
        bool used = b->log.used;
        burst_log_reset(&b->log);
        /* So it is after a power cut, should the log come back; if not, it is gone now.
         */
        if (used) (void)burst_log_sync_head(&b->log);
    }
    return dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
}

/* Ends this layer, then those below it; what was wrong here is what is reported. */
static int close_burst_all(struct driver *self, bool abort)
{
    struct burst *b = (struct burst *)self;
    struct driver *lower = self->lower;
    char text[1024];
    bool keep = self->ds->hints.burst_del_on_close == BASE_DISABLE && !self->ds->deleted;
    int err = self->ds->writable ? finish_drain_all(b, keep) : NC_NOERR;
    snprintf(text, sizeof text, "%s", base_error_detail(err));
    burst_pool_stop(b);
    self->ds->lacking = err != NC_NOERR;
    burst_change(b); /* a log that stays has to know the file as it is left */
    int ended = driver_call(lower, close_all, abort);
    b->halfway &= ended != NC_NOERR;
    burst_changed(b, true);
    burst_end_all(b, keep || err != NC_NOERR);
    burst_detach_all(b);
    if (err != NC_NOERR) return base_error_set(err, "%s", text);
    return ended;
}

static int drain_whole_all(struct burst *b)
{
    b->epoch++;
    int err = b->base.ds->writable ? burst_drain_all(b, BURST_ALL) : NC_NOERR;
    return err == NC_NOERR && b->base.ds->writable ? burst_restart_all(b) : err;
}

/* The log stays, with nothing in it: see burst_begin.c. */
static int redef_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = drain_whole_all(b);
    if (err != NC_NOERR) return err;
    burst_change_below(b);
    err = burst_changed_below_all(b, driver_call(self->lower, redef_all));
    b->logging = false; /* should all stay as it is, until the next flush */
    return err;
}

static int enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct burst *b = (struct burst *)self;
    burst_change_below(b);
    int err = burst_changed_below_all(b, driver_call(self->lower, enddef_all, before));
    if (err != NC_NOERR) return err;
    b->file_dirty = true;
    if (!b->made) return burst_begin_all(b);
    burst_resume(b);
    return NC_NOERR;
}

static int write_burst_header_all(struct driver *self)
{
    ((struct burst *)self)->file_dirty = true;
    burst_change_below((struct burst *)self);
    return burst_changed_below_all((struct burst *)self,
                                   driver_call(self->lower, write_header_all));
}

static int begin_burst_indep_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = drain_whole_all(b);
    if (err == NC_NOERR) err = driver_call(self->lower, begin_indep_all);
    b->indep = err == NC_NOERR;
    b->epoch++;
    return err;
}

static int end_burst_indep_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    if (self->ds->writable) (void)burst_retire(b); /* or later, with the rest */
    b->indep = false;
    b->epoch++;
    burst_change_below(b);
    return burst_changed_below_all(b, driver_call(b->base.lower, end_indep_all));
}

int burst_sync_numrecs_all(struct driver *self)
{
    burst_change_below((struct burst *)self);
    return burst_changed_below_all((struct burst *)self,
                                   driver_call(self->lower, sync_numrecs_all));
}

/* In collective mode, the next to read finds what is in the logs: it is enough that
 * they are on their devices. Alone, a process sees its own log only: there the file must
 * have it all. */
static int sync_burst_all(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int failed, err = NC_NOERR;
    if (!self->ds->writable) return driver_call(self->lower, sync_all);
    burst_pool_pause(b->pool); /* it may have brought something to the file */
    burst_pool_go_on(b->pool);
    bool kept = !b->logging && burst_together(b); /* and nowhere else */
    int64_t need[2] = {b->indep || kept, b->file_dirty || !b->logging};
    if (b->logging && !b->indep && burst_log_sync(&b->log) != NC_NOERR) need[0] = 1;
    if (!b->logging) err = burst_log_sync_head(&b->log);
    if (err == NC_NOERR && self->ds->rank == 0 && !b->named) {
        err = base_sync_directory(b->path);
        b->named = err == NC_NOERR;
    }
    err = dataset_agree_all(self->ds, err, &failed, need, 2);
    if (err == NC_NOERR) err = failed;
    if (need[0]) {
        int drained = drain_whole_all(b);
        if (err == NC_NOERR) err = drained;
    }
    b->promised = true;
    b->epoch++;
    int synced = need[0] || need[1] ? burst_sync_all(b) : burst_settle_records_all(b);
    if (need[0] || need[1]) b->file_dirty = synced != NC_NOERR;
    if (err == NC_NOERR && synced == NC_NOERR && b->logging && !need[0])
        burst_log_synced(&b->log);
    return dataset_concur_all(self->ds, err != NC_NOERR ? err : synced, NULL, NULL, 0);
}

static int flush_all(struct driver *self)
{
    int err = drain_whole_all((struct burst *)self);
    int flushed = driver_call(self->lower, flush_all);
    return err != NC_NOERR ? err : flushed;
}

/* All that this process has logged is in the file, and in independent mode done with. */
static int drain_own(struct burst *b)
{
    int err = burst_drain_alone(b, 0, INT64_MAX), retired = burst_retire(b);
    return err != NC_NOERR ? err : retired;
}

/* Where no thread can drain, the caller does; it waits for nobody in either case. */
static int flush_start(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    b->asked = b->serial;
    if (b->nwrites == 0) return driver_call(self->lower, background.flush_start);
    if (burst_pool_begin(b)) return NC_NOERR;
    if (burst_together(b))
        return base_error_set(NC_ENOTSUPPORT,
                              "with romio_no_indep_rw, or several processes that write a "
                              "netCDF-4 file, and where no thread can drain, the log "
                              "reaches the file by collective calls only");
    double since = MPI_Wtime();
    int err = drain_own(b);
    burst_note_time(b, since);
    return err;
}

static int flush_test(struct driver *self, bool *through)
{
    struct burst *b = (struct burst *)self;
    int err = burst_pool_test(b, b->asked, through);
    bool any = b->nwrites > 0 && b->writes[0]->serial <= b->asked;
    if (err == NC_NOERR && *through && any) err = burst_retire(b);
    if (err == NC_NOERR) return NC_NOERR;
    return base_error_set(err,
                          "in the background; what is logged stays, and the next flush "
                          "or close tries again");
}

/* No thread brings what is logged to subfiles: it goes there now. */
static void prepare_close_all(struct driver *self)
{
    int err = self->ds->base > 0 ? drain_whole_all((struct burst *)self) : NC_NOERR;
    if (err == NC_NOERR) driver_call(self->lower, background.prepare_close_all);
}

/* What was put must all be in the log, and threads must be there to bring it from there
 * to the file: flush_start lets them begin. */
static enum driver_defer defer_burst(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    bool safe = b->logging && b->log.kept_fd < 0;
    if (!safe || driver_call(self->lower, background.defer) == DRIVER_NOW)
        return DRIVER_NOW;
    return b->nwrites == 0 || burst_pool_ready(b) ? DRIVER_LATER : DRIVER_NOW;
}

/* Can the close of this dataset be deferred? */
static bool may_defer(const struct burst *b)
{
    const struct dataset *ds = b->base.ds;
    bool joined = ds->base > 0 && ds->hints.blob_join == BASE_JOIN_BEHIND;
    return ds->writable && (joined || burst_pool_may(b));
}

static int inq_burst_info(struct driver *self, MPI_Info info)
{
    struct burst *b = (struct burst *)self;
    burst_pool_tell(b->pool); /* who asks may look at them next */
    int err = driver_call(self->lower, inq_info, info);
    if (err != NC_NOERR || self->ds->hints.deferred_close != BASE_ENABLE) return err;
    const char *force = may_defer(b) ? "enable" : "disable";
    return base_mpi_error(MPI_Info_set(info, "nc_deferred_close", force), NC_EMPI,
                          "MPI_Info_set");
}

/* In independent mode: what this process put is in the file, and its own to bring there.
 * Another process may put there next: see burst_retire.c. */
static int flush_alone(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = self->ds->writable ? drain_own(b) : NC_NOERR;
    return err == NC_NOERR ? burst_sync_retired(b) : err;
}

static int sync_burst_alone(struct driver *self)
{
    struct burst *b = (struct burst *)self;
    int err = self->ds->writable ? drain_own(b) : NC_NOERR;
    if (err == NC_NOERR) err = driver_call(self->lower, sync);
    return err == NC_NOERR ? burst_sync_retired(b) : err;
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
    .posting = {.post = burst_post,
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
