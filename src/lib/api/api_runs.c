/* Many hyperslabs of one variable as one request, where each is a run of bytes and they
 * come in the order of the file: 16 bytes each, and no work below but to walk along.
 * Where they start again further up, another request follows. */
#include "api_access.h"

#include <string.h>

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

    const struct api_access *a;
    enum conv_type type;

    /* Of the request that is being made. */
    int64_t record;           /* its first slab's; -1: there is none yet */
    int64_t end;              /* of the last run */
    int64_t bytes;            /* of all runs */
    struct region_extent *at; /* n of them */
    int64_t n;

    int64_t nelems; /* of the requests made before */
    struct access_request **made;
    int64_t nmade, most;
};

static void describe_runs(const struct api_dataset *d, const struct cdf_var *v, bool put,
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

/* The bytes of a slab, relative to the record where the request's first one begins.
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
            if (s->apart && n > 1) return false;
            if (s->record < 0) s->record = first;
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

/* Adds a run that is not empty; false if it does not follow what there is. */
static bool add_run(struct runs *s, const struct region_extent *run)
{
    int64_t end;
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

/* The region of the runs there are. */
static struct region *region_of(const struct runs *s)
{
    struct region_extent *own = base_malloc((size_t)s->n * sizeof *own);
    if (own == NULL) return NULL;
    memcpy(own, s->at, (size_t)s->n * sizeof *own);
    return region_of_extents(own, s->n);
}

/* Makes the request of the runs there are, if any. False when memory is short, and where
 * there are so many that one for each slab is as good. */
static bool close_run_request(struct runs *s)
{
    if (s->n == 0) return true;
    if (s->nmade == s->most) return false;
    if (s->bytes / s->xsize > INT64_MAX / conv_size(s->type) - s->nelems) return false;
    struct access_request *r =
        base_malloc(sizeof *r + ACCESS_RAW_SLAB * sizeof r->slab[0]);
    struct region *region = region_of(s);
    if (r == NULL || region == NULL) {
        base_free(r);
        region_free(region);
        return false;
    }
    char *buf = (char *)s->a->buf + s->nelems * conv_size(s->type);
    *r = (struct access_request){
        .varid = s->a->varid, .buf = buf, .type = (unsigned char)s->type, .raw = true};
    r->slab[0] = (int64_t)(intptr_t)region;
    r->slab[1] = s->bytes / s->xsize;
    r->slab[2] = s->records ? s->record : 0;
    s->nelems += s->bytes / s->xsize;
    s->made[s->nmade++] = r;
    s->n = s->bytes = 0;
    s->record = -1;
    return true;
}

/* Takes a slab into the request, or into one that begins with it. */
static bool add_slab(struct runs *s, const MPI_Offset *start, const MPI_Offset *count)
{
    struct region_extent run;
    bool other = s->apart && s->records && s->n > 0 && start[0] != s->record;
    if (other && !close_run_request(s)) return false;
    if (s->n == 0) s->record = -1; /* an empty slab may have set it */
    if (!run_of(s, start, count, &run)) return false;
    if (run.length == 0 || add_run(s, &run)) return true;
    return close_run_request(s) && run_of(s, start, count, &run) && add_run(s, &run);
}

static bool take_runs(struct runs *s, const struct api_slabs *slabs)
{
    bool good = s->at != NULL && s->made != NULL;
    for (int i = 0; i < slabs->n && good; i++)
        good = slabs->starts[i] != NULL &&
               add_slab(s, slabs->starts[i],
                        slabs->counts == NULL ? NULL : slabs->counts[i]);
    return good && close_run_request(s);
}

bool api_runs_make(const struct api_dataset *d, const struct api_access *a,
                   const struct api_slabs *slabs, bool put, enum conv_type type,
                   int64_t nelems, struct access_request ***reqs, int64_t *n)
{
    enum { MANY = 4 }; /* slabs that are worth a request */
    const struct cdf_var *v = &d->ds.header.vars[a->varid];
    struct runs s = {.a = a, .type = type, .most = slabs->n / MANY};
    if (!d->top->likes_runs || s.most < 1 || slabs->starts == NULL || a->buf == NULL ||
        v->ndims == 0 || v->ndims > MOST_DIMS)
        return false;
    describe_runs(d, v, put, slabs->pending, &s);
    s.at = base_malloc((size_t)slabs->n * sizeof *s.at);
    s.made = base_malloc((size_t)s.most * sizeof(struct access_request *));
    bool good = take_runs(&s, slabs) && s.nmade > 0 &&
                (nelems == NC_COUNT_IGNORE || nelems == s.nelems);
    base_free(s.at);
    if (!good) {
        api_requests_drop(s.made, &s.nmade);
        return false;
    }
    *reqs = s.made;
    *n = s.nmade;
    return true;
}
