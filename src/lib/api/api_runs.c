/* Merges hyperslabs of one variable into one request if each is contiguous in the file
 * and their offsets ascend. If an offset does not ascend, a new request starts. A merged
 * hyperslab costs 16 bytes, and lower layers only iterate over the list. */
#include "api_access.h"

#include <string.h>

#include "base_mem.h"
#include "pnetcdf.h"

enum { MOST_DIMS = 16 }; /* variables with more dimensions are not merged */

struct runs {
    bool records; /* dimension 0 is the record dimension */
    bool apart;   /* the layout may change, so each request must stay in one record */
    int ndims;
    int64_t length[MOST_DIMS]; /* length of each dimension, for this access */
    int64_t whole[MOST_DIMS];  /* count that spans the whole dimension; -1 if none does */
    int64_t step[MOST_DIMS];   /* bytes between consecutive indices; record_size for
                                * records */
    int64_t xsize;

    const struct api_access *a;
    enum conv_type type;

    /* The current request. */
    int64_t record;           /* record of its first hyperslab; -1 if it has none */
    int64_t end;              /* offset after its last run */
    int64_t bytes;            /* total size of its runs */
    struct region_extent *at; /* its runs */
    int64_t n;                /* number of its runs */

    int64_t nelems; /* number of elements in earlier requests */
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
    /* Consecutive records are adjacent if this is the only record variable. */
    s->whole[0] = s->step[0] == h->record_size ? INT64_MAX : -1;
    s->step[0] = h->record_size;
}

/* Converts a hyperslab to a run of bytes, relative to the request's first record. Returns
 * false if the hyperslab is not contiguous or not valid. */
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

/* Adds a nonempty run. Returns false if it starts before the end of the last run. */
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

/* Returns the region of the current runs. Returns NULL if out of memory. */
static struct region *region_of(const struct runs *s)
{
    struct region_extent *own = base_malloc((size_t)s->n * sizeof *own);
    if (own == NULL) return NULL;
    memcpy(own, s->at, (size_t)s->n * sizeof *own);
    return region_of_extents(own, s->n);
}

/* Makes a request from the current runs, if there are any. Returns false if out of
 * memory, or if there would be too many requests for merging to pay off. */
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

/* Adds a hyperslab to the current request, or starts a new request with it. */
static bool add_slab(struct runs *s, const MPI_Offset *start, const MPI_Offset *count)
{
    struct region_extent run;
    bool other = s->apart && s->records && s->n > 0 && start[0] != s->record;
    if (other && !close_run_request(s)) return false;
    if (s->n == 0) s->record = -1; /* an empty hyperslab may have set s->record */
    if (!run_of(s, start, count, &run)) return false;
    if (run.length == 0 || add_run(s, &run)) return true;
    return close_run_request(s) && run_of(s, start, count, &run) && add_run(s, &run);
}

static bool add_slabs(struct runs *s, const struct api_slabs *slabs)
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
    enum { MANY = 4 }; /* minimum hyperslabs per request for merging to pay off */
    const struct cdf_var *v = &d->ds.header.vars[a->varid];
    struct runs s = {.a = a, .type = type, .most = slabs->n / MANY};
    if (!d->top->prefers_merged_runs || s.most < 1 || slabs->starts == NULL ||
        a->buf == NULL || v->ndims == 0 || v->ndims > MOST_DIMS)
        return false;
    describe_runs(d, v, put, slabs->pending, &s);
    s.at = base_malloc((size_t)slabs->n * sizeof *s.at);
    s.made = base_malloc((size_t)s.most * sizeof(struct access_request *));
    bool good = add_slabs(&s, slabs) && s.nmade > 0 &&
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
