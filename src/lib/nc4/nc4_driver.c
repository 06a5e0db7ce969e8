/* Opens, defines, syncs and closes netCDF-4 datasets. */
#include "nc4_driver.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_rules.h"
#include "file.h"
#include "nc4_library.h"
#include "trace_stats.h"

/* ---- definitions ---- */

/* Returns a variable's deflate level: its zstd level, limited to deflate's range. */
static int level_of(const void *of, const char *name)
{
    const struct dataset *ds = of;
    struct base_rule rule;
    base_rules_find(base_compress_modes, ds->hints.compress, name, &rule);
    return rule.mode == 0 ? 0 : rule.number < 1 ? 1 : rule.number > 9 ? 9 : rule.number;
}

/* Writes a header's definitions to the file. Collective if the file is open in parallel.
 * Returns this process's result. */
static int define_all(struct nc4 *m, const struct cdf_header *h)
{
    struct dataset *ds = m->base.ds;
    const struct nc4_storage how = {
        .chunks = ds->hints.chunk, .level = level_of, .of = ds};
    int err = nc4_define(&m->file, h, &how);
    ds->omitted = m->file.omitted;
    return err;
}

static int enddef_nc4_all(struct driver *self, const struct cdf_header *before)
{
    struct nc4 *m = (struct nc4 *)self;
    struct dataset *ds = self->ds;
    int own = define_all(m, &ds->header);
    int settled = nc4_set_access_modes(m);
    if (own == NC_NOERR) own = settled;
    int failed, err = dataset_agree_all(ds, own, &failed, NULL, 0);
    m->extended = 0; /* new variables may have fewer records than older ones */
    if (err == NC_NOERR) m->created = false;
    if (err == NC_NOERR || before == NULL) return err != NC_NOERR ? err : failed;
    struct base_error_note note;
    base_error_save(&note);
    (void)define_all(m, before);
    base_error_restore(&note);
    return err;
}

static int write_header_all(struct driver *self)
{
    return define_all((struct nc4 *)self, &self->ds->header);
}

/* ---- records, modes and syncs ---- */

static int agree_records_all(struct driver *self)
{
    struct dataset *ds = self->ds;
    int64_t records = ds->numrecs_seen;
    int failed, err = dataset_agree_all(ds, NC_NOERR, &failed, &records, 1);
    if (err == NC_NOERR) dataset_raise_records(ds, records);
    return err != NC_NOERR ? err : failed;
}

static int begin_indep_all(struct driver *self)
{
    struct nc4 *m = (struct nc4 *)self;
    int err = agree_records_all(self);
    if (err != NC_NOERR || !m->parallel) return err;
    return nc4_extend_all(m, self->ds->header.numrecs);
}

static int sync_file(struct nc4 *m)
{
    if (!m->base.ds->writable) return NC_NOERR;
    return nc4_error(nc4_call(nc_sync, m->file.ncid), "syncing", m->base.ds->path);
}

static int sync_nc4_all(struct driver *self)
{
    int err = agree_records_all(self);
    int synced = sync_file((struct nc4 *)self);
    return dataset_agree_all(self->ds, err != NC_NOERR ? err : synced, NULL, NULL, 0);
}

/* Syncs this process's puts in independent mode. No-op if several processes have the file
 * open in parallel, because HDF5 does not cache their independent puts. */
static int sync_alone(struct driver *self)
{
    struct nc4 *m = (struct nc4 *)self;
    return m->parallel ? NC_NOERR : sync_file(m);
}

static int inq_info(struct driver *self, MPI_Info info)
{
    struct hints hints = self->ds->hints;
    hints.blob = hints.stage = hints.deferred_close = HINTS_DISABLE;
    return hints_report(&hints, info);
}

/* ---- opening and closing ---- */

/* Restores the modification time after a failed open. HDF5 modifies a file when it opens
 * the file for writing, and logs are matched by the modification time. */
static void reset_time(const struct dataset *ds)
{
    const int64_t second = 1000000000;
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {.tv_sec = ds->identity.modified / second,
                                       .tv_nsec = ds->identity.modified % second}};
    if (ds->open_failed && ds->writable && ds->identity.modified > 0)
        (void)utimensat(AT_FDCWD, ds->full_path, times, 0);
}

static int close_all(struct driver *self, bool abort)
{
    struct nc4 *m = (struct nc4 *)self;
    struct dataset *ds = self->ds;
    int err = nc4_close(&m->file);
    if (abort && m->created && ds->rank == 0) {
        int removed = file_remove(ds, -1);
        if (err == NC_NOERR) err = removed;
    }
    base_free(m->filtered);
    base_free(m);
    ds->omitted = NULL;
    int failed, agreed = dataset_agree_all(ds, err, &failed, NULL, 0);
    reset_time(ds);
    if (!ds->writable) failed = NC_NOERR; /* only gets failed, and they returned it */
    return agreed != NC_NOERR ? agreed : failed;
}

static const struct driver_ops slots = {
    .close_all = close_all,
    .redef_all = agree_records_all,
    .enddef_all = enddef_nc4_all,
    .write_header_all = write_header_all,
    .begin_indep_all = begin_indep_all,
    .end_indep_all = agree_records_all,
    .put_all = nc4_put_all,
    .get_all = nc4_get_all,
    .put = nc4_put_alone,
    .get = nc4_get_alone,
    .sync_all = sync_nc4_all,
    .sync_numrecs_all = agree_records_all,
    .sync = sync_alone,
    .inq_info = inq_info,
};

/* Function type of nc_create_par and nc_open_par. */
typedef int open_par(const char *, int, MPI_Comm, MPI_Info, int *);

/* Opens or creates the file on all processes, in parallel. */
static int open_parallel_all(struct nc4 *m, int mode, bool create)
{
    struct dataset *ds = m->base.ds;
    int ncid = -1;
    nc4_any_function f = nc4_find(create ? "nc_create_par" : "nc_open_par");
    nc4_lock();
    int err = nc4_unlock(((open_par *)f)(ds->full_path, mode, ds->comm, ds->info, &ncid));
    return nc4_opened(&m->file, err, ncid, create ? "creating" : "opening", ds->path);
}

static int open_own(struct nc4 *m, int mode, bool create)
{
    const char *path = m->base.ds->full_path;
    return create ? nc4_create(&m->file, path, mode)
                  : nc4_open(&m->file, path, mode & NC_WRITE);
}

static int may_open(const struct nc4 *m, bool create, int mode)
{
    struct dataset *ds = m->base.ds;
    int err = nc4_load(true);
    if (err == NC_NOERR && m->parallel && !nc4_is_parallel())
        err = base_error_set(NC_ENOTBUILT,
                             "%d processes can write to a netCDF-4 file only if netCDF-C "
                             "was built for this MPI (Debian: libnetcdf-mpi-19, for Open "
                             "MPI); %s was not, so only one process can write",
                             ds->nprocs, nc4_name());
    if (!create || ds->rank != 0) return err;
    if (err == NC_NOERR) err = driver_refuse(ds);
    if (err == NC_NOERR && !(mode & NC_NOCLOBBER))
        err = driver_replace(ds, -1, DATASET_UNUSED);
    return err;
}

/* Sets the dataset's header from the file. */
static int take_header(struct nc4 *m, bool create)
{
    struct dataset *ds = m->base.ds;
    if (!create) {
        struct cdf_header h;
        int err = nc4_read_header(&m->file, &h);
        if (err != NC_NOERR) return err;
        cdf_free(&ds->header);
        ds->header = h;
    }
    ds->header.classic_model = m->file.classic;
    return nc4_set_access_modes(m);
}

/* Adds a line to the report for each feature that is not available with this file. */
static void report_unsupported(const struct dataset *ds)
{
    char line[400];
    if (ds->nprocs > 1 && !ds->writable) {
        snprintf(line, sizeof line,
                 "each process opens this netCDF-4 file independently, with %s",
                 nc4_name());
        trace_stats_add_line(ds, line);
    }
    if (ds->hints.stage == HINTS_ENABLE && !ds->writable)
        trace_stats_add_line(ds,
                             "nothing is staged, because only HDF5 knows the offsets of "
                             "values in a netCDF-4 file");
}

static int start_all(struct dataset *ds, int mode, bool create, struct driver **self)
{
    struct nc4 *m = base_calloc(1, sizeof *m), spare = {0};
    int own = m == NULL ? NC_ENOMEM : NC_NOERR;
    if (m == NULL) m = &spare;
    m->file.ncid = -1;
    m->created = create;
    m->parallel = ds->writable && ds->nprocs > 1;
    driver_stack(&m->base, &slots, NULL, ds);
    m->base.prefers_merged_runs = false;
    if (own == NC_NOERR) own = may_open(m, create, mode);
    int err = dataset_agree_all(ds, own, NULL, NULL, 0);
    if (err != NC_NOERR) {
        if (m != &spare) base_free(m);
        return dataset_share_message_all(ds, err, own);
    }
    own = m->parallel ? open_parallel_all(m, mode, create) : open_own(m, mode, create);
    err = dataset_agree_all(ds, own, NULL, NULL, 0);
    bool opened = err == NC_NOERR;
    if (opened) {
        own = take_header(m, create);
        err = dataset_agree_all(ds, own, NULL, NULL, 0);
    }
    if (err != NC_NOERR) {
        /* A file that only some processes have opened cannot be closed collectively. */
        if (opened || !m->parallel) (void)nc4_close(&m->file);
        base_free(m->filtered);
        base_free(m);
        return dataset_share_message_all(ds, err, own);
    }
    ds->netcdf4 = m->file.classic ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4;
    ds->omitted = m->file.omitted;
    if (ds->rank == 0) report_unsupported(ds);
    *self = &m->base;
    return NC_NOERR;
}

static int nc4_create_all(struct dataset *ds, int cmode, struct driver *lower,
                          struct driver **self)
{
    bool classic = ds->netcdf4 == NC_FORMAT_NETCDF4_CLASSIC;
    (void)lower;
    return start_all(
        ds, NC_NETCDF4 | (cmode & NC_NOCLOBBER) | (classic ? NC_CLASSIC_MODEL : 0), true,
        self);
}

static int nc4_open_all(struct dataset *ds, int omode, struct driver *lower,
                        struct driver **self)
{
    (void)lower;
    return start_all(ds, omode & NC_WRITE, false, self);
}

static bool is_netcdf4(const struct dataset *ds, bool create)
{
    (void)create;
    return ds->netcdf4 != 0;
}

const struct driver_kind nc4_driver = {
    .wanted = is_netcdf4,
    .create_all = nc4_create_all,
    .open_all = nc4_open_all,
};
