/* Opens a file that the same program still has open and writes through a log. Programs in
 * Python do this, because their objects are closed late. The values in the log are moved
 * to the file first, so that the new opening finds them.
 *
 * Moving them is collective over the dataset's processes, so it happens only if all of
 * them, and no others, open the file. A process finds the dataset and locks it before the
 * processes compare what they found. It does not wait for the lock: if another thread
 * uses the dataset, the process says that it found none. */
#include "api_dataset.h"
#include "file_identity.h"

/* Returns whether a dataset has the file of `of` open, and may have values in a log.
 * Locks the dataset if it does. */
static bool has_log_of_file(void *dataset, void *of)
{
    struct api_dataset *d = dataset;
    const struct dataset *ds = of;
    if (&d->ds == ds || (d->ds.effects.facts & HINTS_LOG) == 0) return false;
    if (d->threads && pthread_mutex_trylock(&d->lock) != 0) return false;
    bool fits = !d->ending && !d->defining && d->ds.nprocs == ds->nprocs &&
                file_is_at_path(&d->ds, ds->full_path);
    if (!fits) api_unlock(d);
    return fits;
}

struct api_dataset *api_reopen_find(const struct dataset *ds)
{
    if (ds->full_path == NULL) return NULL;
    return api_find_open(has_log_of_file, (void *)(intptr_t)ds);
}

int api_reopen_end_all(struct api_dataset *before, bool common)
{
    int err = NC_NOERR;
    if (before == NULL) return err;
    if (common && before->indep) err = driver_call(before->top, flush);
    if (common && !before->indep) {
        err = driver_call(before->top, flush_all);
        int other = driver_call(before->top, sync_numrecs_all);
        if (err == NC_NOERR) err = other;
    }
    api_unlock(before);
    return err;
}
