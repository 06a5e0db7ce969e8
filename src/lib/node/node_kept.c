/* Slots for what is kept, or is to be. */
#include "node_kept.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static char *thing_of(const struct node_kept *k, const struct node_slot *slot)
{
    return (char *)k->things + (size_t)(slot - k->slots) * k->size;
}

/* The slot of a number; of 0, a free one. NULL: there is none. With the lock. */
static struct node_slot *find_slot(struct node_kept *k, int64_t number)
{
    for (int i = 0; i < k->most; i++)
        if (k->slots[i].number == number) return &k->slots[i];
    return NULL;
}

static void free_slot(struct node_slot *slot)
{
    (void)MPI_Group_free(&slot->group);
    *slot = (struct node_slot){.number = 0};
}

/* The least number first; NULL: nothing is kept. */
static struct node_slot *first_kept(struct node_kept *k)
{
    struct node_slot *first = NULL;
    for (struct node_slot *s = k->slots; s < k->slots + k->most; s++)
        if (s->kept && (first == NULL || s->number < first->number)) first = s;
    return first;
}

/* What is left when MPI ends. */
static void free_all_kept_all(void *of)
{
    struct node_kept *k = of;
    struct node_slot *slot;
    while ((slot = first_kept(k)) != NULL) {
        k->free_all(thing_of(k, slot));
        free_slot(slot);
    }
}

int64_t node_kept_number(struct node_kept *k)
{
    pthread_mutex_lock(&mutex);
    int64_t number = k->last + 1;
    pthread_mutex_unlock(&mutex);
    return number;
}

void node_kept_note(struct node_kept *k, int64_t number)
{
    pthread_mutex_lock(&mutex);
    if (number > k->last) k->last = number;
    pthread_mutex_unlock(&mutex);
}

bool node_kept_hold(struct node_kept *k, const struct dataset *ds, int64_t number)
{
    pthread_mutex_lock(&mutex);
    struct node_slot *slot = find_slot(k, 0);
    bool held = slot != NULL && find_slot(k, number) == NULL &&
                base_mpi_at_end(k->end, free_all_kept_all, k) &&
                MPI_Comm_group(ds->comm, &slot->group) == MPI_SUCCESS;
    if (held) slot->number = number;
    pthread_mutex_unlock(&mutex);
    return held;
}

void node_kept_keep(struct node_kept *k, int64_t number, const void *thing)
{
    pthread_mutex_lock(&mutex);
    struct node_slot *slot = find_slot(k, number);
    memcpy(thing_of(k, slot), thing, k->size);
    slot->kept = true;
    pthread_mutex_unlock(&mutex);
}

void node_kept_let_go(struct node_kept *k, int64_t number)
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

/* Nobody else takes it from here on. NULL: nothing fits. */
static struct node_slot *take_slot(struct node_kept *k, const struct dataset *ds,
                                   bool (*fits)(const void *thing, const void *of),
                                   const void *of)
{
    MPI_Group group;
    struct node_slot *last = NULL;
    if (MPI_Comm_group(ds->comm, &group) != MPI_SUCCESS) return NULL;
    pthread_mutex_lock(&mutex);
    for (struct node_slot *s = k->slots; s < k->slots + k->most; s++)
        if (s->kept && (last == NULL || s->number > last->number) &&
            same_group(s->group, group) && fits(thing_of(k, s), of))
            last = s;
    if (last != NULL) last->kept = false;
    pthread_mutex_unlock(&mutex);
    (void)MPI_Group_free(&group);
    return last;
}

int node_kept_take_all(struct node_kept *k, struct dataset *ds,
                       bool (*fits)(const void *thing, const void *of), const void *of,
                       int error, void *thing, bool *taken)
{
    struct node_slot *slot = take_slot(k, ds, fits, of);
    int64_t number = slot == NULL ? 0 : slot->number, all[2] = {number, -number};
    int err = dataset_agree_all(ds, error, NULL, all, 2);
    *taken = err == NC_NOERR && all[0] > 0 && all[0] == -all[1];
    pthread_mutex_lock(&mutex);
    if (*taken) memcpy(thing, thing_of(k, slot), k->size);
    if (*taken) free_slot(slot);
    if (!*taken && slot != NULL) slot->kept = true;
    pthread_mutex_unlock(&mutex);
    return err;
}
