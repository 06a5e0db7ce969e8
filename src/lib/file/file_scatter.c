/* Short pieces with holes between them, many at a time.
 *
 * A call for each takes a hundred times as long as their bytes. To read what lies around
 * them and write all of it back takes back what another process, or another program, has
 * put into a hole meanwhile, unless all who write ask for locks. A store to a shared
 * mapping touches the bytes that it names and no others: the page that it goes to is the
 * one that read() and write() of every process of the host go to, where base_fs_maps says
 * so, and nobody reads it and writes it back.
 *
 * No store is our own. Where a page cannot be had, as the disk is full or broken, or
 * somebody has cut the file off, a store ends the program by SIGBUS; the kernel's store
 * to the same place fails with EFAULT. So the values are gathered in a file in memory,
 * and preadv() from that has the places in the mapping as its buffers. What it could not
 * store is written piece by piece, which stores the same bytes again or tells why not. */
#define _GNU_SOURCE /* memfd_create */
#include "file.h"

#ifdef __linux__
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_mem.h"
#include "trace_record.h"

enum {
    PIECES = 1024,    /* of a call; the least that a system must take */
    BYTES = 1 << 18,  /* of them all */
    WINDOW = 1 << 22, /* of the file that is mapped; pages that are not stored to cost
                       * nothing */
};

struct file_scatter {
    bool refused;          /* the file has to be written otherwise */
    int memory;            /* the file with the values ... */
    unsigned char *values; /* ... and where it lies; NULL: there is none */
    unsigned char *window; /* of the file; NULL: none */
    int64_t from;          /* the byte of the file that it begins with */
    int64_t reach;         /* the file is known to have as many bytes */
    int64_t used;          /* bytes of values */
    int n;
    struct iovec to[PIECES];
};

/* ---- its parts ---- */

static bool make_values(struct file_scatter *s)
{
    s->memory = memfd_create("ncmpi-values", MFD_CLOEXEC);
    if (s->memory < 0 || ftruncate(s->memory, BYTES) != 0) return false;
    void *values = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
    if (values == MAP_FAILED) return false;
    s->values = values;
    /* Its pages are there from now on: a store to them is never refused. */
    return posix_fallocate(s->memory, 0, BYTES) == 0;
}

static void drop_window(struct file_scatter *s)
{
    if (s->window != NULL) (void)munmap(s->window, WINDOW);
    s->window = NULL;
}

static bool map_window(struct file *f, int64_t from)
{
    struct file_scatter *s = f->scatter;
    drop_window(s);
    void *window =
        mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, f->own.fd, (off_t)from);
    if (window == MAP_FAILED) return false;
    s->window = window;
    s->from = from;
    return true;
}

bool file_scatters(struct file *f)
{
    struct file_scatter *s = f->scatter;
    if (s != NULL) return !s->refused;
    if (file_ready(f) != NC_NOERR || f->own.fd < 0) return false;
    s = f->scatter = base_calloc(1, sizeof *s);
    if (s == NULL) return false;
    s->memory = -1;
    s->refused = f->across || !base_fs_maps(f->own.fd) || !make_values(s);
    return !s->refused;
}

void file_scatter_free(struct file *f)
{
    struct file_scatter *s = f->scatter;
    if (s == NULL) return;
    drop_window(s);
    if (s->values != NULL) (void)munmap(s->values, BYTES);
    if (s->memory >= 0) (void)close(s->memory);
    base_free(s);
    f->scatter = NULL;
}

/* ---- pieces ---- */

/* Where a piece begins, as the dataset counts. */
static int64_t place_of_piece(const struct file *f, const struct iovec *piece)
{
    const struct file_scatter *s = f->scatter;
    return s->from + ((unsigned char *)piece->iov_base - s->window) - f->ds->base;
}

/* The mapping ends where the file does: so the last piece goes there before the others,
 * by a call that makes the file as long. It is made however long the file is found to be:
 * a call that makes a file longer shows the new length first and then, on ext4, puts
 * zeros behind the old end, and a store between the two is lost. Calls that write to one
 * file wait for each other, so when this one returns, whatever made the file as long as
 * fstat found it has ended. What makes it longer after that puts zeros behind that
 * length. */
static int reach(struct file *f)
{
    struct file_scatter *s = f->scatter;
    const struct iovec *last = &s->to[s->n - 1];
    int64_t length = (int64_t)last->iov_len, place = place_of_piece(f, last);
    int64_t end = f->ds->base + place + length;
    struct stat st;
    if (end <= s->reach) return NC_NOERR;
    int64_t found = fstat(f->own.fd, &st) == 0 ? st.st_size : 0;
    int err = file_write(f, place, s->values + s->used - length, length);
    if (err != NC_NOERR) return err;
    s->reach = found > end ? found : end;
    s->n--;
    s->used -= length;
    f->ds->stats.file_scattered++;
    return NC_NOERR;
}

static int write_singly(struct file *f)
{
    const struct file_scatter *s = f->scatter;
    const unsigned char *values = s->values;
    int err = NC_NOERR;
    for (int i = 0; i < s->n && err == NC_NOERR; values += s->to[i++].iov_len)
        err = file_write(f, place_of_piece(f, &s->to[i]), values,
                         (int64_t)s->to[i].iov_len);
    return err;
}

int file_scatter_flush(struct file *f)
{
    struct file_scatter *s = f->scatter;
    if (s->n == 0) return NC_NOERR;
    int err = dataset_may_write(f->ds);
    if (err == NC_NOERR) err = reach(f);
    if (err == NC_NOERR && s->n > 0) {
        int64_t first = place_of_piece(f, s->to);
        f->dirty = true;
        struct trace_span span = trace_begin(f->ds->trace);
        bool stored = preadv(s->memory, s->to, s->n, 0) == (ssize_t)s->used;
        trace_end_at(f->ds->trace, TRACE_WRITE, span, first, stored ? s->used : 0);
        if (!stored) {
            err = write_singly(f);
        } else {
            f->ds->stats.file_writes++;
            f->ds->stats.file_written_bytes += s->used;
            f->ds->stats.file_scattered += s->n;
        }
    }
    if (err == NC_NOERR && s->reach - f->ds->base > f->end)
        f->end = s->reach - f->ds->base;
    s->n = 0;
    s->used = 0;
    return err;
}

/* Behind the last one, in memory and in the file, it is a part of that. */
static void add_piece(struct file_scatter *s, int64_t at, const void *bytes, int64_t n)
{
    struct iovec *last = s->n > 0 ? &s->to[s->n - 1] : NULL;
    unsigned char *to = s->window + at;
    memcpy(s->values + s->used, bytes, (size_t)n);
    s->used += n;
    if (last != NULL && (unsigned char *)last->iov_base + last->iov_len == to)
        last->iov_len += (size_t)n;
    else
        s->to[s->n++] = (struct iovec){to, (size_t)n};
}

int file_scatter(struct file *f, int64_t offset, const void *bytes, int64_t n)
{
    struct file_scatter *s = f->scatter;
    int64_t at = f->ds->base + offset, from = at / WINDOW * WINDOW;
    bool there = s->window != NULL && s->from == from;
    int err = NC_NOERR;
    if (!there || s->n == PIECES || s->used + n > BYTES) err = file_scatter_flush(f);
    if (err != NC_NOERR) return err;
    /* What lies in two windows, and where none is to be had, is written. */
    if (at + n > from + WINDOW || (!there && !map_window(f, from)))
        return file_write(f, offset, bytes, n);
    add_piece(s, at - from, bytes, n);
    return NC_NOERR;
}
#else
bool file_scatters(struct file *f)
{
    (void)f;
    return false;
}

int file_scatter(struct file *f, int64_t offset, const void *bytes, int64_t n)
{
    return file_write(f, offset, bytes, n);
}

int file_scatter_flush(struct file *f)
{
    (void)f;
    return NC_NOERR;
}

void file_scatter_free(struct file *f)
{
    (void)f;
}
#endif
