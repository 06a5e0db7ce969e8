/* Helper functions for existing requests: dimension lengths, size and range of the
 * values, and ending a request. The files that make requests (api_access.c, api_runs.c,
 * api_vard.c), copy their values (api_values.c) and queue them (api_queue.c) call these
 * functions. */
#include "api_request.h"

#include "base_mem.h"
#include "pnetcdf.h"

int64_t api_length_of(const struct api_dataset *d, const struct cdf_var *v, int dim,
                      bool put)
{
    if (dim > 0 || !v->is_record) return v->shape[dim];
    if (!put) return d->ds.header.numrecs;
    return cdf_max_records(&d->ds.header);
}

int64_t api_value_bytes(const struct api_dataset *d, const struct access_request *r)
{
    int ndims = d->ds.header.vars[r->varid].ndims;
    return access_nelems(r, ndims) * conv_size((enum conv_type)r->type);
}

int64_t api_buffered_bytes(const struct api_dataset *d, const struct access_request *r)
{
    const struct cdf_var *v = &d->ds.header.vars[r->varid];
    return access_nelems(r, v->ndims) * cdf_type_size(v->type);
}

int api_request_range(const struct api_dataset *d, const struct access_request *r)
{
    const struct cdf_var *v = &d->ds.header.vars[r->varid];
    const enum conv_type type = (enum conv_type)r->type;
    const int xtype = conv_effective_type(cdf_rules(&d->ds.header), v->type, type);
    const struct region *mem = access_mem(r);
    if (access_is_fill(r) || conv_always_fits(xtype, type)) return NC_NOERR;
    if (mem == NULL)
        return conv_check_range(xtype, r->buf, type, (size_t)access_nelems(r, v->ndims));

    char values[4096];
    size_t got;
    int err = NC_NOERR;
    struct region_cursor *cursor = region_cursor_new(mem);
    if (cursor == NULL) return NC_ENOMEM;
    while (err == NC_NOERR &&
           (got = region_gather(cursor, r->buf, values, sizeof values)))
        err = conv_check_range(xtype, values, type, got / (size_t)conv_size(type));
    region_cursor_free(cursor);
    return err;
}

/* Copied values that a driver has taken over (has_ticket) are freed by the driver. */
void api_request_free(struct access_request *r)
{
    if (r->mapped) region_free((struct region *)access_mem(r));
    if (r->raw) region_free((struct region *)access_raw_region(r));
    if ((r->flags & API_COPIED) && !r->has_ticket) base_free(r->buf);
    base_free(r);
}

int api_request_end(struct access_request *r)
{
    int status = r->status;
    if (status == NC_ERANGE && (r->flags & API_REPORTED)) status = NC_NOERR;
    api_request_free(r);
    return status;
}

void api_requests_drop(struct access_request **reqs, int64_t *n)
{
    for (int64_t i = 0; i < *n; i++)
        api_request_free(reqs[i]);
    base_free(reqs);
    *n = 0;
}
