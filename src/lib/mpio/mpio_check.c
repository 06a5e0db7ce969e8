/* Checks what other jobs have done to the open file. They may add records, extend the
 * file or change its header. Added records are preserved. If the header is no longer the
 * one that this job has read, it is not overwritten. Process 0 compares the header before
 * it writes a new one, and when a dataset that was written to is closed. It compares the
 * number of records before it writes another number. Puts and gets compare nothing. All
 * users of this library acquire a lock that makes comparing and writing atomic, but a
 * program that does not use the lock may still write in between. */
#include "mpio.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "file_identity.h"

enum { PIECE = 1 << 20, NUMRECS = 4, HEAD = 12 };

/* ---- reading the file ---- */

/* Reads bytes from the file even though romio_no_indep_rw forbids independent I/O. If a
 * read might not show what others have written, reads nothing and sets *seen to false. */
static int read_coherent_bytes(struct mpio *m, int64_t at, void *bytes, int64_t n,
                               bool *seen)
{
    const struct dataset *ds = m->base.ds;
    int fd = m->file.guard;
    *seen = fd >= 0 && base_fs_is_coherent(fd);
    return *seen ? base_read_at(fd, ds->base + at, bytes, n, ds->full_path) : NC_NOERR;
}

/* Reads the file's current bytes. Only for process 0. */
static int read_current_bytes(struct mpio *m, int64_t at, void *bytes, int64_t n,
                              bool *seen)
{
    *seen = !m->file.no_indep;
    if (!*seen) return read_coherent_bytes(m, at, bytes, n, seen);
    m->base.ds->stats.header_read_bytes += n;
    return file_read(&m->file, at, bytes, n);
}

static int report_changed(const struct mpio *m)
{
    return base_error_set(
        NC_EFILE,
        "%s: the header was changed by another program after it was opened here, and was "
        "not overwritten; close the dataset and open it again",
        m->base.ds->full_path);
}

int mpio_report_pending(const struct mpio *m, int code)
{
    char why[600] = "";
    const char *lost =
        "another process has taken over the redefinition, and this process "
        "can no longer write to the dataset; close it and open it again";
    const char *left =
        "the redefinition could be neither completed nor undone; when the cause has been "
        "removed, open the dataset for writing, or run ncvalidator -f on it";
    if (code == NC_NOERR) code = NC_EFILE;
    strncpy(why, base_error_detail(code), sizeof why - 1);
    return base_error_set(code, "%s%s%s: %s", why, *why == '\0' ? "" : "; ",
                          m->base.ds->full_path, m->lost ? lost : left);
}

/* ---- locking ---- */

/* Returns the descriptor to lock: process 0's guard, elsewhere this process's own.
 * Returns -1 if this process uses MPI-IO; it then works without the lock. That is safe,
 * because the next agreement corrects the number of records through process 0, whose
 * guard is always open. */
static int locked_descriptor(const struct mpio *m)
{
    return m->file.guard >= 0 ? m->file.guard : m->file.own.fd;
}

int mpio_lock_header(struct mpio *m)
{
    int fd = m->pending ? -1 : locked_descriptor(m);
    return fd < 0 ? NC_NOERR : base_lock_header(fd, m->base.ds->full_path);
}

void mpio_unlock_header(struct mpio *m)
{
    int fd = locked_descriptor(m);
    if (fd >= 0) base_lock_release(fd, BASE_LOCK_HEADER);
}

/* ---- the number of records ---- */

int mpio_read_records(struct mpio *m, int64_t *there)
{
    const struct dataset *ds = m->base.ds;
    unsigned char head[HEAD] = {0}, field[8];
    bool seen;
    *there = -1;
    int width = cdf_encode_numrecs(ds->header.format, 0, field);
    int err = read_current_bytes(m, 0, head, NUMRECS + width, &seen);
    if (err != NC_NOERR || !seen) return err;
    if (cdf_is_moving(head, sizeof head)) return mpio_report_pending(m, NC_EFILE);
    if (m->image != NULL && m->torn_high == 0 && memcmp(head, m->image, NUMRECS) != 0)
        return report_changed(m);
    *there = cdf_decode_numrecs(ds->header.format, head);
    return NC_NOERR;
}

int mpio_read_numrecs(struct mpio *m)
{
    int64_t there;
    if (m->base.ds->rank != 0 || m->pending) return NC_NOERR;
    int err = mpio_read_records(m, &there);
    if (err != NC_NOERR) return err;
    if (there > m->base.ds->numrecs_seen) m->base.ds->numrecs_seen = there;
    m->numrecs_lowered = there >= 0 && there < m->numrecs_in_file;
    return NC_NOERR;
}

/* ---- the header ---- */

/* Returns whether bytes in the file equal those in the image, ignoring the number of
 * records and bytes that may be torn. */
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

/* Compares the file's header with the one that this job last read or wrote. */
static int compare_image(struct mpio *m, int64_t *records)
{
    int64_t size = m->image_size, most = size < PIECE ? size : PIECE;
    unsigned char *bytes = base_malloc((size_t)most);
    int err = bytes == NULL ? NC_ENOMEM : NC_NOERR;
    bool seen = true;
    for (int64_t at = 0, n; at < size && seen && err == NC_NOERR; at += n) {
        n = size - at < most ? size - at : most;
        err = read_current_bytes(m, at, bytes, n, &seen);
        if (err != NC_NOERR || !seen) continue;
        if (at == 0 && n >= HEAD)
            *records = cdf_decode_numrecs(m->base.ds->header.format, bytes);
        if (!is_image(m, at, bytes, n)) err = report_changed(m);
    }
    base_free(bytes);
    return err;
}

/* Checks that a file created by this job still has no header. */
static int check_new(struct mpio *m)
{
    unsigned char first[NUMRECS] = {0};
    bool seen;
    if (m->begun || m->file.no_indep) return NC_NOERR;
    int err = read_current_bytes(m, 0, first, sizeof first, &seen);
    if (err != NC_NOERR || base_is_zero(first, sizeof first)) return err;
    return base_error_set(NC_EFILE,
                          "%s: another program has created a dataset of this name after "
                          "it was created here; that dataset was not overwritten",
                          m->base.ds->full_path);
}

int mpio_check_header(struct mpio *m, int64_t *records)
{
    *records = -1;
    if (m->base.ds->rank != 0) return NC_NOERR;
    /* An unfinished redefinition has its own message. */
    int err = m->pending ? NC_NOERR : file_check_replaced(m->base.ds);
    if (err != NC_NOERR) return err;
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
    struct cdf_header old = *before, new = ds->header; /* not modified */
    old.numrecs = new.numrecs = records;
    if (old.nvars == new.nvars && cdf_move_total(&old, &new) == 0) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: another program has added records (now %lld) since "
                          "ncmpi_redef; nothing was changed",
                          ds->full_path, (long long)records);
}

/* ---- offsets of variables at close ---- */

/* Decodes the header currently in the file. *h is initialized only on NC_NOERR. */
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
        if (err == NC_NOERR) err = read_current_bytes(m, 0, bytes, n, &seen);
        if (err == NC_NOERR && seen) code = cdf_decode(h, bytes, (size_t)n, size, &fault);
        n = fault.estimated_size > n ? fault.estimated_size : 2 * n;
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

int mpio_check_offsets(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    struct base_error_note note;
    struct cdf_header now;
    int64_t records;
    if (ds->rank != 0 || m->image == NULL || m->pending) return NC_NOERR;
    base_error_save(&note);
    int err = compare_image(m, &records);
    if (err != NC_EFILE) return err;
    err = decode_now(m, &now);
    bool same = err == NC_NOERR && same_places(&ds->header, &now);
    if (err == NC_NOERR) cdf_free(&now);
    base_error_restore(&note);
    if (same) return NC_NOERR;
    return base_error_set(NC_EFILE,
                          "%s: another program has changed the header and the offsets of "
                          "variables since it was opened; values that this process put "
                          "may be lost, or may have overwritten other values",
                          ds->full_path);
}

/* ---- a file that is too short ---- */

void mpio_report_short_file(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    int64_t promised = cdf_file_size(&ds->header);
    char *line = m->file.warning;
    if (ds->base > 0 || m->known_size >= promised) return;
    m->short_end = m->known_size;
    if (ds->hints.short_file != HINTS_SHORT_WARN || line[0] != '\0') return;
    snprintf(line, sizeof m->file.warning,
             "the file ends at byte %lld, but its header implies %lld bytes: values "
             "beyond its end read as zeros, unless they are in logs or subfiles",
             (long long)m->known_size, (long long)promised);
    if (ds->rank == 0) trace_stats_add_line(ds, line);
}

/* Returns whether the file may be too short for a get. If a file was complete when it was
 * opened for writing, bytes missing at its end have not been put yet. But a redefinition
 * changes the size that the header implies, and values may still be in a log. */
static bool may_be_cut_off(const struct mpio *m)
{
    const struct dataset *ds = m->base.ds;
    if (ds->base > 0) return false;
    if (!ds->writable) return true;
    return m->short_end != INT64_MAX && !m->defined && ds->hints.burst != HINTS_ENABLE;
}

static int check_reach(struct mpio *m, const struct access_request *r)
{
    const struct dataset *ds = m->base.ds;
    const struct cdf_header *h = &ds->header;
    struct access_extent s;
    int64_t size = 0;
    if (r->status != NC_NOERR || !access_extent(h, r, &s)) return NC_NOERR;
    if (ds->writable && s.high <= m->short_end) return NC_NOERR;
    int err = file_ready(&m->file);
    if (err == NC_NOERR) err = file_size(&m->file, &size);
    if (err != NC_NOERR || s.high <= size) return err;
    return base_error_set(
        NC_EREAD,
        "%s: values of variable %s extend to byte %lld, but the file ends at byte %lld: "
        "it was truncated, or these values were never written (hint nc_short_file)",
        ds->full_path, h->vars[r->varid].name, (long long)s.high, (long long)size);
}

int mpio_find_beyond_end(struct mpio *m, struct access_request *const *reqs, int64_t n)
{
    int first = NC_NOERR;
    if (!may_be_cut_off(m)) return NC_NOERR;
    for (int64_t i = 0; i < n; i++) {
        int err = check_reach(m, reqs[i]);
        if (err == NC_NOERR) continue;
        access_set_status(reqs[i], err);
        if (first == NC_NOERR) first = err;
    }
    return first;
}
