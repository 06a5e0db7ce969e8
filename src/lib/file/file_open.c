/* Opening the file, by each process when it first reads or writes, and closing it. */
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
#include "base_mpi.h"
#include "file_identity.h"
#include "file_trial.h"
#include "trace_record.h"

/* ---- MPI-IO's handles ---- */

/* The path as MPI-IO is to be given it. One that is cut here is too long for the system,
 * too. */
struct name {
    char text[PATH_MAX + 8];
};

/* ROMIO takes what stands before a colon for a file system's name, so that a name with a
 * colon needs one. */
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

/* ROMIO makes its lock when the lock is first wanted: threads that come at the same time
 * then have two of it, and wait for ever (MPICH 4.0.2). So one thread makes a first call,
 * local and in vain, before there can be others. */
static void first_call(void)
{
    MPI_Errhandler users; /* an error must not end the program */
    int level;
    if (MPI_Query_thread(&level) != MPI_SUCCESS || level < MPI_THREAD_MULTIPLE) return;
    if (MPI_File_get_errhandler(MPI_FILE_NULL, &users) != MPI_SUCCESS) return;
    if (MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS) {
        /* Nothing there. Of an empty name ROMIO would look at what lies before it. */
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

/* MPI-IO has no words for the commonest cause of an error that has no code. */
static int explain(const char *path, int err)
{
    char words[512];
    if (err == NC_NOERR || file_refuse(path) == NC_NOERR) return err;
    snprintf(words, sizeof words, "%s", base_error_detail(NC_EFILE));
    return base_error_set(err, "%s", words);
}

/* Is there a communicator left for MPI-IO? ROMIO wants one for each handle, and where it
 * gets none it ends the program (MPICH 4.0.2). Agreed. */
static int room_for_handle_all(struct dataset *ds)
{
    MPI_Comm one;
    int mpi = MPI_Comm_dup(ds->comm, &one);
    int err = base_mpi_error(mpi, NC_ENFILE, "a communicator for the file");
    int64_t lacking = err != NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, &lacking, 1);
    if (!lacking) (void)MPI_Comm_free(&one);
    return err;
}

/* The same for a handle of this process's own. */
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
        return base_mpi_error(mpi, NC_ENFILE, "a communicator for the file");
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
    int err = file_refuse(path); /* opening a pipe might wait for ever */
    if (err == NC_NOERR) err = room_for_handle(f->ds);
    if (err != NC_NOERR) return err;
    before_any_call();
    struct name name = name_for_mpi(path);
    count_open(f);
    int mpi = MPI_File_open(MPI_COMM_SELF, name.text, amode, info, &f->alone);
    if (mpi != MPI_SUCCESS) f->alone = MPI_FILE_NULL;
    return base_mpi_error(mpi, NC_EFILE, path);
}

/* The handle of all, or none has one. Agreed: a process that was refused knows why, and
 * the others may only know that some process was. `error` is the caller's own from
 * before. */
static int open_together_all(struct file *f, const char *path, int amode, int error)
{
    struct dataset *ds = f->ds;
    before_any_call();
    struct name name = name_for_mpi(path);
    int room = room_for_handle_all(ds);
    if (room != NC_NOERR) return room;
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
    int err = open_together_all(f, f->ds->full, f->amode, NC_NOERR);
    trace_end(f->ds->trace, TRACE_OPEN, span);
    return err;
}

/* ---- a process's own way to the file ---- */

static bool wants_mpi(const struct file *f)
{
    const struct dataset *ds = f->ds;
    if (ds->hints.file_io != BASE_FILE_IO_AUTO)
        return ds->hints.file_io == BASE_FILE_IO_MPI;
    return f->mpi || f->no_indep || ds->prefixed;
}

/* Takes the descriptor, unless the file system is one for MPI-IO. */
static int take_descriptor(struct file *f, struct file_descriptor *d)
{
    f->around = base_fs_goes_around(d->fd);
    if (f->ds->hints.file_io == BASE_FILE_IO_POSIX || f->around ||
        base_fs_coherent(d->fd)) {
        f->own = *d;
        if (f->around) file_late_begin(&f->late, f->ds, &f->own);
        if (f->ds->lent == NULL) f->ds->lent = &f->own;
        return NC_NOERR;
    }
    (void)file_descriptor_close(d, f->ds->full);
    return open_alone(f, f->ds->full, f->amode);
}

/* By a descriptor of the node's, else by one of this process's own. */
static int open_by_descriptor(struct file *f)
{
    struct file_descriptor d;
    if (file_lend_take(&f->share, f->ds, &d)) return take_descriptor(f, &d);
    int err = file_again(f->ds, &d);
    if (err == NC_NOERR) err = take_descriptor(f, &d);
    file_lend_pass(&f->share, f->own.fd >= 0 ? &f->own : NULL);
    return err;
}

static int open_own_file(struct file *f)
{
    int err;
    struct trace_span span = trace_begin(f->ds->trace);
    if (!wants_mpi(f)) {
        err = open_by_descriptor(f);
    } else {
        err = file_check(f->ds);
        if (err == NC_NOERR) err = open_alone(f, f->ds->full, f->amode);
    }
    trace_end(f->ds->trace, TRACE_OPEN, span);
    return err;
}

static bool is_open(const struct file *f)
{
    return f->own.fd >= 0 || f->alone != MPI_FILE_NULL;
}

/* Who has it open already passes it on. */
void file_share_all(struct file *f, struct node_board board)
{
    struct file_descriptor d;
    if (f->share.board.state == NULL) {
        enum file_lending how = f->own.fd >= 0                      ? FILE_LEND_HAVE
                                : is_open(f) || f->ds->lent != NULL ? FILE_LEND_NEITHER
                                                                    : FILE_LEND_LISTEN;
        file_lend_begin_all(&f->share, board, how, &f->own);
    } else if (!is_open(f) && file_lend_settle(&f->share, f->ds, &d)) {
        (void)take_descriptor(f, &d);
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

/* MPI-IO knows how to give a new file the stripes that the user asks for. */
static bool asks_for_stripes(const struct dataset *ds)
{
    return base_mpi_number(ds->info, "striping_unit") > 0 ||
           base_mpi_number(ds->info, "striping_factor") > 0;
}

/* Process 0, for all. */
static int open_first(struct file *f, int amode)
{
    struct dataset *ds = f->ds;
    bool mpi = wants_mpi(f);
    struct file_descriptor d;
    int err;
    if (mpi || ((amode & MPI_MODE_CREATE) && asks_for_stripes(ds))) {
        err = explain(ds->path, open_alone(f, ds->path, amode));
        if (err == NC_NOERR) file_note(ds);
        if (err != NC_NOERR || mpi) return err;
        err = base_mpi_error(MPI_File_close(&f->alone), NC_EFILE, ds->path);
        if (err != NC_NOERR) return err;
        amode = f->amode;
    }
    err = file_first(ds, flags_of(amode), &d);
    return err == NC_NOERR ? take_descriptor(f, &d) : err;
}

/* What is known of the file's stripes: by the system or MPI-IO, else by the user. */
static int64_t striping(const struct file *f, const char *key, int64_t known)
{
    MPI_Info info;
    MPI_File handle = f->alone != MPI_FILE_NULL ? f->alone : f->view;
    if (handle != MPI_FILE_NULL && MPI_File_get_info(handle, &info) == MPI_SUCCESS) {
        known = base_mpi_number(info, key);
        MPI_Info_free(&info);
    }
    if (known <= 0) known = base_mpi_number(f->ds->info, key);
    return known > 0 ? known : 0;
}

/* ---- what nodes see of it ---- */

/* What is told of it as process 0 found it: one word. */
enum { OBJECTS = 1, MPI_WAY = 2, UNTRIED = 4, WRONG = 8, OWN_SIZE = 16, IN_PAGES = 32 };

static int64_t traits_of(const struct file *f, bool objects)
{
    struct dataset *ds = f->ds;
    bool late = f->own.fd >= 0 && base_fs_late(f->own.fd);
    bool by_mpi = f->own.fd < 0 || ds->hints.transfer == BASE_TRANSFER_VIEW;
    enum file_trial known = late ? file_trial_known(ds) : FILE_RIGHT;
    return (objects ? OBJECTS : 0) | (f->own.fd < 0 ? MPI_WAY : 0) |
           (known == FILE_UNTRIED ? UNTRIED : 0) | (known == FILE_WRONG ? WRONG : 0) |
           (known == FILE_OWN_SIZE ? OWN_SIZE : 0) |
           (by_mpi && base_fs_late_names(ds->full) ? IN_PAGES : 0);
}

/* People are told where the program asks (ncmpi_inq_file_info), and in the report. */
static void warn(struct file *f, const char *what)
{
    char name[BASE_FS_NAME] = "FUSE";
    if (f->own.fd >= 0) base_fs_name(f->own.fd, name);
    snprintf(f->warning, sizeof f->warning, "%s: %s", name, what);
    if (f->ds->rank == 0) trace_stats_tell(f->ds, f->warning);
}

/* Several nodes have the file. Agreed. */
static int warn_all(struct file *f, int64_t traits)
{
    enum file_trial result = traits & WRONG ? FILE_WRONG : FILE_UNTRIED;
    int err = NC_NOERR;
    if ((traits & UNTRIED) && f->ds->writable && !f->ds->partial)
        err = file_trial_all(f->ds, &result);
    if (result >= FILE_OWN_SIZE) f->own_size = true;
    if (result == FILE_WRONG)
        warn(f, "a node does not see here what another one has written and synced; "
                "mount it without a write-back cache (GlusterFS: without shards), or "
                "run on one node");
    if (traits & IN_PAGES)
        warn(f, "MPI-IO takes it for a file system of one node, and reads what the node "
                "has kept; leave out nc_file_io=mpi, nc_transfer=view, romio_no_indep_rw "
                "and the prefix of the path, or run on one node");
    return err;
}

/* What process 0 knows of the file it has opened, or that it has not. Agreed. */
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
        all[TRAITS] = traits_of(f, known.objects);
        all[ROOT_HOST] = ds->host;
        all[DEVICE] = ds->device;
        all[INODE] = ds->inode;
    }
    int err = dataset_agree_all(ds, error, NULL, all, NVALUES);
    if (err != NC_NOERR) return dataset_share_words_all(ds, err, error);
    f->end = all[SIZE];
    f->stripe = all[STRIPE];
    f->stripes = all[STRIPES];
    f->objects = (all[TRAITS] & OBJECTS) != 0;
    f->mpi = (all[TRAITS] & MPI_WAY) != 0;
    f->own_size = (all[TRAITS] & (OWN_SIZE | WRONG)) != 0;
    ds->host = all[ROOT_HOST];
    ds->device = all[DEVICE];
    ds->inode = all[INODE];
    f->across = all[HOST] != -all[OTHER_HOST] || ds->partial ||
                (ds->hints.node_procs > 0 && ds->hints.node_procs < ds->nprocs);
    f->stripes_shared = f->across && file_striped(f);
    f->shares = f->across && ds->nprocs > 1 && !f->mpi && !f->no_indep;
    return all[HOST] != -all[OTHER_HOST] ? warn_all(f, all[TRAITS]) : NC_NOERR;
}

/* Open MPI's own MPI-IO (4.1.4) tells no process of a collective transfer that failed,
 * not even the one whose write it was, and counts all bytes as moved; alone, a process is
 * told. So there nothing goes collectively, nor has it ROMIO's hint, which asks for that.
 */
static void avoid_collective(struct base_hints *h)
{
#ifdef OPEN_MPI
    h->no_indep_rw = 0;
    if (h->transfer == BASE_TRANSFER_VIEW) h->transfer = BASE_TRANSFER_AUTO;
#else
    (void)h;
#endif
}

int file_open_all(struct file *f, struct dataset *ds, int amode, int error)
{
    avoid_collective(&ds->hints);
    *f = (struct file){.ds = ds,
                       .amode = amode & ~(MPI_MODE_CREATE | MPI_MODE_EXCL),
                       .own = FILE_NO_DESCRIPTOR,
                       .guard = -1,
                       .through = -1,
                       .alone = MPI_FILE_NULL,
                       .view = MPI_FILE_NULL,
                       .found = ds->writable && (amode & MPI_MODE_CREATE) == 0,
                       .named = ds->rank != 0,
                       .no_indep = ds->hints.no_indep_rw != 0};
    if (f->no_indep) {
        int err = open_together_all(f, ds->path, amode, error);
        if (err != NC_NOERR) return err;
        if (ds->rank == 0) file_note(ds);
    } else if (ds->rank == 0 && error == NC_NOERR) {
        struct trace_span span = trace_begin(ds->trace);
        error = open_first(f, amode);
        trace_end(ds->trace, TRACE_OPEN, span);
        f->dirty = f->found;
    }
    if (ds->rank == 0 && error == NC_NOERR) error = file_guard_take(f);
    int err = describe_all(f, error);
    trace_note_file(ds, f->stripe, f->stripes);
    if (err != NC_NOERR) (void)file_close_all(f);
    return err;
}

int file_close_all(struct file *f)
{
    int first = NC_NOERR, err = NC_NOERR;
    file_guard_drop(f);
    if (f->view != MPI_FILE_NULL)
        first = base_mpi_error(MPI_File_close(&f->view), NC_EFILE, "closing the file");
    if (f->alone != MPI_FILE_NULL)
        err = base_mpi_error(MPI_File_close(&f->alone), NC_EFILE, "closing the file");
    file_scatter_free(f);
    file_lend_end(&f->share);
    if (f->ds->lent == &f->own) f->ds->lent = NULL;
    file_late_end(&f->late);
    if (f->through >= 0) (void)close(f->through); /* what it wrote, f->own did again */
    int closed = file_descriptor_close(&f->own, f->ds->full);
    if (err == NC_NOERR) err = closed;
    return first != NC_NOERR ? first : err;
}

bool file_striped(const struct file *f)
{
    return f->stripe > FILE_PAGE && f->stripe % FILE_PAGE == 0;
}

/* ---- what is known of it, and its end ---- */

/* Adds the pairs of one info to another, but for those that are about how many processes
 * have a handle, which one of one process gets wrong. */
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
    MPI_File handle = alone ? f->alone : f->view;
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
    return base_mpi_error(mpi, NC_EMPI, "telling hints");
}

int file_remove(struct dataset *ds)
{
    int err = file_check(ds);
    return err == NC_NOERR ? file_delete(ds->full, ds->info) : err;
}

int file_delete(const char *path, MPI_Info info)
{
    struct name name = name_for_mpi(path);
    before_any_call();
    return explain(path,
                   base_mpi_error(MPI_File_delete(name.text, info), NC_EFILE, path));
}
