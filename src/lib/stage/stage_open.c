/* Life of the layer, and its calls that are no gets. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "stage.h"
#include "stage_ahead.h"
#include "stage_copy.h"
#include "stage_keep.h"
#include "stage_nodes.h"

static bool wanted(const struct driver_dataset *ds, bool create)
{
    return ds->hints.stage == BASE_ENABLE && !create && !ds->writable;
}

/* Adds n to a statistic. */
static void move_count(_Atomic int64_t *from, int64_t *to)
{
    *to += atomic_exchange(from, 0);
}

void stage_tell(struct stage *s)
{
    struct driver_stats *stats = &s->base.ds->stats;
    move_count(&s->counts.source_reads, &stats->file_reads);
    move_count(&s->counts.source_bytes, &stats->file_read_bytes);
    move_count(&s->counts.copied, &stats->stage_copied_bytes);
    move_count(&s->counts.dropped, &stats->stage_dropped);
    move_count(&s->counts.failed, &stats->stage_fallbacks);
    move_count(&s->counts.ahead, &stats->stage_ahead_bytes);
    move_count(&s->counts.far, &stats->stage_far_bytes);
    move_count(&s->counts.mirrored, &stats->stage_mirror_bytes);
    move_count(&s->counts.unanswered, &stats->stage_unanswered);
    stats->stage_given_bytes += stage_serve_given(s);
    stats->stage_waiting_bytes = atomic_load(&s->counts.waiting);
}

/* ---- the end ---- */

static void free_local(struct stage *s)
{
    (void)driver_descriptor_close(&s->source, s->base.ds->path);
    if (s->file >= 0) (void)close(s->file);
    if (s->listener >= 0) (void)close(s->listener);
    stage_lines_end(&s->lines);
    base_free(s->view.own);
    base_free(s->tile);
    base_free(s->steps);
    base_free(s);
}

/* All of it: what others of the node share waits for them. */
static void free_all(struct stage *s)
{
    if (s->window != MPI_WIN_NULL) (void)MPI_Win_free(&s->window);
    if (s->firsts != MPI_COMM_NULL) (void)MPI_Comm_free(&s->firsts);
    if (s->node != MPI_COMM_NULL) (void)MPI_Comm_free(&s->node);
    free_local(s);
}

static int end_all(struct driver *self, int (*lower_all)(struct driver *))
{
    struct stage *s = (struct stage *)self;
    struct driver *lower = self->lower;
    stage_ahead_stop(s);
    stage_clear_view(s);
    stage_copy_stop(s);
    stage_tell(s);
    stage_serve_stop(s);
    int err = stage_keep_or_free_all(s);
    free_local(s);
    int closed = lower_all(lower);
    return closed != NC_NOERR ? closed : err;
}

static int close_layer_all(struct driver *self)
{
    return end_all(self, driver_close_all);
}

static int abort_layer_all(struct driver *self)
{
    return end_all(self, driver_abort_all);
}

/* ---- the beginning ---- */

/* Blocks as large as asked for, larger ones where there would be too many; of the largest
 * files the end is not staged. */
static void lay_out(const struct driver_dataset *ds, int64_t size,
                    struct stage_shared *plan)
{
    enum { LEAST = 4096, MOST = 8 << 20 };
    int64_t block = LEAST, wanted = ds->hints.stage_block;
    while (block < MOST && (block < wanted || size / block > STAGE_MOST_BLOCKS))
        block *= 2;
    int64_t n = size / block + (size % block != 0), slots = ds->hints.stage_size / block;
    plan->block = block;
    plan->nblocks = n < STAGE_MOST_BLOCKS ? n : STAGE_MOST_BLOCKS;
    plan->nslots = slots > 0 && slots < plan->nblocks ? slots : plan->nblocks;
    if (ds->hints.stage_size > 0 && slots == 0) plan->nslots = 1;
    if (plan->nslots == 0) plan->nslots = 1;
}

/* What the first process of a node knows of the file; without that nothing is staged. */
static int look_at_file(struct stage *s, struct stage_shared *plan)
{
    if (s->base.ds->prefixed || s->base.ds->hints.file_io == BASE_FILE_IO_MPI ||
        s->base.ds->hints.no_indep_rw)
        return base_error_set(NC_EFILE, "%s: it is read through MPI-IO",
                              s->base.ds->path);
    int err = stage_source_open(s);
    if (err != NC_NOERR) return err;
    if (!stage_source_identify(s, &plan->identity))
        return base_error_set(NC_EFILE, "%s: nobody knows whether it changes",
                              s->base.ds->path);
    lay_out(s->base.ds, plan->identity.size, plan);
    atomic_store(&plan->stamp, stage_source_stamp(&plan->identity, plan->block));
    return NC_NOERR;
}

/* Memory of the node; its first process's plan in it. All nodes have it or none, also
 * where a process has an error from before. */
static int share_all(struct stage *s, const struct stage_shared *plan, int error)
{
    void *base = NULL;
    MPI_Aint size = s->first ? (MPI_Aint)stage_shared_bytes(plan) : 0;
    int unit, mpi;
    mpi = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, s->node, &base, &s->window);
    if (mpi != MPI_SUCCESS) s->window = MPI_WIN_NULL;
    if (mpi == MPI_SUCCESS) mpi = MPI_Win_shared_query(s->window, 0, &size, &unit, &base);
    if (mpi == MPI_SUCCESS && s->first) stage_shared_init(base, plan);
    if (mpi == MPI_SUCCESS) s->shared = base;
    int64_t lacking = s->window == MPI_WIN_NULL;
    int err = base_mpi_error(mpi, NC_EMPI, "sharing memory");
    if (err == NC_NOERR) err = error;
    err = driver_agree_all(s->base.ds, err, NULL, &lacking, 1);
    if (lacking) base_mpi_whole_window_all(s->node, &s->window);
    if (err == NC_NOERR) s->table = stage_table_of(s->shared);
    return err;
}

/* The staged file, in all processes of the node: the mirror, if there is its path, or a
 * new one. One that cannot have it reads the dataset's. */
static int make_space_all(struct stage *s, int err, char *path)
{
    if (err == NC_NOERR && s->first && path[0] == '\0')
        err = stage_space_create(s, path, PATH_MAX);
    if (err != NC_NOERR) path[0] = '\0';
    int mpi = MPI_Bcast(path, PATH_MAX, MPI_CHAR, 0, s->node);
    if (mpi == MPI_SUCCESS && path[0] != '\0' && !s->first)
        (void)stage_space_open(s, path);
    if (path[0] == '\0' && s->first) {
        stage_table_break(s->table);
        s->base.ds->stats.stage_fallbacks++;
    }
    /* Everybody has opened it, or never will. */
    int agreed = driver_agree_all(s->base.ds, base_mpi_error(mpi, NC_EMPI, "MPI_Bcast"),
                                  NULL, NULL, 0);
    if (agreed == NC_NOERR) stage_serve_begin(s);
    return agreed;
}

/* The staged file loses its name when all have opened it, or nobody will. */
static int make_all(struct stage *s)
{
    struct stage_shared plan = {.nslots = 1, .nodes = 1, .room = INT64_MAX};
    char path[PATH_MAX] = "";
    int looked = s->first ? look_at_file(s, &plan) : NC_NOERR;
    int err = stage_nodes_meet_all(s);
    if (err != NC_NOERR) return err;
    err = stage_nodes_count(s, &plan);
    stage_mirror_make_all(s, &plan, looked, path, sizeof path);
    err = share_all(s, &plan, err);
    if (err == NC_NOERR) stage_nodes_exchange_all(s);
    if (err == NC_NOERR) err = make_space_all(s, looked, path);
    if (s->first && path[0] != '\0' && (!plan.mirror || plan.node == 0))
        (void)unlink(path);
    return err;
}

static int begin_all(struct stage *s)
{
    int rank = 0, nprocs = 1, mpi;
    mpi = MPI_Comm_split_type(s->base.ds->comm, MPI_COMM_TYPE_SHARED, s->base.ds->rank,
                              MPI_INFO_NULL, &s->node);
    int64_t lacking = mpi != MPI_SUCCESS;
    if (lacking) s->node = MPI_COMM_NULL;
    if (!lacking) mpi = MPI_Comm_rank(s->node, &rank);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(s->node, &nprocs);
    int err = base_mpi_error(mpi, NC_EMPI, "finding the processes of a node");
    err = driver_agree_all(s->base.ds, err, NULL, &lacking, 1);
    if (lacking) s->node = MPI_COMM_NULL;
    if (err != NC_NOERR) return err;
    s->first = rank == 0;
    s->rank = rank;
    s->nprocs = nprocs;
    return make_all(s);
}

/* What was kept; if the file has changed, its places alone. A mirror is of use if all
 * nodes see the same file. */
static int begin_again_all(struct stage *s, int64_t number)
{
    int64_t all[2] = {INT64_MIN, INT64_MIN};
    stage_keep_take(s, number);
    stage_serve_begin(s);
    s->base.ds->stats.stage_kept++;
    if (s->first) {
        stage_source_renew(s);
        all[0] = (int64_t)(atomic_load(&s->shared->stamp) >> 1);
        all[1] = -all[0];
    }
    int err = driver_agree_all(s->base.ds, NC_NOERR, NULL, all, 2);
    if (s->shared->mirror && (all[0] != -all[1] || all[0] == 0)) {
        stage_table_break(s->table);
        s->base.ds->stats.stage_fallbacks += s->first;
    }
    return err;
}

static bool is_scattered(const struct driver *d)
{
    while (d != NULL && !d->ops->scatters)
        d = d->lower;
    return d != NULL;
}

/* Without memory or MPI's help the dataset is as without this layer. */
static int open_layer_all(struct driver_dataset *ds, int omode, struct driver *lower,
                          struct driver **self)
{
    (void)omode;
    struct stage plain = {.base = {.ops = &stage_ops, .lower = lower, .ds = ds},
                          .node = MPI_COMM_NULL,
                          .window = MPI_WIN_NULL,
                          .source = DRIVER_NO_DESCRIPTOR,
                          .firsts = MPI_COMM_NULL,
                          .listener = -1,
                          .file = -1};
    stage_lines_begin(&plain.lines);
    struct stage *s = base_malloc(sizeof *s);
    int64_t number = stage_keep_find(&plain);
    int64_t all[2] = {number, -number};
    int err = s == NULL ? NC_ENOMEM : NC_NOERR;
    if (is_scattered(lower))
        err = base_error_set(NC_EFILE, "its values are in other files");
    err = driver_agree_all(ds, err, NULL, all, 2);
    *self = lower;
    if (err != NC_NOERR || s == NULL) {
        base_free(s);
        ds->stats.stage_fallbacks++;
        return NC_NOERR;
    }
    *s = plain;
    bool again = all[0] != 0 && all[0] == -all[1];
    err = again ? begin_again_all(s, all[0]) : begin_all(s);
    if (err == NC_NOERR) {
        s->view.own = s->view.bytes = base_malloc((size_t)s->shared->block);
        stage_copy_begin(s);
        s->tile = base_malloc(STAGE_TILE);
        *self = &s->base;
        stage_ahead_begin(s);
        return NC_NOERR;
    }
    free_all(s);
    ds->stats.stage_fallbacks++;
    return NC_NOERR;
}

/* ---- where a reader may expect what others have written ---- */

/* The first process of a node looks; what it forgets nobody finds once all have agreed,
 * in the layer below. */
static void check_file(struct stage *s)
{
    if (s->first) stage_source_check(s);
}

static int sync_layer_all(struct driver *self)
{
    check_file((struct stage *)self);
    return driver_sync_all(self->lower);
}

static int begin_indep_all(struct driver *self)
{
    check_file((struct stage *)self);
    return driver_begin_indep_all(self->lower);
}

static int end_indep_all(struct driver *self)
{
    check_file((struct stage *)self);
    return driver_end_indep_all(self->lower);
}

static int sync_alone(struct driver *self)
{
    stage_source_check((struct stage *)self);
    return driver_sync(self->lower);
}

/* ---- ahead ---- */

static int prefetch(struct driver *self, const struct driver_request *r)
{
    return stage_ahead_prefetch((struct stage *)self, r);
}

static int prefetch_wait(struct driver *self)
{
    stage_ahead_wait((struct stage *)self);
    stage_copy_wait((struct stage *)self);
    return NC_NOERR;
}

static int inq_info(struct driver *self, MPI_Info info)
{
    stage_copy_wait((struct stage *)self); /* who asks may look at what it came to */
    stage_tell((struct stage *)self);
    return driver_inq_info(self->lower, info);
}

const struct driver_ops stage_ops = {
    .name = "stage",
    .likes_runs = true,
    .wanted = wanted,
    .open_all = open_layer_all,
    .close_all = close_layer_all,
    .abort_all = abort_layer_all,
    .begin_indep_all = begin_indep_all,
    .end_indep_all = end_indep_all,
    .get_all = stage_get_all,
    .get = stage_get,
    .sync_all = sync_layer_all,
    .sync = sync_alone,
    .prefetch = prefetch,
    .prefetch_wait = prefetch_wait,
    .inq_info = inq_info,
};
