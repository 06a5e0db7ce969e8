/* Enumerates runs of bytes: a region's runs, through a cursor, or a single run. */
#include "access_runs.h"

#include "base_error.h"
#include "access_walk.h"

struct region *access_slab_region(const struct cdf_header *h, const struct cdf_var *v,
                                  int64_t base, const int64_t *start,
                                  const int64_t *count, const int64_t *stride)
{
    return region_slab(base + v->begin, v->ndims, v->shape, start, count, stride,
                       cdf_type_size(v->type), v->is_record ? h->record_size : 0);
}

static int begin_cursor(struct access_runs *x, const struct region *region)
{
    if (region != NULL) x->cursor = region_cursor_new(region);
    if (x->cursor != NULL) return NC_NOERR;
    access_runs_end(x);
    return NC_ENOMEM;
}

int access_runs_of(struct access_runs *x, struct region *region)
{
    *x = (struct access_runs){.own = region};
    return begin_cursor(x, region);
}

int access_runs_begin(struct access_runs *x, const struct cdf_header *h,
                      const struct access_request *r)
{
    const struct cdf_var *v = &h->vars[r->varid];
    *x = (struct access_runs){.shift = 0};
    if (r->raw) {
        x->shift = access_raw_shift(h, r);
        return begin_cursor(x, access_raw_region(r));
    }
    struct access_extent s = {.pieces = 1};
    if (!access_extent(h, r, &s) || s.pieces == 1) {
        x->begin = s.low;
        x->bytes = s.bytes;
        return NC_NOERR;
    }
    x->own = access_slab_region(h, v, 0, access_start(r), access_count(r, v->ndims),
                                access_stride(r, v->ndims));
    return begin_cursor(x, x->own);
}

void access_runs_end(struct access_runs *x)
{
    region_cursor_free(x->cursor);
    region_free(x->own);
    *x = (struct access_runs){.shift = 0};
}

/* Returns the next n bytes of the single run, or all of its remaining bytes. */
static bool next_of_single_run(struct access_runs *x, int64_t n,
                               struct region_strip *strip)
{
    if (n > x->bytes - x->done) n = x->bytes - x->done;
    *strip = (struct region_strip){x->begin + x->done, n, n, 1};
    x->done += n;
    return n > 0;
}

bool access_runs_next(struct access_runs *x, int64_t max_bytes, int64_t max_runs,
                      struct region_strip *strip)
{
    if (x->cursor == NULL) return next_of_single_run(x, max_bytes, strip);
    if (!region_next(x->cursor, max_bytes, max_runs, strip)) return false;
    strip->offset += x->shift;
    return true;
}

bool access_runs_next_below(struct access_runs *x, int64_t limit, int64_t unit,
                            struct region_strip *strip)
{
    int64_t left = limit - (x->begin + x->done);
    if (x->cursor == NULL)
        return left > 0 && next_of_single_run(x, (left + unit - 1) & -unit, strip);
    if (!region_next_below(x->cursor, limit - x->shift, unit, strip)) return false;
    strip->offset += x->shift;
    return true;
}

bool access_runs_peek(struct access_runs *x, int64_t *offset)
{
    if (x->cursor == NULL) {
        *offset = x->begin + x->done;
        return x->done < x->bytes;
    }
    if (!region_peek(x->cursor, offset)) return false;
    *offset += x->shift;
    return true;
}

void access_runs_skip_to(struct access_runs *x, int64_t rank)
{
    if (x->cursor == NULL)
        x->done = rank;
    else
        (void)region_skip_to(x->cursor, rank);
}

int64_t access_runs_seek(struct access_runs *x, int64_t offset)
{
    if (x->cursor != NULL) return region_seek(x->cursor, offset - x->shift);
    int64_t behind = offset < x->begin ? 0 : offset - x->begin;
    x->done = behind < x->bytes ? behind : x->bytes;
    return x->done;
}
