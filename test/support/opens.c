/* Preloaded into a program. Logs each call by the program or by this library that
 * creates, opens, renames, removes or changes a file by its name. Ignores calls by MPI
 * and other libraries. The log is the file NCMPI_TEST_OPENS. It has one line per call,
 * with seven fields separated by tabs: process, call, "ok" or the error number, flags,
 * mode, path, second path.
 *
 * The flags are words separated by commas: write, create, exclusive, nofollow, new (no
 * file had that name). */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr, O_TMPFILE */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORT   __attribute__((visibility("default")))
#define CALLER() __builtin_return_address(0)

/* ---- lines ---- */

/* Returns whether a code address belongs to the program or to libpnetcdf. */
static bool is_ours(const void *caller)
{
    Dl_info info;
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash == NULL ? info.dli_fname : slash + 1;
    if (strncmp(name, "libpnetcdf", 10) == 0) return true;
    return strstr(name, ".so") == NULL;
}

static void make_absolute(const char *path, char *full, size_t size)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || path[0] == '\0' || getcwd(folder, sizeof folder) == NULL)
        snprintf(full, size, "%s", path);
    else
        snprintf(full, size, "%s/%s", folder, path);
}

/* Writes a line to the log. Preserves errno. */
static void note(const void *caller, const char *call, bool ok, const char *flags,
                 mode_t mode, const char *path, const char *other)
{
    char line[3 * PATH_MAX], full[PATH_MAX + 256], second[PATH_MAX + 256], result[16];
    int saved = errno;
    const char *to = getenv("NCMPI_TEST_OPENS");
    if (to == NULL || !is_ours(caller)) {
        errno = saved;
        return;
    }
    make_absolute(path, full, sizeof full);
    make_absolute(other, second, sizeof second);
    snprintf(result, sizeof result, ok ? "ok" : "%d", saved);
    int n = snprintf(line, sizeof line, "%d\t%s\t%s\t%s\t%04o\t%s\t%s\n", (int)getpid(),
                     call, result, flags, (unsigned)mode, full, second);
    long fd = syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd >= 0) {
        if (write((int)fd, line, (size_t)n) != n) abort();
        (void)close((int)fd);
    }
    errno = saved;
}

static bool is_new(const char *path)
{
    struct stat st;
    int saved = errno;
    bool new = lstat(path, &st) != 0;
    errno = saved;
    return new;
}

static void write_flags(int flags, bool new, char text[64])
{
    text[0] = '\0';
    if ((flags & O_ACCMODE) != O_RDONLY) strcat(text, ",write");
    if (flags & O_CREAT) strcat(text, ",create");
    if (flags & O_EXCL) strcat(text, ",exclusive");
    if (flags & O_NOFOLLOW) strcat(text, ",nofollow");
    if (new) strcat(text, ",new");
    memmove(text, text + (text[0] == ','), strlen(text) + (text[0] != ','));
}

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* ---- opening files ---- */

typedef int open_fn(const char *path, int flags, ...);

static int open_noted(const void *caller, const char *name, const char *path, int flags,
                      mode_t mode)
{
    char text[64];
    open_fn *next;
    *(void **)&next = next_of(name);
    bool new = is_new(path);
    int fd = next(path, flags, mode);
    write_flags(flags, new, text);
    note(caller, "open", fd >= 0, text, flags & O_CREAT ? mode : 0, path, "");
    return fd;
}

/* A macro, so that CALLER is evaluated in open() itself. */
#define open_next(name, path, flags, mode) open_noted(CALLER(), name, path, flags, mode)
#include "stand_open.h"

typedef FILE *fopen_fn(const char *path, const char *mode);

static FILE *fopen_noted(const void *caller, const char *name, const char *path,
                         const char *mode)
{
    fopen_fn *next;
    *(void **)&next = next_of(name);
    bool reads = mode[0] == 'r' && strchr(mode, '+') == NULL, new = is_new(path);
    FILE *file = next(path, mode);
    const char *flags = reads ? "" : new ? "write,create,new" : "write,create";
    note(caller, "fopen", file != NULL, flags, reads ? 0 : 0666, path, "");
    return file;
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
    return fopen_noted(CALLER(), "fopen", path, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
    return fopen_noted(CALLER(), "fopen64", path, mode);
}

static const char made[] = "write,create,exclusive,new";

EXPORT int mkstemp(char *path)
{
    int (*next)(char *);
    *(void **)&next = next_of("mkstemp");
    int fd = next(path);
    note(CALLER(), "mkstemp", fd >= 0, made, 0600, path, "");
    return fd;
}

EXPORT int mkostemp(char *path, int flags)
{
    int (*next)(char *, int);
    *(void **)&next = next_of("mkostemp");
    int fd = next(path, flags);
    note(CALLER(), "mkstemp", fd >= 0, made, 0600, path, "");
    return fd;
}

/* ---- changing names ---- */

EXPORT int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t);
    *(void **)&next = next_of("mkdir");
    int failed = next(path, mode);
    note(CALLER(), "mkdir", failed == 0, made, mode, path, "");
    return failed;
}

EXPORT int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    *(void **)&next = next_of("rename");
    int failed = next(from, to);
    note(CALLER(), "rename", failed == 0, "", 0, from, to);
    return failed;
}

EXPORT int link(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    *(void **)&next = next_of("link");
    int failed = next(from, to);
    note(CALLER(), "link", failed == 0, "", 0, from, to);
    return failed;
}

EXPORT int symlink(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    *(void **)&next = next_of("symlink");
    int failed = next(from, to);
    note(CALLER(), "symlink", failed == 0, "", 0, to, "");
    return failed;
}

EXPORT int unlink(const char *path)
{
    int (*next)(const char *);
    *(void **)&next = next_of("unlink");
    int failed = next(path);
    note(CALLER(), "unlink", failed == 0, "", 0, path, "");
    return failed;
}

/* Replaces bind. Ignores sockets that have no name in a directory. */
EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    int (*next)(int, const struct sockaddr *, socklen_t);
    const struct sockaddr_un *named = (const void *)address;
    *(void **)&next = next_of("bind");
    int failed = next(fd, address, length);
    if (address->sa_family == AF_UNIX &&
        length > offsetof(struct sockaddr_un, sun_path) && named->sun_path[0] != '\0')
        note(CALLER(), "bind", failed == 0, made, 0777, named->sun_path, "");
    return failed;
}

/* ---- calls that change a file by its path ---- */

EXPORT int chmod(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t);
    *(void **)&next = next_of("chmod");
    int failed = next(path, mode);
    note(CALLER(), "chmod", failed == 0, "", mode, path, "");
    return failed;
}

EXPORT int chown(const char *path, uid_t user, gid_t group)
{
    int (*next)(const char *, uid_t, gid_t);
    *(void **)&next = next_of("chown");
    int failed = next(path, user, group);
    note(CALLER(), "chown", failed == 0, "", 0, path, "");
    return failed;
}

EXPORT int truncate(const char *path, off_t length)
{
    int (*next)(const char *, off_t);
    *(void **)&next = next_of("truncate");
    int failed = next(path, length);
    note(CALLER(), "truncate", failed == 0, "", 0, path, "");
    return failed;
}

EXPORT int setxattr(const char *path, const char *name, const void *value, size_t size,
                    int flags);
int setxattr(const char *path, const char *name, const void *value, size_t size,
             int flags)
{
    int (*next)(const char *, const char *, const void *, size_t, int);
    *(void **)&next = next_of("setxattr");
    int failed = next(path, name, value, size, flags);
    note(CALLER(), "setxattr", failed == 0, "", 0, path, "");
    return failed;
}
