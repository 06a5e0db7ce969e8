/* The files of a dataset that another library put into subfiles: do they belong together,
 * and what does each of them have? */
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "blob_foreign.h"
#include "blob_names.h"

static int wrong(const char *path, const char *why)
{
    return base_error_set(NC_ENOTNC, "%s: %s", path, why);
}

static int wrong_var(const char *path, const struct cdf_var *v, const char *why)
{
    return base_error_set(NC_ENOTNC, "%s: variable '%s' %s", path, v->name, why);
}

static const char *const unlike = "is not as the dataset has it";

/* ---- one file: E3SM ---- */

/* The decomposition of a variable; 0: none; less: one that there is not. */
static int64_t number_of_home(const struct blob_foreign *f, const struct cdf_header *h,
                              int id)
{
    int64_t k = 0;
    if (blob_source_att(h, id, BLOB_ATT_DECOMPOSITION, &k, 1) != 1) return 0;
    return k >= 1 && k <= f->ndecomps ? k : -1;
}

static bool same_var_shape(const struct cdf_var *v, const struct cdf_var *w)
{
    return v->ndims == w->ndims && v->is_record == w->is_record &&
           (v->ndims == 0 ||
            memcmp(v->shape, w->shape, (size_t)v->ndims * sizeof *v->shape) == 0);
}

static bool is_like(const struct cdf_var *of, const struct cdf_var *v, int64_t k)
{
    if (k < 0 || v->type != of->type) return false;
    return k == 0 ? same_var_shape(v, of)
                  : v->is_record == of->is_record && v->ndims == 1 + of->is_record;
}

static int list_e3sm(const struct blob_foreign *f, const struct cdf_header *whole,
                     const struct cdf_header *h, const char *path, int *varids)
{
    int64_t nprocs = 0, ndecomps = -1, n = 0;
    int id;
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_NPROCS, &nprocs, 1);
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_DECOMPOSITIONS, &ndecomps, 1);
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_SUBFILES, &n, 1);
    if (cdf_find_dim(h, BLOB_DIM_BLOBS, &id) != NC_NOERR)
        return wrong(path, "it is no subfile: it has no dimension 'nblobs'");
    if (nprocs != f->nprocs || ndecomps != f->ndecomps || n != f->nfiles)
        return wrong(path, "it is of another run: its numbers of processes, subfiles and "
                           "decompositions are not the dataset's");
    for (int i = 0; i < whole->nvars; i++) {
        if (cdf_find_var(h, whole->vars[i].name, &id) != NC_NOERR) continue;
        if (!is_like(&whole->vars[i], &h->vars[id], number_of_home(f, h, id)))
            return wrong_var(path, &whole->vars[i], unlike);
        varids[i] = id;
    }
    return NC_NOERR;
}

/* ---- one file: PnetCDF ---- */

#define INDEX "_PnetCDF_SubFiling.subfile_index"

/* Elements of the divided dimension. */
static int64_t part_of(const struct blob_home *home, int number)
{
    return home->low[number + 1] - home->low[number];
}

static bool is_part(const struct cdf_var *of, const struct cdf_var *v,
                    const struct blob_home *home, int number)
{
    bool same =
        v->type == of->type && v->ndims == of->ndims && v->is_record == of->is_record;
    for (int i = of->is_record; i < of->ndims && same; i++)
        same = v->shape[i] ==
               (i - of->is_record == home->dim ? part_of(home, number) : of->shape[i]);
    return same;
}

static int list_pnetcdf(const struct blob_foreign *f, const struct cdf_header *whole,
                        const struct cdf_header *h, const char *path, int number,
                        int *varids)
{
    bool master = number == f->nfiles - 1;
    for (int i = 0; i < whole->nvars; i++) {
        const struct blob_home *home = &f->homes[i];
        int id;
        int64_t is = -1;
        if (master != (home->dim < 0)) continue;
        varids[i] = i;
        if (master) continue;
        if (cdf_find_var(h, whole->vars[i].name, &id) != NC_NOERR)
            return wrong_var(path, &whole->vars[i], "is missing");
        if (blob_source_att(h, id, INDEX, &is, 1) == 1 && is != number)
            return wrong(path, "it was the subfile of another number");
        if (!is_part(&whole->vars[i], &h->vars[id], home, number))
            return wrong_var(path, &whole->vars[i], unlike);
        varids[i] = id;
    }
    return NC_NOERR;
}

int blob_foreign_list(const struct blob_foreign *f, const struct cdf_header *whole,
                      const struct cdf_header *h, const char *path, int number,
                      int *varids)
{
    for (int i = 0; i < whole->nvars; i++)
        varids[i] = -1;
    return f->kind == BLOB_FOREIGN_E3SM ? list_e3sm(f, whole, h, path, varids)
                                        : list_pnetcdf(f, whole, h, path, number, varids);
}

bool blob_foreign_tells(const struct blob_foreign *f, const struct cdf_header *h,
                        int number, const int *varids)
{
    bool tells = false;
    for (int i = 0; i < f->nvars && !tells; i++) {
        int64_t is = -1;
        if (varids[i] < 0) continue;
        tells = f->kind == BLOB_FOREIGN_E3SM ||
                (blob_source_att(h, varids[i], INDEX, &is, 1) == 1 && is == number);
    }
    return tells;
}

/* ---- all files ---- */

/* sums: blobs, then the elements of each decomposition; most: the records, then of each
 * variable the largest of its numbers, and the largest of their opposites. */
int blob_tally_begin(struct blob_tally *t, const struct blob_foreign *f)
{
    *t = (struct blob_tally){.nsums = 1 + (int)f->ndecomps, .nmost = 1 + 2 * f->nvars};
    t->sums = base_calloc((size_t)t->nsums, sizeof *t->sums);
    t->most = base_malloc((size_t)t->nmost * sizeof *t->most);
    if (t->sums == NULL || t->most == NULL) return NC_ENOMEM;
    t->most[0] = 0;
    for (int i = 1; i < t->nmost; i++)
        t->most[i] = -INT64_MAX;
    return NC_NOERR;
}

void blob_tally_free(struct blob_tally *t)
{
    base_free(t->sums);
    base_free(t->most);
}

static int64_t length_of(const struct cdf_header *h, const char *name)
{
    int id;
    return cdf_find_dim(h, name, &id) == NC_NOERR ? h->dims[id].length : 0;
}

static void raise_to(int64_t *most, int64_t value)
{
    if (value > *most) *most = value;
}

void blob_tally_add(struct blob_tally *t, const struct blob_foreign *f,
                    const struct cdf_header *h, const int *varids)
{
    raise_to(&t->most[0], h->numrecs);
    if (f->kind != BLOB_FOREIGN_E3SM) return;
    t->sums[0] += length_of(h, BLOB_DIM_BLOBS);
    for (int k = 1; k < t->nsums; k++) {
        char name[64];
        snprintf(name, sizeof name, "D%d.nelems", k);
        int64_t n = length_of(h, name);
        t->sums[k] += n < INT64_MAX - t->sums[k] ? n : INT64_MAX - t->sums[k];
    }
    for (int i = 0; i < f->nvars; i++) {
        int64_t k = varids[i] < 0 ? 0 : number_of_home(f, h, varids[i]);
        raise_to(&t->most[1 + i], k);
        raise_to(&t->most[1 + f->nvars + i], -k);
    }
}

static int settle_e3sm(struct blob_foreign *f, const struct cdf_header *whole,
                       const char *path, const struct blob_tally *t)
{
    if (t->sums[0] != f->nprocs)
        return base_error_set(NC_ENOTNC,
                              "%s: its subfiles have %lld blobs, of %lld processes", path,
                              (long long)t->sums[0], (long long)f->nprocs);
    for (int i = 0; i < f->nvars; i++) {
        const struct cdf_var *v = &whole->vars[i];
        int64_t most = t->most[1 + i], least = -t->most[1 + f->nvars + i];
        if (most != least)
            return wrong_var(path, v, "has not the same decomposition in all subfiles");
        f->homes[i] =
            (struct blob_home){.number = (int)(most > 0 ? most : f->ndecomps + 1 + i),
                               .dim = -1,
                               .named = most > 0 ? t->sums[most] : v->nelems};
        if (f->homes[i].named > v->nelems)
            return base_error_set(
                NC_ENOTNC,
                "%s: variable '%s' has %lld elements, its decomposition "
                "D%lld has %lld",
                path, v->name, (long long)v->nelems, (long long)most,
                (long long)t->sums[most]);
    }
    return NC_NOERR;
}

int blob_foreign_settle(struct blob_foreign *f, struct cdf_header *whole,
                        const char *path, const struct blob_tally *t)
{
    whole->numrecs = whole->unlimited < 0 ? 0 : t->most[0];
    if (whole->numrecs > cdf_max_records(whole))
        return wrong(path, "its subfiles have more records than there can be");
    return f->kind == BLOB_FOREIGN_E3SM ? settle_e3sm(f, whole, path, t) : NC_NOERR;
}

/* ---- values that are not there ---- */

int blob_foreign_reaches(const struct cdf_header *h, const char *path, int64_t size,
                         int id, int64_t record, int64_t at, int64_t n)
{
    const struct cdf_var *v = &h->vars[id];
    if (v->is_record && record >= h->numrecs)
        return base_error_set(NC_ENOTNC,
                              "%s: it has %lld records: of variable '%s' record %lld is "
                              "missing",
                              path, (long long)h->numrecs, v->name, (long long)record);
    if (at > v->nelems - n) return wrong_var(path, v, "is smaller than a map says");
    if (cdf_record_offset(h, v, record) + (at + n) * cdf_type_size(v->type) > size)
        return wrong_var(path, v, "is cut off: the file ends before its data do");
    return NC_NOERR;
}

int blob_foreign_hole(const struct blob_foreign *f, const struct cdf_header *whole,
                      const char *path, int varid, int64_t record, int64_t at)
{
    const struct cdf_var *v = &whole->vars[varid];
    char of[48] = "";
    if (f->homes[varid].named < v->nelems) return NC_NOERR;
    if (v->is_record) snprintf(of, sizeof of, " of record %lld", (long long)record);
    return base_error_set(NC_ENOTNC, "%s: variable '%s': no subfile has element %lld%s",
                          path, v->name, (long long)at, of);
}

int blob_foreign_count(const struct blob_foreign *f, const struct cdf_header *whole,
                       const char *path, int varid, const struct blob_index *x,
                       int64_t *found)
{
    const struct cdf_var *v = &whole->vars[varid];
    int64_t at = x->low;
    int err = NC_NOERR;
    if (x->low == 0) *found = 0;
    for (int64_t i = 0; i < x->n && err == NC_NOERR; i++) {
        int64_t low = x->pieces[i].at, high = low + x->pieces[i].n;
        if (low > at) err = blob_foreign_hole(f, whole, path, varid, 0, at);
        if (low < x->low) low = x->low;
        at = high < x->high ? high : x->high;
        *found += at - low;
    }
    if (err == NC_NOERR && at < x->high)
        err = blob_foreign_hole(f, whole, path, varid, 0, at);
    if (err != NC_NOERR || x->high < v->nelems || *found == f->homes[varid].named)
        return err;
    return base_error_set(NC_ENOTNC,
                          "%s: variable '%s': its maps name %lld elements, and its "
                          "subfiles have %lld",
                          path, v->name, (long long)*found,
                          (long long)f->homes[varid].named);
}

/* ---- what a file has of a variable ---- */

static bool has_maps(const struct blob_foreign *f, const struct blob_home *home)
{
    return f->kind == BLOB_FOREIGN_E3SM && home->number <= f->ndecomps;
}

bool blob_foreign_counts(const struct blob_foreign *f, int varid, int number)
{
    const struct blob_home *home = &f->homes[varid];
    if (has_maps(f, home)) return true;
    if (home->dim >= 0) return number < f->nfiles - 1;
    return number == (f->kind == BLOB_FOREIGN_E3SM ? 0 : f->nfiles - 1);
}

static void take_block(const struct cdf_var *v, const struct blob_home *home,
                       struct blob_source *s)
{
    int first = v->is_record, dim = first + home->dim;
    struct blob_block b = {.outer = 1, .length = v->nelems, .n = v->nelems, .inner = 1};
    if (home->dim >= 0) {
        b.length = v->shape[dim];
        b.low = home->low[s->sub];
        b.n = part_of(home, s->sub);
        for (int i = first; i < v->ndims; i++) {
            if (i < dim) b.outer *= v->shape[i];
            if (i > dim) b.inner *= v->shape[i];
        }
    }
    s->block = b;
    s->nblobs = 1;
}

/* Their numbers are read as often as they say: so they have to be there. */
static int find_maps(struct blob_source *s, int number, int64_t nelems, int64_t limit)
{
    int err = blob_source_find(s, number, nelems, limit);
    const int ids[] = {s->nreqs, s->start, s->count, s->offsets, s->lengths};
    for (size_t i = 0; i < sizeof ids / sizeof *ids && err == NC_NOERR; i++)
        err = blob_foreign_reaches(s->h, s->path, s->size, ids[i], 0, 0,
                                   s->h->vars[ids[i]].nelems);
    return err;
}

int blob_foreign_source(const struct blob_foreign *f, const struct cdf_header *whole,
                        int varid, int id, struct blob_source *s)
{
    const struct cdf_var *v = &whole->vars[varid];
    const struct blob_home *home = &f->homes[varid];
    s->nblobs = 0;
    if (!blob_foreign_counts(f, varid, s->sub)) return NC_NOERR;
    if (id < 0) return wrong_var(s->path, v, "is missing");
    s->any_order = true;
    if (has_maps(f, home))
        return find_maps(s, home->number, s->h->vars[id].nelems, v->nelems);
    take_block(v, home, s);
    return NC_NOERR;
}
