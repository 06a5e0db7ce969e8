/* Opens a file that the same program still has open and writes through a log. Programs in
 * Python do this, because their objects are closed late. The values in the log are moved
 * to the file first, so that the new opening finds them.
 *
 * Moving them is collective over the dataset's processes, so it happens only if all of
 * them, and no others, open the file. A process finds the dataset and locks it before the
 * processes compare what they found. It does not wait for the lock.
 *
 * Calls that change definitions or modes do not take the lock, because the thread that
 * makes them must be the only one that uses the dataset. So a dataset is found only by
 * the thread that used it last. If another thread uses it at this moment, either this
 * thread sees that and leaves the dataset alone, or the other one sees that the log is
 * being drained and waits (api_find). */
#include <string.h>

#include "api_dataset.h"

/* A search for the dataset with the lowest number above `after`. */
struct search {
    const struct dataset *ds;
    int64_t after, lowest; /* lowest: 0 if none was found */
};

/* Returns whether a dataset has the file open, and may have values in a log. */
static bool has_log_of_file(struct api_dataset *d, const struct dataset *ds)
{
    return &d->ds != ds && (d->ds.effects.facts & HINTS_LOG) != 0 && !d->unready &&
           !d->defining && !d->changing && d->ds.nprocs == ds->nprocs &&
           d->user == api_this_thread() && strcmp(d->ds.full_path, ds->full_path) == 0;
}

/* Locks a dataset if this thread used it last and no other thread uses it. Nothing else
 * of the dataset may be read before, because other threads change it. */
static bool lock_for_drain(struct api_dataset *d)
{
    if (d->user != api_this_thread()) return false;
    if (d->threads && pthread_mutex_trylock(&d->lock) != 0) return false;
    d->draining = true;
    return true;
}

static void unlock_after_drain(struct api_dataset *d)
{
    d->draining = false;
    api_unlock(d);
}

static bool note_lowest(void *dataset, void *of)
{
    struct api_dataset *d = dataset;
    struct search *s = of;
    if (!lock_for_drain(d)) return false;
    bool lower = d->number > s->after && (s->lowest == 0 || d->number < s->lowest);
    if (lower && has_log_of_file(d, s->ds)) s->lowest = d->number;
    unlock_after_drain(d);
    return false; /* looks at all datasets */
}

static bool lock_lowest(void *dataset, void *of)
{
    struct api_dataset *d = dataset;
    const struct search *s = of;
    if (!lock_for_drain(d)) return false;
    bool fits = d->number == s->lowest && has_log_of_file(d, s->ds);
    if (!fits) unlock_after_drain(d);
    return fits;
}

struct api_dataset *api_reopen_find(const struct dataset *ds, int64_t after)
{
    struct search s = {.ds = ds, .after = after};
    if (ds->full_path == NULL) return NULL;
    (void)api_find_open(note_lowest, &s);
    return s.lowest == 0 ? NULL : api_find_open(lock_lowest, &s);
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
    unlock_after_drain(before);
    return err;
}
