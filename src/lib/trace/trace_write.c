/* Implements the trace's primitives: thread numbers, and the write that appends a
 * process's lines to the file. */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base_io.h"
#include "base_number.h"
#include "trace_impl.h"

int trace_thread(const struct trace *t)
{
    static _Atomic int many;
    static _Thread_local int mine = -1;
    if (!t->threads) return 0;
    if (mine < 0) mine = many++;
    return mine;
}

static void disable_trace(struct trace *t, int why)
{
    for (size_t i = 0; i < t->used; i++)
        t->lost += t->text[i] == '\n';
    if (t->fd >= 0) (void)close(t->fd);
    t->fd = -1;
    t->why = why;
}

/* Returns whether the trace file is the dataset itself, possibly under another name. */
static bool is_dataset(const struct trace *t)
{
    return t->ds->identity.inode != 0 && t->inode == t->ds->identity.inode &&
           t->device == t->ds->identity.device;
}

void trace_flush(struct trace *t)
{
    int saved = errno;
    if (t->fd >= 0 && is_dataset(t))
        disable_trace(t, EEXIST);
    else if (t->fd >= 0 && t->used > 0 && !base_write_stream(t->fd, t->text, t->used))
        disable_trace(t, errno);
    t->used = 0;
    t->flushed_at = base_now(CLOCK_MONOTONIC);
    errno = saved;
}
