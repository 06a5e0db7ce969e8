/* Opens and closes the file. Process 0 opens or creates it first, and all processes agree
 * on the result. Every other process opens the file when it first reads or writes, and
 * checks that it gets the same file. */
#include "file.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mpi.h"
#include "file_identity.h"
#include "file_replace.h"
#include "file_probe.h"
#include "trace_record.h"

/* ---- MPI-IO handles ---- */

/* The path as passed to MPI-IO. A path that does not fit is also too long for the
 * system. */
struct name {
    char text[PATH_MAX + 8];
};

/* ROMIO takes the text before a colon as a file system name, so a path that contains a
 * colon is prefixed with one. */
static struct name name_for_mpi(const char *path)
{
    struct name name;
    const char *prefix = "";
#ifdef ROMIO_VERSION
    if (strchr(path, ':') != NULL) prefix = "ufs:";
#endif
    snprintf(name.text, sizeof name.text, "%s%s", prefix, path);
    return name;
}

/* ROMIO creates its lock on first use. Threads that arrive at the same time create two
 * locks and wait forever (MPICH 4.0.2). So one thread makes a harmless local call before
 * other threads can exist. */
static void first_call(void)
{
    MPI_Errhandler users; /* an error must not abort the program */
    int level;
    if (MPI_Query_thread(&level) != MPI_SUCCESS || level < MPI_THREAD_MULTIPLE) return;
    if (MPI_File_get_errhandler(MPI_FILE_NULL, &users) != MPI_SUCCESS) return;
    if (MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS) {
        /* No such file exists, so the call fails. If the name were empty, ROMIO would
         * read the bytes before it. */
        (void)MPI_File_delete("/proc/self/none", MPI_INFO_NULL);
        (void)MPI_File_set_errhandler(MPI_FILE_NULL, users);
    }
    MPI_Errhandler_free(&users);
}

static void before_any_call(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, first_call);
}

/* Sets a message if the file cannot be a dataset; MPI-IO's error codes do not indicate
 * this. */
static int explain(const char *path, int err)
{
    char words[512];
    if (err == NC_NOERR || file_check_type(path) == NC_NOERR) return err;
    snprintf(words, sizeof words, "%s", base_error_detail(NC_EFILE));
    return base_error_set(err, "%s", words);
}

/* Checks that MPI can create a communicator: ROMIO needs one per handle, and aborts
 * without it (MPICH 4.0.2). Broadcasts process 0's *made. Returns the agreed result. */
static int room_for_handle_all(struct dataset *ds, int64_t *made)
{
    MPI_Comm one;
    int mpi = MPI_Comm_dup(ds->comm, &one);
    int err = base_mpi_error(mpi, NC_ENFILE, "duplicating the communicator for the file");
    int64_t all[2] = {err != NC_NOERR, *made};
    err = dataset_agree_all(ds, err, NULL, all, 2);
    *made = all[1];
    if (!all[0]) (void)MPI_Comm_free(&one);
    return err;
}

/* Same as room_for_handle_all, but for a handle that only this process opens. */
static int room_for_handle(struct dataset *ds)
{
#ifdef ROMIO_VERSION
    MPI_Group self;
    MPI_Comm alone;
    int mpi = MPI_Comm_group(MPI_COMM_SELF, &self);
    if (mpi == MPI_SUCCESS) {
        mpi = MPI_Comm_create_group(ds->comm, self, 0, &alone);
        MPI_Group_free(&self);
    }
    if (mpi != MPI_SUCCESS)
        return base_mpi_error(mpi, NC_ENFILE,
                              "duplicating the communicator for the file");
    (void)MPI_Comm_free(&alone);
#else
    (void)ds;
#endif
    return NC_NOERR;
}

static void count_open(struct file *f)
{
    f->ds->stats.file_opens++;
    f->ds->stats.file_opens_mpi++;
}

static int open_alone(struct file *f, const char *path, int amode)
{
    MPI_Info info = f->no_indep ? MPI_INFO_NULL : f->ds->info;
    int err = file_check_type(path); /* opening a pipe might block forever */
    if (err == NC_NOERR) err = room_for_handle(f->ds);
    if (err != NC_NOERR) return err;
    before_any_call();
    struct name name = name_for_mpi(path);
    count_open(f);
    int mpi = MPI_File_open(MPI_COMM_SELF, name.text, amode, info, &f->own_handle);
    if (mpi != MPI_SUCCESS) f->own_handle = MPI_FILE_NULL;
    return base_mpi_error(mpi, NC_EFILE, path);
}

/* Opens the file by name through MPI-IO. There is no descriptor to check, so the name is
 * checked before and after the open. */
static int open_alone_checked(struct file *f)
{
    int err = file_check(f->ds);
    if (err == NC_NOERR) err = open_alone(f, f->ds->full_path, f->amode);
    if (err == NC_NOERR && (err = file_check(f->ds)) != NC_NOERR)
        (void)MPI_File_close(&f->own_handle);
    return err;
}

/* Opens the collective handle, on all processes or on none. A process whose open failed
 * knows the reason; the others may know only that some process failed. `error` is the
 * caller's earlier error. `made` is set if process 0 created the file. Returns the agreed
 * result. */
static int open_together_all(struct file *f, const char *path, int amode, int error,
                             bool made)
{
    struct dataset *ds = f->ds;
    int64_t made_there = made;
    before_any_call();
    struct name name = name_for_mpi(path);
    int room = room_for_handle_all(ds, &made_there);
    if (room != NC_NOERR) return room;
    if (made_there) amode = f->amode;
    count_open(f);
    int mpi = MPI_File_open(ds->comm, name.text, amode, ds->info, &f->view);
    int err = base_mpi_error(mpi, NC_EFILE, path);
    if (err == NC_NOERR && error == NC_NOERR) error = file_check(ds);

    enum { WHY, REFUSED, NVALUES };
    int64_t all[NVALUES] = {
        [WHY] = err == NC_EFILE ? 0 : -err, [REFUSED] = err != NC_NOERR};
    err = dataset_agree_all(ds, err != NC_NOERR ? err : error, NULL, all, NVALUES);
    if (err == NC_NOERR) return NC_NOERR;
    if (!all[REFUSED]) MPI_File_close(&f->view);
    f->view = MPI_FILE_NULL;
    return explain(path, all[WHY] > 0 ? (int)-all[WHY] : err);
}

int file_open_view_all(struct file *f)
{
    if (f->view != MPI_FILE_NULL) return NC_NOERR;
    struct trace_span span = trace_begin(f->ds->trace);
    int err = open_together_all(f, f->ds->full_path, f->amode, NC_NOERR, false);
    trace_end(f->ds->trace, TRACE_OPEN, span);
    return err;
}

/* ---- opening on one process ---- */

static bool wants_mpi(const struct file *f)
{
    const struct dataset *ds = f->ds;
    if (ds->hints.file_io != HINTS_FILE_IO_AUTO)
        return ds->hints.file_io == HINTS_FILE_IO_MPI;
    return f->mpi || f->no_indep || ds->prefixed;
}

/* Uses the descriptor, unless the file system needs MPI-IO. The guard stays open. */
static int use_descriptor(struct file *f, struct file_descriptor *d)
{
    f->bypasses_cache = base_fs_bypasses_cache(d->fd);
    if (f->ds->hints.file_io == HINTS_FILE_IO_POSIX || f->bypasses_cache ||
        base_fs_is_coherent(d->fd)) {
        f->own = *d;
        if (f->bypasses_cache) file_coherence_begin(&f->coherence, f->ds, &f->own);
        if (f->ds->shared_descriptor == NULL) f->ds->shared_descriptor = &f->own;
        return NC_NOERR;
    }
    if (d->fd != f->guard) (void)file_descriptor_close(d, f->ds->full_path);
    return open_alone_checked(f);
}

/* Opens the file: receives the descriptor shared on the node, or else opens its own. */
static int open_by_descriptor(struct file *f)
{
    struct file_descriptor d;
    if (file_fdpass_receive(&f->share, f->ds, &d)) return use_descriptor(f, &d);
    int err = file_open_again(f->ds, &d);
    if (err == NC_NOERR) err = use_descriptor(f, &d);
    file_fdpass_send(&f->share, f->own.fd >= 0 ? &f->own : NULL);
    return err;
}

static int open_own_file(struct file *f)
{
    int err;
    struct trace_span span = trace_begin(f->ds->trace);
    if (!wants_mpi(f)) {
        err = open_by_descriptor(f);
    } else {
        err = open_alone_checked(f);
    }
    trace_end(f->ds->trace, TRACE_OPEN, span);
    return err;
}

static bool is_open(const struct file *f)
{
    return f->own.fd >= 0 || f->own_handle != MPI_FILE_NULL;
}

/* Lets the node's processes share a descriptor: one that has the file open passes it. */
void file_share_all(struct file *f, struct node_board board)
{
    struct file_descriptor d;
    if (f->share.board.state == NULL) {
        enum file_fdpass_role how = f->own.fd >= 0 ? FILE_FDPASS_HAVE
                                    : is_open(f) || f->ds->shared_descriptor != NULL
                                        ? FILE_FDPASS_NEITHER
                                        : FILE_FDPASS_LISTEN;
        file_fdpass_begin_all(&f->share, board, how, &f->own);
    } else if (!is_open(f) && file_fdpass_drain(&f->share, f->ds, &d)) {
        (void)use_descriptor(f, &d);
    }
}

int file_ready(struct file *f)
{
    if (is_open(f)) return NC_NOERR;
    int err = open_own_file(f);
    f->dirty |= err == NC_NOERR && f->found;
    return err;
}

static int flags_of(int amode)
{
    return (amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR) |
           (amode & MPI_MODE_CREATE ? O_CREAT : 0) | (amode & MPI_MODE_EXCL ? O_EXCL : 0);
}

/* Returns whether the user requests stripes, which MPI-IO sets when creating a file. */
static bool has_stripe_hints(const struct dataset *ds)
{
    return base_mpi_number(ds->info, "striping_unit") > 0 ||
           base_mpi_number(ds->info, "striping_factor") > 0;
}

/* Makes MPI-IO create a file with the requested stripes, then closes it. */
static int make_striped(struct file *f, const char *path, int amode)
{
    int err = explain(path, open_alone(f, path, amode));
    if (err != NC_NOERR) return err;
    return base_mpi_error(MPI_File_close(&f->own_handle), NC_EFILE, path);
}

/* Opens a new dataset's file. The descriptor becomes the guard: its lock ensures that no
 * other job has the file open for writing. If the file is in use, replaces it with a new
 * file of the same name. Retries if another program creates the same dataset at the same
 * time. Sets *reached if the file was opened, even if a later step failed. */
static int open_new(struct file *f, int amode, struct file_descriptor *d, bool *reached)
{
    enum { TURNS = 100 };
    struct dataset *ds = f->ds;
    bool made = ds->created_descriptor != NULL && ds->created_descriptor->fd >= 0;
    bool striped = has_stripe_hints(ds) && ds->created_descriptor == NULL;
    bool exclusive = (amode & MPI_MODE_EXCL) != 0 && ds->created_descriptor == NULL;
    for (int turn = 0; turn < TURNS; turn++) {
        enum file_lock_result how = FILE_AGAIN;
        int err = striped ? make_striped(f, ds->path, amode) : NC_NOERR;
        if (err == NC_NOERR)
            err = file_open_first(ds, flags_of(striped ? f->amode : amode), d);
        *reached = err == NC_NOERR;
        if (err != NC_NOERR) return err;
        err = file_write_lock_create(f, d->fd, exclusive, &how);
        if (err == NC_NOERR && how == FILE_USED && ds->created_descriptor == NULL)
            err = file_replace(f, d, striped ? make_striped : NULL, &how);
        if (err == NC_NOERR && how == FILE_LOCKED) {
            file_replace_tidy(ds, d->fd);
            return NC_NOERR;
        }
        (void)file_descriptor_close(d, ds->full_path);
        if (err != NC_NOERR) return err;
        /* The name refers to a file that this function did not create. */
        if (made || how == FILE_USED) return base_refuse_other_file(ds->full_path);
    }
    return base_error_set(
        NC_EFILE, "%s: other programs keep creating it at the same time", ds->full_path);
}

/* Makes process 0 create a new dataset's file before MPI-IO opens it. Sets *made if the
 * file exists. If only MPI-IO can access the file system, leaves it to MPI-IO to create
 * the file or report an error. */
static int make_first(struct file *f, int amode, bool *made)
{
    struct file_descriptor d;
    bool reached = false;
    *made = false;
    if (!(amode & MPI_MODE_CREATE)) return NC_NOERR;
    int err = open_new(f, amode, &d, &reached);
    *made = err == NC_NOERR;
    return reached || err == NC_EEXIST ? err : NC_NOERR;
}

/* Opens the file by name through MPI-IO. Before and after the open, the name must refer
 * to the guard's file. */
static int open_first_mpi(struct file *f, int amode)
{
    struct dataset *ds = f->ds;
    bool made;
    int err = make_first(f, amode, &made);
    if (err == NC_NOERR)
        err = explain(ds->path, open_alone(f, ds->path, made ? f->amode : amode));
    if (err != NC_NOERR) return err;
    file_record_identity(ds);
    return f->guard < 0 || file_path_is_fd(ds, f->guard)
               ? NC_NOERR
               : base_refuse_other_file(ds->full_path);
}

/* Opens the file on process 0 on behalf of all processes. */
static int open_first(struct file *f, int amode)
{
    struct file_descriptor d;
    bool reached;
    if (wants_mpi(f)) return open_first_mpi(f, amode);
    f->ds->stats.file_opens++;
    int err = amode & MPI_MODE_CREATE ? open_new(f, amode, &d, &reached)
                                      : file_open_first(f->ds, flags_of(amode), &d);
    return err == NC_NOERR ? use_descriptor(f, &d) : err;
}

/* Returns the stripe size or count reported by the system or MPI-IO, or the user's
 * hint. */
static int64_t striping(const struct file *f, const char *key, int64_t known)
{
    MPI_Info info;
    MPI_File handle = f->own_handle != MPI_FILE_NULL ? f->own_handle : f->view;
    if (handle != MPI_FILE_NULL && MPI_File_get_info(handle, &info) == MPI_SUCCESS) {
        known = base_mpi_number(info, key);
        MPI_Info_free(&info);
    }
    if (known <= 0) known = base_mpi_number(f->ds->info, key);
    return known > 0 ? known : 0;
}

/* ---- file system properties ---- */

/* File properties found by process 0, one bit each. */
enum { OBJECTS = 1, VIA_MPI = 2, UNTRIED = 4, WRONG = 8, OWN_SIZE = 16, IN_PAGES = 32 };
enum { LOGGED = 64 };   /* another job may have logs for the file */
enum { STRIPED = 128 }; /* the file system has stripes, or it is unknown */

static int64_t traits_of(const struct file *f,
                         const struct base_fs_stripes *known_stripes)
{
    struct dataset *ds = f->ds;
    bool late = f->own.fd >= 0 && base_fs_may_be_stale(f->own.fd);
    bool by_mpi = f->own.fd < 0 || ds->hints.transfer == HINTS_TRANSFER_VIEW;
    enum file_probe known = late ? file_probe_known(ds) : FILE_RIGHT;
    int fd = file_fd(f);
    bool logged = ds->writable && fd >= 0 && base_fs_id(fd, BASE_FS_LOGS) != 0;
    bool striped = f->own.fd < 0 || known_stripes->unit > 0;
    return (known_stripes->objects ? OBJECTS : 0) | (striped ? STRIPED : 0) |
           (f->own.fd < 0 ? VIA_MPI : 0) | (known == FILE_UNTRIED ? UNTRIED : 0) |
           (known == FILE_WRONG ? WRONG : 0) | (known == FILE_OWN_SIZE ? OWN_SIZE : 0) |
           (logged ? LOGGED : 0) |
           (by_mpi && base_fs_caches_names(ds->full_path) ? IN_PAGES : 0);
}

/* Sets a warning for ncmpi_inq_file_info and the report. */
static void warn(struct file *f, const char *what)
{
    char name[BASE_FS_NAME] = "FUSE";
    if (f->own.fd >= 0) base_fs_name(f->own.fd, name);
    snprintf(f->warning, sizeof f->warning, "%s: %s", name, what);
    if (f->ds->rank == 0) trace_stats_add_line(f->ds, f->warning);
}

/* Warns if several nodes use the file and its mount is unsafe. Returns the agreed
 * result. */
static int warn_all(struct file *f, int64_t traits)
{
    enum file_probe result = traits & WRONG ? FILE_WRONG : FILE_UNTRIED;
    int err = NC_NOERR;
    if ((traits & UNTRIED) && f->ds->writable && !f->ds->partial)
        err = file_probe_all(f->ds, &result);
    if (result >= FILE_OWN_SIZE) f->own_size = true;
    if (result == FILE_WRONG)
        warn(f, "nodes do not see data that other nodes have written to this file and "
                "synced; mount the file system without a write-back cache (GlusterFS: "
                "without shards), or run on one node");
    if (traits & IN_PAGES)
        warn(f, "MPI-IO treats this file system as local to one node, and may read stale "
                "data from the node's cache; omit nc_file_io=mpi, nc_transfer=view, "
                "romio_no_indep_rw and the prefix of the path, or run on one node");
    return err;
}

/* Broadcasts the file's properties, or the error that process 0 got when opening it. */
static int describe_all(struct file *f, int error)
{
    struct dataset *ds = f->ds;
    enum {
        SIZE,
        STRIPE,
        STRIPES,
        TRAITS,
        HOST,
        OTHER_HOST,
        ROOT_HOST,
        DEVICE,
        INODE,
        NVALUES
    };
    int64_t host = base_mpi_host(), all[NVALUES] = {[HOST] = host, [OTHER_HOST] = -host};
    all[ROOT_HOST] = all[DEVICE] = all[INODE] = INT64_MIN;
    if (ds->rank == 0) {
        struct base_fs_stripes known = {0, 0, false};
        if (error == NC_NOERR) error = file_size(f, &all[SIZE]);
        if (f->own.fd >= 0) known = base_fs_stripes(f->own.fd);
        all[STRIPE] = striping(f, "striping_unit", known.unit);
        all[STRIPES] = striping(f, "striping_factor", known.count);
        all[TRAITS] = traits_of(f, &known);
        all[ROOT_HOST] = ds->identity.host;
        all[DEVICE] = ds->identity.device;
        all[INODE] = ds->identity.inode;
    }
    int err = dataset_agree_all(ds, error, NULL, all, NVALUES);
    if (err != NC_NOERR) return dataset_share_message_all(ds, err, error);
    f->end = all[SIZE];
    f->stripe = all[STRIPE];
    f->stripes = all[STRIPES];
    f->objects = (all[TRAITS] & OBJECTS) != 0;
    f->mpi = (all[TRAITS] & VIA_MPI) != 0;
    f->own_size = (all[TRAITS] & (OWN_SIZE | WRONG)) != 0;
    f->logged = (all[TRAITS] & LOGGED) != 0;
    if (all[TRAITS] & STRIPED) ds->effects.facts |= HINTS_STRIPES;
    ds->identity.host = all[ROOT_HOST];
    ds->identity.device = all[DEVICE];
    ds->identity.inode = all[INODE];
    f->spans_nodes = all[HOST] != -all[OTHER_HOST] || ds->partial ||
                     (ds->hints.node_procs > 0 && ds->hints.node_procs < ds->nprocs);
    f->stripes_shared = f->spans_nodes && file_striped(f);
    f->shares = f->spans_nodes && ds->nprocs > 1 && !f->mpi && !f->no_indep;
    return all[HOST] != -all[OTHER_HOST] ? warn_all(f, all[TRAITS]) : NC_NOERR;
}

/* Open MPI's own MPI-IO (4.1.4) does not report a failed collective transfer to any
 * process, even the one that wrote, and counts all bytes as transferred. It does report
 * when independent transfers fail. Therefore all transfers are independent there, and
 * ROMIO's hint that requires collective ones is ignored. */
static void disable_collective(struct hints *h)
{
#ifdef OPEN_MPI
    h->no_indep_rw = 0;
    if (h->transfer == HINTS_TRANSFER_VIEW) h->transfer = HINTS_TRANSFER_AUTO;
#else
    (void)h;
#endif
}

int file_open_all(struct file *f, struct dataset *ds, int amode, int error)
{
    disable_collective(&ds->hints);
    bool made = false;
    ds->guard = NULL;
    *f = (struct file){.ds = ds,
                       .amode = amode & ~(MPI_MODE_CREATE | MPI_MODE_EXCL),
                       .own = FILE_NO_DESCRIPTOR,
                       .guard = -1,
                       .replaced = -1,
                       .cached_fd = -1,
                       .own_handle = MPI_FILE_NULL,
                       .view = MPI_FILE_NULL,
                       .found = ds->writable && (amode & MPI_MODE_CREATE) == 0,
                       .named = ds->rank != 0,
                       .no_indep = ds->hints.no_indep_rw != 0};
    if (f->no_indep) {
        if (ds->rank == 0 && error == NC_NOERR) error = make_first(f, amode, &made);
        int err = open_together_all(f, ds->path, amode, error, made);
        if (err != NC_NOERR) {
            file_write_lock_release(f);
            return err;
        }
        if (ds->rank == 0) file_record_identity(ds);
    } else if (ds->rank == 0 && error == NC_NOERR) {
        struct trace_span span = trace_begin(ds->trace);
        error = open_first(f, amode);
        trace_end(ds->trace, TRACE_OPEN, span);
        f->dirty = f->found;
    }
    if (ds->rank == 0 && error == NC_NOERR && ds->opened != NULL)
        error = ds->opened(ds, file_fd(f), DATASET_UNUSED);
    if (ds->rank == 0 && error == NC_NOERR) error = file_write_lock_acquire(f);
    int err = describe_all(f, error);
    trace_note_file(ds, f->stripe, f->stripes);
    if (err != NC_NOERR) (void)file_close_all(f);
    return err;
}

int file_close_all(struct file *f)
{
    int first = NC_NOERR, err = NC_NOERR;
    file_write_lock_release(f);
    if (f->view != MPI_FILE_NULL)
        first = base_mpi_error(MPI_File_close(&f->view), NC_EFILE, "closing the file");
    if (f->own_handle != MPI_FILE_NULL)
        err =
            base_mpi_error(MPI_File_close(&f->own_handle), NC_EFILE, "closing the file");
    file_fdpass_end(&f->share);
    if (f->ds->shared_descriptor == &f->own) f->ds->shared_descriptor = NULL;
    file_coherence_end(&f->coherence);
    if (f->cached_fd >= 0)
        (void)close(f->cached_fd); /* own.fd has written the same bytes */
    if (f->replaced >= 0) (void)close(f->replaced);
    int closed = file_descriptor_close(&f->own, f->ds->full_path);
    if (err == NC_NOERR) err = closed;
    return first != NC_NOERR ? first : err;
}

bool file_striped(const struct file *f)
{
    return f->stripe > FILE_PAGE && f->stripe % FILE_PAGE == 0;
}

/* ---- hints and removal of the file ---- */

/* Copies the key-value pairs of one info object to another. If only one process opened
 * the handle, omits the collective buffering pairs (cb_), because they would be wrong. */
static int add_pairs(MPI_Info from, bool alone, MPI_Info info)
{
    int nkeys = 0, flag, mpi = MPI_Info_get_nkeys(from, &nkeys);
    for (int i = 0; mpi == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
        mpi = MPI_Info_get_nthkey(from, i, key);
        if (mpi == MPI_SUCCESS)
            mpi = MPI_Info_get(from, key, MPI_MAX_INFO_VAL, text, &flag);
        if (alone && strncmp(key, "cb_", 3) == 0) continue;
        if (mpi == MPI_SUCCESS && flag) mpi = MPI_Info_set(info, key, text);
    }
    return mpi;
}

static int add_number(MPI_Info info, const char *key, int64_t number)
{
    char text[32];
    if (number <= 0) return MPI_SUCCESS;
    snprintf(text, sizeof text, "%lld", (long long)number);
    return MPI_Info_set(info, key, text);
}

int file_info(struct file *f, MPI_Info info)
{
    bool alone = f->view == MPI_FILE_NULL;
    MPI_File handle = alone ? f->own_handle : f->view;
    MPI_Info used;
    int mpi = add_pairs(f->ds->info, false, info);
    if (mpi == MPI_SUCCESS && handle != MPI_FILE_NULL) {
        mpi = MPI_File_get_info(handle, &used);
        if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_File_get_info");
        mpi = add_pairs(used, alone, info);
        MPI_Info_free(&used);
    }
    if (mpi == MPI_SUCCESS) mpi = add_number(info, "striping_unit", f->stripe);
    if (mpi == MPI_SUCCESS) mpi = add_number(info, "striping_factor", f->stripes);
    if (mpi == MPI_SUCCESS && f->warning[0] != '\0')
        mpi = MPI_Info_set(info, "nc_file_warning", f->warning);
    return base_mpi_error(mpi, NC_EMPI, "broadcasting hints");
}

int file_remove(struct dataset *ds, int replaced)
{
    /* The lock keeps another job from renaming its new file to this name between the
     * check and the removal. */
    int fd = ds->guard == NULL ? -1 : *ds->guard;
    int err = fd < 0 ? NC_NOERR : base_lock_name(fd, ds->full_path);
    if (err == NC_NOERR) err = file_check(ds);
    bool used = replaced >= 0 && base_lock_busy(replaced, BASE_LOCK_LAYOUT);
    if (err == NC_NOERR && !used)
        err = file_delete(ds->full_path, ds->info);
    else if (err == NC_NOERR && ftruncate(fd, 0) != 0)
        err = base_error_system(NC_EFILE, "emptying", ds->full_path);
    if (fd >= 0) base_lock_release(fd, BASE_LOCK_NAME);
    return err;
}

int file_delete(const char *path, MPI_Info info)
{
    struct name name = name_for_mpi(path);
    before_any_call();
    return explain(path,
                   base_mpi_error(MPI_File_delete(name.text, info), NC_EFILE, path));
}
