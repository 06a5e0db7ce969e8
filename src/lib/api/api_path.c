/* Strips file-system prefixes from paths. */
#include <string.h>
#include <strings.h>

#include "api_dataset.h"

const char *api_path(const char *path)
{
    static const char *const known[] = {
        "ufs",    "nfs",    "xfs",   "pfs",    "sfs",  "tfs",  "piofs",
        "pvfs",   "pvfs2",  "panfs", "lustre", "gpfs", "bgl",  "bglockless",
        "zoidfs", "testfs", "ftp",   "gsiftp", "ime",  "daos", "unifyfs"};
    const char *colon = strchr(path, ':');
    if (colon == NULL) return path;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == (size_t)(colon - path) &&
            strncasecmp(known[i], path, (size_t)(colon - path)) == 0)
            return colon + 1;
    return path;
}
