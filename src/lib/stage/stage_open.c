/* Opens and closes the stage layer, and implements all operations but gets. Once all
 * layers are open (opened_all), the files are identified. A cached stage is reused if all
 * processes have it. Otherwise the nodes are counted, shared memory is created according
 * to the first process's plan, and the staged file is created, opened by all processes on
 * the node, and unlinked. If any step fails, the dataset is read without staging. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "stage.h"
#include "stage_prefetch.h"
#include "stage_copy.h"
#include "stage_cache.h"
#include "stage_nodes.h"

static bool stage_is_wanted(const struct dataset *ds, bool create)
{
    return ds->hints.stage == HINTS_ENABLE && !create && !ds->writable &&
           ds->netcdf4 == 0 && ds->hints.short_file != HINTS_SHORT_ERROR &&
           NODE_SHARED_64;
}

/* ---- closing ---- */

static void free_local(struct stage *s)
{
    stage_source_end(&s->own);
    if (s->file >= 0) (void)close(s->file);
    if (s->listener >= 0) (void)close(s->listener);
    stage_connections_end(&s->lines);
    base_free(s->view.own);
    base_free(s->tile);
    base_free(s->own.steps);
    base_free(s);
}

/* Disables staging after a failure. Waits for the node's other processes, because shared
 * memory is freed collectively. */
static void disable_staging_all(struct stage *s)
{
    node_memory_free_all(&s->memory);
    if (s->firsts != MPI_COMM_NULL) (void)MPI_Comm_free(&s->firsts);
    s->shared = NULL;
    s->table = NULL;
    s->ds->stats.stage_fallbacks++;
}

static int close_stage_all(struct driver *self, bool abort)
{
    struct stage *s = (struct stage *)self;
    struct driver *lower = self->lower;
    stage_prefetch_stop(s);
    stage_clear_view(s);
    stage_copy_stop(s);
    stage_stats_add(s);
    stage_server_stop(s);
    int err = stage_cache_or_free_all(s);
    node_release_all(s->node);
    free_local(s);
    int closed = driver_call(lower, close_all, abort);
    return closed != NC_NOERR ? closed : err;
}

/* ---- opening ---- */

/* Identities of the dataset's own file and of n other files. */
struct files {
    struct stage_identity *list;
    int n;
    bool all; /* the other files contain all values */
};

static int64_t blocks_in(const struct files *f, int number, int64_t block)
{
    int64_t size = number == 0 && f->all ? 0 : f->list[number].size;
    return size / block + (size % block != 0);
}

static int64_t blocks_of(const struct files *f, int64_t block)
{
    int64_t n = 0;
    for (int i = 0; i <= f->n; i++)
        n += blocks_in(f, i, block);
    return n;
}

/* Plans blocks of the hint's size, or larger ones if there would be too many. If there
 * are still too many, the last blocks are not staged. */
static void plan_stage(const struct dataset *ds, const struct files *f,
                       struct stage_shared *plan)
{
    enum { LEAST = 4096, MOST = 8 << 20 };
    int64_t block = LEAST, wanted = ds->hints.stage_block;
    while (block < MOST && (block < wanted || blocks_of(f, block) > STAGE_MOST_BLOCKS))
        block *= 2;
    int64_t n = blocks_of(f, block), slots = ds->hints.stage_size / block;
    plan->block = block;
    plan->nblocks = n < STAGE_MOST_BLOCKS ? n : STAGE_MOST_BLOCKS;
    plan->nslots = slots > 0 && slots < plan->nblocks ? slots : plan->nblocks;
    if (ds->hints.stage_size > 0 && slots == 0) plan->nslots = 1;
    if (plan->nslots == 0) plan->nslots = 1;
}

/* Identifies the files in a node's first process. On error, nothing is staged. */
static int identify_files(struct stage *s, const struct files *f,
                          struct stage_shared *plan)
{
    if (s->ds->prefixed || s->ds->hints.file_io == HINTS_FILE_IO_MPI ||
        s->ds->hints.no_indep_rw)
        return base_error_set(NC_EFILE, "%s: not staged, as it is read through MPI-IO",
                              s->ds->path);
    int err = stage_source_open(&s->own);
    if (err != NC_NOERR) return err;
    if (!stage_source_identify(s->own.source.file.fd, s->ds->base, &f->list[0]))
        return base_error_set(
            NC_EFILE, "%s: not staged, as changes to it cannot be detected", s->ds->path);
    plan_stage(s->ds, f, plan);
    uint64_t stamp = 1;
    for (int i = 0; i <= f->n; i++)
        stamp = stage_source_stamp(stamp, &f->list[i], plan->block);
    atomic_store(&plan->stamp, stamp);
    return NC_NOERR;
}

static void place_files(struct stage_shared *all, const struct files *f)
{
    int64_t first = 0;
    for (int i = 0; i <= f->n; i++) {
        struct stage_part *p = stage_part_of(all, i);
        stage_part_set_identity(p, &f->list[i]);
        p->first = first < all->nblocks ? first : all->nblocks;
        first += all->block > 0 ? blocks_in(f, i, all->block) : 0;
    }
}

/* Creates the node's shared memory from its first process's plan. Either all nodes create
 * it or none does. `error` is this process's earlier error. */
static int share_all(struct stage *s, const struct stage_shared *plan,
                     const struct files *f, int error)
{
    int64_t size = s->first ? (int64_t)stage_shared_bytes(plan) : 0;
    int err = node_memory_make_all(s->node, size, &s->memory);
    if (err == NC_NOERR && s->first) {
        stage_shared_init(s->memory.bytes, plan);
        place_files(s->memory.bytes, f);
    }
    if (err == NC_NOERR) s->shared = s->memory.bytes;
    if (err == NC_NOERR) node_memory_sync(&s->memory);
    int64_t all[2] = {s->memory.window == MPI_WIN_NULL, stage_cache_number()};
    if (err == NC_NOERR) err = error;
    err = dataset_agree_all(s->ds, err, NULL, all, 2);
    if (all[0]) node_memory_agree_all(s->node, &s->memory);
    stage_cache_note(s, all[1]);
    if (err == NC_NOERR) node_memory_sync(&s->memory);
    if (err == NC_NOERR) s->table = stage_table_of(s->shared);
    return err;
}

/* Records why there is no stage. */
static void note_failure(struct stage *s, int err)
{
    snprintf(s->ds->effects.no_stage, sizeof s->ds->effects.no_stage, "%s",
             base_error_detail(err));
}

/* Opens the staged file in all processes on the node: the mirror, or if `path` is "", a
 * new file. A process that cannot open it reads the dataset's file instead. */
static int make_space_all(struct stage *s, int err, char *path)
{
    if (err == NC_NOERR && s->first && path[0] == '\0')
        err = stage_space_create(s, s->shared, path, PATH_MAX);
    if (s->first) s->shared->watched = stage_space_is_watched(s->file);
    if (s->first) stage_space_record_identity(s);
    if (err != NC_NOERR) path[0] = '\0';
    node_memory_sync(&s->memory);
    int mpi = MPI_Bcast(path, PATH_MAX, MPI_CHAR, 0, s->node->comm);
    node_memory_sync(&s->memory);
    if (mpi == MPI_SUCCESS && path[0] != '\0' && !s->first)
        (void)stage_space_open(s, path);
    if (!s->first) stage_space_check(s);
    if (path[0] == '\0' && s->first) {
        stage_table_disable(s->table);
        s->ds->stats.stage_fallbacks++;
        note_failure(s, err);
    }
    if (path[0] != '\0') s->ds->effects.facts |= HINTS_STAGE;
    /* This agreement ensures that all have tried to open the file before the unlink. */
    int agreed = dataset_agree_all(s->ds, base_mpi_error(mpi, NC_EMPI, "MPI_Bcast"), NULL,
                                   NULL, 0);
    if (agreed == NC_NOERR) stage_server_begin(s);
    return agreed;
}

/* Creates a stage. Unlinks the staged file once every process has tried to open it. */
static int make_stage_all(struct stage *s, const struct files *f)
{
    struct stage_shared plan = {
        .nslots = 1, .nodes = 1, .nparts = f->n + 1, .home_capacity = INT64_MAX};
    char path[PATH_MAX] = "";
    int looked = s->first ? identify_files(s, f, &plan) : NC_NOERR;
    int err = stage_nodes_create_comm_all(s);
    if (err != NC_NOERR) return err;
    err = stage_nodes_count(s, &plan);
    stage_shared_dir_make_all(s, &plan, looked, path, sizeof path);
    err = share_all(s, &plan, f, err);
    if (err == NC_NOERR) stage_nodes_exchange_all(s);
    if (err == NC_NOERR) err = make_space_all(s, looked, path);
    if (s->first && path[0] != '\0' && (!plan.mirror || plan.node == 0))
        (void)unlink(path);
    return err;
}

static int begin_all(struct stage *s, const struct files *f)
{
    int64_t lacking;
    int err;
    struct node *node = node_find_all(s->ds, &err, &lacking);
    err = dataset_agree_all(s->ds, err, NULL, &lacking, 1);
    if (lacking) node_abandon(s->ds);
    if (!lacking && err != NC_NOERR) node_release_all(node);
    if (err != NC_NOERR) return err;
    s->node = node;
    s->first = s->node->rank == 0;
    s->rank = s->node->rank;
    s->nprocs = s->node->nprocs;
    return make_stage_all(s, f);
}

/* Reuses a cached stage; if a file has changed, reuses only its space. A mirror is reused
 * only if all nodes see the same files. */
static int reuse_stage_all(struct stage *s, const struct files *f)
{
    int64_t all[2] = {INT64_MIN, INT64_MIN};
    stage_server_begin(s);
    s->ds->stats.stage_kept++;
    s->ds->effects.facts |= HINTS_STAGE;
    if (s->first) {
        stage_source_check_again(s, f->list);
        all[0] = (int64_t)(atomic_load(&s->shared->stamp) >> 1);
        all[1] = -all[0];
    }
    int err = dataset_agree_all(s->ds, NC_NOERR, NULL, all, 2);
    if (s->shared->mirror && (all[0] != -all[1] || all[0] == 0)) {
        stage_table_disable(s->table);
        s->ds->stats.stage_fallbacks += s->first;
    }
    return err;
}

/* Gets the identities of the other files. Each file is examined by one process, and all
 * processes receive the results. If there are no other files, the next agreement checks
 * that all processes could allocate the list. */
static int find_files_all(struct stage *s, struct files *f)
{
    struct dataset *ds = s->ds;
    *f = (struct files){.n = s->parts.n, .all = s->parts.all};
    f->list = base_calloc((size_t)f->n + 1, sizeof *f->list);
    int err = f->list == NULL ? NC_ENOMEM : NC_NOERR;
    if (f->n == 0) return err;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err != NC_NOERR) return err;
    for (int i = 1 + ds->rank; i <= f->n; i += ds->nprocs)
        stage_source_get_identity(s, i, &f->list[i]);
    int mpi = MPI_Allreduce(MPI_IN_PLACE, f->list, (f->n + 1) * STAGE_NUMBERS,
                            MPI_INT64_T, MPI_MAX, ds->comm);
    return base_mpi_error(mpi, NC_EMPI, "examining the files");
}

/* Reuses the cached stage if all processes have it, or creates a new one. */
static int begin_either_all(struct stage *s, const struct files *f, int error)
{
    bool again;
    int err = stage_cache_take_all(s, error, &again);
    if (err != NC_NOERR) return err;
    return again ? reuse_stage_all(s, f) : begin_all(s, f);
}

/* Begins staging. At this point the files are known, and the layers above have completed
 * any repairs. */
static void opened_all(struct driver *self)
{
    struct stage *s = (struct stage *)self;
    struct files f;
    int err = find_files_all(s, &f);
    err = begin_either_all(s, &f, err);
    base_free(f.list);
    if (err != NC_NOERR) {
        note_failure(s, err);
        disable_staging_all(s);
        return;
    }
    s->view.own = s->view.bytes = base_malloc((size_t)s->shared->block);
    s->tile = base_malloc(STAGE_TILE);
    stage_copy_begin(s);
}

static const struct driver_ops slots;

/* Opens the layer, or leaves it out if any process is out of memory. */
static int open_stage_all(struct dataset *ds, int omode, struct driver *lower,
                          struct driver **self)
{
    (void)omode;
    struct stage *s = base_malloc(sizeof *s);
    int err = dataset_agree_all(ds, s == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    *self = lower;
    if (err != NC_NOERR || s == NULL) {
        base_free(s);
        ds->stats.stage_fallbacks++;
        return NC_NOERR;
    }
    *s = (struct stage){.own = {.stage = s, .source = STAGE_NO_SOURCE(0)},
                        .ds = ds,
                        .memory = NODE_NO_MEMORY,
                        .firsts = MPI_COMM_NULL,
                        .listener = -1,
                        .file = -1};
    driver_stack(&s->own.base, &slots, lower, ds);
    stage_connections_begin(&s->lines);
    *self = &s->own.base;
    return NC_NOERR;
}

/* ---- the dataset's other files ---- */

static void take_stage_parts(struct driver *self, const struct driver_parts *parts)
{
    ((struct stage *)self)->parts = *parts;
}

/* Stops the prefetch thread first, because it may be reading the file. */
static void free_reader(struct stage_reader *r)
{
    stage_prefetch_stop(r->stage);
    stage_source_end(r);
    base_free(r->steps);
    base_free(r);
}

static int close_part_all(struct driver *self, bool abort)
{
    struct driver *lower = self->lower;
    free_reader((struct stage_reader *)self);
    return driver_call(lower, close_all, abort);
}

static int prefetch(struct driver *self, const struct access_request *r)
{
    return stage_prefetch_request((struct stage_reader *)self, r);
}

static const struct driver_ops part_slots = {
    .close_all = close_part_all,
    .get_all = stage_get_all,
    .get = stage_get,
    .prefetching = {.prefetch = prefetch},
};

/* Stacks a reader on `lower`. If out of memory, the file is read without staging. */
static struct driver *read_part(struct driver *self, int number, struct driver *lower)
{
    struct stage_reader *r = base_malloc(sizeof *r);
    if (r == NULL) return lower;
    *r = (struct stage_reader){.stage = (struct stage *)self,
                               .source = STAGE_NO_SOURCE(number + 1)};
    driver_stack(&r->base, &part_slots, lower, lower->ds);
    return &r->base;
}

/* calls after which a reader expects to see other processes' writes */

/* Checks for changes in the node's first process. After the next agreement, in the layer
 * below, no process uses an invalidated block. */
static void check_staged_file(struct stage *s)
{
    if (s->first) stage_source_check(s);
}

static int sync_stage_all(struct driver *self)
{
    check_staged_file((struct stage *)self);
    return driver_call(self->lower, sync_all);
}

static int begin_stage_indep_all(struct driver *self)
{
    check_staged_file((struct stage *)self);
    return driver_call(self->lower, begin_indep_all);
}

static int end_stage_indep_all(struct driver *self)
{
    check_staged_file((struct stage *)self);
    return driver_call(self->lower, end_indep_all);
}

static int sync_stage_alone(struct driver *self)
{
    stage_source_check((struct stage *)self);
    return driver_call(self->lower, sync);
}

/* ---- prefetching ---- */

static int prefetch_wait(struct driver *self)
{
    stage_prefetch_wait((struct stage *)self);
    stage_copy_wait((struct stage *)self);
    return NC_NOERR;
}

static int inq_stage_info(struct driver *self, MPI_Info info)
{
    stage_copy_wait((struct stage *)self); /* include blocks queued for storing */
    stage_stats_add((struct stage *)self);
    return driver_call(self->lower, inq_info, info);
}

static const struct driver_ops slots = {
    .close_all = close_stage_all,
    .begin_indep_all = begin_stage_indep_all,
    .end_indep_all = end_stage_indep_all,
    .get_all = stage_get_all,
    .get = stage_get,
    .sync_all = sync_stage_all,
    .sync = sync_stage_alone,
    .inq_info = inq_stage_info,
    .prefetching = {.prefetch = prefetch, .prefetch_wait = prefetch_wait},
    .files = {.parts = take_stage_parts, .part = read_part, .opened_all = opened_all},
};

const struct driver_kind stage_driver = {.wanted = stage_is_wanted,
                                         .open_all = open_stage_all};
