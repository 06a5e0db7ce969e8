/* Builds, sorts and searches lists of runs. */
#include "subfile_map.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_require.h"
#include "base_segments.h"

/* ---- a blob's map ---- */

/* Until subfile_map_sort is called, pos is the length of the run. */
int subfile_map_add(struct subfile_map *m, int64_t at, int64_t n)
{
    if (n == 0) return NC_NOERR;
    if (m->n > 0 && m->runs[m->n - 1].at + m->runs[m->n - 1].pos == at) {
        m->runs[m->n - 1].pos += n;
        return NC_NOERR;
    }
    void *runs = base_grow(m->runs, &m->room, m->n + 2, sizeof *m->runs);
    if (runs == NULL) return NC_ENOMEM;
    m->runs = runs;
    m->runs[m->n++] = (struct subfile_run){at, n};
    return NC_NOERR;
}

static bool ascends(const struct subfile_map *m)
{
    for (int64_t i = 1; i < m->n; i++)
        if (m->runs[i].at <= m->runs[i - 1].at + m->runs[i - 1].pos) return false;
    return true;
}

/* Merges runs that touch or overlap. */
static void join_runs(struct subfile_map *m)
{
    int64_t last = 0;
    for (int64_t i = 1; i < m->n; i++) {
        struct subfile_run *p = &m->runs[last], *q = &m->runs[i];
        if (q->at > p->at + p->pos)
            m->runs[++last] = *q;
        else if (q->at + q->pos > p->at + p->pos)
            p->pos = q->at + q->pos - p->at;
    }
    m->n = last + 1;
}

int subfile_map_sort(struct subfile_map *m)
{
    void *runs = base_grow(m->runs, &m->room, m->n + 1, sizeof *m->runs);
    if (runs == NULL) return NC_ENOMEM;
    m->runs = runs;
    if (m->n > 0 && !ascends(m)) {
        int err = base_segments_sort(m->runs, m->n, sizeof *m->runs);
        if (err != NC_NOERR) return err;
        join_runs(m);
    }
    int64_t pos = 0, end = -1;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t n = m->runs[i].pos;
        base_require(n > 0 && m->runs[i].at > end);
        end = m->runs[i].at + n;
        m->runs[i].pos = pos;
        pos += n;
    }
    m->runs[m->n] = (struct subfile_run){INT64_MAX, pos};
    return NC_NOERR;
}

void subfile_map_free(struct subfile_map *m)
{
    base_free(m->runs);
    *m = (struct subfile_map){NULL, 0, 0};
}

/* Searches from the hint with exponentially growing steps, and then by bisection. */
int64_t subfile_map_find(const struct subfile_map *m, int64_t at, int64_t *hint)
{
    int64_t low = *hint, high = low;
    bool valid = low == 0 || m->runs[low - 1].at <= at;
    if (!valid) low = 0;
    for (int64_t step = 1; valid && high < m->n && m->runs[high].at <= at; step *= 2) {
        low = high + 1;
        high = m->n - low < step ? m->n : low + step;
    }
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (m->runs[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *hint = low;
    return low - 1;
}

uint64_t subfile_map_mix(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x9fb21c651e98df25);
    x ^= x >> 29;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

uint64_t subfile_map_sum_add(uint64_t sum, int64_t at, int64_t n)
{
    return subfile_map_mix(subfile_map_mix(sum ^ (uint64_t)at) + (uint64_t)n);
}

uint64_t subfile_map_hash(const struct subfile_map *m, uint64_t seed)
{
    uint64_t hash = subfile_map_mix(seed);
    for (int64_t i = 0; i < m->n; i++)
        hash = subfile_map_sum_add(hash, m->runs[i].at, subfile_run_length(&m->runs[i]));
    return hash;
}

uint64_t subfile_map_sum(const struct subfile_map *m, int64_t start)
{
    return subfile_map_sum_add(subfile_map_hash(m, (uint64_t)start), m->n,
                               subfile_map_count(m));
}

/* ---- a hyperslab ---- */

bool subfile_slab_is(const struct subfile_slab *f, const struct subfile_slab *g)
{
    return f->ndims >= 0 && memcmp(f, g, sizeof *f) == 0;
}

/* ---- index ---- */

int subfile_index_add(struct subfile_index *x, const struct subfile_piece *piece)
{
    void *pieces = base_grow(x->pieces, &x->room, x->n + 1, sizeof *x->pieces);
    if (pieces == NULL) return NC_ENOMEM;
    x->pieces = pieces;
    x->pieces[x->n++] = *piece;
    return NC_NOERR;
}

int subfile_index_sort(struct subfile_index *x, const struct subfile_piece **first)
{
    int err = base_segments_sort(x->pieces, x->n, sizeof *x->pieces);
    int64_t i = base_segments_find_overlap(x->pieces, x->n, sizeof *x->pieces);
    *first = i < 0 ? NULL : &x->pieces[i];
    return err;
}

int64_t subfile_index_find(const struct subfile_index *x, int64_t at)
{
    return base_segments_find(x->pieces, x->n, sizeof *x->pieces, at);
}

int64_t subfile_index_find_next(const struct subfile_index *x, int64_t at, int64_t *hint)
{
    for (int64_t i = *hint; i < x->n && i <= *hint + 1; i++) {
        bool is_next = i == 0 || x->pieces[i - 1].at + x->pieces[i - 1].n <= at;
        if (is_next && x->pieces[i].at + x->pieces[i].n > at) return *hint = i;
    }
    return *hint = subfile_index_find(x, at);
}

void subfile_index_free(struct subfile_index *x)
{
    base_free(x->pieces);
    *x = (struct subfile_index){.n = 0};
}
