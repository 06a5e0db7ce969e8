/* Nonblocking access. A post checks its arguments, makes requests and queues them. A
 * driver may take over the values of a put immediately, as the burst buffer does. A wait
 * marks the chosen requests in the queue, passes the puts among them to the driver, then
 * the gets, each in posting order, and ends them. A cancel ends requests without a
 * transfer. */
#include <stdlib.h>

#include "api_access.h"
#include "api_queue.h"
#include "api_safe.h"
#include "api_trace.h"
#include "api_errors.h"
#include "base_mem.h"
#include "pnetcdf.h"

/* ---- posting ---- */

/* Finds the dataset for a post, which is allowed in every mode. */
static int find_dataset(int ncid, bool put, int *id, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    if (id != NULL) *id = NC_REQ_NULL;
    return put && !(*d)->ds.writable ? api_refuse(*d, NC_EPERM) : NC_NOERR;
}

/* For a bput, reserves space in the attached buffer, if there is one. Adds the number of
 * bytes reserved to *taken, even on error. */
static int reserve_buffer(struct api_dataset *d, struct access_request **reqs, int64_t n,
                          int64_t *taken)
{
    if (!api_buffer_attached(d->queue)) return NC_NOERR;
    for (int64_t i = 0; i < n; i++) {
        int64_t bytes = api_buffered_bytes(d, reqs[i]);
        int err = api_buffer_charge(d->queue, bytes);
        if (err != NC_NOERR) return err;
        reqs[i]->flags |= API_CHARGED;
        *taken += bytes;
    }
    return NC_NOERR;
}

/* Offers the values to the driver. Copies those that the driver does not take over if the
 * caller may modify its buffer after the call (bput, or a temporary buffer). */
static int copy_put_values(struct api_dataset *d, struct access_request **reqs, int64_t n,
                           unsigned how)
{
    int err = NC_NOERR;
    driver_call(d->top, posting.post, reqs, n);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        bool own = reqs[i]->flags & API_QUANTIZED;
        if (own && reqs[i]->has_ticket) api_request_drop_inline(d, &reqs[i]);
        if ((how & API_BUFFERED) && reqs[i]->has_ticket)
            api_request_detach_buffer(reqs[i]);
        if (own || reqs[i]->has_ticket) continue;
        if (how & API_BUFFERED) err = api_request_copy(d, reqs[i]);
        if (how & API_TEMPORARY) err = api_request_copy_inline(d, &reqs[i]);
    }
    return err;
}

/* Checks the range of the values when they are posted, because the program can then still
 * identify the faulty call. Values in range are still written, and the wait does not
 * return NC_ERANGE a second time. */
static int check_put_range(const struct api_dataset *d, struct access_request **reqs,
                           int64_t n, int *range)
{
    int err = NC_NOERR;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        err = api_request_range(d, reqs[i]);
        if (err != NC_ERANGE) continue;
        reqs[i]->flags |= API_REPORTED;
        *range = api_range(d, reqs[i]->varid);
        err = NC_NOERR;
    }
    return err;
}

/* Queues the requests, or frees them after an error. */
static int queue_requests(struct api_dataset *d, struct access_request **reqs, int64_t n,
                          bool put, int *id, unsigned how, int err)
{
    int given = NC_REQ_NULL, range = NC_NOERR;
    int64_t taken = 0; /* number of bytes reserved in the attached buffer */
    struct api_queue *q = err == NC_NOERR ? api_queue_of(d) : NULL;
    if (err == NC_NOERR && q == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR && (how & API_BUFFERED)) err = reserve_buffer(d, reqs, n, &taken);
    for (int64_t i = 0; i < n; i++)
        if (put) reqs[i]->flags |= API_PUT;
    if (err == NC_NOERR && put) err = check_put_range(d, reqs, n, &range);
    if (put && d->quantizes) err = api_quantize(d, reqs, n, err);
    bool posted = err == NC_NOERR && put; /* the requests were offered to the driver */
    if (posted) err = copy_put_values(d, reqs, n, how);
    if (err == NC_NOERR && n > 0) err = api_queue_add(q, reqs, n, &given);
    for (int64_t i = 0; i < n && q != NULL && err == NC_NOERR; i++)
        if (reqs[i]->flags & API_INLINE) q->kept += api_value_bytes(d, reqs[i]);
    if (err == NC_NOERR && n > 0 && put && !(how & (API_BUFFERED | API_TEMPORARY)))
        api_queue_copy_values(d, n);
    if (err != NC_NOERR && posted) driver_call(d->top, posting.cancel, reqs, n);
    if (err != NC_NOERR && taken > 0) api_buffer_charge(q, -taken);
    for (int64_t i = 0; i < n && err != NC_NOERR; i++)
        api_request_end(reqs[i]);
    if (id != NULL) *id = given;
    return err != NC_NOERR ? err : range;
}

int api_access_later(int ncid, const struct api_access *a, bool put, int *id)
{
    struct api_dataset *d;
    struct access_request *req = NULL;
    int err = find_dataset(ncid, put, id, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter_access(d->ds.trace, true);
    err = api_request_make(d, a, put, &req);
    err = queue_requests(d, &req, req != NULL, put, id, a->how, err);
    api_end_access(d, span, api_nonblocking_verb(put, a->how), a->how, 0, a->varid, err);
    api_unlock(d);
    return err;
}

int api_access_many_later(int ncid, const struct api_access *a,
                          const struct api_slabs *slabs, bool put, int *id)
{
    struct api_dataset *d;
    struct access_request **reqs;
    int64_t n;
    int err = find_dataset(ncid, put, id, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    struct api_slabs later = *slabs;
    later.pending = true;
    err = api_requests_make(d, a, &later, put, &reqs, &n);
    err = queue_requests(d, reqs, n, put, id, a->how, err);
    api_end_access(d, span, api_nonblocking_verb(put, a->how), API_VARN, 0, a->varid,
                   err);
    api_unlock(d);
    base_free(reqs);
    return err;
}

/* ---- selecting requests ---- */

/* Span of the chosen puts or gets: the range [low, high) of queue indices that contains
 * them, and their number. */
struct span {
    int64_t low, high, n;
};

/* The requests that a wait or cancel selects, either by id or all of a kind. They are
 * marked with API_CHOSEN rather than listed, since there may be millions. */
struct choice {
    int kind; /* NC_REQ_ALL etc.; 0 if selected by id */
    const int *ids;
    int64_t n;
    struct span spans[2]; /* [0] is for gets, [1] for puts */
};

static bool is_put(const struct access_request *r)
{
    return r->flags & API_PUT;
}

/* Chooses the request at a queue index and the following requests with the same id. */
static void choose_at_index(const struct api_queue *q, int64_t place, struct choice *c)
{
    struct span *s = &c->spans[is_put(q->reqs[place])];
    for (int64_t at = place; at >= 0; at = api_queue_next(q, at)) {
        q->reqs[at]->flags |= API_CHOSEN;
        if (s->n == 0 || at < s->low) s->low = at;
        if (s->n == 0 || at >= s->high) s->high = at + 1;
        s->n++;
    }
}

static void choose_kind(const struct api_queue *q, struct choice *c)
{
    int64_t used = q == NULL ? 0 : q->used;
    for (int64_t i = 0; i < used; i++) {
        const struct access_request *r = q->reqs[i];
        if (r == NULL || (r->flags & API_CHOSEN)) continue;
        if (c->kind == NC_REQ_ALL || is_put(r) == (c->kind == NC_PUT_REQ_ALL))
            choose_at_index(q, i, c);
    }
}

/* Returns the queue index of the first request with an id; -1 if there is none. */
static int64_t find_request(const struct api_queue *q, int id)
{
    return q == NULL || id < 0 ? -1 : api_queue_find(q, id);
}

static void choose_requests(const struct api_queue *q, struct choice *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        int64_t place = find_request(q, c->ids[i]);
        if (place >= 0 && !(q->reqs[place]->flags & API_CHOSEN))
            choose_at_index(q, place, c);
    }
}

/* Marks the requests that a wait or cancel selects. */
static int select_requests(struct api_dataset *d, int num, const int *ids,
                           struct choice *c)
{
    *c = (struct choice){.ids = ids};
    if (num >= NC_PUT_REQ_ALL && num <= NC_REQ_ALL) {
        c->kind = num;
        choose_kind(d->queue, c);
        return NC_NOERR;
    }
    if (num < 0) return base_error_set(NC_EINVAL, "num is %d", num);
    if (num > 0 && ids == NULL) return api_null(NC_EINVAL, "req_ids");
    c->n = num;
    choose_requests(d->queue, c);
    return NC_NOERR;
}

/* ---- waiting ---- */

static int compare_places(const void *a, const void *b)
{
    const int64_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* Collects the chosen requests by scanning their whole span. Used if the span is
 * dense. */
static void collect_dense(const struct api_queue *q, const struct span *s, bool put,
                          struct access_request **reqs)
{
    for (int64_t i = s->low, n = 0; i < s->high; i++) {
        struct access_request *r = q->reqs[i];
        if (r != NULL && (r->flags & API_CHOSEN) && is_put(r) == put) reqs[n++] = r;
    }
}

/* Looks up the chosen requests by their ids and sorts them by queue index. Used if the
 * span is sparse. NC_ENOMEM. */
static int collect_sparse(const struct api_queue *q, const struct choice *c, bool put,
                          struct access_request **reqs)
{
    int64_t n = 0, *places = base_malloc((size_t)c->spans[put].n * sizeof *places);
    if (places == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t place = find_request(q, c->ids[i]);
        if (place < 0 || is_put(q->reqs[place]) != put) continue;
        if (!(q->reqs[place]->flags & API_CHOSEN)) continue; /* duplicate id */
        for (int64_t at = place; at >= 0; at = api_queue_next(q, at), n++) {
            q->reqs[at]->flags &= ~API_CHOSEN;
            if (n < c->spans[put].n) places[n] = at;
        }
    }
    int err = base_holds(n == c->spans[put].n);
    if (n > c->spans[put].n) n = c->spans[put].n;
    qsort(places, (size_t)n, sizeof *places, compare_places);
    for (int64_t i = 0; i < n; i++) {
        reqs[i] = q->reqs[places[i]];
        reqs[i]->flags |= API_CHOSEN;
    }
    base_free(places);
    return err;
}

/* Sets *reqs to the chosen puts or gets, in posting order: to part of the queue, if they
 * are adjacent there, or to a new array *made, which the caller frees. */
static int collect_chosen(const struct api_queue *q, const struct choice *c, bool put,
                          struct access_request *const **reqs,
                          struct access_request ***made)
{
    enum { SPARSE = 16 };
    const struct span *s = &c->spans[put];
    int err = NC_NOERR;
    if (s->high - s->low == s->n) {
        *reqs = q->reqs + s->low;
        return NC_NOERR;
    }
    *reqs = *made = base_malloc((size_t)s->n * sizeof(struct access_request *));
    if (*made == NULL) return NC_ENOMEM;
    if (c->kind != 0 || (s->high - s->low) / SPARSE <= s->n)
        collect_dense(q, s, put, *made);
    else
        err = collect_sparse(q, c, put, *made);
    return err;
}

/* Sets the status of the chosen puts or gets to err because they are not carried out. */
static void fail_chosen(const struct api_queue *q, const struct span *s, bool put,
                        int err)
{
    for (int64_t i = s->low; i < s->high; i++) {
        struct access_request *r = q->reqs[i];
        if (r != NULL && (r->flags & API_CHOSEN) && is_put(r) == put)
            access_set_status(r, err);
    }
}

/* Rechecks the record numbers of puts: if the record size has grown since the puts were
 * posted, offsets could overflow. */
static int check_record_counts(const struct api_dataset *d,
                               struct access_request *const *reqs, int64_t n)
{
    const struct cdf_header *h = &d->ds.header;
    const int64_t most = cdf_max_records(h);
    for (int64_t i = 0; i < n; i++)
        if (access_records(h, reqs[i]) > most)
            return base_error_set(
                NC_EINVALCOORDS,
                "variable '%s', record %lld: at most %lld records are possible",
                h->vars[reqs[i]->varid].name, (long long)access_records(h, reqs[i]) - 1,
                (long long)most);
    return NC_NOERR;
}

static int transfer_either(struct api_dataset *d, const struct choice *c, bool put,
                           unsigned how, int err)
{
    struct access_request *const *reqs = NULL, **made = NULL;
    int64_t n = err == NC_NOERR ? c->spans[put].n : 0;
    if (n > 0) {
        err = collect_chosen(d->queue, c, put, &reqs, &made);
        if (err == NC_NOERR && put) err = check_record_counts(d, reqs, n);
        if (err != NC_NOERR) fail_chosen(d->queue, &c->spans[put], put, err);
        if (err != NC_NOERR) n = 0;
    }
    if (how & API_COLL)
        err = put ? driver_call(d->top, posting.wait_all, reqs, n, err)
                  : driver_call(d->top, get_all, reqs, n, err);
    else if (n > 0)
        err = put ? driver_call(d->top, posting.wait, reqs, n)
                  : driver_call(d->top, get, reqs, n);
    base_free(made);
    return err == NC_ERANGE ? NC_NOERR : err; /* NC_ERANGE is in the requests' statuses */
}

/* Carries out the chosen puts and then the chosen gets, even if the puts failed.
 * Agreements dominate the cost of a collective call, so the agreement after the puts also
 * determines whether any process has gets. */
static int carry_out_either(struct api_dataset *d, const struct choice *c, unsigned how,
                            int err)
{
    int put = err;
    d->ds.agreed_slots[DATASET_SLOT_GETS] = 1;
    if (d->ds.writable) {
        d->ds.slots[DATASET_SLOT_GETS] = c->spans[false].n > 0;
        put = transfer_either(d, c, true, how, err);
        d->ds.slots[DATASET_SLOT_GETS] = 0;
    }
    if (d->ds.agreed_slots[DATASET_SLOT_GETS] != 0)
        err = transfer_either(d, c, false, how, err);
    return put != NC_NOERR ? put : err;
}

/* Returns the status that a wait or cancel reports. Cancelling a request succeeds unless
 * the request has already been written. */
static int result_of(int status, bool cancelled)
{
    return cancelled && status != NC_EFLUSHED ? NC_NOERR : status;
}

/* Ends all chosen requests. Returns the first error. */
static int end_kind(struct api_dataset *d, bool cancelled)
{
    int64_t used = d->queue == NULL ? 0 : d->queue->used;
    int first = NC_NOERR;
    for (int64_t i = 0; i < used; i++) {
        const struct access_request *r = d->queue->reqs[i];
        int status = r != NULL && (r->flags & API_CHOSEN) ? api_queue_end(d, i, cancelled)
                                                          : NC_NOERR;
        if (first == NC_NOERR) first = result_of(status, cancelled);
    }
    return first;
}

static int no_request(int id)
{
    return base_error_set(NC_EINVAL_REQUEST, "request id %d", id);
}

/* Ends the chosen requests. Stores their statuses if the caller passed an array, and sets
 * their ids to NC_REQ_NULL; unknown ids are not changed. Returns the first error. */
static int end_chosen(struct api_dataset *d, const struct choice *c, int *ids,
                      int *statuses, bool cancelled)
{
    int first = c->kind != 0 ? end_kind(d, cancelled) : NC_NOERR;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t place = find_request(d->queue, ids[i]);
        int status = NC_NOERR;
        if (place >= 0) {
            status = result_of(api_queue_end(d, place, cancelled), cancelled);
            ids[i] = NC_REQ_NULL;
        } else if (ids[i] != NC_REQ_NULL) {
            status = no_request(ids[i]);
        }
        if (statuses != NULL) statuses[i] = status;
        if (first == NC_NOERR) first = status;
    }
    if (d->queue != NULL) api_queue_trim(d->queue);
    return first;
}

static int wait_either(int ncid, int num, int *ids, int *statuses, unsigned how)
{
    struct api_dataset *d;
    struct choice c;
    int err = api_find_data(ncid, false, how, &d);
    if (err == NC_NOERR && (how & API_COLL)) err = api_same_call_all(d, "ncmpi_wait_all");
    if (err != NC_NOERR) return err;

    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    err = carry_out_either(d, &c, how, select_requests(d, num, ids, &c));
    int first = end_chosen(d, &c, ids, statuses, false);
    if (err == NC_NOERR) err = first;
    trace_leave(d->ds.trace, span, how & API_COLL ? "ncmpi_wait_all" : "ncmpi_wait", -1,
                err);
    api_unlock(d);
    return err;
}

int ncmpi_wait(int ncid, int count, int array_of_requests[], int array_of_statuses[])
{
    return wait_either(ncid, count, array_of_requests, array_of_statuses, 0);
}

int ncmpi_wait_all(int ncid, int count, int array_of_requests[], int array_of_statuses[])
{
    return wait_either(ncid, count, array_of_requests, array_of_statuses, API_COLL);
}

/* Clears all marks after an error, so that the requests remain pending. */
static void clear_chosen(const struct api_queue *q)
{
    for (int64_t i = 0; q != NULL && i < q->used; i++)
        if (q->reqs[i] != NULL) q->reqs[i]->flags &= ~API_CHOSEN;
}

/* Cancels the chosen puts in the driver, which may have copied their values. */
static int withdraw_chosen_puts(struct api_dataset *d, const struct choice *c)
{
    struct access_request *const *reqs = NULL, **made = NULL;
    int64_t n = c->spans[true].n;
    int err = n > 0 ? collect_chosen(d->queue, c, true, &reqs, &made) : NC_NOERR;
    if (err == NC_NOERR && n > 0) driver_call(d->top, posting.cancel, reqs, n);
    base_free(made);
    return err;
}

int ncmpi_cancel(int ncid, int num, int *reqs, int *statuses)
{
    struct api_dataset *d;
    struct choice c;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    api_lock(d);
    struct trace_span span = trace_enter(d->ds.trace);
    err = select_requests(d, num, reqs, &c);
    if (err == NC_NOERR) err = withdraw_chosen_puts(d, &c);
    if (err == NC_NOERR)
        err = end_chosen(d, &c, reqs, statuses, true);
    else
        clear_chosen(d->queue);
    trace_leave(d->ds.trace, span, "ncmpi_cancel", -1, err);
    api_unlock(d);
    return err;
}
