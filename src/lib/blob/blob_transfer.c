/* Puts and gets: what is in blobs goes there and nowhere else, each process by itself;
 * the rest goes to the driver below, in whose agreement the number of records is agreed
 * on and whether anybody has a variable to settle. */
#include "base_error.h"
#include "base_mem.h"
#include "blob.h"
#include "blob_settle.h"

/* A call's requests by where they go. */
struct split {
    struct access_request **list; /* settled ones, the master's, those to be settled */
    int64_t settled, master, open;
};

static bool is_open_here(const struct blob *b, const struct access_request *r)
{
    return b->state[r->varid] == BLOB_OPEN;
}

/* Of a put: may it settle a variable? A fill tells nothing of how a program deals its
 * values out. */
static bool settles(const struct blob *b, const struct access_request *r, bool together)
{
    return together && b->settles && is_open_here(b, r) && !access_is_fill(r) &&
           access_nelems(r, b->base.ds->header.vars[r->varid].ndims) > 0;
}

static int split_requests(const struct blob *b, struct access_request *const *reqs,
                          int64_t n, bool together, struct split *s)
{
    *s = (struct split){.list = NULL};
    if (n == 0) return NC_NOERR;
    s->list = base_malloc((size_t)n * sizeof(struct access_request *));
    if (s->list == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < n; i++)
        if (b->state[reqs[i]->varid] > BLOB_OPEN) s->list[s->settled++] = reqs[i];
    for (int64_t i = 0; i < n; i++)
        if (b->state[reqs[i]->varid] <= BLOB_OPEN && !settles(b, reqs[i], together))
            s->list[s->settled + s->master++] = reqs[i];
    for (int64_t i = 0; i < n; i++)
        if (settles(b, reqs[i], together))
            s->list[s->settled + s->master + s->open++] = reqs[i];
    return NC_NOERR;
}

/* None of them is carried out, if there is an error. */
static int refuse_requests(struct access_request *const *reqs, int64_t n, int err)
{
    for (int64_t i = 0; err != NC_NOERR && i < n; i++)
        access_blame(reqs[i], err);
    return err;
}

/* The records of what was put are there. */
static void hold(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    struct dataset *ds = b->base.ds;
    for (int64_t i = 0; i < n; i++)
        if (reqs[i]->status == NC_NOERR || reqs[i]->status == NC_ERANGE)
            dataset_hold_records(ds, access_records(&ds->header, reqs[i]));
}

static void touch(struct blob *b, struct access_request *const *reqs, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        b->touched[reqs[i]->varid] = 1;
}

/* ---- what is counted ---- */

static int64_t bytes_of_requests(const struct blob *b, struct access_request *const *reqs,
                                 int64_t n)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct cdf_var *v = &b->base.ds->header.vars[reqs[i]->varid];
        if (reqs[i]->status == NC_NOERR || reqs[i]->status == NC_ERANGE)
            bytes += access_nelems(reqs[i], v->ndims) * cdf_type_size(v->type);
    }
    return bytes;
}

/* A move to or from subfiles has ended. Their own drivers have no trace. */
static void note_move(struct blob *b, const struct split *s, bool put,
                      struct trace_span span)
{
    struct dataset *ds = b->base.ds;
    int64_t bytes = bytes_of_requests(b, s->list, s->settled);
    *(put ? &ds->stats.blob_put_bytes : &ds->stats.blob_get_bytes) += bytes;
    if (s->settled > 0 || b->own != NULL)
        trace_end_at(ds->trace, TRACE_SUBFILES, span, -1, bytes);
}

static void note_master(struct blob *b, const struct split *s, bool put)
{
    struct trace_stats *stats = &b->base.ds->stats;
    *(put ? &stats->blob_master_put_bytes : &stats->blob_master_get_bytes) +=
        bytes_of_requests(b, s->list + s->settled, s->master);
    stats->blob_subfiles = b->facts.nsubfiles;
    stats->blob_decompositions = b->ndecomps;
}

/* ---- puts and gets ---- */

/* What failed in subfiles all processes learn of in the dataset's next agreement; that of
 * the group's subfile would tell its processes once more, of a call that went well. */
static void tell_later(struct blob *b, int own)
{
    if (!dataset_is_own(own)) dataset_owe(b->base.ds, own);
    if (b->own == NULL) return;
    dataset_owe(b->base.ds, b->own->ds.failed);
    b->own->ds.failed = NC_NOERR;
}

/* Settled ones and the master's. What fails in a subfile the others learn of in the
 * agreement below, as of any failure of the file. */
static int put_known_all(struct blob *b, const struct split *s, int error)
{
    struct dataset *ds = b->base.ds;
    int64_t agreed = ds->header.numrecs;
    struct trace_span span = trace_begin(ds->trace);
    int own = blob_move_all(b, s->list, s->settled, true);
    note_move(b, s, true, span);
    hold(b, s->list, s->settled);
    ds->header.numrecs = agreed; /* until all know */
    tell_later(b, own);
    touch(b, s->list + s->settled, s->master);
    int err = driver_call(b->base.lower, put_all, s->list + s->settled, s->master, error);
    note_master(b, s, true);
    return base_error_worse(own, err);
}

/* What has been put may not be found any more: nothing is added to it. */
static int tell_torn(const struct blob *b)
{
    return base_error_set(NC_EWRITE, "%s: its first page could not be written",
                          b->base.ds->path);
}

/* Divides what is to be put, or, of all of it, says why not. */
static int ready_to_put(struct blob *b, struct access_request *const *reqs, int64_t n,
                        bool together, struct split *s)
{
    *s = (struct split){.list = NULL};
    return refuse_requests(
        reqs, n, b->torn ? tell_torn(b) : split_requests(b, reqs, n, together, s));
}

/* What a process tells the others of in a put's agreement. */
enum { OPEN = 1, FULL }; /* a variable to settle; checksums to write, and perhaps that */

int blob_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error)
{
    struct blob *b = (struct blob *)self;
    struct dataset *ds = self->ds;
    struct split s, again;
    if (b->torn) (void)blob_commit_all(b, NULL, 0); /* the cause may be gone */
    int lacking = ready_to_put(b, reqs, n, true, &s);
    if (error == NC_NOERR) error = lacking;
    ds->word[DATASET_WORD_BLOB] = blob_sums_full(b) ? FULL : s.open > 0 ? OPEN : 0;
    ds->heard[DATASET_WORD_BLOB] = 0;
    int err = put_known_all(b, &s, error);
    int64_t heard = ds->heard[DATASET_WORD_BLOB];
    ds->word[DATASET_WORD_BLOB] = 0;
    if (heard >= FULL) err = base_error_worse(err, blob_sums_flush_all(b));
    if (b->settles && heard != 0) {
        struct access_request **open = s.list + s.settled + s.master;
        blob_settle_all(b, open, s.open);
        lacking = ready_to_put(b, open, s.open, false, &again);
        err = base_error_worse(err, put_known_all(b, &again, lacking));
        base_free(again.list);
    }
    base_free(s.list);
    return err;
}

int blob_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error)
{
    struct blob *b = (struct blob *)self;
    struct split s;
    int lacking = refuse_requests(reqs, n, split_requests(b, reqs, n, false, &s));
    if (error == NC_NOERR) error = lacking;
    struct trace_span span = trace_begin(self->ds->trace);
    int own = blob_move_all(b, s.list, s.settled, false);
    note_move(b, &s, false, span);
    tell_later(b, own);
    int err = driver_call(b->base.lower, get_all, s.list + s.settled, s.master, error);
    note_master(b, &s, false);
    base_free(s.list);
    return base_error_worse(own, err);
}

int blob_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct blob *b = (struct blob *)self;
    struct split s;
    int err = ready_to_put(b, reqs, n, false, &s);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_begin(self->ds->trace);
    int own = blob_move(b, s.list, s.settled, true);
    note_move(b, &s, true, span);
    hold(b, s.list, s.settled);
    touch(b, s.list + s.settled, s.master);
    if (s.master > 0) err = driver_call(b->base.lower, put, s.list + s.settled, s.master);
    note_master(b, &s, true);
    base_free(s.list);
    return base_error_worse(own, err);
}

int blob_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct blob *b = (struct blob *)self;
    struct split s;
    int err = refuse_requests(reqs, n, split_requests(b, reqs, n, false, &s));
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_begin(self->ds->trace);
    int own = blob_move(b, s.list, s.settled, false);
    note_move(b, &s, false, span);
    if (s.master > 0) err = driver_call(b->base.lower, get, s.list + s.settled, s.master);
    note_master(b, &s, false);
    base_free(s.list);
    return base_error_worse(own, err);
}
