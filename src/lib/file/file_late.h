/* Descriptors of files on mounts that write late, and read what is old: see file_late.c.
 * Local. */
#ifndef FILE_LATE_H
#define FILE_LATE_H

#include <stdatomic.h>

#include "file_descriptor.h"

struct file_late {
    bool is; /* the descriptor is one of those, and may write */
    struct file_descriptor *d;
    struct dataset *ds;
    atomic_bool wrote; /* ... since the last agreement */
    int64_t seen;      /* so many agreements there were when it was asked for again */
    struct dataset_duty duty;
};

/* ds->full was opened as d, both of which stay until the end. */
void file_late_begin(struct file_late *l, struct dataset *ds, struct file_descriptor *d);
void file_late_end(struct file_late *l);

/* Around a call that writes no values: see file_descriptor_hold. What is lost the next
 * agreement tells. */
static inline void file_late_hold(const struct file_late *l)
{
    if (l->is) file_descriptor_hold(l->d);
}
static inline void file_late_held(struct file_late *l, bool lost)
{
    if (!l->is) return;
    file_descriptor_held(l->d, lost);
    if (lost) l->wrote = true;
}

/* Before a read: what others wrote before an agreement is what it gets. */
void file_late_ask(struct file_late *l);
static inline void file_late_look(struct file_late *l)
{
    if (l->is) file_late_ask(l);
}

/* What was read may be old, though there was no agreement. */
void file_late_forget(struct file_late *l);

/* What was written is where others find it. NC_EWRITE, NC_ENO_SPACE ... */
int file_late_settle(struct file_late *l);

/* After a write: the others get it behind the next agreement. */
static inline void file_late_wrote(struct file_late *l)
{
    if (l->is) l->wrote = true;
}

#endif
