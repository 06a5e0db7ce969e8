/* Implements blocking access to one hyperslab, to several hyperslabs of one variable
 * (varn), or to several variables (mput, mget). Each call finds the dataset, makes its
 * requests, and passes the requests and any error to the topmost driver. A process with
 * an error still takes part in a collective call. */
#include "api_access.h"
#include "api_safe.h"
#include "api_trace.h"
#include "api_errors.h"
#include "base_mem.h"
#include "pnetcdf.h"

int api_transfer_either(struct api_dataset *d, struct access_request **reqs, int64_t n,
                        bool put, unsigned how, int err)
{
    if (put && d->quantizes) err = api_quantize(d, reqs, n, err);
    int64_t given = err == NC_NOERR ? n : 0;
    if (how & API_COLL)
        err = put ? driver_call(d->top, put_all, reqs, given, err)
                  : driver_call(d->top, get_all, reqs, given, err);
    else if (err == NC_NOERR && n > 0)
        err = put ? driver_call(d->top, put, reqs, n) : driver_call(d->top, get, reqs, n);
    for (int64_t i = 0; i < n; i++) {
        driver_count_bytes(&d->ds, reqs[i], put);
        int varid = reqs[i]->varid, status = api_request_end(reqs[i]);
        if (status == NC_ERANGE) api_range(d, varid);
        if (err == NC_NOERR) err = status;
    }
    return err;
}

/* In safe mode, checks that all processes make this call. They may access different
 * variables. */
static int same_access_either(struct api_dataset *d, unsigned how, bool put)
{
    if (!(how & API_COLL)) return NC_NOERR;
    return api_same_call_all(d, put ? "a put function" : "a get function");
}

int api_access_now_either(int ncid, const struct api_access *a, bool put)
{
    struct api_dataset *d;
    struct access_request *req;
    int err = api_find_data(ncid, put, a->how, &d);
    if (err == NC_NOERR) err = same_access_either(d, a->how, put);
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter_access(d->ds.trace, !(a->how & API_COLL));
    err = api_request_make(d, a, put, &req);
    err = api_transfer_either(d, &req, req != NULL, put, a->how, err);
    api_end_access(d, span, api_blocking_verb(put), a->how, a->how, a->varid, err);
    api_unlock(d);
    return err;
}

int api_access_many_now_either(int ncid, const struct api_access *a,
                               const struct api_slabs *slabs, bool put)
{
    struct api_dataset *d;
    struct access_request **reqs;
    int64_t n;
    int err = api_find_data(ncid, put, a->how, &d);
    if (err == NC_NOERR) err = same_access_either(d, a->how, put);
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    err = api_requests_make(d, a, slabs, put, &reqs, &n);
    err = api_transfer_either(d, reqs, n, put, a->how, err);
    api_end_access(d, span, api_blocking_verb(put), API_VARN, a->how, a->varid, err);
    api_unlock(d);
    base_free(reqs);
    return err;
}

/* ---- mput, mget ---- */

static struct api_access pick_access(const struct api_several *s, int i)
{
    return (struct api_access){.varid = s->varids[i],
                               .start = s->starts == NULL ? NULL : s->starts[i],
                               .count = s->counts == NULL ? NULL : s->counts[i],
                               .stride = s->strides == NULL ? NULL : s->strides[i],
                               .imap = s->imaps == NULL ? NULL : s->imaps[i],
                               .buf = s->bufs[i],
                               .bufcount = s->buftypes == NULL    ? NC_COUNT_IGNORE
                                           : s->bufcounts == NULL ? NC_COUNT_IGNORE
                                                                  : s->bufcounts[i],
                               .buftype = s->buftypes == NULL ? s->type : s->buftypes[i],
                               .how = s->how};
}

/* Makes the requests that have data to transfer, or none if any access is invalid. */
static int make_mput_requests(const struct api_dataset *d, int num,
                              const struct api_several *s, bool put,
                              struct access_request ***reqs, int64_t *n)
{
    *reqs = NULL;
    *n = 0;
    if (num < 0) return base_error_set(NC_EINVAL, "num is %d", num);
    if (num > 0 && s->varids == NULL) return api_null(NC_EINVAL, "varids");
    if (num > 0 && s->bufs == NULL) return api_null(NC_EINVAL, "bufs");
    if (num == 0) return NC_NOERR;
    *reqs = base_malloc((size_t)num * sizeof(struct access_request *));
    int64_t made = 0;
    int err = *reqs == NULL ? NC_ENOMEM : NC_NOERR;
    for (int i = 0; i < num && err == NC_NOERR; i++) {
        const struct api_access a = pick_access(s, i);
        err = api_request_make(d, &a, put, &(*reqs)[made]);
        if (err != NC_NOERR || (*reqs)[made] == NULL) continue;
        if (put && d->quantizes) /* quantizes each variable as a single call would */
            err = api_quantize(d, &(*reqs)[made], 1, NC_NOERR);
        made++;
    }
    if (err == NC_NOERR) {
        *n = made;
        return err;
    }
    api_requests_drop(*reqs, &made);
    *reqs = NULL;
    return err;
}

int api_several_either(int ncid, int num, const struct api_several *s, bool put)
{
    struct api_dataset *d;
    struct access_request **reqs;
    int64_t n;
    int err = api_find_data(ncid, put, s->how, &d);
    if (err == NC_NOERR && (s->how & API_COLL))
        err = api_same_call_all(d, put ? "an mput function" : "an mget function");
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    err = make_mput_requests(d, num, s, put, &reqs, &n);
    err = api_transfer_either(d, reqs, n, put, s->how, err);
    api_end_access(d, span, put ? API_MPUT : API_MGET, s->how, s->how, -1, err);
    api_unlock(d);
    base_free(reqs);
    return err;
}
