/* Tests which calls are allowed in define mode and in collective and independent data
 * mode. */
#include "made_dataset.h"

static int x, v;

static int one_variable(void)
{
    int ncid = new_dataset("a.nc");
    x = new_dim(ncid, "x", check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    return ncid;
}

/* Makes every kind of call, either collective or independent, and checks that each
 * returns `code`. */
static void every_kind_gives(int code, int ncid, bool collective)
{
    int value = 1;
    MPI_Offset start = 0, count = 1, *starts[1] = {&start}, *counts[1] = {&count};
    int *bufs[1] = {&value};
    CHECK_NC(code, collective ? ncmpi_put_varn_int_all(ncid, v, 1, starts, counts, &value)
                              : ncmpi_put_varn_int(ncid, v, 1, starts, counts, &value));
    CHECK_NC(code, collective ? ncmpi_get_varn_int_all(ncid, v, 1, starts, counts, &value)
                              : ncmpi_get_varn_int(ncid, v, 1, starts, counts, &value));
    CHECK_NC(code, collective ? ncmpi_put_vard_all(ncid, v, MPI_INT, &value, 1, MPI_INT)
                              : ncmpi_put_vard(ncid, v, MPI_INT, &value, 1, MPI_INT));
    CHECK_NC(code, collective ? ncmpi_get_vard_all(ncid, v, MPI_INT, &value, 1, MPI_INT)
                              : ncmpi_get_vard(ncid, v, MPI_INT, &value, 1, MPI_INT));
    CHECK_NC(code, collective ? ncmpi_mput_vara_int_all(ncid, 1, &v, starts, counts, bufs)
                              : ncmpi_mput_vara_int(ncid, 1, &v, starts, counts, bufs));
    CHECK_NC(code, collective ? ncmpi_mget_vara_int_all(ncid, 1, &v, starts, counts, bufs)
                              : ncmpi_mget_vara_int(ncid, 1, &v, starts, counts, bufs));
    CHECK_NC(code, collective ? ncmpi_wait_all(ncid, 0, NULL, NULL)
                              : ncmpi_wait(ncid, 0, NULL, NULL));
}

static void data_calls_in_define_mode_are_refused(void)
{
    int ncid = one_variable(), value = 1;
    MPI_Offset start = check.rank, count = 1;
    every_kind_gives(NC_EINDEFINE, ncid, true);
    every_kind_gives(NC_EINDEFINE, ncid, false);
    CHECK_NC(NC_EINDEFINE, ncmpi_put_vara_int_all(ncid, v, &start, &count, &value));
    CHECK_NC(NC_EINDEFINE, ncmpi_get_vara_int_all(ncid, v, &start, &count, &value));
    CHECK_NC(NC_EINDEFINE, ncmpi_put_vara_int(ncid, v, &start, &count, &value));
    CHECK_NC(NC_EINDEFINE, ncmpi_get_vara_int(ncid, v, &start, &count, &value));
    CHECK_NC(NC_EINDEFINE, ncmpi_sync(ncid));
    CHECK_NC(NC_EINDEFINE, ncmpi_begin_indep_data(ncid));
    close_dataset(ncid);
}

static void collective_calls_require_collective_mode(void)
{
    int ncid = one_variable(), value = 1;
    MPI_Offset start = check.rank, count = 1;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_ENOTINDEP, ncmpi_put_vara_int(ncid, v, &start, &count, &value));
    CHECK_NC(NC_ENOTINDEP, ncmpi_get_vara_int(ncid, v, &start, &count, &value));
    CHECK_NC(NC_ENOTINDEP, ncmpi_put_var1_int(ncid, v, &start, &value));
    CHECK_NC(NC_ENOTINDEP, ncmpi_put_var_int(ncid, v, &value));
    every_kind_gives(NC_ENOTINDEP, ncid, false);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_EINDEP, ncmpi_put_vara_int_all(ncid, v, &start, &count, &value));
    CHECK_NC(NC_EINDEP, ncmpi_get_vara_int_all(ncid, v, &start, &count, &value));
    CHECK_NC(NC_EINDEP, ncmpi_put_var1_int_all(ncid, v, &start, &value));
    every_kind_gives(NC_EINDEP, ncid, true);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, &start, &count, &value));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, &value));
    close_dataset(ncid);
}

static void independent_mode_is_entered_and_left(void)
{
    int ncid = one_variable();
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid)); /* no-op: already collective */
    for (int i = 0; i < 3; i++) {
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    }
    close_dataset(ncid);
}

static void one_process_may_write_independently(void)
{
    int ncid = one_variable(), values[16];
    MPI_Offset count = 1;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (check.rank == check.nprocs - 1)
        for (MPI_Offset i = 0; i < check.nprocs; i++) {
            int value = (int)i * 11 + 1;
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, &i, &count, &value));
        }
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    make_visible(ncid);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int i = 0; i < check.nprocs; i++)
        CHECK_EQ(i * 11 + 1, values[i]);
    close_dataset(ncid);
}

static void redef_and_close_end_independent_mode(void)
{
    int ncid = one_variable(), value = check.rank + 5, back = 0;
    MPI_Offset start = check.rank, count = 1;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, &start, &count, &value));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    new_dim(ncid, "y", 7);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, &back));
    CHECK_EQ(value, back);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    value *= 2;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, &start, &count, &value));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, &back));
    CHECK_EQ(value, back);
    close_dataset(ncid);
}

static void sync_and_flush_work_in_both_modes(void)
{
    int ncid = one_variable();
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid)); /* no effect in define mode */
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync_numrecs(ncid));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync_numrecs(ncid));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_enddef(ncid));
    close_dataset(ncid);
}

/* One process makes every non-collective call while the others wait. */
static void one_process_may_sync_and_flush_independently(void)
{
    int ncid = one_variable(), var, value = 7, back = 0, id;
    MPI_Offset start = check.nprocs - 1, count = 1;
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "v", &var));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (check.rank == check.nprocs - 1) {
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, var, &start, &count, &value));
        CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_NC(NC_NOERR, ncmpi_iget_vara_int(ncid, var, &start, &count, &back, &id));
        CHECK_NC(NC_NOERR, ncmpi_wait(ncid, 1, &id, NULL));
        CHECK_EQ(value, back);
        CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, var, &start, &count, &value, &id));
        CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, &id, NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    back = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, var, &start, &count, &back));
    CHECK_EQ(value, back);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"data calls in define mode are refused", data_calls_in_define_mode_are_refused,
     CHECK_FORMATS},
    {"collective calls require collective mode", collective_calls_require_collective_mode,
     CHECK_FORMATS},
    {"independent mode is entered and left", independent_mode_is_entered_and_left,
     CHECK_FORMATS},
    {"one process may write independently", one_process_may_write_independently,
     CHECK_FORMATS},
    {"redef and close end independent mode", redef_and_close_end_independent_mode,
     CHECK_FORMATS},
    {"one process may sync and flush independently",
     one_process_may_sync_and_flush_independently, CHECK_FORMATS},
    {"sync and flush work in both modes", sync_and_flush_work_in_both_modes,
     CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
