/* Syncs the file. Also retires the writes that a process has drained on its own in
 * independent mode: they are never written again, neither by a later collective drain nor
 * by a replay.
 *
 * Writes put in collective mode are written again if processes contest a variable. A
 * thread may have written one of them before an older write of another process, and only
 * a drain by epoch restores the order. Independent mode has no such order. There, a
 * program ensures that another process puts after this one by calling ncmpi_sync (or
 * ncmpi_flush, or a wait that drains) and a barrier, which the library does not see. So a
 * drained write must not be written a second time: it could overwrite newer values that
 * the library does not know of.
 *
 * There is never a need to write it again:
 * 1. Independent mode begins with empty lists: begin_indep_data drains everything and
 *    restarts the logs. So no older write of any process remains that this one must
 *    follow.
 * 2. Writes of the same phase are ordered only by the program, which uses the drains for
 *    that.
 * 3. Writes of later calls are ordered by their epochs, even if a thread has written one
 *    too early, because burst_drain.c compares them with this write while it is listed.
 *
 * A drain in independent mode therefore takes these steps before the call returns:
 *
 *     1  the values are in the file (the layer below has returned)
 *     2  the number of records in the file covers them
 *     3  values that an earlier sync promised in the log are on the file's device
 *     4  the log records that its entries are in the file: the commit record counts the
 *        first ones; an entry after others that still wait is struck out on its own
 *     5  the writes are removed from the list
 *     6  sync, flush: the commit record is on the log's device (sync: after the file)
 *
 * - A process killed before step 4 leaves entries that are replayed, which writes the
 *   same bytes again. Its call had not returned, so no put of another process can have
 *   been ordered after it.
 * - If it is killed after step 4, the entries are skipped. The file has had their values
 *   since step 1, and after a power cut still has them if they were promised (step 3) or
 *   synced by the call (step 6).
 * - Once the call has returned, no power cut can bring back a record from before step 4.
 *   So a replay does not overwrite what another process has synced since.
 * ncmpix_flush_test, a wait and the end of independent mode stop at step 5: they protect
 * against kills, but not against power cuts. */
#include <errno.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "burst.h"
#include "burst_pool.h"
#include "file_identity.h"

/* ---- collective calls to the layer below ----
 *
 * burst_begin_collective_change and burst_end_change_all enclose each collective call
 * that may change the file. The first function records in the log that the file is being
 * changed, and the second one that the change has ended; burst_file.c describes these
 * notes. With romio_no_indep_rw they also pause this process's threads during the call,
 * because MPI-IO may read bytes between its runs and write them back over values that a
 * thread has written meanwhile. */

void burst_begin_collective_change(struct burst *b)
{
    if (b->base.ds->hints.no_indep_rw) burst_pool_pause(b->drain.pool);
    burst_begin_change(&b->file);
}

int burst_end_change_all(struct burst *b, int err)
{
    int flushed = burst_flush_change_all(&b->file, b->base.lower);
    if (err == NC_NOERR) err = flushed;
    /* One process reads the file's size and times after the change: process 0, because it
     * performs any writes that a single process makes. With romio_no_indep_rw, MPI-IO may
     * write from any process, even after the call has returned there. */
    burst_end_change(&b->file, b->base.ds->rank == 0 || b->base.ds->hints.no_indep_rw);
    if (b->base.ds->hints.no_indep_rw) burst_pool_resume(b->drain.pool);
    return err;
}

int burst_sync_all(struct burst *b)
{
    burst_begin_collective_change(b);
    /* Threads bypass the layer below, whose sync may not cover what they wrote on this
     * node. The agreement in that sync reports an error. */
    if (b->commit.threads_dirty) {
        int own = file_descriptor_sync(&b->file.handle, b->file.path);
        b->commit.threads_dirty = own != NC_NOERR;
        if (own != NC_NOERR) dataset_defer_error(b->base.ds, own);
    }
    if (!b->base.ds->netcdf4)
        return burst_end_change_all(b, driver_call(b->base.lower, sync_all));
    /* The change ends with netCDF-C's sync, which passes all bytes to the system but does
     * not flush them to the device. */
    int err = burst_end_change_all(b, NC_NOERR);
    if (err != NC_NOERR || b->file.handle.fd < 0) return err;
    return file_descriptor_sync(&b->file.handle, b->file.path);
}

/* The system reports only once that a page did not reach the device, and then marks it
 * clean, so a later sync that succeeds proves nothing. So after a failed sync the log is
 * never restarted and remains available for a replay. All processes learn of the failure,
 * because it decides what they do next and whether they must still sync the file. */
int burst_sync_drained_all(struct burst *b)
{
    if (b->commit.doubtful)
        return base_error_set(
            NC_EWRITE,
            "%s: a sync failed, so values logged before it are safe only in %s; write "
            "them to the file with ncmpilog replay -f",
            b->file.path, b->log.meta_fd < 0 ? "no log" : b->log.meta_path);
    int err = dataset_concur_all(b->base.ds, burst_sync_all(b), NULL, NULL, 0);
    b->commit.doubtful = err != NC_NOERR;
    return err;
}

int burst_sync_numrecs_all(struct driver *self)
{
    burst_begin_collective_change((struct burst *)self);
    return burst_end_change_all((struct burst *)self,
                                driver_call(self->lower, sync_numrecs_all));
}

/* ---- the number of records ---- */

/* Raises the file's number of records to this process's. The byte lock excludes other
 * processes of this job, which may share the descriptor; the header lock, other jobs. */
static int grow_records(int fd, const struct dataset *ds)
{
    const struct cdf_header *h = &ds->header;
    const char *path = ds->path;
    int64_t at = ds->base + 4;
    unsigned char mine[8], stored[8];
    size_t width = (size_t)cdf_encode_numrecs(h->format, h->numrecs, mine);
    if (!base_lock_bytes(fd, at, (int64_t)width))
        return base_error_system(NC_EWRITE, "locking", path);
    int err = base_lock_header(fd, path);
    if (err == NC_NOERR) err = base_read_at(fd, at, stored, (int64_t)width, path);
    if (err == NC_NOERR && memcmp(stored, mine, width) < 0)
        err = base_write_at(fd, at, mine, (int64_t)width, path);
    base_lock_release(fd, BASE_LOCK_HEADER);
    if (!base_unlock_bytes(fd, at, (int64_t)width) && err == NC_NOERR)
        err = base_error_system(NC_EWRITE, "unlocking", path);
    return err;
}

/* Writes the number of records now rather than in the next collective call. A process
 * that could not open the file, and therefore has no log, tries again here. */
int burst_write_records(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    if (ds->header.numrecs <= b->commit.numrecs || ds->netcdf4) return NC_NOERR;
    struct file_descriptor d = b->file.handle;
    int err = d.fd >= 0 ? NC_NOERR : file_open_again(ds, &d);
    if (err != NC_NOERR) return err;
    file_coherence_check(&b->file.coherence);
    err = grow_records(d.fd, ds);
    file_coherence_mark_written(&b->file.coherence);
    if (b->file.handle.fd < 0) (void)file_descriptor_close(&d, ds->path);
    if (err == NC_NOERR) b->commit.numrecs = ds->header.numrecs;
    return err;
}

/* ---- retiring ---- */

/* Makes the file independent of the log: writes its number of records, and syncs it if
 * the log was synced. */
static int complete_file(struct burst *b)
{
    int err = burst_write_records(b);
    if (err != NC_NOERR || b->log.commit.synced <= b->log.commit.drained) return err;
    err = burst_flush_change(&b->file, b->base.lower);
    if (err != NC_NOERR) return err;
    return b->base.ds->base > 0
               ? driver_call(b->base.lower, sync) /* also syncs subfiles */
               : file_descriptor_sync(&b->file.handle, b->file.path);
}

int burst_commit_log(struct burst *b)
{
    int err = complete_file(b);
    if (err != NC_NOERR) return err;
    burst_log_drained(&b->log, b->log.commit.count);
    b->commit.head_dirty = true;
    return NC_NOERR;
}

/* Returns the index of the first entry that is not in the file; the number of entries if
 * all of them are. */
static int64_t first_waiting(const struct burst *b)
{
    for (int64_t i = 0; i < b->list.n; i++)
        if (!b->list.writes[i]->written && !b->list.writes[i]->cancelled &&
            b->list.writes[i]->seq >= 0)
            return b->list.writes[i]->seq;
    return b->log.commit.count;
}

/* Strikes out entries that reached the file before earlier ones, which happens if a wait
 * names only some requests. */
static int strike_out(struct burst *b, int64_t from)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < b->list.n && err == NC_NOERR; i++) {
        struct burst_write *w = b->list.writes[i];
        if (!w->written || w->seq < from) continue;
        err = burst_log_strike(&b->log, w->sum_at);
        if (err == NC_NOERR) w->seq = -1; /* a second strike would undo the first */
    }
    return err;
}

int burst_commit(struct burst *b)
{
    bool any = false;
    if (!b->indep || b->list.n == 0) return NC_NOERR;
    burst_pool_pause(b->drain.pool);
    for (int64_t i = 0; i < b->list.n && !any; i++)
        any = b->list.writes[i]->written;
    int err = NC_NOERR;
    if (any) {
        int64_t first = first_waiting(b);
        burst_begin_change(&b->file);
        err = base_holds(first >= 0 && first <= b->log.commit.count);
        if (err == NC_NOERR) err = complete_file(b);
        if (err == NC_NOERR) err = strike_out(b, first);
        if (err == NC_NOERR) {
            burst_log_drained(&b->log, first);
            b->commit.head_dirty = true;
            burst_list_remove(&b->list, BURST_ALL);
        }
        burst_end_change(&b->file, true);
    }
    burst_pool_resume(b->drain.pool);
    return err;
}

int burst_sync_committed(struct burst *b)
{
    int err = b->commit.head_dirty ? burst_log_sync_head(&b->log) : NC_NOERR;
    if (err == NC_NOERR) b->commit.head_dirty = false;
    return err;
}
