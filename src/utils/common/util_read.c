/* Reads variables sequentially. Several records are read together with the data between
 * them if the gaps are small; otherwise records are read one at a time. netCDF-4 files
 * are read in hyperslabs. */
#include "util_read.h"

#include <errno.h>
#include <string.h>

#include "base_mem.h"
#include "util_message.h"
#include "util_nc4.h"

/* Records are read together, and the bytes between them are discarded, if reading a gap
 * costs less than another call. */
enum { SPAN = 1 << 20, WORTHY_GAP = 1 << 12 };

static int no_memory(const struct util_reader *r)
{
    util_message(r->file->tool, NULL, -1, "%s", strerror(ENOMEM));
    return -1;
}

static int prepare_box(struct util_reader *r)
{
    const int n = r->var->ndims;
    r->box = base_malloc((3 * (size_t)n + 1) * sizeof *r->box);
    if (r->box == NULL) return no_memory(r);
    for (int i = 0; i < n; i++)
        r->box[i] =
            i == 0 && r->var->is_record ? r->file->header.numrecs : r->var->shape[i];
    return 0;
}

int util_reader_init(struct util_reader *r, const struct util_classic *file,
                     const struct cdf_var *var)
{
    const struct cdf_header *h = &file->header;
    *r = (struct util_reader){
        .file = file,
        .var = var,
        .element = cdf_type_size(var->type),
        .total = var->is_record ? var->nelems * h->numrecs : var->nelems,
    };
    if (file->nc4 != NULL) return prepare_box(r);
    int64_t gap = h->record_size - var->nelems * r->element;
    if (!var->is_record || gap > WORTHY_GAP || h->record_size > SPAN / 2) return 0;
    r->span = base_malloc(SPAN);
    return r->span != NULL ? 0 : no_memory(r);
}

void util_reader_free(struct util_reader *r)
{
    base_free(r->span);
    base_free(r->box);
}

/* Fills the values beyond the end of the file with zeros. */
static int fill_up(struct util_reader *r, int64_t end, char *bytes, int64_t n)
{
    const struct cdf_header *h = &r->file->header;
    int64_t last = r->var->is_record ? h->numrecs - 1 : 0;
    int64_t whole = cdf_record_offset(h, r->var, last) + r->var->nelems * r->element;
    if (!r->is_short &&
        util_file_is_short(r->file->tool, r->file->path, end, r->var->name, whole - end,
                           UTIL_LACKING_MOST) != 0)
        return -1;
    r->is_short = true;
    memset(bytes, 0, (size_t)n);
    return 0;
}

/* Reads a range of bytes, all of which must exist. Returns 0, or -1 after printing an
 * error. */
static int read_all(struct util_reader *r, int64_t offset, char *bytes, int64_t length)
{
    int64_t got = util_classic_read(r->file, offset, bytes, (size_t)length);
    if (got == length) return 0;
    if (got >= 0 && r->file->blob == NULL)
        return fill_up(r, got > 0 ? offset + got : r->file->size, bytes + got,
                       length - got);
    if (got < 0 && r->file->blob != NULL)
        util_message(r->file->tool, r->file->path, -1, "%s", util_classic_why(r->file));
    else if (got < 0)
        util_message(r->file->tool, r->file->path, offset, "variable '%s': %s",
                     r->var->name, strerror(errno));
    else
        util_message(r->file->tool, r->file->path, offset + got,
                     "variable '%s': the file ends before its last values", r->var->name);
    return -1;
}

/* Reads at most `most` whole records, starting with `record`. Returns their number. */
static int64_t read_records(struct util_reader *r, int64_t record, char *values,
                            int64_t most)
{
    const struct cdf_header *h = &r->file->header;
    int64_t piece = r->var->nelems * r->element;
    int64_t n = SPAN / h->record_size;
    if (n > most) n = most;
    if (read_all(r, cdf_record_offset(h, r->var, record), r->span,
                 (n - 1) * h->record_size + piece) != 0)
        return -1;
    for (int64_t i = 0; i < n; i++)
        memcpy(values + i * piece, r->span + i * h->record_size, (size_t)piece);
    return n;
}

/* Reads the largest hyperslab of at most `most` elements. */
static int64_t read_box(struct util_reader *r, char *values, int64_t most)
{
    const int n = r->var->ndims;
    struct util_piece p = {.start = r->box + n, .count = r->box + n + n};
    util_piece_make(&p, n, r->box, r->done, most);
    int varid = (int)(r->var - r->file->header.vars);
    return util_nc4_read(r->file, varid, &p, values) == 0 ? p.n : -1;
}

int64_t util_read(struct util_reader *r, void *values, int64_t most)
{
    int64_t left = r->total - r->done;
    if (left < most) most = left;
    if (most == 0) return 0;

    int64_t per_record = r->var->nelems;
    int64_t record = r->done / per_record, within = r->done % per_record;
    int64_t n;
    if (r->box != NULL) {
        n = read_box(r, values, most);
    } else if (r->span != NULL && within == 0 && most >= per_record) {
        n = read_records(r, record, values, most / per_record);
        if (n > 0) n *= per_record;
    } else {
        n = per_record - within < most ? per_record - within : most;
        int64_t offset = cdf_record_offset(&r->file->header, r->var, record);
        if (read_all(r, offset + within * r->element, values, n * r->element) != 0)
            n = -1;
    }
    if (n > 0) r->done += n;
    return n;
}
