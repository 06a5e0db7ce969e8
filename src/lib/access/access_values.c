/* Gathers or scatters a request's values and converts them to or from external form.
 */
#include "access_values.h"

#include <string.h>

#include "base_error.h"

enum { SCRATCH = 32768 }; /* number of gathered bytes converted at a time */

bool access_values_are_in_place(const struct cdf_header *h,
                                const struct access_request *req, bool put)
{
    int type = h->vars[req->varid].type;
    return access_mem(req) == NULL && !access_is_fill(req) &&
           (conv_is_copy(type, req->type) ||
            (!put && conv_type_of(type) == (int)req->type));
}

int access_values_begin(struct access_values *v, const struct cdf_header *h,
                        struct access_request *req, bool put)
{
    int type = h->vars[req->varid].type;
    v->req = req;
    v->memory = NULL;
    v->done = 0;
    v->xtype = conv_effective_type(cdf_rules(h), type, req->type);
    v->xsize = cdf_type_size(type);
    v->copied = conv_is_copy(type, req->type);
    /* Values that have the variable's type are never out of range. */
    if (put && (access_is_fill(req) || conv_type_of(type) != (int)req->type))
        cdf_fill_value(h, req->varid, v->fill);
    if (access_mem(req) == NULL) return NC_NOERR;
    v->memory = region_cursor_new(access_mem(req));
    return v->memory == NULL ? NC_ENOMEM : NC_NOERR;
}

void access_values_seek(struct access_values *v, int64_t first)
{
    if (v->memory != NULL && v->done != first)
        (void)region_skip_to(v->memory, first * conv_size(v->req->type));
    v->done = first;
}

static int put_scattered(struct access_values *v, unsigned char *external, int64_t n)
{
    unsigned char scratch[SCRATCH];
    int64_t size = conv_size(v->req->type), step = SCRATCH / size;
    int result = NC_NOERR;
    for (int64_t at = 0; at < n; at += step) {
        int64_t part = n - at < step ? n - at : step;
        region_gather(v->memory, v->req->buf, scratch, (size_t)(part * size));
        int err = conv_put(external + at * v->xsize, v->xtype, scratch, v->req->type,
                           (size_t)part, v->fill);
        if (err != NC_NOERR) result = err;
    }
    return result;
}

static int get_scattered(struct access_values *v, const unsigned char *external,
                         int64_t n)
{
    unsigned char scratch[SCRATCH];
    int64_t size = conv_size(v->req->type), step = SCRATCH / size;
    int result = NC_NOERR;
    for (int64_t at = 0; at < n; at += step) {
        int64_t part = n - at < step ? n - at : step;
        int err = conv_get(scratch, v->req->type, external + at * v->xsize, v->xtype,
                           (size_t)part);
        if (err != NC_NOERR) result = err;
        region_scatter(v->memory, v->req->buf, scratch, (size_t)(part * size));
    }
    return result;
}

static int finish_values(struct access_values *v, int64_t n, int err)
{
    v->done += n;
    access_set_status(v->req, err);
    return err;
}

int access_values_put(struct access_values *v, unsigned char *external, int64_t n)
{
    const unsigned char *buf = access_values_buf(v);
    int err = NC_NOERR;
    if (access_is_fill(v->req))
        conv_fill(external, v->fill, v->xsize, (size_t)n);
    else if (v->memory != NULL)
        err = put_scattered(v, external, n);
    else if (external != buf)
        err = conv_put(external, v->xtype, buf, v->req->type, (size_t)n, v->fill);
    return finish_values(v, n, err);
}

int access_values_get(struct access_values *v, const unsigned char *external, int64_t n)
{
    unsigned char *buf = access_values_buf(v);
    int err = NC_NOERR;
    if (v->memory != NULL)
        err = get_scattered(v, external, n);
    else if (external != buf)
        err = conv_get(buf, v->req->type, external, v->xtype, (size_t)n);
    else if (!v->copied)
        conv_get_in_place(buf, v->xsize, (size_t)n);
    return finish_values(v, n, err);
}

static void convert_own_type(struct access_values *v, unsigned char *to, int64_t n)
{
    if (v->memory != NULL)
        region_gather(v->memory, v->req->buf, to, (size_t)(n * v->xsize));
    else
        memcpy(to, access_values_buf(v), (size_t)(n * v->xsize));
    v->done += n;
}

void access_values_convert(struct access_values *v, int type, unsigned char *to,
                           int64_t n)
{
    enum { STEP = 2048 };
    unsigned char external[STEP * 8];
    enum conv_type own = (enum conv_type)conv_type_of(type);
    if (own == (enum conv_type)v->req->type) {
        convert_own_type(v, to, n);
        return;
    }
    for (int64_t at = 0; at < n; at += STEP) {
        int64_t m = n - at < STEP ? n - at : STEP;
        (void)access_values_put(v, external, m);
        conv_get(to + at * v->xsize, own, external, type, (size_t)m);
    }
}
