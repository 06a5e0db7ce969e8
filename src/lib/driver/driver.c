/* Builds a dataset's stack of drivers, and resolves the slots that a layer inherits.
 * driver_stack completes the slot table of one layer. build_all creates or opens the
 * required layers from the bottom up, and closes them all if one fails. driver_open_all
 * first tries the file as a classic file, then as a netCDF-4 file, and then looks for
 * another file to open if it is missing. */
#include "driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_number.h"

/* ---- slots ---- */

static void post_nothing(struct driver *self, struct access_request *const *reqs,
                         int64_t n)
{
    (void)self, (void)reqs, (void)n;
}

static int wait_as_put_all(struct driver *self, struct access_request *const *reqs,
                           int64_t n, int error)
{
    return driver_call(self, put_all, reqs, n, error);
}

static int wait_as_put(struct driver *self, struct access_request *const *reqs, int64_t n)
{
    return driver_call(self, put, reqs, n);
}

static int do_nothing(struct driver *self)
{
    (void)self;
    return NC_NOERR;
}

static int accept_any(struct driver *self, const struct cdf_header *before)
{
    (void)self, (void)before;
    return NC_NOERR;
}

static int report_done(struct driver *self, bool *through)
{
    (void)self;
    *through = true;
    return NC_NOERR;
}

static void no_background_work(struct driver *self)
{
    (void)self;
}

static enum driver_defer close_now(struct driver *self)
{
    (void)self;
    return DRIVER_NOW;
}

static int fetch_nothing(struct driver *self, const struct access_request *r)
{
    (void)self, (void)r;
    return NC_NOERR;
}

static void ignore_parts(struct driver *self, const struct driver_parts *parts)
{
    (void)self, (void)parts;
}

static struct driver *return_lower(struct driver *self, int number, struct driver *lower)
{
    (void)self, (void)number;
    return lower;
}

/* Default functions for optional slots that no layer implements. */
static const struct driver_ops default_ops = {
    .check_definitions = accept_any,
    .flush_all = do_nothing,
    .flush = do_nothing,
    .posting = {.post = post_nothing,
                .wait_all = wait_as_put_all,
                .wait = wait_as_put,
                .cancel = post_nothing},
    .background = {.flush_start = do_nothing,
                   .flush_test = report_done,
                   .prepare_close_all = no_background_work,
                   .defer = close_now},
    .prefetching = {.prefetch = fetch_nothing, .prefetch_wait = do_nothing},
    .files = {.parts = ignore_parts,
              .part = return_lower,
              .opened_all = no_background_work},
};

/* Accesses the function pointers in a slot table by index. */
union slots {
    struct driver_ops ops;
    driver_function each[DRIVER_SLOTS];
};

void driver_stack(struct driver *self, const struct driver_ops *own, struct driver *lower,
                  struct dataset *ds)
{
    union slots all = {.ops = *own},
                below = {.ops = lower != NULL ? lower->ops : default_ops};
    bool puts = own->put_all != NULL, posts = own->posting.post != NULL;
    if (puts && !posts) all.ops.posting = default_ops.posting;
    if (puts && own->background.defer == NULL)
        all.ops.background = default_ops.background;
    for (int i = 0; i < DRIVER_SLOTS; i++) {
        bool has = all.each[i] != NULL;
        self->at[i] = has || lower == NULL ? self : lower->at[i];
        if (!has) all.each[i] = below.each[i];
    }
    self->ops = all.ops;
    self->lower = lower;
    self->bottom = lower != NULL ? lower->bottom : self;
    self->ds = ds;
    self->prefers_merged_runs = lower == NULL || lower->prefers_merged_runs;
    self->posts = posts || (!puts && lower != NULL && lower->posts);
}

void driver_count_bytes(struct dataset *ds, const struct access_request *r, bool put)
{
    const struct cdf_var *v = &ds->header.vars[r->varid];
    if (r->status != NC_NOERR && r->status != NC_ERANGE) return;
    *(put ? &ds->stats.put_bytes : &ds->stats.get_bytes) +=
        access_nelems(r, v->ndims) * cdf_type_size(v->type);
}

/* ---- building a dataset's layers ---- */

/* Stores the file's times in ds before any layer opens it. */
static void note_times(struct dataset *ds)
{
    struct stat st;
    bool there = base_fs_stat(ds->full_path, &st) == 0;
    ds->identity.modified = there ? base_nanoseconds(st.st_mtim) : 0;
    ds->identity.changed = there ? base_nanoseconds(st.st_ctim) : 0;
}

static int acquire_lease(struct dataset *ds, int fd, enum driver_intent intent)
{
    int err = NC_NOERR;
    for (int i = 0; driver_registry[i] != NULL && err == NC_NOERR; i++)
        if (driver_registry[i]->acquire != NULL && ds->lease == NULL)
            err = driver_registry[i]->acquire(ds, fd, intent, &ds->lease);
    return err;
}

static int opened_existing(struct dataset *ds, int fd, enum dataset_use use)
{
    (void)use;
    return acquire_lease(ds, fd, ds->writable ? DRIVER_WRITE : DRIVER_READ);
}

void driver_release(struct dataset *ds)
{
    for (int i = 0; driver_registry[i] != NULL && ds->lease != NULL; i++)
        if (driver_registry[i]->release != NULL) driver_registry[i]->release(ds->lease);
    ds->lease = NULL;
}

/* Stacks the required layers. Closes them all if one fails. */
static int build_all(struct dataset *ds, int mode, bool create, struct driver **top)
{
    struct driver *d = NULL;
    if (!create && ds->rank == 0) note_times(ds);
    ds->opened = create ? driver_replace : opened_existing;
    for (int i = 0; driver_registry[i] != NULL; i++) {
        const struct driver_kind *kind = driver_registry[i];
        if (kind->wanted != NULL && !kind->wanted(ds, create)) {
            if (kind->release != NULL) driver_release(ds); /* the old dataset is gone */
            continue;
        }
        struct driver *lower = d;
        int err = create ? kind->create_all(ds, mode, lower, &d)
                         : kind->open_all(ds, mode, lower, &d);
        dataset_raise_records(ds, ds->header.numrecs);
        if (err == NC_NOERR) continue;
        ds->open_failed = true;
        if (lower != NULL) driver_call(lower, close_all, true);
        driver_release(ds);
        return err;
    }
    if (!create && d != NULL) driver_call(d, files.opened_all);
    *top = d;
    return NC_NOERR;
}

int driver_create_all(struct dataset *ds, int cmode, struct driver **top)
{
    struct base_error_note before;
    base_error_save(&before); /* a mode mismatch is not fatal */
    int err = build_all(ds, cmode, true, top);
    if (err == NC_NOERR) base_error_restore(&before);
    return err;
}

/* Opens another file in place of the dataset's file. */
static int open_another_all(struct dataset *ds, int omode, struct driver **top,
                            const struct driver_kind *kind)
{
    char *path = ds->path, *full = ds->full_path;
    ds->path = kind->stand_in(path);
    ds->full_path = kind->stand_in(full);
    int err = ds->path == NULL || ds->full_path == NULL ? NC_ENOMEM : NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    ds->is_stand_in = true;
    if (err == NC_NOERR) err = build_all(ds, omode, false, top);
    base_free(ds->path);
    base_free(ds->full_path);
    ds->path = path;
    ds->full_path = full;
    return err;
}

/* If no file has the dataset's name, looks for another file to open. */
static int open_stand_in_all(struct dataset *ds, int omode, struct driver **top)
{
    char words[1024];
    int err = NC_ENOENT;
    snprintf(words, sizeof words, "%s", base_error_detail(err));
    for (int i = 0; driver_registry[i] != NULL && ds->header.size == 0; i++)
        if (driver_registry[i]->stand_in != NULL)
            err = open_another_all(ds, omode, top, driver_registry[i]);
    if (err == NC_NOERR || ds->header.size > 0) return err;
    return base_error_set(NC_ENOENT, "%s", words);
}

int driver_file_format(const char *path, int *format)
{
    unsigned char head[4096 + 8];
    int fd = base_open(path, O_RDONLY);
    *format = NC_FORMAT_UNKNOWN;
    if (fd < 0) return base_error_system(NC_EFILE, "opening", path);
    int64_t n = base_read_some(fd, 0, head, sizeof head);
    int err = n < 0 ? base_error_system(NC_EREAD, "reading", path) : NC_NOERR;
    close(fd);
    if (err == NC_NOERR) *format = cdf_signature(head, (size_t)n);
    return err;
}

/* Opens a file that mpio has rejected, if its format is netCDF-4. */
static int open_netcdf4_all(struct dataset *ds, int omode, struct driver **top, int err)
{
    struct base_error_note note;
    int format = NC_FORMAT_UNKNOWN;
    base_error_save(&note);
    if (ds->rank == 0) (void)driver_file_format(ds->full_path, &format);
    int shared = dataset_share_all(ds, &format, sizeof format, 0);
    if (shared != NC_NOERR) return shared;
    if (format != NC_FORMAT_NETCDF4) {
        base_error_restore(&note);
        return err;
    }
    ds->open_failed = false;
    ds->netcdf4 = format;
    return build_all(ds, omode, false, top);
}

int driver_open_all(struct dataset *ds, int omode, struct driver **top)
{
    struct base_error_note before;
    base_error_save(&before); /* a mode mismatch is not fatal */
    int err = build_all(ds, omode, false, top);
    if (err == NC_ENOTBUILT && !ds->netcdf4)
        err = open_netcdf4_all(ds, omode, top, err);
    else if (err == NC_ENOENT && ds->header.size == 0)
        err = open_stand_in_all(ds, omode, top);
    if (err == NC_NOERR) base_error_restore(&before);
    return err;
}

int driver_refuse(const struct dataset *ds)
{
    int err = NC_NOERR;
    for (int i = 0; driver_registry[i] != NULL && err == NC_NOERR; i++)
        if (driver_registry[i]->refuse != NULL && driver_registry[i]->wanted(ds, true))
            err = driver_registry[i]->refuse(ds);
    return err;
}

static int remove_all_parts(const char *path, bool anew, bool *all)
{
    int first = NC_NOERR;
    *all = false;
    for (int i = 0; driver_registry[i] != NULL; i++) {
        bool its = false;
        if (driver_registry[i]->remove_parts == NULL) continue;
        int err = driver_registry[i]->remove_parts(path, anew, &its);
        *all |= its;
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int driver_replace(struct dataset *ds, int fd, enum dataset_use use)
{
    bool all;
    if (use == DATASET_REPLACED) {
        driver_release(ds);
        return NC_NOERR;
    }
    int err = acquire_lease(ds, fd, DRIVER_REPLACE);
    bool empty = fd >= 0 && base_is_empty(fd);
    if (err == NC_NOERR && use != DATASET_IN_USE && !empty)
        err = remove_all_parts(ds->full_path, true, &all);
    return err;
}

/* Deletes the dataset's own file last, because as long as it exists, a later attempt can
 * find other files that could not be removed. */
int driver_delete(const char *path, MPI_Info info, bool owned)
{
    struct dataset ds = {.full_path = (char *)path};
    bool all;
    int err = owned ? NC_NOERR : acquire_lease(&ds, -1, DRIVER_DELETE);
    if (err == NC_NOERR) err = remove_all_parts(path, false, &all);
    if (err == NC_NOERR) {
        err = driver_registry[0]->remove(path, info);
        if (err == NC_ENOENT && all) err = NC_NOERR;
    }
    driver_release(&ds);
    return err;
}
