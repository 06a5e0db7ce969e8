/* Stores values in the requests' own memory, allocated separately or after slab[]: copies
 * for bput and small iputs, and quantized values. */
#include <string.h>

#include "access_values.h"
#include "api_request.h"
#include "base_mem.h"
#include "conv_quantize.h"

/* Flags of a request whose buffer is in the request itself, and so moves with it. */
enum { STORED_INSIDE = API_INLINE | API_QUANTIZED };

/* Copies a request's values to `to`, which becomes its buffer. NC_ENOMEM. */
static int move_values(struct access_request *r, void *to, size_t bytes)
{
    const struct region *mem = access_mem(r);
    struct region_cursor *cursor = mem == NULL ? NULL : region_cursor_new(mem);
    size_t copied = bytes;
    if (mem != NULL && cursor == NULL) return NC_ENOMEM;
    if (cursor != NULL)
        copied = region_gather(cursor, r->buf, to, bytes);
    else
        memcpy(to, r->buf, bytes);
    region_cursor_free(cursor);
    base_require(copied == bytes);
    region_free((struct region *)mem);
    access_set_mem(r, NULL);
    r->buf = to;
    return NC_NOERR;
}

int api_request_copy(const struct api_dataset *d, struct access_request *r)
{
    size_t bytes = (size_t)api_value_bytes(d, r);
    base_require(!r->has_ticket && !(r->flags & (API_COPIED | STORED_INSIDE)));
    void *copy = base_malloc(bytes);
    int err = copy == NULL ? NC_ENOMEM : move_values(r, copy, bytes);
    if (err == NC_NOERR)
        r->flags |= API_COPIED;
    else
        base_free(copy);
    return err;
}

/* Returns the size of a request in bytes, excluding values stored after slab[]. */
static size_t size_of(const struct api_dataset *d, const struct access_request *r)
{
    size_t ndims = (size_t)d->ds.header.vars[r->varid].ndims;
    size_t n = r->raw ? ACCESS_RAW_SLAB : ndims * (r->strided ? 3 : 2);
    return sizeof *r + (r->mapped + n) * sizeof r->slab[0];
}

int api_request_copy_inline(const struct api_dataset *d, struct access_request **req)
{
    size_t size = size_of(d, *req), bytes = (size_t)api_value_bytes(d, *req);
    base_require(!(*req)->has_ticket && !((*req)->flags & (API_COPIED | STORED_INSIDE)));
    struct access_request *r = base_realloc(*req, size + bytes);
    if (r == NULL) return NC_ENOMEM;
    *req = r;
    int err = move_values(r, (char *)r + size, bytes);
    if (err == NC_NOERR) r->flags |= API_INLINE;
    return err;
}

/* Quantizes n values of the variable's type in place. */
static void quantize_values(const struct cdf_header *h, int varid, void *values,
                            int64_t n, int64_t first)
{
    const struct cdf_var *v = &h->vars[varid];
    unsigned char external[8];
    double fill; /* large enough for a float or double */
    cdf_fill_value(h, varid, external);
    conv_get(&fill, (enum conv_type)conv_type_of(v->type), external, v->type, 1);
    conv_quantize(v->quantize, v->digits, v->type, values, (size_t)n, first, &fill);
}

/* Converts the values of a put to the variable's type, quantizes them, and stores them
 * after slab[]. `first` is the number of values in the call's earlier requests. */
static int quantize_request(const struct api_dataset *d, struct access_request **req,
                            int64_t first)
{
    const struct cdf_header *h = &d->ds.header;
    const struct cdf_var *v = &h->vars[(*req)->varid];
    struct access_values values;
    int64_t n = access_nelems(*req, v->ndims);
    size_t size = size_of(d, *req), bytes = (size_t)(n * cdf_type_size(v->type));
    base_require(!(*req)->has_ticket && !((*req)->flags & (API_COPIED | STORED_INSIDE)));
    struct access_request *r = base_realloc(*req, size + bytes);
    if (r == NULL) return NC_ENOMEM;
    *req = r;
    int err = access_values_begin(&values, h, r, true);
    if (err != NC_NOERR) return err;
    unsigned char *own = (unsigned char *)r + size;
    access_values_convert(&values, v->type, own, n);
    access_values_end(&values);
    quantize_values(h, r->varid, own, n, first);
    region_free((struct region *)access_mem(r));
    access_set_mem(r, NULL);
    r->buf = own;
    r->type = (unsigned char)conv_type_of(v->type);
    r->flags |= API_QUANTIZED;
    return NC_NOERR;
}

void api_request_drop_inline(const struct api_dataset *d, struct access_request **req)
{
    struct access_request *r = base_realloc(*req, size_of(d, *req));
    if (r != NULL) *req = r;
}

int api_quantize(const struct api_dataset *d, struct access_request **reqs, int64_t n,
                 int err)
{
    int64_t first = 0;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        const struct cdf_var *v = &d->ds.header.vars[reqs[i]->varid];
        if (!v->quantize || (reqs[i]->flags & API_QUANTIZED)) continue;
        err = quantize_request(d, &reqs[i], first);
        first += access_nelems(reqs[i], v->ndims);
    }
    return err;
}

void api_request_detach_buffer(struct access_request *r)
{
    region_free((struct region *)access_mem(r));
    access_set_mem(r, NULL);
    r->flags |= API_COPIED;
}
