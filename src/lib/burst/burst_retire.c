/* What a process has brought to the file alone, in independent mode, is never put again:
 * not by a later drain of all processes, and not by a replay of its log.
 *
 * Writes of collective mode are put again where processes contest a variable: a thread
 * may have written one before an older one of another process, and only draining in the
 * order of the epochs tells. Independent mode has no such order. What the program makes
 * sure of there, by ncmpi_sync (or ncmpi_flush, or a wait that drains) and a barrier, is
 * that another process puts after this one; it says nothing to the library. So a write
 * that was drained must not come to the file a second time, over what it cannot know of.
 *
 * Nor is there a need to. Independent mode begins with empty lists: begin_indep_data
 * drains everything and starts the logs anew. So no older write of any process is left
 * that this one would have to follow; those of the same phase have no order but the
 * program's, which is that of the drains; and those of later calls follow by their
 * epochs, even if a thread has written one too early: burst_drain.c compares them with
 * this one for as long as it is listed.
 *
 * A drain in independent mode therefore ends so, before the call returns:
 *
 *     1  the values are in the file (the layer below has returned)
 *     2  the number of records in the file covers them
 *     3  values that an earlier sync had promised in the log are on the file's device
 *     4  the log says that its entries are in the file: the commit record counts the
 *        first ones, and one behind others that still wait is struck out by itself
 *     5  the writes are forgotten here
 *     6  sync, flush: the commit record is on the log's device (sync: behind the file)
 *
 * A process that is killed before 4 leaves entries that are replayed: the same bytes once
 * more. Its call had not returned, so that no other process can have put behind it; one
 * that put there all the same did so in no order. Killed behind 4, the entries are passed
 * over, and the file has their values, since it had them at 1; after a power cut it has
 * them if they were promised (3), or synced by the call that returned (6). And no power
 * cut brings back a record of before 4 once the call has returned, so that what another
 * process has synced since is not replaced by a replay of what was there before it.
 * ncmpix_flush_test, a wait and the end of independent mode go as far as 5: against
 * kills, not power cuts. */
#include <errno.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "burst.h"
#include "file_identity.h"

/* ---- the number of records ---- */

/* The number of records in the file, not to be less than this process knows. Others may
 * be doing the same: processes of this job, which may share the descriptor, under one
 * lock, and other jobs under that of the header. */
static int grow_records(int fd, const struct dataset *ds)
{
    const struct cdf_header *h = &ds->header;
    const char *path = ds->path;
    int64_t at = ds->base + 4;
    unsigned char mine[8], there[8];
    size_t width = (size_t)cdf_encode_numrecs(h->format, h->numrecs, mine);
    if (!base_lock_bytes(fd, at, (int64_t)width))
        return base_error_system(NC_EWRITE, "locking", path);
    int err = base_lock_header(fd, path);
    if (err == NC_NOERR) err = base_read_at(fd, at, there, (int64_t)width, path);
    if (err == NC_NOERR && memcmp(there, mine, width) < 0)
        err = base_write_at(fd, at, mine, (int64_t)width, path);
    base_lock_drop(fd, BASE_LOCK_HEADER);
    if (!base_unlock_bytes(fd, at, (int64_t)width) && err == NC_NOERR)
        err = base_error_system(NC_EWRITE, "unlocking", path);
    return err;
}

/* Before the next call of all would see to it. A process that got no descriptor when the
 * file was opened has no log, and may get one now. */
int burst_tell_records(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    if (ds->header.numrecs <= b->records_told || ds->netcdf4) return NC_NOERR;
    struct file_descriptor d = b->file;
    int err = d.fd >= 0 ? NC_NOERR : file_again(ds, &d);
    if (err != NC_NOERR) return err;
    file_late_look(&b->late);
    err = grow_records(d.fd, ds);
    file_late_wrote(&b->late);
    if (b->file.fd < 0) (void)file_descriptor_close(&d, ds->path);
    if (err == NC_NOERR) b->records_told = ds->header.numrecs;
    return err;
}

/* ---- retiring ---- */

/* The file can do without the log: with the records, and what was synced in the log. */
static int complete_file(struct burst *b)
{
    int err = burst_tell_records(b);
    if (err != NC_NOERR || b->log.commit.synced <= b->log.commit.drained) return err;
    err = burst_whole(b);
    if (err != NC_NOERR) return err;
    return b->base.ds->base > 0 ? driver_call(b->base.lower, sync) /* subfiles, too */
                                : file_descriptor_sync(&b->file, b->path);
}

int burst_retire_log(struct burst *b)
{
    int err = complete_file(b);
    if (err != NC_NOERR) return err;
    burst_log_drained(&b->log, b->log.commit.count);
    b->unnoted = true;
    return NC_NOERR;
}

/* The first entry of the log that still waits; behind the last: none does. */
static int64_t first_waiting(const struct burst *b)
{
    for (int64_t i = 0; i < b->nwrites; i++)
        if (!b->writes[i]->written && !b->writes[i]->cancelled && b->writes[i]->seq >= 0)
            return b->writes[i]->seq;
    return b->log.commit.count;
}

/* Entries that are in the file before others that were logged earlier, as waiting for
 * single requests leaves them. */
static int strike_out(struct burst *b, int64_t from)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < b->nwrites && err == NC_NOERR; i++) {
        struct burst_write *w = b->writes[i];
        if (!w->written || w->seq < from) continue;
        err = burst_log_strike(&b->log, w->sum_at);
        if (err == NC_NOERR) w->seq = -1; /* a second time would undo it */
    }
    return err;
}

static bool any_written(const struct burst *b)
{
    for (int64_t i = 0; i < b->nwrites; i++)
        if (b->writes[i]->written) return true;
    return false;
}

/* The threads are paused. */
static int retire_written(struct burst *b)
{
    int64_t first = first_waiting(b);
    int err = complete_file(b);
    if (err == NC_NOERR) err = strike_out(b, first);
    if (err != NC_NOERR) return err;
    burst_log_drained(&b->log, first);
    b->unnoted = true;
    burst_forget(b, BURST_ALL);
    return NC_NOERR;
}

int burst_retire(struct burst *b)
{
    int err = NC_NOERR;
    if (!b->indep || b->nwrites == 0) return NC_NOERR;
    burst_pool_pause(b->pool);
    if (any_written(b)) {
        burst_change(b);
        err = retire_written(b);
        burst_changed(b, true);
    }
    burst_pool_go_on(b->pool);
    return err;
}

int burst_sync_retired(struct burst *b)
{
    int err = b->unnoted ? burst_log_sync_head(&b->log) : NC_NOERR;
    if (err == NC_NOERR) b->unnoted = false;
    return err;
}
