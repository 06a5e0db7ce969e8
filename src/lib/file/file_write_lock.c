/* Manages the lock of a dataset that is open for writing (BASE_LOCK_LAYOUT). The lock
 * belongs to process 0's open file description, and thus also to the processes on its
 * node that share the descriptor. So if process 0 dies, the lock remains as long as one
 * of them may write. It is released explicitly, because a forked child may still have the
 * descriptor.
 *
 * Jobs that open the dataset for writing share the lock. A job that creates the dataset
 * acquires it exclusively until the file is empty. If another job has the lock, the file
 * is never emptied; instead, a new file takes its name (file_replace.c). Two jobs never
 * empty the same file at the same time. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_owner.h"
#include "file.h"
#include "file_identity.h"
#include "journal.h"

/* Returns a descriptor that can hold the lock: the file's own, or if MPI-IO has the file
 * open, one opened only for the lock. Returns -1 if the file cannot be opened by name. */
static int open_guard(const struct file *f)
{
    struct base_error_note note;
    int fd;
    if (f->own.fd >= 0) return f->own.fd;
    base_error_save(&note);
    (void)file_reopen(f->ds, O_RDWR, &fd);
    base_error_restore(&note);
    return fd;
}

static void set_guard(struct file *f, int fd)
{
    f->guard = fd;
    f->ds->guard = fd < 0 ? NULL : &f->guard;
}

int file_write_lock_acquire(struct file *f)
{
    if (f->amode & MPI_MODE_RDONLY) return NC_NOERR;
    if (f->guard >= 0) return NC_NOERR; /* acquired when the dataset was created */
    set_guard(f, open_guard(f));
    if (f->guard < 0) return NC_NOERR; /* the name cannot be opened: no journal */
    /* MPI-IO and this function may have opened different files. */
    if (f->guard != f->own.fd && !file_is_dataset_fd(f->ds, f->guard))
        return base_refuse_other_file(f->ds->full_path);
    return journal_lock_shared(f->guard, f->ds->full_path, f->ds->hints.redef_wait);
}

void file_write_lock_release(struct file *f)
{
    if (f->guard < 0) return;
    base_lock_release(f->guard, BASE_LOCK_LAYOUT);
    if (f->guard != f->own.fd) (void)close(f->guard);
    set_guard(f, -1);
}

void file_write_lock_share(struct file *f)
{
    if (f->guard >= 0) (void)base_lock_try(f->guard, BASE_LOCK_LAYOUT, false);
}

/* ---- creating a dataset ---- */

/* Returns whether another job may be writing to the file although no lock shows it. An
 * empty file has nothing to lose, and a dataset in subfiles has a lease. A file with
 * other names or with stripes is assumed unused, because replacing it would lose them. */
static bool may_be_used(const struct dataset *ds, int fd)
{
    struct stat st;
    return base_lock_is_known() && ds->created_descriptor == NULL &&
           fstat(fd, &st) == 0 && st.st_size > 0 && st.st_nlink == 1 &&
           !file_has_subfiles(fd) && base_fs_stripes(fd).unit == 0;
}

/* If the file has a dataset id, stores a new one, so that no log of its current dataset
 * is replayed into the new one. */
static int renew_dataset_id(const struct dataset *ds, int fd)
{
    if (base_fs_id(fd, BASE_FS_DATASET) == 0 ||
        base_fs_set_id(fd, BASE_FS_DATASET, base_owner_new_nonce()))
        return NC_NOERR;
    return base_error_system(NC_EWRITE, "storing a new dataset id in", ds->full_path);
}

int file_write_lock_adopt(struct file *f, int fd)
{
    base_require(f->guard < 0);
    int err = renew_dataset_id(f->ds, fd);
    if (err == NC_NOERR) set_guard(f, fd);
    return err;
}

int file_write_lock_create(struct file *f, int fd, bool exclusive,
                           enum file_lock_result *how)
{
    struct dataset *ds = f->ds;
    enum base_locked locked = base_lock_try(fd, BASE_LOCK_LAYOUT, true);
    int err = NC_NOERR;
    *how = FILE_AGAIN;
    if (locked == BASE_BUSY && exclusive)
        return base_error_set(NC_EEXIST, "%s: another program has just created it",
                              ds->full_path);
    if (locked == BASE_BUSY) {
        /* Waits while another job moves data or empties the file. */
        err = journal_lock_shared(fd, ds->full_path, ds->hints.redef_wait);
        if (err == NC_NOERR) locked = base_lock_try(fd, BASE_LOCK_LAYOUT, true);
    }
    if (!file_path_is_fd(ds, fd)) return NC_NOERR;
    if (err != NC_NOERR) return err;
    *how = locked == BASE_BUSY || (locked == BASE_LOCKLESS && may_be_used(ds, fd))
               ? FILE_USED
               : FILE_LOCKED;
    return *how == FILE_LOCKED ? file_write_lock_adopt(f, fd) : NC_NOERR;
}
