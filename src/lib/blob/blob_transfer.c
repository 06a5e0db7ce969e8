/* Puts and gets. Requests for decomposed variables go only to blobs, and each process
 * performs its own. The others go to the lower driver, whose agreement also covers the
 * number of records and whether any process has a variable to decompose. */
#include "base_error.h"
#include "base_mem.h"
#include "blob.h"
#include "blob_frames.h"
#include "blob_decompose.h"

/* The requests of a call, ordered by destination. */
struct split {
    struct access_request **list; /* first those for decomposed variables, then for the
                                   * master, then for open variables */
    int64_t settled, master, open;
};

/* Returns whether a put may give its variable a decomposition. Not for a fill, which does
 * not show how the program distributes its values. */
static bool settles(const struct blob *b, const struct access_request *r, bool together)
{
    return together && b->settles && b->state[r->varid] == BLOB_OPEN &&
           !access_is_fill(r) &&
           access_nelems(r, b->base.ds->header.vars[r->varid].ndims) > 0;
}

/* Splits the requests by destination, or fails all of them. Refuses puts while the first
 * page may be torn, because their values might not be found later. */
static int split_requests(const struct blob *b, struct access_request *const *reqs,
                          int64_t n, bool put, bool together, struct split *s)
{
    enum { SETTLED, MASTER, OPENED, KINDS };
    int64_t ends[KINDS] = {0}, at = 0;
    int err = NC_NOERR;
    *s = (struct split){.list = NULL};
    if (put && b->torn)
        err = base_error_set(NC_EWRITE, "%s: its first page could not be written",
                             b->base.ds->path);
    if (err == NC_NOERR && n > 0) {
        s->list = base_malloc((size_t)n * sizeof(struct access_request *));
        if (s->list == NULL) err = NC_ENOMEM;
    }
    for (int kind = SETTLED; kind < KINDS && s->list != NULL; ends[kind++] = at)
        for (int64_t i = 0; i < n; i++) {
            bool known = b->state[reqs[i]->varid] > BLOB_OPEN;
            int is = known ? SETTLED : settles(b, reqs[i], together) ? OPENED : MASTER;
            if (is == kind) s->list[at++] = reqs[i];
        }
    if (s->list != NULL) err = base_holds(at == n);
    s->settled = ends[SETTLED];
    s->master = ends[MASTER] - ends[SETTLED];
    s->open = ends[OPENED] - ends[MASTER];
    if (err != NC_NOERR) {
        base_free(s->list);
        *s = (struct split){.list = NULL};
    }
    for (int64_t i = 0; err != NC_NOERR && i < n; i++)
        access_set_status(reqs[i], err);
    return err;
}

/* ---- statistics ---- */

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

/* Adds a transfer to or from subfiles to the statistics and the trace, because the
 * subfiles' drivers have no trace. */
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

/* Counts the records of values that were put to subfiles, and marks the variables with
 * values that went to the master. */
static void note_put(struct blob *b, const struct split *s)
{
    struct dataset *ds = b->base.ds;
    for (int64_t i = 0; i < s->settled; i++)
        if (s->list[i]->status == NC_NOERR || s->list[i]->status == NC_ERANGE)
            dataset_raise_records(ds, access_records(&ds->header, s->list[i]));
    for (int64_t i = s->settled; i < s->settled + s->master; i++)
        b->touched[s->list[i]->varid] = 1;
}

/* ---- puts and gets ---- */

/* Moves the requests of all processes. The agreement in the lower driver passes errors in
 * subfiles on to the other processes. Clears the error of the group's subfile, because
 * otherwise a later call that succeeds would report it again. */
static int move_split_all(struct blob *b, const struct split *s, bool put, int error)
{
    struct dataset *ds = b->base.ds;
    int64_t agreed = ds->header.numrecs;
    struct trace_span span = trace_begin(ds->trace);
    int own = put && blob_frames_made(b) ? blob_frames_put_all(b, s->list, s->settled)
                                         : blob_move_all(b, s->list, s->settled, put);
    note_move(b, s, put, span);
    if (put) note_put(b, s);
    if (put) ds->header.numrecs = agreed; /* not agreed on yet */
    if (!dataset_is_local_error(own)) dataset_defer_error(ds, own);
    if (b->own != NULL) {
        dataset_defer_error(ds, b->own->ds.failed);
        b->own->ds.failed = NC_NOERR;
    }
    struct access_request **master = s->list + s->settled;
    int err = put ? driver_call(b->base.lower, put_all, master, s->master, error)
                  : driver_call(b->base.lower, get_all, master, s->master, error);
    note_master(b, s, put);
    return base_error_merge(own, err);
}

/* Values that a process contributes to the agreement of a put. */
enum { OPEN = 1, FULL }; /* it has a variable to decompose; it must write checksums */

int blob_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                 int error)
{
    struct blob *b = (struct blob *)self;
    struct dataset *ds = self->ds;
    struct split s, again;
    if (b->torn) (void)blob_commit_all(b, NULL, 0); /* retry; the cause may be gone */
    int lacking = split_requests(b, reqs, n, true, true, &s);
    if (error == NC_NOERR) error = lacking;
    ds->slots[DATASET_SLOT_BLOB] = blob_sums_full(b) ? FULL : s.open > 0 ? OPEN : 0;
    ds->agreed_slots[DATASET_SLOT_BLOB] = 0;
    int err = move_split_all(b, &s, true, error);
    int64_t heard = ds->agreed_slots[DATASET_SLOT_BLOB];
    ds->slots[DATASET_SLOT_BLOB] = 0;
    if (heard >= FULL) err = base_error_merge(err, blob_sums_flush_all(b));
    if (b->settles && heard != 0) {
        struct access_request **open = s.list + s.settled + s.master;
        blob_decompose_all(b, open, s.open);
        lacking = split_requests(b, open, s.open, true, false, &again);
        err = base_error_merge(err, move_split_all(b, &again, true, lacking));
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
    int lacking = split_requests(b, reqs, n, false, false, &s);
    int err = move_split_all(b, &s, false, error == NC_NOERR ? lacking : error);
    base_free(s.list);
    return err;
}

static int move_alone(struct blob *b, struct access_request *const *reqs, int64_t n,
                      bool put)
{
    struct split s;
    int err = split_requests(b, reqs, n, put, false, &s);
    if (err != NC_NOERR) return err;
    struct trace_span span = trace_begin(b->base.ds->trace);
    int own = blob_move(b, s.list, s.settled, put);
    note_move(b, &s, put, span);
    if (put) note_put(b, &s);
    struct access_request **master = s.list + s.settled;
    if (s.master > 0)
        err = put ? driver_call(b->base.lower, put, master, s.master)
                  : driver_call(b->base.lower, get, master, s.master);
    note_master(b, &s, put);
    base_free(s.list);
    return base_error_merge(own, err);
}

int blob_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    return move_alone((struct blob *)self, reqs, n, true);
}

int blob_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    return move_alone((struct blob *)self, reqs, n, false);
}
