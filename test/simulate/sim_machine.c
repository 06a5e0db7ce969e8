/* What MPI-IO is made of, in benchmarks/scale/machine_mpi.c: the same files as by
 * descriptors. */
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

/* ROMIO locks what it transfers on NFS, so that the node asks for it or sends it. */
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

/* The library makes no such calls. */
MPI_Request task_new(struct store_file *f, int64_t offset, void *bytes, int64_t n,
                     bool writing)
{
    (void)f, (void)offset, (void)bytes, (void)n, (void)writing;
    machine_fail("not simulated", "MPI_File_iwrite_at");
}
