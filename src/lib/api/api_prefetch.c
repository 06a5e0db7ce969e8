/* Prefetches data that the program, or the hint nc_stage_prefetch, requests. */
#include <string.h>

#include "api_access.h"
#include "api_safe.h"
#include "api_errors.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* Starts to prefetch a hyperslab, or the whole variable if start is NULL, or all
 * variables if varid is NC_GLOBAL. */
static int begin_prefetch(struct api_dataset *d, int varid, const MPI_Offset *start,
                          const MPI_Offset *count)
{
    static char nothing; /* a non-NULL dummy; never read or written */
    const struct api_access a = {.varid = varid,
                                 .start = start,
                                 .count = count,
                                 .buf = &nothing,
                                 .bufcount = NC_COUNT_IGNORE,
                                 .buftype = MPI_DATATYPE_NULL,
                                 .how = start == NULL ? API_VAR : API_VARA};
    struct access_request *r = NULL;
    if (varid == NC_GLOBAL) return driver_call(d->top, prefetching.prefetch, NULL);
    int err = api_request_make(d, &a, false, &r);
    if (err != NC_NOERR || r == NULL) return err;
    err = driver_call(d->top, prefetching.prefetch, r);
    (void)api_request_end(r);
    return err;
}

void api_prefetch_hinted(struct api_dataset *d)
{
    char names[sizeof d->ds.hints.stage_prefetch], *saved, *rest = names, *name;
    int varid;
    strcpy(names, d->ds.hints.stage_prefetch);
    if (strcmp(names, "open") == 0) {
        (void)begin_prefetch(d, NC_GLOBAL, NULL, NULL);
        return;
    }
    for (; (name = strtok_r(rest, ",", &saved)) != NULL; rest = NULL)
        if (cdf_find_var(&d->ds.header, name, &varid) == NC_NOERR)
            (void)begin_prefetch(d, varid, NULL, NULL);
}

int ncmpix_prefetch(int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err == NC_NOERR && d->defining) err = api_refuse(d, NC_EINDEFINE);
    if (err != NC_NOERR) return err;
    api_lock(d);
    err = begin_prefetch(d, varid, start, count);
    api_unlock(d);
    return err;
}

int ncmpix_prefetch_all(int ncid, int varid, const MPI_Offset *start,
                        const MPI_Offset *count)
{
    struct api_dataset *d;
    int err = api_find_data(ncid, false, API_COLL, &d);
    if (err == NC_NOERR) err = api_same_call_all(d, "ncmpix_prefetch_all");
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    err = begin_prefetch(d, varid, start, count);
    if (err == NC_NOERR) err = driver_call(d->top, prefetching.prefetch_wait);
    err = dataset_concur_all(&d->ds, err, NULL, NULL, 0);
    trace_leave(d->ds.trace, span, "ncmpix_prefetch_all", -1, err);
    api_unlock(d);
    return err;
}

int ncmpix_prefetch_wait(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR || d->defining) return err;
    api_lock(d);
    err = driver_call(d->top, prefetching.prefetch_wait);
    api_unlock(d);
    return err;
}
