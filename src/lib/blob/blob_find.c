/* Where elements are: in the own blob, in others, or in the master. */
#include <string.h>

#include "base_error.h"
#include "blob.h"

struct blob_decomp *blob_decomp_of(const struct blob *b, int varid)
{
    int number = varid < b->nvars ? b->state[varid] : BLOB_CANONICAL;
    for (int i = 0; number > BLOB_OPEN && i < b->ndecomps; i++)
        if (b->decomps[i].number == number) return &b->decomps[i];
    return NULL;
}

/* ---- the whole of the own blob ---- */

/* Does it name just the own map's elements, of each of *records records that follow each
 * other? */
static bool is_whole(struct blob *b, const struct blob_decomp *d,
                     const struct access_request *r, int64_t *record, int64_t *records,
                     int *err)
{
    struct blob_walk w;
    struct blob_stretch s;
    int64_t i = 0, n = d->own.n, all = blob_map_count(&d->own);
    *records = 0;
    if (all == 0 || access_nelems(r, b->base.ds->header.vars[r->varid].ndims) % all != 0)
        return false;
    *err = blob_walk_begin(&w, &b->base.ds->header, r);
    bool whole = *err == NC_NOERR;
    while (whole && blob_walk_next(&w, &s)) {
        const struct blob_run *run = &d->own.runs[i];
        if (i == 0 && *records == 0) *record = s.record;
        whole = s.at == run->at && s.n == blob_run_length(run) &&
                s.record == *record + *records;
        if (++i < n) continue;
        i = 0;
        ++*records;
    }
    blob_walk_end(&w);
    return whole && *err == NC_NOERR && i == 0;
}

/* Are the fixed dimensions of a variable as long as those that hyperslabs of the
 * decomposition are told in? They are, but a file may say anything. */
static bool has_dims_of(const struct blob *b, const struct blob_decomp *d,
                        const struct cdf_var *v)
{
    const struct cdf_var *w = &b->base.ds->header.vars[d->varid];
    int n = v->ndims - blob_first_dim(v);
    return n == w->ndims - blob_first_dim(w) &&
           memcmp(v->shape + blob_first_dim(v), w->shape + blob_first_dim(w),
                  (size_t)n * sizeof *v->shape) == 0;
}

/* A hyperslab that was found to be is known again. */
bool blob_find_whole(struct blob *b, struct blob_decomp *d,
                     const struct access_request *r, struct blob_span *s, int *err)
{
    const struct cdf_var *v = &b->base.ds->header.vars[r->varid];
    struct blob_form form;
    if (!d->mine || access_is_fill(r)) return false;
    *s = (struct blob_span){0, 1, 1};
    blob_form_of(v, r, &form);
    if (blob_walk_is_map(v, r, &d->own)) {
        s->record = access_start(r)[2];
        return true;
    }
    if (form.ndims < 0 || d->form.ndims < 0 || !has_dims_of(b, d, v)) {
        bool whole = is_whole(b, d, r, &s->record, &s->records, err);
        if (whole && has_dims_of(b, d, v)) d->form = form;
        return whole;
    }
    if (!blob_form_is(&form, &d->form)) return false;
    if (v->is_record) {
        const int64_t *stride = access_stride(r, v->ndims);
        s->record = access_start(r)[0];
        s->records = access_count(r, v->ndims)[0];
        if (stride != NULL) s->step = stride[0];
    }
    return true;
}

/* ---- some elements ---- */

/* How many elements from `at` on lie side by side in the own blob, and where in the
 * subfile; 0: it has not that one. */
static int64_t find_in_own(struct blob_decomp *d, int64_t at, int64_t *place)
{
    int64_t i = d->mine ? blob_map_find(&d->own, at, &d->hint) : -1;
    if (i < 0) return 0;
    const struct blob_run *run = &d->own.runs[i];
    int64_t behind = at - run->at, length = blob_run_length(run);
    *place = d->start + run->pos + behind;
    return behind < length ? length - behind : 0;
}

/* The own map is tried where no other is known. */
static bool find_own_part(struct blob *b, struct blob_decomp *d, int64_t at, bool own,
                          struct blob_part *part, int *err)
{
    int64_t n = find_in_own(d, at, &part->at);
    *err = own && n < part->n ? BLOB_ELSEWHERE : NC_NOERR;
    if (n == 0 && *err == NC_NOERR) *err = blob_read_index(b, d, at);
    if (n == 0 || *err != NC_NOERR) return *err != NC_NOERR;
    part->sub = b->group;
    if (n < part->n) part->n = n;
    return true;
}

int blob_find_part(struct blob *b, struct blob_decomp *d, int64_t at, bool own,
                   struct blob_part *part, bool *abroad)
{
    const struct blob_index *x = &d->index;
    int err;
    *abroad = false;
    if ((own || at < x->low || at >= x->high) && find_own_part(b, d, at, own, part, &err))
        return err;
    int64_t i = blob_index_find_next(x, at, &d->next), end = x->high;
    const struct blob_piece *piece = i < x->n ? &x->pieces[i] : NULL;
    *abroad = true;
    part->sub = -1;
    part->at = at;
    if (piece != NULL && piece->at <= at) {
        part->sub = piece->sub;
        part->at = piece->pos + (at - piece->at);
        end = piece->at + piece->n;
    } else if (piece != NULL && piece->at < end)
        end = piece->at;
    if (part->n > end - at) part->n = end - at;
    if (!blob_is_foreign(b)) return NC_NOERR;
    return blob_foreign_part(b, part->of->varid, part->sub, part->record, part->at,
                             part->n);
}
