/* Operations that move no values: enddef, sync, and close, which ends the layer. A sync
 * writes the generation to the subfiles first, then counts itself in the master's first
 * page. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"
#include "blob_decompose.h"
#include "blob_frames.h"
#include "blob_lease.h"
#include "file_identity.h"
#include "subfile_digest.h"

/* ---- definitions, sync ---- */

int blob_grow(struct blob *b, int nvars)
{
    size_t n = (size_t)nvars + 1;
    int sums = blob_sums_grow(&b->sums, b->nvars, nvars);
    int counted = trace_stats_grow(b->base.ds, b->nvars, nvars);
    if (sums == NC_NOERR) sums = counted;
    int *state = base_realloc(b->state, n * sizeof *state);
    if (state != NULL) b->state = state;
    unsigned char *touched = base_realloc(b->touched, n);
    if (touched != NULL) b->touched = touched;
    uint64_t *wanted = base_realloc(b->frames.wanted, n * sizeof *wanted);
    if (wanted != NULL) b->frames.wanted = memset(wanted, 0, n * sizeof *wanted);
    return state == NULL || touched == NULL || wanted == NULL ? NC_ENOMEM : sums;
}

int blob_enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct blob *b = (struct blob *)self;
    const struct cdf_header *h = &self->ds->header;
    int err = blob_grow(b, h->nvars);
    if (err == NC_NOERR && self->ds->rank == 0) err = blob_page_redefine(b);
    err = dataset_agree_all(self->ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) err = driver_call(self->lower, enddef_all, before);
    if (err != NC_NOERR) return err;
    blob_page_redefined(b);
    for (; b->nvars < h->nvars; b->nvars++) {
        const struct cdf_var *v = &h->vars[b->nvars];
        b->state[b->nvars] = BLOB_OPEN;
        b->touched[b->nvars] = v->fill && (!v->is_record || h->numrecs > 0);
    }
    b->fresh = false;
    blob_count_open(b);
    for (int64_t i = 0; i < b->facts.nsubfiles; i++)
        if (b->subs[i] != NULL)
            b->subs[i]->subfile.nvars = -1; /* fill values may have changed */
    return NC_NOERR;
}

int blob_write_header_all(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    int err = self->ds->rank == 0 ? blob_page_redefine(b) : NC_NOERR;
    err = dataset_agree_all(self->ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) err = driver_call(self->lower, write_header_all);
    if (err == NC_NOERR) blob_page_redefined(b);
    return err;
}

/* Syncs the subfiles that this process has open, except `other`. */
static int sync_subfiles(struct blob *b, const struct blob_sub *other)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++) {
        struct blob_sub *s = b->subs[i];
        if (s == NULL || s == other || s->driver == NULL || !s->defined) continue;
        if (!s->ours) s->ds.numrecs_seen = s->ds.header.numrecs = s->records;
        int err = driver_call(s->driver, sync);
        if (first == NC_NOERR) first = err != NC_NOERR ? err : s->ds.failed;
        s->ds.failed = NC_NOERR; /* returned here; no other process agrees on it */
    }
    return first;
}

/* Agrees on the numbers needed for checksums and syncs. Also agrees on whether the lease
 * is lost, which only process 0 checks. */
static int agree_to_complete_all(struct blob *b, int64_t shared[BLOB_SUMS_SHARED])
{
    struct dataset *ds = b->base.ds;
    blob_sums_fill_shared(b, shared);
    shared[BLOB_SUMS_SYNC] = blob_page_next_sync(b);
    int err = ds->rank == 0 ? blob_lease_check(ds->lease) : NC_NOERR;
    return dataset_agree_all(ds, err, NULL, shared, BLOB_SUMS_SHARED);
}

/* Syncs the group's subfile. Sets *number to the sync number stored in subfiles; 0 if
 * none. */
static int sync_subfile_all(struct blob *b, int64_t *number)
{
    int64_t shared[BLOB_SUMS_SHARED];
    int err = agree_to_complete_all(b, shared);
    int defined = blob_define_empty_all(b);
    if (err == NC_NOERR) err = defined;
    *number = err == NC_NOERR ? shared[BLOB_SUMS_SYNC] : 0;
    if (*number > 0) err = blob_page_stamp(b, (uint64_t)*number, false);
    if (b->own == NULL) return err;
    int summed = blob_sums_write_all(b, shared);
    if (err == NC_NOERR) err = summed;
    dataset_raise_records(&b->own->ds, blob_frames_records(b, shared[BLOB_SUMS_RECORDS]));
    int synced = driver_call(b->own->driver, sync_all);
    return err != NC_NOERR ? err : synced;
}

/* Syncs the first page. Its decompositions must reach the device after the subfiles'
 * definitions, but before the call returns. Its number of syncs must reach the device
 * before the next sync is counted, so that no subfile is ahead by more than one sync and
 * one close. */
static int sync_page(struct blob *b)
{
    struct blob_lease *lease = b->base.ds->lease;
    if (!b->unsynced) return NC_NOERR;
    int err = blob_lease_check(lease);
    if (err == NC_NOERR) err = base_sync_data(lease->fd, lease->path);
    b->unsynced = err != NC_NOERR;
    return err;
}

/* Records that the device has, or may soon have, the values put so far, so that from now
 * on a failure must leave either old or new values when they are overwritten. Includes
 * other processes' values, because this process may move their blobs out of frames. */
static void note_safe(struct blob *b)
{
    const struct dataset *ds = b->base.ds;
    int64_t records =
        ds->numrecs_seen > ds->header.numrecs ? ds->numrecs_seen : ds->header.numrecs;
    b->frames.safe = records > 0 ? records : 1;
}

/* Compares a reader's states of variables, which it determined at open, with the page.
 * Returns NC_EFILE if the writer has since assigned a decomposition to any variable,
 * because the reader would read zeros. */
static int check_states(const struct blob *b)
{
    const struct dataset *ds = b->base.ds;
    struct cdf_superblock now;
    if (blob_is_foreign(b)) return NC_NOERR;
    int err = subfile_read_superblock(ds->full_path, &now);
    if (err == NC_ENOENT) return NC_NOERR; /* the dataset was deleted or renamed */
    if (err != NC_NOERR ||
        memcmp(now.committed, b->facts.committed, sizeof now.committed) == 0)
        return err;
    return base_error_set(NC_EFILE,
                          "%s: another job has stored variables in subfiles since this "
                          "process opened the dataset; open it again to read them",
                          ds->full_path);
}

int blob_sync_all(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    int err = NC_NOERR;
    int64_t number = 0;
    note_safe(b);
    if (self->ds->writable) {
        err = sync_subfile_all(b, &number);
        int synced = sync_subfiles(b, b->own);
        if (err == NC_NOERR) err = synced;
        if (err == NC_NOERR && self->ds->rank == 0) err = sync_page(b);
    } else if (self->ds->rank == 0) {
        err = check_states(b);
    }
    dataset_defer_error(self->ds, err);
    int synced = driver_call(self->lower, sync_all);
    if (err == NC_NOERR && synced == NC_NOERR && number > 0)
        err = blob_page_synced(b, number);
    return err != NC_NOERR ? err : synced;
}

int blob_sync(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    note_safe(b);
    int err = self->ds->writable ? sync_subfiles(b, NULL) : NC_NOERR;
    if (err == NC_NOERR) err = sync_page(b);
    int synced = driver_call(self->lower, sync);
    return err != NC_NOERR ? err : synced;
}

/* ---- close ---- */

/* Writes all definitions and checksums to the subfiles and the master. */
static int complete_subs_all(struct blob *b, bool abort)
{
    struct dataset *ds = b->base.ds;
    int64_t shared[BLOB_SUMS_SHARED];
    int defined = NC_NOERR;
    if (!ds->writable) return blob_sub_close_alone(b);
    int err = agree_to_complete_all(b, shared);
    ds->header.numrecs = shared[BLOB_SUMS_RECORDS];
    if (!abort) defined = blob_define_empty_all(b);
    if (defined == NC_NOERR && !abort && shared[BLOB_SUMS_SYNC] > 0)
        defined = blob_page_stamp(b, (uint64_t)shared[BLOB_SUMS_SYNC], false);
    int alone = blob_sub_close_alone(b);
    if (err == NC_NOERR) err = alone;
    int summed = abort ? NC_NOERR : blob_sums_write_all(b, shared);
    if (defined == NC_NOERR) defined = summed;
    /* Retries writing the first page if an earlier write failed. */
    if (!abort && b->comm != MPI_COMM_NULL && (!b->facts.defined || b->torn)) {
        defined = dataset_agree_all(ds, defined, NULL, NULL, 0);
        if (defined == NC_NOERR) defined = blob_commit_all(b, NULL, 0);
    }
    return err != NC_NOERR ? err : defined;
}

/* Closes the subfiles first, so that the master never refers to missing data. */
static int close_files_all(struct blob *b, bool abort, int err)
{
    int alone = blob_sub_close_alone(b),
        closed = blob_sub_close_all(b, abort && b->fresh);
    if (err == NC_NOERR) err = alone != NC_NOERR ? alone : closed;
    err = dataset_concur_all(b->base.ds, err, NULL, NULL, 0);
    closed = driver_call(b->base.lower, close_all, abort);
    return err != NC_NOERR ? err : closed;
}

/* Writes the first page and releases the lease. No process returns before the release,
 * because its next open for writing would be refused. */
static int end_page_all(struct blob *b, bool complete)
{
    struct dataset *ds = b->base.ds;
    int err = blob_page_end(b, complete);
    return ds->writable ? dataset_concur_all(ds, err, NULL, NULL, 0) : err;
}

void blob_free_all(struct blob *b)
{
    for (int i = 0; i < b->ndecomps; i++) {
        subfile_map_free(&b->decomps[i].own);
        subfile_index_free(&b->decomps[i].index);
    }
    if (b->comm != MPI_COMM_NULL) MPI_Comm_free(&b->comm);
    if (b->alone != MPI_COMM_NULL) MPI_Comm_free(&b->alone);
    blob_page_restore(b);
    subfile_foreign_free(&b->foreign);
    blob_sums_free(&b->sums);
    blob_frames_free(b);
    base_free(b->decomps);
    base_free(b->state);
    base_free(b->touched);
    base_free(b->subs);
    base_free(b->path);
    base_free(b);
}

/* Returns whether the dataset is to be joined into one file at the time `when`. */
static bool is_joined(const struct blob *b, enum hints_join when)
{
    const struct dataset *ds = b->base.ds;
    return ds->writable && ds->hints.blob_join >= when && !b->torn && !ds->logs_remain;
}

/* Completes the files, writes their record counts so that any process that opens them
 * sees all records, and begins the join. */
static int begin_join_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    int err = dataset_concur_all(ds, complete_subs_all(b, false), NULL, NULL, 0);
    if (err == NC_NOERR) {
        if (b->own != NULL) {
            dataset_raise_records(&b->own->ds,
                                  blob_frames_records(b, ds->header.numrecs));
            err = driver_call(b->own->driver, sync_numrecs_all);
        }
        int master = driver_call(b->base.lower, sync_numrecs_all);
        if (err == NC_NOERR) err = master;
    }
    err = dataset_concur_all(ds, err, NULL, NULL, 0);
    b->complete = err == NC_NOERR;
    if (err == NC_NOERR)
        err = dataset_concur_all(ds, blob_join_begin_all(b, NULL), NULL, NULL, 0);
    return err;
}

/* Joins and closes the dataset. If the join fails, closes it as if no join had been
 * requested, but returns the error. */
static int close_joined_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    int joined = NC_EFILE;
    int err = b->join == NULL ? begin_join_all(b) : NC_NOERR;
    if (err == NC_NOERR) {
        /* MPI-IO requires a sync before other processes read; descriptors do not. */
        int synced = b->deferred ? NC_NOERR : blob_sync_all(&b->base);
        err = joined =
            dataset_concur_all(ds, blob_join_end_all(b, synced), NULL, NULL, 0);
    }
    int files = close_files_all(b, false, NC_NOERR);
    if (err == NC_NOERR) err = files;
    int closed = dataset_agree_all(ds, err, NULL, NULL, 0);
    bool renamed = joined == NC_NOERR && !ds->deleted;
    if (renamed) {
        int own = closed;
        if (ds->rank == 0 && own == NC_NOERR) own = blob_lease_check(ds->lease);
        if (ds->rank == 0) own = blob_join_finish(b, own);
        closed = dataset_agree_all(ds, own, NULL, NULL, 0);
        if (err == NC_NOERR) err = own != NC_NOERR ? own : closed;
        renamed = closed == NC_NOERR;
    }
    if (renamed)
        driver_release(ds); /* the old master no longer has a name */
    else
        (void)end_page_all(b, b->complete && files == NC_NOERR);
    blob_join_free(b);
    blob_free_all(b);
    return err;
}

/* Closes the dataset. If a create is aborted, also removes the subfiles. */
int blob_close_all(struct driver *self, bool abort)
{
    struct blob *b = (struct blob *)self;
    bool joined = b->join != NULL || is_joined(b, HINTS_JOIN_CLOSE);
    if (joined && !abort) return close_joined_all(b);
    bool incomplete = (abort && b->fresh) || self->ds->open_failed;
    int err = complete_subs_all(b, incomplete);
    err = close_files_all(b, abort, err);
    bool complete = err == NC_NOERR && !incomplete && !self->ds->logs_remain;
    int ended = end_page_all(b, complete);
    blob_free_all(b);
    return err != NC_NOERR || abort ? err : ended;
}

/* Begins a join that will continue after the close. If this fails, the close will report
 * the same error. */
void blob_prepare_close_all(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    if (is_joined(b, HINTS_JOIN_BACKGROUND)) (void)begin_join_all(b);
}
