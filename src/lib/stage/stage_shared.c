/* Manages the memory that a node's processes share: its layout, its initial contents, and
 * the blocks' keepers. A block's keeper is recorded at the block's home, a node that is
 * computed from the block number. */
#include "stage_nodes.h"

#include <string.h>

/* ---- layout ---- */

static int64_t blocks_per_home(const struct stage_shared *all)
{
    return all->nblocks / all->nodes + 1;
}

size_t stage_shared_bytes(const struct stage_shared *plan)
{
    size_t nodes = (size_t)plan->nodes;
    return sizeof *plan + (size_t)plan->nparts * sizeof(struct stage_part) +
           nodes * (sizeof(struct stage_address) + sizeof(struct stage_peer)) +
           (size_t)blocks_per_home(plan) * sizeof(uint64_t) +
           stage_table_bytes(plan->nblocks, plan->nslots);
}

static _Atomic uint64_t *keepers(struct stage_shared *all)
{
    return (_Atomic uint64_t *)stage_part_of(all, all->nparts);
}

struct stage_table *stage_table_of(struct stage_shared *all)
{
    return (struct stage_table *)(keepers(all) + blocks_per_home(all));
}

struct stage_peer *stage_peer_of(struct stage_shared *all, int node)
{
    char *behind = (char *)stage_table_of(all);
    return (struct stage_peer *)(behind + stage_table_bytes(all->nblocks, all->nslots)) +
           node;
}

struct stage_address *stage_address_of(struct stage_shared *all, int node)
{
    return (struct stage_address *)stage_peer_of(all, all->nodes) + node;
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
    all->home_capacity = plan->home_capacity;
    atomic_init(&all->home_used, 0);
    atomic_init(&all->asked, 0);
    atomic_init(&all->read, 0);
    atomic_init(&all->dropped, 0);
    atomic_init(&all->stamp, atomic_load(&plan->stamp));
    memset(stage_part_of(all, 0), 0, (size_t)all->nparts * sizeof(struct stage_part));
    for (int64_t i = 0; i < blocks_per_home(all); i++)
        atomic_init(&keepers(all)[i], 0);
    stage_table_init(stage_table_of(all), all->nblocks, all->nslots);
    if (all->mirror) stage_table_fix_slots(stage_table_of(all));
    for (int i = 0; i < all->nodes; i++) {
        atomic_init(&stage_peer_of(all, i)->failures, 0);
        atomic_init(&stage_peer_of(all, i)->best, 0);
        memset(stage_address_of(all, i), 0, sizeof(struct stage_address));
    }
}

/* ---- keepers: the node that stages each block ---- */

int stage_shared_keeper(struct stage_shared *all, int64_t block, int requester,
                        int without)
{
    _Atomic uint64_t *k = &keepers(all)[block / all->nodes];
    uint64_t known = atomic_load(k);
    while (known == 0 || (int)known - 1 == without) {
        bool more = known == 0;
        if (more && atomic_fetch_add(&all->home_used, 1) >= all->home_capacity) {
            atomic_fetch_sub(&all->home_used, 1);
            return -1;
        }
        if (atomic_compare_exchange_weak(k, &known, (uint64_t)requester + 1))
            return requester;
        if (more) atomic_fetch_sub(&all->home_used, 1);
    }
    return (int)known - 1;
}
