#include "base_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base_mem.h"

char *base_path_absolute(const char *path)
{
    char here[PATH_MAX];
    if (*path == '/' || getcwd(here, sizeof here) == NULL || *here != '/')
        return base_strdup(path);
    size_t size = strlen(here) + strlen(path) + sizeof "/";
    if (size > PATH_MAX) return base_strdup(path);
    char *full = base_malloc(size);
    if (full != NULL)
        snprintf(full, size, "%s%s%s", here, here[1] == '\0' ? "" : "/", path);
    return full;
}
