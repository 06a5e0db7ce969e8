/* Windows without a dataset. All processes of a window keep it or none does, so that
 * they can free it together when MPI ends, in the order of their numbers. */
#include "twophase_pool.h"

#include <pthread.h>

#include "base_mem.h"
#include "base_mpi.h"

enum { ROOM = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct twophase_window kept[ROOM]; /* the one kept last comes last */
static int nkept, held;
static int64_t last_number;

static void set_aside(const struct twophase_window *w, bool aside)
{
    base_mem_set_aside(w->alone, aside);
    base_mem_set_aside(w->inbox, aside);
    base_mem_set_aside(w->tallies, aside);
}

/* All that are left. */
static void free_all(void)
{
    while (nkept > 0) {
        int first = 0;
        for (int i = 1; i < nkept; i++)
            if (kept[i].number < kept[first].number) first = i;
        twophase_window_free_all(&kept[first]);
        kept[first] = kept[--nkept];
    }
}

static bool same_group(const struct twophase_window *w, MPI_Group group)
{
    int result;
    return MPI_Group_compare(w->group, group, &result) == MPI_SUCCESS &&
           result == MPI_IDENT;
}

/* The last one that fits, or -1. */
static int find_window(const struct dataset *ds, int64_t unit, MPI_Group group)
{
    for (int i = nkept - 1; i >= 0; i--)
        if (kept[i].share == ds->hints.node_share &&
            kept[i].most == ds->hints.node_procs &&
            kept[i].storers == ds->hints.aggregators_per_node && kept[i].unit == unit &&
            same_group(&kept[i], group))
            return i;
    return -1;
}

bool twophase_pool_take(struct twophase_window *w, const struct dataset *ds, int64_t unit)
{
    MPI_Group group;
    pthread_mutex_lock(&mutex);
    int i = -1;
    if (nkept > 0 && MPI_Comm_group(ds->comm, &group) == MPI_SUCCESS) {
        i = find_window(ds, unit, group);
        MPI_Group_free(&group);
    }
    if (i >= 0) {
        *w = kept[i];
        set_aside(w, false);
        for (nkept--, held++; i < nkept; i++)
            kept[i] = kept[i + 1];
    }
    pthread_mutex_unlock(&mutex);
    return i >= 0;
}

bool twophase_pool_hold(const struct twophase_window *w)
{
    pthread_mutex_lock(&mutex);
    bool room = w->state == TWOPHASE_WINDOW_READY && w->nodes * w->nprocs > 1 &&
                nkept + held < ROOM && base_mpi_at_end(BASE_END_WINDOWS, free_all);
    if (room) held++;
    pthread_mutex_unlock(&mutex);
    return room;
}

void twophase_pool_keep(const struct twophase_window *w)
{
    pthread_mutex_lock(&mutex);
    held--;
    kept[nkept++] = *w;
    set_aside(w, true);
    pthread_mutex_unlock(&mutex);
}

void twophase_pool_let_go(void)
{
    pthread_mutex_lock(&mutex);
    held--;
    pthread_mutex_unlock(&mutex);
}

int64_t twophase_pool_number(void)
{
    pthread_mutex_lock(&mutex);
    int64_t number = last_number + 1;
    pthread_mutex_unlock(&mutex);
    return number;
}

void twophase_pool_note(int64_t number)
{
    pthread_mutex_lock(&mutex);
    if (number > last_number) last_number = number;
    pthread_mutex_unlock(&mutex);
}
