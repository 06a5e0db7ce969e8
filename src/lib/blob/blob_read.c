/* Maps of this process's own blob, and of all. */
#include <stdio.h>

#include "base_error.h"
#include "blob.h"
#include "blob_source.h"

/* Values of a subfile that is open here. The request stores them. */
static int read_numbers(void *who, int varid, int64_t row, int64_t first, int64_t n,
                        int64_t *values) /* NOLINT(readability-non-const-parameter) */
{
    struct blob_sub *sub = who;
    int ndims = sub->ds.header.vars[varid].ndims;
    union {
        struct driver_request r;
        unsigned char room[sizeof(struct driver_request) + 4 * sizeof(int64_t)];
    } one = {.r = {.buf = values, .varid = varid, .type = CONV_LONGLONG}};
    struct driver_request *r = &one.r;
    r->slab[0] = row;
    r->slab[ndims] = 1;
    r->slab[ndims - 1] = first;
    r->slab[2 * ndims - 1] = n;
    return n == 0 ? NC_NOERR : driver_get(sub->driver, &r, 1);
}

/* Whose maps are read. */
struct reading {
    struct blob *b;
    struct blob_decomp *d;
};

static int open_source(void *who, int number, struct blob_source *s)
{
    struct reading *r = who;
    const struct cdf_var *whole = &r->b->base.ds->header.vars[r->d->varid];
    struct blob_sub *sub;
    int err = blob_sub_get(r->b, number, &sub);
    if (err != NC_NOERR) {
        char why[256];
        snprintf(why, sizeof why, "%s", base_error_detail(err));
        return base_error_set(err, "a part of variable '%s' is in subfile %d: %s",
                              whole->name, number, why);
    }
    int id = blob_sub_var(sub, r->d->varid);
    *s = (struct blob_source){.h = &sub->ds.header,
                              .path = sub->ds.path,
                              .sub = number,
                              .numbers = read_numbers,
                              .who = sub};
    if (id < 0)
        return base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", sub->ds.path,
                              whole->name);
    err =
        blob_source_find(s, r->d->number, sub->ds.header.vars[id].nelems, whole->nelems);
    const struct cdf_envelope *e = &r->b->facts;
    if (err == NC_NOERR &&
        s->nblobs != blob_first_of(e, number + 1) - blob_first_of(e, number))
        err = base_error_set(NC_ENOTNC, "%s: decomposition D%d has %lld blobs", s->path,
                             r->d->number, (long long)s->nblobs);
    return err;
}

static bool take_own(void *to, const struct blob_piece *p, int *err)
{
    *err = blob_map_add(to, p->at, p->n);
    return *err == NC_NOERR;
}

int blob_read_own(struct blob *b, struct blob_decomp *d)
{
    struct reading r = {b, d};
    struct blob_source s = {.nblobs = 0};
    if (d->mine || !b->grouped) return NC_NOERR;
    blob_map_free(&d->own);
    int err = open_source(&r, b->group, &s);
    if (err == NC_NOERR) err = blob_source_read(&s, b->rank, take_own, &d->own);
    if (err == NC_NOERR) err = read_numbers(s.who, s.start, 0, b->rank, 1, &d->start);
    if (err == NC_NOERR) err = blob_map_settle(&d->own);
    d->mine = err == NC_NOERR;
    return err;
}

int blob_read_index(struct blob *b, struct blob_decomp *d, int64_t at)
{
    struct reading r = {b, d};
    return blob_source_index(&d->index, b->base.ds->header.vars[d->varid].nelems, at,
                             (int)b->facts.nsubfiles, open_source, &r);
}
