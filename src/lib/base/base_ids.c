/* Maps small numbers to objects with a growing array. A linear search finds the first
 * free entry. */
#include "base_ids.h"

#include <stddef.h>

#include "base_mem.h"

/* Replaces the table with a larger one. Returns NULL if out of memory. */
static struct base_ids_table *grow_table(struct base_ids *t)
{
    struct base_ids_table *now = t->table, *grown;
    int had = now == NULL ? 0 : now->capacity, larger = had * 2 + 16;
    grown = base_calloc(1, sizeof *grown + (size_t)larger * sizeof grown->object[0]);
    if (grown == NULL) return NULL;
    grown->smaller = now;
    grown->capacity = larger;
    for (int i = 0; i < had; i++)
        grown->object[i] = atomic_load(&now->object[i]);
    t->table = grown;
    return grown;
}

/* Returns the smallest free number. Grows the table if needed. Returns -1 if out of
 * memory. */
static int free_id(struct base_ids *t)
{
    struct base_ids_table *now = t->table;
    int id = 0, capacity = now == NULL ? 0 : now->capacity;
    while (id < capacity && now->object[id] != NULL)
        id++;
    return id < capacity || grow_table(t) != NULL ? id : -1;
}

static _Atomic(void *) *place(struct base_ids *t, int id)
{
    struct base_ids_table *now = atomic_load_explicit(&t->table, memory_order_acquire);
    return now != NULL && id >= 0 && id < now->capacity ? &now->object[id] : NULL;
}

static void free_tables(struct base_ids *t)
{
    struct base_ids_table *now = t->table;
    t->table = NULL;
    while (now != NULL) {
        struct base_ids_table *smaller = now->smaller;
        base_free(now);
        now = smaller;
    }
}

int base_ids_enter(struct base_ids *t, void *object)
{
    pthread_mutex_lock(&t->lock);
    int id = free_id(t);
    if (id >= 0) {
        atomic_store(place(t, id), object);
        t->used++;
    }
    pthread_mutex_unlock(&t->lock);
    return id;
}

void *base_ids_find(struct base_ids *t, int id)
{
    _Atomic(void *) *at = place(t, id);
    return at == NULL ? NULL : atomic_load_explicit(at, memory_order_acquire);
}

void *base_ids_leave(struct base_ids *t, int id)
{
    pthread_mutex_lock(&t->lock);
    _Atomic(void *) *at = place(t, id);
    void *object = at == NULL ? NULL : atomic_exchange(at, NULL);
    if (object != NULL) t->used--;
    if (t->used == 0) free_tables(t);
    pthread_mutex_unlock(&t->lock);
    return object;
}

void *base_ids_search(struct base_ids *t, bool (*fits)(void *object, void *of), void *of)
{
    void *found = NULL;
    pthread_mutex_lock(&t->lock);
    const struct base_ids_table *now = t->table;
    for (int id = 0; found == NULL && now != NULL && id < now->capacity; id++)
        if (now->object[id] != NULL && fits(now->object[id], of)) found = now->object[id];
    pthread_mutex_unlock(&t->lock);
    return found;
}

int base_ids_list(struct base_ids *t, int *ids)
{
    pthread_mutex_lock(&t->lock);
    const struct base_ids_table *now = t->table;
    int used = t->used;
    for (int id = 0; ids != NULL && now != NULL && id < now->capacity; id++)
        if (now->object[id] != NULL) *ids++ = id;
    pthread_mutex_unlock(&t->lock);
    return used;
}
