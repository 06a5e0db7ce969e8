/* Copies owner, group, mode and access control list from one open file to another. */
#include "base_rights.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"

#ifdef __linux__
#include <sys/xattr.h>

/* POSIX access control lists: see acl(5). If a file has one, the group bits of its mode
 * are the list's mask. */
static const char list_name[] = "system.posix_acl_access";

static bool is_list_absent(void)
{
    return errno == ENODATA || errno == EOPNOTSUPP;
}

/* Copies the access control list, or removes it if the original has none. Returns false
 * on error. A list is valid only if the files have the same group. */
static bool copy_list(int from, int to, bool same_group)
{
    unsigned char list[65536]; /* maximum size of an attribute */
    ssize_t n = fgetxattr(from, list_name, list, sizeof list);
    if (n > 0) return same_group && fsetxattr(to, list_name, list, (size_t)n, 0) == 0;
    if (n < 0 && !is_list_absent()) return false;
    /* The directory may have given the new file a default list. */
    return fremovexattr(to, list_name) == 0 || is_list_absent();
}
#else
static bool copy_list(int from, int to, bool same_group)
{
    (void)from, (void)to, (void)same_group;
    return true;
}
#endif

/* Copies the group. Also copies the owner if the superuser works on another user's
 * file. */
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

/* If the group could not be set, members of the original group now count as "others", and
 * others may be in the new group. Both classes get only the permissions they have in
 * common. */
static mode_t shrink_mode(mode_t mode)
{
    mode_t both = (mode >> 3) & mode & 07;
    return (mode & 0700) | both << 3 | both;
}

int base_rights_copy(int from, int to, const char *path)
{
    struct stat model;
    if (fstat(from, &model) != 0) return base_error_system(NC_EACCESS, "examining", path);
    mode_t mode = model.st_mode & 0777;
    bool same_group = copy_group(&model, to);
    if (!same_group) mode = shrink_mode(mode);
    if (!copy_list(from, to, same_group)) mode &= 0700;
    if (fchmod(to, mode) == 0) return NC_NOERR;
    return base_error_system(NC_EACCESS, "setting the permissions of", path);
}
