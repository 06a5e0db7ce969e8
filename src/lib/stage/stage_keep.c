/* Stages without a dataset. All processes of a stage keep it or none does, so that they
 * can free it together when MPI ends, in the order of their numbers. */
#include "stage_keep.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base_mpi.h"
#include "base_names.h"

enum { ROOM = 16 };

static struct kept {
    int64_t number, device, inode, host;
    uint64_t asked; /* a digest of what it was asked for by */
    MPI_Group group;
    struct node *node;
    struct node_memory memory;
    struct stage_shared *shared;
    int rank, nprocs, file, listener;
} kept[ROOM];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int nkept, held;
static int64_t last_number;

static void take_out(int i)
{
    for (nkept--; i < nkept; i++)
        kept[i] = kept[i + 1];
}

/* All that are left, at the end of MPI. */
static void free_all(void)
{
    while (nkept > 0) {
        int first = 0;
        for (int i = 1; i < nkept; i++)
            if (kept[i].number < kept[first].number) first = i;
        (void)close(kept[first].file);
        if (kept[first].listener >= 0) (void)close(kept[first].listener);
        node_memory_free_all(&kept[first].memory);
        node_release_all(kept[first].node);
        (void)MPI_Group_free(&kept[first].group);
        take_out(first);
    }
}

static uint64_t digest(const struct dataset *ds)
{
    const struct base_hints *h = &ds->hints;
    const int64_t numbers[] = {h->stage_size,  h->stage_block, h->stage_exchange,
                               h->stage_scope, h->stage_sums,  h->node_procs,
                               ds->nprocs};
    return base_hash(h->stage_dirname, strlen(h->stage_dirname),
                     base_hash(numbers, sizeof numbers, 0));
}

static bool fits(const struct kept *k, const struct stage *s, MPI_Group group)
{
    int result;
    const struct dataset *ds = s->ds;
    return k->shared->nparts == s->parts.n + 1 && k->inode == ds->inode &&
           k->device == ds->device && k->host == ds->host && k->asked == digest(ds) &&
           MPI_Group_compare(k->group, group, &result) == MPI_SUCCESS &&
           result == MPI_IDENT;
}

int64_t stage_keep_find(const struct stage *s)
{
    const struct dataset *ds = s->ds;
    int64_t number = 0;
    MPI_Group group;
    if (ds->hints.stage_keep != BASE_ENABLE || ds->inode == 0) return 0;
    if (MPI_Comm_group(ds->comm, &group) != MPI_SUCCESS) return 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < nkept; i++)
        if (fits(&kept[i], s, group)) number = kept[i].number;
    pthread_mutex_unlock(&mutex);
    (void)MPI_Group_free(&group);
    return number;
}

void stage_keep_take(struct stage *s, int64_t number)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < nkept; i++) {
        struct kept *k = &kept[i];
        if (k->number != number) continue;
        s->node = k->node;
        s->memory = k->memory;
        s->shared = k->shared;
        s->table = stage_table_of(k->shared);
        s->rank = k->rank;
        s->nprocs = k->nprocs;
        s->first = k->rank == 0;
        s->file = k->file;
        s->listener = k->listener;
        (void)MPI_Group_free(&k->group);
        take_out(i);
        break;
    }
    pthread_mutex_unlock(&mutex);
}

/* Room for one more, which is then held; the number that it would have. */
static bool hold(const struct stage *s, int64_t *number)
{
    pthread_mutex_lock(&mutex);
    bool room = s->file >= 0 && s->ds->inode != 0 && nkept + held < ROOM &&
                base_mpi_at_end(BASE_END_STAGES, free_all) &&
                !stage_table_broken(s->table);
    held += room;
    *number = last_number + 1;
    pthread_mutex_unlock(&mutex);
    return room;
}

static void keep_open(struct stage *s, int64_t number, MPI_Group group)
{
    const struct dataset *ds = s->ds;
    kept[nkept++] = (struct kept){.number = number,
                                  .device = ds->device,
                                  .inode = ds->inode,
                                  .host = ds->host,
                                  .asked = digest(ds),
                                  .group = group,
                                  .node = node_hold(s->node),
                                  .memory = s->memory,
                                  .shared = s->shared,
                                  .rank = s->rank,
                                  .nprocs = s->nprocs,
                                  .file = s->file,
                                  .listener = s->listener};
    s->memory = NODE_NO_MEMORY;
    s->file = s->listener = -1;
}

int stage_keep_or_free_all(struct stage *s)
{
    struct dataset *ds = s->ds;
    int64_t all[2] = {1, 0}; /* refused; number */
    MPI_Group group = MPI_GROUP_NULL;
    int err = NC_NOERR;
    if (s->table == NULL) return NC_NOERR;
    if (ds->hints.stage_keep == BASE_ENABLE) {
        bool room = hold(s, &all[1]);
        bool whole = MPI_Comm_group(ds->comm, &group) == MPI_SUCCESS;
        all[0] = !room || !whole;
        err = dataset_agree_all(ds, NC_NOERR, NULL, all, 2);
        if (err != NC_NOERR) all[0] = 1;
        pthread_mutex_lock(&mutex);
        held -= room;
        if (all[1] > last_number) last_number = all[1];
        if (!all[0]) keep_open(s, all[1], group);
        pthread_mutex_unlock(&mutex);
        if (all[0] && whole) (void)MPI_Group_free(&group);
    }
    if (all[0]) {
        node_memory_free_all(&s->memory);
    }
    return err;
}
