/* What other programs, or other openings of this one, do to the file while it is open
 * here: they add records, make the file longer, change its header. What they added stays;
 * a header that is not the one read here is not written to.
 *
 * The header is compared by process 0 before it writes one, and when a dataset that was
 * written to is closed; the number of records before another one is written. Puts and
 * gets look at neither. A lock that all openings by this library take makes one step of
 * comparing and writing; a program that takes none may still come in between. */
#include "mpio.h"

#include <string.h>
#include <time.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"

enum { PIECE = 1 << 20, NUMRECS = 4, HEAD = 12 };

/* ---- looking ---- */

/* Where independent I/O is ruled out. *seen stays false where that might not show what
 * others wrote. */
static int look_aside(struct mpio *m, int64_t at, void *bytes, int64_t n, bool *seen)
{
    const struct dataset *ds = m->base.ds;
    int fd = m->file.guard;
    *seen = fd >= 0 && base_fs_coherent(fd);
    return *seen ? base_read_at(fd, ds->base + at, bytes, n, ds->full) : NC_NOERR;
}

/* Process 0 reads what is in the file now, alone. */
static int look_at_bytes(struct mpio *m, int64_t at, void *bytes, int64_t n, bool *seen)
{
    *seen = !m->file.no_indep;
    if (!*seen) return look_aside(m, at, bytes, n, seen);
    m->base.ds->stats.header_read_bytes += n;
    return file_read(&m->file, at, bytes, n);
}

static int tell_changed(const struct mpio *m)
{
    return base_error_set(NC_EFILE,
                          "%s: the header was changed by another program since it was "
                          "opened, and is left as it is; close the dataset and open it "
                          "again",
                          m->base.ds->full);
}

/* ---- locking ---- */

/* -1: a file that MPI-IO alone reaches, or a process that goes through it: process 0,
 * whose guard is open in any case, has the last word. */
static int locked_descriptor(const struct mpio *m)
{
    return m->file.guard >= 0 ? m->file.guard : m->file.own.fd;
}

int mpio_lock_header(struct mpio *m)
{
    int fd = m->pending ? -1 : locked_descriptor(m);
    return fd < 0 ? NC_NOERR : base_lock_header(fd, m->base.ds->full);
}

void mpio_unlock_header(struct mpio *m)
{
    int fd = locked_descriptor(m);
    if (fd >= 0) base_lock_drop(fd, BASE_LOCK_HEADER);
}

/* ---- the number of records ---- */

int mpio_look_records(struct mpio *m, int64_t *there)
{
    const struct dataset *ds = m->base.ds;
    unsigned char head[HEAD] = {0}, field[8];
    bool seen;
    *there = -1;
    int width = cdf_encode_numrecs(ds->header.format, 0, field);
    int err = look_at_bytes(m, 0, head, NUMRECS + width, &seen);
    if (err != NC_NOERR || !seen) return err;
    if (cdf_is_moving(head, sizeof head)) return mpio_tell_pending(m, NC_EFILE);
    if (m->image != NULL && m->torn_high == 0 && memcmp(head, m->image, NUMRECS) != 0)
        return tell_changed(m);
    *there = cdf_decode_numrecs(ds->header.format, head);
    return NC_NOERR;
}

int mpio_learn_records(struct mpio *m)
{
    int64_t there;
    if (m->base.ds->rank != 0 || m->pending) return NC_NOERR;
    int err = mpio_look_records(m, &there);
    if (err != NC_NOERR) return err;
    if (there > m->base.ds->held) m->base.ds->held = there;
    m->lowered = there >= 0 && there < m->numrecs_in_file;
    return NC_NOERR;
}

/* ---- the header ---- */

/* Bytes of the file and the image's are the same, but for those that may be torn and the
 * number of records. */
static bool is_image(const struct mpio *m, int64_t at, unsigned char *bytes, int64_t n)
{
    unsigned char field[8];
    int width = cdf_encode_numrecs(m->base.ds->header.format, 0, field);
    const int64_t spared[2][2] = {{NUMRECS, NUMRECS + width},
                                  {m->torn_low, m->torn_high}};
    for (int i = 0; i < 2; i++) {
        int64_t low = spared[i][0] > at ? spared[i][0] : at;
        int64_t high = spared[i][1] < at + n ? spared[i][1] : at + n;
        if (low < high) memcpy(bytes + (low - at), m->image + low, (size_t)(high - low));
    }
    return memcmp(bytes, m->image + at, (size_t)n) == 0;
}

/* Of the header that was read or written here. */
static int compare_image(struct mpio *m, int64_t *records)
{
    int64_t size = m->image_size, most = size < PIECE ? size : PIECE;
    unsigned char *bytes = base_malloc((size_t)most);
    int err = bytes == NULL ? NC_ENOMEM : NC_NOERR;
    bool seen = true;
    for (int64_t at = 0, n; at < size && seen && err == NC_NOERR; at += n) {
        n = size - at < most ? size - at : most;
        err = look_at_bytes(m, at, bytes, n, &seen);
        if (err != NC_NOERR || !seen) continue;
        if (at == 0 && n >= HEAD)
            *records = cdf_decode_numrecs(m->base.ds->header.format, bytes);
        if (!is_image(m, at, bytes, n)) err = tell_changed(m);
    }
    base_free(bytes);
    return err;
}

/* Of a file that was made here and has no header yet. */
static int check_new(struct mpio *m)
{
    unsigned char first[NUMRECS] = {0};
    bool seen;
    if (m->begun || m->file.no_indep) return NC_NOERR;
    int err = look_at_bytes(m, 0, first, sizeof first, &seen);
    if (err != NC_NOERR || base_is_zero(first, sizeof first)) return err;
    return base_error_set(NC_EFILE,
                          "%s: another program has made a dataset of this name since it "
                          "was created here; that one is left as it is",
                          m->base.ds->full);
}

int mpio_check_header(struct mpio *m, int64_t *records)
{
    *records = -1;
    if (m->base.ds->rank != 0) return NC_NOERR;
    if (m->created) return check_new(m);
    return m->image == NULL || m->pending ? NC_NOERR : compare_image(m, records);
}

int mpio_check_definitions(struct driver *self, const struct cdf_header *before)
{
    struct mpio *m = (struct mpio *)self;
    const struct dataset *ds = self->ds;
    int64_t records;
    int err = mpio_check_header(m, &records);
    if (err != NC_NOERR || before == NULL || records <= before->numrecs) return err;
    struct cdf_header old = *before, new = ds->header; /* only to be read */
    old.numrecs = new.numrecs = records;
    if (old.nvars == new.nvars && cdf_move_total(&old, &new) == 0) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: another program has added records, %lld by now, since "
                          "ncmpi_redef; nothing was changed",
                          ds->full, (long long)records);
}

/* ---- where values are, when it is closed ---- */

/* The header in the file now, whatever it is; *h is initialised if the result is
 * NC_NOERR. */
static int decode_now(struct mpio *m, struct cdf_header *h)
{
    struct cdf_fault fault = {0};
    unsigned char *bytes = NULL;
    int64_t size = 0, n = m->image_size;
    bool seen = true;
    int err = file_size(&m->file, &size), code = CDF_MORE;
    while (err == NC_NOERR && seen && code == CDF_MORE) {
        if (n > size) n = size;
        unsigned char *grown = base_realloc(bytes, (size_t)n + 1);
        if (grown == NULL) err = NC_ENOMEM;
        if (grown != NULL) bytes = grown;
        if (err == NC_NOERR) err = look_at_bytes(m, 0, bytes, n, &seen);
        if (err == NC_NOERR && seen) code = cdf_decode(h, bytes, (size_t)n, size, &fault);
        n = fault.likely > n ? fault.likely : 2 * n;
    }
    base_free(bytes);
    return err != NC_NOERR ? err : code == CDF_MORE ? NC_EREAD : code;
}

static bool same_places(const struct cdf_header *a, const struct cdf_header *b)
{
    bool same = a->format == b->format && a->nvars <= b->nvars &&
                (a->nrecord_vars == 0 || a->record_size == b->record_size);
    for (int id = 0; id < a->nvars && same; id++)
        same = a->vars[id].begin == b->vars[id].begin &&
               a->vars[id].size == b->vars[id].size &&
               a->vars[id].type == b->vars[id].type &&
               a->vars[id].is_record == b->vars[id].is_record;
    return same;
}

int mpio_check_places(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    struct base_error_note note;
    struct cdf_header now;
    int64_t records;
    if (ds->rank != 0 || m->image == NULL || m->pending) return NC_NOERR;
    base_error_keep(&note);
    int err = compare_image(m, &records);
    if (err != NC_EFILE) return err;
    err = decode_now(m, &now);
    bool same = err == NC_NOERR && same_places(&ds->header, &now);
    if (err == NC_NOERR) cdf_free(&now);
    base_error_restore(&note);
    if (same) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: another program has changed the header, and where values "
                          "lie, since it was opened; values that were put here may be "
                          "lost, or in the place of others",
                          ds->full);
}

/* ---- the size ---- */

/* A byte at the end, as it is. */
static int write_last(struct file *f, int64_t at)
{
    unsigned char last = 0;
    int err = file_read(f, at, &last, 1);
    return err == NC_NOERR ? file_write(f, at, &last, 1) : err;
}

static int extend_file(struct file *f, int64_t size)
{
    int64_t there;
    int err = file_ready(f);
    if (err != NC_NOERR) return err;
    if (f->own.fd >= 0) {
        err = base_extend(f->own.fd, f->ds->base + size, f->ds->full);
        file_wrote(f);
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
    if (f->ds->rank == 0 && err == NC_NOERR && size > f->end) file_ends_at(f, size);
    return err;
}
