/* Replaces a dataset's file while another job has it open for writing.
 *
 * A job that creates a dataset must not empty that file: the other job would write its
 * values into the new dataset. So process 0 creates an empty file next to it, locks the
 * new file exclusively, and renames it to the dataset's name. At any moment the name
 * refers to a whole dataset or to an empty, locked file. The other job continues to write
 * to the old file, which no longer has a name, and file_check_replaced reports this at
 * its next sync or close.
 *
 * Several jobs that create the dataset may find the same file in use. Each of them locks
 * BASE_LOCK_NAME, which is the right to replace the file, checks that the name still
 * refers to the file, and holds the lease on its dataset until the rename. So only one of
 * them replaces the file. The others find that the name refers to another file, and start
 * over with that one. A job that is about to empty the file, but has no lease yet, cannot
 * acquire one.
 *
 * If the file system has no locks, nothing shows whether a file is in use. In that case
 * any nonempty file is replaced if the directory permits it. The new file gets the
 * permissions of the old one. Without locks, if several jobs create the dataset, the last
 * one replaces the files of the others. */
#include "file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_mem.h"
#include "base_names.h"
#include "base_owner.h"
#include "base_rights.h"
#include "file_identity.h"
#include "journal.h"

struct replacement {
    char target[PATH_MAX];          /* the dataset's path, without symbolic links */
    char path[PATH_MAX + NAME_MAX]; /* path of the new file, until it is renamed */
    bool locked;                    /* the old file is locked; false if the file system
                                     * does not support locks */
    int fd;                         /* descriptor of the new file */
};

/* ---- the name of the new file ---- */

static void make_path(struct replacement *r, uint64_t id)
{
    enum { LONGEST = NAME_MAX - (int)sizeof ".creating-0123456789abcdef" + 1 };
    const char *slash = strrchr(r->target, '/');
    const char *base = slash == NULL ? r->target : slash + 1;
    snprintf(r->path, sizeof r->path, "%.*s%.*s.creating-%016llx",
             (int)(base - r->target), r->target, LONGEST, base, (unsigned long long)id);
}

/* Derives the new file's name from the identity of the file that it replaces. Only one
 * process has the right to replace that file, so any existing file with this name was
 * left by a killed process. */
static void make_expected_path(struct replacement *r, int fd)
{
    struct stat st = {0};
    (void)!fstat(fd, &st);
    const uint64_t id[] = {(uint64_t)st.st_ino, base_fs_birth(fd)};
    make_path(r, base_hash(id, sizeof id, 0));
}

/* Removes an empty file that this user owns and that no process has locked. */
static bool remove_leftover(const char *path)
{
    int fd = base_open_own(path, O_RDWR | O_NOFOLLOW);
    if (fd < 0) return false;
    bool removed = base_is_empty(fd) &&
                   base_lock_try(fd, BASE_LOCK_LAYOUT, true) == BASE_LOCKED &&
                   unlink(path) == 0;
    (void)close(fd);
    return removed;
}

void file_replace_tidy(const struct dataset *ds, int fd)
{
    struct replacement r = {.fd = -1};
    struct base_error_note note;
    bool empty = base_is_empty(fd); /* the usual case: it was just created */
    if (empty || realpath(ds->full_path, r.target) == NULL) return;
    make_expected_path(&r, fd);
    base_error_save(&note);
    (void)remove_leftover(r.path);
    base_error_restore(&note);
}

/* ---- creating the new file ---- */

/* Creates the file with `make` and opens it. Accepts only an empty file that this user
 * owns and that has one name: anything else was not created by this process. */
static int open_new_file(struct file *f, struct replacement *r, file_maker *make)
{
    struct stat st;
    int err = make(f, r->path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
    if (err != NC_NOERR) return err;
    r->fd = base_open_own(r->path, O_RDWR | O_NOFOLLOW);
    if (r->fd >= 0 && fstat(r->fd, &st) == 0 && st.st_size == 0 && st.st_nlink == 1)
        return NC_NOERR;
    if (r->fd >= 0) (void)close(r->fd);
    r->fd = -1;
    return base_refuse_other_file(r->path);
}

static int create_file(struct file *f, struct replacement *r, file_maker *make)
{
    if (make != NULL) return open_new_file(f, r, make);
    r->fd = base_open(r->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    return r->fd >= 0 ? NC_NOERR : base_error_system(NC_EFILE, "creating", r->path);
}

/* Creates the new file with the permissions of the old one, and locks it. */
static int create_locked(struct file *f, struct replacement *r, int old, file_maker *make)
{
    make_expected_path(r, old);
    if (!r->locked) make_path(r, base_owner_new_nonce());
    int err = create_file(f, r, make);
    if (err == NC_EEXIST) {
        if (!r->locked || !remove_leftover(r->path)) make_path(r, base_owner_new_nonce());
        err = create_file(f, r, make);
    }
    if (err != NC_NOERR) return err;
    if (base_lock_try(r->fd, BASE_LOCK_LAYOUT, true) == BASE_BUSY)
        return base_refuse_other_file(r->path);
    return base_rights_copy(old, r->fd, r->path);
}

/* ---- renaming the new file ---- */

/* Renames the new file to the dataset's name, unless that name now refers to another
 * file. Then checks which file has the name, because another process may have replaced
 * it. */
static int give_name(struct replacement *r, int old, enum file_lock_result *how)
{
    if (!base_has_name(old, r->target)) {
        *how = FILE_AGAIN;
        return NC_NOERR;
    }
    if (rename(r->path, r->target) != 0)
        return base_error_system(NC_EFILE, "renaming a new file over", r->target);
    if (!base_has_name(r->fd, r->target)) return base_refuse_other_file(r->target);
    *how = FILE_LOCKED;
    return base_sync_directory(r->target);
}

static void discard_new_file(struct replacement *r)
{
    if (r->fd < 0) return;
    if (base_has_name(r->fd, r->path)) (void)unlink(r->path);
    base_lock_release(r->fd, BASE_LOCK_LAYOUT);
    (void)close(r->fd);
}

/* Checks that the file can be replaced, and acquires the lease on its dataset. */
static int check_replaceable(struct dataset *ds, int fd, bool locked)
{
    static const char who[] = "another program, or another open dataset in this program, "
                              "has it open for writing";
    struct stat st;
    int err = ds->opened == NULL
                  ? NC_NOERR
                  : ds->opened(ds, fd, locked ? DATASET_IN_USE : DATASET_MAYBE_USED);
    if (err != NC_NOERR) return err;
    /* The lease's owner may have created subfiles while this process waited for it. */
    if (locked && file_has_subfiles(fd))
        return base_error_set(NC_EFILE,
                              "%s: cannot create: it is a dataset in subfiles, and %s",
                              ds->full_path, who);
    if (fstat(fd, &st) == 0 && st.st_nlink > 1)
        return base_error_set(NC_EFILE,
                              "%s: cannot create: %s, and because it has %lld names "
                              "(hard links), a new file cannot replace it",
                              ds->full_path, who, (long long)st.st_nlink);
    return NC_NOERR;
}

/* Makes the new file the dataset's file. */
static int adopt(struct file *f, struct file_descriptor *d, struct replacement *r)
{
    int err = file_record_fd(f->ds, r->fd);
    if (err == NC_NOERR) err = file_write_lock_adopt(f, r->fd);
    if (err != NC_NOERR) return err;
    /* Unlocks explicitly, because a child process may have inherited the descriptor. */
    base_lock_release(d->fd, BASE_LOCK_NAME);
    base_lock_release(d->fd, BASE_LOCK_LAYOUT);
    if (r->locked)
        f->replaced = d->fd;
    else
        (void)close(d->fd);
    d->fd = r->fd;
    r->fd = -1;
    return NC_NOERR;
}

static int replace_used(struct file *f, struct file_descriptor *d, file_maker *make,
                        enum file_lock_result *how)
{
    struct dataset *ds = f->ds;
    struct replacement r = {.fd = -1};
    r.locked = base_lock_test(d->fd, BASE_LOCK_LAYOUT, true) != BASE_LOCKLESS;
    int err = check_replaceable(ds, d->fd, r.locked);
    if (err != NC_NOERR) return err;
    if (realpath(ds->full_path, r.target) == NULL) {
        *how = FILE_AGAIN;
        return NC_NOERR;
    }
    char *journal = journal_of(ds->full_path);
    err = create_locked(f, &r, d->fd, make);
    if (err == NC_NOERR) err = give_name(&r, d->fd, how);
    if (*how == FILE_LOCKED) {
        journal_forget(journal);
        if (err == NC_NOERR) err = adopt(f, d, &r);
    } else {
        base_free(journal);
    }
    discard_new_file(&r);
    /* Without locks it is unknown whether the file is in use, so if it cannot be
     * replaced, it is emptied. */
    if (err == NC_EACCESS && !r.locked) {
        *how = FILE_LOCKED;
        err = file_write_lock_adopt(f, d->fd);
    }
    return err;
}

int file_replace(struct file *f, struct file_descriptor *d, file_maker *make,
                 enum file_lock_result *how)
{
    int old = d->fd, err = base_lock_name(old, f->ds->full_path);
    if (err == NC_NOERR && !file_path_is_fd(f->ds, old))
        *how = FILE_AGAIN;
    else if (err == NC_NOERR) {
        err = replace_used(f, d, make, how);
        if (f->ds->opened != NULL) (void)f->ds->opened(f->ds, -1, DATASET_REPLACED);
    }
    if (d->fd == old) {
        base_lock_release(old, BASE_LOCK_NAME);
        if (*how != FILE_LOCKED) base_lock_release(old, BASE_LOCK_LAYOUT);
    }
    return err;
}
