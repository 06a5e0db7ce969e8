/* Creates and renames files under a temporary name (see file_temporary.h). */
#include "file_temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_lock.h"
#include "base_rights.h"

int file_create_like(int model, const char *path, struct file_descriptor *made)
{
    *made = FILE_NO_DESCRIPTOR;
    made->fd = base_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (made->fd < 0) return base_error_system(NC_EFILE, "creating", path);
    int err = base_rights_copy(model, made->fd, path);
    if (err == NC_NOERR) return NC_NOERR;
    (void)file_descriptor_close(made, path);
    (void)unlink(path);
    return err;
}

static int refuse_busy(const char *path)
{
    return base_error_set(NC_EFILE, "%s: another process is writing this file", path);
}

static int remove_name(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT
               ? NC_NOERR
               : base_error_system(NC_EFILE, "removing", path);
}

/* Removes a file that no process has locked. Removes it while it is locked, so that it
 * cannot be the new file of another process. */
static int remove_unused(const char *path)
{
    int fd = base_open(path, O_RDWR | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? NC_NOERR : base_error_system(NC_EFILE, "opening", path);
    enum base_locked locked = base_lock_try(fd, BASE_LOCK_PARTS, true);
    int err;
    if (locked == BASE_LOCKLESS)
        err = base_error_set(NC_EFILE,
                             "%s: another process is writing this file or was killed; "
                             "remove the file if no such process is running",
                             path);
    else if (locked == BASE_BUSY || !base_has_name(fd, path))
        err = refuse_busy(path);
    else
        err = remove_name(path);
    (void)close(fd);
    return err;
}

int file_temporary_create(int model, const char *path, bool only,
                          struct file_descriptor *made)
{
    int err = only ? remove_name(path) : remove_unused(path);
    *made = FILE_NO_DESCRIPTOR;
    if (err == NC_NOERR) err = file_create_like(model, path, made);
    /* Before the file was locked, another process may have taken it for a leftover. */
    if (err != NC_NOERR || (base_lock_try(made->fd, BASE_LOCK_PARTS, true) != BASE_BUSY &&
                            base_has_name(made->fd, path)))
        return err;
    (void)file_descriptor_close(made, path);
    return refuse_busy(path);
}

int file_temporary_rename(int fd, const char *path, const char *to)
{
    if (!base_has_name(fd, path)) return base_refuse_other_file(path);
    if (rename(path, to) != 0) return base_error_system(NC_EFILE, "renaming", path);
    base_lock_release(fd, BASE_LOCK_PARTS);
    return base_sync_directory(to);
}
