/* Hyperslabs and runs of bytes, as stretches of elements. */
#include "blob_walk.h"

#include "base_error.h"

void blob_form_of(const struct cdf_var *v, const struct access_request *r,
                  struct blob_form *f)
{
    int first = v->is_record ? 1 : 0, ndims = v->ndims - first;
    *f = (struct blob_form){.ndims = -1};
    if (r->raw || ndims > BLOB_FORM_DIMS) return;
    const int64_t *start = access_start(r), *count = access_count(r, v->ndims),
                  *stride = access_stride(r, v->ndims);
    f->ndims = ndims;
    for (int i = 0; i < ndims; i++) {
        f->start[i] = start[first + i];
        f->count[i] = count[first + i];
        f->stride[i] = stride == NULL || f->count[i] == 1 ? 1 : stride[first + i];
    }
}

bool blob_walk_is_map(const struct cdf_var *v, const struct access_request *r,
                      const struct blob_map *m)
{
    struct region_span span;
    int64_t i = 0, unit = cdf_type_size(v->type);
    if (!r->raw || access_nelems(r, v->ndims) != blob_map_count(m)) return false;
    struct region_cursor *c = region_cursor_new(access_raw_region(r));
    bool same = c != NULL;
    while (same && region_next_blocks(c, INT64_MAX, INT64_MAX, INT64_MAX, &span)) {
        same = span.n <= m->n - i;
        for (int64_t k = 0; same && k < span.n; k++, i++)
            same = span.base + span.blocks[k].offset == m->runs[i].at * unit &&
                   span.blocks[k].length == blob_run_length(&m->runs[i]) * unit;
    }
    region_cursor_free(c);
    return same && i == m->n;
}

/* Of a hyperslab the fixed dimensions are a region whose elements are a byte each; it is
 * walked once for each record. */
static int begin_slab(struct blob_walk *w)
{
    const struct cdf_var *v = w->v;
    const struct access_request *r = w->r;
    int first = v->is_record ? 1 : 0, ndims = v->ndims - first;
    const int64_t *start = access_start(r), *count = access_count(r, v->ndims),
                  *stride = access_stride(r, v->ndims);
    w->step = w->records = 1;
    if (first == 1) {
        w->record = start[0];
        w->records = count[0];
        if (stride != NULL) w->step = stride[0];
    }
    w->own = ndims == 0
                 ? region_block(0, 1)
                 : region_slab(0, ndims, v->shape + first, start + first, count + first,
                               stride == NULL ? NULL : stride + first, 1, 0);
    return w->own == NULL ? NC_ENOMEM : NC_NOERR;
}

static int begin_raw(struct blob_walk *w, const struct cdf_header *h)
{
    w->shift = __builtin_ctz((unsigned)cdf_type_size(w->v->type));
    w->records = 1;
    w->record = access_start(w->r)[2];
    w->record_size = w->v->is_record ? h->record_size : 0;
    return NC_NOERR;
}

int blob_walk_begin(struct blob_walk *w, const struct cdf_header *h,
                    const struct access_request *r)
{
    *w = (struct blob_walk){.r = r, .v = &h->vars[r->varid]};
    if (access_nelems(r, w->v->ndims) == 0) return NC_NOERR; /* records is 0 */
    int err = r->raw ? begin_raw(w, h) : begin_slab(w);
    if (err != NC_NOERR) return err;
    w->cursor = region_cursor_new(r->raw ? access_raw_region(r) : w->own);
    return w->cursor == NULL ? NC_ENOMEM : NC_NOERR;
}

void blob_walk_end(struct blob_walk *w)
{
    region_cursor_free(w->cursor);
    region_free(w->own);
    w->cursor = NULL;
    w->own = NULL;
}

/* The next run of bytes; of a hyperslab the next record's first one may follow. */
static bool next_blob_run(struct blob_walk *w, int64_t *offset, int64_t *length, int *err)
{
    while (w->next == w->strip.count) {
        if (w->cursor == NULL || w->records == 0) return false;
        w->next = w->strip.count = 0;
        if (region_next(w->cursor, INT64_MAX, INT64_MAX, &w->strip)) continue;
        if (--w->records == 0) return false;
        w->record += w->step;
        if (!region_skip_to(w->cursor, 0)) {
            *err = NC_ENOMEM;
            return false;
        }
    }
    *offset = w->strip.offset + w->next++ * w->strip.stride;
    *length = w->strip.length;
    return true;
}

bool blob_walk_next(struct blob_walk *w, struct blob_stretch *s, int *err)
{
    if (w->left == 0) {
        int64_t length;
        if (!next_blob_run(w, &w->at, &length, err)) return false;
        w->left = length >> w->shift;
    }
    int64_t at = w->at;
    s->record = w->record;
    s->n = w->left;
    if (w->record_size > 0 && at >= w->record_size) {
        s->record += at / w->record_size;
        at %= w->record_size;
    }
    s->at = at >> w->shift;
    if (w->record_size > 0 && s->n > w->v->nelems - s->at) s->n = w->v->nelems - s->at;
    w->left -= s->n;
    w->at += s->n << w->shift;
    return true;
}
