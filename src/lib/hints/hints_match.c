/* Matches a dataset's path against the entries in a hints file. */
#include <fnmatch.h>
#include <limits.h>
#include <string.h>

#include "hints_file.h"

/* Removes redundant parts of a path: "//", "/./", a leading "./", and a trailing "/".
 * Sets *directory if there was a trailing "/". Returns false if the path exceeds the
 * system's maximum length. Allocates no memory, so running out of memory cannot change
 * the result. */
static bool normalize_path(const char *path, char text[PATH_MAX], bool *directory)
{
    char *to = text;
    while (*path != '\0' && to < text + PATH_MAX - 1) {
        bool begins = to == text || to[-1] == '/';
        if (begins && path[0] == '.' && (path[1] == '/' || path[1] == '\0'))
            path += path[1] == '/' ? 2 : 1;
        else if (path[0] == '/' && to > text && to[-1] == '/')
            path++;
        else
            *to++ = *path++;
    }
    *directory = to > text + 1 && to[-1] == '/';
    if (*directory) to--;
    *to = '\0';
    return *path == '\0';
}

/* Returns whether the pattern matches the path or a directory that contains it. */
static bool matches(const char *pattern, bool directory, char *path)
{
    bool found = !directory && fnmatch(pattern, path, FNM_PATHNAME) == 0;
    for (char *slash = path; !found && (slash = strchr(slash, '/')) != NULL; slash++) {
        if (slash == path) continue;
        *slash = '\0';
        found = fnmatch(pattern, path, FNM_PATHNAME) == 0;
        *slash = '/';
    }
    return found;
}

/* Matches a pattern. A relative pattern may start at any component of the path. */
static bool matches_glob(const char *pattern, bool directory, char *path)
{
    if (*pattern == '/') return matches(pattern, directory, path);
    for (char *name = path; (name = strchr(name, '/')) != NULL;)
        if (matches(pattern, directory, ++name)) return true;
    return matches(pattern, directory, path);
}

/* Returns whether the path contains the components of `directory` in sequence. If
 * `directory` is absolute, they must start at the root. */
static bool is_in_directory(const char *directory, const char *path)
{
    size_t length = strlen(directory);
    const char *at = path;
    if (*directory == '\0') return true; /* "." matches every path */
    if (strcmp(directory, "/") == 0) return *path == '/';
    for (; (at = strstr(at, directory)) != NULL; at++) {
        bool begins = at == path || (*directory != '/' && at[-1] == '/');
        if (begins && at[length] == '/') return true;
    }
    return false;
}

static bool path_ends_with(const char *end, const char *path)
{
    size_t length = strlen(end), all = strlen(path);
    return length > 0 && length <= all && strcmp(path + all - length, end) == 0;
}

/* Returns whether the last component of the path starts with `name`. In E10, a name may
 * be the common base name of a series of files. */
static bool begins_path(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash == NULL ? path : slash + 1, name, strlen(name)) == 0;
}

bool hints_file_entry_matches(const struct hints_file_entry *e, const char *full)
{
    char wanted[PATH_MAX] = "", path[PATH_MAX] = "";
    bool directory, ignored;
    if (!normalize_path(e->path, wanted, &directory) ||
        !normalize_path(full, path, &ignored))
        return false;
    if (e->guard && begins_path(wanted, path)) return true;
    if (strpbrk(wanted, "*?[") != NULL) return matches_glob(wanted, directory, path);
    return is_in_directory(wanted, path) || (!directory && path_ends_with(wanted, path));
}
