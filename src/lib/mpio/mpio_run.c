/* A request for one run of the file, which needs no plan. */
#include "base_error.h"
#include "mpio.h"

enum {
    DIRECT_BYTES = 1 << 20, /* what stays in the cache on its way to the file */
    FEW_BYTES = 2048,
    UNSEEN =
        4096 /* bytes that are converted sooner than the trace has looked at the clock */
};

struct run {
    struct mpio *m;
    bool put;
    int io; /* the last error that came from the file */
};

/* The next n values, at `at` in the file, by way of `external`. */
static int move_part(struct run *x, struct access_values *v, int64_t at, int64_t n,
                     unsigned char *external)
{
    struct file *f = &x->m->file;
    int64_t bytes = n * v->xsize;
    struct trace *trace = bytes < UNSEEN ? NULL : x->m->base.ds->trace;
    int io = x->put ? NC_NOERR : file_read(f, at, external, bytes);
    int err = NC_NOERR;
    if (io == NC_NOERR) {
        struct trace_span span = trace_begin(trace);
        err = x->put ? access_values_put(v, external, n)
                     : access_values_get(v, external, n);
        trace_end_at(trace, TRACE_CONVERSION, span, -1, bytes);
    }
    if (x->put) io = file_write(f, at, external, bytes);
    if (io != NC_NOERR) x->io = io;
    x->m->base.ds->stats.runs++;
    return base_error_worse(err, io);
}

/* A run of the file in parts: part i ends `unit` bytes behind where part i - 1 does, and
 * the first one to move is number `first`. */
struct parts {
    int64_t at, nelems; /* the run */
    int64_t base, unit, count, first;
    int xsize;
};

/* Without stripes a part stays in the cache on its way to the file. Else it is a stripe
 * or less, so that no request goes to two servers; and each time runs have been once
 * round the servers the next ones begin a part later: processes that all begin with the
 * same few servers would keep waiting for each other while other servers are idle. */
static struct parts parts_of(const struct mpio *m, int64_t at, int64_t nelems, int xsize)
{
    enum { MOST = 4 << 20 };
    struct parts p = {
        .at = at, .nelems = nelems, .base = at, .unit = DIRECT_BYTES, .xsize = xsize};
    int64_t last = at + nelems * xsize - 1, stripe = m->file.stripe,
            servers = m->file.stripes;
    if (!m->file.stripes_shared) {
        p.count = (last - at) / p.unit + 1;
        return p;
    }
    for (p.unit = stripe; p.unit > MOST; p.unit /= 2)
        continue;
    p.base = at / p.unit * p.unit;
    p.count = (last - p.base) / p.unit + 1;
    int64_t turn = servers > 0 ? at / stripe / servers : m->base.ds->rank;
    p.first = turn * (stripe / p.unit) % p.count;
    return p;
}

/* The first value of part i. One that lies in two parts belongs to the one it begins in.
 */
static inline int64_t first_of(const struct parts *p, int64_t i)
{
    int64_t n = (p->base + i * p->unit - p->at + p->xsize - 1) / p->xsize;
    return i == 0 ? 0 : n < p->nelems ? n : p->nelems;
}

/* Values that lie side by side in the file. */
static int move_parts(struct run *x, struct access_values *v, int64_t at, int64_t n)
{
    struct mpio *m = x->m;
    struct parts p = parts_of(m, at, n, v->xsize);
    unsigned char few[FEW_BYTES], *external = few;
    int64_t room = p.count > 1 ? p.unit + (p.base < at ? v->xsize : 0) : n * v->xsize;
    bool stay = access_values_stay(&m->base.ds->header, v->req, x->put);
    int err = NC_NOERR;
    if (!stay && room > FEW_BYTES) {
        err = access_staging_make(&m->staging, (size_t)room);
        external = m->staging.bytes;
    }
    if (!stay) m->base.ds->stats.copied_bytes += n * v->xsize;
    for (int64_t i = 0; i < p.count && (err == NC_NOERR || err == NC_ERANGE); i++) {
        int64_t part = (p.first + i) % p.count, from = first_of(&p, part);
        if (from != v->done) access_values_seek(v, from);
        if (stay) external = access_values_buf(v);
        int moved = move_part(x, v, at + from * v->xsize, first_of(&p, part + 1) - from,
                              external);
        err = base_error_worse(err, moved);
    }
    return err;
}

int mpio_move_run(struct mpio *m, struct access_request *r, const struct access_survey *s,
                  bool put, int *io)
{
    struct run x = {m, put, NC_NOERR};
    struct access_values v;
    int err = access_values_begin(&v, &m->base.ds->header, r, put);
    if (err == NC_NOERR) {
        err = move_parts(&x, &v, s->low, s->bytes / v.xsize);
        access_values_end(&v);
    }
    access_blame(r, err);
    *io = x.io;
    return err;
}
