/* Many hyperslabs of one variable as one request, where each is a run of bytes and they
 * come in the order of the file: 16 bytes each, and no work below but to walk along. */
#include "api_access.h"
#include "base_mem.h"
#include "pnetcdf.h"

enum { MOST_DIMS = 16 }; /* more go the general way */

struct runs {
    bool records; /* dimension 0 is that of records */
    bool apart;   /* ... of which a run must stay in the first one's */
    int ndims;
    int64_t length[MOST_DIMS]; /* as far as an access may go */
    int64_t whole[MOST_DIMS];  /* count that makes it whole; -1: none does */
    int64_t step[MOST_DIMS];   /* bytes between neighbours; of records: record_size */
    int64_t xsize;

    int64_t record; /* the first slab's */
    int64_t end;    /* of the last run */
    int64_t bytes;
    struct region_extent *at; /* n of them */
    int64_t n;
};

static void describe(const struct api_dataset *d, const struct cdf_var *v, bool put,
                     bool pending, struct runs *s)
{
    const struct cdf_header *h = &d->ds.header;
    int64_t step = s->xsize = cdf_type_size(v->type);
    s->ndims = v->ndims;
    s->records = v->is_record;
    s->apart = pending;
    s->record = -1;
    for (int k = v->ndims - 1; k >= 0; k--) {
        s->length[k] = api_length_of(d, v, k, put);
        s->whole[k] = v->shape[k];
        s->step[k] = step;
        step *= v->shape[k];
    }
    if (!s->records) return;
    /* Of one record variable alone, records follow each other. */
    s->whole[0] = s->step[0] == h->record_size ? INT64_MAX : -1;
    s->step[0] = h->record_size;
}

/* The bytes of a slab, relative to the record of the first one; 0 if it has none.
 * False if it is no run, or not good. */
static bool run_of(struct runs *s, const MPI_Offset *start, const MPI_Offset *count,
                   struct region_extent *run)
{
    bool whole = true;
    run->offset = 0;
    run->length = s->xsize;
    for (int k = s->ndims - 1; k >= 0; k--) {
        int64_t first = start[k], n = count == NULL ? 1 : count[k];
        if (first < 0 || n < 0 || first >= s->length[k] || n > s->length[k] - first)
            return false;
        if (k == 0 && s->records) {
            if (s->record < 0) s->record = first;
            if (s->apart && (first != s->record || n > 1)) return false;
            first -= s->record;
            whole = whole && s->whole[0] > 0;
        }
        if (n != 1 && !whole) return false;
        whole = whole && n == s->whole[k];
        if (__builtin_mul_overflow(first, s->step[k], &first) ||
            __builtin_add_overflow(run->offset, first, &run->offset) ||
            __builtin_mul_overflow(run->length, n, &run->length))
            return false;
    }
    return true;
}

/* False if it does not follow what there is. */
static bool add(struct runs *s, const struct region_extent *run)
{
    int64_t end;
    if (run->length == 0) return true;
    if (s->n > 0 && run->offset < s->end) return false;
    if (__builtin_add_overflow(run->offset, run->length, &end)) return false;
    if (s->n > 0 && run->offset == s->end)
        s->at[s->n - 1].length += run->length;
    else
        s->at[s->n++] = *run;
    s->end = end;
    s->bytes += run->length;
    return true;
}

static struct driver_request *request(const struct api_access *a, struct runs *s,
                                      enum conv_type type)
{
    struct driver_request *r =
        base_malloc(sizeof *r + DRIVER_RAW_SLAB * sizeof r->slab[0]);
    struct region *region = region_of_extents(s->at, s->n);
    s->at = NULL;
    if (r == NULL || region == NULL) {
        base_free(r);
        region_free(region);
        return NULL;
    }
    *r = (struct driver_request){.varid = a->varid,
                                 .buf = (void *)a->buf,
                                 .type = (unsigned char)type,
                                 .raw = true};
    r->slab[0] = (MPI_Offset)(intptr_t)region;
    r->slab[1] = s->bytes / s->xsize;
    r->slab[2] = s->records ? s->record : 0;
    return r;
}

struct driver_request *api_runs_request(const struct api_dataset *d,
                                        const struct api_access *a,
                                        const struct api_slabs *slabs, bool put,
                                        enum conv_type type, int64_t nelems)
{
    const struct cdf_var *v = &d->ds.header.vars[a->varid];
    struct driver_request *r = NULL;
    struct region_extent run;
    struct runs s = {0};
    if (!d->top->ops->likes_runs || slabs->n < 2 || slabs->starts == NULL ||
        a->buf == NULL || v->ndims == 0 || v->ndims > MOST_DIMS)
        return NULL;
    describe(d, v, put, slabs->pending, &s);
    s.at = base_malloc((size_t)slabs->n * sizeof *s.at);
    bool good = s.at != NULL;
    for (int i = 0; i < slabs->n && good; i++)
        good = slabs->starts[i] != NULL &&
               run_of(&s, slabs->starts[i],
                      slabs->counts == NULL ? NULL : slabs->counts[i], &run) &&
               add(&s, &run);
    if (good && s.n > 0 && (nelems == NC_COUNT_IGNORE || nelems == s.bytes / s.xsize))
        r = request(a, &s, type);
    base_free(s.at);
    return r;
}
