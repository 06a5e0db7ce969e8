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

void machine_settle(void)
{
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
    while (done < n) {
        ssize_t moved = __wrap_pwrite(f->fd, (const char *)bytes + done,
                                      (size_t)(n - done), offset + done);
        if (moved < 0) return -1;
        done += moved;
    }
    return done;
}

int64_t store_read(struct store_file *f, int64_t offset, void *bytes, int64_t n)
{
    return __wrap_pread(f->fd, bytes, (size_t)n, offset);
}

/* The library makes no such calls. */
MPI_Request task_new(struct store_file *f, int64_t offset, void *bytes, int64_t n,
                     bool writing)
{
    (void)f, (void)offset, (void)bytes, (void)n, (void)writing;
    machine_fail("not simulated", "MPI_File_iwrite_at");
}
