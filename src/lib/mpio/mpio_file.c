/* Shares the dataset's file between processes: passes one process's descriptor to the
 * others on its node. Also extends the file. */
#include "mpio.h"

#include "base_io.h"

void mpio_share_own_all(struct mpio *m)
{
    if (twophase_window_ready_all(&m->exchange.window, m->base.ds, m->exchange.unit))
        file_share_all(&m->file, twophase_window_board(&m->exchange.window));
}

/* Extends a shorter file with zeros by rewriting the byte at `at` unchanged. */
static int write_last(struct file *f, int64_t at)
{
    unsigned char last = 0;
    int err = file_read(f, at, &last, 1);
    return err == NC_NOERR ? file_write(f, at, &last, 1) : err;
}

static int extend_file(struct file *f, int64_t size)
{
    int64_t there;
    int err = dataset_is_sound(f->ds);
    if (err == NC_NOERR) err = file_ready(f);
    if (err != NC_NOERR) return err;
    if (f->own.fd >= 0) {
        err = base_extend(f->own.fd, f->ds->base + size, f->ds->full_path);
        file_mark_dirty(f);
        return err;
    }
    err = file_size(f, &there);
    return err == NC_NOERR && there < size ? write_last(f, size - 1) : err;
}

int mpio_extend_all(struct file *f, int64_t size)
{
    const unsigned char zero = 0;
    int64_t there = size;
    int err = NC_NOERR;
    f->ds->stats.file_resizes++;
    struct trace_span span = trace_begin(f->ds->trace);
    if (f->no_indep) {
        if (f->ds->rank == 0) err = file_size(f, &there);
        int written = file_write_root_all(f, size - 1, there < size ? &zero : NULL, 1);
        if (err == NC_NOERR) err = written;
    } else if (f->ds->rank == 0) {
        err = extend_file(f, size);
    }
    trace_end(f->ds->trace, TRACE_RESIZE, span);
    if (f->ds->rank == 0 && err == NC_NOERR && size > f->end) file_set_end(f, size);
    return err;
}
