/* Tests what happens after an invariant of the library was violated in one process. That
 * process writes nothing more to the datasets that are open; no process hangs; values put
 * before can be read by the next opening; and datasets opened later can be written. */
#include <stdlib.h>

#include "base_require.h"
#include "made_dataset.h"
#include "plan_value.h"

enum { N = 37 };

static int value(int rank, int record, int i)
{
    return plan_int(PLAN_INT, (uint64_t)((rank * 10 + record) * N + i));
}

static int put(int ncid, int record)
{
    MPI_Offset start[2] = {record, check.rank * N}, count[2] = {1, N};
    int values[N];
    for (int i = 0; i < N; i++)
        values[i] = value(check.rank, record, i);
    return check.collective ? ncmpi_put_vara_int_all(ncid, 0, start, count, values)
                            : ncmpi_put_vara_int(ncid, 0, start, count, values);
}

static void check_record(int ncid, int rank, int record)
{
    MPI_Offset start[2] = {record, rank * N}, count[2] = {1, N};
    int values[N] = {0};
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, start, count, values));
    for (int i = 0; i < N; i++)
        CHECK_EQ(value(rank, record, i), values[i]);
}

static int create(const char *name, const char *stack)
{
    int err, dims[2], v, ncid = create_through(MPI_COMM_WORLD, name, stack, &err);
    CHECK_NC(NC_NOERR, err);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    return ncid;
}

static void nothing_is_written_after_a_violation(const char *stack)
{
    const bool mine = check.rank == check.nprocs - 1;
    int ncid = create("a.nc", stack);
    CHECK_NC(NC_NOERR, put(ncid, 0));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (mine) CHECK_NC(NC_EINTERNAL, base_violated("planted", "a/planted.c", 9));
    int err = put(ncid, 1);
    if (mine) CHECK_NC(NC_EINTERNAL, err);
    if (mine) CHECK(strstr(ncmpi_strerror(err), "planted.c:9") != NULL);
    if (!check.collective) (void)ncmpi_end_indep_data(ncid);
    (void)ncmpi_close(ncid);

    MPI_Info info = stack_info(stack); /* the burst buffer replays the logs that remain */
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    for (int r = 0; r < check.nprocs; r++)
        check_record(ncid, r, 0);
    close_dataset(ncid);

    ncid = create("b.nc", stack);
    CHECK_NC(NC_NOERR, put(ncid, 0));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
    ncid = open_dataset("b.nc", NC_NOWRITE);
    check_record(ncid, (check.rank + 1) % check.nprocs, 0);
    close_dataset(ncid);
}

static void an_ordinary_file(void)
{
    nothing_is_written_after_a_violation("");
}

static void a_burst_buffer(void)
{
    nothing_is_written_after_a_violation("nc_burst_buf=enable;nc_burst_buf_dirname=%s");
}

static void subfiles(void)
{
    nothing_is_written_after_a_violation("nc_blob=enable;nc_num_subfiles=2");
}

static void compressed_subfiles(void)
{
    nothing_is_written_after_a_violation("nc_blob=enable;nc_compress=zstd");
}

static const struct check_test tests[] = {
    {"a violation: an ordinary file", an_ordinary_file, CHECK_MODES},
    {"a violation: a burst buffer", a_burst_buffer, CHECK_MODES},
    {"a violation: subfiles", subfiles, CHECK_MODES},
    {"a violation: compressed subfiles", compressed_subfiles, CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
