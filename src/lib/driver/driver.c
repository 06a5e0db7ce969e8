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
static int build_all(struct driver_dataset *ds, int mode, bool create,
                     struct driver **top)
{
    struct driver *d = NULL;
    for (int i = 0; i < NDRIVERS; i++) {
        const struct driver_ops *ops = registry[i];
        if (ops->wanted != NULL && !ops->wanted(ds, create)) continue;
        struct driver *lower = d;
        int err = create ? ops->create_all(ds, mode, lower, &d)
                         : ops->open_all(ds, mode, lower, &d);
        driver_hold_records(ds, ds->header.numrecs);
        if (err == NC_NOERR) continue;
        ds->undone = true;
        if (lower != NULL) driver_abort_all(lower);
        return err;
    }
    if (!create) driver_opened_all(d);
    *top = d;
    return NC_NOERR;
}

int driver_create_all(struct driver_dataset *ds, int cmode, struct driver **top)
{
    return build_all(ds, cmode, true, top);
}

/* Another file is the dataset's as long as it is being opened. */
static int open_another_all(struct driver_dataset *ds, int omode, struct driver **top,
                            const struct driver_ops *ops)
{
    char *path = ds->path, *full = ds->full;
    ds->path = ops->stand_in(path);
    ds->full = ops->stand_in(full);
    int err = ds->path == NULL || ds->full == NULL ? NC_ENOMEM : NC_NOERR;
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    ds->stands_in = true;
    if (err == NC_NOERR) err = build_all(ds, omode, false, top);
    base_free(ds->path);
    base_free(ds->full);
    ds->path = path;
    ds->full = full;
    return err;
}

/* Where nobody has a file of that name. */
static int open_stand_in_all(struct driver_dataset *ds, int omode, struct driver **top)
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

int driver_open_all(struct driver_dataset *ds, int omode, struct driver **top)
{
    int err = build_all(ds, omode, false, top);
    bool nothing = err == NC_ENOENT && ds->header.size == 0;
    return nothing ? open_stand_in_all(ds, omode, top) : err;
}

int driver_refuse(const struct driver_dataset *ds)
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

/* A process that is told of another's error knows no more of it. */
static int word_agreed(int error, int worst)
{
    if (error != NC_NOERR || worst == NC_NOERR) return worst;
    return base_error_set(worst, "met by another process, which has the details");
}

int driver_agree_all(struct driver_dataset *ds, int error, int *failed, int64_t *values,
                     int n)
{
    /* Codes are negative, so the worst is the maximum of their opposites. */
    enum { ERRORS = 2, OWN = ERRORS + DRIVER_WORDS };
    int64_t all[OWN + DRIVER_AGREE_MAX] = {-error, -ds->failed};
    memcpy(all + ERRORS, ds->word, sizeof ds->word);
    for (int i = 0; i < n; i++)
        all[OWN + i] = values[i];

    struct driver_span span = driver_trace_begin(ds->trace);
    ds->stats.agreements++;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, all, OWN + n, MPI_INT64_T, MPI_MAX, ds->comm);
    driver_trace_end_numbered(ds->trace, DRIVER_AGREEMENT, span, ds->stats.agreements);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "agreeing on a result");

    for (int i = 0; i < n; i++)
        values[i] = all[OWN + i];
    memcpy(ds->heard, all + ERRORS, sizeof ds->heard);
    if (failed != NULL) {
        *failed = (int)-all[1];
        ds->failures += *failed != NC_NOERR;
        ds->failed = NC_NOERR;
    }
    return word_agreed(error, (int)-all[0]);
}

int driver_concur_all(struct driver_dataset *ds, int error, int *failed, int64_t *values,
                      int n)
{
    int worst = driver_agree_all(ds, error, failed, values, n);
    return error != NC_NOERR ? error : worst;
}

int driver_share_all(struct driver_dataset *ds, void *bytes, int64_t n, int root)
{
    enum { PIECE = 1 << 30 }; /* MPI messages stay under 2^31 bytes */
    int mpi = MPI_SUCCESS;
    struct driver_span span = driver_trace_begin(ds->trace);
    for (int64_t at = 0; at < n && mpi == MPI_SUCCESS; at += PIECE) {
        ds->stats.broadcasts++;
        mpi = MPI_Bcast((char *)bytes + at, (int)(n - at < PIECE ? n - at : PIECE),
                        MPI_BYTE, root, ds->comm);
    }
    driver_trace_end_numbered(ds->trace, DRIVER_BROADCAST, span, ds->stats.broadcasts);
    return base_mpi_error(mpi, NC_EMPI, "telling the other processes");
}

int driver_share_words_all(struct driver_dataset *ds, int error, int own)
{
    char words[1024] = "";
    if (ds->rank == 0 && own == error)
        strncpy(words, base_error_detail(error), sizeof words - 1);
    int err = driver_share_all(ds, words, sizeof words, 0);
    if (err != NC_NOERR || words[0] == '\0') return error;
    return base_error_set(error, "%s", words);
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

int64_t driver_records(const struct cdf_header *h, const struct driver_request *r)
{
    const struct cdf_var *v = &h->vars[r->varid];
    int64_t low, high;
    if (!v->is_record || driver_nelems(r, v->ndims) == 0) return 0;
    if (r->raw) {
        region_bounds(driver_raw_region(r), &low, &high);
        return driver_start(r)[2] + (high - 1) / h->record_size + 1;
    }
    const int64_t *stride = driver_stride(r, v->ndims);
    return driver_start(r)[0] +
           (driver_count(r, v->ndims)[0] - 1) * (stride == NULL ? 1 : stride[0]) + 1;
}

void driver_hold_records(struct driver_dataset *ds, int64_t records)
{
    if (records > ds->held) ds->held = records;
    if (records > ds->header.numrecs) ds->header.numrecs = records;
}

void driver_count_bytes(struct driver_dataset *ds, const struct driver_request *r,
                        bool put)
{
    const struct cdf_var *v = &ds->header.vars[r->varid];
    if (r->status != NC_NOERR && r->status != NC_ERANGE) return;
    *(put ? &ds->stats.put_bytes : &ds->stats.get_bytes) +=
        driver_nelems(r, v->ndims) * cdf_type_size(v->type);
}

int driver_put_all(struct driver *d, struct driver_request *const *reqs, int64_t n,
                   int error)
{
    while (d->ops->put_all == NULL)
        d = d->lower;
    return d->ops->put_all(d, reqs, n, error);
}

int driver_get_all(struct driver *d, struct driver_request *const *reqs, int64_t n,
                   int error)
{
    while (d->ops->get_all == NULL)
        d = d->lower;
    return d->ops->get_all(d, reqs, n, error);
}

int driver_put(struct driver *d, struct driver_request *const *reqs, int64_t n)
{
    while (d->ops->put == NULL)
        d = d->lower;
    return d->ops->put(d, reqs, n);
}

int driver_get(struct driver *d, struct driver_request *const *reqs, int64_t n)
{
    while (d->ops->get == NULL)
        d = d->lower;
    return d->ops->get(d, reqs, n);
}

void driver_post(struct driver *d, struct driver_request *const *reqs, int64_t n)
{
    while (d != NULL && d->ops->post == NULL)
        d = d->lower;
    if (d != NULL) d->ops->post(d, reqs, n);
}

int driver_wait_all(struct driver *d, struct driver_request *const *reqs, int64_t n,
                    int error)
{
    if (d->ops->wait_all != NULL) return d->ops->wait_all(d, reqs, n, error);
    return driver_put_all(d, reqs, n, error);
}

int driver_wait(struct driver *d, struct driver_request *const *reqs, int64_t n)
{
    if (d->ops->wait != NULL) return d->ops->wait(d, reqs, n);
    return driver_put(d, reqs, n);
}

void driver_cancel(struct driver *d, struct driver_request *const *reqs, int64_t n)
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

int driver_prefetch(struct driver *d, const struct driver_request *r)
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
