/* What is logged, in the order in which it was written. */
#include "burst.h"

#include "access_walk.h"
#include "base_error.h"
#include "base_mem.h"

struct burst_write *burst_new_write(struct burst *b, int varid, size_t numbers)
{
    struct burst_write *w =
        base_arena_alloc(&b->arena, sizeof *w + numbers * sizeof w->slab[0]);
    if (w == NULL) return NULL;
    *w = (struct burst_write){
        .varid = varid, .source = -1, .epoch = b->epoch, .seq = -1, .alone = b->indep};
    return w;
}

/* ---- where a write lies ---- */

static const int64_t *stride_of(const struct burst_write *w, const struct cdf_var *v)
{
    return w->strided ? w->slab + (ptrdiff_t)2 * v->ndims : NULL;
}

static void bounds_of_runs(const struct cdf_header *h, const struct burst_write *w,
                           int64_t *low, int64_t *high)
{
    const int64_t *runs = w->slab + 1;
    *low = INT64_MAX;
    *high = 0;
    for (int64_t i = 0; i < w->slab[0]; i++) {
        if (runs[2 * i] < *low) *low = runs[2 * i];
        if (runs[2 * i] + runs[2 * i + 1] > *high) *high = runs[2 * i] + runs[2 * i + 1];
    }
    *low += h->vars[w->varid].begin;
    *high += h->vars[w->varid].begin;
}

void burst_bounds(const struct cdf_header *h, const struct burst_write *w, int64_t *low,
                  int64_t *high)
{
    const struct cdf_var *v = &h->vars[w->varid];
    struct access_survey s;
    if (w->flags & BURST_RAW) {
        bounds_of_runs(h, w, low, high);
        return;
    }
    access_survey_slab(h, v, w->slab, w->slab + v->ndims, stride_of(w, v), &s);
    *low = s.low;
    *high = s.high;
}

struct region *burst_runs(const struct burst_write *w, int64_t begin)
{
    int64_t n = w->slab[0], *displ = base_malloc((size_t)n * 2 * sizeof *displ);
    if (displ == NULL) return NULL;
    for (int64_t i = 0; i < n; i++) {
        displ[i] = begin + w->slab[1 + 2 * i];
        displ[n + i] = w->slab[2 + 2 * i];
    }
    struct region *r = region_blocks(n, displ, displ + n);
    base_free(displ);
    return r;
}

struct region *burst_region(const struct cdf_header *h, const struct burst_write *w)
{
    const struct cdf_var *v = &h->vars[w->varid];
    if (w->flags & BURST_RAW) return burst_runs(w, v->begin);
    return access_slab_region(h, v, 0, w->slab, w->slab + v->ndims, stride_of(w, v));
}

/* ---- in and out ---- */

int burst_add_writes(struct burst *b, struct burst_write **writes, int64_t n,
                     int64_t logged)
{
    struct trace_stats *stats = &b->base.ds->stats;
    for (int64_t i = 0; i < n; i++) {
        burst_bounds(&b->base.ds->header, writes[i], &writes[i]->low, &writes[i]->high);
        b->vars |= burst_bit(writes[i]->varid);
    }
    if (b->pool != NULL) burst_pool_lock(b->pool);
    struct burst_write **grown =
        base_grow(b->writes, &b->capacity, b->nwrites + n, sizeof(void *));
    int err = grown == NULL ? NC_ENOMEM : NC_NOERR;
    if (grown != NULL) b->writes = grown;
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        writes[i]->serial = b->serial = burst_next_serial(b->serial);
        b->writes[b->nwrites++] = writes[i];
    }
    if (b->pool != NULL) burst_pool_unlock(b->pool);
    if (err == NC_NOERR) {
        stats->burst_logged_bytes += logged;
        burst_note_waiting(stats);
    }
    return err;
}

struct burst_write *burst_find(const struct burst *b, uint32_t ticket)
{
    int64_t serial = (b->serial & ~(int64_t)UINT32_MAX) | ticket;
    int64_t low = 0, high = b->nwrites;
    if (serial > b->serial) serial -= (int64_t)1 << 32;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (b->writes[middle]->serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->nwrites && b->writes[low]->serial == serial ? b->writes[low] : NULL;
}

void burst_forget(struct burst *b, uint64_t vars)
{
    int64_t kept = 0;
    b->vars = 0;
    for (int64_t i = 0; i < b->nwrites; i++) {
        struct burst_write *w = b->writes[i];
        if (w->cancelled || (w->written && (vars & burst_bit(w->varid)))) continue;
        b->vars |= burst_bit(w->varid);
        b->writes[kept++] = w;
    }
    burst_forget_places(b);
    b->nwrites = kept;
    if (kept > 0) return;
    base_arena_free(&b->arena);
    base_free(b->writes);
    b->writes = NULL;
    b->capacity = 0;
}
