/* Open datasets by their ids. Ids of closed ones are used again, the smallest first. */
#include <pthread.h>

#include "api_dataset.h"
#include "base_mem.h"
#include "pnetcdf.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct api_dataset **table;
static int capacity, open_count;

int api_find(int ncid, struct api_dataset **d)
{
    pthread_mutex_lock(&lock);
    *d = ncid >= 0 && ncid < capacity ? table[ncid] : NULL;
    pthread_mutex_unlock(&lock);
    return *d == NULL ? NC_EBADID : NC_NOERR;
}

int api_find_defining(int ncid, struct api_dataset **d)
{
    int err = api_find(ncid, d);
    if (err != NC_NOERR) return err;
    if (!(*d)->ds.writable) return NC_EPERM;
    return (*d)->defining ? NC_NOERR : NC_ENOTINDEFINE;
}

/* The smallest free id, after making room for it; -1 when memory is short. */
static int free_id(void)
{
    int id = 0;
    while (id < capacity && table[id] != NULL)
        id++;
    if (id < capacity) return id;

    int larger = capacity * 2 + 16;
    struct api_dataset **grown =
        base_realloc(table, (size_t)larger * sizeof(struct api_dataset *));
    if (grown == NULL) return -1;
    for (int i = capacity; i < larger; i++)
        grown[i] = NULL;
    table = grown;
    capacity = larger;
    return id;
}

int api_enter(struct api_dataset *d)
{
    pthread_mutex_lock(&lock);
    d->ncid = free_id();
    if (d->ncid >= 0) {
        table[d->ncid] = d;
        open_count++;
    }
    pthread_mutex_unlock(&lock);
    return d->ncid < 0 ? NC_ENOMEM : NC_NOERR;
}

void api_leave(struct api_dataset *d)
{
    pthread_mutex_lock(&lock);
    table[d->ncid] = NULL;
    if (--open_count == 0) { /* nothing is held while nothing is open */
        base_free(table);
        table = NULL;
        capacity = 0;
    }
    pthread_mutex_unlock(&lock);
}

int ncmpi_inq_files_opened(int *num, int *ncids)
{
    if (num == NULL) return NC_EINVAL;
    pthread_mutex_lock(&lock);
    *num = open_count;
    for (int id = 0; ncids != NULL && id < capacity; id++)
        if (table[id] != NULL) *ncids++ = id;
    pthread_mutex_unlock(&lock);
    return NC_NOERR;
}
