/* Gets: what is staged, or can be, is read by each process on its own; the rest goes to
 * the layer below, in whose agreement all processes meet if the call is collective. */
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "access_runs.h"
#include "access_values.h"
#include "stage.h"
#include "stage_ahead.h"

/* One request on its way. */
struct get {
    struct stage_reader *reader;
    struct access_runs runs;
};

/* ---- bytes ---- */

/* A run of bytes; `ahead` bytes from its beginning on will be read, if that is more: they
 * are read at once if they lie close together. */
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

/* The next n bytes of the request. */
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
    return err;
}

/* ---- values ---- */

/* External values that are as large as those in memory go there, and are turned round
 * where they lie. */
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
        if (err == NC_NOERR) (void)access_values_get(&v, bytes, n); /* its status tells */
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

bool stage_works(const struct stage *s)
{
    return s->table != NULL && s->file >= 0 && s->view.own != NULL && s->tile != NULL &&
           !stage_table_broken(s->table);
}

bool stage_ready(struct stage_reader *r)
{
    return stage_works(r->stage) && stage_source_open(r) == NC_NOERR;
}

/* Was what has been read all that was written? */
static bool was_whole(struct stage *s)
{
    if (stage_space_is_whole(s->shared, s->file)) return true;
    stage_table_break(s->table);
    return false;
}

/* Gets what it can; *rest are the requests that it could not, *n of them. The worst of
 * the others' results. */
static int get_staged(struct stage_reader *r, struct access_request *const *reqs,
                      int64_t *n, struct access_request ***rest)
{
    struct stage *s = r->stage;
    int64_t left = 0;
    int result = NC_NOERR;
    *rest = base_malloc((size_t)*n * sizeof(struct access_request *));
    if (*rest == NULL) return NC_NOERR; /* none */
    for (int64_t i = 0; i < *n; i++) {
        stage_clear_view(s);
        s->waited = false;
        if (stage_ready(r) && get_one(r, reqs[i]) == NC_NOERR && was_whole(s)) {
            stage_ahead_follow(r, reqs[i]);
            if (reqs[i]->status != NC_NOERR) result = reqs[i]->status;
            continue;
        }
        reqs[i]->status = NC_NOERR;
        s->ds->stats.stage_fallbacks++;
        (*rest)[left++] = reqs[i];
    }
    *n = left;
    stage_tell(s);
    return result;
}

int stage_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error)
{
    struct access_request **rest;
    int err = get_staged((struct stage_reader *)self, reqs, &n, &rest);
    int got = driver_call(self->lower, get_all, rest != NULL ? rest : reqs, n, error);
    base_free(rest);
    return base_error_worse(err, got);
}

int stage_get(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    struct access_request **rest;
    int err = get_staged((struct stage_reader *)self, reqs, &n, &rest), got = NC_NOERR;
    if (n > 0) got = driver_call(self->lower, get, rest != NULL ? rest : reqs, n);
    base_free(rest);
    return base_error_worse(err, got);
}
