/* Joins a dataset in subfiles into one ordinary file. All processes participate.
 *
 * Two callers use this file: a close with the hint nc_blob_join, and ncmpijoin, which
 * opens the dataset for reading and gives the joined file another name. Process 0 creates
 * the file as NAME.joining-TOKEN (file_temporary.h). The processes move the values
 * through the drivers, each process a share. When the whole file is on its device,
 * process 0 renames it; a close also removes the subfiles. If the job is killed before
 * the rename, the dataset is as it was. If a close is killed later, the joined file is
 * complete, and some subfiles may remain, to which nothing refers.
 *
 * Other users may write to the directory. So process 0 uses the descriptor that created
 * the file, never its name, until the rename. The other processes open the file by name,
 * and check that it is the same file before they write (file_identity.h).
 *
 * If the close is deferred, a thread of each process moves the process's share of the
 * values after the close. The thread already has a descriptor for each file that it
 * needs, so it makes no MPI calls, and any level of thread support suffices. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_rights.h"
#include "base_worker.h"
#include "blob.h"
#include "blob_lease.h"
#include "driver_copy.h"
#include "file_identity.h"
#include "file_temporary.h"
#include "node.h"
#include "subfile_digest.h"

struct blob_join {
    struct blob_join_options options;
    struct driver_copy copy;
    struct dataset ds;             /* the new file */
    struct file_descriptor made;   /* descriptor of the new file until ds is opened */
    struct file_descriptor file;   /* on process 0, a duplicate of it for later use */
    struct file_descriptor master; /* on process 0, a descriptor of the master */
    char *path;
    bool behind; /* a thread moves this process's share of the values */
    bool moved;  /* the thread has begun to move it, or has finished */
    struct base_worker worker;
    atomic_bool unwanted; /* the joined file is no longer needed */
    int err;              /* error that the thread encountered */
    char words[1024];
};

/* ---- after the close ---- */

/* Returns whether the driver moves values through an open descriptor. */
static bool has_descriptor(struct driver *d)
{
    return d != NULL && driver_call(d, background.defer) == DRIVER_READY;
}

/* Returns whether the values may be moved after the close. If so, opens all files that
 * the move requires. */
enum driver_defer blob_defer(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    struct blob_sub *s;
    bool may = b->join != NULL && has_descriptor(b->base.lower) &&
               has_descriptor(b->join->copy.to);
    for (int64_t i = 0; i < b->facts.nsubfiles && may; i++)
        may = blob_sub_get(b, (int)i, &s) == NC_NOERR && has_descriptor(s->driver);
    return may ? DRIVER_LATER : DRIVER_NOW;
}

/* Moves the whole share. Releases the lock meanwhile, since moving does not need it. */
static bool move_behind(void *of)
{
    struct blob_join *j = of;
    if (j->moved) return false;
    j->moved = true;
    base_worker_unlock(&j->worker);
    j->err = driver_copy_share(&j->copy);
    if (j->err == NC_NOERR && !j->unwanted)
        j->err = base_sync_data(j->ds.shared_descriptor->fd, j->path);
    snprintf(j->words, sizeof j->words, "%s", base_error_detail(j->err));
    base_worker_lock(&j->worker);
    return false;
}

/* Starts the thread of a deferred join, if possible. No-op if there is no join. */
int blob_flush_start(struct driver *self)
{
    struct blob *b = (struct blob *)self;
    struct blob_join *j = b->join;
    b->deferred = j != NULL;
    if (j == NULL) return NC_NOERR;
    base_worker_init(&j->worker);
    j->behind = base_worker_start(&j->worker, move_behind, j);
    if (!j->behind) base_worker_stop(&j->worker);
    return NC_NOERR;
}

/* Moves the share, or waits until the thread has done so, and returns the result. */
static int finish_share(struct blob_join *j)
{
    if (!j->behind) return driver_copy_share(&j->copy);
    base_worker_stop(&j->worker);
    return j->words[0] == '\0' ? j->err : base_error_set(j->err, "%s", j->words);
}

/* ---- the file ---- */

static void free_join(struct blob_join *j)
{
    if (j == NULL) return;
    (void)file_descriptor_close(&j->made, j->path);
    (void)file_descriptor_close(&j->file, j->path);
    (void)file_descriptor_close(&j->master, j->path);
    cdf_free(&j->ds.header);
    base_free(j->ds.node); /* unused, or NULL after node_leave_all */
    base_free(j->path);
    base_free(j);
}

/* Returns a description of the new file; NULL if out of memory. */
static struct blob_join *new_join(struct blob *b, const struct blob_join_options *options)
{
    const struct dataset *master = b->base.ds;
    struct blob_join *j = base_calloc(1, sizeof *j);
    if (j == NULL) return NULL;
    j->made = j->file = j->master = FILE_NO_DESCRIPTOR;
    blob_sub_describe(b, &j->ds);
    j->options = options != NULL
                     ? *options
                     : (struct blob_join_options){.to = b->path, .lease = master->lease};
    j->copy = (struct driver_copy){.from = &b->base,
                                   .unwanted = &j->unwanted,
                                   .report = j->options.report,
                                   .arg = j->options.arg};
    j->ds.writable = true;
    j->ds.may_write = j->options.lease == NULL ? NULL : blob_may_write;
    j->ds.may_write_arg = j->options.lease;
    j->ds.created_descriptor = &j->made;
    j->ds.comm = master->comm;
    j->ds.rank = master->rank;
    j->ds.nprocs = master->nprocs;
    j->ds.path = j->ds.full_path = j->path = subfile_join_path(j->options.to, &b->facts);
    j->ds.extend_at_close = true;
    j->ds.node = node_new();
    cdf_init(&j->ds.header, master->header.format);
    int err = cdf_copy(&j->ds.header, &master->header);
    for (int id = 0; err == NC_NOERR && id < j->ds.header.nvars; id++)
        j->ds.header.vars[id].fill = false; /* every value comes from the dataset */
    if (err == NC_NOERR && j->path != NULL && j->ds.node != NULL) return j;
    free_join(j);
    return NULL;
}

/* Opens the master, or a subfile if there is no master. */
static int open_master(struct blob *b, struct file_descriptor *d)
{
    if (!b->base.ds->is_stand_in) return file_open_again(b->base.ds, d);
    char *path = blob_sub_path(b, 0);
    if (path == NULL) return NC_ENOMEM;
    d->fd = base_open(path, O_RDONLY | O_NOFOLLOW);
    int err = d->fd >= 0 ? NC_NOERR : base_error_system(NC_EFILE, "opening", path);
    base_free(path);
    return err;
}

/* On process 0, removes the file, unless another file has its name by now. */
static void remove_joined(const struct blob_join *j)
{
    if (j->file.fd >= 0 && base_has_name(j->file.fd, j->path)) (void)unlink(j->path);
}

/* On process 0, announces the join in the lease, if there is one, then creates an empty
 * file with the dataset's permissions and leaves it open. */
static int make_file(struct blob_join *j)
{
    struct blob *b = (struct blob *)j->copy.from;
    struct blob_lease *lease = j->options.lease;
    /* The owner of the lease is the only one that replaces the master. Joins of copies of
     * the dataset may have the same OUT. */
    const bool only = lease != NULL && j->options.to == b->path;
    int err = lease == NULL ? NC_NOERR : blob_lease_renew(lease, CDF_JOINS);
    if (err == NC_NOERR) err = open_master(b, &j->master);
    if (err == NC_NOERR)
        err = file_temporary_create(j->master.fd, j->path, only, &j->made);
    if (err != NC_NOERR) return err;
    j->file.fd = base_duplicate(j->made.fd);
    if (j->file.fd >= 0) return NC_NOERR;
    err = base_error_system(NC_EFILE, "opening", j->path);
    if (base_has_name(j->made.fd, j->path)) (void)unlink(j->path);
    return err;
}

/* Creates the file with all definitions but no values. */
int blob_join_begin_all(struct blob *b, const struct blob_join_options *options)
{
    struct dataset *ds = b->base.ds;
    struct blob_join *j = new_join(b, options);
    int own = j == NULL ? NC_ENOMEM : NC_NOERR;
    if (own == NC_NOERR && ds->rank == 0) own = make_file(j);
    int err = dataset_agree_all(ds, own, NULL, NULL, 0);
    if (err != NC_NOERR || j == NULL) {
        if (own == NC_NOERR && ds->rank == 0) remove_joined(j);
        free_join(j);
        return own != NC_NOERR ? own : err;
    }
    err = driver_registry[0]->create_all(&j->ds, NC_CLOBBER, NULL, &j->copy.to);
    if (err == NC_NOERR) {
        err = driver_call(j->copy.to, enddef_all, NULL);
        if (err != NC_NOERR) (void)driver_call(j->copy.to, close_all, false);
    }
    if (err == NC_NOERR) {
        b->join = j;
        return NC_NOERR;
    }
    if (ds->rank == 0) remove_joined(j);
    node_leave_all(&j->ds);
    free_join(j);
    return err;
}

/* Copies bytes [at, end) of the master that belong to no variable. */
static int copy_rest(const struct blob_join *j, int64_t at, int64_t end)
{
    const struct dataset *ds = j->copy.from->ds;
    char bytes[4096];
    const int64_t most = sizeof bytes;
    int err = NC_NOERR;
    for (int64_t n; at < end && err == NC_NOERR; at += n) {
        n = end - at < most ? end - at : most;
        n = base_read_some(j->master.fd, ds->base + at, bytes, n);
        if (n < 0) return base_error_system(NC_EREAD, "reading", ds->full_path);
        if (n == 0) break;
        if (!base_is_zero(bytes, n))
            err = base_write_at(j->file.fd, at, bytes, n, j->path);
    }
    return err;
}

/* On process 0, gives the file the dataset's length, and copies what the master has after
 * its header and after its last record: a dataset without variables may be longer than
 * its header requires if its header has become shorter, and so may one whose writer was
 * killed. */
static int finish_file(const struct blob *b)
{
    const struct blob_join *j = b->join;
    const struct dataset *ds = b->base.ds;
    const struct cdf_header *h = &j->ds.header;
    struct stat st;
    if (blob_is_foreign(b)) return NC_NOERR;
    if (fstat(j->master.fd, &st) != 0)
        return base_error_system(NC_EFILE, "examining", ds->full_path);
    int err = base_extend(j->file.fd, st.st_size - ds->base, j->path);
    if (err == NC_NOERR && h->nvars > 0) err = copy_rest(j, h->size, h->begin_fixed);
    return err == NC_NOERR ? copy_rest(j, cdf_file_size(h), INT64_MAX) : err;
}

int blob_join_end_all(struct blob *b, int error)
{
    struct dataset *ds = b->base.ds;
    struct blob_join *j = b->join;
    j->unwanted = ds->deleted;
    int own = error == NC_NOERR ? finish_share(j) : error;
    int err = dataset_agree_all(&j->ds, own, NULL, NULL, 0);
    if (err == NC_NOERR && !ds->deleted) {
        if (ds->rank == 0) own = finish_file(b);
        dataset_raise_records(&j->ds, j->ds.header.numrecs);
        err = driver_call(j->copy.to, sync_all);
        if (own != NC_NOERR) err = own;
    }
    int closed = driver_call(j->copy.to, close_all, false);
    if (err == NC_NOERR) err = closed;
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (ds->rank == 0 && (err != NC_NOERR || ds->deleted)) remove_joined(j);
    node_leave_all(&j->ds);
    return own != NC_NOERR ? own : err;
}

/* Since the close, the dataset may have been renamed or replaced with another file. */
static int check_name(const struct blob *b)
{
    struct cdf_superblock now;
    if (subfile_read_superblock(b->path, &now) == NC_NOERR &&
        memcmp(now.token, b->facts.token, sizeof now.token) == 0)
        return NC_NOERR;
    return base_error_set(NC_EFILE, "%s: it is no longer the dataset that was closed",
                          b->path);
}

int blob_join_finish(struct blob *b, int error)
{
    const struct blob_join *j = b->join;
    const bool replaces = j->options.to == b->path;
    int err = error == NC_NOERR && replaces ? check_name(b) : error;
    /* The master's permissions may have changed while the file was filled. */
    if (err == NC_NOERR) err = base_rights_copy(j->master.fd, j->file.fd, j->path);
    if (err == NC_NOERR) err = file_temporary_rename(j->file.fd, j->path, j->options.to);
    if (err != NC_NOERR) remove_joined(j);
    return err == NC_NOERR && replaces ? blob_remove_subfiles(b->path, &b->facts) : err;
}

bool blob_join_is_file(const struct blob *b, int fd)
{
    return file_is_fd(&b->join->ds, fd);
}

void blob_join_free(struct blob *b)
{
    free_join(b->join);
    b->join = NULL;
}
