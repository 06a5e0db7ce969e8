/* Objects by small numbers: an array that grows, searched for its first free place. */
#include "base_ids.h"

#include <stddef.h>

#include "base_mem.h"

/* The smallest free number, after making room for it; -1 when memory is short. */
static int free_id(struct base_ids *t)
{
    int id = 0;
    while (id < t->capacity && t->table[id] != NULL)
        id++;
    if (id < t->capacity) return id;

    int larger = t->capacity * 2 + 16;
    void **grown = base_realloc(t->table, (size_t)larger * sizeof *grown);
    if (grown == NULL) return -1;
    for (int i = t->capacity; i < larger; i++)
        grown[i] = NULL;
    t->table = grown;
    t->capacity = larger;
    return id;
}

int base_ids_enter(struct base_ids *t, void *object)
{
    pthread_mutex_lock(&t->lock);
    int id = free_id(t);
    if (id >= 0) {
        t->table[id] = object;
        t->used++;
    }
    pthread_mutex_unlock(&t->lock);
    return id;
}

void *base_ids_find(struct base_ids *t, int id)
{
    pthread_mutex_lock(&t->lock);
    void *object = id >= 0 && id < t->capacity ? t->table[id] : NULL;
    pthread_mutex_unlock(&t->lock);
    return object;
}

void *base_ids_leave(struct base_ids *t, int id)
{
    pthread_mutex_lock(&t->lock);
    void *object = id >= 0 && id < t->capacity ? t->table[id] : NULL;
    if (object != NULL) {
        t->table[id] = NULL;
        t->used--;
    }
    if (t->used == 0) {
        base_free(t->table);
        t->table = NULL;
        t->capacity = 0;
    }
    pthread_mutex_unlock(&t->lock);
    return object;
}

int base_ids_list(struct base_ids *t, int *ids)
{
    pthread_mutex_lock(&t->lock);
    int used = t->used;
    for (int id = 0; ids != NULL && id < t->capacity; id++)
        if (t->table[id] != NULL) *ids++ = id;
    pthread_mutex_unlock(&t->lock);
    return used;
}
