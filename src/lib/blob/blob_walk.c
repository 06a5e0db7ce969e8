/* Converts runs of bytes in the file to stretches of elements. */
#include "blob_walk.h"

#include "base_error.h"

void blob_walk_slab(const struct cdf_var *v, const struct access_request *r,
                    struct subfile_slab *f)
{
    int first = v->is_record ? 1 : 0, ndims = v->ndims - first;
    *f = (struct subfile_slab){.ndims = -1};
    if (r->raw || ndims > SUBFILE_SLAB_DIMS) return;
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
                      const struct subfile_map *m)
{
    struct region_span span;
    int64_t i = 0, unit = cdf_type_size(v->type);
    if (!r->raw || access_nelems(r, v->ndims) != subfile_map_count(m)) return false;
    struct region_cursor *c = region_cursor_new(access_raw_region(r));
    bool same = c != NULL;
    while (same && region_next_blocks(c, INT64_MAX, INT64_MAX, INT64_MAX, &span)) {
        same = span.n <= m->n - i;
        for (int64_t k = 0; same && k < span.n; k++, i++)
            same = span.base + span.blocks[k].offset == m->runs[i].at * unit &&
                   span.blocks[k].length == subfile_run_length(&m->runs[i]) * unit;
    }
    region_cursor_free(c);
    return same && i == m->n;
}

int blob_walk_begin(struct blob_walk *w, const struct cdf_header *h,
                    const struct access_request *r)
{
    const struct cdf_var *v = &h->vars[r->varid];
    *w = (struct blob_walk){.nelems = v->nelems,
                            .first = v->begin,
                            .begin = v->begin,
                            .record_size = v->is_record ? h->record_size : 0,
                            .shift = __builtin_ctz((unsigned)cdf_type_size(v->type))};
    return access_runs_begin(&w->runs, h, r);
}

void blob_walk_end(struct blob_walk *w)
{
    access_runs_end(&w->runs);
}

bool blob_walk_next(struct blob_walk *w, struct blob_stretch *s)
{
    if (w->left == 0) { /* get the next run of bytes */
        if (w->next == w->strip.count) {
            w->next = 0;
            if (!access_runs_next(&w->runs, INT64_MAX, INT64_MAX, &w->strip)) {
                w->strip.count = 0;
                return false;
            }
        }
        w->at = w->strip.offset + w->next++ * w->strip.stride;
        w->left = w->strip.length;
    }
    /* These bytes usually belong to the same record as the previous ones. */
    if (w->record_size > 0 && (w->at < w->begin || w->at - w->begin >= w->record_size)) {
        int64_t distance = w->at - w->first;
        w->record = distance / w->record_size;
        w->begin = w->at - distance % w->record_size;
    }
    s->record = w->record;
    s->at = (w->at - w->begin) >> w->shift;
    s->n = w->left >> w->shift;
    if (s->n > w->nelems - s->at) s->n = w->nelems - s->at;
    w->left -= s->n << w->shift;
    w->at += s->n << w->shift;
    return true;
}
