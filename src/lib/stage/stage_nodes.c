/* Which nodes there are, and which of them keeps what. */
#include "stage_nodes.h"

#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mpi.h"

/* ---- memory that the processes of a node share ---- */

static int64_t at_home(const struct stage_shared *all)
{
    return all->nblocks / all->nodes + 1;
}

size_t stage_shared_bytes(const struct stage_shared *plan)
{
    size_t nodes = (size_t)plan->nodes;
    return sizeof *plan + (size_t)plan->nparts * sizeof(struct stage_part) +
           nodes * (sizeof(struct stage_place) + sizeof(struct stage_mark)) +
           (size_t)at_home(plan) * sizeof(uint64_t) +
           stage_table_bytes(plan->nblocks, plan->nslots);
}

static _Atomic uint64_t *keepers(struct stage_shared *all)
{
    return (_Atomic uint64_t *)stage_part_of(all, all->nparts);
}

struct stage_table *stage_table_of(struct stage_shared *all)
{
    return (struct stage_table *)(keepers(all) + at_home(all));
}

struct stage_mark *stage_mark_of(struct stage_shared *all, int node)
{
    char *behind = (char *)stage_table_of(all);
    return (struct stage_mark *)(behind + stage_table_bytes(all->nblocks, all->nslots)) +
           node;
}

struct stage_place *stage_place_of(struct stage_shared *all, int node)
{
    return (struct stage_place *)stage_mark_of(all, all->nodes) + node;
}

void stage_shared_init(struct stage_shared *all, const struct stage_shared *plan)
{
    all->nparts = plan->nparts;
    all->block = plan->block;
    all->nblocks = plan->nblocks;
    all->nslots = plan->nslots;
    all->nodes = plan->nodes;
    all->node = plan->node;
    all->mirror = plan->mirror;
    all->watched = 0;
    all->room = plan->room;
    atomic_init(&all->granted, 0);
    atomic_init(&all->stamp, atomic_load(&plan->stamp));
    memset(stage_part_of(all, 0), 0, (size_t)all->nparts * sizeof(struct stage_part));
    for (int64_t i = 0; i < at_home(all); i++)
        atomic_init(&keepers(all)[i], 0);
    stage_table_init(stage_table_of(all), all->nblocks, all->nslots);
    if (all->mirror) stage_table_fix(stage_table_of(all));
    for (int i = 0; i < all->nodes; i++) {
        atomic_init(&stage_mark_of(all, i)->failures, 0);
        atomic_init(&stage_mark_of(all, i)->best, 0);
        memset(stage_place_of(all, i), 0, sizeof(struct stage_place));
    }
}

/* ---- homes ---- */

int stage_nodes_keeper(struct stage_shared *all, int64_t block, int asker, int without)
{
    _Atomic uint64_t *k = &keepers(all)[block / all->nodes];
    uint64_t known = atomic_load(k);
    while (known == 0 || (int)known - 1 == without) {
        bool more = known == 0;
        if (more && atomic_fetch_add(&all->granted, 1) >= all->room) {
            atomic_fetch_sub(&all->granted, 1);
            return -1;
        }
        if (atomic_compare_exchange_weak(k, &known, (uint64_t)asker + 1)) return asker;
        if (more) atomic_fetch_sub(&all->granted, 1);
    }
    return (int)known - 1;
}

/* ---- the others ---- */

static bool nodes_exchange(const struct stage *s)
{
    return s->nprocs < s->ds->nprocs && s->ds->hints.stage_exchange != BASE_DISABLE;
}

int stage_nodes_meet_all(struct stage *s)
{
    if (!nodes_exchange(s)) return NC_NOERR;
    int mpi = MPI_Comm_split(s->ds->comm, s->first ? 0 : MPI_UNDEFINED, s->ds->rank,
                             &s->firsts);
    int64_t lacking = mpi != MPI_SUCCESS;
    int err = base_mpi_error(mpi, NC_EMPI, "connecting the nodes");
    err = dataset_agree_all(s->ds, err, NULL, &lacking, 1);
    if (lacking) s->firsts = MPI_COMM_NULL;
    return err;
}

int stage_nodes_count(struct stage *s, struct stage_shared *plan)
{
    int nodes = 1, node = 0, mpi = MPI_SUCCESS;
    if (s->firsts != MPI_COMM_NULL) {
        mpi = MPI_Comm_set_errhandler(s->firsts, MPI_ERRORS_RETURN);
        if (mpi == MPI_SUCCESS) mpi = MPI_Comm_rank(s->firsts, &node);
        if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(s->firsts, &nodes);
    }
    plan->node = node;
    plan->nodes = nodes;
    return base_mpi_error(mpi, NC_EMPI, "counting the nodes");
}

void stage_nodes_exchange_all(struct stage *s)
{
    struct stage_place own;
    if (s->firsts == MPI_COMM_NULL) return;
    memset(&own, 0, sizeof own);
    s->listener = stage_serve_listen(&own);
    int mpi = MPI_Allgather(&own, sizeof own, MPI_BYTE, stage_place_of(s->shared, 0),
                            sizeof own, MPI_BYTE, s->firsts);
    if (mpi != MPI_SUCCESS)
        for (int i = 0; i < s->shared->nodes; i++)
            stage_place_of(s->shared, i)->port = 0;
    (void)MPI_Comm_free(&s->firsts);
}
