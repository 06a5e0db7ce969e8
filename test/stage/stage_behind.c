/* Tests that a background thread copies blocks to the staged file after they have been
 * read from the dataset's file. A device that hangs must not delay readers, or cause a
 * block to be read twice from the dataset's file. The memory for blocks that wait to be
 * copied must stay bounded. The test interposes pwrite and pread: while `closed` is set,
 * writes to the staged file hang. */
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

/* ---- interposed calls on the staged file and on the dataset's file ---- */

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

/* ---- the dataset: one variable, aligned to block boundaries ---- */

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

/* A device that hangs must not delay the first reader of a block, or a second one that
 * requests the block before it is stored. */
static void readers_do_not_wait_for_a_stage_on_a_hung_device(void)
{
    int ncid = open_staged("");
    closed = 1;
    get_blocks(ncid, 0, PART);
    CHECK_EQ(PART, source_reads);
    get_blocks(ncid, PART / 2, 2);
    get_blocks(ncid, 0, PART);
    CHECK_EQ(PART, source_reads);
    CHECK(copies <= 1); /* at most the copy that is hanging */
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

/* If more blocks wait to be stored than memory allows, a reader must wait, but must not
 * read a block twice. */
static void memory_for_blocks_that_wait_to_be_stored_is_limited(void)
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

/* If the file changes, blocks that are still in memory, waiting to be stored, must not be
 * used. */
static void a_change_invalidates_blocks_that_wait_to_be_stored(void)
{
    int ncid = open_staged("");
    closed = 1;
    get_blocks(ncid, 0, 2);
    CHECK_EQ(2, source_reads);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid)); /* the file is too new to be trusted */
    get_blocks(ncid, 0, 2);
    CHECK_EQ(4, source_reads);
    closed = 0;
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Even with the largest blocks, memory must stay bounded while one thread prefetches and
 * another copies. */
static void memory_is_limited_while_threads_prefetch_and_copy(void)
{
    enum { LARGE = 8 << 20, NLARGE = 5, MOST = 32 << 20 };
    if (check.rank > 0) return; /* one process suffices */
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
    {"readers do not wait for a stage on a hung device",
     readers_do_not_wait_for_a_stage_on_a_hung_device, 0},
    {"memory for blocks that wait to be stored is limited",
     memory_for_blocks_that_wait_to_be_stored_is_limited, 0},
    {"a change invalidates blocks that wait to be stored",
     a_change_invalidates_blocks_that_wait_to_be_stored, 0},
    {"memory is limited while threads prefetch and copy",
     memory_is_limited_while_threads_prefetch_and_copy, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
