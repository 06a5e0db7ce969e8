/* Manages the lifecycle of a dataset's log. burst_start_all creates one log for each
 * process or for each node. burst_resume starts a new generation with a digest of the
 * definitions that its entries depend on. burst_restart_all empties the log once
 * everything is in the file. burst_end_all closes it, and removes it unless it is to be
 * retained. Wherever processes could get different results, they agree before they
 * continue, so that either all of them log or none does. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_sum.h"
#include "burst.h"
#include "burst_pool.h"

/* ---- starting ---- */

/* Returns a new token. Its upper bits are the time, so logs sort by age. */
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
    size_t path = strlen(ds->path), tail = path > BURST_MAX_NAME ? BURST_MAX_NAME : path;
    memset(h, 0, sizeof *h);
    h->version = 1;
    h->format = ds->header.format;
    h->num_ranks = ds->nprocs;
    h->rank_id = ds->rank;
    h->chunk = BURST_CHUNK;
    h->nslots = 1;
    h->token = b->logging.token;
    memcpy(h->basename, ds->path + path - tail, tail);
    if (MPI_Get_processor_name(name, &length) == MPI_SUCCESS)
        snprintf(h->proc_name, sizeof h->proc_name, "%.*s", BURST_MAX_NAME, name);
    snprintf(h->path, sizeof h->path, "%s", b->file.path);
    burst_file_identity(&b->file, h);
    h->birth = b->logging.birth;
    h->boot = burst_boot();
}

static void log_path(const struct burst *b, int rank, char *path, size_t size)
{
    char prefix[256];
    burst_file_log_prefix(&b->file, prefix, sizeof prefix);
    snprintf(path, size, "%s/%s%016llx.%d", b->file.dir, prefix,
             (unsigned long long)b->logging.token, rank);
}

/* Creates one log per node: the node's first process creates it, and the others join. The
 * log's counters are in memory that they share; the first process sets them before it
 * announces the log. A process that has failed, or has no header, still participates
 * until all processes have agreed on the failure. */
static int create_shared_all(struct burst *b, struct burst_header *h, int err)
{
    const struct node *node = b->node;
    int leader = b->base.ds->rank, made = NC_NOERR;
    char path[PATH_MAX];
    int mpi = MPI_Bcast(&leader, 1, MPI_INT, 0, node->comm);
    if (err == NC_NOERR)
        err = base_mpi_error(mpi, NC_EMPI, "finding the first process of this node");
    int shared = node_memory_make_all(node, (int64_t)sizeof(struct burst_space),
                                      &b->logging.memory);
    int64_t lacks = b->logging.memory.window == MPI_WIN_NULL;
    err = dataset_agree_all(b->base.ds, err != NC_NOERR ? err : shared, NULL, &lacks, 1);
    if (lacks) node_memory_agree_all(node, &b->logging.memory);
    if (err != NC_NOERR) return err;
    if (h != NULL) h->nslots = node->nprocs; /* never NULL here: all have agreed */
    log_path(b, leader, path, sizeof path);
    if (node->rank == 0)
        made = burst_log_create(&b->log, path, h, b->logging.memory.bytes);
    node_memory_sync(&b->logging.memory);
    mpi = MPI_Bcast(&made, 1, MPI_INT, 0, node->comm);
    node_memory_sync(&b->logging.memory);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Bcast");
    if (node->rank == 0 || made != NC_NOERR) return made;
    return burst_log_join(&b->log, path, h, b->logging.memory.bytes, node->rank);
}

static int create_log_all(struct burst *b)
{
    struct burst_header *h = base_malloc(sizeof *h);
    char path[PATH_MAX];
    int err = h == NULL ? NC_ENOMEM : NC_NOERR;
    if (h != NULL) fill_header(b, h);
    /* The log must identify the dataset's file, and be drained to it if logging fails. */
    if (err == NC_NOERR && b->file.handle.fd < 0)
        err = base_error_set(NC_EFILE, "%s cannot be accessed", b->file.path);
    if (b->logging.shared) {
        err = create_shared_all(b, h, err);
    } else if (err == NC_NOERR && h != NULL) {
        log_path(b, b->base.ds->rank, path, sizeof path);
        err = burst_log_create(&b->log, path, h, NULL);
    }
    base_free(h);
    struct burst_note now = {0};
    if (burst_file_get_note(&b->file, &now)) burst_log_note(&b->log, now);
    return err;
}

/* ---- the log while definitions change ----
 *
 * The log survives a change of the definitions. Each generation stores a digest of the
 * definitions that its entries depend on. All processes take these steps together, and
 * agree on each before the next one:
 *
 *     redef   drain everything to the file; then start generation g + 1, without entries
 *     enddef  let the layer below change the file, by its own journal if data move; then
 *             start generation g + 2 with the new digest, and log to it
 *
 * 1. If a job is killed before all processes have left g, the file has the old
 *    definitions. Entries of g are replayed once more, or skipped if another process has
 *    reached g + 1.
 * 2. If it is killed later, but before the last process has reached g + 2, logs at g + 1
 *    have no entries, whatever state the file is in. Logs at g + 2 may have entries.
 *    These depend on the new definitions, which are already in the file.
 * So entries are never replayed with definitions other than their own.
 *
 * After a power cut, each log and the file may be in any of these states on its device.
 * 1. If anything was synced in g, the file with all values of g and the commit records
 *    are synced before the layer below begins (burst_restart_all).
 * 2. Entries that were never synced, and do not fit the file's definitions, are dropped.
 * 3. A sync that has returned in g + 2 first synced the file with its new definitions. */

void burst_resume(struct burst *b)
{
    burst_pool_stop(b); /* the threads' copy of the header has the old definitions */
    burst_log_define(&b->log, burst_definitions(b->base.ds));
    b->logging.active = b->logging.fresh;
    burst_pool_start(b);
}

int burst_start_all(struct burst *b)
{
    bool first = b->base.ds->rank == 0;
    uint64_t both[2] = {new_log_token(), first ? burst_file_birth(&b->file) : 0};
    int mpi = MPI_Bcast(both, 2, MPI_UINT64_T, 0, b->base.ds->comm);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_Bcast");
    b->logging.token = b->base.ds->log_token = both[0];
    b->logging.birth = both[1];
    if (first) burst_file_set_token(&b->file, 0, b->logging.token);
    int err = create_log_all(b);
    if (err != NC_NOERR)
        snprintf(b->base.ds->effects.no_log, sizeof b->base.ds->effects.no_log, "%s",
                 base_error_detail(err));
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
    b->logging.made = b->logging.fresh = err == NC_NOERR;
    if (b->logging.made) {
        b->base.ds->effects.facts |=
            HINTS_LOG | (burst_pool_can_write(b) ? HINTS_THREADS : 0);
        burst_resume(b);
        return NC_NOERR;
    }
    burst_end_all(b, false);
    b->base.ds->stats.burst_fallbacks++;
    return NC_NOERR;
}

void burst_end_all(struct burst *b, bool retain)
{
    burst_pool_stop(b);
    burst_log_end(&b->log, !retain && b->log.slot == 0);
    if (!retain && b->logging.token != 0 && b->base.ds->rank == 0)
        burst_file_set_token(&b->file, b->logging.token, 0);
    node_memory_free_all(&b->logging.memory);
    b->logging.made = b->logging.active = false;
}

/* If any process fails to write the number of records, all processes keep their logs. */
int burst_write_records_all(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    if (ds->header.nrecord_vars == 0) return NC_NOERR;
    int failed, err = burst_sync_numrecs_all(&b->base);
    err = dataset_concur_all(ds, err, &failed, NULL, 0);
    return err != NC_NOERR ? err : failed;
}

int burst_restart_all(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    bool promised = b->commit.promised; /* agreed */
    int err = burst_write_records_all(b);
    if (err == NC_NOERR && promised) err = burst_sync_drained_all(b);
    if (err == NC_NOERR && ds->netcdf4) {
        burst_begin_collective_change(b);
        err = burst_end_change_all(b, NC_NOERR);
    }
    if (err != NC_NOERR) return err;
    if (promised) b->commit.dirty = false;
    b->commit.promised = false;
    burst_pool_pause(b->drain.pool);
    int empty = base_holds(b->list.n == 0);
    dataset_defer_error(ds, empty);
    if (empty == NC_NOERR) burst_log_reset(&b->log);
    /* Precedes any overwriting of the log, or new entries would be mistaken for synced
     * ones. */
    b->logging.fresh = empty == NC_NOERR && burst_log_write_head(&b->log) == NC_NOERR &&
                       (!promised || burst_log_sync_head(&b->log) == NC_NOERR);
    if (b->logging.shared) err = dataset_agree_all(ds, NC_NOERR, NULL, NULL, 0);
    b->logging.active = b->log.meta_fd >= 0 && b->logging.fresh;
    burst_pool_resume(b->drain.pool);
    return err;
}
