/* As cp does it, but that nobody gets more than he had. */
#include "util_rights.h"

#include <errno.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_rights.h"

static bool allows_more(const struct stat *st, const struct stat *model)
{
    mode_t others = S_IRWXG | S_IRWXO;
    if (st->st_gid != model->st_gid) return (st->st_mode & others) != 0;
    return (st->st_mode & ~model->st_mode & others) != 0;
}

int util_give_rights(int from, int to, const char *path, bool made)
{
    struct stat model, st;
    if (fstat(from, &model) != 0 || fstat(to, &st) != 0) return -1;
    if (!made && !allows_more(&st, &model)) return 0;
    if (base_rights_copy(from, to, path) != NC_NOERR || fstat(to, &st) != 0) return -1;
    mode_t mask = umask(0);
    (void)umask(mask);
    return fchmod(to, st.st_mode & 0777 & ~mask);
}
