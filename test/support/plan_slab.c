/* See plan_slab.h. */
#include "plan_slab.h"

void plan_slab_set(struct plan_slab *s, int dim, int64_t length, uint64_t at,
                   uint64_t many, int64_t stride)
{
    s->stride[dim] = stride;
    s->start[dim] = (int64_t)(at % (uint64_t)length);
    const int64_t most = (length - s->start[dim] - 1) / stride + 1;
    s->count[dim] = 1 + (int64_t)(many % (uint64_t)most);
}

struct plan_slab plan_slab_share(const struct plan_slab *s, int dim, int rank, int nprocs)
{
    struct plan_slab part = *s;
    if (s->ndims == 0) return part;
    const int64_t low = s->count[dim] * rank / nprocs;
    const int64_t high = s->count[dim] * (rank + 1) / nprocs;
    part.count[dim] = high - low;
    if (high > low) part.start[dim] += low * s->stride[dim];
    return part;
}

int64_t plan_slab_size(const struct plan_slab *s)
{
    int64_t n = 1;
    for (int d = 0; d < s->ndims; d++)
        n *= s->count[d];
    return n;
}

void plan_slab_index(const struct plan_slab *s, int64_t i, int64_t index[PLAN_RANK])
{
    for (int d = s->ndims - 1; d >= 0; d--) {
        index[d] = i % s->count[d];
        i /= s->count[d];
    }
}

int64_t plan_slab_element(const struct plan_slab *s, const int64_t *shape, int64_t i)
{
    int64_t index[PLAN_RANK], element = 0;
    plan_slab_index(s, i, index);
    for (int d = 0; d < s->ndims; d++)
        element = element * shape[d] + s->start[d] + index[d] * s->stride[d];
    return element;
}

void plan_slab_transpose(const struct plan_slab *s, int64_t imap[PLAN_RANK])
{
    int64_t step = 1;
    for (int d = 0; d < s->ndims; d++) {
        imap[d] = step;
        step *= s->count[d] > 0 ? s->count[d] : 1;
    }
}
