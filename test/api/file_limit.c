/* Tests a program whose limit on file sizes (`ulimit -f`) is only slightly larger than
 * its dataset. The library's auxiliary files and shared memory must not cause SIGXFSZ to
 * kill it. If auxiliary files cannot be created, the library must work without them, and
 * all values must reach the dataset. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "made_dataset.h"

enum { ROWS = 211, COLUMNS = 7 }; /* elements per process */

/* Size limit: larger than the dataset or a subfile, but smaller than the space that a log
 * preallocates. */
enum { LIMIT = 1 << 19 };

static int *values;
static struct rlimit before;

static void limit_files(rlim_t bytes)
{
    struct rlimit few = before;
    few.rlim_cur = bytes;
    CHECK_EQ(0, setrlimit(RLIMIT_FSIZE, &few));
}

static void draw_values(void)
{
    free(values);
    values = calloc((size_t)ROWS * COLUMNS * (size_t)check.nprocs, sizeof *values);
    if (!CHECK(values != NULL)) return;
    for (int i = 0; i < ROWS * COLUMNS * check.nprocs; i++)
        values[i] = (int)check_random(1 << 30);
}

static int value_at(int row, int column)
{
    return values[row * COLUMNS * check.nprocs + column];
}

/* Puts this process's columns. The columns are distributed cyclically, so the processes
 * access short pieces and exchange them before writing. */
static void put_values(int ncid, int v)
{
    int own[ROWS * COLUMNS], n = 0;
    const MPI_Offset start[2] = {0, check.rank}, count[2] = {ROWS, COLUMNS},
                     stride[2] = {1, check.nprocs};
    for (int y = 0; y < ROWS; y++)
        for (int x = check.rank; x < COLUMNS * check.nprocs; x += check.nprocs)
            own[n++] = value_at(y, x);
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, start, count, stride, own));
}

static void put_column_alone(int ncid, int v)
{
    int own[ROWS];
    const MPI_Offset start[2] = {0, check.rank}, count[2] = {ROWS, 1};
    for (int y = 0; y < ROWS; y++)
        own[y] = value_at(y, check.rank);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, start, count, own));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}

static void write_dataset(const char *hints)
{
    int ncid, dims[2], v[2];
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    dims[0] = new_dim(ncid, "y", ROWS);
    dims[1] = new_dim(ncid, "x", COLUMNS * check.nprocs);
    v[0] = new_var(ncid, "v", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_values(ncid, v[0]);
    put_column_alone(ncid, v[0]);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid)); /* enddef will move the data */
    v[1] = new_var(ncid, "w", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_values(ncid, v[1]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void read_dataset(const char *hints)
{
    int ncid, own[ROWS * COLUMNS], wrong = 0;
    const MPI_Offset start[2] = {0, COLUMNS * (check.nprocs - 1 - check.rank)},
                     count[2] = {ROWS, COLUMNS};
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    for (int v = 0; v < 2; v++) {
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, start, count, own));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            wrong += own[i] != value_at(i / COLUMNS, (int)start[1] + i % COLUMNS);
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void with(const char *hints)
{
    char all[1500];
    snprintf(all, sizeof all, "%s%s", hints,
             strstr(hints, "dirname=") ? check_path("") : "");
    draw_values();
    CHECK_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
    limit_files(LIMIT);
    write_dataset(all);
    read_dataset(all);
    limit_files(before.rlim_cur);
    read_dataset("");
}

static void a_file_size_limit_is_respected(void)
{
    with("");
}

static void a_file_size_limit_is_respected_with_shared_memory(void)
{
    with("nc_transfer=node");
}

static void log_of_each_process(void)
{
    with("nc_burst_buf=enable;nc_burst_buf_dirname=");
}

static void log_of_all(void)
{
    with("nc_burst_buf=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_dirname=");
}

static void a_file_size_limit_is_respected_with_subfiles(void)
{
    with("nc_blob=enable");
}

static void a_file_size_limit_is_respected_with_staging(void)
{
    with("nc_stage=enable;nc_stage_dirname=");
}

static void a_file_size_limit_is_respected_with_a_trace(void)
{
    char hints[1200];
    snprintf(hints, sizeof hints, "nc_trace=%s", check_path("trace.json"));
    with(hints);
}

static const struct check_test tests[] = {
    {"a file size limit is respected", a_file_size_limit_is_respected, CHECK_FORMATS},
    {"a file size limit is respected with shared memory",
     a_file_size_limit_is_respected_with_shared_memory, 0},
    {"a file size limit is respected with logs", log_of_each_process, 0},
    {"a file size limit is respected with a shared log", log_of_all, 0},
    {"a file size limit is respected with subfiles",
     a_file_size_limit_is_respected_with_subfiles, 0},
    {"a file size limit is respected with staging",
     a_file_size_limit_is_respected_with_staging, 0},
    {"a file size limit is respected with a trace",
     a_file_size_limit_is_respected_with_a_trace, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
