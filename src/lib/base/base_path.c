#include "base_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_mem.h"

/* Returns the directory to which a path is relative, with a trailing slash. Returns ""
 * for an absolute path, or if the directory is unknown. */
static const char *begin_path(const char *path, char here[PATH_MAX + 1])
{
    if (*path == '/' || getcwd(here, PATH_MAX) == NULL || *here != '/') return "";
    size_t length = strlen(here);
    if (length + strlen(path) + sizeof "/" > PATH_MAX) return "";
    if (length > 1) memcpy(here + length, "/", sizeof "/");
    return here;
}

char *base_path_absolute(const char *path)
{
    char here[PATH_MAX + 1];
    const char *from = begin_path(path, here);
    size_t size = strlen(from) + strlen(path) + 1;
    char *full = base_malloc(size);
    if (full != NULL) snprintf(full, size, "%s%s", from, path);
    return full;
}

void base_path_absolute_to(const char *path, char *full, size_t size)
{
    char here[PATH_MAX + 1];
    snprintf(full, size, "%s%s", begin_path(path, here), path);
}

void base_path_folder(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, size, "%.*s.", slash == NULL ? 0 : (int)(slash - path) + 1, path);
}
