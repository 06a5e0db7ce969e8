/* Gets: from the file, with what this process has logged laid over it. What another
 * process has logged of the place must be in the file first: see burst_others.c, which is
 * only asked if anyone reads a variable that was written. */
#include "access_walk.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"

void burst_request_bounds(const struct burst *b, const struct access_request *r,
                          int64_t *low, int64_t *high)
{
    struct access_survey s = access_survey_none();
    (void)access_survey(&b->base.ds->header, r, &s);
    *low = s.low;
    *high = s.high;
}

/* The bytes that all requests touch lie in [*low, *high). */
static void bounds_of_requests(const struct burst *b, struct access_request *const *reqs,
                               int64_t n, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from, to;
        burst_request_bounds(b, reqs[i], &from, &to);
        if (from < *low) *low = from;
        if (to > *high) *high = to;
    }
}

/* Has this process logged anything in [low, high)? */
static bool logged_in(struct burst *b, int64_t low, int64_t high)
{
    int64_t n;
    return burst_touching(b, low, high, 1, &n) != NC_NOERR || n > 0;
}

static uint64_t vars_of(struct access_request *const *reqs, int64_t n)
{
    uint64_t vars = 0;
    for (int64_t i = 0; i < n; i++)
        vars |= burst_bit(reqs[i]->varid);
    return vars;
}

/* Must what this process itself has logged be in the file before it reads it? Where no
 * process may read alone, this is the last time to see to it that of values that may not
 * fit only those are looked at that were put last. */
static bool own_is_in_the_way(const struct burst *b, struct access_request *const *reqs,
                              int64_t n)
{
    const struct cdf_header *h = &b->base.ds->header;
    bool any = b->coherent;
    for (int64_t i = 0; i < n && b->base.ds->hints.no_indep_rw && !any; i++)
        any = conv_type_of(h->vars[reqs[i]->varid].type) != (int)reqs[i]->type;
    return any;
}

/* Sees to it that the file has what others logged of these requests. */
static int settle_others_all(struct burst *b, struct access_request *const *reqs,
                             int64_t n)
{
    struct dataset *ds = b->base.ds;
    uint64_t both[2] = {b->vars, vars_of(reqs, n)};
    bool drain = false;
    int mpi = MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_BOR, ds->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
    /* Records of a netCDF-4 file are there when any variable has them. */
    if (ds->netcdf4 && both[0] != 0 && both[1] != 0) return burst_drain_all(b, BURST_ALL);
    if ((both[0] & both[1]) == 0) return NC_NOERR;

    int err = burst_others_all(b, both[0] & both[1], reqs, n,
                               own_is_in_the_way(b, reqs, n), &drain);
    return err == NC_NOERR && drain ? burst_drain_all(b, both[0] & both[1]) : err;
}

/* Lays what was logged over a request that lies in [low, high). Old values, in the file
 * or in the log under newer ones, are no reason for a range error: if there is one, the
 * request is read again when the file has what was put last. */
static int lay_over_one(struct burst *b, struct access_request *const *r, int64_t low,
                        int64_t high)
{
    int err = burst_overlay(b, *r);
    bool range = err == NC_ERANGE || (err == NC_NOERR && (*r)->status == NC_ERANGE);
    if (!range || burst_together(b)) return err;
    (*r)->status = NC_NOERR;
    err = burst_drain_alone(b, low, high);
    if (err != NC_NOERR) return err;
    return driver_call(b->base.lower, get, r, 1);
}

static int lay_over(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < n && b->nwrites > 0; i++) {
        struct access_request *r = reqs[i];
        int64_t low, high;
        bool read = r->status == NC_NOERR || r->status == NC_ERANGE;
        burst_request_bounds(b, r, &low, &high);
        if (!read || !logged_in(b, low, high)) continue;
        int err = lay_over_one(b, reqs + i, low, high);
        access_blame(r, err);
        first = base_error_worse(first, err);
    }
    return first;
}

/* Whatever became of the others' requests, these get what was logged of them. */
static int finish_requests(struct burst *b, struct access_request *const *reqs, int64_t n)
{
    int err = lay_over(b, reqs, n);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        err = reqs[i]->status;
    return err;
}

/* With no independent access a get makes the file as long as its view. */
static int get_below_all(struct burst *b, struct access_request *const *reqs, int64_t n,
                         int error)
{
    struct driver *lower = b->base.lower;
    if (!b->base.ds->hints.no_indep_rw)
        return driver_call(lower, get_all, reqs, n, error);
    burst_change_below(b);
    return burst_changed_below_all(b, driver_call(lower, get_all, reqs, n, error));
}

int burst_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error)
{
    struct burst *b = (struct burst *)self;
    if (!self->ds->writable) return driver_call(self->lower, get_all, reqs, n, error);
    int err = settle_others_all(b, reqs, n);
    int got = get_below_all(b, reqs, n, error);
    int laid = finish_requests(b, reqs, n);
    if (got == NC_NOERR || got == NC_ERANGE) got = laid == NC_NOERR ? error : laid;
    /* What the next put logs may be brought to the file at once, by a thread of its
     * process: not while another still reads what was there. */
    int left = dataset_agree_all(self->ds, NC_NOERR, NULL, NULL, 0);
    if (got == NC_NOERR) got = left;
    return err != NC_NOERR ? err : got;
}

int burst_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct burst *b = (struct burst *)self;
    int64_t low, high;
    int err = NC_NOERR;
    if (!self->ds->writable) return driver_call(self->lower, get, reqs, n);
    if (b->coherent) {
        bounds_of_requests(b, reqs, n, &low, &high);
        if (self->ds->netcdf4) low = 0, high = INT64_MAX; /* records of any variable */
        err = burst_drain_alone(b, low, high);
    }
    int got = driver_call(self->lower, get, reqs, n);
    int laid = finish_requests(b, reqs, n);
    if (got == NC_NOERR || got == NC_ERANGE) got = laid;
    return err != NC_NOERR ? err : got;
}
