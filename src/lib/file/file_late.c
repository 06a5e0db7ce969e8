/* Files on mounts that write late, and read what is old (base_fs_late).
 *
 * All that the library relies on is that what one process has written before an agreement
 * another one reads behind it. So who wrote syncs before the agreement, whatever dataset
 * that is of: a process hears of a file through others, too (a blob's master tells of its
 * subfiles), and nobody is relied on to know. An error goes where those go that the
 * others have not been told of yet. Who reads has the file asked for again, once behind
 * each agreement. That may be told what a sync would be: that something another process
 * of the node has put did not get there, which nobody is told again. So it counts as a
 * sync that failed.
 *
 * A file that may only be read has no writer in this job: it is asked for again when it
 * is opened (base_open) and at a sync, which is when the program expects others' values.
 */
#include "file_late.h"

#include "base_fs.h"

int file_late_settle(struct file_late *l)
{
    if (!atomic_exchange(&l->wrote, false)) return NC_NOERR;
    /* Another thread of the program may be at the same. */
    (void)__atomic_fetch_add(&l->ds->stats.file_settled, 1, __ATOMIC_RELAXED);
    return file_descriptor_sync(l->d, l->ds->full);
}

static void settle_late(void *who)
{
    struct file_late *l = who;
    dataset_owe(l->ds, file_late_settle(l));
}

void file_late_begin(struct file_late *l, struct dataset *ds, struct file_descriptor *d)
{
    if (!ds->writable || !base_fs_late(d->fd)) return;
    l->is = true;
    l->d = d;
    l->ds = ds;
    l->seen = -1; /* another process of the node may have opened it */
    l->duty = (struct dataset_duty){.settle = settle_late, .who = l};
    dataset_add_duty(&l->duty);
}

void file_late_end(struct file_late *l)
{
    if (l->is) dataset_drop_duty(&l->duty);
    l->is = false;
}

void file_late_forget(struct file_late *l)
{
    l->seen = -1;
}

void file_late_ask(struct file_late *l)
{
    int64_t now = dataset_agreements();
    if (l->seen == now) return;
    l->seen = now;
    file_late_hold(l);
    file_late_held(l, !base_fs_refresh(l->d->fd));
}
