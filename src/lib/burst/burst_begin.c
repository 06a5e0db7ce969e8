/* The log of a dataset: where it lies, when it starts, starts anew and ends. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "base_sum.h"
#include "burst.h"

/* ---- names ---- */

void burst_log_prefix(const struct burst *b, char *prefix, size_t size)
{
    const char *base = strrchr(b->path, '/');
    base = base == NULL ? b->path : base + 1;
    snprintf(prefix, size, "%.100s.%016llx.", base,
             (unsigned long long)base_hash(b->path, strlen(b->path), 0));
}

/* A netCDF-4 file does not tell where its variables began. */
uint64_t burst_definitions(const struct dataset *ds)
{
    const struct cdf_header *h = &ds->header;
    uint64_t sum = base_sum(&h->format, sizeof h->format, 0);
    for (int i = 0; i < h->ndims; i++)
        sum = base_sum(&h->dims[i].length, sizeof h->dims[i].length, sum);
    for (int i = 0; i < h->nvars; i++) {
        const struct cdf_var *v = &h->vars[i];
        const int64_t of_var[] = {v->type, v->ndims, ds->netcdf4 ? 0 : v->begin};
        sum = base_sum(of_var, sizeof of_var, sum);
        sum = base_sum(v->dimids, (size_t)v->ndims * sizeof v->dimids[0], sum);
    }
    return sum;
}

/* ---- the start ---- */

/* Time first, so that logs of several openings sort by their age. */
static uint64_t new_log_token(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t mixed[] = {now.tv_sec, now.tv_nsec, getpid()};
    return ((uint64_t)now.tv_sec << 24) | (base_sum(mixed, sizeof mixed, 0) & 0xffffff);
}

static void fill_header(const struct burst *b, struct burst_header *h)
{
    const struct dataset *ds = b->base.ds;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    size_t path = strlen(ds->path), kept = path > BURST_MAX_NAME ? BURST_MAX_NAME : path;
    memset(h, 0, sizeof *h);
    h->version = 1;
    h->format = ds->header.format;
    h->num_ranks = ds->nprocs;
    h->rank_id = ds->rank;
    h->chunk = BURST_CHUNK;
    h->nslots = 1;
    h->token = b->token;
    memcpy(h->basename, ds->path + path - kept, kept);
    if (MPI_Get_processor_name(name, &length) == MPI_SUCCESS)
        snprintf(h->proc_name, sizeof h->proc_name, "%.*s", BURST_MAX_NAME, name);
    snprintf(h->path, sizeof h->path, "%s", b->path);
    burst_file_identity(b, h);
    h->boot = burst_boot();
}

static void log_path(const struct burst *b, int rank, char *path, size_t size)
{
    char prefix[256];
    burst_log_prefix(b, prefix, sizeof prefix);
    snprintf(path, size, "%s/%s%016llx.%d", b->dir, prefix, (unsigned long long)b->token,
             rank);
}

/* Memory in which the processes of a node share out their log: two counters, which the
 * first one sets before the others hear that there is a log. */
static int share_space_all(struct burst *b)
{
    int err =
        node_memory_make_all(b->node, (int64_t)sizeof(struct burst_space), &b->memory);
    if (err == NC_NOERR) b->space = b->memory.bytes;
    return err;
}

/* One log a node: its first process makes it, the others join. Who cannot, or has no
 * header to begin with, takes part as far as all know. */
static int create_shared_all(struct burst *b, struct burst_header *h, int err)
{
    const struct node *node = b->node;
    int leader = b->base.ds->rank, made = NC_NOERR;
    char path[PATH_MAX];
    int mpi = MPI_Bcast(&leader, 1, MPI_INT, 0, node->comm);
    if (err == NC_NOERR) err = base_mpi_error(mpi, NC_EMPI, "on this node");
    int shared = share_space_all(b);
    int64_t lacking = b->memory.window == MPI_WIN_NULL;
    err =
        dataset_agree_all(b->base.ds, err != NC_NOERR ? err : shared, NULL, &lacking, 1);
    if (lacking) node_memory_whole_all(node, &b->memory);
    if (err != NC_NOERR) return err;
    if (h != NULL) h->nslots = node->nprocs; /* all have one: agreed */
    log_path(b, leader, path, sizeof path);
    if (node->rank == 0) made = burst_log_create(&b->log, path, h, b->space);
    node_memory_sync(&b->memory);
    mpi = MPI_Bcast(&made, 1, MPI_INT, 0, node->comm);
    node_memory_sync(&b->memory);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Bcast");
    if (node->rank == 0 || made != NC_NOERR) return made;
    return burst_log_join(&b->log, path, h, b->space, node->rank);
}

static int create_log_all(struct burst *b)
{
    struct burst_header *h = base_malloc(sizeof *h);
    char path[PATH_MAX];
    int err = h == NULL ? NC_ENOMEM : NC_NOERR;
    if (h != NULL) fill_header(b, h);
    /* A log must say which file it is of, and one that fails is drained there. */
    if (err == NC_NOERR && b->file.fd < 0)
        err = base_error_set(NC_EFILE, "%s is out of reach", b->path);
    if (b->shared) {
        err = create_shared_all(b, h, err);
    } else if (err == NC_NOERR && h != NULL) {
        log_path(b, b->base.ds->rank, path, sizeof path);
        err = burst_log_create(&b->log, path, h, NULL);
    }
    base_free(h);
    struct burst_note now = {0};
    if (burst_file_note(b, &now)) burst_log_note(&b->log, now);
    return err;
}

/* ---- what a log knows of the definitions ----
 *
 * A log is kept while definitions change: a generation has the digest of those that its
 * entries go by. All processes together go this way, and each step is agreed on before
 * the next one begins:
 *
 *     redef   everything is in the file; then each starts generation g + 1, with no entry
 *     enddef  the layer below changes the file, by its own journal where data move; then
 *             each starts generation g + 2 with the new digest, and may log
 *
 * Killed before all have left g, the definitions are still the old ones: what some have
 * of g is replayed once more, or passed over, as others have left it. Killed after that
 * and before the last of them is at g + 2: the logs at g + 1 have nothing, whatever the
 * file has become, and are one generation behind those that may have entries, by the new
 * definitions, which the file has then. In no case do entries that wait meet other
 * definitions than theirs.
 *
 * After a power cut, a log may be of any of these on its device, and the file, too. If
 * something was synced in g, then so are, before the layer below begins, the file with
 * all of g and the records that say so (burst_restart_all). Entries that were never
 * synced and whose definitions are not the file's are dropped. And a sync that has
 * returned in generation g + 2 had the file synced first, with its new definitions. */

void burst_resume(struct burst *b)
{
    burst_pool_stop(b); /* it knows other definitions */
    burst_log_define(&b->log, burst_definitions(b->base.ds));
    b->logging = b->fresh;
    burst_pool_start(b);
}

/* A hint that has no effect here is told in the report. */
static void tell_no_threads(const struct burst *b)
{
    const struct base_hints *h = &b->base.ds->hints;
    bool asked = h->burst_flush == BASE_FLUSH_IMMEDIATE || h->deferred_close;
    if (b->base.ds->rank == 0 && asked && !burst_pool_may(b))
        trace_stats_tell(
            b->base.ds, "no thread may write to this file, so that nothing drains in the "
                        "background: its file system does not keep nodes' caches in "
                        "step, or it is in HDF5 format, or it has subfiles");
}

int burst_begin_all(struct burst *b)
{
    uint64_t token = new_log_token();
    int mpi = MPI_Bcast(&token, 1, MPI_UINT64_T, 0, b->base.ds->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Bcast");
    b->token = token;
    int err = dataset_agree_all(b->base.ds, create_log_all(b), NULL, NULL, 0);
    b->made = b->fresh = err == NC_NOERR;
    if (b->made) {
        tell_no_threads(b);
        burst_resume(b);
        return NC_NOERR;
    }
    burst_end_all(b, false);
    b->base.ds->stats.burst_fallbacks++;
    return NC_NOERR;
}

void burst_end_all(struct burst *b, bool keep)
{
    burst_pool_stop(b);
    burst_log_end(&b->log, !keep && b->log.slot == 0);
    node_memory_free_all(&b->memory);
    b->space = NULL;
    b->made = b->logging = false;
}

/* A process that cannot write it tells the others: all keep their logs. */
int burst_settle_records_all(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    if (ds->header.nrecord_vars == 0) return NC_NOERR;
    int told, err = burst_sync_numrecs_all(&b->base);
    err = dataset_concur_all(ds, err, &told, NULL, 0);
    return err != NC_NOERR ? err : told;
}

int burst_restart_all(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    bool promised = b->promised; /* agreed */
    int err = burst_settle_records_all(b);
    if (err == NC_NOERR && promised) err = burst_sync_drained_all(b);
    if (err == NC_NOERR && ds->netcdf4) {
        burst_change_below(b);
        err = burst_changed_below_all(b, NC_NOERR);
    }
    if (err != NC_NOERR) return err;
    if (promised) b->file_dirty = false;
    b->promised = false;
    burst_pool_pause(b->pool);
    burst_log_reset(&b->log);
    /* Before it is overwritten: nobody may take it for what was synced. */
    b->fresh = burst_log_noted(&b->log) == NC_NOERR &&
               (!promised || burst_log_sync_head(&b->log) == NC_NOERR);
    if (b->shared) err = dataset_agree_all(ds, NC_NOERR, NULL, NULL, 0);
    b->logging = b->log.meta_fd >= 0 && b->fresh;
    burst_pool_go_on(b->pool);
    return err;
}
