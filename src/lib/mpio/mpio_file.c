/* The shared file. Single transfers stay under 2^30 bytes: large counts are not to be
 * trusted everywhere. */
#include "mpio_file.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_mpi.h"

enum { PIECE = 1 << 30 };

/* The path as MPI-IO is to be given it. One that is cut here is too long for the system,
 * too. */
struct name {
    char text[PATH_MAX + 8];
};

/* ROMIO takes what stands before a colon for a file system's name, so that a name with a
 * colon needs one. */
static void name_for_mpi(const char *path, struct name *name)
{
    const char *prefix = "";
#ifdef ROMIO_VERSION
    if (strchr(path, ':') != NULL) prefix = "ufs:";
#endif
    snprintf(name->text, sizeof name->text, "%s%s", prefix, path);
}

static int size_by(struct mpio_file *f, MPI_File handle, int64_t *size)
{
    MPI_Offset bytes = 0;
    f->ds->stats.file_sizes++;
    int mpi = MPI_File_get_size(handle, &bytes);
    *size = bytes;
    return base_mpi_error(mpi, NC_EFILE, "asking for the file's size");
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
        (void)MPI_File_delete("", MPI_INFO_NULL);
        (void)MPI_File_set_errhandler(MPI_FILE_NULL, users);
    }
    MPI_Errhandler_free(&users);
}

static void before_any_call(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, first_call);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Does the path still lead to the file that is open? On process 0; the first time tells
 * which one that is. Where it cannot be told, yes. */
static bool is_ours(struct driver_dataset *ds, bool first)
{
    struct stat st;
    bool known = stat(ds->full, &st) == 0;
    if (first) {
        ds->device = known ? (uint64_t)st.st_dev : 0;
        ds->inode = known ? (uint64_t)st.st_ino : 0;
        return true;
    }
    return !known || ds->inode == 0 ||
           ((uint64_t)st.st_dev == ds->device && (uint64_t)st.st_ino == ds->inode);
}

static int tell_other(const struct driver_dataset *ds)
{
    return base_error_set(NC_EFILE, "%s: another file has taken this name", ds->full);
}

/* MPI-IO has no words for the commonest cause of an error that has no code. */
static int explain(const char *path, int err)
{
    if (err == NC_NOERR || !is_directory(path)) return err;
    return base_error_set(err, "%s: it is a directory", path);
}

/* What is known of the file's stripes: by MPI-IO, else by the user. */
static int64_t striping(const struct mpio_file *f, MPI_File handle, const char *key)
{
    long long known = 0;
    MPI_Info info;
    if (MPI_File_get_info(handle, &info) == MPI_SUCCESS) {
        known = base_mpi_number(info, key);
        MPI_Info_free(&info);
    }
    if (known <= 0) known = base_mpi_number(f->ds->info, key);
    return known > 0 ? known : 0;
}

/* Is there a communicator left for MPI-IO? ROMIO wants one for each handle, and where it
 * gets none it ends the program (MPICH 4.0.2). Agreed. */
static int room_for_handle_all(struct driver_dataset *ds)
{
    MPI_Comm one;
    int mpi = MPI_Comm_dup(ds->comm, &one);
    if (mpi != MPI_SUCCESS)
        return base_mpi_error(mpi, NC_ENFILE, "a communicator for the file");
    (void)MPI_Comm_free(&one);
    return NC_NOERR;
}

/* A number that tells hosts apart, as good as certainly. */
static int64_t host_number(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    uint64_t hash = UINT64_C(14695981039346656037);
    if (MPI_Get_processor_name(name, &length) != MPI_SUCCESS) return 0;
    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1);
}

/* One handle. Agreed: a process that was refused knows why, and the others may only know
 * that some process was. `error` is the caller's own from before. */
static int open_handle_all(struct mpio_file *f, MPI_File *handle, int error)
{
    struct driver_dataset *ds = f->ds;
    struct name name;
    bool first = handle == &f->bytes; /* a later one may come from another directory */
    const char *path = first ? ds->path : ds->full;
    name_for_mpi(path, &name);
    int room = room_for_handle_all(ds);
    if (room != NC_NOERR) return room;
    ds->stats.file_opens++;
    int mpi = MPI_File_open(ds->comm, name.text, f->amode, ds->info, handle);
    int err = base_mpi_error(mpi, NC_EFILE, path);

    enum { WHY, REFUSED, SIZE, STRIPE, STRIPES, HOST, OTHER_HOST, NVALUES };
    int64_t all[NVALUES] = {[WHY] = err == NC_EFILE ? 0 : -err,
                            [REFUSED] = err != NC_NOERR,
                            [HOST] = host_number(),
                            [OTHER_HOST] = -host_number()};
    if (err == NC_NOERR && ds->rank == 0) {
        int sized = size_by(f, *handle, &all[SIZE]);
        if (sized == NC_NOERR && is_directory(path)) sized = NC_EFILE; /* for reading */
        if (sized == NC_NOERR && !is_ours(ds, first)) sized = tell_other(ds);
        if (error == NC_NOERR) error = sized;
        all[STRIPE] = striping(f, *handle, "striping_unit");
        all[STRIPES] = striping(f, *handle, "striping_factor");
    }
    err = driver_agree_all(ds, err != NC_NOERR ? err : error, NULL, all, NVALUES);
    if (err != NC_NOERR && !all[REFUSED]) MPI_File_close(handle);
    if (err == NC_NOERR && all[SIZE] > f->end) f->end = all[SIZE];
    if (err == NC_NOERR) f->stripe = all[STRIPE];
    if (err == NC_NOERR) f->stripes = all[STRIPES];
    f->across = all[HOST] != -all[OTHER_HOST] ||
                (ds->hints.node_procs > 0 && ds->hints.node_procs < ds->nprocs);
    return explain(path, all[WHY] > 0 ? (int)-all[WHY] : err);
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

int mpio_file_open_all(struct mpio_file *f, struct driver_dataset *ds, int amode,
                       int error)
{
    avoid_collective(&ds->hints);
    *f = (struct mpio_file){.ds = ds,
                            .amode = amode,
                            .bytes = MPI_FILE_NULL,
                            .view = MPI_FILE_NULL,
                            .no_indep = ds->hints.no_indep_rw != 0};
    before_any_call();
    int err = open_handle_all(f, &f->bytes, error);
    /* The view handle must not ask for a new file again. */
    f->amode &= ~(MPI_MODE_CREATE | MPI_MODE_EXCL);
    return err;
}

int mpio_file_close_all(struct mpio_file *f)
{
    int first = NC_NOERR;
    MPI_File *handles[] = {&f->view, &f->bytes};
    for (int i = 0; i < 2; i++) {
        if (*handles[i] == MPI_FILE_NULL) continue;
        int err =
            base_mpi_error(MPI_File_close(handles[i]), NC_EFILE, "closing the file");
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* Counts a call that read, or wrote, n bytes. */
static void count_read(struct mpio_file *f, int64_t n)
{
    f->ds->stats.file_reads++;
    f->ds->stats.file_read_bytes += n;
}

static void count_write(struct mpio_file *f, int64_t n)
{
    f->ds->stats.file_writes++;
    f->ds->stats.file_written_bytes += n;
}

/* How many of n bytes a transfer moved. */
static int64_t moved(MPI_Status *status, int64_t n)
{
    int count;
    if (MPI_Get_count(status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED)
        return 0;
    return count < n ? count : n;
}

/* Why a transfer failed, or came short: ROMIO has one error class for nearly all, and
 * Open MPI none, but errno is still what the system said, if it was 0 before. */
static int write_code(void)
{
    return errno == ENOSPC ? NC_ENO_SPACE : errno == EDQUOT ? NC_EQUOTA : NC_EWRITE;
}

static int check_written(int mpi, MPI_Status *status, int64_t n)
{
    int code = write_code();
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, code, "writing");
    int64_t done = moved(status, n);
    if (done == n) return NC_NOERR;
    return base_error_set(code, "only %lld of %lld bytes were written", (long long)done,
                          (long long)n);
}

/* Nothing came from offset: that is the file's end, where zeros are read, or an error
 * that MPI-IO kept to itself (Open MPI does). Or others made the file longer meanwhile:
 * then *again, once for each *size it has. */
static int read_nothing(struct mpio_file *f, int64_t offset, int64_t *size, bool *again)
{
    int64_t before = *size;
    int err = mpio_file_size(f, size);
    *again = err == NC_NOERR && offset < *size && *size != before;
    if (err != NC_NOERR || *again || offset >= *size) return err;
    return base_error_set(NC_EREAD, "nothing could be read at byte %lld of %lld",
                          (long long)offset, (long long)*size);
}

int mpio_file_read(struct mpio_file *f, int64_t offset, void *bytes, int64_t n)
{
    unsigned char *p = bytes;
    int64_t size = -1;
    while (n > 0) {
        MPI_Status status;
        int64_t piece = n < PIECE ? n : PIECE;
        int mpi = MPI_File_read_at(f->bytes, offset, p, (int)piece, MPI_BYTE, &status);
        if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EREAD, "reading");
        int64_t done = moved(&status, piece);
        count_read(f, done);
        if (done == 0) {
            bool again;
            int err = read_nothing(f, offset, &size, &again);
            if (again) continue;
            if (err == NC_NOERR) memset(p, 0, (size_t)n);
            return err;
        }
        p += done;
        offset += done;
        n -= done;
    }
    return NC_NOERR;
}

int mpio_file_write(struct mpio_file *f, int64_t offset, const void *bytes, int64_t n)
{
    const unsigned char *p = bytes;
    while (n > 0) {
        MPI_Status status;
        int64_t piece = n < PIECE ? n : PIECE;
        errno = 0;
        int mpi = MPI_File_write_at(f->bytes, offset, p, (int)piece, MPI_BYTE, &status);
        int64_t done = mpi == MPI_SUCCESS ? moved(&status, piece) : 0;
        if (done == 0) return check_written(mpi, &status, piece);
        count_write(f, done);
        p += done; /* what was left out is tried again, or fails then */
        offset += done;
        if (offset > f->end) f->end = offset;
        n -= done;
    }
    return NC_NOERR;
}

/* One collective step of process 0's transfer: its piece there, nothing elsewhere. */
static int read_all(struct mpio_file *f, int64_t offset, void *bytes, int64_t n)
{
    MPI_Status status;
    int mpi = MPI_File_read_at_all(f->bytes, offset, bytes, (int)n, MPI_BYTE, &status);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EREAD, "reading");
    int64_t done = n > 0 ? moved(&status, n) : 0;
    count_read(f, done);
    if (n > done) memset((char *)bytes + done, 0, (size_t)(n - done));
    return NC_NOERR;
}

static int write_all(struct mpio_file *f, int64_t offset, const void *bytes, int64_t n)
{
    MPI_Status status;
    errno = 0;
    int mpi = MPI_File_write_at_all(f->bytes, offset, bytes, (int)n, MPI_BYTE, &status);
    count_write(f, n);
    return n == 0 && mpi == MPI_SUCCESS ? NC_NOERR : check_written(mpi, &status, n);
}

int mpio_file_read_root_all(struct mpio_file *f, int64_t offset, void *bytes, int64_t n)
{
    bool root = f->ds->rank == 0 && bytes != NULL;
    if (root) f->ds->stats.header_read_bytes += n;
    if (!f->no_indep) return root ? mpio_file_read(f, offset, bytes, n) : NC_NOERR;

    int first = NC_NOERR;
    for (int64_t at = 0; at < n; at += PIECE) {
        int64_t piece = n - at < PIECE ? n - at : PIECE;
        int err = read_all(f, root ? offset + at : 0, root ? (char *)bytes + at : NULL,
                           root ? piece : 0);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

int mpio_file_write_root_all(struct mpio_file *f, int64_t offset, const void *bytes,
                             int64_t n)
{
    bool root = f->ds->rank == 0 && bytes != NULL;
    if (root) f->ds->stats.header_written_bytes += n;
    if (!f->no_indep) return root ? mpio_file_write(f, offset, bytes, n) : NC_NOERR;

    int first = NC_NOERR;
    for (int64_t at = 0; at < n; at += PIECE) {
        int64_t piece = n - at < PIECE ? n - at : PIECE;
        int err = write_all(f, root ? offset + at : 0,
                            root ? (const char *)bytes + at : NULL, root ? piece : 0);
        if (first == NC_NOERR) first = err;
    }
    return first;
}

/* The view handle is there. Agreed. */
static int open_view_all(struct mpio_file *f)
{
    if (f->view != MPI_FILE_NULL) return NC_NOERR;
    int err = open_handle_all(f, &f->view, NC_NOERR);
    if (err != NC_NOERR) f->view = MPI_FILE_NULL;
    return err;
}

/* The view handle, showing filetype. */
static int set_view_all(struct mpio_file *f, MPI_Datatype filetype)
{
    f->ds->stats.file_views++;
    int mpi = MPI_File_set_view(f->view, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
    return base_mpi_error(mpi, NC_EFILEVIEW, "MPI_File_set_view");
}

int mpio_file_read_view_all(struct mpio_file *f, MPI_Datatype filetype,
                            MPI_Datatype memtype, void *bytes, int64_t n)
{
    MPI_Status status;
    int err = open_view_all(f);
    if (err != NC_NOERR) return err;
    int viewed = set_view_all(f, filetype), count = memtype == MPI_BYTE ? (int)n : 1;
    if (viewed != NC_NOERR) count = 0; /* the others wait in the transfer */
    int mpi = MPI_File_read_at_all(f->view, 0, bytes, count, memtype, &status);
    if (viewed != NC_NOERR) return viewed;
    count_read(f, n);
    return base_mpi_error(mpi, NC_EREAD, "reading");
}

int mpio_file_write_view_all(struct mpio_file *f, MPI_Datatype filetype,
                             MPI_Datatype memtype, const void *bytes, int64_t n)
{
    MPI_Status status;
    int err = open_view_all(f);
    if (err != NC_NOERR) return err;
    int viewed = set_view_all(f, filetype), count = memtype == MPI_BYTE ? (int)n : 1;
    if (viewed != NC_NOERR) count = 0; /* the others wait in the transfer */
    errno = 0;
    int mpi = MPI_File_write_at_all(f->view, 0, bytes, count, memtype, &status);
    if (viewed != NC_NOERR) return viewed;
    count_write(f, n);
    return n == 0 && mpi == MPI_SUCCESS ? NC_NOERR : check_written(mpi, &status, n);
}

int mpio_file_size(struct mpio_file *f, int64_t *size)
{
    return size_by(f, f->bytes, size);
}

int mpio_file_resize_all(struct mpio_file *f, int64_t size)
{
    f->ds->stats.file_resizes++;
    errno = 0;
    int mpi = MPI_File_set_size(f->bytes, size);
    if (mpi == MPI_SUCCESS) f->end = size;
    return base_mpi_error(mpi, write_code(), "setting the file's size");
}

int mpio_file_sync(struct mpio_file *f)
{
    struct name name;
    MPI_File alone;
    if (!f->ds->writable) return NC_NOERR;
    name_for_mpi(f->ds->full, &name);
    f->ds->stats.file_syncs++;
    int mpi =
        MPI_File_open(MPI_COMM_SELF, name.text, MPI_MODE_RDWR, MPI_INFO_NULL, &alone);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EFILE, f->ds->full);
    errno = 0;
    mpi = MPI_File_sync(alone);
    int closed = MPI_File_close(&alone);
    return base_mpi_error(mpi != MPI_SUCCESS ? mpi : closed, write_code(),
                          "MPI_File_sync");
}

int mpio_file_sync_all(struct mpio_file *f)
{
#ifdef OPEN_MPI
    /* Where it fails on one process, Open MPI (4.1.4) leaves the others waiting for it.
     */
    return mpio_file_sync(f);
#else
    if (!f->ds->writable) return NC_NOERR; /* MPI-IO would refuse */
    f->ds->stats.file_syncs++;
    errno = 0;
    int mpi = MPI_File_sync(f->bytes);
    int other = f->view != MPI_FILE_NULL ? MPI_File_sync(f->view) : MPI_SUCCESS;
    return base_mpi_error(mpi != MPI_SUCCESS ? mpi : other, write_code(),
                          "MPI_File_sync");
#endif
}

int mpio_file_info(struct mpio_file *f, MPI_Info info)
{
    MPI_Info used;
    int mpi = MPI_File_get_info(f->bytes, &used);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "MPI_File_get_info");

    int nkeys, flag;
    mpi = MPI_Info_get_nkeys(used, &nkeys);
    for (int i = 0; mpi == MPI_SUCCESS && i < nkeys; i++) {
        char key[MPI_MAX_INFO_KEY + 1], text[MPI_MAX_INFO_VAL + 1];
        mpi = MPI_Info_get_nthkey(used, i, key);
        if (mpi == MPI_SUCCESS)
            mpi = MPI_Info_get(used, key, MPI_MAX_INFO_VAL, text, &flag);
        if (mpi == MPI_SUCCESS && flag) mpi = MPI_Info_set(info, key, text);
    }
    MPI_Info_free(&used);
    return base_mpi_error(mpi, NC_EMPI, "reading MPI-IO's hints");
}

int mpio_file_remove(struct driver_dataset *ds)
{
    return is_ours(ds, false) ? mpio_file_delete(ds->full, ds->info) : tell_other(ds);
}

int mpio_file_delete(const char *path, MPI_Info info)
{
    struct name name;
    name_for_mpi(path, &name);
    before_any_call();
    return explain(path,
                   base_mpi_error(MPI_File_delete(name.text, info), NC_EFILE, path));
}
