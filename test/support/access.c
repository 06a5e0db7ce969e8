/* See access.h. The functions of the library are called through the table in api_calls.h.
 * An access with pieces (varn, mput and mget) consists of one block per row of the slab
 * or, if its rows are strided, of single elements. */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#include "api_calls.h"

enum { GAP = 2 }; /* distance between elements in memory for PLAN_FLEXIBLE */

struct call {
    const struct access *a;
    struct plan_slab slab; /* the part of the access that the call transfers */
    char *buf;             /* position of the part's first element */
    int64_t imap[PLAN_RANK];
    int *request;
};

/* Allocates `n` zeroed bytes and never fails. In the simulator, where calloc may fail,
 * ACCESS_ALLOC is the name of another function. */
#ifdef ACCESS_ALLOC
void *ACCESS_ALLOC(size_t n);
#else
#define ACCESS_ALLOC alloc_zeroed
static void *alloc_zeroed(size_t n)
{
    void *room = calloc(n + 1, 1);
    if (room == NULL) abort();
    return room;
}
#endif

/* ---- finding functions ---- */

/* Returns the function with these properties. `type` is the number of a type in memory,
 * or -1 for a flexible function. */
static const struct calls_row *find_row(enum calls_mode mode, enum calls_kind kind,
                                        bool collective, int type)
{
    const struct calls_type *t = type < 0 ? NULL : calls_types + type;
    for (int i = 0; i < calls_row_count; i++) {
        const struct calls_row *row = &calls_rows[i];
        if (row->mode == mode && row->kind == kind && row->collective == collective &&
            row->type == t)
            return row;
    }
    abort();
}

static int run_row(const struct access *a, bool many, enum calls_kind kind, bool flexible,
                   struct calls_args *args)
{
    static const enum calls_mode modes[] = {CALLS_put, CALLS_get, CALLS_iput, CALLS_bput,
                                            CALLS_iget};
    const bool posts = a->verb > ACCESS_GET;
    enum calls_mode mode = modes[a->verb];
    if (many) mode = a->verb == ACCESS_PUT ? CALLS_mput : CALLS_mget;
    args->ncid = a->ncid;
    args->varid = a->varid;
    return find_row(mode, kind, a->all && !posts, flexible ? -1 : a->memory)->run(args);
}

static const struct calls_att *find_att(int memory)
{
    for (int i = 0; i < calls_att_count; i++)
        if (calls_atts[i].type == calls_types + memory) return &calls_atts[i];
    abort();
}

int access_put_att(int ncid, int varid, const char *name, int type, int memory,
                   MPI_Offset n, const void *values)
{
    if (memory == MEMORY_TEXT) return ncmpi_put_att_text(ncid, varid, name, n, values);
    return find_att(memory)->put(ncid, varid, name, type, n, values);
}

int access_get_att(int ncid, int varid, const char *name, int memory, void *values)
{
    if (memory == MEMORY_TEXT) return ncmpi_get_att_text(ncid, varid, name, values);
    return find_att(memory)->get(ncid, varid, name, values);
}

/* ---- the layout of the buffer ---- */

/* Returns the position in memory of the access's i-th element. */
static int64_t place(const struct access *a, const int64_t *imap, int64_t i)
{
    int64_t index[PLAN_RANK], at = 0;
    if (a->kind != PLAN_MAPPED) return a->kind == PLAN_FLEXIBLE ? GAP * i : i;
    plan_slab_index(&a->slab, i, index);
    for (int d = 0; d < a->slab.ndims; d++)
        at += index[d] * imap[d];
    return at;
}

/* ---- one call ---- */

struct pieces {
    int n;
    int64_t rows; /* number of rows in the slab */
    MPI_Offset **starts, **counts, **strides, **imaps, (*room)[4][PLAN_RANK];
    void **bufs;
    int *varids;
    bool single; /* whether each piece is a single element, without a count */
};

static void list_pieces(struct pieces *p, const struct call *c)
{
    const struct plan_slab *s = &c->slab;
    const int last = s->ndims - 1;
    const int64_t size = plan_slab_size(s),
                  piece = last >= 0 && s->stride[last] == 1 ? s->count[last] : 1,
                  n = size == 0 ? 0 : size / piece;
    *p = (struct pieces){.n = (int)n, .rows = size};
    if (last >= 0 && size > 0) p->rows /= s->count[last];
    p->single = piece == 1 && p->rows % 2 == 1;
    p->room = ACCESS_ALLOC((size_t)n * sizeof *p->room);
    MPI_Offset **lists = ACCESS_ALLOC(4 * (size_t)n * sizeof *lists);
    p->starts = lists;
    p->counts = lists + n;
    p->strides = lists + 2 * n;
    p->imaps = lists + 3 * n;
    p->bufs = ACCESS_ALLOC((size_t)n * sizeof *p->bufs);
    p->varids = ACCESS_ALLOC((size_t)n * sizeof *p->varids);
    for (int64_t i = 0; i < n; i++) {
        int64_t index[PLAN_RANK];
        plan_slab_index(s, i * piece, index);
        for (int k = 0; k < 4; k++)
            lists[k * n + i] = p->room[i][k];
        for (int d = 0; d <= last; d++) {
            p->starts[i][d] = s->start[d] + index[d] * s->stride[d];
            p->counts[i][d] = d == last ? piece : 1;
            p->strides[i][d] = 1;
            p->imaps[i][d] = d == last ? 1 : piece;
        }
        p->bufs[i] = c->buf + (size_t)(i * piece) * plan_memory_size(c->a->memory);
        p->varids[i] = c->a->varid;
    }
}

static int run_pieces(const struct call *c, struct calls_args *args)
{
    static const enum calls_kind kinds[] = {CALLS_vara, CALLS_vars, CALLS_varm};
    const struct access *a = c->a;
    const bool many = a->kind == PLAN_MANY;
    struct pieces p;
    list_pieces(&p, c);
    args->num = p.n;
    args->starts = p.starts;
    args->counts = p.single && !many ? NULL : p.counts;
    args->strides = p.strides;
    args->imaps = p.imaps;
    args->varids = p.varids;
    args->bufs = p.bufs;
    int err = run_row(a, many,
                      !many      ? CALLS_varn
                      : p.single ? CALLS_var1
                                 : kinds[p.rows % 3],
                      false, args);
    free(p.varids);
    free(p.bufs);
    free(p.starts);
    free(p.room);
    return err;
}

static int run_flexible(const struct call *c, struct calls_args *args)
{
    MPI_Type_vector((int)plan_slab_size(&c->slab), 1, GAP,
                    calls_types[c->a->memory].mpi(), &args->buftype);
    MPI_Type_commit(&args->buftype);
    args->bufcount = 1;
    int err = run_row(c->a, false, CALLS_vars, true, args);
    MPI_Type_free(&args->buftype);
    return err;
}

/* Creates the file type for vard. It selects elements by their offsets in the variable.
 */
static int make_filetype(const struct access *a, MPI_Datatype *filetype)
{
    const int n = (int)plan_slab_size(&a->slab), own = plan_memory_of(a->type);
    const MPI_Aint size = (MPI_Aint)plan_memory_size(own);
    MPI_Aint *places = ACCESS_ALLOC((size_t)n * sizeof *places);
    MPI_Offset record_size = 0;
    int64_t each = 1; /* elements in a record */
    int err = a->is_record ? ncmpi_inq_recsize(a->ncid, &record_size) : NC_NOERR;
    for (int d = 1; d < a->slab.ndims; d++)
        each *= a->shape[d];
    for (int i = 0; i < n; i++) {
        const int64_t element = plan_slab_element(&a->slab, a->shape, i);
        places[i] = a->is_record ? (MPI_Aint)(element / each * record_size) +
                                       (MPI_Aint)(element % each) * size
                                 : (MPI_Aint)element * size;
    }
    MPI_Type_create_hindexed_block(n, 1, places, calls_types[own].mpi(), filetype);
    MPI_Type_commit(filetype);
    free(places);
    return err;
}

static int run_typed(const struct call *c)
{
    const struct access *a = c->a;
    const MPI_Offset n = plan_slab_size(&a->slab);
    const MPI_Datatype element = calls_types[a->memory].mpi();
    MPI_Datatype filetype;
    int err = make_filetype(a, &filetype);
    if (err == NC_NOERR && a->verb == ACCESS_PUT)
        err = (a->all ? ncmpi_put_vard_all : ncmpi_put_vard)(a->ncid, a->varid, filetype,
                                                             c->buf, n, element);
    else if (err == NC_NOERR)
        err = (a->all ? ncmpi_get_vard_all : ncmpi_get_vard)(a->ncid, a->varid, filetype,
                                                             c->buf, n, element);
    MPI_Type_free(&filetype);
    return err;
}

static int run_call(const struct call *c)
{
    static const enum calls_kind kinds[PLAN_KINDS] = {[PLAN_STRIDED] = CALLS_vars,
                                                      [PLAN_BLOCK] = CALLS_vara,
                                                      [PLAN_SINGLE] = CALLS_var1,
                                                      [PLAN_MAPPED] = CALLS_varm};
    MPI_Offset where[4][PLAN_RANK];
    struct calls_args args = {.start = where[0],
                              .count = where[1],
                              .stride = where[2],
                              .imap = where[3],
                              .buf = c->buf,
                              .req = c->request};
    for (int d = 0; d < c->slab.ndims; d++) {
        where[0][d] = c->slab.start[d];
        where[1][d] = c->slab.count[d];
        where[2][d] = c->slab.stride[d];
        where[3][d] = c->imap[d];
    }
    switch (c->a->kind) {
    case PLAN_LIST:
    case PLAN_MANY:
        return run_pieces(c, &args);
    case PLAN_FLEXIBLE:
        return run_flexible(c, &args);
    case PLAN_TYPED:
        return run_typed(c);
    default:
        return run_row(c->a, false, kinds[c->a->kind], false, &args);
    }
}

/* ---- all calls of an access ---- */

static int first_of(int one, int other)
{
    return one != NC_NOERR ? one : other;
}

/* Makes one call per element. */
static int run_singles(const struct call *whole)
{
    const struct plan_slab *s = &whole->slab;
    const size_t size = plan_memory_size(whole->a->memory);
    struct call c = *whole;
    int err = NC_NOERR;
    for (int64_t i = 0, n = plan_slab_size(s); i < n; i++) {
        int64_t index[PLAN_RANK];
        plan_slab_index(s, i, index);
        for (int d = 0; d < s->ndims; d++) {
            c.slab.start[d] = s->start[d] + index[d] * s->stride[d];
            c.slab.count[d] = 1;
        }
        c.buf = whole->buf + (size_t)i * size;
        c.request = whole->request == NULL ? NULL : whole->request + i;
        int one = run_call(&c);
        if (one != NC_NOERR && c.request != NULL) *c.request = NC_REQ_NULL;
        err = first_of(err, one);
    }
    return err;
}

/* Posts a request for each half of the first dimension, the second half first. */
static int run_halves(const struct call *whole)
{
    struct call c = *whole;
    const int64_t low = whole->slab.count[0] / 2;
    c.slab.count[0] -= low;
    c.slab.start[0] += low * whole->slab.stride[0];
    if (low > 0) {
        const int64_t first = low * (plan_slab_size(&whole->slab) / whole->slab.count[0]);
        c.buf += (size_t)(first > 0 ? place(whole->a, whole->imap, first) : 0) *
                 plan_memory_size(whole->a->memory);
    }
    int err = run_call(&c);
    if (err != NC_NOERR) c.request[0] = NC_REQ_NULL;
    if (low == 0) return err;
    c = *whole;
    c.slab.count[0] = low;
    c.request = whole->request + 1;
    int other = run_call(&c);
    if (other != NC_NOERR) c.request[0] = NC_REQ_NULL;
    return first_of(err, other);
}

static int run_calls(const struct call *c)
{
    const struct access *a = c->a;
    if (a->kind == PLAN_SINGLE) return run_singles(c);
    if (a->halves && a->slab.ndims > 0 && c->request != NULL) return run_halves(c);
    int err = run_call(c);
    if (err != NC_NOERR && c->request != NULL) *c->request = NC_REQ_NULL;
    return err;
}

/* ---- requests ---- */

/* Waits for requests. Cancels those that the wait did not complete. */
static int wait_for(const struct access *a, int n, int *requests)
{
    int *status = ACCESS_ALLOC((size_t)n * sizeof *status), err;
    if (a->all) {
        err = ncmpi_wait_all(a->ncid, n, requests, status);
    } else {
        err = a->is_independent ? NC_NOERR : ncmpi_begin_indep_data(a->ncid);
        if (err == NC_NOERR) {
            err = ncmpi_wait(a->ncid, n, requests, status);
            if (!a->is_independent) err = first_of(err, ncmpi_end_indep_data(a->ncid));
        }
    }
    for (int i = 0; i < n; i++)
        err = first_of(err, requests[i] == NC_REQ_NULL ? status[i] : NC_NOERR);
    if (err != NC_NOERR) (void)ncmpi_cancel(a->ncid, n, requests, status);
    free(status);
    return err;
}

/* Posts the access a second time and cancels the second request. If a flush has already
 * completed that request, the cancellation fails and the caller must wait for the
 * request. */
static int post_and_cancel(const struct call *c, int *request)
{
    int status = NC_NOERR, posted = NC_REQ_NULL;
    struct call again = *c;
    again.request = &posted;
    int err = run_call(&again);
    if (err != NC_NOERR) return err;
    *request = posted;
    err = first_of(ncmpi_cancel(c->a->ncid, 1, request, &status), status);
    return err == NC_EFLUSHED ? NC_NOERR : err;
}

static int post_and_wait(struct call *c, size_t buf_size)
{
    const struct access *a = c->a;
    const int64_t size = plan_slab_size(&a->slab);
    const int n = a->kind == PLAN_SINGLE ? (int)size : 2;
    int *requests = ACCESS_ALLOC((size_t)(n + 1) * sizeof *requests);
    for (int i = 0; i <= n; i++)
        requests[i] = NC_REQ_NULL;
    int attached =
        a->verb == ACCESS_BPUT ? ncmpi_buffer_attach(a->ncid, 16 * size + 8) : NC_NOERR;
    c->request = requests;
    int err = attached == NC_NOERR ? run_calls(c) : attached;
    if (a->cancels && a->kind != PLAN_SINGLE && attached == NC_NOERR)
        err = first_of(err, post_and_cancel(c, &requests[n]));
    /* bput has already copied the values. */
    if (a->verb == ACCESS_BPUT) memset(c->buf, 0x5a, buf_size);
    err = first_of(err, wait_for(a, n + 1, requests));
    if (a->verb == ACCESS_BPUT && attached == NC_NOERR)
        err = first_of(err, ncmpi_buffer_detach(a->ncid));
    free(requests);
    return err;
}

int access_run(struct access *a)
{
    const int64_t n = plan_slab_size(&a->slab);
    const bool gets = a->verb == ACCESS_GET || a->verb == ACCESS_IGET;
    const size_t size = (size_t)n * GAP * 8;
    struct call c = {.a = a, .slab = a->slab, .buf = ACCESS_ALLOC(size)};
    char *const buf = c.buf;
    plan_slab_transpose(&a->slab, c.imap);
    for (int64_t i = 0; i < n && !gets; i++)
        plan_store(buf, a->memory, place(a, c.imap, i), a->values[i]);
    int err = a->verb <= ACCESS_GET ? run_calls(&c) : post_and_wait(&c, size);
    for (int64_t i = 0; i < n && gets && (err == NC_NOERR || err == NC_ERANGE); i++)
        a->values[i] = plan_load(buf, a->memory, place(a, c.imap, i));
    free(buf);
    return err;
}
