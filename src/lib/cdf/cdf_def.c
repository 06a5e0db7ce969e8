/* Defines, renames and finds dimensions and variables in the model. */
#include "cdf_impl.h"

#include <limits.h>

#include "base_error.h"
#include "base_mem.h"

/* Reserves space for one more entry of `size` bytes. */
static int reserve_entries(void **array, int *capacity, int count, size_t size)
{
    int64_t room = *capacity;
    if (count == INT_MAX) return NC_ENOMEM;
    void *grown = base_grow(*array, &room, count + 1, size);
    if (grown == NULL) return NC_ENOMEM;
    *array = grown;
    *capacity = room < INT_MAX ? (int)room : INT_MAX;
    return NC_NOERR;
}

static int reserve_dim(struct cdf_header *h)
{
    void *dims = h->dims;
    int err = reserve_entries(&dims, &h->dims_capacity, h->ndims, sizeof *h->dims);
    h->dims = dims;
    return err;
}

static int reserve_var(struct cdf_header *h)
{
    void *vars = h->vars;
    int err = reserve_entries(&vars, &h->vars_capacity, h->nvars, sizeof *h->vars);
    h->vars = vars;
    return err;
}

static int fail_name_in_use(const char *what, const char *name)
{
    return base_error_set(NC_ENAMEINUSE, "%s '%.80s' already exists", what, name);
}

int cdf_def_dim(struct cdf_header *h, const char *name, int64_t length, int *dimid)
{
    char norm[NC_MAX_NAME + 1];
    int err = cdf_check_name(name, norm);
    if (err != NC_NOERR) return err;
    if (length < 0 || length > cdf_max_dim(h->format))
        return base_error_set(NC_EDIMSIZE,
                              "'%.80s' has length %lld, but the maximum is %lld", norm,
                              (long long)length, (long long)cdf_max_dim(h->format));
    if (length == NC_UNLIMITED && h->unlimited >= 0)
        return base_error_set(NC_EUNLIMIT,
                              "'%.80s' cannot be unlimited, as '%.80s' already is", norm,
                              h->dims[h->unlimited].name);
    if (base_names_find(&h->dim_names, norm, cdf_dim_text, h->dims) >= 0)
        return fail_name_in_use("dimension", norm);

    if (reserve_dim(h) != NC_NOERR) return NC_ENOMEM;
    const char *kept = cdf_name_store(&h->arena, NULL, norm, strlen(norm));
    if (kept == NULL || base_names_add(&h->dim_names, kept, h->ndims) != 0)
        return NC_ENOMEM;
    h->dims[h->ndims] = (struct cdf_dim){.name = kept, .length = length};
    if (length == NC_UNLIMITED) h->unlimited = h->ndims;
    *dimid = h->ndims++;
    return NC_NOERR;
}

static int check_ndims(const char *name, int ndims)
{
    if (ndims < 0)
        return base_error_set(NC_EINVAL, "variable '%.80s' with %d dimensions", name,
                              ndims);
    return NC_NOERR;
}

static int check_dimids(const struct cdf_header *h, const char *name, int ndims,
                        const int *dimids)
{
    if (ndims > 0 && dimids == NULL)
        return base_error_set(NC_EINVAL, "variable '%.80s': dimids is NULL", name);
    for (int i = 0; i < ndims; i++)
        if (dimids[i] < 0 || dimids[i] >= h->ndims)
            return base_error_set(NC_EBADDIM, "variable '%.80s': dimension id %d", name,
                                  dimids[i]);
    return NC_NOERR;
}

int cdf_def_var(struct cdf_header *h, const char *name, int type, int ndims,
                const int *dimids, int *varid)
{
    char norm[NC_MAX_NAME + 1];
    int err = cdf_check_name(name, norm);
    if (err == NC_NOERR) err = cdf_check_type(h->format, type);
    if (err == NC_NOERR) err = check_ndims(norm, ndims);
    if (err != NC_NOERR) return err;
    if (base_names_find(&h->var_names, norm, cdf_var_text, h->vars) >= 0)
        return fail_name_in_use("variable", norm);
    err = check_dimids(h, norm, ndims, dimids);
    if (err != NC_NOERR) return err;
    if (reserve_var(h) != NC_NOERR) return NC_ENOMEM;

    struct cdf_var *v = &h->vars[h->nvars];
    int *ids;
    *v = (struct cdf_var){.name = norm, .type = type, .begin = -1};
    err = cdf_var_dims(h, v, ndims, &ids);
    if (err != NC_NOERR) return err;
    if (ndims > 0) memcpy(ids, dimids, (size_t)ndims * sizeof *ids);
    err = cdf_var_measure(h, v);
    if (err != NC_NOERR) return err;
    v->name = cdf_name_store(&h->arena, NULL, norm, strlen(norm));
    if (v->name == NULL || base_names_add(&h->var_names, v->name, h->nvars) != 0)
        return NC_ENOMEM;
    *varid = h->nvars++;
    return NC_NOERR;
}

/* A name table and the objects that it contains. */
struct named {
    struct base_names *names;
    base_names_text *text;
    const void *of;
    int count;
};

/* Returns another object with the same name (in an invalid file), or -1 if none. */
static int find_duplicate(const struct cdf_header *h, const struct named *t, int index)
{
    if (!h->has_duplicate_names) return -1;
    for (int i = 0; i < t->count; i++)
        if (i != index && strcmp(t->text(t->of, i), t->text(t->of, index)) == 0) return i;
    return -1;
}

/* Renames object `index`. *kept is its stored name, which may move. */
static int rename_in(struct cdf_header *h, const struct named *t, int index,
                     const char *name, const char **kept)
{
    char norm[NC_MAX_NAME + 1], old[NC_MAX_NAME + 1];
    int err = cdf_check_name(name, norm);
    if (err != NC_NOERR) return err;
    if (base_names_find(t->names, norm, t->text, t->of) >= 0)
        return base_error_set(NC_ENAMEINUSE, "'%.80s' already exists", norm);

    int twin = find_duplicate(h, t, index);
    strcpy(old, *kept);
    if (twin >= 0 && base_names_add(t->names, old, twin) != 0) return NC_ENOMEM;
    const char *renamed = NULL;
    if (base_names_add(t->names, norm, index) == 0) {
        renamed = cdf_name_store(&h->arena, *kept, norm, strlen(norm));
        if (renamed == NULL) base_names_remove(t->names, norm, index);
    }
    if (renamed == NULL) {
        if (twin >= 0) base_names_remove(t->names, old, twin);
        return NC_ENOMEM;
    }
    *kept = renamed;
    base_names_remove(t->names, old, index);
    return NC_NOERR;
}

int cdf_rename_dim(struct cdf_header *h, int dimid, const char *name)
{
    if (dimid < 0 || dimid >= h->ndims) return NC_EBADDIM;
    struct named dims = {&h->dim_names, cdf_dim_text, h->dims, h->ndims};
    return rename_in(h, &dims, dimid, name, &h->dims[dimid].name);
}

int cdf_rename_var(struct cdf_header *h, int varid, const char *name)
{
    if (varid < 0 || varid >= h->nvars) return NC_ENOTVAR;
    struct named vars = {&h->var_names, cdf_var_text, h->vars, h->nvars};
    return rename_in(h, &vars, varid, name, &h->vars[varid].name);
}

int cdf_find_dim(const struct cdf_header *h, const char *name, int *dimid)
{
    int i = cdf_name_find(&h->dim_names, cdf_dim_text, h->dims, name);
    if (i < 0) return NC_EBADDIM;
    *dimid = i;
    return NC_NOERR;
}

int cdf_find_var(const struct cdf_header *h, const char *name, int *varid)
{
    int i = cdf_name_find(&h->var_names, cdf_var_text, h->vars, name);
    if (i < 0) return NC_ENOTVAR;
    *varid = i;
    return NC_NOERR;
}
