/* Stages without a dataset. */
#include "stage_keep.h"

#include <string.h>
#include <unistd.h>

#include "base_names.h"
#include "node_kept.h"

struct kept {
    int64_t number, device, inode, host;
    uint64_t asked; /* a digest of what it was asked for by */
    struct node *node;
    struct node_memory memory;
    struct stage_shared *shared;
    int rank, nprocs, file, listener;
};

static void free_kept_stage_all(void *thing)
{
    struct kept *k = thing;
    (void)close(k->file);
    if (k->listener >= 0) (void)close(k->listener);
    node_memory_free_all(&k->memory);
    node_release_all(k->node);
}

static struct kept things[NODE_KEPT_MOST];
static struct node_kept stages = {.end = BASE_END_STAGES,
                                  .most = NODE_KEPT_MOST,
                                  .size = sizeof things[0],
                                  .things = things,
                                  .free_all = free_kept_stage_all};

static uint64_t digest_hints(const struct dataset *ds)
{
    const struct base_hints *h = &ds->hints;
    const int64_t numbers[] = {h->stage_size,  h->stage_block, h->stage_exchange,
                               h->stage_scope, h->stage_sums,  h->node_procs,
                               ds->nprocs};
    return base_hash(h->stage_dirname, strlen(h->stage_dirname),
                     base_hash(numbers, sizeof numbers, 0));
}

static bool kept_fits(const void *thing, const void *of)
{
    const struct kept *k = thing;
    const struct stage *s = of;
    const struct dataset *ds = s->ds;
    return ds->hints.stage_keep == BASE_ENABLE && ds->inode != 0 &&
           k->shared->nparts == s->parts.n + 1 && k->inode == ds->inode &&
           k->device == ds->device && k->host == ds->host && k->asked == digest_hints(ds);
}

int stage_keep_take_all(struct stage *s, int error, bool *taken)
{
    struct kept k;
    int err = node_kept_take_all(&stages, s->ds, kept_fits, s, error, &k, taken);
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

int64_t stage_keep_number(void)
{
    return node_kept_number(&stages);
}

void stage_keep_note(struct stage *s, int64_t number)
{
    s->number = number;
    node_kept_note(&stages, number);
}

static void keep_open(struct stage *s)
{
    const struct dataset *ds = s->ds;
    const struct kept k = {.number = s->number,
                           .device = ds->device,
                           .inode = ds->inode,
                           .host = ds->host,
                           .asked = digest_hints(ds),
                           .node = node_hold(s->node),
                           .memory = s->memory,
                           .shared = s->shared,
                           .rank = s->rank,
                           .nprocs = s->nprocs,
                           .file = s->file,
                           .listener = s->listener};
    node_kept_keep(&stages, s->number, &k);
    s->memory = NODE_NO_MEMORY;
    s->file = s->listener = -1;
}

int stage_keep_or_free_all(struct stage *s)
{
    struct dataset *ds = s->ds;
    int64_t refused = 1;
    int err = NC_NOERR;
    if (s->table == NULL) return NC_NOERR;
    if (ds->hints.stage_keep == BASE_ENABLE) {
        bool held = s->file >= 0 && ds->inode != 0 && !stage_table_broken(s->table) &&
                    node_kept_hold(&stages, ds, s->number);
        refused = !held;
        err = dataset_agree_all(ds, NC_NOERR, NULL, &refused, 1);
        if (err != NC_NOERR) refused = 1;
        if (!refused) keep_open(s);
        if (refused && held) node_kept_let_go(&stages, s->number);
    }
    if (refused) node_memory_free_all(&s->memory);
    return err;
}
