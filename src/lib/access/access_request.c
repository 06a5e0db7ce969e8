/* What follows from a request. */
#include "access_request.h"

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
