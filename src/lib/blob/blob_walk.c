/* Runs of bytes, as stretches of elements. */
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

/* The next run of bytes. */
static bool next_blob_run(struct blob_walk *w)
{
    if (w->next == w->strip.count) {
        w->next = 0;
        if (!access_runs_next(&w->runs, INT64_MAX, INT64_MAX, &w->strip)) {
            w->strip.count = 0;
            return false;
        }
    }
    w->at = w->strip.offset + w->next++ * w->strip.stride;
    w->left = w->strip.length;
    return true;
}

/* Of which record the next bytes are: as a rule of that of the last ones. */
static void find_record(struct blob_walk *w)
{
    if (w->at >= w->begin && w->at - w->begin < w->record_size) return;
    int64_t behind = w->at - w->first;
    w->record = behind / w->record_size;
    w->begin = w->at - behind % w->record_size;
}

bool blob_walk_next(struct blob_walk *w, struct blob_stretch *s)
{
    if (w->left == 0 && !next_blob_run(w)) return false;
    if (w->record_size > 0) find_record(w);
    s->record = w->record;
    s->at = (w->at - w->begin) >> w->shift;
    s->n = w->left >> w->shift;
    if (s->n > w->nelems - s->at) s->n = w->nelems - s->at;
    w->left -= s->n << w->shift;
    w->at += s->n << w->shift;
    return true;
}
