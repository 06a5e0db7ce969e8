/* The registry of drivers, and the calls that fall through to the layer below. */
#include "driver.h"

#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"

/* From the bottom of the stack to the top. */
static const struct driver_ops *const registry[] = {
    &mpio_ops,
    &stage_ops,
    &blob_ops,
#ifdef NCMPI_BURST
    &burst_ops,
#endif
};

enum { NDRIVERS = sizeof registry / sizeof registry[0] };

/* Puts the wanted layers on each other; takes all down again if one fails. */
static int build_all(struct dataset *ds, int mode, bool create, struct driver **top)
{
    struct driver *d = NULL;
    for (int i = 0; i < NDRIVERS; i++) {
        const struct driver_ops *ops = registry[i];
        if (ops->wanted != NULL && !ops->wanted(ds, create)) continue;
        struct driver *lower = d;
        int err = create ? ops->create_all(ds, mode, lower, &d)
                         : ops->open_all(ds, mode, lower, &d);
        dataset_hold_records(ds, ds->header.numrecs);
        if (err == NC_NOERR) continue;
        ds->undone = true;
        if (lower != NULL) driver_abort_all(lower);
        return err;
    }
    if (!create) driver_opened_all(d);
    *top = d;
    return NC_NOERR;
}

int driver_create_all(struct dataset *ds, int cmode, struct driver **top)
{
    return build_all(ds, cmode, true, top);
}

/* Another file is the dataset's as long as it is being opened. */
static int open_another_all(struct dataset *ds, int omode, struct driver **top,
                            const struct driver_ops *ops)
{
    char *path = ds->path, *full = ds->full;
    ds->path = ops->stand_in(path);
    ds->full = ops->stand_in(full);
    int err = ds->path == NULL || ds->full == NULL ? NC_ENOMEM : NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    ds->stands_in = true;
    if (err == NC_NOERR) err = build_all(ds, omode, false, top);
    base_free(ds->path);
    base_free(ds->full);
    ds->path = path;
    ds->full = full;
    return err;
}

/* Where nobody has a file of that name. */
static int open_stand_in_all(struct dataset *ds, int omode, struct driver **top)
{
    char words[1024];
    int err = NC_ENOENT;
    snprintf(words, sizeof words, "%s", base_error_detail(err));
    for (int i = 0; i < NDRIVERS && ds->header.size == 0; i++)
        if (registry[i]->stand_in != NULL)
            err = open_another_all(ds, omode, top, registry[i]);
    if (err == NC_NOERR || ds->header.size > 0) return err;
    return base_error_set(NC_ENOENT, "%s", words);
}

int driver_open_all(struct dataset *ds, int omode, struct driver **top)
{
    int err = build_all(ds, omode, false, top);
    bool nothing = err == NC_ENOENT && ds->header.size == 0;
    return nothing ? open_stand_in_all(ds, omode, top) : err;
}

int driver_refuse(const struct dataset *ds)
{
    int err = NC_NOERR;
    for (int i = 0; i < NDRIVERS && err == NC_NOERR; i++)
        if (registry[i]->refuse != NULL && registry[i]->wanted(ds, true))
            err = registry[i]->refuse(ds);
    return err;
}

int driver_remove_parts(const char *path, bool anew, bool *all)
{
    int first = NC_NOERR;
    *all = false;
    for (int i = 0; i < NDRIVERS; i++) {
        bool its = false;
        if (registry[i]->remove_parts == NULL) continue;
        int err = registry[i]->remove_parts(path, anew, &its);
        *all |= its;
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int driver_delete(const char *path, MPI_Info info)
{
    bool all;
    int err = driver_remove_parts(path, false, &all);
    int removed = registry[0]->remove(path, info);
    if (removed == NC_ENOENT && all) removed = NC_NOERR;
    return removed != NC_NOERR ? removed : err;
}

void driver_parts(struct driver *d, const struct driver_parts *parts)
{
    while (d != NULL && d->ops->parts == NULL)
        d = d->lower;
    if (d != NULL) d->ops->parts(d, parts);
}

struct driver *driver_part(struct driver *d, int number, struct driver *lower)
{
    while (d != NULL && d->ops->part == NULL)
        d = d->lower;
    return d == NULL ? lower : d->ops->part(d, number, lower);
}

void driver_opened_all(struct driver *d)
{
    while (d != NULL && d->ops->opened_all == NULL)
        d = d->lower;
    if (d != NULL) d->ops->opened_all(d);
}

int driver_close_all(struct driver *d)
{
    while (d->ops->close_all == NULL)
        d = d->lower;
    return d->ops->close_all(d);
}

int driver_abort_all(struct driver *d)
{
    while (d->ops->abort_all == NULL)
        d = d->lower;
    return d->ops->abort_all(d);
}

int driver_redef_all(struct driver *d)
{
    while (d->ops->redef_all == NULL)
        d = d->lower;
    return d->ops->redef_all(d);
}

int driver_check_definitions(struct driver *d, const struct cdf_header *before)
{
    while (d->ops->check_definitions == NULL)
        d = d->lower;
    return d->ops->check_definitions(d, before);
}

int driver_enddef_all(struct driver *d, const struct cdf_header *before)
{
    while (d->ops->enddef_all == NULL)
        d = d->lower;
    return d->ops->enddef_all(d, before);
}

int driver_write_header_all(struct driver *d)
{
    while (d->ops->write_header_all == NULL)
        d = d->lower;
    return d->ops->write_header_all(d);
}

int driver_begin_indep_all(struct driver *d)
{
    while (d->ops->begin_indep_all == NULL)
        d = d->lower;
    return d->ops->begin_indep_all(d);
}

int driver_end_indep_all(struct driver *d)
{
    while (d->ops->end_indep_all == NULL)
        d = d->lower;
    return d->ops->end_indep_all(d);
}

void driver_count_bytes(struct dataset *ds, const struct access_request *r, bool put)
{
    const struct cdf_var *v = &ds->header.vars[r->varid];
    if (r->status != NC_NOERR && r->status != NC_ERANGE) return;
    *(put ? &ds->stats.put_bytes : &ds->stats.get_bytes) +=
        access_nelems(r, v->ndims) * cdf_type_size(v->type);
}

int driver_put_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                   int error)
{
    while (d->ops->put_all == NULL)
        d = d->lower;
    return d->ops->put_all(d, reqs, n, error);
}

int driver_get_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                   int error)
{
    while (d->ops->get_all == NULL)
        d = d->lower;
    return d->ops->get_all(d, reqs, n, error);
}

int driver_put(struct driver *d, struct access_request *const *reqs, int64_t n)
{
    while (d->ops->put == NULL)
        d = d->lower;
    return d->ops->put(d, reqs, n);
}

int driver_get(struct driver *d, struct access_request *const *reqs, int64_t n)
{
    while (d->ops->get == NULL)
        d = d->lower;
    return d->ops->get(d, reqs, n);
}

void driver_post(struct driver *d, struct access_request *const *reqs, int64_t n)
{
    while (d != NULL && d->ops->post == NULL)
        d = d->lower;
    if (d != NULL) d->ops->post(d, reqs, n);
}

int driver_wait_all(struct driver *d, struct access_request *const *reqs, int64_t n,
                    int error)
{
    if (d->ops->wait_all != NULL) return d->ops->wait_all(d, reqs, n, error);
    return driver_put_all(d, reqs, n, error);
}

int driver_wait(struct driver *d, struct access_request *const *reqs, int64_t n)
{
    if (d->ops->wait != NULL) return d->ops->wait(d, reqs, n);
    return driver_put(d, reqs, n);
}

void driver_cancel(struct driver *d, struct access_request *const *reqs, int64_t n)
{
    while (d != NULL && d->ops->cancel == NULL)
        d = d->lower;
    if (d != NULL) d->ops->cancel(d, reqs, n);
}

int driver_sync_all(struct driver *d)
{
    while (d->ops->sync_all == NULL)
        d = d->lower;
    return d->ops->sync_all(d);
}

int driver_sync_numrecs_all(struct driver *d)
{
    while (d->ops->sync_numrecs_all == NULL)
        d = d->lower;
    return d->ops->sync_numrecs_all(d);
}

int driver_flush_all(struct driver *d)
{
    while (d->ops->flush_all == NULL)
        d = d->lower;
    return d->ops->flush_all(d);
}

int driver_sync(struct driver *d)
{
    while (d->ops->sync == NULL)
        d = d->lower;
    return d->ops->sync(d);
}

int driver_flush(struct driver *d)
{
    while (d->ops->flush == NULL)
        d = d->lower;
    return d->ops->flush(d);
}

int driver_flush_start(struct driver *d)
{
    while (d != NULL && d->ops->flush_start == NULL)
        d = d->lower;
    return d == NULL ? NC_NOERR : d->ops->flush_start(d);
}

int driver_flush_test(struct driver *d, bool *through)
{
    *through = true;
    while (d != NULL && d->ops->flush_test == NULL)
        d = d->lower;
    return d == NULL ? NC_NOERR : d->ops->flush_test(d, through);
}

int driver_prefetch(struct driver *d, const struct access_request *r)
{
    while (d != NULL && d->ops->prefetch == NULL)
        d = d->lower;
    return d == NULL ? NC_NOERR : d->ops->prefetch(d, r);
}

int driver_prefetch_wait(struct driver *d)
{
    while (d != NULL && d->ops->prefetch_wait == NULL)
        d = d->lower;
    return d == NULL ? NC_NOERR : d->ops->prefetch_wait(d);
}

void driver_prepare_close_all(struct driver *d)
{
    while (d != NULL && d->ops->prepare_close_all == NULL)
        d = d->lower;
    if (d != NULL) d->ops->prepare_close_all(d);
}

enum driver_defer driver_defer(struct driver *d)
{
    return d->ops->defer == NULL ? DRIVER_NOW : d->ops->defer(d);
}

int driver_inq_info(struct driver *d, MPI_Info info)
{
    while (d->ops->inq_info == NULL)
        d = d->lower;
    return d->ops->inq_info(d, info);
}
