/* Makes runs from parts, and sorts and joins them. */
#include "subfile_parts.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"

enum { ENDS = 1 << 9 }; /* slots in the hash table of run ends; a power of 2 */

void subfile_runs_free(struct subfile_runs *x)
{
    base_free(x->list);
    base_free(x->keys);
    *x = (struct subfile_runs){.n = 0};
}

/* ---- making ---- */

static inline uint64_t slot_of_place(uint64_t key, int64_t at)
{
    uint64_t x = (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) + key;
    return (x ^ x >> 32) & (ENDS - 1);
}

/* Returns whether a part begins at the end of a run, or up to `gap` units after it, and
 * the extended run would not be too long. */
static inline bool run_goes_on(const struct subfile_part *run,
                               const struct subfile_part *part, int64_t gap,
                               int64_t longest)
{
    uint64_t behind = (uint64_t)(part->at - (run->at + run->n));
    return behind <= (uint64_t)gap && run->sub == part->sub &&
           run->record == part->record && part->at + part->n - run->at <= longest;
}

/* Joins parts that are contiguous in a blob, even if other parts come between them in the
 * request, so there are about as many runs as blobs. A hash table finds the run that ends
 * where a part begins. */
int subfile_runs_make(struct subfile_runs *x, struct subfile_part *parts, int64_t n,
                      const struct subfile_joining *how)
{
    const int64_t most = how->most, longest = how->longest;
    int64_t spare = how->spare, gap = how->gap;
    int ends[ENDS], last = -1;
    memset(ends, -1, sizeof ends);
    x->n = 0;
    for (struct subfile_part *part = parts; part < parts + n; part++) {
        const int64_t at = part->at, end = at + part->n;
        const uint64_t key = (uint64_t)part->record + ((uint64_t)part->sub << 32);
        const bool alone = part->n >= most;
        int number = alone ? -1 : ends[slot_of_place(key, at)];
        if (spare < gap) gap = 0;
        if (number < 0 || !run_goes_on(&x->list[number], part, 0, longest)) {
            number = alone ? -1 : last;
            if (number < 0 ||
                !run_goes_on(&x->list[number], part, part->sub < 0 ? 0 : gap, longest)) {
                void *grown = base_grow(x->list, &x->room, x->n + 1, sizeof *x->list);
                if (grown == NULL) return NC_ENOMEM;
                x->list = grown;
                number = (int)x->n++;
                x->list[number] = *part;
                x->list[number].n = x->list[number].run = 0;
                x->list[number].copy = -1;
            }
        }
        struct subfile_part *run = &x->list[number];
        spare -= at - (run->at + run->n);
        run->n = end - run->at;
        run->run++;
        part->run = number;
        last = alone ? -1 : number;
        if (!alone) ends[slot_of_place(key, end)] = number;
    }
    return NC_NOERR;
}

/* ---- sorting ---- */

/* Returns whether the runs ascend in their present order and do not overlap. */
static bool runs_ascend(const struct subfile_runs *x)
{
    for (int64_t i = 1; i < x->n; i++) {
        const struct subfile_part *p = subfile_runs_at(x, i - 1),
                                  *q = subfile_runs_at(x, i);
        bool same = p->sub == q->sub && p->record == q->record;
        if (same ? p->at + p->n > q->at
                 : p->sub > q->sub || (p->sub == q->sub && p->record > q->record))
            return false;
    }
    return true;
}

static int reserve_keys(struct subfile_runs *x)
{
    if (x->keys != NULL && x->n <= x->keys_room) return NC_NOERR;
    struct base_key *keys = base_malloc((size_t)(4 * x->n) * sizeof *keys);
    if (keys == NULL) return NC_ENOMEM;
    base_free(x->keys);
    x->keys = keys;
    x->keys_room = 2 * x->n;
    x->nkeys = 0;
    return NC_NOERR;
}

static void sort_runs_by_location(struct subfile_runs *x)
{
    struct base_key *keys = x->keys, *spare = keys + x->keys_room;
    bool subs = false, records = false; /* whether they differ between runs */
    for (int64_t i = 0; i < x->n; i++) {
        const struct subfile_part *run = &x->list[i];
        keys[i] = (struct base_key){(uint64_t)run->at, i};
        subs = subs || run->sub != x->list->sub;
        records = records || run->record != x->list->record;
    }
    base_sort_keys(keys, spare, x->n);
    for (int64_t i = 0; i < x->n && records; i++)
        keys[i].key = (uint64_t)x->list[keys[i].index].record;
    if (records) base_sort_keys(keys, spare, x->n);
    for (int64_t i = 0; i < x->n && subs; i++)
        keys[i].key = (uint64_t)x->list[keys[i].index].sub + 1;
    if (subs) base_sort_keys(keys, spare, x->n);
}

int subfile_runs_sort(struct subfile_runs *x, bool *apart)
{
    x->order = NULL;
    x->nordered = x->n;
    *apart = runs_ascend(x);
    if (*apart) return NC_NOERR;
    if (x->n == x->nkeys) x->order = x->keys;
    *apart = x->order != NULL && runs_ascend(x);
    if (*apart) return NC_NOERR;
    if (reserve_keys(x) != NC_NOERR) return NC_ENOMEM;
    sort_runs_by_location(x);
    x->nkeys = x->n;
    x->order = x->keys;
    *apart = runs_ascend(x);
    return NC_NOERR;
}

/* ---- joining ---- */

/* Returns whether the run is a single part that is moved separately. */
static inline bool is_long(const struct subfile_part *run,
                           const struct subfile_joining *how)
{
    return run->run == 1 && run->n >= how->most;
}

/* Stores the order of the remaining runs in the second half of the keys. The first half
 * retains the complete order, which the next sort tries first. */
int subfile_runs_join(struct subfile_runs *x, const struct subfile_joining *how)
{
    int64_t spare = how->spare, lead = 0;
    if (reserve_keys(x) != NC_NOERR) return NC_ENOMEM;
    struct base_key *left = x->keys + x->keys_room;
    x->nordered = 0;
    for (int64_t i = 0; i < x->n; i++) {
        int64_t number = x->order == NULL ? i : x->order[i].index;
        struct subfile_part *run = &x->list[number], *to = &x->list[lead];
        int64_t gap = run->sub < 0 ? 0 : spare < how->gap ? spare : how->gap;
        if (i == 0 || is_long(to, how) || is_long(run, how) ||
            !run_goes_on(to, run, gap, how->longest)) {
            left[x->nordered++].index = lead = number;
            continue;
        }
        spare -= run->at - (to->at + to->n);
        to->n = run->at + run->n - to->at;
        to->run += run->run;
        run->run = 0;
        run->copy = lead;
    }
    x->order = left;
    return NC_NOERR;
}
