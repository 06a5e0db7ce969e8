/* Implements growable lists, and hash tables whose keys are pairs of numbers. */
#include <string.h>

#include "base_mem.h"
#include "trace.h"

void *trace_append(struct trace_list *l, size_t size, const void *item)
{
    void *grown = base_grow(l->items, &l->room, l->n + 1, size);
    if (grown == NULL) return NULL;
    l->items = grown;
    char *at = (char *)l->items + (size_t)l->n++ * size;
    if (item != NULL)
        memcpy(at, item, size);
    else
        memset(at, 0, size);
    return at;
}

static uint64_t place_of(const struct trace_table *t, int64_t a, int64_t b)
{
    uint64_t hash =
        ((uint64_t)a * 0x9E3779B97F4A7C15U + (uint64_t)b) * 0xD6E8FEB86659FD93U;
    return (hash ^ (hash >> 32)) & (uint64_t)(t->size - 1);
}

static void enter_key(struct trace_table *t, int64_t index, const int64_t *key)
{
    uint64_t at = place_of(t, key[0], key[1]);
    while (t->places[at] != 0)
        at = (at + 1) & (uint64_t)(t->size - 1);
    t->places[at] = index + 1;
}

/* Doubles the size of the hash table, so that at least half of its entries stay free. */
static bool grow(struct trace_table *t, size_t size)
{
    int64_t more = t->size == 0 ? 256 : t->size * 2;
    int64_t *places = base_calloc((size_t)more, sizeof *places);
    if (places == NULL) return false;
    base_free(t->places);
    t->places = places;
    t->size = more;
    for (int64_t i = 0; i < t->list.n; i++)
        enter_key(t, i, (const int64_t *)((char *)t->list.items + (size_t)i * size));
    return true;
}

void *trace_lookup(struct trace_table *t, size_t size, int64_t a, int64_t b, bool make)
{
    for (uint64_t at = t->size == 0 ? 0 : place_of(t, a, b);
         t->size > 0 && t->places[at] != 0; at = (at + 1) & (uint64_t)(t->size - 1)) {
        int64_t *key =
            (int64_t *)((char *)t->list.items + (size_t)(t->places[at] - 1) * size);
        if (key[0] == a && key[1] == b) return key;
    }
    if (!make) return NULL;
    if (2 * (t->list.n + 1) > t->size && !grow(t, size)) return NULL;
    int64_t *made = trace_append(&t->list, size, NULL);
    if (made == NULL) return NULL;
    made[0] = a;
    made[1] = b;
    enter_key(t, t->list.n - 1, made);
    return made;
}
