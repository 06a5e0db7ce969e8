/* Fill values: a variable's _FillValue attribute, or else its type's default. */
#include "cdf_impl.h"

#include "base_error.h"

/* Returns the value of the variable's _FillValue, or NULL. */
static const void *fill_attribute(const struct cdf_header *h, int varid)
{
    const struct cdf_var *v = &h->vars[varid];
    int i;
    if (cdf_find_att(h, varid, NC_FillValue, &i) != NC_NOERR) return NULL;
    const struct cdf_att *a = &v->atts.list[i];
    return a->type == v->type && a->nelems == 1 ? a->values : NULL;
}

bool cdf_has_fill(const struct cdf_header *h, int varid)
{
    return h->vars[varid].fill || fill_attribute(h, varid) != NULL;
}

void cdf_fill_value(const struct cdf_header *h, int varid, void *xvalue)
{
    const int type = h->vars[varid].type;
    const void *own = fill_attribute(h, varid);
    if (own != NULL)
        memcpy(xvalue, own, (size_t)cdf_type_size(type));
    else
        cdf_default_fill(type, xvalue);
}
