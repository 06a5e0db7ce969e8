/* Maps of this process's own blob, and of all. */
#include <stdio.h>

#include "base_error.h"
#include "base_mpi.h"
#include "blob.h"
#include "blob_source.h"

enum { MOST_LISTS = 3 };

/* Lists of numbers of a subfile that is open here, as requests. */
struct map_gets {
    union {
        struct access_request r;
        unsigned char room[sizeof(struct access_request) + 4 * sizeof(int64_t)];
    } list[MOST_LISTS];
    struct access_request *reqs[MOST_LISTS];
};

static void make_gets(struct map_gets *g, const struct blob_sub *sub,
                      const struct blob_numbers *lists, int n)
{
    for (int i = 0; i < n; i++) {
        const struct blob_numbers *x = &lists[i];
        int ndims = sub->ds.header.vars[x->varid].ndims;
        struct access_request *r = g->reqs[i] = &g->list[i].r;
        *r = (struct access_request){
            .buf = x->values, .varid = x->varid, .type = CONV_LONGLONG};
        r->slab[0] = x->row;
        r->slab[ndims] = 1;
        r->slab[ndims - 1] = x->first;
        r->slab[2 * ndims - 1] = x->n;
    }
}

static int read_alone(void *who, const struct blob_numbers *lists, int n, int error)
{
    struct blob_sub *sub = who;
    struct map_gets g;
    if (error != NC_NOERR || n == 0) return error;
    make_gets(&g, sub, lists, n);
    return driver_call(sub->driver, get, g.reqs, n);
}

/* Of the group together. */
static int read_numbers_all(void *who, const struct blob_numbers *lists, int n, int error)
{
    struct blob_sub *sub = who;
    struct map_gets g;
    make_gets(&g, sub, lists, n);
    return driver_call(sub->driver, get_all, g.reqs, n, error);
}

/* Whose maps are read. */
struct reading {
    struct blob *b;
    struct blob_decomp *d;
};

static int open_blob_source(void *who, int number, struct blob_source *s)
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
                              .size = sub->size,
                              .numbers = read_alone,
                              .who = sub};
    if (blob_is_foreign(r->b))
        return blob_foreign_source(&r->b->foreign, &r->b->base.ds->header, r->d->varid,
                                   id, s);
    if (id < 0)
        return base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", sub->ds.path,
                              whole->name);
    int64_t nelems = blob_source_nelems(&sub->ds.header, id, r->d->number);
    err = blob_source_find(s, r->d->number, nelems, whole->nelems);
    const struct cdf_envelope *e = &r->b->facts;
    if (err == NC_NOERR &&
        s->nblobs != blob_first_of(e, number + 1) - blob_first_of(e, number))
        err = base_error_set(NC_ENOTNC, "%s: decomposition D%d has %lld blobs", s->path,
                             r->d->number, (long long)s->nblobs);
    return err;
}

int blob_read_source(struct blob *b, struct blob_decomp *d, int number,
                     struct blob_source *s)
{
    struct reading r = {b, d};
    return open_blob_source(&r, number, s);
}

/* The own map, as it comes. */
struct taking {
    struct blob_map map;
    int64_t start; /* of the blob */
};

static bool take_own(void *to, const struct blob_piece *p, int *err)
{
    struct taking *t = to;
    if (t->map.n == 0) t->start = p->pos;
    *err = blob_map_add(&t->map, p->at, p->n);
    return *err == NC_NOERR;
}

/* From a source of the own subfile. */
static int take_decomp_map(struct blob *b, struct blob_decomp *d,
                           const struct blob_source *s, int error)
{
    struct taking t = {.start = 0};
    int err = blob_source_read(s, b->rank, take_own, &t, error);
    if (err == NC_NOERR) err = blob_map_settle(&t.map);
    if (err != NC_NOERR || d->mine) {
        blob_map_free(&t.map);
        return err;
    }
    d->own = t.map;
    d->start = t.start;
    d->mine = true;
    return NC_NOERR;
}

int blob_read_own(struct blob *b, struct blob_decomp *d)
{
    struct reading r = {b, d};
    struct blob_source s = {.nblobs = 0};
    if (d->mine || !b->grouped) return NC_NOERR;
    int err = open_blob_source(&r, b->group, &s);
    return err == NC_NOERR ? take_decomp_map(b, d, &s, NC_NOERR) : err;
}

static int read_own_all(struct blob *b, struct blob_decomp *d)
{
    struct reading r = {b, d};
    struct blob_source s = {.nblobs = 0};
    struct dataset *ds = &b->own->ds;
    int own = open_blob_source(&r, b->group, &s);
    int err = dataset_agree_all(ds, own, NULL, NULL, 0);
    if (err != NC_NOERR) return own != NC_NOERR ? own : err;
    s.numbers = read_numbers_all;
    s.together = true;
    own = take_decomp_map(b, d, &s, NC_NOERR);
    err = dataset_agree_all(ds, own, NULL, NULL, 0);
    d->read = err == NC_NOERR;
    return own != NC_NOERR ? own : err;
}

/* Which a process lacks goes round as bits, of more than 64 decompositions again and
 * again. */
int blob_read_own_all(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    enum { BITS = 64 };
    uint64_t wanted = 0;
    int lacking = 0, first = NC_NOERR;
    for (int i = 0; i < b->ndecomps; i++)
        lacking += !b->decomps[i].read;
    if (lacking == 0) return NC_NOERR;
    for (int64_t i = 0; i < n; i++) {
        const struct blob_decomp *d = blob_decomp_of(b, reqs[i]->varid);
        if (d != NULL && !d->read) wanted |= UINT64_C(1) << (d - b->decomps) % BITS;
    }
    int mpi = MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_UINT64_T, MPI_BOR, b->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "reading maps");
    for (int i = 0; i < b->ndecomps; i++) {
        if (b->decomps[i].read || (wanted >> i % BITS & 1) == 0) continue;
        int err = read_own_all(b, &b->decomps[i]);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int blob_read_index(struct blob *b, struct blob_decomp *d, int64_t at)
{
    const struct cdf_header *h = &b->base.ds->header;
    struct blob_index *x = &d->index;
    struct reading r = {b, d};
    int64_t nelems = h->vars[d->varid].nelems, found;
    int err =
        blob_source_index(x, nelems, at, (int)b->facts.nsubfiles, open_blob_source, &r);
    bool all = x->low == 0 && x->high == nelems;
    if (err != NC_NOERR || !all || !blob_is_foreign(b)) return err;
    err = blob_foreign_count(&b->foreign, h, b->path, d->varid, x, &found);
    if (err != NC_NOERR) blob_index_free(x);
    return err;
}
