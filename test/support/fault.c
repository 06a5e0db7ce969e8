/* Interposes the C library's file functions and makes selected calls fail. See
 * fault.h. */
#define _GNU_SOURCE
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char OPEN[] = "open", READ[] = "read", WRITE[] = "write", SYNC[] = "sync",
                  TRUNCATE[] = "truncate", ALLOCATE[] = "allocate", MAP[] = "map",
                  UNLINK[] = "unlink", RENAME[] = "rename", CLOSE[] = "close",
                  LOCK[] = "lock";
static const char *const op_names[] = {
    OPEN, READ, WRITE, SYNC, TRUNCATE, ALLOCATE, MAP, UNLINK, RENAME, CLOSE, LOCK,
    /* see fault_socket.c */
    "socket", "bind", "listen", "connect", "accept", "name", "option", "send", "recv",
    "poll", "pipe", "thread"};

enum { PAGE = 4096 };

static const struct {
    const char *name;
    int code;
} errors[] = {{"ENOSPC", ENOSPC},
              {"EIO", EIO},
              {"EACCES", EACCES},
              {"EROFS", EROFS},
              {"EDQUOT", EDQUOT},
              {"EMFILE", EMFILE},
              {"ENOMEM", ENOMEM},
              {"EINTR", EINTR},
              {"ENOLCK", ENOLCK},
              {"EAGAIN", EAGAIN},
              {"ECONNRESET", ECONNRESET},
              {"ENOTCONN", ENOTCONN},
              {"short", -1},
              {"wrong", -2},
              {"part", -3},
              {"pages", -4}};

static struct {
    char op[64]; /* empty if no plan is set */
    int when;    /* number of the first call that fails, counted from 1 */
    bool later;  /* whether all later calls also fail */
    int code;    /* errno; or -1 for "short", -2 for "wrong", -3 for "part", -4 for
                  * "pages" */
    int calls, faults;
    const char *met;
    char pattern[512];
} plan;
static _Thread_local bool spoils; /* whether this thread's current read must return a
                                   * wrong byte */

/* ---- the plan ---- */

static bool my_rank_is(const char *rank)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL) return strcmp(value, rank) == 0;
    }
    return strcmp(rank, "0") == 0;
}

static int error_code(const char *what)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(what, errors[i].name) == 0) return errors[i].code;
    return atoi(what);
}

static bool is_op(const char *op)
{
    for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
        if (strcmp(op, op_names[i]) == 0) return true;
    return strncmp(op, "MPI_", 4) == 0;
}

/* Protects the plan, which the library's threads also use. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool arm(const char *text)
{
    char op[sizeof plan.op], when[16], what[16], pattern[sizeof plan.pattern],
        rank[16] = "";
    memset(&plan, 0, sizeof plan);
    plan.met = "";
    if (sscanf(text, "%63[^:]:%15[^:]:%15[^:]:%511[^:]:%15s", op, when, what, pattern,
               rank) < 4)
        return false;
    plan.when = atoi(when);
    plan.later = strchr(when, '+') != NULL;
    plan.code = error_code(what);
    if (!is_op(op) || plan.when < 1 || plan.code == 0) return false;
    strcpy(plan.pattern, pattern);
    if (rank[0] == '\0' || my_rank_is(rank)) strcpy(plan.op, op);
    return true;
}

bool fault_arm(const char *text)
{
    pthread_mutex_lock(&mutex);
    bool understood = arm(text);
    pthread_mutex_unlock(&mutex);
    return understood;
}

int fault_disarm(void)
{
    pthread_mutex_lock(&mutex);
    plan.op[0] = '\0';
    int faults = plan.faults;
    pthread_mutex_unlock(&mutex);
    return faults;
}

const char *fault_met(void)
{
    return plan.met == NULL ? "" : plan.met;
}

__attribute__((constructor)) static void arm_from_environment(void)
{
    const char *text = getenv("NCMPI_FAULT");
    if (text == NULL || fault_arm(text)) return;
    fprintf(stderr, "NCMPI_FAULT=%s is invalid\n", text);
    _exit(99);
}

static bool is_meant(const char *op)
{
    return plan.op[0] != '\0' && fnmatch(plan.op, op, 0) == 0;
}

static bool is_planned(const char *op)
{
    pthread_mutex_lock(&mutex);
    bool planned = is_meant(op);
    pthread_mutex_unlock(&mutex);
    return planned;
}

/* Returns how many bytes to transfer instead of `length`: half of them ("short"), a
 * quarter, in multiples of four bytes ("part"), or a quarter, rounded up to whole pages
 * ("pages"). */
static size_t cut(size_t length)
{
    if (plan.code == -4) return (length / 4 + PAGE - 1) / PAGE * PAGE;
    if (plan.code == -1 && length > 1) return length / 2;
    if (plan.code == -3 && length > 4) return length < 16 ? 4 : length / 16 * 4;
    return length;
}

/* Same as fails, but the caller must hold the lock. */
static bool would_fail(const char *op, const char *path, size_t *length)
{
    if (!is_meant(op) || fnmatch(plan.pattern, path, 0) != 0) return false;
    int call = ++plan.calls;
    if (call != plan.when && !(plan.later && call > plan.when)) return false;
    plan.faults++;
    plan.met = op;
    spoils = plan.code == -2;
    bool last = (plan.code == -3 || plan.code == -4) && call > plan.when;
    if (plan.code == -4 && (length == NULL || *length <= PAGE)) last = true;
    if (plan.code < 0 && !last) {
        if (length != NULL) *length = cut(*length);
        return false;
    }
    if (last) {
        errno = EIO;
        return true;
    }
    errno = plan.code;
    return true;
}

/* Returns whether this call must fail, and sets errno if so. For a short transfer,
 * reduces *length and returns false. If length is NULL, the call cannot be short. */
static bool fails(const char *op, const char *path, size_t *length)
{
    pthread_mutex_lock(&mutex);
    bool failed = would_fail(op, path, length);
    pthread_mutex_unlock(&mutex);
    return failed;
}

bool fault_meets(const char *op, const char *path)
{
    return fails(op, path, NULL);
}

bool fault_cuts(const char *op, const char *path, size_t *length)
{
    return fails(op, path, length);
}

static bool fails_at(const char *op, int fd, size_t *length)
{
    char link[64], path[4096];
    if (!is_planned(op)) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = '\0';
    return fails(op, path, length);
}

/* ---- interposed functions ---- */

#define EXPORT __attribute__((visibility("default")))

typedef int open_fn(const char *path, int flags, ...);
typedef ssize_t read_fn(int fd, void *buf, size_t length);
typedef ssize_t write_fn(int fd, const void *buf, size_t length);
typedef ssize_t pread_fn(int fd, void *buf, size_t length, off_t offset);
typedef ssize_t pwrite_fn(int fd, const void *buf, size_t length, off_t offset);
typedef ssize_t vector_fn(int fd, const struct iovec *pieces, int count);
typedef ssize_t pvector_fn(int fd, const struct iovec *pieces, int count, off_t offset);
typedef int sync_fn(int fd);
typedef int truncate_fn(int fd, off_t length);
typedef void *map_fn(void *at, size_t length, int access, int flags, int fd, off_t from);
typedef int unlink_fn(const char *path);
typedef int rename_fn(const char *from, const char *to);

static int open_next(const char *name, const char *path, int flags, mode_t mode)
{
    open_fn *next;
    if (fails(OPEN, path, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(path, flags, mode);
}

#include "stand_open.h"

static ssize_t spoil(void *buf, ssize_t n)
{
    if (spoils && n > 0) *(unsigned char *)buf ^= 1;
    spoils = false;
    return n;
}

EXPORT ssize_t read(int fd, void *buf, size_t length)
{
    read_fn *next;
    if (fails_at(READ, fd, &length)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    return spoil(buf, next(fd, buf, length));
}

EXPORT ssize_t write(int fd, const void *buf, size_t length)
{
    write_fn *next;
    if (fails_at(WRITE, fd, &length)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "write");
    return next(fd, buf, length);
}

EXPORT ssize_t pread(int fd, void *buf, size_t length, off_t offset)
{
    pread_fn *next;
    if (fails_at(READ, fd, &length)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "pread");
    return spoil(buf, next(fd, buf, length, offset));
}

EXPORT ssize_t pread64(int fd, void *buf, size_t length, off_t offset)
{
    return pread(fd, buf, length, offset);
}

EXPORT ssize_t pwrite(int fd, const void *buf, size_t length, off_t offset)
{
    pwrite_fn *next;
    if (fails_at(WRITE, fd, &length)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite");
    return next(fd, buf, length, offset);
}

EXPORT ssize_t pwrite64(int fd, const void *buf, size_t length, off_t offset)
{
    return pwrite(fd, buf, length, offset);
}

/* Makes a vectored call. If the call must be short, transfers only the first piece, or
 * half of it if there is only one. */
static ssize_t vector_next(const char *name, const char *op, int fd,
                           const struct iovec *pieces, int count, const off_t *offset)
{
    struct iovec first = {NULL, 0};
    size_t length = count > 0 ? pieces[0].iov_len : 0;
    if (fails_at(op, fd, &length)) return -1;
    if (count > 0 && length < pieces[0].iov_len) {
        first.iov_base = pieces[0].iov_base;
        first.iov_len = length;
        pieces = &first;
        count = 1;
    }
    void *next = dlsym(RTLD_NEXT, name);
    if (offset == NULL) return ((vector_fn *)next)(fd, pieces, count);
    return ((pvector_fn *)next)(fd, pieces, count, *offset);
}

EXPORT ssize_t readv(int fd, const struct iovec *pieces, int count)
{
    return vector_next("readv", READ, fd, pieces, count, NULL);
}

EXPORT ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    return vector_next("writev", WRITE, fd, pieces, count, NULL);
}

EXPORT ssize_t preadv(int fd, const struct iovec *pieces, int count, off_t offset)
{
    return vector_next("preadv", READ, fd, pieces, count, &offset);
}

EXPORT ssize_t preadv64(int fd, const struct iovec *pieces, int count, off_t offset)
{
    return vector_next("preadv", READ, fd, pieces, count, &offset);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
    return vector_next("pwritev", WRITE, fd, pieces, count, &offset);
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off_t offset)
{
    return vector_next("pwritev", WRITE, fd, pieces, count, &offset);
}

EXPORT int fsync(int fd)
{
    sync_fn *next;
    if (fails_at(SYNC, fd, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "fsync");
    return next(fd);
}

EXPORT int fdatasync(int fd)
{
    sync_fn *next;
    if (fails_at(SYNC, fd, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "fdatasync");
    return next(fd);
}

EXPORT int ftruncate(int fd, off_t length)
{
    truncate_fn *next;
    if (fails_at(TRUNCATE, fd, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "ftruncate");
    return next(fd, length);
}

EXPORT int ftruncate64(int fd, off_t length)
{
    return ftruncate(fd, length);
}

/* posix_fallocate returns an error code and does not set errno. */
EXPORT int posix_fallocate(int fd, off_t offset, off_t length)
{
    typedef int allocate_fn(int, off_t, off_t);
    allocate_fn *next;
    if (fails_at(ALLOCATE, fd, NULL)) return errno;
    *(void **)&next = dlsym(RTLD_NEXT, "posix_fallocate");
    return next(fd, offset, length);
}

EXPORT int posix_fallocate64(int fd, off_t offset, off_t length)
{
    return posix_fallocate(fd, offset, length);
}

/* Replaces fallocate, which the library calls to allocate blocks for an existing file. */
EXPORT int fallocate(int fd, int mode, off_t offset, off_t length)
{
    typedef int allocate_fn(int, int, off_t, off_t);
    allocate_fn *next;
    if (fails_at(ALLOCATE, fd, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "fallocate");
    return next(fd, mode, offset, length);
}

EXPORT int fallocate64(int fd, int mode, off_t offset, off_t length)
{
    return fallocate(fd, mode, offset, length);
}

/* Omitted with ThreadSanitizer, which maps memory before it can call an interposed
 * function. */
#ifndef __SANITIZE_THREAD__
EXPORT void *mmap(void *at, size_t length, int access, int flags, int fd, off_t from)
{
    map_fn *next;
    if (fd < 0 ? fails(MAP, "", NULL) : fails_at(MAP, fd, NULL)) return MAP_FAILED;
    *(void **)&next = dlsym(RTLD_NEXT, "mmap");
    return next(at, length, access, flags, fd, from);
}

EXPORT void *mmap64(void *at, size_t length, int access, int flags, int fd, off_t from)
{
    return mmap(at, length, access, flags, fd, from);
}
#endif

EXPORT int flock(int fd, int operation)
{
    typedef int flock_fn(int, int);
    flock_fn *next;
    if (fails_at(LOCK, fd, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "flock");
    return next(fd, operation);
}

#ifdef F_OFD_SETLK
/* Replaces fcntl. Only calls that lock an open file may fail. For other commands, the
 * argument may be a number, a pointer, or missing, so it is passed on as is. */
static int control(const char *name, int fd, int command, void *argument)
{
    typedef int control_fn(int, int, ...);
    control_fn *next;
    bool locks = command == F_OFD_SETLK || command == F_OFD_GETLK;
    if (locks && fails_at(LOCK, fd, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(fd, command, argument);
}

#define STAND_CONTROL(name)                                                              \
    EXPORT int name(int fd, int command, ...)                                            \
    {                                                                                    \
        va_list rest;                                                                    \
        va_start(rest, command);                                                         \
        void *argument = va_arg(rest, void *);                                           \
        va_end(rest);                                                                    \
        return control(#name, fd, command, argument);                                    \
    }
STAND_CONTROL(fcntl)
#ifdef fcntl64
#undef fcntl64
#endif
STAND_CONTROL(fcntl64)
#endif

/* The descriptor is closed even if the call fails. */
EXPORT int close(int fd)
{
    sync_fn *next;
    bool bad = fails_at(CLOSE, fd, NULL);
    int code = errno;
    *(void **)&next = dlsym(RTLD_NEXT, "close");
    int rc = next(fd);
    if (!bad) return rc;
    errno = code;
    return -1;
}

EXPORT int unlink(const char *path)
{
    unlink_fn *next;
    if (fails(UNLINK, path, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "unlink");
    return next(path);
}

EXPORT int rename(const char *from, const char *to)
{
    rename_fn *next;
    if (fails(RENAME, from, NULL)) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "rename");
    return next(from, to);
}
