/* Fills variables with fill values. Each process puts its share of each variable, which
 * is a range of the variable's longest dimension. */
#include "driver_fill.h"

#include <string.h>

#include "base_arena.h"
#include "base_error.h"
#include "base_share.h"

static void choose_band(const struct dataset *ds, const struct cdf_var *v, int64_t rec,
                        int64_t nrecs, int64_t *start, int64_t *count)
{
    int longest = 0;
    for (int i = 0; i < v->ndims; i++) {
        bool record = i == 0 && v->is_record;
        start[i] = record ? rec : 0;
        count[i] = record ? nrecs : v->shape[i];
        if (count[i] > count[longest]) longest = i;
    }
    int64_t first = base_share_begin(count[longest], ds->nprocs, ds->rank);
    count[longest] = base_share_begin(count[longest], ds->nprocs, ds->rank + 1) - first;
    start[longest] += first;
}

/* Creates the request for this process's share of a variable, or NULL if it is empty. */
static int make_request(const struct dataset *ds, int varid, int64_t rec, int64_t nrecs,
                        struct base_arena *arena, struct access_request **out)
{
    const struct cdf_var *v = &ds->header.vars[varid];
    *out = NULL;
    if (v->ndims == 0 && ds->rank != 0) return NC_NOERR;
    struct access_request *r =
        base_arena_alloc(arena, sizeof *r + 2 * (size_t)v->ndims * sizeof r->slab[0]);
    if (r == NULL) return NC_ENOMEM;

    *r = (struct access_request){.varid = varid,
                                 .type = (unsigned char)conv_type_of(v->type)};
    if (v->ndims > 0) choose_band(ds, v, rec, nrecs, r->slab, r->slab + v->ndims);
    if (access_nelems(r, v->ndims) > 0) *out = r;
    return NC_NOERR;
}

/* Puts the requests. If they could not be created, passes `err` to the collective put. */
static int put_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                   int err)
{
    struct trace_span span = trace_begin(d->ds->trace);
    if (err != NC_NOERR) n = 0;
    err = driver_call(d, put_all, reqs, n, err);
    for (int64_t i = 0; i < n; i++)
        driver_count_bytes(d->ds, reqs[i], true);
    trace_end(d->ds->trace, TRACE_FILL, span);
    return err;
}

int driver_fill_record_all(struct driver *d, int varid, int64_t rec, int error)
{
    struct base_arena arena = {0};
    struct access_request *r = NULL;
    int err = error;
    if (err == NC_NOERR) err = make_request(d->ds, varid, rec, 1, &arena, &r);
    err = put_all(d, &r, r != NULL, err);
    base_arena_free(&arena);
    return err;
}

bool driver_has_fill(const struct cdf_header *h, int first)
{
    for (int id = first; id < h->nvars; id++)
        if (h->vars[id].fill && (!h->vars[id].is_record || h->numrecs > 0)) return true;
    return false;
}

int driver_fill_new_all(struct driver *d, int first)
{
    const struct cdf_header *h = &d->ds->header;
    if (!driver_has_fill(h, first)) return NC_NOERR;
    struct base_arena arena = {0};
    struct access_request **reqs = base_arena_alloc(
        &arena, (size_t)(h->nvars - first) * sizeof(struct access_request *));
    int err = reqs == NULL ? NC_ENOMEM : NC_NOERR;
    int64_t n = 0;
    for (int id = first; id < h->nvars && err == NC_NOERR; id++) {
        const struct cdf_var *v = &h->vars[id];
        if (!v->fill || (v->is_record && h->numrecs == 0)) continue;
        err = make_request(d->ds, id, 0, h->numrecs, &arena, &reqs[n]);
        if (reqs[n] != NULL) n++;
    }
    err = put_all(d, reqs, n, err);
    base_arena_free(&arena);
    return err;
}
