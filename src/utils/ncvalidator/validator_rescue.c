/* Repairs a file whose variables are not where the format requires them (-r). Every
 * reader refuses such a file, although its header states where the values are. The copy
 * gets the same definitions in a valid layout, and the values are moved there. Three
 * kinds of files are known:
 * - fixed-size variables follow the records, or are not in order;
 * - the variables of a record are not padded to multiples of 4 bytes;
 * - a variable is too large for its position in CDF-2. The copy is then CDF-5.
 * A file in which variables overlap, or which does not contain all values, is not
 * rescued, because its header may be wrong. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "util_message.h"
#include "validator.h"

enum { PIECE = 1 << 20 };

struct rescue {
    struct validator *v;
    struct util_classic *file;
    struct cdf_header from, to; /* the headers of the file and of the copy */
    int64_t step;               /* size of a record in the file */
    bool packed;                /* the variables of a record are not padded */
    char *piece;
};

/* ---- the layout of the file ---- */

struct extent {
    int64_t begin, end;
    bool packed; /* nothing but padding may follow */
};

static int64_t value_bytes(const struct cdf_var *v)
{
    return v->nelems * cdf_type_size(v->type);
}

/* Determines the size of a record. Returns whether the variables of a record follow one
 * another, with or without padding. */
static bool find_step(struct rescue *r)
{
    const struct cdf_var *last = NULL;
    bool padded = true, packed = true;
    int64_t sum = 0;
    for (int i = 0; i < r->from.nvars; i++) {
        const struct cdf_var *v = &r->from.vars[i];
        if (!v->is_record) continue;
        padded &= last == NULL || v->begin == last->begin + last->size;
        packed &= last == NULL || v->begin == last->begin + value_bytes(last);
        sum += value_bytes(v);
        last = v;
    }
    r->packed = !padded;
    r->step = padded ? r->from.record_size : sum;
    return padded || packed;
}

/* Lists the extents of the header, the fixed-size variables and the records. Returns
 * their number, or -1 if the file does not contain all of them. */
static int list_extents(const struct rescue *r, struct extent *e)
{
    const struct cdf_header *h = &r->from;
    const int64_t size = r->file->size;
    struct extent records = {.begin = -1, .packed = r->packed};
    int n = 0;
    e[n++] = (struct extent){.end = h->size};
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        const int64_t bytes = value_bytes(v);
        if (v->begin > size || bytes > size - v->begin) return -1;
        if (v->is_record && records.begin < 0) records.begin = v->begin;
        if (v->is_record) records.end = v->begin + bytes;
        if (!v->is_record && bytes > 0)
            e[n++] = (struct extent){.begin = v->begin, .end = v->begin + bytes};
    }
    if (h->numrecs == 0 || r->step == 0) return n;
    if (h->numrecs - 1 > (size - records.end) / r->step) return -1;
    records.end += (h->numrecs - 1) * r->step;
    e[n++] = records;
    return n;
}

static int compare_extents(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool are_extents_disjoint(struct extent *e, int n, int64_t size)
{
    qsort(e, (size_t)n, sizeof *e, compare_extents);
    for (int i = 0; i < n; i++) {
        int64_t next = i + 1 < n ? e[i + 1].begin : size;
        if (e[i].end > next || (e[i].packed && next - e[i].end >= 4)) return false;
    }
    return true;
}

/* Returns whether the header states without doubt where the values are. */
static bool is_unambiguous(struct rescue *r)
{
    const struct cdf_header *h = &r->from;
    if (h->numrecs < 0 || (h->format != 5 && h->numrecs == UINT32_MAX)) return false;
    for (int i = 0; i < h->nvars; i++)
        if (h->vars[i].begin < h->size || h->vars[i].begin > r->file->size) return false;
    struct extent *e = base_malloc(((size_t)h->nvars + 2) * sizeof *e);
    int n = e != NULL && find_step(r) ? list_extents(r, e) : -1;
    bool good = n >= 0 && are_extents_disjoint(e, n, r->file->size);
    base_free(e);
    return good;
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
    if (err != NC_EVARSIZE || r->to.format == 5) return err;
    r->to.format = 5;
    return cdf_layout(&r->to, NULL, &none);
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

/* Copies n bytes to another offset. Zeros become holes. */
static int move_bytes(struct rescue *r, int64_t from, int64_t to, int64_t n)
{
    for (int64_t done = 0, part; done < n; done += part) {
        if (n > PIECE) done = skip_hole(r, from + done) - from;
        if (done >= n) break;
        part = n - done < PIECE ? n - done : PIECE;
        int64_t got = util_classic_read(r->file, from + done, r->piece, (size_t)part);
        if (got == part) {
            if (!base_is_zero(r->piece, part))
                validator_copy_write(r->v, r->piece, (size_t)part, to + done);
            continue;
        }
        util_message(VALIDATOR_TOOL, r->file->path, from + done, "%s",
                     got < 0 ? strerror(errno) : "the file has become shorter");
        return -1;
    }
    return 0;
}

static int move_values(struct rescue *r)
{
    const int64_t numrecs = r->from.numrecs;
    int status = 0;
    for (int64_t rec = -1; rec < numrecs && status == 0; rec++)
        for (int i = 0; i < r->from.nvars && status == 0; i++) {
            const struct cdf_var *v = &r->from.vars[i];
            if (v->is_record != (rec >= 0)) continue;
            int64_t from = v->begin + (v->is_record ? rec * r->step : 0);
            int64_t to = cdf_record_offset(&r->to, &r->to.vars[i], rec);
            status = move_bytes(r, from, to, value_bytes(v));
        }
    return status;
}

/* Writes the copy. Returns 0, or -1 after printing an error. */
static int write_copy(struct rescue *r)
{
    struct validator *v = r->v;
    size_t size = (size_t)cdf_encoded_size(&r->to);
    unsigned char *header = base_malloc(size);
    r->piece = base_malloc(PIECE);
    int status =
        header != NULL && r->piece != NULL ? validator_copy_create(v, r->file) : -1;
    if (header == NULL || r->piece == NULL)
        util_message(VALIDATOR_TOOL, NULL, -1, "%s", strerror(ENOMEM));
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
    base_free(r->piece);
    base_free(header);
    return status;
}

int validator_rescue(struct validator *v, struct util_classic *file)
{
    struct rescue r = {.v = v, .file = file};
    int status = 0;
    cdf_init(&r.from, 0);
    cdf_init(&r.to, 0);
    if (read_misplaced(&r) && make_layout(&r) == NC_NOERR)
        status = write_copy(&r) == 0 ? r.to.format : -1;
    cdf_free(&r.from);
    cdf_free(&r.to);
    return status;
}
