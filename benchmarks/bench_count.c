/* A library for LD_PRELOAD that counts a program's MPI calls and system calls, so that
 * two builds can be compared on any machine. It does not count accesses to memory-mapped
 * files. */
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
static _Atomic bool watched[FDS]; /* whether this is a benchmark file */

void bench_count_read(uint64_t counts[BENCH_COUNTS])
{
    for (int i = 0; i < BENCH_COUNTS; i++)
        counts[i] = counters[i];
}

/* MPI: each wrapper counts its call and then calls the profiling interface. WRAP takes
 * the parameter types, and the macro for that number of parameters names the
 * parameters. */
#define WRAP(n, what, name, ...)                                                         \
    int MPI_##name(PARAMS##n(__VA_ARGS__))                                               \
    {                                                                                    \
        counters[BENCH_COUNT_##what]++;                                                  \
        return PMPI_##name(ARGS##n);                                                     \
    }
#define ARGS1                              a
#define ARGS2                              ARGS1, b
#define ARGS3                              ARGS2, c
#define ARGS4                              ARGS3, d
#define ARGS5                              ARGS4, e
#define ARGS6                              ARGS5, f
#define ARGS7                              ARGS6, g
#define ARGS8                              ARGS7, h
#define ARGS9                              ARGS8, i
#define ARGS12                             ARGS9, j, k, l
#define PARAMS1(A)                         A a
#define PARAMS2(A, B)                      A a, B b
#define PARAMS3(A, B, C)                   PARAMS2(A, B), C c
#define PARAMS4(A, B, C, D)                PARAMS3(A, B, C), D d
#define PARAMS5(A, B, C, D, E)             PARAMS4(A, B, C, D), E e
#define PARAMS6(A, B, C, D, E, F)          PARAMS5(A, B, C, D, E), F f
#define PARAMS7(A, B, C, D, E, F, G)       PARAMS6(A, B, C, D, E, F), G g
#define PARAMS8(A, B, C, D, E, F, G, H)    PARAMS7(A, B, C, D, E, F, G), H h
#define PARAMS9(A, B, C, D, E, F, G, H, I) PARAMS8(A, B, C, D, E, F, G, H), I i
#define PARAMS12(A, B, C, D, E, F, G, H, I, J, K, L)                                     \
    PARAMS9(A, B, C, D, E, F, G, H, I), J j, K k, L l

typedef const void *from_t;
typedef void *to_t;
typedef const int *ints_t;
typedef MPI_Datatype type_t;
typedef MPI_Comm comm_t;

WRAP(1, collective, Barrier, comm_t)
WRAP(5, collective, Bcast, to_t, int, type_t, int, comm_t)
WRAP(7, collective, Reduce, from_t, to_t, int, type_t, MPI_Op, int, comm_t)
WRAP(6, collective, Allreduce, from_t, to_t, int, type_t, MPI_Op, comm_t)
WRAP(7, collective, Iallreduce, from_t, to_t, int, type_t, MPI_Op, comm_t, MPI_Request *)
WRAP(8, collective, Gather, from_t, int, type_t, to_t, int, type_t, int, comm_t)
WRAP(9, collective, Gatherv, from_t, int, type_t, to_t, ints_t, ints_t, type_t, int,
     comm_t)
WRAP(8, collective, Scatter, from_t, int, type_t, to_t, int, type_t, int, comm_t)
WRAP(7, collective, Allgather, from_t, int, type_t, to_t, int, type_t, comm_t)
WRAP(8, collective, Allgatherv, from_t, int, type_t, to_t, ints_t, ints_t, type_t, comm_t)
WRAP(7, collective, Alltoall, from_t, int, type_t, to_t, int, type_t, comm_t)
WRAP(9, collective, Alltoallv, from_t, ints_t, ints_t, type_t, to_t, ints_t, ints_t,
     type_t, comm_t)
WRAP(6, collective, Scan, from_t, to_t, int, type_t, MPI_Op, comm_t)
WRAP(6, collective, Exscan, from_t, to_t, int, type_t, MPI_Op, comm_t)
WRAP(2, collective, Comm_dup, comm_t, comm_t *)
WRAP(4, collective, Comm_split, comm_t, int, int, comm_t *)
WRAP(5, collective, Comm_split_type, comm_t, int, int, MPI_Info, comm_t *)
WRAP(2, collective, Win_fence, int, MPI_Win)
WRAP(6, collective, Win_allocate_shared, MPI_Aint, int, MPI_Info, comm_t, to_t, MPI_Win *)
WRAP(1, collective, Win_free, MPI_Win *)

WRAP(6, point_to_point, Send, from_t, int, type_t, int, int, comm_t)
WRAP(7, point_to_point, Isend, from_t, int, type_t, int, int, comm_t, MPI_Request *)
WRAP(7, point_to_point, Issend, from_t, int, type_t, int, int, comm_t, MPI_Request *)
WRAP(12, point_to_point, Sendrecv, from_t, int, type_t, int, int, to_t, int, type_t, int,
     int, comm_t, MPI_Status *)

WRAP(5, file_other, File_open, comm_t, const char *, int, MPI_Info, MPI_File *)
WRAP(1, file_other, File_close, MPI_File *)
WRAP(1, file_other, File_sync, MPI_File)
WRAP(2, file_other, File_set_size, MPI_File, MPI_Offset)
WRAP(2, file_other, File_get_size, MPI_File, MPI_Offset *)
WRAP(3, file_other, File_seek, MPI_File, MPI_Offset, int)
WRAP(2, file_other, File_preallocate, MPI_File, MPI_Offset)
WRAP(6, file_view, File_set_view, MPI_File, MPI_Offset, type_t, type_t, const char *,
     MPI_Info)
WRAP(5, file_collective, File_write_all, MPI_File, from_t, int, type_t, MPI_Status *)
WRAP(5, file_collective, File_read_all, MPI_File, to_t, int, type_t, MPI_Status *)
WRAP(6, file_collective, File_write_at_all, MPI_File, MPI_Offset, from_t, int, type_t,
     MPI_Status *)
WRAP(6, file_collective, File_read_at_all, MPI_File, MPI_Offset, to_t, int, type_t,
     MPI_Status *)
WRAP(5, file_independent, File_write, MPI_File, from_t, int, type_t, MPI_Status *)
WRAP(5, file_independent, File_read, MPI_File, to_t, int, type_t, MPI_Status *)
WRAP(6, file_independent, File_write_at, MPI_File, MPI_Offset, from_t, int, type_t,
     MPI_Status *)
WRAP(6, file_independent, File_read_at, MPI_File, MPI_Offset, to_t, int, type_t,
     MPI_Status *)

/* System calls: looks up the C library's function. */
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

/* Aliases for programs built with large-file support. They are the same functions if
 * off_t has 64 bits. */
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
