/* Copies the access rights of a file, as cp does, but never grants more than the source
 * grants. */
#include "util_rights.h"

#include <errno.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_io.h"
#include "base_rights.h"
#include "util_blob_impl.h"

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

void util_give_parts_rights(const struct util_classic *master)
{
    for (int i = 0; i < util_blob_count(master); i++) {
        struct util_classic part;
        struct cdf_fault fault;
        const char *path = util_blob_path(master, i);
        if (util_classic_open_any(&part, master->tool, path) != 0) continue;
        if (base_has_name(part.fd, part.path) && util_classic_try(&part, &fault) == 0 &&
            subfile_check_header(&part.header, &master->blob->facts, i) == NULL)
            (void)base_rights_copy(master->fd, part.fd, path);
        util_classic_close(&part);
    }
}
