/* File types made of regions: MPI-IO through them writes where the region says. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "pnetcdf_constants.h"
#include "region_mpi.h"

/* Writes the region's bytes, in the region's order, run after run with pwrite. */
static void write_runs(const char *path, const struct region *r,
                       const unsigned char *bytes)
{
    int fd = open(path, O_WRONLY);
    struct region_cursor *c = region_cursor_new(r);
    struct region_strip s;
    CHECK(fd >= 0);
    while (region_next(c, INT64_MAX, INT64_MAX, &s))
        for (int64_t i = 0; i < s.count; i++, bytes += s.length)
            CHECK_EQ(s.length,
                     pwrite(fd, bytes, (size_t)s.length, s.offset + i * s.stride));
    region_cursor_free(c);
    CHECK_EQ(0, close(fd));
}

/* Writes the next part through a view, all processes together. */
static int64_t write_part(MPI_File f, struct region_cursor *c, const unsigned char *bytes,
                          int64_t max_bytes, int64_t max_runs)
{
    MPI_Datatype type;
    MPI_Status status;
    MPI_Count size;
    int64_t n;
    CHECK_NC(NC_NOERR, region_next_filetype(c, max_bytes, max_runs, &type, &n));
    CHECK_EQ(MPI_SUCCESS, MPI_Type_size_x(type, &size));
    CHECK_EQ(n > 0 ? n : 1, size);
    CHECK_EQ(MPI_SUCCESS,
             MPI_File_set_view(f, 0, MPI_BYTE, type, "native", MPI_INFO_NULL));
    CHECK_EQ(MPI_SUCCESS, MPI_File_write_all(f, bytes, (int)n, MPI_BYTE, &status));
    if (type != MPI_BYTE) CHECK_EQ(MPI_SUCCESS, MPI_Type_free(&type));
    return n;
}

static void write_views(const char *path, const struct region *r,
                        const unsigned char *bytes, int64_t max_bytes, int64_t max_runs)
{
    MPI_File f;
    int64_t done = 0;
    int more = 1;
    CHECK_EQ(MPI_SUCCESS,
             MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    struct region_cursor *c = region_cursor_new(r);
    while (more) {
        done += write_part(f, c, bytes + done, max_bytes, max_runs);
        more = done < region_bytes(r);
        MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK_EQ(region_bytes(r), done);
    region_cursor_free(c);
    CHECK_EQ(MPI_SUCCESS, MPI_File_close(&f));
}

/* What is between the runs must stay as it was. (In a new file it may be anything: MPI
 * writes blocks, holes and all.) */
static void prepare_files(const char *views, const char *runs)
{
    unsigned char before[2500];
    for (size_t i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)check_random(256);
    if (check.rank == 0) {
        check_write_file(views, before, sizeof before);
        check_write_file(runs, before, sizeof before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Both ways, with limits on a part, into two files that must be the same. */
static void check_written_alike(const struct region *r, int64_t max_bytes,
                                int64_t max_runs)
{
    const char *views = check_path("views"), *runs = check_path("runs");
    if (!CHECK(r != NULL)) return;
    size_t n = (size_t)region_bytes(r);
    unsigned char *bytes = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)check_random_own(256);
    prepare_files(views, runs);
    write_views(views, r, bytes, max_bytes, max_runs);
    write_runs(runs, r, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK(check_same_files(runs, views));
    MPI_Barrier(MPI_COMM_WORLD);
    free(bytes);
}

/* Process p of n takes each n-th element, or row, of the last or first dimension. */
static struct region *my_share(int64_t offset, int64_t size, bool rows)
{
    int64_t shape[] = {4, 5, 6}, start[] = {0, 0, 0}, stride[] = {1, 1, 1};
    int64_t count[] = {1 + (int64_t)check_random(4), 1 + (int64_t)check_random(5), 6};
    int k = rows ? 1 : 2;
    start[k] = check.rank;
    stride[k] = check.nprocs;
    count[k] = (shape[k] - start[k] + stride[k] - 1) / stride[k];
    return region_slab(offset, 3, shape, start, count, stride, size, 0);
}

static void interleaved_slabs_are_written_in_place(void)
{
    for (int i = 0; i < 8; i++) {
        struct region *r = my_share(100, 1 << check_random(4), i % 2);
        bool cut = check_random(2);
        check_written_alike(r, cut ? 1 + (int64_t)check_random(90) : INT64_MAX,
                            cut ? 1 + (int64_t)check_random(9) : INT64_MAX);
        region_free(r);
    }
}

/* Slabs of several variables in one view: through hindexed over subarrays, MPICH up to
 * 4.0.3 writes such to wrong places and says nothing. */
static void slabs_of_several_variables_are_written_in_place(void)
{
    for (int i = 0; i < 4; i++) {
        const int64_t displ[] = {8, 8 + 1 * 500, 8 + 2 * 500, 8 + 3 * 500};
        struct region *kids[4];
        for (int v = 0; v < 4; v++)
            kids[v] = my_share(0, 4, v % 2);
        struct region *r = region_list(4, displ, kids);
        check_written_alike(r, INT64_MAX, INT64_MAX);
        region_free(r);
    }
}

static void processes_without_data_take_part(void)
{
    struct region *r =
        check.rank == check.nprocs - 1 ? my_share(0, 2, false) : region_block(0, 0);
    check_written_alike(r, 7, INT64_MAX);
    region_free(r);
}

/* The joined runs of a file type, as MPI tells them. */
static int count_blocks(MPI_Datatype type)
{
    int ints, addresses, types, combiner;
    CHECK_EQ(MPI_SUCCESS,
             MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner));
    CHECK_EQ(MPI_COMBINER_HINDEXED, combiner);
    return addresses;
}

static void check_blocks(struct region *r, int64_t bytes, int blocks)
{
    MPI_Datatype type;
    MPI_Count size;
    int64_t n;
    struct region_cursor *c = region_cursor_new(r);
    CHECK_NC(NC_NOERR, region_next_filetype(c, INT64_MAX, INT64_MAX, &type, &n));
    CHECK_EQ(bytes, n);
    CHECK_EQ(MPI_SUCCESS, MPI_Type_size_x(type, &size));
    CHECK_EQ(bytes, size);
    CHECK_EQ(blocks, count_blocks(type));
    MPI_Type_free(&type);
    CHECK_NC(NC_NOERR, region_next_filetype(c, INT64_MAX, INT64_MAX, &type, &n));
    CHECK(type == MPI_BYTE);
    CHECK_EQ(0, n);
    region_cursor_free(c);
    region_free(r);
}

static void adjacent_runs_are_joined(void)
{
    const int64_t displ[] = {0, 24, 30}, count = 3, stride = 8;
    struct region *kids[] = {region_loops(0, 1, &count, &stride, 4), region_block(0, 6),
                             region_loops(0, 1, &count, &stride, 2)};
    check_blocks(region_list(3, displ, kids), 24, 6);
    struct region *rows[] = {region_loops(0, 1, &count, &stride, 4),
                             region_loops(-4, 1, &count, &stride, 4)};
    check_blocks(region_list(2, displ, rows), 24, 5);
}

static void long_runs_are_split(void)
{
    const int64_t length = (int64_t)5 << 30;
    check_blocks(region_block(3, length), length, 5);
    check_blocks(region_block(3, length + 1), length + 1, 6);
}

static const struct check_test tests[] = {
    {"interleaved slabs are written in place", interleaved_slabs_are_written_in_place, 0},
    {"slabs of several variables are written in place",
     slabs_of_several_variables_are_written_in_place, 0},
    {"processes without data take part", processes_without_data_take_part, 0},
    {"adjacent runs are joined", adjacent_runs_are_joined, 0},
    {"long runs are split", long_runs_are_split, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
