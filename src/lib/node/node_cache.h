/* A cache of objects that outlive their dataset, for the next dataset that the same
 * processes open. Creating shared memory is expensive. Either all processes of a dataset
 * cache an object, or none does. Objects that remain when MPI ends are freed
 * collectively, in numerical order.
 *
 * Threads of a process may use different datasets. So each process claims an object, and
 * the processes agree on whether all have claimed the same one; if not, they return their
 * objects to the cache. No two objects that a process caches, or has reserved slots for,
 * have the same number. */
#ifndef NODE_CACHE_H
#define NODE_CACHE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_mpi.h"
#include "dataset.h"

enum { NODE_CACHE_MAX = 16 };

/* The cache for one kind of object. Only node_cache changes its variable members. */
struct node_cache {
    enum base_end end;
    int capacity;                  /* capacity, at most NODE_CACHE_MAX */
    size_t size;                   /* size of an object in bytes */
    void *objects;                 /* array of `capacity` objects */
    void (*free_all)(void *thing); /* called when MPI ends */
    int64_t last;                  /* largest number known to this process */
    struct node_slot {
        int64_t number; /* number of the object; 0 if the slot is free */
        MPI_Group group;
        bool occupied; /* true if occupied, false if reserved */
    } slots[NODE_CACHE_MAX];
};

/* node_cache_next_number proposes a number for a new object. The maximum of all
 * processes' proposals becomes its number; every process passes it to
 * node_cache_note_number. */
int64_t node_cache_next_number(struct node_cache *k);
void node_cache_note_number(struct node_cache *k, int64_t number);

/* Reserves a slot for the dataset's object with this number. Returns false if no slot is
 * free or the number is in use. After the processes have agreed, node_cache_store stores
 * the object in the slot, or node_cache_release releases the slot. Local. */
bool node_cache_reserve(struct node_cache *k, const struct dataset *ds, int64_t number);
void node_cache_store(struct node_cache *k, int64_t number, const void *thing);
void node_cache_release(struct node_cache *k, int64_t number);

/* Removes from the cache these processes' newest object for which `fits` returns true, if
 * all processes find the same object; otherwise sets *taken to false. `error` is this
 * process's earlier error. All processes get the same result. */
int node_cache_take_all(struct node_cache *k, struct dataset *ds,
                        bool (*fits)(const void *thing, const void *of), const void *of,
                        int error, void *thing, bool *taken);

#endif
