/* The whole of a dataset that another library put into subfiles: its definitions, from
 * those of the master file or of the first subfile. */
#include "blob_foreign.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "blob_names.h"
#include "conv.h"

enum { MOST_FILES = 1 << 20, MOST_DECOMPOSITIONS = 1 << 16 };

#define PNETCDF "_PnetCDF_SubFiling."

static bool name_begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* ---- whose is it? ---- */

enum blob_foreign_kind blob_foreign_kind(const struct cdf_header *h, bool stands_in)
{
    int64_t is;
    int id;
    if (blob_source_att(h, NC_GLOBAL, PNETCDF "num_subfiles", &is, 1) == 1)
        return stands_in ? BLOB_FOREIGN_NONE : BLOB_FOREIGN_PNETCDF;
    bool blobs = cdf_find_dim(h, BLOB_DIM_BLOBS, &id) == NC_NOERR;
    bool ours = blob_source_att(h, NC_GLOBAL, BLOB_ATT_TOKEN, &is, 1) == 1;
    bool e3sm = blob_source_att(h, NC_GLOBAL, BLOB_ATT_NPROCS, &is, 1) == 1 &&
                blob_source_att(h, NC_GLOBAL, BLOB_ATT_DECOMPOSITIONS, &is, 1) == 1 &&
                blob_source_att(h, NC_GLOBAL, BLOB_ATT_SUBFILES, &is, 1) == 1;
    return e3sm && !ours && blobs == stands_in ? BLOB_FOREIGN_E3SM : BLOB_FOREIGN_NONE;
}

bool blob_foreign_is_complete(const struct cdf_header *h, int64_t size)
{
    for (int id = 0; id < h->nvars; id++) {
        const struct cdf_var *v = &h->vars[id];
        int64_t last = v->is_record ? h->numrecs - 1 : 0;
        if (last < 0) continue;
        if (cdf_record_offset(h, v, last) + v->nelems * cdf_type_size(v->type) > size)
            return false;
    }
    return h->nvars > 0;
}

#define FIRST ".0000"

char *blob_foreign_first(const char *path)
{
    return blob_source_path(path, 0);
}

char *blob_foreign_stood_for(const char *path)
{
    size_t n = strlen(path), end = sizeof FIRST - 1;
    if (n <= end || strcmp(path + n - end, FIRST) != 0) return NULL;
    char *name = base_strdup(path);
    if (name != NULL) name[n - end] = '\0';
    return name;
}

int blob_foreign_subfiles(const struct blob_foreign *f)
{
    return f->nfiles - (f->kind == BLOB_FOREIGN_PNETCDF);
}

char *blob_foreign_path(const struct blob_foreign *f, const char *master, int number)
{
    if (f->kind == BLOB_FOREIGN_E3SM) return blob_source_path(master, number);
    if (number == f->nfiles - 1) return base_strdup(master);
    size_t size = strlen(master) + 32;
    char *path = base_malloc(size);
    if (path != NULL) snprintf(path, size, "%s.subfile_%d.nc", master, number);
    return path;
}

/* ---- copying definitions ---- */

/* Attributes that tell of subfiles are none of the dataset's own. */
static bool is_theirs(enum blob_foreign_kind kind, int varid, const char *name)
{
    static const char *const global[] = {BLOB_ATT_NPROCS, BLOB_ATT_DECOMPOSITIONS,
                                         BLOB_ATT_SUBFILES},
                             *const var[] = {BLOB_ATT_DECOMPOSITION, BLOB_ATT_DIMIDS};
    if (kind == BLOB_FOREIGN_PNETCDF) return name_begins(name, PNETCDF);
    const char *const *list = varid == NC_GLOBAL ? global : var;
    size_t n =
        varid == NC_GLOBAL ? sizeof global / sizeof *global : sizeof var / sizeof *var;
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

static int copy_foreign_atts(enum blob_foreign_kind kind, struct cdf_header *to,
                             int varid, const struct cdf_atts *from)
{
    int err = NC_NOERR;
    for (int i = 0; i < from->count && err == NC_NOERR; i++) {
        const struct cdf_att *a = &from->list[i];
        void *values;
        if (is_theirs(kind, varid, a->name)) continue;
        err = cdf_put_att(to, varid, a->name, a->type, a->nelems, &values);
        if (err == NC_NOERR && a->nelems > 0)
            memcpy(values, a->values, (size_t)(a->nelems * cdf_type_size(a->type)));
    }
    return err;
}

static int copy_var(enum blob_foreign_kind kind, struct cdf_header *to,
                    const struct cdf_var *v, int ndims, const int *dimids)
{
    int id, err = cdf_def_var(to, v->name, v->type, ndims, dimids, &id);
    if (err == NC_NOERR) to->vars[id].fill = v->fill;
    return err == NC_NOERR ? copy_foreign_atts(kind, to, id, &v->atts) : err;
}

static int tell_broken_name(const char *path, const char *name, const char *what)
{
    return base_error_set(NC_ENOTNC, "%s: variable '%s': %s", path, name, what);
}

/* The dimensions that an attribute names, of those of the whole. */
static int read_dimids(const struct cdf_header *h, int varid, const char *att,
                       const struct cdf_header *whole, int *dimids, int *ndims)
{
    enum { MOST = 1024 };
    int64_t *ids = base_malloc(MOST * sizeof *ids);
    if (ids == NULL) return NC_ENOMEM;
    *ndims = blob_source_att(h, varid, att, ids, MOST);
    bool good = *ndims > 0 && *ndims < MOST;
    for (int i = 0; i < *ndims && good; i++) {
        good = ids[i] >= 0 && ids[i] < whole->ndims;
        dimids[i] = (int)ids[i];
    }
    base_free(ids);
    return good ? NC_NOERR : NC_ENOTNC;
}

/* A variable with the dimensions that it has in the whole. */
static int copy_divided(enum blob_foreign_kind kind, const struct cdf_header *h, int id,
                        const char *att, const char *path, struct cdf_header *whole)
{
    int dimids[1024], ndims;
    const char *name = h->vars[id].name;
    int err = read_dimids(h, id, att, whole, dimids, &ndims);
    if (err == NC_NOERR) err = copy_var(kind, whole, &h->vars[id], ndims, dimids);
    if (err == NC_NOERR || err == NC_ENOMEM) return err;
    return tell_broken_name(path, name, "the attribute with its dimensions is not good");
}

/* ---- E3SM ---- */

/* "D", a number from 1 on, and what follows? */
static bool is_of_map(const struct blob_foreign *f, const char *name, const char *what)
{
    char *end;
    if (name[0] != 'D' || name[1] < '1' || name[1] > '9') return false;
    long k = strtol(name + 1, &end, 10);
    return k <= f->ndecomps && strcmp(end, what) == 0;
}

static bool is_map_dim(const struct blob_foreign *f, const char *name)
{
    return strcmp(name, BLOB_DIM_BLOBS) == 0 || is_of_map(f, name, ".nelems") ||
           is_of_map(f, name, ".max_nreqs");
}

static bool is_decomposed(const struct cdf_header *h, int id)
{
    int64_t k;
    return blob_source_att(h, id, BLOB_ATT_DECOMPOSITION, &k, 1) == 1;
}

/* A variable of maps, or of blobs that no map is named for. */
static bool is_of_maps(const struct blob_foreign *f, const struct cdf_header *h, int id)
{
    const struct cdf_var *v = &h->vars[id];
    for (int i = 0; i < v->ndims; i++)
        if (is_map_dim(f, h->dims[v->dimids[i]].name)) return true;
    return false;
}

/* The dimensions of a subfile but those of maps; number: of each one in the whole. */
static int copy_foreign_dims(const struct blob_foreign *f, const struct cdf_header *h,
                             struct cdf_header *whole, int *number)
{
    int err = NC_NOERR;
    for (int i = 0; i < h->ndims && err == NC_NOERR; i++) {
        number[i] = -1;
        if (f->stands_in && is_map_dim(f, h->dims[i].name)) continue;
        err = cdf_def_dim(whole, h->dims[i].name, h->dims[i].length, &number[i]);
    }
    return err;
}

static int copy_plain(const struct blob_foreign *f, const struct cdf_header *h, int id,
                      const int *number, struct cdf_header *whole)
{
    const struct cdf_var *v = &h->vars[id];
    int *dimids = base_malloc((size_t)(v->ndims + 1) * sizeof *dimids);
    if (dimids == NULL) return NC_ENOMEM;
    for (int i = 0; i < v->ndims; i++)
        dimids[i] = number[v->dimids[i]];
    int err = copy_var(f->kind, whole, v, v->ndims, dimids);
    base_free(dimids);
    return err;
}

static int begin_e3sm(struct blob_foreign *f, const struct cdf_header *h,
                      const char *path, struct cdf_header *whole)
{
    int64_t n = 0;
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_NPROCS, &f->nprocs, 1);
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_DECOMPOSITIONS, &f->ndecomps, 1);
    (void)blob_source_att(h, NC_GLOBAL, BLOB_ATT_SUBFILES, &n, 1);
    if (n < 1 || n > MOST_FILES || n > f->nprocs || f->ndecomps < 0 ||
        f->ndecomps > MOST_DECOMPOSITIONS)
        return base_error_set(NC_ENOTNC,
                              "%s: its numbers of processes, subfiles and decompositions "
                              "cannot be",
                              path);
    f->nfiles = (int)n;
    int *number = base_malloc((size_t)(h->ndims + 1) * sizeof *number);
    int err = number == NULL ? NC_ENOMEM : copy_foreign_dims(f, h, whole, number);
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++) {
        if (f->stands_in && is_decomposed(h, id))
            err = copy_divided(f->kind, h, id, BLOB_ATT_DIMIDS, path, whole);
        else if (!f->stands_in || !is_of_maps(f, h, id))
            err = copy_plain(f, h, id, number, whole);
    }
    base_free(number);
    return err;
}

/* ---- PnetCDF ---- */

/* Where the parts of a dimension begin: they follow each other and are all of it. NULL:
 * *wrong says why not. */
static const int64_t *read_parts(struct blob_foreign *f, const struct cdf_header *h,
                                 int id, const struct cdf_dim *dim, const char **wrong)
{
    char name[NC_MAX_NAME + 64];
    int64_t next = 0, n = f->nfiles - 1;
    int64_t *low = base_arena_alloc(&f->arena, (size_t)(n + 1) * sizeof *low);
    *wrong = NULL;
    for (int64_t i = 0; i < n && low != NULL && *wrong == NULL; i++) {
        int64_t range[2];
        snprintf(name, sizeof name, PNETCDF "range(%s).subfile.%d", dim->name, (int)i);
        if (blob_source_att(h, id, name, range, 2) != 2)
            *wrong = "the range of a subfile is missing";
        else if (range[0] < next)
            *wrong = "the ranges of its subfiles overlap, or are not in order";
        else if (range[0] > next)
            *wrong = "the ranges of its subfiles leave a hole";
        else if (range[1] < range[0] || range[1] >= dim->length)
            *wrong = "the range of a subfile points outside of its dimension";
        low[i] = range[0];
        next = range[1] + 1;
    }
    if (low != NULL && *wrong == NULL && next != dim->length)
        *wrong = "the ranges of its subfiles leave a hole";
    if (low != NULL) low[n] = next;
    return *wrong == NULL ? low : NULL;
}

/* Is an attribute the range of a subfile in another dimension than the divided one, and
 * not all of that? PnetCDF writes one for each dimension, and divides one. */
static bool divides(const struct cdf_att *a, const struct cdf_header *whole,
                    const struct cdf_var *v, int along)
{
    static const char range[] = PNETCDF "range(";
    int64_t of[2];
    if (!name_begins(a->name, range) || a->nelems != 2) return false;
    if (a->type != NC_INT && a->type != NC_INT64) return false;
    (void)conv_get(of, CONV_LONGLONG, a->values, a->type, 2);
    for (int i = v->is_record; i < v->ndims; i++) {
        const struct cdf_dim *dim = &whole->dims[v->dimids[i]];
        const char *name = a->name + sizeof range - 1;
        if (i == along || !name_begins(name, dim->name)) continue;
        if (!name_begins(name + strlen(dim->name), ").subfile.")) continue;
        if (of[0] != 0 || of[1] != dim->length - 1) return true;
    }
    return false;
}

static bool is_divided_again(const struct cdf_header *h, int id,
                             const struct cdf_header *whole, int along)
{
    const struct cdf_atts *atts = &h->vars[id].atts;
    bool is = false;
    for (int i = 0; i < atts->count && !is; i++)
        is = divides(&atts->list[i], whole, &whole->vars[id], along);
    return is;
}

static bool same_home(const struct cdf_header *whole, int id, int other,
                      const struct blob_foreign *f)
{
    const struct cdf_var *v = &whole->vars[id], *w = &whole->vars[other];
    const struct blob_home *a = &f->homes[id], *b = &f->homes[other];
    int first = v->is_record, ndims = v->ndims - first;
    return a->dim == b->dim && ndims == w->ndims - w->is_record &&
           memcmp(v->shape + first, w->shape + w->is_record,
                  (size_t)ndims * sizeof *v->shape) == 0 &&
           memcmp(a->low, b->low, (size_t)f->nfiles * sizeof *a->low) == 0;
}

/* A variable's home: one that another has already, or its own. */
static int find_home(struct blob_foreign *f, const struct cdf_header *h, int id,
                     const char *path, const struct cdf_header *whole)
{
    const struct cdf_var *v = &whole->vars[id];
    struct blob_home *home = &f->homes[id];
    int64_t along = -1, n = 0;
    const char *wrong;
    *home = (struct blob_home){.number = id + 1, .dim = -1, .named = v->nelems};
    if (blob_source_att(h, id, PNETCDF "par_dim_index", &along, 1) != 1) return NC_NOERR;
    if (blob_source_att(h, id, PNETCDF "num_subfiles", &n, 1) == 1 && n != f->nfiles - 1)
        return tell_broken_name(path, v->name,
                                "it has another number of subfiles than the dataset");
    if (along < v->is_record || along >= v->ndims)
        return tell_broken_name(path, v->name, "the dimension that is divided cannot be");
    if (is_divided_again(h, id, whole, (int)along))
        return tell_broken_name(
            path, v->name, "it is divided along a second dimension: that is not read");
    home->low = read_parts(f, h, id, &whole->dims[v->dimids[along]], &wrong);
    if (home->low == NULL && wrong == NULL) return NC_ENOMEM;
    if (home->low == NULL) return tell_broken_name(path, v->name, wrong);
    home->dim = (int)along - v->is_record;
    int like = f->unlike;
    while (like >= 0 && !same_home(whole, id, like, f))
        like = f->homes[like].before;
    home->before = f->unlike;
    if (like >= 0)
        home->number = f->homes[like].number;
    else
        f->unlike = id;
    return NC_NOERR;
}

static int begin_pnetcdf(struct blob_foreign *f, const struct cdf_header *h,
                         const char *path, struct cdf_header *whole)
{
    int64_t n = 0;
    int id, err = NC_NOERR;
    (void)blob_source_att(h, NC_GLOBAL, PNETCDF "num_subfiles", &n, 1);
    if (n < 1 || n > MOST_FILES)
        return base_error_set(NC_ENOTNC, "%s: its number of subfiles cannot be", path);
    f->nfiles = (int)n + 1;
    for (int i = 0; i < h->ndims && err == NC_NOERR; i++)
        err = cdf_def_dim(whole, h->dims[i].name, h->dims[i].length, &id);
    for (int i = 0; i < h->nvars && err == NC_NOERR; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (blob_source_att(h, i, PNETCDF "ndims_org", &n, 1) == 1)
            err = copy_divided(f->kind, h, i, PNETCDF "dimids_org", path, whole);
        else
            err = copy_var(f->kind, whole, v, v->ndims, v->dimids);
    }
    return err;
}

/* ---- both ---- */

static int reserve_homes(struct blob_foreign *f, const struct cdf_header *whole)
{
    f->nvars = whole->nvars;
    f->homes = base_calloc((size_t)f->nvars + 1, sizeof *f->homes);
    return f->homes == NULL ? NC_ENOMEM : NC_NOERR;
}

int blob_foreign_begin(struct blob_foreign *f, const struct cdf_header *h, bool stands_in,
                       const char *path, struct cdf_header *whole)
{
    *f = (struct blob_foreign){
        .kind = blob_foreign_kind(h, stands_in), .stands_in = stands_in, .unlike = -1};
    cdf_init(whole, h->format);
    int err = f->kind == BLOB_FOREIGN_E3SM ? begin_e3sm(f, h, path, whole)
                                           : begin_pnetcdf(f, h, path, whole);
    if (err == NC_NOERR) err = copy_foreign_atts(f->kind, whole, NC_GLOBAL, &h->gatts);
    if (err == NC_NOERR) err = reserve_homes(f, whole);
    for (int id = 0; f->kind == BLOB_FOREIGN_PNETCDF && id < whole->nvars; id++)
        if (err == NC_NOERR) err = find_home(f, h, id, path, whole);
    struct cdf_room room = {.header_minfree = 0};
    if (err == NC_NOERR) err = cdf_layout(whole, NULL, &room);
    if (err == NC_NOERR || err == NC_ENOMEM || err == NC_ENOTNC) return err;
    return base_error_set(NC_ENOTNC, "%s: its definitions cannot be those of one dataset",
                          path);
}

void blob_foreign_free(struct blob_foreign *f)
{
    base_free(f->homes);
    base_arena_free(&f->arena);
    *f = (struct blob_foreign){.kind = BLOB_FOREIGN_NONE};
}
