/* Transfers a request for one run of the file, which needs no plan. The run is moved in
 * parts that fit into the cache, or in striped files, in parts that belong to one
 * server. */
#include "base_error.h"
#include "mpio.h"

enum {
    DIRECT_BYTES = 1 << 20, /* largest part that stays in the cache */
    FEW_BYTES = 2048,
    UNSEEN = 4096 /* converting so few bytes takes less time than reading the clock */
};

struct run {
    struct mpio *m;
    bool put;
    int io; /* last I/O error */
};

/* Transfers the next n values, at offset `at` of the file, through `external`. */
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
    return base_error_merge(err, io);
}

/* The parts of a run. Part i ends at base + (i + 1) * unit; part `first` is moved
 * first. */
struct parts {
    int64_t at, nelems; /* the run */
    int64_t base, unit, count, first;
    int xsize;
};

/* Divides a run into parts. Without known stripes, a part is small enough to stay in the
 * cache on its way to the file. With stripes:
 * 1. A part is a stripe or less, so that no request goes to two servers.
 * 2. For each full cycle of the servers before a run, its transfer starts one part later.
 *    If all processes began with the same few servers, they would wait for each other
 *    while other servers are idle. */
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

/* Returns the first value of part i. A value belongs to the part in which it begins. */
static inline int64_t first_of(const struct parts *p, int64_t i)
{
    int64_t n = (p->base + i * p->unit - p->at + p->xsize - 1) / p->xsize;
    return i == 0 ? 0 : n < p->nelems ? n : p->nelems;
}

/* Transfers values that are contiguous in the file. */
static int move_parts(struct run *x, struct access_values *v, int64_t at, int64_t n)
{
    struct mpio *m = x->m;
    struct parts p = parts_of(m, at, n, v->xsize);
    unsigned char few[FEW_BYTES], *external = few;
    int64_t room = p.count > 1 ? p.unit + v->xsize : n * v->xsize;
    bool stay = access_values_are_in_place(&m->base.ds->header, v->req, x->put);
    int err = NC_NOERR;
    if (!stay && room > FEW_BYTES) {
        err = access_staging_reserve(&m->staging, (size_t)room);
        external = m->staging.bytes;
    }
    if (!stay) m->base.ds->stats.copied_bytes += n * v->xsize;
    int64_t moved = 0;
    for (int64_t i = 0; i < p.count && (err == NC_NOERR || err == NC_ERANGE); i++) {
        int64_t part = (p.first + i) % p.count, from = first_of(&p, part);
        int64_t count = first_of(&p, part + 1) - from;
        base_require(count >= 0 && (stay || count * v->xsize <= room));
        if (from != v->done) access_values_seek(v, from);
        if (stay) external = access_values_buf(v);
        int part_err = move_part(x, v, at + from * v->xsize, count, external);
        err = base_error_merge(err, part_err);
        moved += count;
    }
    bool ended = err == NC_NOERR || err == NC_ERANGE;
    return ended ? base_error_merge(err, base_holds(moved == n)) : err;
}

int mpio_move_run(struct mpio *m, struct access_request *r, const struct access_extent *s,
                  bool put, int *io)
{
    struct run x = {m, put, NC_NOERR};
    struct access_values v;
    int err = access_values_begin(&v, &m->base.ds->header, r, put);
    if (err == NC_NOERR) {
        err = move_parts(&x, &v, s->low, s->bytes / v.xsize);
        access_values_end(&v);
    }
    access_set_status(r, err);
    *io = x.io;
    return err;
}
