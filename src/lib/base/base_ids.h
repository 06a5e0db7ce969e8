/* Maps small numbers to objects. A new object gets the smallest free number. Threads may
 * share a map. Look-ups take no lock, because every API call makes one. A table replaced
 * with a larger one therefore remains valid until the map is empty. */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct base_ids_table {
    struct base_ids_table *smaller; /* previous table */
    int capacity;
    _Atomic(void *) object[];
};

struct base_ids {
    pthread_mutex_t lock; /* protects changes */
    _Atomic(struct base_ids_table *) table;
    int used;
};

/* Initializer for an empty map, which owns no memory. */
#define BASE_IDS_EMPTY                                                                   \
    {                                                                                    \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                \
    }

/* Adds an object, which must not be NULL. Returns its number, or -1 if out of memory. */
int base_ids_enter(struct base_ids *t, void *object);

/* Return the object with a number, or NULL. base_ids_leave also removes the object. */
void *base_ids_find(struct base_ids *t, int id);
void *base_ids_leave(struct base_ids *t, int id);

/* Returns the object with the lowest number for which `fits` returns true, or NULL. No
 * object leaves the map meanwhile. */
void *base_ids_search(struct base_ids *t, bool (*fits)(void *object, void *of), void *of);

/* Returns the number of objects. Stores their numbers in `ids`, in ascending order,
 * unless it is NULL. */
int base_ids_list(struct base_ids *t, int *ids);

#endif
