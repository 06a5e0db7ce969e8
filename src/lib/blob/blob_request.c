/* Makes this layer's own requests: for integers that describe blobs, and for regions of a
 * file. */
#include "blob.h"
#include "subfile_names.h"

void blob_request_numbers(struct access_request *r, const struct cdf_header *h, int varid,
                          int64_t row, int64_t first, int64_t n, void *values)
{
    int ndims = h->vars[varid].ndims;
    *r = (struct access_request){.buf = values, .varid = varid, .type = CONV_LONGLONG};
    r->slab[0] = row;
    r->slab[ndims] = 1;
    r->slab[ndims - 1] = first;
    r->slab[2 * ndims - 1] = n;
}

int blob_move_numbers(struct driver *d, const struct cdf_header *h, int varid,
                      int64_t first, int64_t n, void *values, bool put)
{
    union access_own_request one;
    struct access_request *r = &one.r;
    base_require(h->vars[varid].ndims == 1 && first >= 0 && n > 0);
    blob_request_numbers(r, h, varid, 0, first, n, values);
    return put ? driver_call(d, put, &r, 1) : driver_call(d, get, &r, 1);
}

/* ---- reading a subfile ---- */

static int read_lists(struct blob_sub *sub, const struct subfile_numbers *lists, int n,
                      int error, bool together)
{
    enum { MOST_LISTS = 4 };
    union access_own_request list[MOST_LISTS];
    struct access_request *reqs[MOST_LISTS];
    for (int i = 0; i < n; i++) {
        const struct subfile_numbers *x = &lists[i];
        reqs[i] = &list[i].r;
        blob_request_numbers(reqs[i], &sub->ds.header, x->varid, x->row, x->first, x->n,
                             x->values);
    }
    return together ? driver_call(sub->driver, get_all, reqs, n, error)
                    : driver_call(sub->driver, get, reqs, n);
}

int blob_read_numbers(void *sub, const struct subfile_numbers *lists, int n, int error)
{
    return error != NC_NOERR || n == 0 ? error : read_lists(sub, lists, n, error, false);
}

int blob_read_numbers_all(void *sub, const struct subfile_numbers *lists, int n,
                          int error)
{
    return read_lists(sub, lists, n, error, true);
}

static int move_log(struct blob_sub *sub, int64_t at, const void *bytes, int64_t n,
                    bool put)
{
    union access_own_request one;
    struct access_request *r = &one.r;
    struct region *where = region_block(at, n);
    int err = access_set_raw(r, sub->subfile.log, CONV_SCHAR, where, n, 0, bytes);
    if (err == NC_NOERR)
        err = put ? driver_call(sub->driver, put, &r, 1)
                  : driver_call(sub->driver, get, &r, 1);
    region_free(where);
    return err;
}

int blob_read_log(void *sub, int64_t at, void *bytes, int64_t n)
{
    return move_log(sub, at, bytes, n, false);
}

int blob_put_log(struct blob_sub *sub, int64_t at, const void *bytes, int64_t n)
{
    base_require(sub->subfile.log >= 0 && at >= SUBFILE_LOG_BEGIN && n > 0);
    return move_log(sub, at, bytes, n, true);
}
