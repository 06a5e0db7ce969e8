/* Repairs a file whose variables are not where the format requires them (-r). Every
 * reader refuses such a file, although its header states where the values are. The copy
 * gets the same definitions in a valid layout, and the values are moved there. Three
 * kinds of files are known:
 * - fixed-size variables follow the records, or are not in order;
 * - the variables of a record are not padded to multiples of 4 bytes;
 * - a variable is too large for its position in CDF-1 or CDF-2. The copy gets the next
 *   format that is large enough.
 * The header may be wrong. So a file is not rescued if variables overlap, if values are
 * missing, if two sizes of a record are possible, or if it has bytes other than zero that
 * belong to no variable. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "util_message.h"
#include "util_progress.h"
#include "validator.h"

enum { PIECE = 1 << 20 };

struct rescue {
    struct validator *v;
    struct util_classic *file;
    struct cdf_header from, to; /* the headers of the file and of the copy */
    int64_t step;               /* size of a record in the file */
    char *piece, *records;      /* PIECE bytes each; `records` for the copy */
    struct util_progress progress;
    int64_t moved; /* number of bytes that were read */
};

static int64_t value_bytes(const struct cdf_var *v)
{
    return v->nelems * cdf_type_size(v->type);
}

/* Returns the offset of the next bytes in the file that are not in a hole. */
static int64_t skip_hole(const struct rescue *r, int64_t at)
{
#ifdef SEEK_DATA
    off_t next = lseek(r->file->fd, (off_t)at, SEEK_DATA);
    if (next > at) return next;
    if (next < 0 && errno == ENXIO) return r->file->size;
#endif
    return at;
}

/* ---- the layout of the file ---- */

struct extent {
    int64_t begin, end;
    int64_t padding; /* number of bytes after it that may have any value */
    bool records;
};

/* Determines the size of a record. Returns whether the variables of a record follow one
 * another, with padding or, if `packed`, without. */
static bool find_step(struct rescue *r, bool packed)
{
    const struct cdf_var *last = NULL;
    int64_t sum = 0;
    for (int i = 0; i < r->from.nvars; i++) {
        const struct cdf_var *v = &r->from.vars[i];
        if (!v->is_record) continue;
        if (last != NULL &&
            v->begin - last->begin != (packed ? value_bytes(last) : last->size))
            return false;
        sum += value_bytes(v);
        last = v;
    }
    r->step = packed ? sum : r->from.record_size;
    return true;
}

/* Lists the extents of the header, the fixed-size variables and the records. Returns
 * their number, or -1 if the file does not contain all of them. */
static int list_extents(const struct rescue *r, struct extent *e)
{
    const struct cdf_header *h = &r->from;
    const int64_t size = r->file->size;
    /* After a record there must not be enough space for another one. */
    struct extent records = {
        .begin = -1, .padding = r->step < 4 ? r->step - 1 : 3, .records = true};
    int n = 0;
    e[n++] = (struct extent){.end = h->size, .padding = 3};
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        const int64_t bytes = v->is_record && h->numrecs == 0 ? 0 : value_bytes(v);
        if (v->is_record && records.begin < 0) records.begin = records.end = v->begin;
        if (bytes == 0) continue;
        if (v->begin > size || bytes > size - v->begin) return -1;
        if (v->is_record)
            records.end = v->begin + bytes;
        else
            e[n++] = (struct extent){v->begin, v->begin + bytes, 3, false};
    }
    if (r->step == 0 || (h->numrecs == 0 && records.begin >= size)) return n;
    if (h->numrecs > 0) {
        if (h->numrecs - 1 > (size - records.end) / r->step) return -1;
        records.end += (h->numrecs - 1) * r->step;
    }
    e[n++] = records;
    return n;
}

static int compare_extents(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    if (x->begin == y->begin) return (x->end > y->end) - (x->end < y->end);
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool is_gap_zero(const struct rescue *r, int64_t at, int64_t end)
{
    while ((at = skip_hole(r, at)) < end) {
        int64_t part = end - at < PIECE ? end - at : PIECE;
        if (util_classic_read(r->file, at, r->piece, (size_t)part) != part ||
            !base_is_zero(r->piece, part))
            return false;
        at += part;
    }
    return true;
}

/* Returns whether the extents do not overlap and nothing but zeros is between them.
 * Clears *certain if there is space for values after the records. */
static bool do_extents_fit(const struct rescue *r, struct extent *e, int n, bool *certain)
{
    qsort(e, (size_t)n, sizeof *e, compare_extents);
    for (int i = 0; i < n; i++) {
        int64_t next = i + 1 < n ? e[i + 1].begin : r->file->size;
        if (e[i].end > next || !is_gap_zero(r, e[i].end + e[i].padding, next))
            return false;
        *certain &= !e[i].records || next - e[i].end < 4;
    }
    return true;
}

/* Returns whether the header states without doubt where the values are. */
static bool is_unambiguous(struct rescue *r)
{
    const struct cdf_header *h = &r->from;
    int64_t step = -1;
    bool good = h->numrecs >= 0 && (h->format == 5 || h->numrecs != UINT32_MAX);
    struct extent *e = base_malloc(((size_t)h->nvars + 2) * sizeof *e);
    for (int i = 0; i < h->nvars; i++)
        good &= h->vars[i].begin >= h->size;
    for (int packed = 0; e != NULL && good && packed < 2; packed++) {
        if (!find_step(r, packed) || r->step == step) continue;
        int n = list_extents(r, e);
        if (n < 0 || !do_extents_fit(r, e, n, &good)) continue;
        good &= step < 0 || h->numrecs < 2;
        step = r->step;
    }
    base_free(e);
    r->step = step;
    return good && step >= 0;
}

/* Reads the header of the file. Returns whether the file can be rescued, and is not valid
 * as it is. */
static bool read_misplaced(struct rescue *r)
{
    struct util_head head = {0};
    struct cdf_header valid;
    int err = CDF_MORE;
    while (err == CDF_MORE && util_classic_more(r->file, &head) == 0)
        err = cdf_decode_misplaced(&r->from, head.bytes, head.length, r->file->size);
    bool misplaced = err == NC_NOERR;
    if (misplaced &&
        cdf_decode(&valid, head.bytes, head.length, r->file->size, NULL) == NC_NOERR) {
        cdf_free(&valid);
        misplaced = false;
    }
    base_free(head.bytes);
    return misplaced && is_unambiguous(r);
}

/* ---- the copy ---- */

static int make_layout(struct rescue *r)
{
    const struct cdf_padding none = {.fixed_align = 4, .record_align = 4};
    int err = cdf_copy(&r->to, &r->from);
    if (err == NC_NOERR) err = cdf_layout(&r->to, NULL, &none);
    while (err == NC_EVARSIZE && r->to.format != 5) {
        r->to.format = r->to.format == 1 ? 2 : 5;
        err = cdf_layout(&r->to, NULL, &none);
    }
    return err;
}

/* Reads at most PIECE bytes. Returns 0, or -1 after an error. */
static int read_piece(struct rescue *r, int64_t at, int64_t n)
{
    util_progress_at(&r->progress, r->moved);
    r->moved += n;
    int64_t got = util_classic_read(r->file, at, r->piece, (size_t)n);
    if (got == n) return r->v->copy_error == 0 ? 0 : -1;
    util_message(VALIDATOR_TOOL, r->file->path, at, "%s",
                 got < 0 ? strerror(errno) : "the file has become shorter");
    return -1;
}

/* Copies n bytes to another offset. Zeros become holes. */
static int move_bytes(struct rescue *r, int64_t from, int64_t to, int64_t n)
{
    for (int64_t done = 0, part; done < n; done += part) {
        if (n > PIECE) done = skip_hole(r, from + done) - from;
        if (done >= n) break;
        part = n - done < PIECE ? n - done : PIECE;
        if (read_piece(r, from + done, part) != 0) return -1;
        if (!base_is_zero(r->piece, part))
            validator_copy_write(r->v, r->piece, (size_t)part, to + done);
    }
    return 0;
}

/* Moves the values of one record, or, if `rec` is -1, of the fixed-size variables. */
static int move_record(struct rescue *r, int64_t rec)
{
    int status = 0;
    for (int i = 0; i < r->from.nvars && status == 0; i++) {
        const struct cdf_var *v = &r->from.vars[i];
        if (v->is_record != (rec >= 0)) continue;
        int64_t from = v->begin + (v->is_record ? rec * r->step : 0);
        int64_t to = cdf_record_offset(&r->to, &r->to.vars[i], rec);
        status = move_bytes(r, from, to, value_bytes(v));
    }
    return status;
}

/* Moves n records that begin at record `rec` and fit a piece. */
static int move_records(struct rescue *r, int64_t rec, int64_t n)
{
    const int64_t size = r->to.record_size;
    int64_t begin = -1, end = 0;
    for (int i = 0; i < r->from.nvars; i++) {
        const struct cdf_var *v = &r->from.vars[i];
        if (v->is_record && begin < 0) begin = v->begin;
        if (v->is_record) end = v->begin + value_bytes(v);
    }
    if (read_piece(r, begin + rec * r->step, end - begin + (n - 1) * r->step) != 0)
        return -1;
    memset(r->records, 0, (size_t)(n * size));
    for (int i = 0; i < r->from.nvars; i++) {
        const struct cdf_var *v = &r->from.vars[i];
        int64_t to = r->to.vars[i].begin - r->to.begin_record;
        for (int64_t k = 0; v->is_record && k < n; k++)
            memcpy(r->records + to + k * size, r->piece + v->begin - begin + k * r->step,
                   (size_t)value_bytes(v));
    }
    if (!base_is_zero(r->records, n * size))
        validator_copy_write(r->v, r->records, (size_t)(n * size),
                             r->to.begin_record + rec * size);
    return 0;
}

static int move_values(struct rescue *r)
{
    const int64_t numrecs = r->step > 0 ? r->from.numrecs : 0;
    const int64_t size = r->step > r->to.record_size ? r->step : r->to.record_size;
    const int64_t most = size > 0 && size <= PIECE ? PIECE / size : 1;
    util_progress_start(&r->progress, VALIDATOR_TOOL, r->v->quiet ? 0 : r->file->size);
    int status = move_record(r, -1);
    for (int64_t rec = 0, n; rec < numrecs && status == 0; rec += n) {
        n = numrecs - rec < most ? numrecs - rec : most;
        status = size > PIECE ? move_record(r, rec) : move_records(r, rec, n);
    }
    util_progress_end(&r->progress);
    return status;
}

/* Writes the copy. Returns 0, or -1 after printing an error. */
static int write_copy(struct rescue *r)
{
    struct validator *v = r->v;
    size_t size = (size_t)cdf_encoded_size(&r->to);
    unsigned char *header = base_malloc(size);
    int status = header != NULL ? validator_copy_create(v, r->file) : -1;
    if (header == NULL) util_message(VALIDATOR_TOOL, NULL, -1, "%s", strerror(ENOMEM));
    if (status == 0) {
        cdf_encode(&r->to, header);
        validator_copy_write(v, header, size, 0);
        status = move_values(r);
        if (ftruncate(v->copy, (off_t)cdf_file_size(&r->to)) != 0 && v->copy_error == 0)
            v->copy_error = errno;
        if (validator_copy_finish(v) != 0)
            status = -1;
        else if (status != 0)
            (void)unlink(v->repair);
    }
    base_free(header);
    return status;
}

int validator_rescue(struct validator *v, struct util_classic *file)
{
    struct rescue r = {.v = v, .file = file};
    int status = 0;
    r.piece = base_malloc(PIECE);
    r.records = base_malloc(PIECE);
    cdf_init(&r.from, 0);
    cdf_init(&r.to, 0);
    if (r.piece == NULL || r.records == NULL) {
        util_message(VALIDATOR_TOOL, NULL, -1, "%s", strerror(ENOMEM));
        status = -1;
    } else if (read_misplaced(&r) && make_layout(&r) == NC_NOERR)
        status = write_copy(&r) == 0 ? r.to.format : -1;
    cdf_free(&r.from);
    cdf_free(&r.to);
    base_free(r.records);
    base_free(r.piece);
    return status;
}
