/* The copy to the staged file is made behind the read: a device of the node that stands
 * still keeps no reader waiting, nor sends one to the dataset's file twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "stage_ints.h"

enum { BLOCK = 4096, BLOCKS = 40, PART = 10, PER_BLOCK = BLOCK / 4 };

/* ---- the device and the dataset's file, as the library finds them ---- */

static _Atomic int closed, copies, source_reads;

static int has_name(int fd, const char *part)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = '\0';
    return strstr(path, part) != NULL;
}

#define NEXT(name)                                                                       \
    static _Atomic(void *) found;                                                        \
    if (found == NULL) found = dlsym(RTLD_NEXT, #name);                                  \
    void *known = found;                                                                 \
    __typeof__(&name) next;                                                              \
    memcpy(&next, &known, sizeof next)

static void pass_gate(int fd)
{
    if (!has_name(fd, "ncmpi-stage")) return;
    atomic_fetch_add(&copies, 1);
    while (closed)
        usleep(1000);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    NEXT(pwrite);
    pass_gate(fd);
    return next(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    NEXT(pwrite64);
    pass_gate(fd);
    return next(fd, bytes, n, at);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    NEXT(pread);
    if (n == BLOCK && has_name(fd, "a.nc")) atomic_fetch_add(&source_reads, 1);
    return next(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    NEXT(pread64);
    if (n == BLOCK && has_name(fd, "a.nc")) atomic_fetch_add(&source_reads, 1);
    return next(fd, bytes, n, at);
}

/* ---- the dataset: one variable, whose values begin where a block does ---- */

static int open_staged(const char *more)
{
    static int values[BLOCKS * PER_BLOCK];
    char text[512];
    int ncid;
    for (int i = 0; i < BLOCKS * PER_BLOCK; i++)
        values[i] = i;
    write_ints(values, BLOCKS * PER_BLOCK, "nc_var_align_size=4096");
    snprintf(text, sizeof text,
             "nc_stage=enable;nc_stage_block_size=%d;nc_stage_ahead=disable;%s", BLOCK,
             more);
    MPI_Info info = check_info(text);
    MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    copies = source_reads = 0;
    return ncid;
}

static void get_blocks(int ncid, int first, int n)
{
    static int values[BLOCKS * PER_BLOCK];
    const MPI_Offset start = first * PER_BLOCK, count = n * PER_BLOCK;
    int wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, &start, &count, values));
    for (int i = 0; i < count; i++)
        wrong += values[i] != start + i;
    CHECK_EQ(0, wrong);
}

/* A device that hangs keeps what it was given from nobody: neither who reads it first,
 * nor who reads it again before it is there. */
static void who_reads_first_waits_for_no_copy(void)
{
    int ncid = open_staged("");
    closed = 1;
    get_blocks(ncid, 0, PART);
    CHECK_EQ(PART, source_reads);
    get_blocks(ncid, PART / 2, 2);
    get_blocks(ncid, 0, PART);
    CHECK_EQ(PART, source_reads);
    CHECK(copies <= 1); /* the one that hangs */
    closed = 0;
    get_blocks(ncid, 0, BLOCKS);
    CHECK_EQ(BLOCKS, source_reads);
    get_blocks(ncid, 0, BLOCKS);
    CHECK_EQ(BLOCKS, source_reads);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_EQ(BLOCKS, copies);
}

static void *open_gate_later(void *arg)
{
    (void)arg;
    usleep(50000);
    closed = 0;
    return NULL;
}

/* ... and where more is on its way than there is memory for, it waits, but reads nothing
 * twice. */
static void memory_for_copies_has_an_end(void)
{
    int ncid = open_staged("");
    pthread_t later;
    closed = 1;
    if (!CHECK_EQ(0, pthread_create(&later, NULL, open_gate_later, NULL))) return;
    get_blocks(ncid, 0, BLOCKS);
    CHECK_EQ(BLOCKS, source_reads);
    pthread_join(later, NULL);
    get_blocks(ncid, 0, BLOCKS);
    CHECK_EQ(BLOCKS, source_reads);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_EQ(BLOCKS, copies);
}

/* What has changed is not got from memory either. */
static void what_is_on_its_way_is_forgotten_too(void)
{
    int ncid = open_staged("");
    closed = 1;
    get_blocks(ncid, 0, 2);
    CHECK_EQ(2, source_reads);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid)); /* the file is too young to be trusted */
    get_blocks(ncid, 0, 2);
    CHECK_EQ(4, source_reads);
    closed = 0;
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* With the largest blocks, while a thread brings them and another copies. */
static void memory_is_bounded(void)
{
    enum { LARGE = 8 << 20, NLARGE = 5, MOST = 32 << 20 };
    if (check.rank > 0) return; /* a file of one process */
    signed char *values = malloc(LARGE);
    int ncid, dim, v, wrong = 0;
    MPI_Offset start, count = LARGE, most;
    MPI_Info info = check_info("nc_stage=enable;nc_stage_block_size=8388608");
    MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    if (!CHECK(values != NULL)) return;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, check_path("large.nc"), check.cmode,
                                    MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", NLARGE * (MPI_Offset)LARGE, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < NLARGE; i++) {
        start = i * (MPI_Offset)LARGE;
        memset(values, i + 1, LARGE);
        CHECK_NC(NC_NOERR, ncmpi_put_vara_schar_all(ncid, v, &start, &count, values));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_SELF, check_path("large.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, NC_GLOBAL, NULL, NULL));
    for (int i = NLARGE - 1; i >= 0; i--) {
        start = i * (MPI_Offset)LARGE;
        CHECK_NC(NC_NOERR, ncmpi_get_vara_schar_all(ncid, v, &start, &count, values));
        wrong += values[0] != i + 1 || values[LARGE - 1] != i + 1;
    }
    CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_max_size(&most));
    CHECK(most > LARGE && most < MOST);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
}

static const struct check_test tests[] = {
    {"who reads first waits for no copy", who_reads_first_waits_for_no_copy, 0},
    {"memory for copies has an end", memory_for_copies_has_an_end, 0},
    {"what is on its way is forgotten, too", what_is_on_its_way_is_forgotten_too, 0},
    {"memory is bounded", memory_is_bounded, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
