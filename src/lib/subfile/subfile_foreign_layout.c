/* Checks that the files of a dataset that another library has stored in subfiles belong
 * together, and finds out which values each file has. */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "subfile_foreign.h"
#include "subfile_names.h"

static int wrong(const char *path, const char *why)
{
    return base_error_set(NC_ENOTNC, "%s: %s", path, why);
}

static int wrong_var(const char *path, const struct cdf_var *v, const char *why)
{
    return base_error_set(NC_ENOTNC, "%s: variable '%s' %s", path, v->name, why);
}

static const char *const unlike = "differs from its definition in the dataset";

/* ---- one file: E3SM ---- */

int64_t subfile_foreign_number(const struct subfile_foreign *f,
                               const struct cdf_header *h, int id)
{
    int64_t k = 0;
    if (subfile_get_att(h, id, SUBFILE_ATT_DECOMPOSITION, &k, 1) != 1) return 0;
    return k >= 1 && k <= f->ndecomps ? k : -1;
}

/* Returns whether a variable has the same type and shape as in the whole dataset. If it
 * has decomposition k > 0, a single dimension replaces its fixed dimensions. */
static bool is_like(const struct cdf_var *of, const struct cdf_var *v, int64_t k)
{
    if (k < 0 || v->type != of->type || v->is_record != of->is_record) return false;
    if (k > 0) return v->ndims == 1 + of->is_record;
    return v->ndims == of->ndims &&
           (v->ndims == 0 ||
            memcmp(v->shape, of->shape, (size_t)v->ndims * sizeof *v->shape) == 0);
}

static int list_e3sm(const struct subfile_foreign *f, const struct cdf_header *whole,
                     const struct cdf_header *h, const char *path, int *varids)
{
    int64_t nprocs = 0, ndecomps = -1, n = 0;
    int id;
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_NPROCS, &nprocs, 1);
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_DECOMPOSITIONS, &ndecomps, 1);
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_SUBFILES, &n, 1);
    if (cdf_find_dim(h, SUBFILE_DIM_BLOBS, &id) != NC_NOERR)
        return wrong(path, "it is not a subfile: dimension 'nblobs' is missing");
    if (nprocs != f->nprocs || ndecomps != f->ndecomps || n != f->nfiles)
        return wrong(path,
                     "it belongs to another run: its numbers of processes, subfiles and "
                     "decompositions differ from those of the dataset");
    for (int i = 0; i < whole->nvars; i++) {
        if (cdf_find_var(h, whole->vars[i].name, &id) != NC_NOERR) continue;
        if (!is_like(&whole->vars[i], &h->vars[id], subfile_foreign_number(f, h, id)))
            return wrong_var(path, &whole->vars[i], unlike);
        varids[i] = id;
    }
    return NC_NOERR;
}

/* ---- one file: PnetCDF ---- */

#define INDEX "_PnetCDF_SubFiling.subfile_index"

/* Returns the number of elements that a subfile has along the divided dimension. */
static int64_t part_of(const struct subfile_location *location, int number)
{
    return location->low[number + 1] - location->low[number];
}

static int list_pnetcdf(const struct subfile_foreign *f, const struct cdf_header *whole,
                        const struct cdf_header *h, const char *path, int number,
                        int *varids)
{
    bool master = number == f->nfiles - 1;
    for (int i = 0; i < whole->nvars; i++) {
        const struct cdf_var *of = &whole->vars[i];
        const struct subfile_location *location = &f->locations[i];
        int id;
        int64_t is = -1;
        if (master != (location->dim < 0)) continue;
        varids[i] = i;
        if (master) continue;
        if (cdf_find_var(h, of->name, &id) != NC_NOERR)
            return wrong_var(path, of, "is missing");
        if (subfile_get_att(h, id, INDEX, &is, 1) == 1 && is != number)
            return wrong(path, "it is a subfile with another number");
        const struct cdf_var *v = &h->vars[id];
        bool same =
            v->type == of->type && v->ndims == of->ndims && v->is_record == of->is_record;
        for (int k = of->is_record; k < of->ndims && same; k++)
            same = v->shape[k] == (k - of->is_record == location->dim
                                       ? part_of(location, number)
                                       : of->shape[k]);
        if (!same) return wrong_var(path, of, unlike);
        varids[i] = id;
    }
    return NC_NOERR;
}

int subfile_foreign_list(const struct subfile_foreign *f, const struct cdf_header *whole,
                         const struct cdf_header *h, const char *path, int number,
                         int *varids)
{
    for (int i = 0; i < whole->nvars; i++)
        varids[i] = -1;
    return f->kind == SUBFILE_FOREIGN_E3SM
               ? list_e3sm(f, whole, h, path, varids)
               : list_pnetcdf(f, whole, h, path, number, varids);
}

bool subfile_foreign_is_numbered(const struct subfile_foreign *f,
                                 const struct cdf_header *h, int number,
                                 const int *varids)
{
    bool numbered = false;
    for (int i = 0; i < f->nvars && !numbered; i++) {
        int64_t is = -1;
        if (varids[i] < 0) continue;
        numbered = f->kind == SUBFILE_FOREIGN_E3SM ||
                   (subfile_get_att(h, varids[i], INDEX, &is, 1) == 1 && is == number);
    }
    return numbered;
}

/* ---- all files ---- */

int subfile_foreign_assign(struct subfile_foreign *f, struct cdf_header *whole,
                           const char *path, const struct subfile_tally *t)
{
    whole->numrecs = whole->unlimited < 0 ? 0 : t->most[0];
    if (whole->numrecs > cdf_max_records(whole))
        return wrong(path, "its subfiles have more records than the format allows");
    if (f->kind != SUBFILE_FOREIGN_E3SM) return NC_NOERR;
    if (t->sums[0] != f->nprocs)
        return base_error_set(
            NC_ENOTNC,
            "%s: its subfiles contain %lld blobs, but %lld processes wrote the dataset",
            path, (long long)t->sums[0], (long long)f->nprocs);
    for (int i = 0; i < f->nvars; i++) {
        const struct cdf_var *v = &whole->vars[i];
        int64_t most = t->most[1 + i], least = -t->most[1 + f->nvars + i];
        if (most != least)
            return wrong_var(path, v,
                             "does not have the same decomposition in all "
                             "subfiles");
        f->locations[i] = (struct subfile_location){
            .number = (int)(most > 0 ? most : f->ndecomps + 1 + i),
            .dim = -1,
            .named = most > 0 ? t->sums[most] : v->nelems};
        if (f->locations[i].named > v->nelems)
            return base_error_set(NC_ENOTNC,
                                  "%s: variable '%s' has %lld elements, but its "
                                  "decomposition D%lld has %lld",
                                  path, v->name, (long long)v->nelems, (long long)most,
                                  (long long)t->sums[most]);
    }
    return NC_NOERR;
}

/* ---- missing values ---- */

int subfile_foreign_check_size(const struct subfile *s, int id, int64_t record,
                               int64_t at, int64_t n)
{
    const struct cdf_var *v = &s->h->vars[id];
    if (v->is_record && record >= s->h->numrecs)
        return base_error_set(
            NC_ENOTNC, "%s: it has only %lld records: variable '%s' lacks record %lld",
            s->path, (long long)s->h->numrecs, v->name, (long long)record);
    if (at > v->nelems - n)
        return wrong_var(s->path, v, "is smaller than a map requires");
    if (cdf_record_offset(s->h, v, record) + (at + n) * cdf_type_size(v->type) > s->size)
        return wrong_var(s->path, v, "is truncated: the file ends before its data");
    return NC_NOERR;
}

int subfile_foreign_check_gap(const struct subfile_foreign *f,
                              const struct cdf_header *whole, const char *path, int varid,
                              int64_t record, int64_t at)
{
    const struct cdf_var *v = &whole->vars[varid];
    char of[48] = "";
    if (f->locations[varid].named < v->nelems) return NC_NOERR;
    if (v->is_record) snprintf(of, sizeof of, " of record %lld", (long long)record);
    return base_error_set(NC_ENOTNC,
                          "%s: variable '%s': no subfile contains element %lld%s", path,
                          v->name, (long long)at, of);
}

int subfile_foreign_check_count(const struct subfile_foreign *f,
                                const struct cdf_header *whole, const char *path,
                                int varid, const struct subfile_index *x, int64_t *found)
{
    const struct cdf_var *v = &whole->vars[varid];
    int64_t at = x->low;
    int err = NC_NOERR;
    if (x->low == 0) *found = 0;
    for (int64_t i = 0; i < x->n && err == NC_NOERR; i++) {
        int64_t low = x->pieces[i].at, high = low + x->pieces[i].n;
        if (low > at) err = subfile_foreign_check_gap(f, whole, path, varid, 0, at);
        if (low < x->low) low = x->low;
        at = high < x->high ? high : x->high;
        *found += at - low;
    }
    if (err == NC_NOERR && at < x->high)
        err = subfile_foreign_check_gap(f, whole, path, varid, 0, at);
    if (err != NC_NOERR || x->high < v->nelems || *found == f->locations[varid].named)
        return err;
    return base_error_set(
        NC_ENOTNC,
        "%s: variable '%s': the maps name %lld elements, but the subfiles contain %lld",
        path, v->name, (long long)*found, (long long)f->locations[varid].named);
}

/* ---- the values of a variable in a file ---- */

static bool has_maps(const struct subfile_foreign *f,
                     const struct subfile_location *location)
{
    return f->kind == SUBFILE_FOREIGN_E3SM && location->number <= f->ndecomps;
}

bool subfile_foreign_is_used(const struct subfile_foreign *f, int varid, int number)
{
    const struct subfile_location *location = &f->locations[varid];
    if (has_maps(f, location)) return true;
    if (location->dim >= 0) return number < f->nfiles - 1;
    return number == (f->kind == SUBFILE_FOREIGN_E3SM ? 0 : f->nfiles - 1);
}

int subfile_foreign_decomp(int varid, struct subfile_decomp *d)
{
    const struct subfile *s = d->file;
    const struct subfile_foreign *f = s->foreign;
    const struct cdf_var *v = &s->master->vars[varid];
    const struct subfile_location *location = &f->locations[varid];
    int id = subfile_var(s, varid);
    d->nblobs = 0;
    if (!subfile_foreign_is_used(f, varid, s->number)) return NC_NOERR;
    if (id < 0) return wrong_var(s->path, v, "is missing");
    d->any_order = true;
    if (has_maps(f, location)) {
        int err =
            subfile_decomp_find(d, location->number, s->h->vars[id].nelems, v->nelems);
        const int ids[] = {d->nreqs, d->start, d->count, d->offsets, d->lengths};
        for (size_t i = 0; i < sizeof ids / sizeof *ids && err == NC_NOERR; i++)
            err = subfile_foreign_check_size(s, ids[i], 0, 0, s->h->vars[ids[i]].nelems);
        return err;
    }
    int dim = v->is_record + location->dim;
    struct subfile_block b = {
        .outer = 1, .length = v->nelems, .n = v->nelems, .inner = 1};
    for (int i = v->is_record; i < v->ndims && location->dim >= 0; i++) {
        if (i < dim) b.outer *= v->shape[i];
        if (i > dim) b.inner *= v->shape[i];
    }
    if (location->dim >= 0) {
        b.length = v->shape[dim];
        b.low = location->low[s->number];
        b.n = part_of(location, s->number);
    }
    d->block = b;
    d->nblobs = 1;
    return NC_NOERR;
}
