/* The stack of drivers: how it is built, and what a layer takes from the one below. */
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

/* ---- a layer on another one ---- */

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

static int take_any(struct driver *self, const struct cdf_header *before)
{
    (void)self, (void)before;
    return NC_NOERR;
}

static int is_through(struct driver *self, bool *through)
{
    (void)self;
    *through = true;
    return NC_NOERR;
}

static void have_nothing(struct driver *self)
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

static struct driver *itself(struct driver *self, int number, struct driver *lower)
{
    (void)self, (void)number;
    return lower;
}

/* What it comes to where no layer has these. Nothing is staged then. */
static const struct driver_ops none_has = {
    .check_definitions = take_any,
    .flush_all = do_nothing,
    .flush = do_nothing,
    .posting = {.post = post_nothing,
                .wait_all = wait_as_put_all,
                .wait = wait_as_put,
                .cancel = post_nothing},
    .background = {.flush_start = do_nothing,
                   .flush_test = is_through,
                   .prepare_close_all = have_nothing,
                   .defer = close_now},
    .ahead = {.prefetch = fetch_nothing, .prefetch_wait = do_nothing},
    .files = {.parts = ignore_parts, .part = itself, .opened_all = have_nothing},
};

/* A struct of function pointers, one by one. */
union slots {
    struct driver_ops ops;
    driver_function each[DRIVER_SLOTS];
};

void driver_stack(struct driver *self, const struct driver_ops *own, struct driver *lower,
                  struct dataset *ds)
{
    union slots all = {.ops = *own},
                below = {.ops = lower != NULL ? lower->ops : none_has};
    bool puts = own->put_all != NULL, posts = own->posting.post != NULL;
    if (puts && !posts) all.ops.posting = none_has.posting;
    if (puts && own->background.defer == NULL) all.ops.background = none_has.background;
    for (int i = 0; i < DRIVER_SLOTS; i++) {
        bool has = all.each[i] != NULL;
        self->at[i] = has || lower == NULL ? self : lower->at[i];
        if (!has) all.each[i] = below.each[i];
    }
    self->ops = all.ops;
    self->lower = lower;
    self->bottom = lower != NULL ? lower->bottom : self;
    self->ds = ds;
    self->likes_runs = lower == NULL || lower->likes_runs;
    self->posts = posts || (!puts && lower != NULL && lower->posts);
}

void driver_count_bytes(struct dataset *ds, const struct access_request *r, bool put)
{
    const struct cdf_var *v = &ds->header.vars[r->varid];
    if (r->status != NC_NOERR && r->status != NC_ERANGE) return;
    *(put ? &ds->stats.put_bytes : &ds->stats.get_bytes) +=
        access_nelems(r, v->ndims) * cdf_type_size(v->type);
}

/* ---- all layers of a dataset ---- */

/* Before any layer opens it: see struct dataset. */
static void note_time(struct dataset *ds)
{
    struct stat st;
    bool there = base_fs_stat(ds->full, &st) == 0;
    ds->modified = there ? base_nanoseconds(st.st_mtim) : 0;
}

/* Puts the wanted layers on each other; takes all down again if one fails. */
static int build_all(struct dataset *ds, int mode, bool create, struct driver **top)
{
    struct driver *d = NULL;
    if (!create && ds->rank == 0) note_time(ds);
    for (int i = 0; driver_registry[i] != NULL; i++) {
        const struct driver_kind *kind = driver_registry[i];
        if (kind->wanted != NULL && !kind->wanted(ds, create)) continue;
        struct driver *lower = d;
        int err = create ? kind->create_all(ds, mode, lower, &d)
                         : kind->open_all(ds, mode, lower, &d);
        dataset_hold_records(ds, ds->header.numrecs);
        if (err == NC_NOERR) continue;
        ds->undone = true;
        if (lower != NULL) driver_call(lower, close_all, true);
        return err;
    }
    if (!create && d != NULL) driver_call(d, files.opened_all);
    *top = d;
    return NC_NOERR;
}

int driver_create_all(struct dataset *ds, int cmode, struct driver **top)
{
    return build_all(ds, cmode, true, top);
}

/* Another file is the dataset's as long as it is being opened. */
static int open_another_all(struct dataset *ds, int omode, struct driver **top,
                            const struct driver_kind *kind)
{
    char *path = ds->path, *full = ds->full;
    ds->path = kind->stand_in(path);
    ds->full = kind->stand_in(full);
    int err = ds->path == NULL || ds->full == NULL ? NC_ENOMEM : NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    ds->stands_in = true;
    if (err == NC_NOERR) err = build_all(ds, omode, false, top);
    base_free(ds->path);
    base_free(ds->full);
    ds->path = path;
    ds->full = full;
    return err;
}

/* Where nobody has a file of that name. */
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

/* The file is in a format that mpio does not have: netCDF-4, or another one. */
static int open_netcdf4_all(struct dataset *ds, int omode, struct driver **top, int err)
{
    struct base_error_note note;
    int format = NC_FORMAT_UNKNOWN;
    base_error_keep(&note);
    if (ds->rank == 0) (void)driver_file_format(ds->full, &format);
    int shared = dataset_share_all(ds, &format, sizeof format, 0);
    if (shared != NC_NOERR) return shared;
    if (format != NC_FORMAT_NETCDF4) {
        base_error_restore(&note);
        return err;
    }
    ds->undone = false;
    ds->netcdf4 = format;
    return build_all(ds, omode, false, top);
}

int driver_open_all(struct dataset *ds, int omode, struct driver **top)
{
    struct base_error_note before;
    base_error_keep(&before); /* such as that the modes differ, which stops nobody */
    int err = build_all(ds, omode, false, top);
    if (err == NC_ENOTBUILT && !ds->netcdf4) {
        err = open_netcdf4_all(ds, omode, top, err);
        if (err == NC_NOERR) base_error_restore(&before);
        return err;
    }
    bool nothing = err == NC_ENOENT && ds->header.size == 0;
    return nothing ? open_stand_in_all(ds, omode, top) : err;
}

int driver_refuse(const struct dataset *ds)
{
    int err = NC_NOERR;
    for (int i = 0; driver_registry[i] != NULL && err == NC_NOERR; i++)
        if (driver_registry[i]->refuse != NULL && driver_registry[i]->wanted(ds, true))
            err = driver_registry[i]->refuse(ds);
    return err;
}

int driver_remove_parts(const char *path, bool anew, bool *all)
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

int driver_delete(const char *path, MPI_Info info)
{
    bool all;
    int err = driver_remove_parts(path, false, &all);
    int removed = driver_registry[0]->remove(path, info);
    if (removed == NC_ENOENT && all) removed = NC_NOERR;
    return removed != NC_NOERR ? removed : err;
}
