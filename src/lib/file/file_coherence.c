/* Handles files on mounts that write late and read stale data (base_fs_may_be_stale).
 *
 * The library relies on one rule: a process that reads after an agreement sees everything
 * that other processes wrote before the agreement. On such mounts:
 * 1. A process that wrote syncs before the next agreement of any dataset, since one file
 *    may refer to another (a master file names its subfiles).
 * 2. A failed sync becomes an error that the next agreement reports.
 * 3. A process that reads revalidates its cache once after each agreement. The system may
 *    report only then, and not at a sync, that bytes written by another process on the
 *    node were lost. It reports a loss only once, so this report counts as a failed sync.
 *
 * A file opened for reading only has no writer in this job. It is revalidated at open
 * (base_open) and at a sync, when the program expects to see other jobs' values. */
#include "file_coherence.h"

#include "base_fs.h"

int file_coherence_flush(struct file_coherence *l)
{
    if (!atomic_exchange(&l->wrote, false)) return NC_NOERR;
    /* Another thread of the program may be incrementing this counter. */
    (void)__atomic_fetch_add(&l->ds->stats.file_settled, 1, __ATOMIC_RELAXED);
    return file_descriptor_sync(l->d, l->ds->full_path);
}

static void flush_before_agreement(void *arg)
{
    struct file_coherence *l = arg;
    dataset_defer_error(l->ds, file_coherence_flush(l));
}

void file_coherence_begin(struct file_coherence *l, struct dataset *ds,
                          struct file_descriptor *d)
{
    if (!ds->writable || !base_fs_may_be_stale(d->fd)) return;
    l->active = true;
    l->d = d;
    l->ds = ds;
    l->seen = -1; /* another process on the node may have opened it earlier */
    l->duty = (struct dataset_duty){.run = flush_before_agreement, .arg = l};
    dataset_add_duty(&l->duty);
}

void file_coherence_end(struct file_coherence *l)
{
    if (l->active) dataset_drop_duty(&l->duty);
    l->active = false;
}

void file_coherence_invalidate(struct file_coherence *l)
{
    l->seen = -1;
}

void file_coherence_revalidate(struct file_coherence *l)
{
    int64_t now = dataset_agreements();
    if (l->seen == now) return;
    l->seen = now;
    file_coherence_lock(l);
    file_coherence_unlock(l, !base_fs_refresh(l->d->fd));
}
