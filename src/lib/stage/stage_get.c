/* Implements gets: each process independently reads what is staged or can be staged. The
 * remaining requests go to the layer below, whose agreement ends a collective call. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "access_runs.h"
#include "access_values.h"
#include "stage.h"
#include "stage_prefetch.h"

/* A request in progress. */
struct get {
    struct stage_reader *reader;
    struct access_runs runs;
};

/* ---- bytes ---- */

/* Gets n bytes. If `ahead` is larger, reads up to that many bytes from `at` into the
 * view, because the caller will need them next. */
static int get_run(struct stage_reader *r, int64_t at, int64_t n, int64_t ahead,
                   unsigned char *to)
{
    struct stage *s = r->stage;
    int64_t size = s->shared->block;
    while (n > 0) {
        int64_t room = size - at % size, part = n < room ? n : room;
        int err = NC_NOERR;
        if (!stage_in_view(s, at, part)) {
            bool more = ahead > part && part < room;
            err = stage_fetch_part(r, at, more ? (ahead < room ? ahead : room) : part,
                                   more ? NULL : to);
            if (err == NC_NOERR) err = base_holds(!more || stage_in_view(s, at, part));
        }
        if (err != NC_NOERR) return err;
        if (stage_in_view(s, at, part))
            memcpy(to, s->view.bytes + (at - s->view.low), (size_t)part);
        at += part;
        to += part;
        n -= part;
        ahead -= part;
    }
    return NC_NOERR;
}

/* Gets the request's next n bytes. */
static int get_request_bytes(struct get *g, unsigned char *to, int64_t n)
{
    enum { CLOSE = 4096, MANY = 1 << 16 };
    const int64_t base = g->reader->base.ds->base;
    struct region_strip strip;
    int err = NC_NOERR;
    while (n > 0 && err == NC_NOERR && access_runs_next(&g->runs, n, MANY, &strip)) {
        bool close = strip.stride > 0 && strip.stride - strip.length <= CLOSE;
        for (int64_t i = 0; i < strip.count && err == NC_NOERR; i++) {
            int64_t left = close ? (strip.count - 1 - i) * strip.stride : 0;
            err = get_run(g->reader, base + strip.offset + i * strip.stride, strip.length,
                          left + strip.length, to);
            to += strip.length;
            n -= strip.length;
        }
    }
    return err != NC_NOERR ? err : base_holds(n == 0);
}

/* ---- values ---- */

/* Returns whether values can be read into the caller's memory and converted there. */
static bool values_in_place(const struct access_values *v, int type)
{
    return access_values_buf(v) != NULL &&
           (v->copied || conv_type_of(type) == (int)v->req->type);
}

static int get_values(struct get *g, struct access_request *r, const struct cdf_var *var)
{
    const struct cdf_header *h = &g->reader->base.ds->header;
    struct stage *s = g->reader->stage;
    struct access_values v;
    int err = access_values_begin(&v, h, r, false);
    int64_t left = access_nelems(r, var->ndims);
    bool straight = err == NC_NOERR && values_in_place(&v, var->type);
    int64_t step = STAGE_TILE / cdf_type_size(var->type);
    while (left > 0 && err == NC_NOERR) {
        int64_t n = left < step ? left : step;
        unsigned char *bytes = straight ? access_values_buf(&v) : s->tile;
        err = get_request_bytes(g, bytes, n * v.xsize);
        if (err == NC_NOERR) (void)access_values_get(&v, bytes, n); /* sets r->status */
        if (!straight) s->ds->stats.copied_bytes += n * v.xsize;
        left -= n;
    }
    access_values_end(&v);
    return err;
}

/* ---- requests ---- */

static int get_one(struct stage_reader *reader, struct access_request *r)
{
    const struct cdf_header *h = &reader->base.ds->header;
    struct get g = {.reader = reader};
    int err = access_runs_begin(&g.runs, h, r);
    if (err != NC_NOERR) return err;
    err = get_values(&g, r, &h->vars[r->varid]);
    access_runs_end(&g.runs);
    return err;
}

/* Returns whether the staged file has its full size, so the bytes read are valid. */
static bool check_complete(struct stage *s)
{
    if (stage_space_is_complete(s->shared, s->file)) return true;
    stage_table_disable(s->table);
    return false;
}

/* Returns whether to read a request without the stage. If the stage is too small for the
 * way in which a program reads, blocks are evicted before they are needed again, and
 * staging reads more of the file than the program does. The processes of a node may read
 * a fifth more; beyond that, requests pass the stage until they have read enough. */
static bool is_too_small(struct stage_shared *all, int64_t bytes)
{
    int64_t asked = atomic_fetch_add(&all->asked, bytes) + bytes;
    return all->nslots < all->nblocks && atomic_load(&all->dropped) > 0 &&
           5 * atomic_load(&all->read) > 6 * asked;
}

/* Serves the requests that can be staged. Sets *rest to the remaining requests and *n to
 * their number. Returns the worst status. */
static int get_staged(struct stage_reader *r, struct access_request *const *reqs,
                      int64_t *n, struct access_request ***rest)
{
    struct stage *s = r->stage;
    int64_t left = 0;
    int result = NC_NOERR;
    *rest = base_malloc((size_t)*n * sizeof(struct access_request *));
    if (*rest == NULL) return NC_NOERR; /* the layer below serves all requests */
    for (int64_t i = 0; i < *n; i++) {
        const struct cdf_var *v = &r->base.ds->header.vars[reqs[i]->varid];
        int64_t bytes = access_nelems(reqs[i], v->ndims) * cdf_type_size(v->type);
        bool direct = s->shared != NULL && is_too_small(s->shared, bytes);
        stage_clear_view(s);
        s->waited = false;
        if (!direct && stage_try_open(r) && get_one(r, reqs[i]) == NC_NOERR &&
            check_complete(s)) {
            stage_prefetch_next(r, reqs[i]);
            if (reqs[i]->status != NC_NOERR) result = reqs[i]->status;
            continue;
        }
        reqs[i]->status = NC_NOERR;
        if (direct) {
            s->ds->stats.stage_direct_bytes += bytes;
            atomic_fetch_add(&s->shared->read, bytes);
        }
        if (!direct) s->ds->stats.stage_fallbacks++;
        (*rest)[left++] = reqs[i];
    }
    *n = left;
    stage_stats_add(s);
    return result;
}

int stage_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error)
{
    struct access_request **rest;
    int err = get_staged((struct stage_reader *)self, reqs, &n, &rest);
    int got = driver_call(self->lower, get_all, rest != NULL ? rest : reqs, n, error);
    base_free(rest);
    return base_error_merge(err, got);
}

int stage_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct access_request **rest;
    int err = get_staged((struct stage_reader *)self, reqs, &n, &rest), got = NC_NOERR;
    if (n > 0) got = driver_call(self->lower, get, rest != NULL ? rest : reqs, n);
    base_free(rest);
    return base_error_merge(err, got);
}
