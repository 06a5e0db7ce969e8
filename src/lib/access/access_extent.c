/* Computes bounds, pieces and alignment for requests without traversal or allocation. */
#include "base_error.h"
#include "access_walk.h"

static int trailing_zeros(int64_t n)
{
    return n == 0 ? 63 : __builtin_ctzll((uint64_t)n);
}

/* Processes the dimensions from last to first. As long as the data of each index begin
 * where those of the previous index end, the elements form one run. */
void access_extent_slab(const struct cdf_header *h, const struct cdf_var *v,
                        const int64_t *start, const int64_t *count, const int64_t *stride,
                        struct access_extent *s)
{
    int64_t step = cdf_type_size(v->type), run = step, span = 0, places = 0;
    bool joined = true;
    *s = (struct access_extent){.low = v->begin, .pieces = 1, .ascending = true};
    for (int k = v->ndims - 1; k >= 0; k--) {
        if (k == 0 && v->is_record) step = h->record_size;
        s->low += start[k] * step;
        if (count[k] > 1) { /* a single index may have any stride */
            int64_t pitch = stride == NULL ? step : step * stride[k];
            joined = joined && pitch == run;
            if (joined) run *= count[k];
            if (!joined) s->pieces *= count[k];
            if (!joined) places |= pitch;
            span += (count[k] - 1) * pitch;
        }
        if (k > 0) step *= v->shape[k];
    }
    s->high = s->low + span + cdf_type_size(v->type);
    s->bytes = s->pieces * run;
    s->shift = trailing_zeros(s->low | run | places);
}

static void raw_extent(const struct cdf_header *h, const struct access_request *r,
                       struct access_extent *s)
{
    const struct region *region = access_raw_region(r);
    int64_t first = access_raw_shift(h, r);
    region_bounds(region, &s->low, &s->high);
    s->low += first;
    s->high += first;
    s->bytes = region_bytes(region);
    s->pieces = region_runs(region);
    s->shift = region_grain(region);
    if (trailing_zeros(first) < s->shift) s->shift = trailing_zeros(first);
    s->ascending = region_is_ascending(region);
}

bool access_extent(const struct cdf_header *h, const struct access_request *r,
                   struct access_extent *s)
{
    const struct cdf_var *v = &h->vars[r->varid];
    if (access_nelems(r, v->ndims) == 0) return false;
    if (r->raw)
        raw_extent(h, r, s);
    else
        access_extent_slab(h, v, access_start(r), access_count(r, v->ndims),
                           access_stride(r, v->ndims), s);
    if (s->shift > ACCESS_COARSE) s->shift = ACCESS_COARSE;
    return true;
}

void access_extent_add(struct access_extent *sum, const struct access_extent *s)
{
    if (s->low < sum->low) sum->low = s->low;
    if (s->high > sum->high) sum->high = s->high;
    if (s->shift < sum->shift) sum->shift = s->shift;
    if (__builtin_add_overflow(sum->pieces, s->pieces, &sum->pieces))
        sum->pieces = INT64_MAX;
    if (__builtin_add_overflow(sum->bytes, s->bytes, &sum->bytes)) sum->bytes = INT64_MAX;
    sum->ascending = sum->ascending && s->ascending;
}

int64_t access_records(const struct cdf_header *h, const struct access_request *r)
{
    const struct cdf_var *v = &h->vars[r->varid];
    int64_t low, high;
    if (!v->is_record || access_nelems(r, v->ndims) == 0) return 0;
    if (r->raw) {
        region_bounds(access_raw_region(r), &low, &high);
        return access_start(r)[2] + (high - 1) / h->record_size + 1;
    }
    const int64_t *stride = access_stride(r, v->ndims);
    return access_start(r)[0] +
           (access_count(r, v->ndims)[0] - 1) * (stride == NULL ? 1 : stride[0]) + 1;
}
