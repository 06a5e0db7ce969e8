/* The list of logged writes, in ascending order of serials, and its index. The index is
 * sorted by offset in the file. Each index entry also stores the highest end of all
 * entries up to it, so that a search can stop early. The newest writes are searched one
 * by one until there are enough of them to rebuild the index. */
#include <stdlib.h>

#include "access_walk.h"
#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"
#include "base_segments.h"
#include "burst_list.h"

/* ---- the bytes of the file that a write touches ---- */

static const int64_t *stride_of(const struct burst_write *w, const struct cdf_var *v)
{
    return w->strided ? w->slab + (ptrdiff_t)2 * v->ndims : NULL;
}

/* Sets the bounds of the bytes of the file that a write touches. */
static void set_bounds(const struct cdf_header *h, struct burst_write *w)
{
    const struct cdf_var *v = &h->vars[w->varid];
    if (!(w->flags & BURST_RAW)) {
        struct access_extent s;
        access_extent_slab(h, v, w->slab, w->slab + v->ndims, stride_of(w, v), &s);
        w->low = s.low;
        w->high = s.high;
        return;
    }
    const int64_t *runs = w->slab + 1;
    w->low = INT64_MAX;
    w->high = 0;
    for (int64_t i = 0; i < w->slab[0]; i++) {
        int64_t end = runs[2 * i] + runs[2 * i + 1];
        if (runs[2 * i] < w->low) w->low = runs[2 * i];
        if (end > w->high) w->high = end;
    }
    w->low += v->begin;
    w->high += v->begin;
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

/* ---- adding and removing ---- */

struct burst_write *burst_list_new(struct burst_list *l, int varid, size_t numbers)
{
    struct burst_write *w =
        base_arena_alloc(&l->arena, sizeof *w + numbers * sizeof w->slab[0]);
    if (w != NULL) *w = (struct burst_write){.varid = varid, .source = -1, .seq = -1};
    return w;
}

int burst_list_add(struct burst_list *l, const struct cdf_header *h,
                   struct burst_write **writes, int64_t n)
{
    struct burst_write **grown =
        base_grow(l->writes, &l->capacity, l->n + n, sizeof(void *));
    if (grown == NULL) return NC_ENOMEM;
    l->writes = grown;
    for (int64_t i = 0; i < n; i++) {
        base_require(writes[i]->varid >= 0 && writes[i]->varid < h->nvars);
        base_require(l->n == 0 || l->writes[l->n - 1]->serial <= l->serial);
        set_bounds(h, writes[i]);
        l->vars |= burst_bit(writes[i]->varid);
        writes[i]->serial = l->serial = burst_next_serial(l->serial);
        l->writes[l->n++] = writes[i];
    }
    return NC_NOERR;
}

static void free_index(struct burst_list *l)
{
    base_free(l->index);
    base_free(l->found);
    l->index = NULL;
    l->found = NULL;
    l->nindexed = l->found_capacity = 0;
}

void burst_list_remove(struct burst_list *l, uint64_t vars)
{
    int64_t remaining = 0;
    l->vars = 0;
    for (int64_t i = 0; i < l->n; i++) {
        struct burst_write *w = l->writes[i];
        if (w->cancelled || (w->written && (vars & burst_bit(w->varid)))) continue;
        l->vars |= burst_bit(w->varid);
        l->writes[remaining++] = w;
    }
    free_index(l);
    l->n = remaining;
    if (remaining == 0) burst_list_free(l);
}

void burst_list_free(struct burst_list *l)
{
    free_index(l);
    base_arena_free(&l->arena);
    base_free(l->writes);
    l->writes = NULL;
    l->n = l->capacity = 0;
}

/* ---- finding ---- */

struct burst_write *burst_list_get(const struct burst_list *l, uint32_t ticket)
{
    int64_t serial = (l->serial & ~(int64_t)UINT32_MAX) | ticket;
    int64_t low = 0, high = l->n;
    if (serial > l->serial) serial -= (int64_t)1 << 32;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (l->writes[middle]->serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->n && l->writes[low]->serial == serial ? l->writes[low] : NULL;
}

struct burst_index_entry {
    int64_t low, high;
    int64_t most; /* highest `high` up to this entry */
    int64_t at;   /* index in the list of writes */
};

static int compare_write_number(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

/* Rebuilds the index if many writes are new. If out of memory, the index does not have
 * these writes. */
static void sort_index(struct burst_list *l)
{
    enum { FEW = 64 };
    if (l->n - l->nindexed <= FEW + l->nindexed / 2) return;
    struct burst_index_entry *p = base_realloc(l->index, (size_t)l->n * sizeof *p);
    if (p == NULL) return;
    l->index = p;
    for (int64_t i = 0; i < l->n; i++)
        p[i] = (struct burst_index_entry){l->writes[i]->low, l->writes[i]->high, 0, i};
    if (base_segments_sort(p, l->n, sizeof *p) != NC_NOERR) {
        l->nindexed = 0;
        return;
    }
    for (int64_t i = 0; i < l->n; i++)
        p[i].most = i == 0 || p[i].high > p[i - 1].most ? p[i].high : p[i - 1].most;
    l->nindexed = l->n;
}

/* Returns the number of index entries that begin before `high`. */
static int64_t entries_before(const struct burst_list *l, int64_t high)
{
    int64_t from = 0, to = l->nindexed;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (l->index[middle].low < high)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static int add_found(struct burst_list *l, int64_t at, int64_t *n)
{
    void *grown = base_grow(l->found, &l->found_capacity, *n + 1, sizeof *l->found);
    if (grown == NULL) return NC_ENOMEM;
    l->found = grown;
    l->found[(*n)++] = at;
    return NC_NOERR;
}

int burst_list_find(struct burst_list *l, int64_t low, int64_t high, int64_t *n)
{
    int err = NC_NOERR;
    *n = 0;
    sort_index(l);
    for (int64_t i = entries_before(l, high) - 1;
         i >= 0 && l->index[i].most > low && err == NC_NOERR; i--)
        if (l->index[i].high > low) err = add_found(l, l->index[i].at, n);
    for (int64_t i = l->nindexed; i < l->n && err == NC_NOERR; i++)
        if (l->writes[i]->low < high && l->writes[i]->high > low)
            err = add_found(l, i, n);
    if (*n > 1) qsort(l->found, (size_t)*n, sizeof *l->found, compare_write_number);
    return err;
}
