/* Preloaded, counts what a program asks of MPI and of the system, so that two builds
 * can be compared on any machine. Files mapped into memory escape it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bench_count.h"

#pragma GCC visibility push(default)

enum { FDS = 4096 };

static _Atomic uint64_t counters[BENCH_COUNTS];
static _Atomic bool watched[FDS]; /* descriptors of the benchmark's files */

void bench_count_read(uint64_t counts[BENCH_COUNTS])
{
    for (int i = 0; i < BENCH_COUNTS; i++)
        counts[i] = counters[i];
}

/* MPI: each function counts itself and calls the profiling interface's. */
#define WRAP(what, name, params, args)                                                   \
    int MPI_##name params                                                                \
    {                                                                                    \
        counters[BENCH_COUNT_##what]++;                                                  \
        return PMPI_##name args;                                                         \
    }

WRAP(collective, Barrier, (MPI_Comm c), (c))
WRAP(collective, Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c),
     (b, n, t, root, c))
WRAP(collective, Reduce,
     (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
     (s, r, n, t, o, root, c))
WRAP(collective, Allreduce,
     (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     (s, r, n, t, o, c))
WRAP(collective, Iallreduce,
     (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
      MPI_Request *q),
     (s, r, n, t, o, c, q))
WRAP(collective, Gather,
     (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root,
      MPI_Comm c),
     (s, n, t, r, m, u, root, c))
WRAP(collective, Gatherv,
     (const void *s, int n, MPI_Datatype t, void *r, const int m[], const int d[],
      MPI_Datatype u, int root, MPI_Comm c),
     (s, n, t, r, m, d, u, root, c))
WRAP(collective, Scatter,
     (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root,
      MPI_Comm c),
     (s, n, t, r, m, u, root, c))
WRAP(collective, Allgather,
     (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c),
     (s, n, t, r, m, u, c))
WRAP(collective, Allgatherv,
     (const void *s, int n, MPI_Datatype t, void *r, const int m[], const int d[],
      MPI_Datatype u, MPI_Comm c),
     (s, n, t, r, m, d, u, c))
WRAP(collective, Alltoall,
     (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c),
     (s, n, t, r, m, u, c))
WRAP(collective, Alltoallv,
     (const void *s, const int n[], const int e[], MPI_Datatype t, void *r, const int m[],
      const int d[], MPI_Datatype u, MPI_Comm c),
     (s, n, e, t, r, m, d, u, c))
WRAP(collective, Scan,
     (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     (s, r, n, t, o, c))
WRAP(collective, Exscan,
     (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     (s, r, n, t, o, c))
WRAP(collective, Comm_dup, (MPI_Comm c, MPI_Comm *d), (c, d))
WRAP(collective, Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *d),
     (c, color, key, d))
WRAP(collective, Comm_split_type,
     (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *d), (c, type, key, i, d))
WRAP(collective, Win_fence, (int assert, MPI_Win w), (assert, w))
WRAP(collective, Win_allocate_shared,
     (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w),
     (n, unit, i, c, b, w))
WRAP(collective, Win_free, (MPI_Win * w), (w))

WRAP(point_to_point, Send,
     (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
     (b, n, t, to, tag, c))
WRAP(point_to_point, Isend,
     (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q),
     (b, n, t, to, tag, c, q))
WRAP(point_to_point, Issend,
     (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q),
     (b, n, t, to, tag, c, q))
WRAP(point_to_point, Sendrecv,
     (const void *b, int n, MPI_Datatype t, int to, int tag, void *r, int m,
      MPI_Datatype u, int from, int rtag, MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, r, m, u, from, rtag, c, s))

WRAP(file_other, File_open,
     (MPI_Comm c, const char *path, int mode, MPI_Info i, MPI_File *f),
     (c, path, mode, i, f))
WRAP(file_other, File_close, (MPI_File * f), (f))
WRAP(file_other, File_sync, (MPI_File f), (f))
WRAP(file_other, File_set_size, (MPI_File f, MPI_Offset n), (f, n))
WRAP(file_other, File_get_size, (MPI_File f, MPI_Offset *n), (f, n))
WRAP(file_other, File_seek, (MPI_File f, MPI_Offset n, int w), (f, n, w))
WRAP(file_other, File_preallocate, (MPI_File f, MPI_Offset n), (f, n))
WRAP(file_view, File_set_view,
     (MPI_File f, MPI_Offset at, MPI_Datatype e, MPI_Datatype t, const char *rep,
      MPI_Info i),
     (f, at, e, t, rep, i))

/* The reading and writing ones come in two shapes. */
#define WRAP_HERE(what, name, buf)                                                       \
    WRAP(what, File_##name, (MPI_File f, buf b, int n, MPI_Datatype t, MPI_Status *s),   \
         (f, b, n, t, s))
#define WRAP_AT(what, name, buf)                                                         \
    WRAP(what, File_##name,                                                              \
         (MPI_File f, MPI_Offset at, buf b, int n, MPI_Datatype t, MPI_Status *s),       \
         (f, at, b, n, t, s))

typedef const void *from_t;
typedef void *to_t;
WRAP_HERE(file_collective, write_all, from_t)
WRAP_HERE(file_collective, read_all, to_t)
WRAP_AT(file_collective, write_at_all, from_t)
WRAP_AT(file_collective, read_at_all, to_t)
WRAP_HERE(file_independent, write, from_t)
WRAP_HERE(file_independent, read, to_t)
WRAP_AT(file_independent, write_at, from_t)
WRAP_AT(file_independent, read_at, to_t)

/* System calls: the C library's function behind ours. */
#define NEXT(fn, name)                                                                   \
    static __typeof__(&name) fn;                                                         \
    if (fn == NULL) *(void **)&fn = dlsym(RTLD_NEXT, #name)

static bool is_watched(int fd)
{
    return fd >= 0 && fd < FDS && watched[fd];
}

static int watch(int fd, const char *path)
{
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    if (fd >= 0 && fd < FDS) watched[fd] = strncmp(name, "bench-", 6) == 0;
    return fd;
}

static void tick(int fd, enum bench_count call, enum bench_count bytes, ssize_t moved)
{
    if (!is_watched(fd)) return;
    counters[call]++;
    if (moved > 0) counters[bytes] += (uint64_t)moved;
}

int open(const char *path, int flags, ...)
{
    NEXT(next, open);
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return watch(next(path, flags, mode), path);
}

int openat(int dir, const char *path, int flags, ...)
{
    NEXT(next, openat);
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return watch(next(dir, path, flags, mode), path);
}

int close(int fd)
{
    NEXT(next, close);
    if (fd >= 0 && fd < FDS) watched[fd] = false;
    return next(fd);
}

#define WRAP_MOVE(type, name, what, moved, params, args)                                 \
    type name params                                                                     \
    {                                                                                    \
        NEXT(next, name);                                                                \
        type done = next args;                                                           \
        tick(fd, BENCH_COUNT_##what, BENCH_COUNT_##moved, done);                         \
        return done;                                                                     \
    }

WRAP_MOVE(ssize_t, write, write, bytes_written, (int fd, const void *b, size_t n),
          (fd, b, n))
WRAP_MOVE(ssize_t, read, read, bytes_read, (int fd, void *b, size_t n), (fd, b, n))
WRAP_MOVE(ssize_t, writev, write, bytes_written, (int fd, const struct iovec *v, int n),
          (fd, v, n))
WRAP_MOVE(ssize_t, readv, read, bytes_read, (int fd, const struct iovec *v, int n),
          (fd, v, n))
WRAP_MOVE(ssize_t, pwrite, write, bytes_written,
          (int fd, const void *b, size_t n, off_t at), (fd, b, n, at))
WRAP_MOVE(ssize_t, pread, read, bytes_read, (int fd, void *b, size_t n, off_t at),
          (fd, b, n, at))
WRAP_MOVE(ssize_t, pwritev, write, bytes_written,
          (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))
WRAP_MOVE(ssize_t, preadv, read, bytes_read,
          (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at))

off_t lseek(int fd, off_t at, int whence)
{
    NEXT(next, lseek);
    if (is_watched(fd)) counters[BENCH_COUNT_seek]++;
    return next(fd, at, whence);
}

int fsync(int fd)
{
    NEXT(next, fsync);
    if (is_watched(fd)) counters[BENCH_COUNT_sync]++;
    return next(fd);
}

int fdatasync(int fd)
{
    NEXT(next, fdatasync);
    if (is_watched(fd)) counters[BENCH_COUNT_sync]++;
    return next(fd);
}

/* The names that programs built for large files call; the same where off_t is wide. */
#define SAME_AS(name) __attribute__((alias(#name)))
_Static_assert(sizeof(off_t) == 8, "off_t must be 64 bits wide");
SAME_AS(open) int open64(const char *path, int flags, ...);
SAME_AS(openat) int openat64(int dir, const char *path, int flags, ...);
SAME_AS(pwrite) ssize_t pwrite64(int fd, const void *b, size_t n, off_t at);
SAME_AS(pread) ssize_t pread64(int fd, void *b, size_t n, off_t at);
SAME_AS(pwritev) ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t at);
SAME_AS(preadv) ssize_t preadv64(int fd, const struct iovec *v, int n, off_t at);
SAME_AS(lseek) off_t lseek64(int fd, off_t at, int whence);

#pragma GCC visibility pop
