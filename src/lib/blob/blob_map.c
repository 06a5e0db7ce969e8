/* Lists of runs: made, sorted, searched. */
#include "blob_map.h"

#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sort.h"

/* ---- a blob's map ---- */

/* While elements are added, pos is the number of them in the run. */
int blob_map_add(struct blob_map *m, int64_t at, int64_t n)
{
    if (n == 0) return NC_NOERR;
    if (m->n > 0 && m->runs[m->n - 1].at + m->runs[m->n - 1].pos == at) {
        m->runs[m->n - 1].pos += n;
        return NC_NOERR;
    }
    void *runs = base_grow(m->runs, &m->room, m->n + 2, sizeof *m->runs);
    if (runs == NULL) return NC_ENOMEM;
    m->runs = runs;
    m->runs[m->n++] = (struct blob_run){at, n};
    return NC_NOERR;
}

/* Of runs and of pieces: `at` is first in both. */
static int by_place(const void *a, const void *b)
{
    const int64_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* n of them, of `size` bytes each; where memory is short it takes longer. */
static void sort_by_place(void *items, int64_t n, size_t size)
{
    struct base_key *keys = base_malloc((size_t)n * (2 * sizeof *keys + size));
    if (keys == NULL) {
        qsort(items, (size_t)n, size, by_place);
        return;
    }
    char *from = memcpy(keys + 2 * n, items, (size_t)n * size), *to = items;
    for (int64_t i = 0; i < n; i++)
        keys[i] = (struct base_key){*(uint64_t *)(from + (size_t)i * size), i};
    base_sort_keys(keys, keys + n, n);
    for (int64_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * size, from + (size_t)keys[i].index * size, size);
    base_free(keys);
}

static bool ascends(const struct blob_map *m)
{
    for (int64_t i = 1; i < m->n; i++)
        if (m->runs[i].at <= m->runs[i - 1].at + m->runs[i - 1].pos) return false;
    return true;
}

/* Runs that touch or overlap become one. */
static void join_runs(struct blob_map *m)
{
    int64_t last = 0;
    for (int64_t i = 1; i < m->n; i++) {
        struct blob_run *p = &m->runs[last], *q = &m->runs[i];
        if (q->at > p->at + p->pos)
            m->runs[++last] = *q;
        else if (q->at + q->pos > p->at + p->pos)
            p->pos = q->at + q->pos - p->at;
    }
    m->n = last + 1;
}

int blob_map_settle(struct blob_map *m)
{
    void *runs = base_grow(m->runs, &m->room, m->n + 1, sizeof *m->runs);
    if (runs == NULL) return NC_ENOMEM;
    m->runs = runs;
    if (m->n > 0 && !ascends(m)) {
        sort_by_place(m->runs, m->n, sizeof *m->runs);
        join_runs(m);
    }
    int64_t pos = 0;
    for (int64_t i = 0; i < m->n; i++) {
        int64_t n = m->runs[i].pos;
        m->runs[i].pos = pos;
        pos += n;
    }
    m->runs[m->n] = (struct blob_run){INT64_MAX, pos};
    return NC_NOERR;
}

void blob_map_free(struct blob_map *m)
{
    base_free(m->runs);
    *m = (struct blob_map){NULL, 0, 0};
}

/* Those behind the hint are looked through in growing steps, then by halves. */
int64_t blob_map_find(const struct blob_map *m, int64_t at, int64_t *hint)
{
    int64_t low = *hint, high = low;
    bool behind = low == 0 || m->runs[low - 1].at <= at;
    if (!behind) low = 0;
    for (int64_t step = 1; behind && high < m->n && m->runs[high].at <= at; step *= 2) {
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

static uint64_t mix_bits(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x9fb21c651e98df25);
    x ^= x >> 29;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

uint64_t blob_map_print(const struct blob_map *m, uint64_t seed)
{
    uint64_t hash = mix_bits(seed);
    for (int64_t i = 0; i < m->n; i++) {
        hash = mix_bits(hash ^ (uint64_t)m->runs[i].at);
        hash = mix_bits(hash + (uint64_t)blob_run_length(&m->runs[i]));
    }
    return hash;
}

/* ---- a hyperslab ---- */

bool blob_form_is(const struct blob_form *f, const struct blob_form *g)
{
    return f->ndims >= 0 && memcmp(f, g, sizeof *f) == 0;
}

/* ---- all blobs ---- */

int blob_index_add(struct blob_index *x, const struct blob_piece *piece)
{
    void *pieces = base_grow(x->pieces, &x->room, x->n + 1, sizeof *x->pieces);
    if (pieces == NULL) return NC_ENOMEM;
    x->pieces = pieces;
    x->pieces[x->n++] = *piece;
    return NC_NOERR;
}

bool blob_index_settle(struct blob_index *x, const struct blob_piece **first)
{
    if (x->n > 1) sort_by_place(x->pieces, x->n, sizeof *x->pieces);
    for (int64_t i = 1; i < x->n; i++) {
        *first = &x->pieces[i - 1];
        if ((*first)->at + (*first)->n > x->pieces[i].at) return false;
    }
    return true;
}

int64_t blob_index_find(const struct blob_index *x, int64_t at)
{
    int64_t low = 0, high = x->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (x->pieces[middle].at + x->pieces[middle].n <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t blob_index_find_next(const struct blob_index *x, int64_t at, int64_t *hint)
{
    for (int64_t i = *hint; i < x->n && i <= *hint + 1; i++) {
        bool behind = i == 0 || x->pieces[i - 1].at + x->pieces[i - 1].n <= at;
        if (behind && x->pieces[i].at + x->pieces[i].n > at) return *hint = i;
    }
    return *hint = blob_index_find(x, at);
}

void blob_index_free(struct blob_index *x)
{
    base_free(x->pieces);
    *x = (struct blob_index){.n = 0};
}
