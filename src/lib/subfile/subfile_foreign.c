/* Builds the definitions of a dataset that another library has stored in subfiles, from
 * those of the master file or of the first subfile. */
#include "subfile_foreign.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "conv.h"
#include "subfile_names.h"

enum { MOST_FILES = 1 << 20, MOST_DECOMPOSITIONS = 1 << 16 };

#define PNETCDF "_PnetCDF_SubFiling."

static bool name_begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* ---- kinds ---- */

enum subfile_foreign_kind subfile_foreign_kind(const struct cdf_header *h, bool stands_in)
{
    int64_t is;
    int id;
    if (subfile_get_att(h, NC_GLOBAL, PNETCDF "num_subfiles", &is, 1) == 1)
        return stands_in ? SUBFILE_FOREIGN_NONE : SUBFILE_FOREIGN_PNETCDF;
    bool blobs = cdf_find_dim(h, SUBFILE_DIM_BLOBS, &id) == NC_NOERR;
    bool ours = subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_TOKEN, &is, 1) == 1;
    bool e3sm = subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_NPROCS, &is, 1) == 1 &&
                subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_DECOMPOSITIONS, &is, 1) == 1 &&
                subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_SUBFILES, &is, 1) == 1;
    return e3sm && !ours && blobs == stands_in ? SUBFILE_FOREIGN_E3SM
                                               : SUBFILE_FOREIGN_NONE;
}

bool subfile_foreign_is_complete(const struct cdf_header *h, int64_t size)
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

bool subfile_foreign_is_parted(const struct cdf_header *h, bool stands_in, int64_t size)
{
    enum subfile_foreign_kind kind = subfile_foreign_kind(h, stands_in);
    bool complete = !stands_in && subfile_foreign_is_complete(h, size);
    return kind == SUBFILE_FOREIGN_PNETCDF || (kind == SUBFILE_FOREIGN_E3SM && !complete);
}

#define FIRST ".0000"

char *subfile_foreign_first(const char *path)
{
    return subfile_path(path, 0);
}

char *subfile_foreign_dataset(const char *path)
{
    size_t n = strlen(path), end = sizeof FIRST - 1;
    if (n <= end || strcmp(path + n - end, FIRST) != 0) return NULL;
    char *name = base_strdup(path);
    if (name != NULL) name[n - end] = '\0';
    return name;
}

int subfile_foreign_subfiles(const struct subfile_foreign *f)
{
    return f->nfiles - (f->kind == SUBFILE_FOREIGN_PNETCDF);
}

char *subfile_foreign_path(const struct subfile_foreign *f, const char *master,
                           int number)
{
    if (f->kind == SUBFILE_FOREIGN_E3SM) return subfile_path(master, number);
    if (number == f->nfiles - 1) return base_strdup(master);
    size_t size = strlen(master) + 32;
    char *path = base_malloc(size);
    if (path != NULL) snprintf(path, size, "%s.subfile_%d.nc", master, number);
    return path;
}

/* ---- copying definitions ---- */

/* Returns whether an attribute describes subfiles. Such attributes are not copied. */
static bool is_theirs(enum subfile_foreign_kind kind, int varid, const char *name)
{
    static const char *const global[] = {SUBFILE_ATT_NPROCS, SUBFILE_ATT_DECOMPOSITIONS,
                                         SUBFILE_ATT_SUBFILES},
                             *const var[] = {SUBFILE_ATT_DECOMPOSITION,
                                             SUBFILE_ATT_DIMIDS};
    if (kind == SUBFILE_FOREIGN_PNETCDF) return name_begins(name, PNETCDF);
    const char *const *list = varid == NC_GLOBAL ? global : var;
    size_t n =
        varid == NC_GLOBAL ? sizeof global / sizeof *global : sizeof var / sizeof *var;
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

static int copy_foreign_atts(enum subfile_foreign_kind kind, struct cdf_header *to,
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

/* Copies a variable. `dimids` are the ids of its dimensions in the whole dataset. */
static int copy_var(enum subfile_foreign_kind kind, struct cdf_header *to,
                    const struct cdf_var *v, int ndims, const int *dimids)
{
    int id, err = cdf_def_var(to, v->name, v->type, ndims, dimids, &id);
    if (err == NC_NOERR) to->vars[id].fill = v->fill;
    return err == NC_NOERR ? copy_foreign_atts(kind, to, id, &v->atts) : err;
}

static int report_var(const char *path, const char *name, const char *what)
{
    return base_error_set(NC_ENOTNC, "%s: variable '%s': %s", path, name, what);
}

/* Copies a variable, with the dimensions that attribute `att` lists. */
static int copy_divided(enum subfile_foreign_kind kind, const struct cdf_header *h,
                        int id, const char *att, const char *path,
                        struct cdf_header *whole)
{
    enum { MOST = 1024 };
    int64_t ids[MOST];
    int dimids[MOST], ndims = subfile_get_att(h, id, att, ids, MOST);
    bool good = ndims > 0 && ndims < MOST;
    for (int i = 0; i < ndims && good; i++) {
        good = ids[i] >= 0 && ids[i] < whole->ndims;
        dimids[i] = (int)ids[i];
    }
    int err = good ? copy_var(kind, whole, &h->vars[id], ndims, dimids) : NC_ENOTNC;
    if (err == NC_NOERR || err == NC_ENOMEM) return err;
    return report_var(path, h->vars[id].name,
                      "the attribute that lists its dimensions is invalid");
}

/* ---- E3SM ---- */

/* Returns whether the name consists of "D", a number from 1 to ndecomps, and `what`. */
static bool is_of_map(const struct subfile_foreign *f, const char *name, const char *what)
{
    char *end;
    if (name[0] != 'D' || name[1] < '1' || name[1] > '9') return false;
    long k = strtol(name + 1, &end, 10);
    return k <= f->ndecomps && strcmp(end, what) == 0;
}

static bool is_map_dim(const struct subfile_foreign *f, const char *name)
{
    return strcmp(name, SUBFILE_DIM_BLOBS) == 0 || is_of_map(f, name, ".nelems") ||
           is_of_map(f, name, ".max_nreqs");
}

static int begin_e3sm(struct subfile_foreign *f, const struct cdf_header *h,
                      const char *path, struct cdf_header *whole)
{
    int64_t n = 0;
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_NPROCS, &f->nprocs, 1);
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_DECOMPOSITIONS, &f->ndecomps, 1);
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_SUBFILES, &n, 1);
    if (n < 1 || n > MOST_FILES || n > f->nprocs || f->ndecomps < 0 ||
        f->ndecomps > MOST_DECOMPOSITIONS)
        return base_error_set(
            NC_ENOTNC,
            "%s: the number of processes, subfiles or decompositions is invalid", path);
    f->nfiles = (int)n;
    /* Copies all dimensions except those of maps. Records each one's new id. */
    int *number = base_malloc((size_t)(h->ndims + 1) * sizeof *number);
    int err = number == NULL ? NC_ENOMEM : NC_NOERR;
    for (int i = 0; i < h->ndims && err == NC_NOERR; i++) {
        number[i] = -1;
        if (f->stands_in && is_map_dim(f, h->dims[i].name)) continue;
        err = cdf_def_dim(whole, h->dims[i].name, h->dims[i].length, &number[i]);
    }
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++) {
        const struct cdf_var *v = &h->vars[id];
        bool of_maps = false; /* the variable belongs to the maps */
        if (f->stands_in &&
            subfile_get_att(h, id, SUBFILE_ATT_DECOMPOSITION, &n, 1) == 1) {
            err = copy_divided(f->kind, h, id, SUBFILE_ATT_DIMIDS, path, whole);
            continue;
        }
        int *dimids = base_malloc((size_t)(v->ndims + 1) * sizeof *dimids);
        if (dimids == NULL) err = NC_ENOMEM;
        for (int i = 0; i < v->ndims && dimids != NULL; i++) {
            dimids[i] = number[v->dimids[i]];
            of_maps = of_maps || dimids[i] < 0;
        }
        if (err == NC_NOERR && !of_maps)
            err = copy_var(f->kind, whole, v, v->ndims, dimids);
        base_free(dimids);
    }
    base_free(number);
    return err;
}

/* ---- PnetCDF ---- */

/* Reads where the parts of a dimension begin, and checks that they are contiguous and
 * cover the dimension. If this returns NULL, *wrong describes the error, or is NULL if
 * out of memory. */
static const int64_t *read_parts(struct subfile_foreign *f, const struct cdf_header *h,
                                 int id, const struct cdf_dim *dim, const char **wrong)
{
    char name[NC_MAX_NAME + 64];
    int64_t next = 0, n = f->nfiles - 1;
    int64_t *low = base_arena_alloc(&f->arena, (size_t)(n + 1) * sizeof *low);
    *wrong = NULL;
    for (int64_t i = 0; i < n && low != NULL && *wrong == NULL; i++) {
        int64_t range[2];
        snprintf(name, sizeof name, PNETCDF "range(%s).subfile.%d", dim->name, (int)i);
        if (subfile_get_att(h, id, name, range, 2) != 2)
            *wrong = "the range of a subfile is missing";
        else if (range[0] < next)
            *wrong = "the ranges of its subfiles overlap or are out of order";
        else if (range[0] > next)
            *wrong = "the ranges of its subfiles do not cover the whole dimension";
        else if (range[1] < range[0] || range[1] >= dim->length)
            *wrong = "the range of a subfile exceeds its dimension";
        low[i] = range[0];
        next = range[1] + 1;
    }
    if (low != NULL && *wrong == NULL && next != dim->length)
        *wrong = "the ranges of its subfiles do not cover the whole dimension";
    if (low != NULL) low[n] = next;
    return *wrong == NULL ? low : NULL;
}

/* Returns whether an attribute limits a subfile to a part of a dimension other than the
 * divided one. PnetCDF writes a range for each dimension, but divides only one. */
static bool is_divided_again(const struct cdf_header *h, int id,
                             const struct cdf_header *whole, int along)
{
    static const char range[] = PNETCDF "range(";
    const struct cdf_var *v = &whole->vars[id];
    for (int i = 0; i < h->vars[id].atts.count; i++) {
        const struct cdf_att *a = &h->vars[id].atts.list[i];
        const char *name = a->name + sizeof range - 1;
        int64_t of[2];
        if (!name_begins(a->name, range) || a->nelems != 2 ||
            (a->type != NC_INT && a->type != NC_INT64))
            continue;
        (void)conv_get(of, CONV_LONGLONG, a->values, a->type, 2);
        for (int k = v->is_record; k < v->ndims; k++) {
            const struct cdf_dim *dim = &whole->dims[v->dimids[k]];
            if (k != along && name_begins(name, dim->name) &&
                name_begins(name + strlen(dim->name), ").subfile.") &&
                (of[0] != 0 || of[1] != dim->length - 1))
                return true;
        }
    }
    return false;
}

static bool has_same_location(const struct cdf_header *whole, int id, int other,
                              const struct subfile_foreign *f)
{
    const struct cdf_var *v = &whole->vars[id], *w = &whole->vars[other];
    const struct subfile_location *a = &f->locations[id], *b = &f->locations[other];
    int first = v->is_record, ndims = v->ndims - first;
    return a->dim == b->dim && ndims == w->ndims - w->is_record &&
           memcmp(v->shape + first, w->shape + w->is_record,
                  (size_t)ndims * sizeof *v->shape) == 0 &&
           memcmp(a->low, b->low, (size_t)f->nfiles * sizeof *a->low) == 0;
}

/* Finds a variable's location, and assigns the number of an earlier variable with the
 * same distribution to it, or a new number. */
static int find_location(struct subfile_foreign *f, const struct cdf_header *h, int id,
                         const char *path, const struct cdf_header *whole)
{
    const struct cdf_var *v = &whole->vars[id];
    struct subfile_location *location = &f->locations[id];
    int64_t along = -1, n = 0;
    const char *wrong;
    *location =
        (struct subfile_location){.number = id + 1, .dim = -1, .named = v->nelems};
    if (subfile_get_att(h, id, PNETCDF "par_dim_index", &along, 1) != 1) return NC_NOERR;
    if (subfile_get_att(h, id, PNETCDF "num_subfiles", &n, 1) == 1 && n != f->nfiles - 1)
        return report_var(path, v->name,
                          "its number of subfiles differs from that of the dataset");
    if (along < v->is_record || along >= v->ndims)
        return report_var(path, v->name, "the index of its divided dimension is invalid");
    if (is_divided_again(h, id, whole, (int)along))
        return report_var(
            path, v->name,
            "it is divided along a second dimension, which is not supported");
    location->low = read_parts(f, h, id, &whole->dims[v->dimids[along]], &wrong);
    if (location->low == NULL && wrong == NULL) return NC_ENOMEM;
    if (location->low == NULL) return report_var(path, v->name, wrong);
    location->dim = (int)along - v->is_record;
    int like = f->unlike;
    while (like >= 0 && !has_same_location(whole, id, like, f))
        like = f->locations[like].before;
    location->before = f->unlike;
    if (like >= 0)
        location->number = f->locations[like].number;
    else
        f->unlike = id;
    return NC_NOERR;
}

static int begin_pnetcdf(struct subfile_foreign *f, const struct cdf_header *h,
                         const char *path, struct cdf_header *whole)
{
    int64_t n = 0;
    int id, err = NC_NOERR;
    (void)subfile_get_att(h, NC_GLOBAL, PNETCDF "num_subfiles", &n, 1);
    if (n < 1 || n > MOST_FILES)
        return base_error_set(NC_ENOTNC, "%s: its number of subfiles is invalid", path);
    f->nfiles = (int)n + 1;
    for (int i = 0; i < h->ndims && err == NC_NOERR; i++)
        err = cdf_def_dim(whole, h->dims[i].name, h->dims[i].length, &id);
    for (int i = 0; i < h->nvars && err == NC_NOERR; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (subfile_get_att(h, i, PNETCDF "ndims_org", &n, 1) == 1)
            err = copy_divided(f->kind, h, i, PNETCDF "dimids_org", path, whole);
        else
            err = copy_var(f->kind, whole, v, v->ndims, v->dimids);
    }
    return err;
}

/* ---- both ---- */

int subfile_foreign_begin(struct subfile_foreign *f, const struct cdf_header *h,
                          bool stands_in, const char *path, struct cdf_header *whole)
{
    *f = (struct subfile_foreign){
        .kind = subfile_foreign_kind(h, stands_in), .stands_in = stands_in, .unlike = -1};
    cdf_init(whole, h->format);
    int err = f->kind == SUBFILE_FOREIGN_E3SM ? begin_e3sm(f, h, path, whole)
                                              : begin_pnetcdf(f, h, path, whole);
    if (err == NC_NOERR) err = copy_foreign_atts(f->kind, whole, NC_GLOBAL, &h->gatts);
    f->nvars = whole->nvars;
    f->locations = base_calloc((size_t)f->nvars + 1, sizeof *f->locations);
    if (err == NC_NOERR && f->locations == NULL) err = NC_ENOMEM;
    for (int id = 0; f->kind == SUBFILE_FOREIGN_PNETCDF && id < whole->nvars; id++)
        if (err == NC_NOERR) err = find_location(f, h, id, path, whole);
    struct cdf_padding room = {.header_minfree = 0};
    if (err == NC_NOERR) err = cdf_layout(whole, NULL, &room);
    if (err == NC_NOERR || err == NC_ENOMEM || err == NC_ENOTNC) return err;
    return base_error_set(NC_ENOTNC, "%s: its definitions do not form a valid dataset",
                          path);
}

void subfile_foreign_free(struct subfile_foreign *f)
{
    base_free(f->locations);
    base_arena_free(&f->arena);
    *f = (struct subfile_foreign){.kind = SUBFILE_FOREIGN_NONE};
}
