/* Finds the variables of a subfile by the attributes in its header. */
#include "subfile_open.h"

#include <stdio.h>

#include "base_error.h"
#include "base_mem.h"
#include "subfile_names.h"

static int report(const struct subfile *s, const char *what)
{
    return base_error_set(NC_ENOTNC, "%s: %s", s->path, what);
}

static int find_log(const struct subfile *s, int *log)
{
    const struct cdf_header *h = s->h;
    if (cdf_find_var(h, SUBFILE_VAR_FRAMES, log) != NC_NOERR)
        return report(s, "it has no log of frames");
    const struct cdf_var *v = &h->vars[*log];
    bool good =
        v->type == NC_BYTE && v->ndims == 1 && v->is_record && h->record_size == 1;
    return good ? NC_NOERR : report(s, "its log of frames does not have type byte");
}

static int find_varids(const struct subfile *s, int *ids)
{
    for (int i = 0; i < s->master->nvars; i++)
        ids[i] = -1;
    if (subfile_is_foreign(s))
        return subfile_foreign_list(s->foreign, s->master, s->h, s->path, s->number, ids);
    for (int id = 0; id < s->h->nvars; id++) {
        int varid;
        const char *wrong = subfile_get_varid(s->h, id, s->master, &varid);
        if (wrong == NULL && varid >= 0 &&
            subfile_is_framed(s->h, id) != s->facts->framed)
            wrong = "a variable differs from its definition in the master file";
        if (wrong != NULL) return report(s, wrong);
        if (varid >= 0) ids[varid] = id;
    }
    return NC_NOERR;
}

int subfile_list(struct subfile *s)
{
    int log = -1;
    int *ids = base_malloc((size_t)(s->master->nvars + 1) * sizeof *ids);
    int err = ids == NULL ? NC_ENOMEM : find_varids(s, ids);
    if (err == NC_NOERR && s->facts->framed && s->h->nvars > 0) err = find_log(s, &log);
    if (err != NC_NOERR) {
        base_free(ids);
        return err;
    }
    base_free(s->varids);
    s->varids = ids;
    s->nvars = s->master->nvars;
    s->log = log;
    return NC_NOERR;
}

void subfile_free(struct subfile *s)
{
    base_free(s->varids);
    base_arena_free(&s->arena);
}

/* ---- decompositions ---- */

int subfile_tally_begin(struct subfile_tally *t, const struct subfile_foreign *f,
                        int nvars)
{
    *t = (struct subfile_tally){.nsums = 1 + (int)f->ndecomps, .nmost = 1 + 2 * nvars};
    t->sums = base_calloc((size_t)t->nsums, sizeof *t->sums);
    t->most = base_malloc((size_t)t->nmost * sizeof *t->most);
    if (t->sums == NULL || t->most == NULL) return NC_ENOMEM;
    t->most[0] = 0;
    for (int i = 1; i < t->nmost; i++)
        t->most[i] = -INT64_MAX;
    return NC_NOERR;
}

void subfile_tally_free(struct subfile_tally *t)
{
    base_free(t->sums);
    base_free(t->most);
}

static void raise_to(int64_t *most, int64_t value)
{
    if (value > *most) *most = value;
}

static int64_t length_of(const struct cdf_header *h, const char *name)
{
    int id;
    return cdf_find_dim(h, name, &id) == NC_NOERR ? h->dims[id].length : 0;
}

/* Returns the decomposition number that a subfile records for a variable; 0 if there is
 * none, or if it is not committed. */
static int64_t number_in(const struct subfile *s, int varid)
{
    int64_t number = 0;
    int id = subfile_var(s, varid);
    if (id < 0) return 0;
    if (subfile_is_foreign(s)) return subfile_foreign_number(s->foreign, s->h, id);
    (void)subfile_get_att(s->h, id, SUBFILE_ATT_DECOMPOSITION, &number, 1);
    return cdf_is_committed(s->facts, number) ? number : 0;
}

void subfile_tally_add(struct subfile_tally *t, const struct subfile *s)
{
    int64_t largest = s->h->numrecs;
    int nvars = s->master->nvars;
    if (!subfile_is_foreign(s)) {
        largest = 0;
        (void)subfile_get_att(s->h, NC_GLOBAL, SUBFILE_ATT_DECOMPOSITIONS, &largest, 1);
    }
    raise_to(&t->most[0], largest);
    if (s->foreign->kind == SUBFILE_FOREIGN_PNETCDF) return;
    if (subfile_is_foreign(s)) t->sums[0] += length_of(s->h, SUBFILE_DIM_BLOBS);
    for (int k = 1; k < t->nsums; k++) {
        char name[64];
        snprintf(name, sizeof name, "D%d.nelems", k);
        int64_t n = length_of(s->h, name);
        t->sums[k] += n < INT64_MAX - t->sums[k] ? n : INT64_MAX - t->sums[k];
    }
    for (int i = 0; i < nvars; i++) {
        int64_t k = number_in(s, i);
        raise_to(&t->most[1 + i], k);
        raise_to(&t->most[1 + nvars + i], -k);
    }
}

int subfile_tally_number(const struct subfile_tally *t, const char *path,
                         const struct cdf_header *master, int id, int *err)
{
    int64_t most = t->most[1 + id], least = -t->most[1 + master->nvars + id];
    *err = NC_NOERR;
    if (least >= most) return least == most ? (int)least : 0;
    char other[32] = "none";
    if (least > 0) snprintf(other, sizeof other, "D%lld", (long long)least);
    *err = base_error_set(NC_ENOTNC,
                          "%s: variable '%s' has decomposition D%lld in one subfile but "
                          "%s in another: one of them is damaged",
                          path, master->vars[id].name, (long long)most, other);
    return 0;
}

int subfile_find_decomp(struct subfile *s, int number, int varid,
                        struct subfile_decomp *d)
{
    const struct cdf_var *whole = &s->master->vars[varid];
    int id = subfile_var(s, varid);
    *d = (struct subfile_decomp){.file = s, .read = s->read_numbers};
    if (subfile_is_foreign(s)) return subfile_foreign_decomp(varid, d);
    if (id < 0)
        return base_error_set(NC_ENOTNC, "%s: variable '%s' is missing", s->path,
                              whole->name);
    int err =
        subfile_decomp_find(d, number, subfile_nelems(s->h, id, number), whole->nelems);
    int64_t nblobs = subfile_nblobs(s->facts, s->number);
    if (err != NC_NOERR) return err;
    if (d->nblobs != nblobs)
        return base_error_set(NC_ENOTNC,
                              "%s: decomposition D%d has %lld blobs instead of %lld",
                              s->path, number, (long long)d->nblobs, (long long)nblobs);
    if (d->nelems > whole->nelems)
        return base_error_set(
            NC_ENOTNC, "%s: decomposition D%d has more elements than variable '%s'",
            s->path, number, whole->name);
    return NC_NOERR;
}
