/* Owner, group, mode and access control list from one open file to another. */
#include "base_rights.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"

#ifdef __linux__
#include <sys/xattr.h>

/* POSIX access control lists: acl(5). With one, the mode's group bits are its mask. */
static const char list_name[] = "system.posix_acl_access";

static bool has_none(void)
{
    return errno == ENODATA || errno == EOPNOTSUPP;
}

/* False: the other file could not be given the same list, or the lack of one. What a list
 * allows the group is meant for the model's group alone. */
static bool copy_list(int from, int to, bool same_group)
{
    unsigned char list[65536]; /* the most that an attribute has */
    ssize_t n = fgetxattr(from, list_name, list, sizeof list);
    if (n > 0) return same_group && fsetxattr(to, list_name, list, (size_t)n, 0) == 0;
    if (n < 0 && !has_none()) return false;
    /* A directory may give its new files one that the model has not. */
    return fremovexattr(to, list_name) == 0 || has_none();
}
#else
static bool copy_list(int from, int to, bool same_group)
{
    (void)from, (void)to, (void)same_group;
    return true;
}
#endif

/* The superuser works on everybody's files: what accompanies them is their owner's. */
static bool copy_group(const struct stat *model, int to)
{
    struct stat st;
    if (fstat(to, &st) != 0) return false;
    if (st.st_uid != model->st_uid && geteuid() == 0)
        (void)!fchown(to, model->st_uid, model->st_gid);
    else if (st.st_gid != model->st_gid)
        (void)!fchown(to, (uid_t)-1, model->st_gid);
    return fstat(to, &st) == 0 && st.st_gid == model->st_gid;
}

/* Members of a group that could not be given are "others" now, and others may be members
 * of the group there is instead: both get what both had. */
static mode_t shrink_mode(mode_t mode)
{
    mode_t both = (mode >> 3) & mode & 07;
    return (mode & 0700) | both << 3 | both;
}

int base_rights_copy(int from, int to, const char *path)
{
    struct stat model;
    if (fstat(from, &model) != 0)
        return base_error_system(NC_EACCESS, "looking at", path);
    mode_t mode = model.st_mode & 0777;
    bool same_group = copy_group(&model, to);
    if (!same_group) mode = shrink_mode(mode);
    if (!copy_list(from, to, same_group)) mode &= 0700;
    if (fchmod(to, mode) == 0) return NC_NOERR;
    return base_error_system(NC_EACCESS, "setting the mode of", path);
}
