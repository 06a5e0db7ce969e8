/* The lock of a dataset that is open for writing. It belongs to process 0's open of the
 * file: also of those of its node that were handed the descriptor, so that it outlives
 * process 0 as long as one of them may write. It is given back in words, as a program may
 * have forked since. */
#include <fcntl.h>
#include <unistd.h>

#include "base_io.h"
#include "base_lock.h"
#include "journal.h"
#include "file.h"

/* Through MPI-IO there is no descriptor: one for the lock alone. */
static int open_guard(const struct file *f)
{
    if (f->own.fd >= 0) return f->own.fd;
    return base_open(f->ds->full, O_RDWR);
}

int file_guard_take(struct file *f)
{
    if (f->amode & MPI_MODE_RDONLY) return NC_NOERR;
    f->guard = open_guard(f);
    if (f->guard < 0) return NC_NOERR; /* out of the system's reach: no journal, either */
    return journal_enter(f->guard, f->ds->full, f->ds->hints.redef_wait);
}

void file_guard_drop(struct file *f)
{
    if (f->guard < 0) return;
    base_lock_drop(f->guard, BASE_LOCK_LAYOUT);
    if (f->guard != f->own.fd) (void)close(f->guard);
    f->guard = -1;
}
