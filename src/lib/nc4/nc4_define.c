/* Changes an open netCDF-4 file's definitions to match a header: first names, then
 * attributes, then new dimensions and variables. */
#include "nc4.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "conv.h"
#include "nc4_library.h"

/* ---- attributes ---- */

static const struct cdf_atts *atts_of(const struct cdf_header *h, int varid)
{
    static const struct cdf_atts none;
    if (varid == NC_GLOBAL) return &h->gatts;
    return varid < h->nvars ? &h->vars[varid].atts : &none;
}

static size_t bytes_of(const struct cdf_att *a)
{
    return (size_t)a->nelems * (size_t)cdf_type_size(a->type);
}

static bool same_att(const struct cdf_att *a, const struct cdf_att *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type &&
           a->nelems == b->nelems && memcmp(a->values, b->values, bytes_of(a)) == 0;
}

/* Returns whether the attribute is _FillValue and `list` contains it unchanged. In that
 * case it must not be recreated, because only new variables can get a _FillValue. */
static bool must_keep_att(const struct cdf_atts *list, const struct cdf_att *a)
{
    for (int i = 0; i < list->count; i++)
        if (same_att(&list->list[i], a)) return strcmp(a->name, "_FillValue") == 0;
    return false;
}

static int put_att(const struct nc4_file *f, int varid, const struct cdf_att *a)
{
    size_t n = (size_t)a->nelems;
    void *values = base_malloc(bytes_of(a));
    if (values == NULL) return NC_ENOMEM;
    memcpy(values, a->values, bytes_of(a));
    conv_get_in_place(values, cdf_type_size(a->type), n);
    int err =
        nc4_call(nc_put_att, f->ncid, nc4_var(f, varid), a->name, a->type, n, values);
    base_free(values);
    return nc4_error(err, "writing attribute", a->name);
}

/* Updates the attributes in one list. Leading attributes with the same names remain in
 * place. All later ones are recreated in the header's order. */
static int sync_atts(const struct nc4_file *f, const struct cdf_header *now,
                     const struct cdf_header *h, int varid)
{
    const struct cdf_atts *old = atts_of(now, varid), *wanted = atts_of(h, varid);
    int err = NC_NOERR, kept = 0;
    while (kept < old->count && kept < wanted->count &&
           strcmp(old->list[kept].name, wanted->list[kept].name) == 0)
        kept++;
    for (int i = old->count - 1; i >= kept && err == NC_NOERR; i--) {
        const struct cdf_att *a = &old->list[i];
        if (must_keep_att(wanted, a)) continue;
        err = nc4_error(nc4_call(nc_del_att, f->ncid, nc4_var(f, varid), a->name),
                        "deleting attribute", a->name);
    }
    for (int i = 0; i < wanted->count && err == NC_NOERR; i++) {
        const struct cdf_att *a = &wanted->list[i];
        bool is = i < kept ? same_att(&old->list[i], a) : must_keep_att(old, a);
        if (!is) err = put_att(f, varid, a);
    }
    return err;
}

/* ---- names ---- */

static const char *name_of(const struct cdf_header *h, bool vars, int i)
{
    return vars ? h->vars[i].name : h->dims[i].name;
}

static int rename_one(const struct nc4_file *f, bool vars, int i, const char *name)
{
    int err = vars ? nc4_call(nc_rename_var, f->ncid, nc4_var(f, i), name)
                   : nc4_call(nc_rename_dim, f->ncid, nc4_dim(f, i), name);
    return nc4_error(err, vars ? "renaming a variable to" : "renaming a dimension to",
                     name);
}

static bool is_name(const struct cdf_header *h, bool vars, const char *name)
{
    int id = -1;
    return (vars ? cdf_find_var : cdf_find_dim)(h, name, &id) == NC_NOERR;
}

/* Renames dimensions or variables. Returns NC_ENOTSUPPORT if renaming would give a
 * dimension and a variable the same name, because netCDF-C up to at least 4.9 would then
 * damage the file. Objects may also exchange names, so an object whose new name belonged
 * to another object first gets a temporary name. */
static int sync_names(const struct nc4_file *f, const struct cdf_header *now,
                      const struct cdf_header *h, bool vars)
{
    enum { CHECK, APART, LAST, STEPS };
    int err = NC_NOERR, n = vars ? now->nvars : now->ndims;
    for (int i = 0; i < STEPS * n && err == NC_NOERR; i++) {
        char between[40];
        const char *name = name_of(h, vars, i % n);
        if (strcmp(name, name_of(now, vars, i % n)) == 0) continue;
        snprintf(between, sizeof between, "_ncmpi_renamed_%d", i % n);
        if (i / n == CHECK && is_name(h, !vars, name))
            err = base_error_set(NC_ENOTSUPPORT,
                                 "netCDF-C cannot give a dimension and a variable the "
                                 "same name by renaming: %s",
                                 name);
        if (i / n == APART && is_name(now, vars, name))
            err = rename_one(f, vars, i % n, between);
        if (i / n == LAST) err = rename_one(f, vars, i % n, name);
    }
    return err;
}

/* ---- new dimensions and variables ---- */

/* Sets a variable's chunk lengths from the hint, for example "v:2,3/w:10". */
static int chunk_var(const struct nc4_file *f, const struct cdf_var *v, int id,
                     const char *hint)
{
    size_t sizes[NC4_RANK], length = strlen(v->name);
    while (hint != NULL && (strncmp(hint, v->name, length) != 0 || hint[length] != ':')) {
        hint = strchr(hint, '/');
        if (hint != NULL) hint++;
    }
    if (hint == NULL || v->ndims == 0) return NC_NOERR;
    const char *at = hint + length;
    for (int i = 0; i < v->ndims; i++) {
        char *end;
        unsigned long long size =
            *at == (i == 0 ? ':' : ',') ? strtoull(at + 1, &end, 10) : 0;
        if (size == 0) return NC_NOERR; /* an invalid hint is ignored */
        bool fixed = v->shape[i] > 0 && size > (unsigned long long)v->shape[i];
        sizes[i] = fixed ? (size_t)v->shape[i] : (size_t)size;
        at = end;
    }
    enum { CHUNKED = 0 };
    return nc4_error(nc4_call(nc_def_var_chunking, f->ncid, id, CHUNKED, sizes),
                     "setting the chunk sizes of", v->name);
}

static int def_var(struct nc4_file *f, const struct cdf_header *h, int varid,
                   const struct nc4_storage *how)
{
    const struct cdf_var *v = &h->vars[varid];
    int id, dimids[NC4_RANK],
        level = how->level == NULL ? 0 : how->level(how->of, v->name);
    for (int i = 0; i < v->ndims; i++)
        dimids[i] = nc4_dim(f, v->dimids[i]);
    int err =
        nc4_error(nc4_call(nc_def_var, f->ncid, v->name, v->type, v->ndims, dimids, &id),
                  "defining", v->name);
    if (err != NC_NOERR) return err;
    f->ids[f->ndims + f->nvars++] = id;
    err = chunk_var(f, v, id, how->chunks);
    if (err == NC_NOERR && level > 0 && v->ndims > 0)
        err = nc4_error(nc4_call(nc_def_var_deflate, f->ncid, id, 1, 1, level),
                        "compressing", v->name);
    if (err == NC_NOERR && !v->fill) /* must precede _FillValue, which the call would
                                      * delete */
        err = nc4_error(nc4_call(nc_def_var_fill, f->ncid, id, 1, NULL),
                        "setting the fill mode of", v->name);
    return err;
}

static int def_dim(struct nc4_file *f, const struct cdf_dim *d)
{
    int id,
        err = nc4_error(nc4_call(nc_def_dim, f->ncid, d->name, (size_t)d->length, &id),
                        "defining dimension", d->name);
    memmove(f->ids + f->ndims + 1, f->ids + f->ndims, (size_t)f->nvars * sizeof(int));
    f->ids[f->ndims++] = id;
    return err;
}

static int def_new(struct nc4_file *f, const struct cdf_header *now,
                   const struct cdf_header *h, const struct nc4_storage *how)
{
    size_t n = (size_t)h->ndims + (size_t)h->nvars + 1;
    int err = NC_NOERR, *ids = base_realloc(f->ids, n * sizeof *ids);
    if (ids == NULL) return NC_ENOMEM;
    f->ids = ids;
    for (int i = now->ndims; i < h->ndims && err == NC_NOERR; i++)
        err = def_dim(f, &h->dims[i]);
    for (int i = now->nvars; i < h->nvars && err == NC_NOERR; i++)
        err = def_var(f, h, i, how);
    return err;
}

/* ---- all definitions ---- */

static int sync_all(struct nc4_file *f, const struct cdf_header *now,
                    const struct cdf_header *h, const struct nc4_storage *how)
{
    int err = sync_names(f, now, h, false);
    if (err == NC_NOERR) err = sync_names(f, now, h, true);
    if (err == NC_NOERR) err = def_new(f, now, h, how);
    for (int id = NC_GLOBAL; id < h->nvars && err == NC_NOERR; id++)
        err = sync_atts(f, now, h, id);
    return err;
}

int nc4_define(struct nc4_file *f, const struct cdf_header *h,
               const struct nc4_storage *how)
{
    struct cdf_header now;
    int err = nc4_read_header(f, &now);
    if (err != NC_NOERR) return err;
    err = nc4_call(nc_redef, f->ncid); /* a new file is already in define mode */
    err = err == NC_EINDEFINE ? NC_NOERR : nc4_error(err, "redefining", "a file");
    if (err == NC_NOERR) err = sync_all(f, &now, h, how);
    int ended =
        nc4_error(nc4_call(nc_enddef, f->ncid), "writing the definitions of", "a file");
    cdf_free(&now);
    return err != NC_NOERR ? err : ended;
}
