/* Handles mounts that write late and read stale data (see file_coherence.c). Local. */
#ifndef FILE_COHERENCE_H
#define FILE_COHERENCE_H

#include <stdatomic.h>

#include "file_descriptor.h"

struct file_coherence {
    bool active; /* the file is on such a mount, and the descriptor is writable */
    struct file_descriptor *d;
    struct dataset *ds;
    atomic_bool wrote; /* this process has written since the last agreement */
    int64_t seen;      /* agreement count at the last revalidation of the cache */
    struct dataset_duty duty;
};

/* Begin and end the use of `d`, a descriptor of ds->full_path. Both must outlive it. */
void file_coherence_begin(struct file_coherence *l, struct dataset *ds,
                          struct file_descriptor *d);
void file_coherence_end(struct file_coherence *l);

/* Enclose a system call that writes no values (see file_descriptor_lock_errors). If the
 * call reports that values were lost, the next agreement reports an error. */
static inline void file_coherence_lock(const struct file_coherence *l)
{
    if (l->active) file_descriptor_lock_errors(l->d);
}
static inline void file_coherence_unlock(struct file_coherence *l, bool lost)
{
    if (!l->active) return;
    file_descriptor_unlock_errors(l->d, lost);
    if (lost) l->wrote = true;
}

/* Revalidates the cache: the next read sees all writes made before the last agreement. */
void file_coherence_revalidate(struct file_coherence *l);
static inline void file_coherence_check(struct file_coherence *l)
{
    if (l->active) file_coherence_revalidate(l);
}

/* Makes the next read revalidate the cache, even if there was no agreement. */
void file_coherence_invalidate(struct file_coherence *l);

/* Syncs written data, so that others can read it. Returns NC_EWRITE, NC_ENO_SPACE ... */
int file_coherence_flush(struct file_coherence *l);

/* Marks data as written; the next agreement makes it visible to other processes. */
static inline void file_coherence_mark_written(struct file_coherence *l)
{
    if (l->active) l->wrote = true;
}

#endif
