/* Identifies an open file for other processes.
 *
 * In a directory that other users may write to, a name may refer to another file by the
 * time a second process opens it. So the process that created the file sends its device
 * and inode numbers to the others, which compare these before they use the file that they
 * have opened. */
#include "util_identity.h"

#include <string.h>
#include <sys/stat.h>

#include "base_fs.h"
#include "base_owner.h"

struct util_identity util_identity_of(int fd)
{
    struct util_identity id = {0};
    struct stat st;
    if (fstat(fd, &st) != 0) return id;
    id.device = (int64_t)st.st_dev;
    id.inode = (int64_t)st.st_ino;
    if (!base_boot(id.boot)) id.boot[0] = '\0';
    return id;
}

bool util_identity_is(const struct util_identity *id, int fd)
{
    struct stat st;
    char boot[64] = "";
    if (id->inode == 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    bool same_host = base_boot(boot) && strcmp(boot, id->boot) == 0;
    if ((int64_t)st.st_ino == id->inode)
        return !same_host || (int64_t)st.st_dev == id->device;
    return !same_host && !base_fs_is_coherent(fd);
}
