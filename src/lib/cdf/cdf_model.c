/* Creates, copies and frees the model of a header, and computes sizes from dimensions. */
#include "cdf_impl.h"

#include "base_error.h"
#include "base_mem.h"

void cdf_init(struct cdf_header *h, int format)
{
    *h = (struct cdf_header){.format = format, .unlimited = -1};
}

void cdf_free(struct cdf_header *h)
{
    for (int i = 0; i < h->nvars; i++)
        if (h->vars[i].atts.names.capacity > 0) base_names_free(&h->vars[i].atts.names);
    base_names_free(&h->gatts.names);
    base_names_free(&h->dim_names);
    base_names_free(&h->var_names);
    base_free(h->dims);
    base_free(h->vars);
    base_arena_free(&h->arena);
    cdf_init(h, h->format);
}

static const char *store_name(struct cdf_header *h, const char *name)
{
    return cdf_name_store(&h->arena, NULL, name, strlen(name));
}

static int copy_dims(struct cdf_header *to, const struct cdf_header *from)
{
    to->dims = base_malloc((size_t)from->ndims * sizeof *to->dims);
    if (to->dims == NULL) return NC_ENOMEM;
    to->dims_capacity = from->ndims;
    for (; to->ndims < from->ndims; to->ndims++) {
        struct cdf_dim *d = &to->dims[to->ndims];
        d->length = from->dims[to->ndims].length;
        d->name = store_name(to, from->dims[to->ndims].name);
        if (d->name == NULL) return NC_ENOMEM;
    }
    return base_names_copy(&to->dim_names, &from->dim_names) == 0 ? NC_NOERR : NC_ENOMEM;
}

static int copy_atts(struct cdf_header *h, struct cdf_atts *to,
                     const struct cdf_atts *from)
{
    *to = (struct cdf_atts){0};
    if (from->count == 0) return NC_NOERR;
    if (cdf_atts_reserve(h, to, from->count) != NC_NOERR) return NC_ENOMEM;
    for (; to->count < from->count; to->count++) {
        const struct cdf_att *b = &from->list[to->count];
        struct cdf_att *a = &to->list[to->count];
        size_t bytes = (size_t)b->nelems * (size_t)cdf_type_size(b->type);
        *a = *b;
        a->capacity = bytes;
        a->name = store_name(h, b->name);
        a->values = base_arena_alloc_packed(&h->arena, bytes, 1);
        if (a->name == NULL || a->values == NULL) return NC_ENOMEM;
        if (bytes > 0) memcpy(a->values, b->values, bytes);
    }
    return base_names_copy(&to->names, &from->names) == 0 ? NC_NOERR : NC_ENOMEM;
}

static int copy_vars(struct cdf_header *to, const struct cdf_header *from)
{
    to->vars = base_malloc((size_t)from->nvars * sizeof *to->vars);
    if (to->vars == NULL) return NC_ENOMEM;
    to->vars_capacity = from->nvars;
    for (int i = 0; i < from->nvars; i++) {
        const struct cdf_var *b = &from->vars[i];
        struct cdf_var *a = &to->vars[i];
        int *dimids;
        *a = *b;
        a->atts = (struct cdf_atts){0};
        to->nvars = i + 1;
        a->name = store_name(to, b->name);
        if (a->name == NULL) return NC_ENOMEM;
        if (cdf_var_dims(to, a, b->ndims, &dimids) != NC_NOERR) return NC_ENOMEM;
        if (b->ndims > 0) {
            memcpy(dimids, b->dimids, (size_t)b->ndims * sizeof *dimids);
            memcpy((int64_t *)a->shape, b->shape, (size_t)b->ndims * sizeof *b->shape);
        }
        if (copy_atts(to, &a->atts, &b->atts) != NC_NOERR) return NC_ENOMEM;
    }
    return base_names_copy(&to->var_names, &from->var_names) == 0 ? NC_NOERR : NC_ENOMEM;
}

int cdf_copy(struct cdf_header *to, const struct cdf_header *from)
{
    *to = *from;
    to->dims = NULL;
    to->vars = NULL;
    to->ndims = to->nvars = to->dims_capacity = to->vars_capacity = 0;
    to->gatts = (struct cdf_atts){0};
    to->dim_names = to->var_names = (struct base_names){0};
    to->arena = (struct base_arena){0};

    int err = copy_dims(to, from);
    if (err == NC_NOERR) err = copy_atts(to, &to->gatts, &from->gatts);
    if (err == NC_NOERR) err = copy_vars(to, from);
    if (err != NC_NOERR) cdf_free(to);
    return err;
}

int64_t cdf_max_dim(int format)
{
    return format == 5 ? INT64_MAX : NC_MAX_INT;
}

int64_t cdf_max_dim_read(int format)
{
    return format == 2 ? UINT32_MAX : cdf_max_dim(format);
}

const char *cdf_dim_text(const void *dims, int index)
{
    return ((const struct cdf_dim *)dims)[index].name;
}

const char *cdf_var_text(const void *vars, int index)
{
    return ((const struct cdf_var *)vars)[index].name;
}

int cdf_var_dims(struct cdf_header *h, struct cdf_var *v, int ndims, int **dimids)
{
    v->ndims = ndims;
    v->shape = NULL;
    v->dimids = NULL;
    *dimids = NULL;
    if (ndims == 0) return NC_NOERR;

    int64_t *shape = base_arena_alloc_packed(
        &h->arena, (size_t)ndims * (sizeof *shape + sizeof **dimids), _Alignof(int64_t));
    if (shape == NULL) return NC_ENOMEM;
    *dimids = (int *)(shape + ndims);
    v->shape = shape;
    v->dimids = *dimids;
    return NC_NOERR;
}

int cdf_var_measure(struct cdf_header *h, struct cdf_var *v)
{
    int64_t *shape = (int64_t *)v->shape;
    bool overflow = false;
    v->is_record = v->ndims > 0 && v->dimids[0] == h->unlimited;
    v->nelems = 1;
    for (int i = 0; i < v->ndims; i++) {
        shape[i] = h->dims[v->dimids[i]].length;
        if (v->dimids[i] != h->unlimited)
            overflow |= __builtin_mul_overflow(v->nelems, shape[i], &v->nelems);
        else if (i > 0)
            return base_error_set(NC_EUNLIMPOS,
                                  "variable '%.80s', unlimited dimension '%s'", v->name,
                                  h->dims[h->unlimited].name);
    }
    overflow |= __builtin_mul_overflow(v->nelems, cdf_type_size(v->type), &v->size);
    if (overflow || v->size > CDF_MAX_OFFSET)
        return base_error_set(NC_EVARSIZE, "variable '%.80s' has more than 2^63 bytes",
                              v->name);
    v->size = cdf_pad4(v->size);
    return NC_NOERR;
}

int cdf_sum_records(struct cdf_header *h)
{
    const struct cdf_var *only = NULL;
    h->nrecord_vars = 0;
    h->record_size = 0;
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        if (!v->is_record) continue;
        only = v;
        h->nrecord_vars++;
        if (__builtin_add_overflow(h->record_size, v->size, &h->record_size))
            return base_error_set(NC_EVARSIZE, "one record has more than 2^63 bytes");
    }
    /* A single record variable has no padding between records. */
    if (h->nrecord_vars == 1) h->record_size = only->nelems * cdf_type_size(only->type);
    return NC_NOERR;
}
