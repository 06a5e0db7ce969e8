/* Calls that move no values of requests, and how the layer ends: enddef, sync, close. */
#include <fcntl.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "blob.h"
#include "blob_frames.h"
#include "blob_hold.h"
#include "blob_settle.h"

/* ---- definitions, sync ---- */

int blob_enddef_all(struct driver *self, const struct cdf_header *before)
{
    struct blob *b = (struct blob *)self;
    const struct cdf_header *h = &self->ds->header;
    int err = dataset_agree_all(self->ds, blob_grow(b, h->nvars), NULL, NULL, 0);
    if (err == NC_NOERR) err = driver_call(self->lower, enddef_all, before);
    if (err != NC_NOERR) return err;
    for (; b->nvars < h->nvars; b->nvars++) {
        const struct cdf_var *v = &h->vars[b->nvars];
        b->state[b->nvars] = BLOB_OPEN;
        b->touched[b->nvars] = v->fill && (!v->is_record || h->numrecs > 0);
    }
    b->fresh = false;
    blob_count_open(b);
    for (int64_t i = 0; i < b->facts.nsubfiles; i++)
        if (b->subs[i] != NULL) b->subs[i]->nvars = -1; /* fill values may be others */
    return NC_NOERR;
}

/* Those that this process has open, but `other`. */
static int sync_subfiles(struct blob *b, const struct blob_sub *other)
{
    int first = NC_NOERR;
    for (int64_t i = 0; i < b->facts.nsubfiles; i++) {
        struct blob_sub *s = b->subs[i];
        if (s == NULL || s == other || s->driver == NULL || !s->defined) continue;
        if (!s->ours) s->ds.held = s->ds.header.numrecs = s->records;
        int err = driver_call(s->driver, sync);
        if (first == NC_NOERR) first = err != NC_NOERR ? err : s->ds.failed;
        s->ds.failed = NC_NOERR; /* nobody shares its agreements */
    }
    return first;
}

/* *number is the sync's that the subfiles say from here on; 0: it has none. */
static int sync_subfile_all(struct blob *b, int64_t *number)
{
    int64_t told[BLOB_SUMS_TOLD];
    blob_sums_tell(b, told);
    told[BLOB_SUMS_SYNC] = blob_hold_next_sync(b);
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, told, BLOB_SUMS_TOLD);
    int defined = blob_define_empty_all(b);
    if (err == NC_NOERR) err = defined;
    *number = err == NC_NOERR ? told[BLOB_SUMS_SYNC] : 0;
    if (*number > 0) err = blob_hold_stamp(b, (uint64_t)*number, false);
    if (b->own == NULL) return err;
    int summed = blob_sums_write_all(b, told);
    if (err == NC_NOERR) err = summed;
    dataset_hold_records(&b->own->ds, blob_frames_records(b, told[BLOB_SUMS_RECORDS]));
    int synced = driver_call(b->own->driver, sync_all);
    return err != NC_NOERR ? err : synced;
}

/* What the master's page says of decompositions is on the device behind the subfiles'
 * definitions, and before the call returns; how many syncs there have been, before the
 * next one is told, so that no subfile is ahead by more than a sync and a close. */
static int sync_envelope(struct blob *b)
{
    const char *path = b->base.ds->full;
    if (!b->unsynced) return NC_NOERR;
    int fd = b->hold.fd >= 0 ? b->hold.fd : base_open(path, O_RDWR);
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    int err = base_sync_data(fd, path);
    if (fd != b->hold.fd) (void)close(fd);
    b->unsynced = err != NC_NOERR;
    return err;
}

/* What has been put by now is on its device, or will be: who puts it again must not lose
 * it. What other processes have put counts, too: a blob of theirs may leave its frames
 * here. */
static void note_safe(struct blob *b)
{
    const struct dataset *ds = b->base.ds;
    int64_t records = ds->held > ds->header.numrecs ? ds->held : ds->header.numrecs;
    b->frames.safe = records > 0 ? records : 1;
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
        if (err == NC_NOERR && self->ds->rank == 0) err = sync_envelope(b);
    }
    dataset_owe(self->ds, err);
    int synced = driver_call(self->lower, sync_all);
    if (err == NC_NOERR && synced == NC_NOERR && b->hold.fd >= 0 && number > 0)
        err = blob_hold_synced(b, number);
    return err != NC_NOERR ? err : synced;
}

int blob_sync(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    note_safe(b);
    int err = self->ds->writable ? sync_subfiles(b, NULL) : NC_NOERR;
    if (err == NC_NOERR) err = sync_envelope(b);
    int synced = driver_call(self->lower, sync);
    return err != NC_NOERR ? err : synced;
}

/* ---- close ---- */

/* All there is to be known is in subfiles and master. */
static int complete_subs_all(struct blob *b, bool abort)
{
    struct dataset *ds = b->base.ds;
    int defined = NC_NOERR;
    if (!ds->writable) return blob_sub_close_alone(b);
    int64_t told[BLOB_SUMS_TOLD];
    blob_sums_tell(b, told);
    told[BLOB_SUMS_SYNC] = blob_hold_next_sync(b);
    int err = dataset_agree_all(ds, NC_NOERR, NULL, told, BLOB_SUMS_TOLD);
    ds->header.numrecs = told[BLOB_SUMS_RECORDS];
    if (!abort) defined = blob_define_empty_all(b);
    if (defined == NC_NOERR && !abort && told[BLOB_SUMS_SYNC] > 0)
        defined = blob_hold_stamp(b, (uint64_t)told[BLOB_SUMS_SYNC], false);
    int alone = blob_sub_close_alone(b);
    if (err == NC_NOERR) err = alone;
    int summed = abort ? NC_NOERR : blob_sums_write_all(b, told);
    if (defined == NC_NOERR) defined = summed;
    /* A page that could not be written is tried once more. */
    if (!abort && b->comm != MPI_COMM_NULL && (!b->facts.defined || b->torn)) {
        defined = dataset_agree_all(ds, defined, NULL, NULL, 0);
        if (defined == NC_NOERR) defined = blob_commit_all(b, NULL, 0);
    }
    return err != NC_NOERR ? err : defined;
}

/* Subfiles first: what the master tells of is there. */
static int close_files_all(struct blob *b, bool abort, int err)
{
    int alone = blob_sub_close_alone(b),
        closed = blob_sub_close_all(b, abort && b->fresh);
    if (err == NC_NOERR) err = alone != NC_NOERR ? alone : closed;
    err = dataset_concur_all(b->base.ds, err, NULL, NULL, 0);
    closed = driver_call(b->base.lower, close_all, abort);
    return err != NC_NOERR ? err : closed;
}

/* *ended: what became of the page, process 0's own. */
static int end_parts_all(struct blob *b, bool abort, int *ended)
{
    bool incomplete = (abort && b->fresh) || b->base.ds->undone;
    int err = complete_subs_all(b, incomplete);
    err = close_files_all(b, abort, err);
    bool complete = err == NC_NOERR && !incomplete && !b->base.ds->lacking;
    *ended = blob_hold_end(b, complete);
    blob_free_all(b);
    return err;
}

/* Does its close make one file of it? */
static bool is_joined(const struct blob *b, enum base_join when)
{
    const struct dataset *ds = b->base.ds;
    return ds->writable && ds->hints.blob_join >= when && !b->torn && !ds->lacking;
}

/* Who opens the files from here on finds all records. */
static int write_records_all(struct blob *b)
{
    int err = NC_NOERR;
    if (b->own != NULL) {
        dataset_hold_records(&b->own->ds,
                             blob_frames_records(b, b->base.ds->header.numrecs));
        err = driver_call(b->own->driver, sync_numrecs_all);
    }
    int master = driver_call(b->base.lower, sync_numrecs_all);
    return err != NC_NOERR ? err : master;
}

static int begin_join_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    int err = dataset_concur_all(ds, complete_subs_all(b, false), NULL, NULL, 0);
    if (err == NC_NOERR) err = write_records_all(b);
    err = dataset_concur_all(ds, err, NULL, NULL, 0);
    b->complete = err == NC_NOERR;
    if (err == NC_NOERR)
        err = dataset_concur_all(ds, blob_join_begin_all(b), NULL, NULL, 0);
    return err;
}

/* A dataset that could not be joined is as good as one that nobody wanted joined; but
 * the program that waits for the one file learns why there is none. */
static int close_joined_all(struct blob *b)
{
    struct dataset *ds = b->base.ds;
    int joined = NC_EFILE;
    int err = b->join == NULL ? begin_join_all(b) : NC_NOERR;
    if (err == NC_NOERR) {
        /* MPI-IO wants it before others read; descriptors do not. */
        int synced = b->deferred ? NC_NOERR : blob_sync_all(&b->base);
        err = joined =
            dataset_concur_all(ds, blob_join_end_all(b, synced), NULL, NULL, 0);
    }
    int files = close_files_all(b, false, NC_NOERR);
    if (err == NC_NOERR) err = files;
    int closed = dataset_agree_all(ds, err, NULL, NULL, 0);
    bool renamed = joined == NC_NOERR && !ds->deleted;
    if (renamed) {
        int own = ds->rank == 0 ? blob_join_finish(b->path, &b->facts, closed) : NC_NOERR;
        closed = dataset_agree_all(ds, own, NULL, NULL, 0);
        if (err == NC_NOERR) err = own != NC_NOERR ? own : closed;
    }
    if (!renamed || err != NC_NOERR)
        (void)blob_hold_end(b, b->complete && files == NC_NOERR);
    blob_free_all(b);
    return err;
}

/* A dataset that never was one takes its subfiles with it. */
int blob_close_all(struct driver *self, bool abort)
{
    struct blob *b = (struct blob *)self;
    bool joined = b->join != NULL || is_joined(b, BASE_JOIN_CLOSE);
    if (joined && !abort) return close_joined_all(b);
    int ended, err = end_parts_all(b, abort, &ended);
    return err != NC_NOERR || abort ? err : ended;
}

/* What is wrong comes to light again when it is closed. */
void blob_prepare_close_all(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    if (is_joined(b, BASE_JOIN_BEHIND)) (void)begin_join_all(b);
}

enum driver_defer blob_defer(struct driver *self)
{
    return blob_join_may_wait((struct blob *)self) ? DRIVER_LATER : DRIVER_NOW;
}

/* Of one whose close is deferred; of another there is nothing to be begun. */
int blob_flush_start(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    b->deferred = b->join != NULL;
    if (b->deferred) blob_join_start(b);
    return NC_NOERR;
}
