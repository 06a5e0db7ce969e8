/* Runs of parts: made, sorted, joined. */
#include "blob_parts.h"

#include <string.h>

#include "base_error.h"
#include "base_mem.h"

enum { ENDS = 1 << 9 }; /* of runs that are looked for; a power of 2 */

void blob_runs_free(struct blob_runs *x)
{
    base_free(x->list);
    base_free(x->keys);
    *x = (struct blob_runs){.n = 0};
}

/* ---- making ---- */

static inline uint64_t slot_of_place(uint64_t home, int64_t at)
{
    uint64_t x = (uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) + home;
    return (x ^ x >> 32) & (ENDS - 1);
}

/* Does it begin where a run ends, or at most so many units behind that? */
static inline bool run_goes_on(const struct blob_part *run, const struct blob_part *part,
                               int64_t gap, int64_t longest)
{
    uint64_t behind = (uint64_t)(part->at - (run->at + run->n));
    return behind <= (uint64_t)gap && run->sub == part->sub &&
           run->record == part->record && part->at + part->n - run->at <= longest;
}

static int add_run(struct blob_runs *x, const struct blob_part *part)
{
    void *grown = base_grow(x->list, &x->room, x->n + 1, sizeof *x->list);
    if (grown == NULL) return NC_ENOMEM;
    x->list = grown;
    x->list[x->n] = *part;
    x->list[x->n].n = x->list[x->n].run = 0;
    x->list[x->n++].copy = -1;
    return NC_NOERR;
}

/* Parts that lie side by side in a blob, though others come between them in the request,
 * become a run: there are about as many of these as there are blobs. */
int blob_runs_make(struct blob_runs *x, struct blob_part *parts, int64_t n,
                   const struct blob_joining *how)
{
    const int64_t most = how->most, longest = how->longest;
    int64_t spare = how->spare, gap = how->gap;
    int ends[ENDS], last = -1;
    memset(ends, -1, sizeof ends);
    x->n = 0;
    for (struct blob_part *part = parts; part < parts + n; part++) {
        const int64_t at = part->at, end = at + part->n;
        const uint64_t home = (uint64_t)part->record + ((uint64_t)part->sub << 32);
        const bool alone = part->n >= most;
        int number = alone ? -1 : ends[slot_of_place(home, at)];
        if (spare < gap) gap = 0;
        if (number < 0 || !run_goes_on(&x->list[number], part, 0, longest)) {
            number = alone ? -1 : last;
            if (number < 0 ||
                !run_goes_on(&x->list[number], part, part->sub < 0 ? 0 : gap, longest)) {
                if (add_run(x, part) != NC_NOERR) return NC_ENOMEM;
                number = (int)x->n - 1;
            }
        }
        struct blob_part *run = &x->list[number];
        spare -= at - (run->at + run->n);
        run->n = end - run->at;
        run->run++;
        part->run = number;
        last = alone ? -1 : number;
        if (!alone) ends[slot_of_place(home, end)] = number;
    }
    return NC_NOERR;
}

/* ---- sorting ---- */

static bool run_is_behind(const struct blob_part *p, const struct blob_part *q)
{
    if (p->sub != q->sub) return p->sub < q->sub;
    if (p->record != q->record) return p->record < q->record;
    return p->at + p->n <= q->at;
}

/* In the order at hand: do they go upwards, and have nothing twice? */
static bool runs_ascend(const struct blob_runs *x)
{
    for (int64_t i = 1; i < x->n; i++)
        if (!run_is_behind(blob_runs_at(x, i - 1), blob_runs_at(x, i))) return false;
    return true;
}

static int reserve_keys(struct blob_runs *x)
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

static void sort_runs_by_home(struct blob_runs *x)
{
    struct base_key *keys = x->keys, *spare = keys + x->keys_room;
    bool subs = false, records = false; /* are there several? */
    for (int64_t i = 0; i < x->n; i++) {
        const struct blob_part *run = &x->list[i];
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

int blob_runs_sort(struct blob_runs *x, bool *apart)
{
    x->order = NULL;
    x->nordered = x->n;
    *apart = runs_ascend(x);
    if (*apart) return NC_NOERR;
    if (x->n == x->nkeys) x->order = x->keys;
    *apart = x->order != NULL && runs_ascend(x);
    if (*apart) return NC_NOERR;
    if (reserve_keys(x) != NC_NOERR) return NC_ENOMEM;
    sort_runs_by_home(x);
    x->nkeys = x->n;
    x->order = x->keys;
    *apart = runs_ascend(x);
    return NC_NOERR;
}

/* ---- joining ---- */

/* One part that is moved by itself. */
static inline bool is_long(const struct blob_part *run, const struct blob_joining *how)
{
    return run->run == 1 && run->n >= how->most;
}

/* May what comes next in the order be joined to this run? */
static bool can_join(const struct blob_part *to, const struct blob_part *run,
                     const struct blob_joining *how, int64_t spare)
{
    int64_t gap = run->sub < 0 ? 0 : spare < how->gap ? spare : how->gap;
    return !is_long(to, how) && !is_long(run, how) &&
           run_goes_on(to, run, gap, how->longest);
}

/* The order of those that are left goes to the spare keys: that of all is tried first the
 * next time. */
int blob_runs_join(struct blob_runs *x, const struct blob_joining *how)
{
    int64_t spare = how->spare, lead = 0;
    if (reserve_keys(x) != NC_NOERR) return NC_ENOMEM;
    struct base_key *left = x->keys + x->keys_room;
    x->nordered = 0;
    for (int64_t i = 0; i < x->n; i++) {
        int64_t number = x->order == NULL ? i : x->order[i].index;
        struct blob_part *run = &x->list[number], *to = &x->list[lead];
        if (i == 0 || !can_join(to, run, how, spare)) {
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
