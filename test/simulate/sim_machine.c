/* Implements the functions that the MPI-IO layer in benchmarks/scale (machine_mpi.c)
 * calls. These functions make simulated system calls, so MPI-IO and descriptors access
 * the same files. Also adds file views and collective transfers, in which each process
 * transfers its own bytes, as ROMIO does without collective buffering. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine_impl.h"
#include "machine_mpi.h"
#include "sim.h"
#include "sim_wrapped.h"

struct machine_counts machine_count;

struct store_file {
    int fd;
};

/* Locks a range if the mount is NFS, as ROMIO does. The lock makes the node revalidate
 * its cache, and the unlock makes it flush. */
static void lock(const struct store_file *f, int type, int64_t at, int64_t n)
{
    struct flock l = {.l_type = (short)type, .l_start = at, .l_len = n};
    if (sim_the_plan()->mount != SIM_NFS) return;
    while (__wrap_fcntl(f->fd, F_SETLKW, &l) != 0 && errno == EINTR)
        continue;
}

const struct machine *machine_get(void)
{
    static struct machine m;
    m.stripe = SIM_PAGE;
    return &m;
}

int machine_file_servers(void)
{
    return 1;
}

int store_sync(struct store_file *f)
{
    return __wrap_fsync(f->fd);
}

void machine_fail(const char *what, const char *which)
{
    sim_fail(SIM_BROKEN, "%s: %s", what, which);
}

struct store_file *store_open(const char *path, int flags)
{
    int fd = __wrap_open(path, flags, 0666);
    struct store_file *f = fd >= 0 ? malloc(sizeof *f) : NULL;
    if (f != NULL) f->fd = fd;
    return f;
}

void store_close(struct store_file *f)
{
    (void)__wrap_close(f->fd);
    free(f);
}

int store_delete(const char *path)
{
    return __wrap_unlink(path);
}

int64_t store_size(struct store_file *f)
{
    struct stat st;
    return __wrap_fstat(f->fd, &st) == 0 ? (int64_t)st.st_size : -1;
}

int store_resize(struct store_file *f, int64_t size)
{
    return __wrap_ftruncate(f->fd, size);
}

int64_t store_write(struct store_file *f, int64_t offset, const void *bytes, int64_t n)
{
    int64_t done = 0;
    ssize_t moved = 0;
    lock(f, F_WRLCK, offset, n);
    while (done < n && moved >= 0) {
        moved = __wrap_pwrite(f->fd, (const char *)bytes + done, (size_t)(n - done),
                              offset + done);
        done += moved > 0 ? moved : 0;
    }
    int error = errno;
    lock(f, F_UNLCK, offset, n);
    errno = error;
    return moved < 0 ? -1 : done;
}

int64_t store_read(struct store_file *f, int64_t offset, void *bytes, int64_t n)
{
    lock(f, F_RDLCK, offset, n);
    int64_t done = __wrap_pread(f->fd, bytes, (size_t)n, offset);
    int error = errno;
    lock(f, F_UNLCK, offset, n);
    errno = error;
    return done;
}

/* Returns the store_file to which the first member of an MPI_File points. */
static struct store_file *file_of(MPI_File f)
{
    return *(struct store_file **)f;
}

/* ---- file views ---- */

/* The view of a file handle. The list of visible byte offsets, relative to `at`, repeats
 * every `extent` bytes. */
struct view {
    MPI_File file;
    int64_t at, n, extent;
    uint32_t *places; /* NULL if all bytes are visible */
    struct view *next;
};
static struct view *views;

static struct view *view_of(MPI_File f)
{
    struct view *v = views;
    while (v != NULL && v->file != f)
        v = v->next;
    if (v != NULL) return v;
    v = sim_room(sizeof *v);
    *v = (struct view){.file = f, .next = views};
    return views = v;
}

/* Finds the offset of each byte that the type selects. To do so, packs buffers in which
 * each byte contains eight bits of its own offset. */
static void find_places(struct view *v, MPI_Datatype type)
{
    int n = 0;
    MPI_Aint low = 0, extent = 0, real = 0;
    MPI_Type_size(type, &n);
    MPI_Type_get_extent(type, &low, &extent);
    MPI_Type_get_true_extent(type, &low, &real);
    const int64_t all = low + real > extent ? low + real : extent;
    unsigned char *digits = sim_room((size_t)all), *packed = sim_room((size_t)n);
    v->n = n;
    v->extent = extent;
    v->places = sim_room((size_t)n * sizeof *v->places);
    for (int digit = 0; digit < 32; digit += 8) {
        int at = 0;
        for (int64_t i = 0; i < all; i++)
            digits[i] = (unsigned char)(i >> digit);
        MPI_Pack(digits, 1, type, packed, n, &at, MPI_COMM_SELF);
        for (int i = 0; i < n; i++)
            v->places[i] |= (uint32_t)packed[i] << digit;
    }
    free(packed);
    free(digits);
}

int __wrap_MPI_File_set_view(MPI_File f, MPI_Offset at, MPI_Datatype etype,
                             MPI_Datatype type, const char *how, MPI_Info info)
{
    struct view *v = view_of(f);
    (void)etype, (void)how, (void)info;
    free(v->places);
    v->places = NULL;
    v->at = at;
    if (type != MPI_BYTE) find_places(v, type);
    return MPI_SUCCESS;
}

static int64_t place_of(const struct view *v, int64_t i)
{
    return v->places == NULL ? v->at + i
                             : v->at + i / v->n * v->extent + v->places[i % v->n];
}

/* Transfers `n` bytes of the view in contiguous runs. Returns the number of bytes, or -1
 * and sets errno. */
static int64_t move(MPI_File f, bool writes, int64_t from, char *bytes, int64_t n)
{
    const struct view *v = view_of(f);
    struct store_file *file = file_of(f);
    for (int64_t i = 0, run; i < n; i += run) {
        const int64_t at = place_of(v, from + i);
        for (run = 1; i + run < n && place_of(v, from + i + run) == at + run;)
            run++;
        int64_t done = writes ? store_write(file, at, bytes + i, run)
                              : store_read(file, at, bytes + i, run);
        if (done < 0) return -1;
        if (done < run) return i + done; /* end of file */
    }
    return n;
}

int __wrap_MPI_File_read_at_all(MPI_File f, MPI_Offset at, void *buf, int count,
                                MPI_Datatype type, MPI_Status *status)
{
    int n = 0, from = 0;
    MPI_Type_size(type, &n);
    n *= count; /* in SimGrid, MPI_Pack_size would include gaps */
    char *bytes = sim_room((size_t)n);
    int64_t done = move(f, false, at, bytes, n);
    if (done > 0) MPI_Unpack(bytes, n, &from, buf, count, type, MPI_COMM_SELF);
    free(bytes);
    return machine_mpi_moved(done, status);
}

int __wrap_MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *buf, int count,
                                 MPI_Datatype type, MPI_Status *status)
{
    int n = 0, to = 0;
    MPI_Type_size(type, &n);
    n *= count; /* in SimGrid, MPI_Pack_size would include gaps */
    char *bytes = sim_room((size_t)n);
    if (n > 0) MPI_Pack(buf, count, type, bytes, n, &to, MPI_COMM_SELF);
    int64_t done = move(f, true, at, bytes, n);
    free(bytes);
    return machine_mpi_moved(done, status);
}

/* Stub for nonblocking MPI-IO, which the library does not use. */
MPI_Request task_new(struct store_file *f, int64_t offset, void *bytes, int64_t n,
                     bool writing)
{
    (void)f, (void)offset, (void)bytes, (void)n, (void)writing;
    machine_fail("not simulated", "MPI_File_iwrite_at");
}
