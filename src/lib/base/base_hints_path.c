/* Which datasets an entry of a file of hints names. */
#include <fnmatch.h>
#include <limits.h>
#include <string.h>

#include "base_hints_file.h"

/* Without what says nothing: "//", "/./", "./" at the beginning, and "/" at the end,
 * which *directory tells of. False: it is too long for any file. Takes no memory that
 * could be short: what a file of hints says is not to depend on that. */
static bool make_plain(const char *path, char text[PATH_MAX], bool *directory)
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

/* Does it name this, or a directory that this lies in? */
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

/* A pattern that does not begin at the root may begin at any name on the way. */
static bool matches_glob(const char *pattern, bool directory, char *path)
{
    if (*pattern == '/') return matches(pattern, directory, path);
    for (char *name = path; (name = strchr(name, '/')) != NULL;)
        if (matches(pattern, directory, ++name)) return true;
    return matches(pattern, directory, path);
}

/* Does `path` have the names of `directory` on its way, from the root if that is so
 * given?
 */
static bool lies_in(const char *directory, const char *path)
{
    size_t length = strlen(directory);
    const char *at = path;
    if (*directory == '\0') return true; /* "." says nothing */
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

/* E10's base names may be those of a series. */
static bool begins_path(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash == NULL ? path : slash + 1, name, strlen(name)) == 0;
}

bool base_file_entry_names(const struct base_file_entry *e, const char *full)
{
    char wanted[PATH_MAX] = "", path[PATH_MAX] = "";
    bool directory, ignored;
    if (!make_plain(e->path, wanted, &directory) || !make_plain(full, path, &ignored))
        return false;
    if (e->guard && begins_path(wanted, path)) return true;
    if (strpbrk(wanted, "*?[") != NULL) return matches_glob(wanted, directory, path);
    return lies_in(wanted, path) || (!directory && path_ends_with(wanted, path));
}
