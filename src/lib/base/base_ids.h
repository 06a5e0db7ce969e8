/* Objects by small numbers. Numbers of objects that left are used again, the smallest
 * first. Threads may share a table. Finding takes no lock, being part of every call: a
 * table that became too small stays for those who still look into it until nothing is
 * entered any more. */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <pthread.h>
#include <stdatomic.h>

struct base_ids_table {
    struct base_ids_table *smaller; /* the one before */
    int capacity;
    _Atomic(void *) object[];
};

struct base_ids {
    pthread_mutex_t lock; /* held by who changes something */
    _Atomic(struct base_ids_table *) table;
    int used;
};

/* What an empty table is initialised with. It holds no memory while it is empty. */
#define BASE_IDS_EMPTY                                                                   \
    {                                                                                    \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                \
    }

/* Enters an object, which is not NULL; its number, or -1 when memory is short. */
int base_ids_enter(struct base_ids *t, void *object);

/* The object of a number; leave takes it out, too. NULL if there is none. */
void *base_ids_find(struct base_ids *t, int id);
void *base_ids_leave(struct base_ids *t, int id);

/* How many there are; ids, if not NULL, gets their numbers, ascending. */
int base_ids_list(struct base_ids *t, int *ids);

#endif
