/* Values of puts as external ones. */
#include "blob_values.h"

#include <string.h>

#include "base_mem.h"

int blob_values_begin(struct blob_values *v, const struct access_request *r, int xtype,
                      const unsigned char xfill[8])
{
    const struct region *mem = access_mem(r);
    *v = (struct blob_values){.r = r, .xtype = xtype};
    memcpy(v->xfill, xfill, sizeof v->xfill);
    if (mem == NULL) return NC_NOERR;
    v->packed = base_malloc(BLOB_VALUES_TILE * (size_t)conv_size(r->type));
    v->memory = v->packed == NULL ? NULL : region_cursor_new(mem);
    if (v->memory != NULL) return NC_NOERR;
    base_free(v->packed);
    return NC_ENOMEM;
}

int blob_values_next(struct blob_values *v, void *to, int64_t n)
{
    int size = conv_size(v->r->type), xsize = cdf_type_size(v->xtype), err = NC_NOERR;
    for (int64_t at = 0, m; at < n; at += m, v->done += m) {
        const unsigned char *from = (unsigned char *)v->r->buf + v->done * size;
        m = n - at < BLOB_VALUES_TILE ? n - at : BLOB_VALUES_TILE;
        if (v->memory != NULL) {
            region_gather(v->memory, v->r->buf, v->packed, (size_t)(m * size));
            from = v->packed;
        }
        int put = conv_put((unsigned char *)to + at * xsize, v->xtype, from, v->r->type,
                           (size_t)m, v->xfill);
        if (put != NC_NOERR) err = put;
    }
    return err;
}

void blob_values_end(struct blob_values *v)
{
    region_cursor_free(v->memory);
    base_free(v->packed);
}
