/* Implements slots for cached objects. A slot is free (number 0), reserved, or occupied
 * (`kept`). */
#include "node_cache.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static char *object_of_slot(const struct node_cache *k, const struct node_slot *slot)
{
    return (char *)k->objects + (size_t)(slot - k->slots) * k->size;
}

/* Returns the slot of the object with this number, or a free slot if `number` is 0.
 * Returns NULL if there is none. Caller must hold the lock. */
static struct node_slot *find_slot(struct node_cache *k, int64_t number)
{
    for (int i = 0; i < k->capacity; i++)
        if (k->slots[i].number == number) return &k->slots[i];
    return NULL;
}

static void free_slot(struct node_slot *slot)
{
    (void)MPI_Group_free(&slot->group);
    *slot = (struct node_slot){.number = 0};
}

/* Returns the occupied slot with the smallest number, or NULL if all are empty. */
static struct node_slot *first_cached(struct node_cache *k)
{
    struct node_slot *first = NULL;
    for (struct node_slot *s = k->slots; s < k->slots + k->capacity; s++)
        if (s->occupied && (first == NULL || s->number < first->number)) first = s;
    return first;
}

/* Frees the cached objects when MPI ends, in numerical order on all processes. */
static void free_cached_all(void *of)
{
    struct node_cache *k = of;
    struct node_slot *slot;
    while ((slot = first_cached(k)) != NULL) {
        k->free_all(object_of_slot(k, slot));
        free_slot(slot);
    }
}

int64_t node_cache_next_number(struct node_cache *k)
{
    pthread_mutex_lock(&mutex);
    int64_t number = k->last + 1;
    pthread_mutex_unlock(&mutex);
    return number;
}

void node_cache_note_number(struct node_cache *k, int64_t number)
{
    pthread_mutex_lock(&mutex);
    if (number > k->last) k->last = number;
    pthread_mutex_unlock(&mutex);
}

bool node_cache_reserve(struct node_cache *k, const struct dataset *ds, int64_t number)
{
    pthread_mutex_lock(&mutex);
    struct node_slot *slot = find_slot(k, 0);
    bool held = slot != NULL && find_slot(k, number) == NULL &&
                base_mpi_at_end(k->end, free_cached_all, k) &&
                MPI_Comm_group(ds->comm, &slot->group) == MPI_SUCCESS;
    if (held) slot->number = number;
    pthread_mutex_unlock(&mutex);
    return held;
}

void node_cache_store(struct node_cache *k, int64_t number, const void *thing)
{
    pthread_mutex_lock(&mutex);
    struct node_slot *slot = find_slot(k, number);
    if (base_holds(slot != NULL && !slot->occupied) == NC_NOERR) {
        memcpy(object_of_slot(k, slot), thing, k->size);
        slot->occupied = true;
    }
    pthread_mutex_unlock(&mutex);
}

void node_cache_release(struct node_cache *k, int64_t number)
{
    pthread_mutex_lock(&mutex);
    free_slot(find_slot(k, number));
    pthread_mutex_unlock(&mutex);
}

static bool same_group(MPI_Group a, MPI_Group b)
{
    int result;
    return MPI_Group_compare(a, b, &result) == MPI_SUCCESS && result == MPI_IDENT;
}

/* Claims the newest match for this thread. Returns NULL if nothing matches. */
static struct node_slot *take_slot(struct node_cache *k, const struct dataset *ds,
                                   bool (*fits)(const void *thing, const void *of),
                                   const void *of)
{
    MPI_Group group;
    struct node_slot *last = NULL;
    if (MPI_Comm_group(ds->comm, &group) != MPI_SUCCESS) return NULL;
    pthread_mutex_lock(&mutex);
    for (struct node_slot *s = k->slots; s < k->slots + k->capacity; s++)
        if (s->occupied && (last == NULL || s->number > last->number) &&
            same_group(s->group, group) && fits(object_of_slot(k, s), of))
            last = s;
    if (last != NULL) last->occupied = false;
    pthread_mutex_unlock(&mutex);
    (void)MPI_Group_free(&group);
    return last;
}

int node_cache_take_all(struct node_cache *k, struct dataset *ds,
                        bool (*fits)(const void *thing, const void *of), const void *of,
                        int error, void *thing, bool *taken)
{
    struct node_slot *slot = take_slot(k, ds, fits, of);
    int64_t number = slot == NULL ? 0 : slot->number, all[2] = {number, -number};
    int err = dataset_agree_all(ds, error, NULL, all, 2);
    *taken = err == NC_NOERR && all[0] > 0 && all[0] == -all[1];
    pthread_mutex_lock(&mutex);
    if (*taken) memcpy(thing, object_of_slot(k, slot), k->size);
    if (*taken) free_slot(slot);
    if (!*taken && slot != NULL) slot->occupied = true;
    pthread_mutex_unlock(&mutex);
    return err;
}
