/* The queue of pending nonblocking requests. api_nonblocking.c appends requests, finds
 * them by id, and ends them. The array is compacted when half of its requests have ended.
 * This file also accounts for the buffer that bput uses. */
#include "api_queue.h"

#include <limits.h>
#include <stdlib.h>

#include "api_request.h"
#include "api_errors.h"
#include "base_mem.h"
#include "pnetcdf.h"

struct api_queue *api_queue_of(struct api_dataset *d)
{
    if (d->queue == NULL) d->queue = base_calloc(1, sizeof *d->queue);
    return d->queue;
}

int api_queue_pending(const struct api_queue *q)
{
    return q == NULL ? 0 : q->pending;
}

void api_queue_free(struct api_queue *q)
{
    if (q == NULL) return;
    for (int64_t i = 0; i < q->used; i++)
        if (q->reqs[i] != NULL) api_request_end(q->reqs[i]);
    base_free(q->reqs);
    base_free(q->ids);
    base_free(q);
}

/* ---- adding ---- */

static void compact(struct api_queue *q)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < q->used; i++) {
        if (q->reqs[i] == NULL) continue;
        q->reqs[kept] = q->reqs[i];
        q->ids[kept++] = q->ids[i];
    }
    q->used = kept;
    q->ended = 0;
}

static int reserve_requests(struct api_queue *q, int64_t n)
{
    if (q->used + n <= q->capacity) return NC_NOERR;
    int64_t capacity = q->capacity + q->capacity / 8 + n + 16;
    void *reqs =
        base_realloc(q->reqs, (size_t)capacity * sizeof(struct access_request *));
    if (reqs == NULL) return NC_ENOMEM;
    q->reqs = reqs;
    int *ids = base_realloc(q->ids, (size_t)capacity * sizeof *q->ids);
    if (ids == NULL) return NC_ENOMEM;
    q->ids = ids;
    q->capacity = capacity;
    return NC_NOERR;
}

int api_queue_add(struct api_queue *q, struct access_request *const *reqs, int64_t n,
                  int *id)
{
    if (q->next_id == INT_MAX)
        return base_error_set(NC_EMAX_REQ, "%d request ids are in use", INT_MAX);
    base_require(q->used == 0 || q->ids[q->used - 1] < q->next_id);
    int err = reserve_requests(q, n);
    if (err != NC_NOERR) return err;
    for (int64_t i = 0; i < n; i++) {
        q->reqs[q->used] = reqs[i];
        q->ids[q->used++] = q->next_id;
    }
    q->pending++;
    *id = q->next_id++;
    return NC_NOERR;
}

/* Programs reuse small buffers before the wait, although the interface forbids it. They
 * often do so in Fortran, where compilers pass temporary copies of expressions and
 * sections. */
void api_queue_copy_values(struct api_dataset *d, int64_t n)
{
    enum { FEW = 4096, MOST = 16 << 20 }; /* limits in bytes: for one put, for all puts */
    struct api_queue *q = d->queue;
    struct access_request **reqs = q->reqs + q->used - n;
    int64_t bytes = 0;
    for (int64_t i = 0; i < n && bytes <= FEW; i++)
        bytes += api_value_bytes(d, reqs[i]);
    if (bytes > FEW || bytes > MOST - q->kept) return;
    for (int64_t i = 0; i < n; i++)
        if (!reqs[i]->has_ticket && !(reqs[i]->flags & API_QUANTIZED) &&
            api_request_copy_inline(d, &reqs[i]) == NC_NOERR)
            q->kept += api_value_bytes(d, reqs[i]);
}

/* ---- finding and ending ---- */

/* First tries the usual case, in which every earlier id has exactly one request. */
static bool find_at_expected_index(const struct api_queue *q, int id, int64_t *at)
{
    *at = q->used > 0 ? (int64_t)id - q->ids[0] : -1;
    return *at >= 0 && *at < q->used && q->ids[*at] == id &&
           (*at == 0 || q->ids[*at - 1] != id);
}

int64_t api_queue_find(const struct api_queue *q, int id)
{
    int64_t low, high = q->used;
    if (find_at_expected_index(q, id, &low))
        high = low;
    else
        low = 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (q->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->used && q->ids[low] == id && q->reqs[low] != NULL ? low : -1;
}

int api_queue_end(struct api_dataset *d, int64_t i, bool cancelled)
{
    struct api_queue *q = d->queue;
    int first = NC_NOERR;
    for (int64_t at = i, next; at >= 0; at = next) {
        next = api_queue_next(q, at);
        struct access_request *r = q->reqs[at];
        if (r->flags & API_CHARGED) q->buffer_used -= api_buffered_bytes(d, r);
        if (r->flags & API_INLINE) q->kept -= api_value_bytes(d, r);
        if (!cancelled) driver_count_bytes(&d->ds, r, r->flags & API_PUT);
        int varid = r->varid, status = api_request_end(r);
        if (status == NC_ERANGE && !cancelled) api_range(d, varid);
        if (first == NC_NOERR) first = status;
        q->reqs[at] = NULL;
        q->ended++;
    }
    q->pending--;
    return first;
}

void api_queue_trim(struct api_queue *q)
{
    if (q->pending == 0) {
        base_free(q->reqs);
        base_free(q->ids);
        q->reqs = NULL;
        q->ids = NULL;
        q->used = q->capacity = q->ended = 0;
        q->next_id = 0;
    } else if (q->ended > q->used / 2) {
        compact(q);
    }
}

/* ---- the attached buffer ---- */

int api_buffer_charge(struct api_queue *q, int64_t bytes)
{
    if (bytes > q->buffer_size - q->buffer_used)
        return base_error_set(
            NC_EINSUFFBUF, "the request needs %lld bytes, but only %lld of %lld are free",
            (long long)bytes, (long long)(q->buffer_size - q->buffer_used),
            (long long)q->buffer_size);
    q->buffer_used += bytes;
    return NC_NOERR;
}

bool api_buffer_attached(const struct api_queue *q)
{
    return q != NULL && q->attached;
}

static int attach(struct api_dataset *d, int64_t size)
{
    struct api_queue *q = api_queue_of(d);
    if (q == NULL) return NC_ENOMEM;
    if (q->attached)
        return base_error_set(NC_EPREVATTACHBUF, "the attached buffer has %lld bytes",
                              (long long)q->buffer_size);
    q->attached = true;
    q->buffer_size = size;
    return NC_NOERR;
}

int ncmpi_buffer_attach(int ncid, MPI_Offset bufsize)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (bufsize <= 0)
        return base_error_set(NC_ENULLBUF, "the size of the buffer is %lld bytes",
                              (long long)bufsize);
    api_lock(d);
    err = attach(d, bufsize);
    api_unlock(d);
    return err;
}

static int detach(struct api_dataset *d)
{
    struct api_queue *q = d->queue;
    if (!api_buffer_attached(q)) return api_refuse(d, NC_ENULLABUF);
    if (q->buffer_used > 0)
        return base_error_set(NC_EPENDINGBPUT, "%lld bytes are in use",
                              (long long)q->buffer_used);
    q->attached = false;
    q->buffer_size = 0;
    return NC_NOERR;
}

int ncmpi_buffer_detach(int ncid)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    err = detach(d);
    api_unlock(d);
    return err;
}

/* Returns the attached buffer's size and usage. */
static int inquire(int ncid, MPI_Offset *size, MPI_Offset *usage)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    const struct api_queue *q = d->queue;
    bool asked = size != NULL || usage != NULL;
    if (asked && !api_buffer_attached(q)) err = api_refuse(d, NC_ENULLABUF);
    if (err == NC_NOERR && size != NULL) *size = q->buffer_size;
    if (err == NC_NOERR && usage != NULL) *usage = q->buffer_used;
    api_unlock(d);
    return err;
}

int ncmpi_inq_buffer_usage(int ncid, MPI_Offset *usage)
{
    return inquire(ncid, NULL, usage);
}

int ncmpi_inq_buffer_size(int ncid, MPI_Offset *buf_size)
{
    return inquire(ncid, buf_size, NULL);
}

int ncmpi_inq_nreqs(int ncid, int *nreqs)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    if (nreqs != NULL) *nreqs = api_queue_pending(d->queue);
    api_unlock(d);
    return err;
}
