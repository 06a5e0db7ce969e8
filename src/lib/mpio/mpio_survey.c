/* What requests amount to in the file, found without walking them. */
#include "base_error.h"
#include "mpio_walk.h"

/* No region is made for it. */
bool mpio_one_run(const struct cdf_header *h, const struct driver_request *r,
                  int64_t *low)
{
    const struct cdf_var *v = &h->vars[r->varid];
    const int64_t *start = driver_start(r), *count = driver_count(r, v->ndims);
    int64_t step = cdf_type_size(v->type), offset = v->begin;
    bool whole = true; /* all dimensions so far, from end to end */
    bool one = !r->strided;
    for (int k = v->ndims - 1; k >= 0; k--) {
        bool records = k == 0 && v->is_record;
        if (records) whole = whole && step == h->record_size;
        one = one && (whole || count[k] == 1);
        if (records) step = h->record_size;
        whole = whole && count[k] == v->shape[k];
        offset += start[k] * step;
        step *= v->shape[k];
    }
    *low = offset;
    return one;
}

struct region *mpio_region(const struct cdf_header *h, const struct driver_request *r)
{
    const struct cdf_var *v = &h->vars[r->varid];
    return region_slab(v->begin, v->ndims, v->shape, driver_start(r),
                       driver_count(r, v->ndims), driver_stride(r, v->ndims),
                       cdf_type_size(v->type), v->is_record ? h->record_size : 0);
}

/* Adds one request that is not empty. */
static int add(const struct cdf_header *h, const struct driver_request *r,
               struct mpio_survey *s)
{
    const struct cdf_var *v = &h->vars[r->varid];
    int64_t bytes = driver_nelems(r, v->ndims) * cdf_type_size(v->type);
    int64_t low, high, pieces = 1;
    int shift = 0;
    if (r->raw) {
        const struct region *region = driver_raw_region(r);
        int64_t first = driver_raw_shift(h, r);
        region_bounds(region, &low, &high);
        low += first;
        high += first;
        pieces = region_runs(region);
        shift = region_grain(region);
        if (first != 0 && __builtin_ctzll((uint64_t)first) < shift)
            shift = __builtin_ctzll((uint64_t)first);
        s->fits = s->fits && region_is_ascending(region);
    } else if (mpio_one_run(h, r, &low)) {
        high = low + bytes;
        shift = __builtin_ctzll((uint64_t)(low | bytes));
    } else {
        struct region *region = mpio_region(h, r);
        if (region == NULL) return NC_ENOMEM;
        region_bounds(region, &low, &high);
        pieces = region_runs(region);
        shift = region_grain(region);
        region_free(region);
    }
    if (low < s->low) s->low = low;
    if (high > s->high) s->high = high;
    if (shift < s->shift) s->shift = shift;
    return __builtin_add_overflow(s->pieces, pieces, &s->pieces) ||
                   __builtin_add_overflow(s->bytes, bytes, &s->bytes)
               ? NC_EINTOVERFLOW
               : NC_NOERR;
}

int mpio_survey(struct mpio *m, struct driver_request *const *reqs, int64_t n,
                struct mpio_survey *survey)
{
    const struct cdf_header *h = &m->base.ds->header;
    int err = NC_NOERR;
    *survey = (struct mpio_survey){.low = INT64_MAX, .shift = MPIO_COARSE, .fits = true};
    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        if (driver_nelems(reqs[i], h->vars[reqs[i]->varid].ndims) > 0)
            err = add(h, reqs[i], survey);
    if (survey->bytes > 0 &&
        (survey->high - survey->low) / MPIO_LEAST_BLOCK >> (63 - mpio_number_bits(n)) > 0)
        survey->fits = false;
    return err;
}
