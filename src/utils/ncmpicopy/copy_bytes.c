/* Copies data that both files store as the same contiguous bytes: fixed-size variables,
 * and whole records. These values need no conversion, so the library is not involved. The
 * bytes are read, written, read back and compared piece by piece, while they are in the
 * CPU cache. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base_mem.h"
#include "copy.h"
#include "pnetcdf.h"
#include "util_whole.h"

enum {
    ROOM = 1 << 17, /* number of bytes copied at a time; the unit assigned to processes */
    PAGE = 1 << 12
};

/* A range of n bytes at offset `from` in the source and offset `to` in the copy. */
struct byte_range {
    int64_t from, to, n;
};

struct mover {
    struct copy *c;
    int in, out; /* descriptors of the files */
    char *bytes, *others;
    int64_t turns;    /* number of pieces assigned so far to all processes */
    const char *path; /* file that was accessed last, for error messages */
};

/* ---- choosing what to copy ---- */

/* Returns whether the bytes of each record, or of the whole fixed-size variable, are
 * contiguous in both files. The first dimension may be copied only in part. */
static bool is_contiguous(const struct copy *c, const struct copy_var *v)
{
    for (int i = 0; i < v->ndims; i++) {
        const struct copy_dim *d = &c->dims[v->dimids[i]];
        if (d->stride != 1 || (i > 0 && d->count != d->length)) return false;
    }
    return true;
}

/* Returns the size in bytes of the values at one index of the first dimension. */
static int64_t step_size(const struct copy_var *v)
{
    return v->length[0] == 0 ? 0 : v->total / v->length[0] * v->size;
}

static bool in_records(const struct copy *c, const struct copy_var *v)
{
    return v->ndims > 0 && v->dimids[0] == c->unlimited;
}

/* Finds the offsets of a variable in the source and in the copy. Returns an NC_ error. */
static int find_begins(const struct copy *c, const struct copy_var *v,
                       struct byte_range *s)
{
    MPI_Offset from, to;
    int err = ncmpi_inq_varoffset(c->in, v->in, &from);
    if (err == NC_NOERR) err = ncmpi_inq_varoffset(c->out, v->out, &to);
    if (err == NC_NOERR) *s = (struct byte_range){.from = from, .to = to};
    return err;
}

static int fixed_range(const struct copy *c, const struct copy_var *v,
                       struct byte_range *s)
{
    *s = (struct byte_range){0};
    if (v->record || in_records(c, v) || !is_contiguous(c, v)) return NC_NOERR;
    int err = find_begins(c, v, s);
    if (v->ndims > 0) s->from += v->from[0] * step_size(v);
    s->n = v->total * v->size;
    return err;
}

/* Finds the records to copy as bytes: both files must have the same variables at the same
 * offsets in a record, and nothing else. The last record is copied through the library,
 * which then updates the number of records. */
static int record_range(const struct copy *c, struct byte_range *s, int64_t *records)
{
    MPI_Offset from, to = 0;
    int64_t sum = 0, first = 0, n = 0;
    int err = ncmpi_inq_recsize(c->in, &from);
    if (err == NC_NOERR) err = ncmpi_inq_recsize(c->out, &to);
    *s = (struct byte_range){0};
    *records = 0;
    for (int i = 0; i < c->nvars && err == NC_NOERR; i++) {
        const struct copy_var *v = &c->vars[i];
        struct byte_range begin;
        if (!v->record) continue;
        if (!in_records(c, v) || !is_contiguous(c, v)) return NC_NOERR;
        err = find_begins(c, v, &begin);
        if (err != NC_NOERR) break;
        if (sum == 0) *s = begin;
        if (begin.from - s->from != begin.to - s->to) return err;
        sum += step_size(v);
        first = v->from[0];
        n = v->length[0];
    }
    if (err != NC_NOERR || n < 2 || from != to || sum != to) return err;
    s->from += first * sum;
    s->n = (n - 1) * sum;
    *records = n - 1;
    return NC_NOERR;
}

/* ---- moving ---- */

static int failed(struct mover *m, int code)
{
    m->c->words = strerror(errno);
    return code;
}

static int read_bytes(struct mover *m, int fd, const char *path, char *bytes, int64_t at,
                      int64_t n)
{
    m->path = path;
    for (ssize_t got; n > 0; bytes += got, at += got, n -= got) {
        got = pread(fd, bytes, (size_t)n, at);
        bool zeros = fd == m->in && m->c->size >= 0 && at >= m->c->size;
        if (got == 0 && zeros) { /* copy_plan has reported that the source is too short */
            memset(bytes, 0, (size_t)n);
            got = n;
        } else if (got == 0) {
            m->c->words = "the file ends before its last values";
            return NC_EREAD;
        }
        if (got < 0 && errno != EINTR) return failed(m, NC_EREAD);
        if (got < 0) got = 0;
    }
    return NC_NOERR;
}

static int write_bytes(struct mover *m, const char *bytes, int64_t at, int64_t n)
{
    m->path = m->c->options.to;
    for (ssize_t put; n > 0; bytes += put, at += put, n -= put) {
        put = pwrite(m->out, bytes, (size_t)n, at);
        if (put < 0 && errno != EINTR) return failed(m, NC_EWRITE);
        if (put < 0) put = 0;
    }
    return NC_NOERR;
}

static int copy_range_part(struct mover *m, const struct byte_range *s)
{
    const struct copy_options *o = &m->c->options;
    int err = read_bytes(m, m->in, o->from, m->bytes, s->from, s->n);
    if (err == NC_NOERR) err = write_bytes(m, m->bytes, s->to, s->n);
    if (err != NC_NOERR || o->unchecked) return err;
    err = read_bytes(m, m->out, o->to, m->others, s->to, s->n);
    if (err != NC_NOERR || memcmp(m->bytes, m->others, (size_t)s->n) == 0) return err;
    m->c->words = COPY_DIFFERS;
    return NC_EREAD;
}

/* Copies a range. Its pieces, which end at page boundaries in the copy, are assigned to
 * the processes round-robin. */
static int move(struct mover *m, const struct byte_range *s)
{
    struct byte_range part = {.from = s->from, .to = s->to};
    int err = NC_NOERR;
    for (int64_t left = s->n; left > 0 && err == NC_NOERR; left -= part.n) {
        part.n = ROOM - part.to % PAGE;
        if (part.n > left) part.n = left;
        if (m->turns++ % m->c->nprocs == m->c->rank) err = copy_range_part(m, &part);
        part.from += part.n;
        part.to += part.n;
        copy_moved(m->c, part.n);
    }
    return err;
}

static int move_fixed(struct mover *m)
{
    struct copy *c = m->c;
    struct byte_range s;
    int err = NC_NOERR;
    for (int i = 0; i < c->nvars && err == NC_NOERR; i++) {
        err = fixed_range(c, &c->vars[i], &s);
        if (err != NC_NOERR || s.n == 0) continue;
        c->vars[i].done = true;
        err = move(m, &s);
    }
    return err;
}

static int move_records(struct mover *m)
{
    struct byte_range s;
    int err = record_range(m->c, &s, &m->c->records_done);
    return err == NC_NOERR ? move(m, &s) : err;
}

/* Opens the files and allocates buffers. Returns true on all processes or on none. */
static bool prepare(struct mover *m)
{
    const struct copy_options *o = &m->c->options;
    m->in = open(o->from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    m->out = open(o->to, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    m->bytes = base_malloc(ROOM);
    m->others = base_malloc(ROOM);
    int ready = m->in >= 0 && m->out >= 0 && m->bytes != NULL && m->others != NULL;
    if (ready) ready = util_identity_is(&m->c->id, m->out);
    if (ready) ready = util_is_one_file(m->c->in) && util_is_one_file(m->c->out);
    MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return ready != 0;
}

void copy_bytes(struct copy *c)
{
    struct mover m = {.c = c, .path = c->options.to};
    int err = NC_NOERR;
    if (prepare(&m)) {
        err = move_fixed(&m);
        if (err == NC_NOERR) err = move_records(&m);
    }
    if (m.in >= 0) close(m.in);
    copy_keep_error(c, m.path, err);
    if (m.out >= 0 && close(m.out) != 0 && err == NC_NOERR)
        copy_keep_error(c, c->options.to, failed(&m, NC_EWRITE));
    base_free(m.bytes);
    base_free(m.others);
}
