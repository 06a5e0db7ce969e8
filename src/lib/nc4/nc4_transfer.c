/* Transfers the values of netCDF-4 datasets. Requests are divided into pieces, each of
 * which is transferred by one call to nc4_get or nc4_put. */
#include "access_runs.h"
#include "access_values.h"
#include "base_error.h"
#include "base_mem.h"
#include "nc4_driver.h"
#include "nc4_library.h"

enum {
    PIECE = 1 << 19, /* maximum number of elements in a piece */
    /* Access modes of netCDF-C: */
    INDEPENDENT = 0,
    COLLECTIVE = 1
};

/* Progress through a list of requests, piece by piece. */
struct walk {
    struct nc4 *m;
    struct access_request *const *reqs;
    int64_t n, at;       /* number of requests, and index of the current one */
    bool put, alone;     /* `alone` is set in independent mode */
    bool filtered;       /* processes only variables with filters; otherwise only those
                          * without filters */
    bool begun;          /* the following members are valid for the current request */
    int64_t done, total; /* number of elements transferred so far, and in total */
    struct access_values values;
    struct access_runs runs; /* runs of a raw request */
    int64_t run, left;       /* rest of the current run: offset and number of elements */
    int64_t start[NC4_RANK], count[NC4_RANK],
        size; /* start and count of the piece, and its number of elements */
    unsigned char *buffer;
    int error, io;
};

/* Finds the largest box with at most n elements that starts at element e of a box. Sets
 * its start and count. Returns the number of elements, which is 0 if none remain. */
static int64_t largest_box(int ndims, const int64_t *box, int64_t e, int64_t n,
                           int64_t *at, int64_t *count)
{
    int64_t inner = 1, part;
    int d = ndims - 1;
    if (ndims < 1) return 1;
    for (int i = 0; i < ndims; i++)
        if (box[i] < 1) return 0;
    for (; d > 0 && e % (inner * box[d]) == 0 && n >= inner * box[d]; d--)
        inner *= box[d];
    e /= inner;
    for (int i = ndims - 1; i >= 0; i--) {
        at[i] = i > d ? 0 : e % box[i];
        count[i] = i > d ? box[i] : 1;
        if (i <= d) e /= box[i];
    }
    part = box[d] - at[d];
    count[d] = n / inner < part ? n / inner : part;
    return inner * count[d];
}

/* Returns the maximum number of elements in a piece. In a collective get, a piece must be
 * one call to netCDF-C, because all processes must make the same number of calls. nc4_get
 * makes a call for each combination of leading indices, so the piece must not span
 * several combinations. */
static int64_t max_piece_size(const struct walk *w, const struct cdf_var *v,
                              const int64_t *box)
{
    int64_t n = 1;
    if (!w->filtered || w->put) return PIECE;
    for (int i = nc4_count_leading_dims(&w->m->file, v); i < v->ndims && n < PIECE; i++)
        n *= box[i];
    return n < PIECE ? n : PIECE;
}

/* Finds the next piece of a raw request, whose runs are byte ranges in the header's
 * virtual CDF-5 layout (see nc4.h). */
static bool next_of_run(struct walk *w, const struct cdf_var *v)
{
    const struct cdf_header *h = &w->m->base.ds->header;
    int64_t xsize = cdf_type_size(v->type), box[NC4_RANK] = {1}, rec = 0;
    struct region_strip s;
    if (w->left == 0) {
        if (!access_runs_next(&w->runs, INT64_MAX, 1, &s)) return false;
        w->run = s.offset - v->begin;
        w->left = s.length / xsize;
    }
    if (v->is_record) rec = w->run / h->record_size;
    int64_t e = (w->run - rec * h->record_size) / xsize;
    for (int i = 0; i < v->ndims; i++)
        box[i] = v->is_record && i == 0 ? 1 : v->shape[i];
    int64_t n = max_piece_size(w, v, box);
    if (n > w->left) n = w->left;
    if (n > v->nelems - e) n = v->nelems - e;
    w->size = largest_box(v->ndims, box, e, n, w->start, w->count);
    if (v->is_record) w->start[0] = rec;
    w->run += w->size * xsize;
    w->left -= w->size;
    return w->size > 0;
}

static bool cut_piece(struct walk *w, const struct access_request *r)
{
    const struct cdf_var *v = &w->m->base.ds->header.vars[r->varid];
    int64_t left = w->total - w->done;
    if (left == 0) return false;
    if (r->raw) return next_of_run(w, v);
    const int64_t *stride = access_stride(r, v->ndims), *start = access_start(r);
    const int64_t *box = access_count(r, v->ndims), most = max_piece_size(w, v, box);
    w->size = largest_box(v->ndims, box, w->done, left < most ? left : most, w->start,
                          w->count);
    for (int i = 0; i < v->ndims; i++)
        w->start[i] = start[i] + w->start[i] * (stride == NULL ? 1 : stride[i]);
    return w->size > 0;
}

/* In independent mode, rejects requests that HDF5 can perform only collectively. */
static int refuse(const struct walk *w, const struct access_request *r)
{
    const struct nc4 *m = w->m;
    const struct cdf_header *h = &m->base.ds->header;
    if (!w->alone || !m->parallel) return NC_NOERR;
    if (m->filtered[r->varid])
        return base_error_set(
            NC_EINDEP,
            "%s is compressed: if several processes write to a netCDF-4 file, they must "
            "access compressed variables collectively",
            h->vars[r->varid].name);
    if (w->put && access_records(h, r) > m->extended)
        return base_error_set(
            NC_ECANTEXTEND,
            "%s: records can be added to a netCDF-4 file only collectively",
            h->vars[r->varid].name);
    return NC_NOERR;
}

static void open_request(struct walk *w, struct access_request *r)
{
    const struct cdf_header *h = &w->m->base.ds->header;
    w->done = w->left = 0;
    w->total = access_nelems(r, h->vars[r->varid].ndims);
    if (w->buffer == NULL) w->buffer = base_malloc((size_t)PIECE * 8);
    int err = w->buffer == NULL ? NC_ENOMEM : refuse(w, r);
    if (err == NC_NOERR) err = access_values_begin(&w->values, h, r, w->put);
    if (err == NC_NOERR && r->raw) {
        err = access_runs_begin(&w->runs, h, r);
        if (err != NC_NOERR) access_values_end(&w->values);
    }
    w->begun = err == NC_NOERR;
    access_set_status(r, err);
}

static void end_request(struct walk *w)
{
    struct access_request *r = w->reqs[w->at++];
    if (w->begun) access_values_end(&w->values);
    if (w->begun && r->raw) access_runs_end(&w->runs);
    w->begun = false;
    w->error = base_error_merge(w->error, r->status);
}

/* Advances to the next piece. Returns false if there is none. */
static bool find_piece(struct walk *w)
{
    for (; w->at < w->n; end_request(w)) {
        struct access_request *r = w->reqs[w->at];
        if (w->m->filtered[r->varid] != w->filtered) continue;
        if (!w->begun) open_request(w, r);
        bool well = r->status == NC_NOERR || r->status == NC_ERANGE;
        if (w->begun && well && cut_piece(w, r)) return true;
    }
    return false;
}

static void transfer_piece(struct walk *w)
{
    struct access_request *r = w->reqs[w->at];
    const struct cdf_header *h = &w->m->base.ds->header;
    const int64_t *stride = r->raw ? NULL : access_stride(r, h->vars[r->varid].ndims);
    int err;
    if (w->put) {
        (void)access_values_put(&w->values, w->buffer, w->size);
        err = nc4_put(&w->m->file, h, r->varid, w->start, w->count, stride, w->buffer);
    } else {
        err = nc4_get(&w->m->file, h, r->varid, w->start, w->count, stride, w->buffer);
        if (err == NC_NOERR) (void)access_values_get(&w->values, w->buffer, w->size);
    }
    w->done += w->size;
    w->m->base.ds->stats.runs++;
    access_set_status(r, err);
    if (err != NC_NOERR) w->io = err;
}

static void transfer_independently(struct walk *w)
{
    w->at = 0;
    while (find_piece(w))
        transfer_piece(w);
}

/* Transfers variables with filters in rounds. Each round selects the lowest variable id
 * for which any process still has pieces. Processes with a piece of that variable
 * transfer it. The others transfer nothing. */
static void transfer_filtered_all(struct walk *w)
{
    static const int64_t nothing[NC4_RANK];
    struct nc4 *m = w->m;
    struct dataset *ds = m->base.ds;
    const int64_t none = -(int64_t)ds->header.nvars;
    w->at = 0;
    w->filtered = true;
    for (bool has = find_piece(w);;) {
        int64_t mine = has ? -(int64_t)w->reqs[w->at]->varid : none, next = mine;
        int failed, err = dataset_agree_all(ds, NC_NOERR, &failed, &next, 1);
        w->error = base_error_merge(w->error, failed);
        if (err != NC_NOERR || next == none) return;
        unsigned char no_value[8];
        if (mine == next) {
            transfer_piece(w);
            has = find_piece(w);
        } else if (w->put) {
            (void)nc4_put(&m->file, &ds->header, (int)-next, nothing, nothing, NULL,
                          no_value);
        } else {
            (void)nc4_get(&m->file, &ds->header, (int)-next, nothing, nothing, NULL,
                          no_value);
        }
    }
}

/* ---- number of records, and access modes ---- */

typedef int par_access(int ncid, int varid, int how);

static int set_access(const struct nc4 *m, int varid, int how)
{
    nc4_any_function f = nc4_find("nc_var_par_access");
    nc4_lock();
    return nc4_unlock(((par_access *)f)(m->file.ncid, nc4_var(&m->file, varid), how));
}

int nc4_set_access_modes(struct nc4 *m)
{
    size_t n = (size_t)m->base.ds->header.nvars;
    bool *filtered = base_realloc(m->filtered, n + 1);
    if (filtered == NULL) return NC_ENOMEM;
    m->filtered = filtered;
    m->any_filtered = false;
    for (int id = 0; id < (int)n; id++) {
        filtered[id] = m->parallel && set_access(m, id, INDEPENDENT) != NC_NOERR &&
                       set_access(m, id, COLLECTIVE) == NC_NOERR;
        m->any_filtered |= filtered[id];
    }
    return NC_NOERR;
}

/* Extends a variable: process 0 writes one value in the last record. If the record
 * already exists, process 0 rewrites the current value. */
static int extend_var_all(struct nc4 *m, int varid, int64_t records, bool there)
{
    const struct cdf_header *h = &m->base.ds->header;
    const struct nc4_file *f = &m->file;
    int64_t start[NC4_RANK] = {0}, count[NC4_RANK] = {0};
    unsigned char value[8];
    if (m->base.ds->rank == 0) {
        start[0] = records - 1;
        for (int i = 0; i < h->vars[varid].ndims; i++)
            count[i] = 1;
    }
    cdf_fill_value(h, varid, value);
    int err =
        nc4_error(set_access(m, varid, COLLECTIVE), "extending", h->vars[varid].name);
    int got = there ? nc4_get(f, h, varid, start, count, NULL, value) : NC_NOERR;
    int put = nc4_put(f, h, varid, start, count, NULL, value);
    if (!m->filtered[varid]) (void)set_access(m, varid, INDEPENDENT);
    return err != NC_NOERR ? err : got != NC_NOERR ? got : put;
}

int nc4_extend_all(struct nc4 *m, int64_t records)
{
    const struct cdf_header *h = &m->base.ds->header;
    size_t length = 0;
    if (!m->parallel || records <= m->extended) return NC_NOERR;
    int err = nc4_error(nc4_call(nc_inq_dim, m->file.ncid,
                                 nc4_dim(&m->file, h->unlimited), NULL, &length),
                        "examining", "the records");
    for (int id = 0; id < h->nvars; id++) {
        if (!h->vars[id].is_record) continue;
        int own = extend_var_all(m, id, records, (int64_t)length >= records);
        if (err == NC_NOERR) err = own;
    }
    m->extended = records;
    /* Wait for all processes, because the value must not overwrite later puts. */
    return dataset_agree_all(m->base.ds, err, NULL, NULL, 0);
}

/* ---- the calls ---- */

static int64_t records_put(const struct cdf_header *h, const struct walk *w)
{
    int64_t most = 0;
    for (int64_t i = 0; w->put && i < w->n; i++) {
        int64_t records = access_records(h, w->reqs[i]);
        int status = w->reqs[i]->status;
        if (records > most && (status == NC_NOERR || status == NC_ERANGE)) most = records;
    }
    return most;
}

static int run_walk_all(struct walk *w)
{
    struct nc4 *m = w->m;
    struct dataset *ds = m->base.ds;
    int64_t records = records_put(&ds->header, w);
    if (ds->numrecs_seen > records) records = ds->numrecs_seen;
    int failed;
    (void)dataset_agree_all(ds, w->error, &failed, &records, 1);
    w->error = base_error_merge(w->error, failed);
    int extended = w->put ? nc4_extend_all(m, records) : NC_NOERR;
    transfer_independently(w);
    if (m->any_filtered) transfer_filtered_all(w);
    if (extended != NC_NOERR) w->io = extended;
    if (!m->parallel) records = records_put(&ds->header, w);
    dataset_raise_records(ds, records);
    ds->stats.calls_direct++;
    base_free(w->buffer);
    w->error = base_error_merge(w->error, w->io);
    dataset_defer_error(ds, w->io);
    if (!ds->safe_mode) return w->error;
    int common_error = dataset_is_local_error(w->error) ? NC_NOERR : w->error;
    int worst = dataset_agree_all(ds, common_error, &failed, NULL, 0);
    if (worst == NC_NOERR) worst = failed;
    return worst != NC_NOERR ? worst : w->error;
}

static int run_walk_alone(struct walk *w)
{
    struct dataset *ds = w->m->base.ds;
    w->alone = true;
    transfer_independently(w);
    dataset_raise_records(ds, records_put(&ds->header, w));
    ds->stats.calls_independent++;
    base_free(w->buffer);
    return base_error_merge(w->error, w->io);
}

int nc4_put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                int error)
{
    return run_walk_all(&(struct walk){
        .m = (struct nc4 *)self, .reqs = reqs, .n = n, .put = true, .error = error});
}

int nc4_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                int error)
{
    return run_walk_all(
        &(struct walk){.m = (struct nc4 *)self, .reqs = reqs, .n = n, .error = error});
}

int nc4_put_alone(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    return run_walk_alone(
        &(struct walk){.m = (struct nc4 *)self, .reqs = reqs, .n = n, .put = true});
}

int nc4_get_alone(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    return run_walk_alone(&(struct walk){.m = (struct nc4 *)self, .reqs = reqs, .n = n});
}
