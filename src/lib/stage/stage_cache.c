/* Caches the stages of closed datasets (node_cache). An entry contains the shared memory,
 * the staged file and the listening socket, and is reused for a dataset with the same
 * file, processes and hints. A stage is cached only if all processes can cache it. */
#include "stage_cache.h"

#include <string.h>
#include <unistd.h>

#include "base_names.h"
#include "node_cache.h"

struct cached_stage {
    int64_t number, device, inode, host;
    uint64_t asked; /* digest of the hints with which the stage was created */
    struct node *node;
    struct node_memory memory;
    struct stage_shared *shared;
    int rank, nprocs, file, listener;
};

static void free_cached_stage_all(void *thing)
{
    struct cached_stage *k = thing;
    (void)close(k->file);
    if (k->listener >= 0) (void)close(k->listener);
    node_memory_free_all(&k->memory);
    node_release_all(k->node);
}

static struct cached_stage objects[NODE_CACHE_MAX];
static struct node_cache stages = {.end = BASE_END_STAGES,
                                   .capacity = NODE_CACHE_MAX,
                                   .size = sizeof objects[0],
                                   .objects = objects,
                                   .free_all = free_cached_stage_all};

static uint64_t digest_hints(const struct dataset *ds)
{
    const struct hints *h = &ds->hints;
    const int64_t numbers[] = {h->stage_size,  h->stage_block, h->stage_exchange,
                               h->stage_scope, h->stage_sums,  h->node_procs,
                               ds->nprocs};
    return base_hash(h->stage_dirname, strlen(h->stage_dirname),
                     base_hash(numbers, sizeof numbers, 0));
}

static bool matches_cached_stage(const void *thing, const void *of)
{
    const struct cached_stage *k = thing;
    const struct stage *s = of;
    const struct dataset *ds = s->ds;
    return ds->hints.stage_keep == HINTS_ENABLE && ds->identity.inode != 0 &&
           k->shared->nparts == s->parts.n + 1 && k->inode == ds->identity.inode &&
           k->device == ds->identity.device && k->host == ds->identity.host &&
           k->asked == digest_hints(ds);
}

int stage_cache_take_all(struct stage *s, int error, bool *taken)
{
    struct cached_stage k;
    int err =
        node_cache_take_all(&stages, s->ds, matches_cached_stage, s, error, &k, taken);
    if (!*taken) return err;
    s->number = k.number;
    s->node = k.node;
    s->memory = k.memory;
    s->shared = k.shared;
    s->table = stage_table_of(k.shared);
    s->rank = k.rank;
    s->nprocs = k.nprocs;
    s->first = k.rank == 0;
    s->file = k.file;
    s->listener = k.listener;
    return err;
}

int64_t stage_cache_number(void)
{
    return node_cache_next_number(&stages);
}

void stage_cache_note(struct stage *s, int64_t number)
{
    s->number = number;
    node_cache_note_number(&stages, number);
}

static void store_in_cache(struct stage *s)
{
    const struct dataset *ds = s->ds;
    const struct cached_stage k = {.number = s->number,
                                   .device = ds->identity.device,
                                   .inode = ds->identity.inode,
                                   .host = ds->identity.host,
                                   .asked = digest_hints(ds),
                                   .node = node_retain(s->node),
                                   .memory = s->memory,
                                   .shared = s->shared,
                                   .rank = s->rank,
                                   .nprocs = s->nprocs,
                                   .file = s->file,
                                   .listener = s->listener};
    node_cache_store(&stages, s->number, &k);
    s->memory = NODE_NO_MEMORY;
    s->file = s->listener = -1;
}

int stage_cache_or_free_all(struct stage *s)
{
    struct dataset *ds = s->ds;
    int64_t refused = 1;
    int err = NC_NOERR;
    if (s->table == NULL) return NC_NOERR;
    if (ds->hints.stage_keep == HINTS_ENABLE) {
        bool held = s->file >= 0 && ds->identity.inode != 0 &&
                    !stage_table_is_disabled(s->table) &&
                    node_cache_reserve(&stages, ds, s->number);
        refused = !held;
        err = dataset_agree_all(ds, NC_NOERR, NULL, &refused, 1);
        if (err != NC_NOERR) refused = 1;
        if (!refused) store_in_cache(s);
        if (refused && held) node_cache_release(&stages, s->number);
    }
    if (refused) node_memory_free_all(&s->memory);
    return err;
}
