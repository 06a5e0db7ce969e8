/* Finds decompositions, reads their maps, and locates elements: in this process's blob,
 * in another blob, or in the master. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"

struct blob_decomp *blob_decomp_of(const struct blob *b, int varid)
{
    int number = varid < b->nvars ? b->state[varid] : BLOB_CANONICAL;
    for (int i = 0; number > BLOB_OPEN && i < b->ndecomps; i++)
        if (b->decomps[i].number == number) return &b->decomps[i];
    return NULL;
}

int blob_add_decomposition(struct blob *b, int number, int varid)
{
    for (int i = 0; i < b->ndecomps; i++)
        if (b->decomps[i].number == number) return NC_NOERR;
    void *grown =
        base_realloc(b->decomps, (size_t)(b->ndecomps + 1) * sizeof *b->decomps);
    if (grown == NULL) return NC_ENOMEM;
    b->decomps = grown;
    b->decomps[b->ndecomps++] =
        (struct blob_decomp){.number = number, .varid = varid, .form = {.ndims = -1}};
    return NC_NOERR;
}

/* Prepares *s for reading a decomposition's maps from a subfile. */
static int read_source(struct blob *b, struct blob_decomp *d, int number,
                       struct subfile_decomp *s)
{
    struct blob_sub *sub;
    int err = blob_sub_get(b, number, &sub);
    if (err != NC_NOERR) {
        char why[256];
        snprintf(why, sizeof why, "%s", base_error_detail(err));
        return base_error_set(
            err, "cannot read a part of variable '%s', which is in subfile %d: %s",
            b->base.ds->header.vars[d->varid].name, number, why);
    }
    return subfile_find_decomp(&sub->subfile, d->number, d->varid, s);
}

/* A map that is being read. */
struct map_reading {
    struct subfile_map *map;
    int64_t start; /* first element of the blob */
};

static bool add_run(void *to, const struct subfile_piece *p, int *err)
{
    struct map_reading *t = to;
    if (t->map->n == 0) t->start = p->pos;
    *err = subfile_map_add(t->map, p->at, p->n);
    return *err == NC_NOERR;
}

int blob_read_map(const struct subfile_decomp *s, int64_t blob, struct subfile_map *map,
                  int64_t *start)
{
    struct map_reading t = {.map = map};
    int err = subfile_decomp_read_map(s, blob, add_run, &t, NC_NOERR);
    *start = t.start;
    return err == NC_NOERR ? subfile_map_sort(map) : err;
}

/* Reads this process's map from the decomposition in its group's subfile. */
static int read_own_map(struct blob *b, struct blob_decomp *d,
                        const struct subfile_decomp *s)
{
    struct subfile_map map = {NULL, 0, 0};
    int64_t start;
    int err = blob_read_map(s, b->rank, &map, &start);
    if (err != NC_NOERR || d->mine) {
        subfile_map_free(&map);
        return err;
    }
    d->own = map;
    d->start = start;
    d->mine = true;
    return NC_NOERR;
}

int blob_read_own(struct blob *b, struct blob_decomp *d)
{
    struct subfile_decomp s = {.nblobs = 0};
    if (d->mine || !b->grouped) return NC_NOERR;
    int err = read_source(b, d, b->group, &s);
    return err == NC_NOERR ? read_own_map(b, d, &s) : err;
}

static int read_own_all(struct blob *b, struct blob_decomp *d)
{
    struct subfile_decomp s = {.nblobs = 0};
    struct dataset *ds = &b->own->ds;
    int own = read_source(b, d, b->group, &s);
    int err = dataset_agree_all(ds, own, NULL, NULL, 0);
    if (err != NC_NOERR) return own != NC_NOERR ? own : err;
    s.read = blob_read_numbers_all;
    s.together = true;
    own = read_own_map(b, d, &s);
    err = dataset_agree_all(ds, own, NULL, NULL, 0);
    d->read = err == NC_NOERR;
    return own != NC_NOERR ? own : err;
}

/* Agrees on which decompositions must be read, with one bit for each. If there are more
 * than 64 decompositions, several share a bit, and all that share a set bit are read. */
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

/* The decomposition whose index is being read. */
struct indexing {
    struct blob *b;
    struct blob_decomp *d;
};

static int open_decomp(void *who, int number, struct subfile_decomp *s)
{
    struct indexing *x = who;
    return read_source(x->b, x->d, number, s);
}

/* Reads the part of the index that contains element `at`. */
static int read_index(struct blob *b, struct blob_decomp *d, int64_t at)
{
    const struct cdf_header *h = &b->base.ds->header;
    struct subfile_index *x = &d->index;
    struct indexing r = {b, d};
    int64_t nelems = h->vars[d->varid].nelems, found;
    int err = subfile_decomp_read_index(x, nelems, at, (int)b->facts.nsubfiles,
                                        open_decomp, &r);
    bool all = x->low == 0 && x->high == nelems;
    if (err != NC_NOERR || !all || !blob_is_foreign(b)) return err;
    err = subfile_foreign_check_count(&b->foreign, h, b->path, d->varid, x, &found);
    if (err != NC_NOERR) subfile_index_free(x);
    return err;
}

/* ---- whole blobs ---- */

/* Returns whether the request covers exactly the elements of this process's map, in one
 * or more consecutive records. Sets *record to the first record, and *records to their
 * number. */
static bool is_whole(struct blob *b, const struct blob_decomp *d,
                     const struct access_request *r, int64_t *record, int64_t *records,
                     int *err)
{
    struct blob_walk w;
    struct blob_stretch s;
    int64_t i = 0, n = d->own.n, all = subfile_map_count(&d->own);
    *records = 0;
    if (all == 0 || access_nelems(r, b->base.ds->header.vars[r->varid].ndims) % all != 0)
        return false;
    *err = blob_walk_begin(&w, &b->base.ds->header, r);
    bool whole = *err == NC_NOERR;
    while (whole && blob_walk_next(&w, &s)) {
        const struct subfile_run *run = &d->own.runs[i];
        if (i == 0 && *records == 0) *record = s.record;
        whole = s.at == run->at && s.n == subfile_run_length(run) &&
                s.record == *record + *records;
        if (++i < n) continue;
        i = 0;
        ++*records;
    }
    blob_walk_end(&w);
    return whole && *err == NC_NOERR && i == 0;
}

/* Returns whether a variable's fixed dimensions have the same lengths as those of the
 * decomposition's hyperslab. In a damaged file they may differ. */
static bool has_dims_of(const struct blob *b, const struct blob_decomp *d,
                        const struct cdf_var *v)
{
    const struct cdf_var *w = &b->base.ds->header.vars[d->varid];
    int n = v->ndims - blob_first_dim(v);
    return n == w->ndims - blob_first_dim(w) &&
           memcmp(v->shape + blob_first_dim(v), w->shape + blob_first_dim(w),
                  (size_t)n * sizeof *v->shape) == 0;
}

/* Caches the hyperslab of a match in d->form, so that the next match is recognised
 * immediately. */
bool blob_find_whole(struct blob *b, struct blob_decomp *d,
                     const struct access_request *r, struct blob_span *s, int *err)
{
    const struct cdf_var *v = &b->base.ds->header.vars[r->varid];
    struct subfile_slab form;
    if (!d->mine || access_is_fill(r)) return false;
    *s = (struct blob_span){0, 1, 1};
    blob_walk_slab(v, r, &form);
    if (blob_walk_is_map(v, r, &d->own)) {
        s->record = access_start(r)[2];
        return true;
    }
    if (form.ndims < 0 || d->form.ndims < 0 || !has_dims_of(b, d, v)) {
        bool whole = is_whole(b, d, r, &s->record, &s->records, err);
        if (whole && has_dims_of(b, d, v)) d->form = form;
        return whole;
    }
    if (!subfile_slab_is(&form, &d->form)) return false;
    if (v->is_record) {
        const int64_t *stride = access_stride(r, v->ndims);
        s->record = access_start(r)[0];
        s->records = access_count(r, v->ndims)[0];
        if (stride != NULL) s->step = stride[0];
    }
    return true;
}

/* ---- parts ---- */

/* Checks that a part of another library's dataset can be read. */
static int check_foreign_part(struct blob *b, const struct subfile_part *p)
{
    struct blob_sub *s;
    if (p->sub < 0)
        return subfile_foreign_check_gap(&b->foreign, &b->base.ds->header, b->path,
                                         p->of->varid, p->record, p->at);
    int err = blob_sub_get(b, p->sub, &s);
    int id = err == NC_NOERR ? subfile_var(&s->subfile, p->of->varid) : -1;
    if (id < 0) return err; /* the read will report that the variable is missing */
    return subfile_foreign_check_size(&s->subfile, id, p->record, p->at, p->n);
}

int blob_find_part(struct blob *b, struct blob_decomp *d, int64_t at, bool own,
                   struct subfile_part *part, bool *remote)
{
    const struct subfile_index *x = &d->index;
    *remote = false;
    if (own || at < x->low || at >= x->high) { /* the index does not cover `at` */
        int64_t k = d->mine ? subfile_map_find(&d->own, at, &d->hint) : -1, n = 0;
        const struct subfile_run *run = k < 0 ? NULL : &d->own.runs[k];
        if (run != NULL) n = subfile_run_length(run) - (at - run->at);
        if (n <= 0) n = 0; /* the blob does not contain the element */
        if (own && n < part->n) return BLOB_ELSEWHERE;
        int err = n == 0 ? read_index(b, d, at) : NC_NOERR;
        if (err != NC_NOERR) return err;
        if (n > 0) {
            part->sub = b->group;
            part->at = d->start + run->pos + (at - run->at);
            if (n < part->n) part->n = n;
            base_require(part->at >= d->start && part->n > 0);
            return NC_NOERR;
        }
    }
    int64_t i = subfile_index_find_next(x, at, &d->next), end = x->high;
    const struct subfile_piece *piece = i < x->n ? &x->pieces[i] : NULL;
    *remote = true;
    part->sub = -1;
    part->at = at;
    if (piece != NULL && piece->at <= at) {
        part->sub = piece->sub;
        part->at = piece->pos + (at - piece->at);
        end = piece->at + piece->n;
    } else if (piece != NULL && piece->at < end)
        end = piece->at;
    if (part->n > end - at) part->n = end - at;
    if (part->n <= 0)
        return base_error_set(NC_ENOTNC,
                              "%s: decomposition %d is too short for a variable", b->path,
                              d->number);
    return blob_is_foreign(b) ? check_foreign_part(b, part) : NC_NOERR;
}
