/* Opens and closes a dataset in the default driver: create, open, close, abort.
 *
 * Creating a dataset empties an existing file, or replaces the file if another job writes
 * to it. Closing it writes the number of records and extends the file to the size that
 * its header implies, so that a truncated file can be recognized. */
#include "mpio.h"

#include "base_error.h"
#include "base_mem.h"
#include "journal.h"
#include "file.h"
#include "file_identity.h"

static int inq_mpio_info(struct driver *self, MPI_Info info)
{
    struct mpio *m = (struct mpio *)self;
    struct hints hints = self->ds->hints;
    hints.blob = HINTS_DISABLE;           /* layers that use this slot override it */
    hints.deferred_close = HINTS_DISABLE; /* also overridden */
    hints.file_io = m->file.mpi ? HINTS_FILE_IO_MPI : HINTS_FILE_IO_POSIX;
    int err = file_info(&m->file, info);
    if (err == NC_NOERR) err = hints_report(&hints, info);
    return err;
}

static int sync_file_all(struct driver *self)
{
    struct mpio *m = (struct mpio *)self;
    int err = self->ds->writable ? mpio_sync_numrecs_all(self) : NC_NOERR;
    int synced = file_sync_all(&m->file);
    int64_t wrote = m->wrote;
    int failed, agreed = dataset_agree_all(self->ds, err != NC_NOERR ? err : synced,
                                           &failed, &wrote, 1);
    if (wrote && self->ds->rank == 0) file_disown_logs(&m->file);
    if (agreed != NC_NOERR) file_descriptor_mark_reported(&m->file.own);
    if (agreed == NC_NOERR) agreed = failed;
    if (agreed != NC_NOERR || !m->file.own_size) return agreed;
    return dataset_agree_all(self->ds, file_check_end(&m->file), NULL, NULL, 0);
}

static int sync_mpio_alone(struct driver *self)
{
    struct mpio *m = (struct mpio *)self;
    bool may = self->ds->writable && !m->file.no_indep;
    int err = may ? mpio_sync_numrecs(m) : NC_NOERR;
    int synced = file_sync(&m->file);
    return err != NC_NOERR ? err : synced;
}

/* This layer defers nothing itself. But a process that has not opened the file yet would
 * look up its name later. Without independent access, all processes already have the file
 * open through MPI-IO. */
static enum driver_defer defer_mpio(struct driver *self)
{
    struct file *f = &((struct mpio *)self)->file;
    if (f->no_indep) return DRIVER_BY_MPI;
    if (file_ready(f) != NC_NOERR) return DRIVER_NOW;
    return f->own.fd >= 0 ? DRIVER_READY : DRIVER_BY_MPI;
}

/* Begins independent mode. Values put collectively must be in the file first. */
static int begin_mpio_indep_all(struct driver *self)
{
    int failed, err = dataset_agree_all(self->ds, NC_NOERR, &failed, NULL, 0);
    return err != NC_NOERR ? err : failed;
}

static int end_mpio_indep_all(struct driver *self)
{
    return self->ds->writable ? mpio_sync_numrecs_all(self) : begin_mpio_indep_all(self);
}

static const struct driver_ops slots = {
    .close_all = mpio_close_all,
    .redef_all = mpio_redef_all,
    .check_definitions = mpio_check_definitions,
    .enddef_all = mpio_enddef_all,
    .write_header_all = mpio_write_header_all,
    .begin_indep_all = begin_mpio_indep_all,
    .end_indep_all = end_mpio_indep_all,
    .put_all = mpio_put_all,
    .get_all = mpio_get_all,
    .put = mpio_put,
    .get = mpio_get,
    .sync_all = sync_file_all,
    .sync_numrecs_all = mpio_sync_numrecs_all,
    .sync = sync_mpio_alone,
    .inq_info = inq_mpio_info,
    .background = {.defer = defer_mpio},
};

static bool is_classic(const struct dataset *ds, bool create)
{
    (void)create;
    return ds->netcdf4 == 0;
}

const struct driver_kind mpio_driver = {
    .wanted = is_classic,
    .create_all = mpio_create_all,
    .open_all = mpio_open_all,
    .remove = mpio_delete,
};

static void free_layer_all(struct mpio *m)
{
    twophase_window_free_all(&m->exchange.window);
    access_staging_free(&m->staging);
    base_free(m->image);
    base_free(m);
}

/* Creates a layer on an opened file, on all processes or on none. A process that is out
 * of memory or passes an `error` still opens the file with the others, so that they learn
 * of the error. */
static int start_mpio_all(struct dataset *ds, int amode, int error, struct driver *lower,
                          struct mpio **out)
{
    struct mpio spare, *m = base_calloc(1, sizeof *m);
    int err = file_open_all(m == NULL ? &spare.file : &m->file, ds, amode,
                            m == NULL ? NC_ENOMEM : error);
    if (err != NC_NOERR || m == NULL) {
        base_free(m);
        return err;
    }
    m->staging = (struct access_staging){.most = &ds->stats.staging_bytes,
                                         .copied = &ds->stats.copied_bytes};
    driver_stack(&m->base, &slots, lower, ds);
    m->known_size = m->file.end;
    m->short_end = INT64_MAX;
    m->exchange =
        (struct twophase){.ds = ds,
                          .file = &m->file,
                          .staging = &m->staging,
                          .unit = file_striped(&m->file) ? m->file.stripe : FILE_PAGE};
    *out = m;
    return NC_NOERR;
}

/* Empties the file instead of replacing it, so that it retains its permissions and
 * stripes. If another job writes to the file, it has already been replaced (see
 * file_write_lock.c). All processes get the same result. */
static int make_empty_all(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    int err = NC_NOERR;
    if (m->known_size == 0) return NC_NOERR;
    m->known_size = 0;
    char *journal = ds->rank == 0 ? journal_of(ds->full_path) : NULL;
    int emptied = file_resize_all(&m->file, 0);
    err = dataset_agree_all(ds, emptied, NULL, NULL, 0);
    /* A dataset that is still marked needs its journal until it is empty. */
    if (err == NC_NOERR)
        journal_forget(journal);
    else
        base_free(journal);
    return err;
}

int mpio_create_all(struct dataset *ds, int cmode, struct driver *lower,
                    struct driver **self)
{
    struct mpio *m = NULL;
    bool keep = (cmode & NC_NOCLOBBER) != 0;
    int error = ds->rank == 0 ? driver_refuse(ds) : NC_NOERR;
    int err =
        start_mpio_all(ds, MPI_MODE_RDWR | MPI_MODE_CREATE | (keep ? MPI_MODE_EXCL : 0),
                       error, lower, &m);
    if (m == NULL) return err;

    err = make_empty_all(m);
    if (err != NC_NOERR) {
        file_close_all(&m->file);
        free_layer_all(m);
        return err;
    }
    file_write_lock_share(&m->file);
    m->created = true;
    *self = &m->base;
    return NC_NOERR;
}

int mpio_open_all(struct dataset *ds, int omode, struct driver *lower,
                  struct driver **self)
{
    struct mpio *m = NULL;
    int err = start_mpio_all(ds, omode & NC_WRITE ? MPI_MODE_RDWR : MPI_MODE_RDONLY,
                             NC_NOERR, lower, &m);
    if (m == NULL) return err;

    err = mpio_read_header_all(m);
    if (err != NC_NOERR) {
        file_close_all(&m->file);
        free_layer_all(m);
        return err;
    }
    if (m->file.guard >= 0) journal_tidy(m->file.guard, ds->full_path);
    m->numrecs_in_file = m->opened_records = ds->header.numrecs;
    mpio_report_short_file(m);
    *self = &m->base;
    return NC_NOERR;
}

/* Writes the number of records, and extends the file to the size that its header implies,
 * even if nothing was written, so that a file that was never filled does not look
 * truncated. Records that another job has added in the meantime are preserved. */
static int complete_mpio_all(struct mpio *m)
{
    struct dataset *ds = m->base.ds;
    int64_t end = m->file.end > m->known_size ? m->file.end : m->known_size;
    bool added = ds->numrecs_seen > m->opened_records;
    int learnt = added ? mpio_read_numrecs(m) : NC_NOERR;
    enum { RECORDS, END, WRITTEN, NVALUES };
    int64_t all[NVALUES] = {ds->numrecs_seen, end, m->wrote};
    int failed, err = dataset_agree_all(ds, NC_NOERR, &failed, all, NVALUES);
    if (err != NC_NOERR) return err;
    ds->header.numrecs = all[RECORDS];
    err = mpio_write_numrecs_all(m);
    if (m->pending && err == NC_NOERR) err = mpio_report_pending(m, NC_EFILE);
    if (err == NC_NOERR) err = learnt;
    if (all[WRITTEN] && ds->rank == 0) file_disown_logs(&m->file);
    int places = all[WRITTEN] ? mpio_check_offsets(m) : NC_NOERR;
    if (err == NC_NOERR) err = places;
    int64_t wanted = cdf_file_size(&ds->header);
    bool more =
        m->defined || ds->extend_at_close || ds->header.numrecs > m->opened_records;
    int seen = file_check_end(&m->file);
    int replaced = err == NC_NOERR ? file_check_replaced(ds) : NC_NOERR;
    if (more && all[END] < wanted) {
        int sized = mpio_extend_all(&m->file, wanted);
        if (err == NC_NOERR) err = sized;
    }
    if (err == NC_NOERR) err = replaced;
    if (err == NC_NOERR) err = seen;
    return failed != NC_NOERR ? failed : err;
}

static int close_file_all(struct driver *self)
{
    struct mpio *m = (struct mpio *)self;
    struct dataset *ds = self->ds;
    int failed, err = ds->writable ? complete_mpio_all(m) : NC_NOERR;
    int closed = file_close_all(&m->file);
    bool held = twophase_window_reserve_slot(&m->exchange.window, ds);
    int64_t refused = !held;
    /* This is the last agreement that can report an error to the others. */
    err = dataset_agree_all(ds, err != NC_NOERR ? err : closed, &failed, &refused, 1);
    if (held) twophase_window_store_or_release(&m->exchange.window, !refused);
    free_layer_all(m);
    return err != NC_NOERR ? err : failed;
}

int mpio_close_all(struct driver *self, bool abort)
{
    struct mpio *m = (struct mpio *)self;
    struct dataset *ds = self->ds;
    if (!abort || !m->created) return close_file_all(self);

    /* The name may now refer to another program's dataset. */
    int64_t records;
    bool ours = mpio_check_header(m, &records) == NC_NOERR;
    /* Removes the file before the lock is released: otherwise a job that creates the
     * dataset could acquire the lock and use the file. */
    int removed = ds->rank == 0 && ours ? file_remove(ds, m->file.replaced) : NC_NOERR;
    int err = file_close_all(&m->file);
    if (err == NC_NOERR) err = removed;
    free_layer_all(m);
    return dataset_agree_all(ds, err, NULL, NULL, 0);
}
