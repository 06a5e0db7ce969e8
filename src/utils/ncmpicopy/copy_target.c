/* Gives the copy the access rights of its source, and never grants more than these.
 *
 * The library creates the copy, with NC_NOCLOBBER if the name is free. Other users may
 * write to the directory and replace the file. So this module changes rights only through
 * a descriptor. It accepts the file if it is locked, because the library locks a dataset
 * that it writes, or if it is empty, because then nothing can be lost. */
#include "copy_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#include "base_lock.h"
#include "base_path.h"
#include "base_rights.h"
#include "util_classic.h"
#include "util_rights.h"

/* Returns whether the source has an access control list, or the directory has a default
 * one. */
static bool has_list(int from, const char *folder)
{
#ifdef __linux__
    return fgetxattr(from, "system.posix_acl_access", NULL, 0) > 0 ||
           getxattr(folder, "system.posix_acl_default", NULL, 0) > 0;
#else
    (void)from, (void)folder;
    return false;
#endif
}

/* Returns the mode with which to create the copy: the source's mode if the copy will have
 * the source's owner and group, otherwise a private mode until the copy gets its final
 * rights. The library creates subfiles with the same mode. */
static mode_t first_mode(const struct copy *c, int from)
{
    char folder[PATH_MAX];
    struct stat model, st;
    base_path_folder(c->options.to, folder, sizeof folder);
    if (fstat(from, &model) != 0 || stat(folder, &st) != 0) return BASE_RIGHTS_PRIVATE;
    gid_t group = st.st_mode & S_ISGID ? st.st_gid : getegid();
    bool plain =
        group == model.st_gid && model.st_uid == geteuid() && !has_list(from, folder);
    mode_t mask = umask(0);
    (void)umask(mask);
    mode_t mode = (model.st_mode & 0777 & ~mask) | BASE_RIGHTS_PRIVATE;
    return plain ? mode : (mode_t)BASE_RIGHTS_PRIVATE;
}

int copy_target_begin(const struct copy *c, struct copy_target *t)
{
    const struct copy_options *o = &c->options;
    struct stat st;
    t->mode = BASE_RIGHTS_PRIVATE;
    t->fresh = lstat(o->to, &st) != 0 && errno == ENOENT;
    if (!t->fresh && !o->force) {
        errno = EEXIST;
        return -1;
    }
    t->from = open(o->from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    /* The source's name may be one that only MPI-IO can open. The source's permissions
     * are then unknown, so the copy keeps the mode BASE_RIGHTS_PRIVATE. */
    if (t->from < 0) return 0;
    if (t->fresh) {
        t->mode = first_mode(c, t->from);
        return 0;
    }
    t->to = open(o->to, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return t->to < 0 ? 0 : util_give_rights(t->from, t->to, o->to, false);
}

/* Opens the file that the library has created. Returns -1 if the name might refer to
 * another file. */
static int open_created(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
        st.st_uid == geteuid() &&
        (st.st_size == 0 || base_lock_busy(fd, BASE_LOCK_LAYOUT)))
        return fd;
    if (fd >= 0) (void)close(fd);
    return -1;
}

/* Removes the empty file that may remain after creating the copy has failed. */
static void remove_failed(const char *path)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
        st.st_uid == geteuid())
        (void)unlink(path);
}

/* Returns whether the file was created with its final rights. */
static bool has_rights(const struct copy_target *t)
{
    struct stat model, st;
    return t->mode != BASE_RIGHTS_PRIVATE && fstat(t->from, &model) == 0 &&
           fstat(t->to, &st) == 0 && (st.st_mode & 0777) == (t->mode & 0666) &&
           st.st_gid == model.st_gid;
}

void copy_target_end(struct copy *c, struct copy_target *t, bool created)
{
    const char *path = c->options.to;
    if (!created && t->fresh) remove_failed(path);
    if (created && t->fresh) t->to = open_created(path);
    if (created && t->to >= 0) c->id = util_identity_of(t->to);
    /* If the rights cannot be set, the file stays private, as it was created. */
    c->rights_after_create =
        created && t->fresh && t->to >= 0 && t->from >= 0 && !has_rights(t);
    if (c->rights_after_create) (void)util_give_rights(t->from, t->to, path, true);
    if (t->to >= 0) (void)close(t->to);
    if (t->from >= 0) (void)close(t->from);
}

void copy_target_finish(const struct copy *c)
{
    struct util_classic copy;
    if (!c->rights_after_create || copy_is_nc4(c)) return;
    if (util_classic_open(&copy, COPY_TOOL, c->options.to) != 0) return;
    if (util_identity_is(&c->id, copy.fd)) util_give_parts_rights(&copy);
    util_classic_close(&copy);
}
