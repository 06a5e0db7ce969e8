/* Nonblocking access: posting, waiting and cancelling. */
#include <stdlib.h>

#include "api_access.h"
#include "api_queue.h"
#include "api_safe.h"
#include "base_mem.h"
#include "pnetcdf.h"

/* ---- posting ---- */

/* A pending request may be posted in every mode. */
static int find_dataset(int ncid, bool put, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    return put && !(*d)->ds.writable ? NC_EPERM : NC_NOERR;
}

/* A bput takes what it needs of the buffer, and the values. */
static int buffer(struct api_dataset *d, struct driver_request **reqs, int64_t n,
                  int64_t *taken)
{
    int64_t bytes = 0;
    if (!api_buffer_attached(d->queue)) return NC_ENULLABUF;
    for (int64_t i = 0; i < n; i++)
        bytes += api_buffered_bytes(d, reqs[i]);
    int err = api_buffer_charge(d->queue, bytes);
    if (err == NC_NOERR) *taken = bytes;
    return err;
}

/* A driver may take the values at once; those of a bput that it leaves are copied. */
static int take(struct api_dataset *d, struct driver_request **reqs, int64_t n,
                bool buffered)
{
    int err = NC_NOERR;
    driver_post(d->top, reqs, n);
    for (int64_t i = 0; buffered && i < n && err == NC_NOERR; i++)
        if (reqs[i]->ticket == 0)
            err = api_request_copy(d, reqs[i]);
        else
            api_request_leave(reqs[i]);
    return err;
}

/* Puts made requests into the queue, or frees them if anything is wrong. */
static int post(struct api_dataset *d, struct driver_request **reqs, int64_t n, bool put,
                int *id, unsigned how, int err)
{
    int given = NC_REQ_NULL;
    int64_t taken = 0; /* of the attached buffer */
    struct api_queue *q = err == NC_NOERR ? api_queue_of(d) : NULL;
    if (err == NC_NOERR && q == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR && (how & API_BUFFERED)) err = buffer(d, reqs, n, &taken);
    for (int64_t i = 0; i < n; i++)
        if (put) reqs[i]->flags |= API_PUT;
    if (err == NC_NOERR && put) err = take(d, reqs, n, how & API_BUFFERED);
    if (err == NC_NOERR && n > 0) err = api_queue_add(q, reqs, n, &given);
    if (err != NC_NOERR && put) driver_cancel(d->top, reqs, n);
    if (err != NC_NOERR && taken > 0) api_buffer_charge(q, -taken);
    for (int64_t i = 0; i < n && err != NC_NOERR; i++)
        api_request_end(reqs[i]);
    if (id != NULL) *id = given;
    return err;
}

static int post_one(int ncid, const struct api_access *a, bool put, int *id)
{
    struct api_dataset *d;
    struct driver_request *req = NULL;
    int err = find_dataset(ncid, put, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    err = api_request_make(d, a, put, &req);
    err = post(d, &req, req != NULL, put, id, a->how, err);
    api_unlock(d);
    return err;
}

int api_iput(int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count,
             const MPI_Offset *stride, const MPI_Offset *imap, const void *buf,
             MPI_Offset bufcount, MPI_Datatype buftype, int *req, unsigned how)
{
    const struct api_access a = {varid, start,    count,   stride, imap,
                                 buf,   bufcount, buftype, how};
    return post_one(ncid, &a, true, req);
}

int api_iget(int ncid, int varid, const MPI_Offset *start, const MPI_Offset *count,
             const MPI_Offset *stride, const MPI_Offset *imap, void *buf,
             MPI_Offset bufcount, MPI_Datatype buftype, int *req, unsigned how)
{
    const struct api_access a = {varid, start,    count,   stride, imap,
                                 buf,   bufcount, buftype, how};
    return post_one(ncid, &a, false, req);
}

static int post_many(int ncid, const struct api_access *a, int num,
                     MPI_Offset *const *starts, MPI_Offset *const *counts, bool put,
                     int *id)
{
    struct api_dataset *d;
    struct driver_request **reqs;
    int64_t n;
    int err = find_dataset(ncid, put, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    err = api_requests_make(d, a, num, starts, counts, put, &reqs, &n);
    err = post(d, reqs, n, put, id, a->how, err);
    api_unlock(d);
    base_free(reqs);
    return err;
}

int api_iput_varn(int ncid, int varid, int num, MPI_Offset *const *starts,
                  MPI_Offset *const *counts, const void *buf, MPI_Offset bufcount,
                  MPI_Datatype buftype, int *req, unsigned how)
{
    const struct api_access a = {
        .varid = varid, .buf = buf, .bufcount = bufcount, .buftype = buftype, .how = how};
    return post_many(ncid, &a, num, starts, counts, true, req);
}

int api_iget_varn(int ncid, int varid, int num, MPI_Offset *const *starts,
                  MPI_Offset *const *counts, void *buf, MPI_Offset bufcount,
                  MPI_Datatype buftype, int *req, unsigned how)
{
    const struct api_access a = {
        .varid = varid, .buf = buf, .bufcount = bufcount, .buftype = buftype, .how = how};
    return post_many(ncid, &a, num, starts, counts, false, req);
}

/* ---- choosing what to wait for ---- */

/* The first requests of the chosen ids, by their places in the queue. */
struct choice {
    int64_t *places;
    int64_t n;
};

enum { NOTHING = -1, UNKNOWN = -2 }; /* in place of a place */

/* The ids of one of the three kinds of all. */
static int choose_all(const struct api_queue *q, int kind, struct choice *c)
{
    int64_t used = q == NULL ? 0 : api_queue_used(q);
    c->places = base_malloc((size_t)used * sizeof *c->places);
    if (c->places == NULL) return NC_ENOMEM;
    for (int64_t i = 0, last = -1; i < used; i++) {
        const struct driver_request *r = api_queue_at(q, i);
        if (r == NULL || (last >= 0 && api_queue_next(q, last) == i)) {
            last = r == NULL ? -1 : i;
            continue; /* not the first of its id */
        }
        last = i;
        bool put = r->flags & API_PUT;
        if (kind == NC_REQ_ALL || put == (kind == NC_PUT_REQ_ALL)) c->places[c->n++] = i;
    }
    return NC_NOERR;
}

static int choose(const struct api_queue *q, int num, const int *ids, struct choice *c)
{
    c->places = base_malloc((size_t)num * sizeof *c->places);
    if (c->places == NULL) return NC_ENOMEM;
    c->n = num;
    for (int i = 0; i < num; i++) {
        int64_t place = q == NULL || ids[i] < 0 ? -1 : api_queue_find(q, ids[i]);
        bool again = place >= 0 && (api_queue_at(q, place)->flags & API_CHOSEN);
        c->places[i] = ids[i] == NC_REQ_NULL ? NOTHING
                       : place < 0 || again  ? UNKNOWN
                                             : place;
        if (c->places[i] >= 0) api_queue_at(q, place)->flags |= API_CHOSEN;
    }
    return NC_NOERR;
}

/* ---- waiting ---- */

static int compare_places(const void *a, const void *b)
{
    const int64_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

static bool ascending(const int64_t *places, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (places[i] < places[i - 1]) return false;
    return true;
}

/* The chosen puts, or gets, in the order they were posted. */
static int collect(const struct api_queue *q, const struct choice *c, bool put,
                   struct driver_request ***reqs, int64_t *n)
{
    int64_t many = 0, *places = base_malloc((size_t)c->n * sizeof *places);
    *n = 0;
    *reqs = NULL;
    if (places == NULL) return NC_ENOMEM;
    int64_t chosen = 0;
    for (int64_t i = 0; i < c->n; i++) {
        if (c->places[i] < 0) continue;
        if (((api_queue_at(q, c->places[i])->flags & API_PUT) != 0) != put) continue;
        places[chosen++] = c->places[i];
        for (int64_t at = c->places[i]; at >= 0; at = api_queue_next(q, at))
            many++;
    }
    if (!ascending(places, chosen))
        qsort(places, (size_t)chosen, sizeof *places, compare_places);
    *reqs = base_malloc((size_t)many * sizeof(struct driver_request *));
    for (int64_t i = 0; i < chosen && *reqs != NULL; i++)
        for (int64_t at = places[i]; at >= 0; at = api_queue_next(q, at))
            (*reqs)[(*n)++] = api_queue_at(q, at);
    base_free(places);
    return *reqs == NULL ? NC_ENOMEM : NC_NOERR;
}

/* The chosen puts, or gets, will not be carried out. */
static void blame(const struct api_queue *q, const struct choice *c, bool put, int err)
{
    for (int64_t i = 0; i < c->n; i++) {
        struct driver_request *r =
            c->places[i] < 0 ? NULL : api_queue_at(q, c->places[i]);
        if (r != NULL && ((r->flags & API_PUT) != 0) == put) r->status = err;
    }
}

static int transfer(struct api_dataset *d, const struct choice *c, bool put,
                    enum driver_mode mode, int err)
{
    struct driver_request **reqs = NULL;
    int64_t n = 0;
    if (err == NC_NOERR && c->n > 0) {
        err = collect(d->queue, c, put, &reqs, &n);
        if (err != NC_NOERR) blame(d->queue, c, put, err);
    }
    if (mode == DRIVER_COLLECTIVE || n > 0)
        err = put ? driver_wait(d->top, reqs, n, mode, err)
                  : driver_get(d->top, reqs, n, mode, err);
    base_free(reqs);
    return err;
}

static bool has_gets(const struct api_queue *q, const struct choice *c)
{
    for (int64_t i = 0; i < c->n; i++)
        if (c->places[i] >= 0 && !(api_queue_at(q, c->places[i])->flags & API_PUT))
            return true;
    return false;
}

/* The chosen puts, then the gets, whatever became of the puts. Agreeing is the dearest
 * part of a collective call: with the puts all hear whether anybody has gets. */
static int carry_out(struct api_dataset *d, const struct choice *c, enum driver_mode mode,
                     int err)
{
    int put = err;
    d->ds.heard = 1;
    if (d->ds.writable) {
        d->ds.word = has_gets(d->queue, c);
        put = transfer(d, c, true, mode, err);
        d->ds.word = 0;
    }
    if (d->ds.heard != 0) err = transfer(d, c, false, mode, err);
    return put != NC_NOERR ? put : err;
}

/* Ends the chosen requests; fills in statuses and ids if there are any. */
static int end(struct api_dataset *d, const struct choice *c, int *ids, int *statuses,
               bool cancelled)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < c->n; i++) {
        int status = c->places[i] == UNKNOWN ? NC_EINVAL_REQUEST : NC_NOERR;
        if (c->places[i] >= 0) status = api_queue_end(d, c->places[i]);
        if (cancelled && c->places[i] >= 0 && status != NC_EFLUSHED) status = NC_NOERR;
        if (statuses != NULL) statuses[i] = status;
        if (ids != NULL) ids[i] = NC_REQ_NULL;
        if (first == NC_NOERR) first = status;
    }
    if (d->queue != NULL) api_queue_tidy(d->queue);
    return first;
}

/* What count and the arrays ask for. */
static int select_requests(struct api_dataset *d, int num, int *ids, struct choice *c)
{
    *c = (struct choice){0};
    if (num >= NC_PUT_REQ_ALL && num <= NC_REQ_ALL) return choose_all(d->queue, num, c);
    if (num < 0 || (num > 0 && ids == NULL)) return NC_EINVAL;
    return num == 0 ? NC_NOERR : choose(d->queue, num, ids, c);
}

static int wait_for(int ncid, int num, int *ids, int *statuses, enum driver_mode mode)
{
    struct api_dataset *d;
    struct choice c;
    int err = api_find_data(ncid, false, mode == DRIVER_COLLECTIVE ? API_COLL : 0, &d);
    if (err == NC_NOERR && mode == DRIVER_COLLECTIVE)
        err = api_same_call(d, "ncmpi_wait_all");
    if (err != NC_NOERR) return err;

    bool all = num < 0;
    api_lock(d);
    err = carry_out(d, &c, mode, select_requests(d, num, ids, &c));
    int first = end(d, &c, all ? NULL : ids, all ? NULL : statuses, false);
    api_unlock(d);
    base_free(c.places);
    return err != NC_NOERR ? err : first;
}

int ncmpi_wait(int ncid, int count, int array_of_requests[], int array_of_statuses[])
{
    return wait_for(ncid, count, array_of_requests, array_of_statuses,
                    DRIVER_INDEPENDENT);
}

int ncmpi_wait_all(int ncid, int count, int array_of_requests[], int array_of_statuses[])
{
    return wait_for(ncid, count, array_of_requests, array_of_statuses, DRIVER_COLLECTIVE);
}

/* What a driver has taken is its to give back. */
static int take_back(struct api_dataset *d, const struct choice *c)
{
    struct driver_request **reqs = NULL;
    int64_t n = 0;
    int err = c->n > 0 ? collect(d->queue, c, true, &reqs, &n) : NC_NOERR;
    if (err == NC_NOERR && n > 0) driver_cancel(d->top, reqs, n);
    base_free(reqs);
    return err;
}

int ncmpi_cancel(int ncid, int num, int *reqs, int *statuses)
{
    struct api_dataset *d;
    struct choice c;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    bool all = num < 0;
    api_lock(d);
    err = select_requests(d, num, reqs, &c);
    if (err == NC_NOERR) err = take_back(d, &c);
    if (err == NC_NOERR) err = end(d, &c, all ? NULL : reqs, all ? NULL : statuses, true);
    api_unlock(d);
    base_free(c.places);
    return err;
}
