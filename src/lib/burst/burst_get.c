/* Gets: the layer below reads the file, then this process's logged values are overlaid.
 * Values that another process has logged must be in the file first. A collective get
 * therefore drains the variables that it reads if burst_conflicts.c finds such values; it
 * searches only variables that some process has written. An independent get considers
 * only this process's log.
 *
 * To overlay a write, its runs and the request's are traversed together in ascending
 * order; where they overlap, values are copied to the user's buffer. The last write in
 * the list takes precedence. */
#include "access_walk.h"
#include "base_error.h"
#include "base_mpi.h"
#include "burst.h"

/* ---- overlaying logged values ---- */

enum { STEP = 2048 }; /* elements converted at a time */

/* The runs of a write or request. */
struct side {
    struct access_runs runs;
    struct region_strip strip;
    int64_t offset, length, pos; /* the current run; total length of the runs before it */
    bool ended;
};

static void next_overlay_run(struct side *x)
{
    x->pos += x->length;
    if (x->strip.count == 0 &&
        !access_runs_next(&x->runs, INT64_MAX, INT64_MAX, &x->strip)) {
        x->ended = true;
        return;
    }
    x->offset = x->strip.offset;
    x->length = x->strip.length;
    x->strip.offset += x->strip.stride;
    x->strip.count--;
}

/* Copies elements [from, from + n) of a write to the request's elements at `to`. */
static int copy_write(const struct burst *b, const struct burst_write *w, int64_t from,
                      int64_t n, struct access_values *v, int64_t to)
{
    unsigned char native[STEP * 8], external[STEP * 8];
    const int type = b->base.ds->header.vars[w->varid].type;
    int result = NC_NOERR;
    access_values_seek(v, to);
    for (int64_t at = 0; at < n; at += STEP) {
        int64_t m = n - at < STEP ? n - at : STEP;
        if (w->flags & BURST_FILL) {
            conv_fill(external, w->fill, v->xsize, (size_t)m);
        } else {
            int err = burst_read_values(b, w, type, from + at, m, native);
            if (err != NC_NOERR) return err;
            conv_put(external, type, native, w->type, (size_t)m, native);
        }
        int err = access_values_get(v, external, m);
        if (err != NC_NOERR) result = err;
    }
    return result;
}

/* Copies the bytes that both current runs have in common. */
static int copy_common(const struct burst *b, const struct burst_write *w,
                       const struct side *theirs, const struct side *ours,
                       struct access_values *v)
{
    int64_t low = theirs->offset > ours->offset ? theirs->offset : ours->offset;
    int64_t end = theirs->offset + theirs->length, our_end = ours->offset + ours->length;
    int64_t high = end < our_end ? end : our_end;
    if (low >= high) return NC_NOERR;
    return copy_write(b, w, (theirs->pos + low - theirs->offset) / v->xsize,
                      (high - low) / v->xsize, v,
                      (ours->pos + low - ours->offset) / v->xsize);
}

/* Copies the bytes that two ascending sides have in common. */
static int merge_sides(const struct burst *b, const struct burst_write *w,
                       struct side *theirs, struct side *ours, struct access_values *v)
{
    int result = NC_NOERR;
    while (!theirs->ended && !ours->ended) {
        int64_t end = theirs->offset + theirs->length;
        int64_t our_end = ours->offset + ours->length;
        result = base_error_merge(result, copy_common(b, w, theirs, ours, v));
        if (end <= our_end) next_overlay_run(theirs);
        if (our_end <= end) next_overlay_run(ours);
    }
    return result;
}

/* Copies the bytes that two sides in any order have in common. Compares all pairs. */
static int merge_unordered(const struct burst *b, const struct burst_write *w,
                           struct side *theirs, struct side *ours,
                           struct access_values *v)
{
    int result = NC_NOERR;
    for (; !theirs->ended; next_overlay_run(theirs)) {
        access_runs_skip_to(&ours->runs, 0);
        *ours = (struct side){.runs = ours->runs};
        for (next_overlay_run(ours); !ours->ended; next_overlay_run(ours))
            result = base_error_merge(result, copy_common(b, w, theirs, ours, v));
    }
    return result;
}

static int overlay_write(struct burst *b, const struct burst_write *w,
                         struct access_request *r)
{
    const struct cdf_header *h = &b->base.ds->header;
    struct side theirs = {.pos = 0}, ours = {.pos = 0};
    struct access_values v = {.req = NULL};
    int err = access_runs_of(&theirs.runs, burst_region(h, w));
    if (err == NC_NOERR) err = access_runs_begin(&ours.runs, h, r);
    if (err == NC_NOERR) err = access_values_begin(&v, h, r, false);
    if (err == NC_NOERR) {
        next_overlay_run(&theirs);
        next_overlay_run(&ours);
        bool ascend = region_is_ascending(theirs.runs.own) &&
                      (!r->raw || region_is_ascending(access_raw_region(r)));
        err = ascend ? merge_sides(b, w, &theirs, &ours, &v)
                     : merge_unordered(b, w, &theirs, &ours, &v);
    }
    access_runs_end(&theirs.runs);
    access_runs_end(&ours.runs);
    access_values_end(&v);
    return err;
}

/* Replaces values that a request has read from the file with newer logged ones. Older
 * values, in the file or in the log, must not cause a range error if newer ones replace
 * them. So after a range error, the log is drained and the request is read again. */
static int overlay_request(struct burst *b, struct access_request *const *req)
{
    struct access_request *r = *req;
    struct access_extent s = access_extent_init();
    int64_t n;
    (void)access_extent(&b->base.ds->header, r, &s);
    int err = burst_list_find(&b->list, s.low, s.high, &n);
    if (n == 0) return err;
    for (int64_t i = 0; i < n && (err == NC_NOERR || err == NC_ERANGE); i++) {
        const struct burst_write *w = b->list.writes[b->list.found[i]];
        if (w->varid == r->varid) err = base_error_merge(err, overlay_write(b, w, r));
    }
    bool range = err == NC_ERANGE || (err == NC_NOERR && r->status == NC_ERANGE);
    if (!range || burst_together(b)) return err;
    r->status = NC_NOERR;
    err = burst_drain_alone(b, s.low, s.high);
    return err == NC_NOERR ? driver_call(b->base.lower, get, req, 1) : err;
}

/* Overlays logged values on the requests of this process, even if other processes'
 * requests have failed. Returns the worst status. */
static int overlay_requests(struct burst *b, struct access_request *const *reqs,
                            int64_t n)
{
    int worst = NC_NOERR;
    for (int64_t i = 0; i < n; i++) {
        struct access_request *r = reqs[i];
        if (b->list.n > 0 && (r->status == NC_NOERR || r->status == NC_ERANGE))
            access_set_status(r, overlay_request(b, reqs + i));
        worst = base_error_merge(worst, r->status);
    }
    return worst;
}

/* ---- gets ---- */

/* Returns whether this process reads values that it has logged itself and that must reach
 * the file first. With a coherent log they always must. With romio_no_indep_rw they must
 * if any request's memory type differs from its variable's: older values may be out of
 * range, but only the newest value may cause an error. overlay_request usually handles
 * this by draining, but with this hint no process may drain on its own later. */
static bool must_drain_own(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    const struct cdf_header *h = &b->base.ds->header;
    bool any = b->coherent, logged = false;
    for (int64_t i = 0; i < n && b->base.ds->hints.no_indep_rw && !any; i++)
        any = conv_type_of(h->vars[reqs[i]->varid].type) != (int)reqs[i]->type;
    for (int64_t i = 0; i < n && any && !logged; i++) {
        struct access_extent s = access_extent_init();
        int64_t found;
        (void)access_extent(h, reqs[i], &s);
        logged =
            burst_list_find(&b->list, s.low, s.high, &found) != NC_NOERR || found > 0;
    }
    return logged;
}

/* Drains what other processes have logged to the bytes that these requests read. */
static int drain_others_all(struct burst *b, struct access_request *const *reqs,
                            int64_t n)
{
    struct dataset *ds = b->base.ds;
    uint64_t vars[2] = {b->list.vars, 0}; /* variables logged; variables read */
    for (int64_t i = 0; i < n; i++)
        vars[1] |= burst_bit(reqs[i]->varid);
    int mpi = MPI_Allreduce(MPI_IN_PLACE, vars, 2, MPI_UINT64_T, MPI_BOR, ds->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
    /* In a netCDF-4 file, a put to one variable extends the records of all variables. */
    if (ds->netcdf4 && vars[0] != 0 && vars[1] != 0)
        return burst_drain_all(b, BURST_ALL, false);
    uint64_t both = vars[0] & vars[1];
    if (both == 0) return NC_NOERR;
    bool drain = false;
    int err = burst_conflicts_all(b, both, reqs, n, must_drain_own(b, reqs, n), &drain);
    return err == NC_NOERR && drain ? burst_drain_all(b, both, false) : err;
}

int burst_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error)
{
    struct burst *b = (struct burst *)self;
    bool extends = self->ds->hints.no_indep_rw; /* the get extends the file */
    if (!self->ds->writable) return driver_call(self->lower, get_all, reqs, n, error);
    int err = drain_others_all(b, reqs, n);
    if (extends) burst_begin_collective_change(b);
    int got = driver_call(self->lower, get_all, reqs, n, error);
    if (extends) got = burst_end_change_all(b, got);
    int laid = overlay_requests(b, reqs, n);
    if (got == NC_NOERR || got == NC_ERANGE) got = laid == NC_NOERR ? error : laid;
    /* A thread may drain the next put immediately, so no process may return while another
     * one is still reading values that the put replaces. */
    int ended = dataset_agree_all(self->ds, NC_NOERR, NULL, NULL, 0);
    if (got == NC_NOERR) got = ended;
    return err != NC_NOERR ? err : got;
}

int burst_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    int err = NC_NOERR;
    if (!self->ds->writable) return driver_call(self->lower, get, reqs, n);
    if (b->coherent) {
        struct access_extent all = access_extent_init();
        for (int64_t i = 0; i < n; i++) {
            struct access_extent s = access_extent_init();
            (void)access_extent(&self->ds->header, reqs[i], &s);
            access_extent_add(&all, &s);
        }
        /* a put to any variable of a netCDF-4 file may extend the records of all */
        err = self->ds->netcdf4 ? burst_drain_alone(b, 0, INT64_MAX)
                                : burst_drain_alone(b, all.low, all.high);
    }
    int got = driver_call(self->lower, get, reqs, n);
    int laid = overlay_requests(b, reqs, n);
    if (got == NC_NOERR || got == NC_ERANGE) got = laid;
    return err != NC_NOERR ? err : got;
}
