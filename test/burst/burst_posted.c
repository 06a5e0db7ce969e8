/* Tests nonblocking puts that are logged when they are posted. A wait drains only the
 * requests for which it waits. A cancelled put is never written, even if the process is
 * killed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "old_notes.h"
#include "pnetcdf.h"

enum { N = 40, VARS = 3 };

static MPI_Info info_with(const char *key, const char *value)
{
    MPI_Info info;
    char dir[1000];
    snprintf(dir, sizeof dir, "%s", check_path(""));
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    MPI_Info_set(info, "nc_burst_buf_log_at", "post");
    MPI_Info_set(info, "nc_statistics", "enable");
    if (key != NULL) MPI_Info_set(info, key, value);
    return info;
}

/* Creates a dataset with three variables of N * nprocs ints, and a record variable of N *
 * nprocs shorts per record. */
static int create(MPI_Info info)
{
    int ncid, dims[2], v;
    char name[8];
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]));
    for (int i = 0; i < VARS; i++) {
        snprintf(name, sizeof name, "v%d", i);
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, NC_INT, 1, &dims[1], &v));
    }
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "r", NC_SHORT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_set_fill(ncid, NC_FILL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Info_free(&info);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    return ncid;
}

static int64_t statistic(int ncid, const char *name)
{
    MPI_Info info;
    char key[64], text[64] = "-1";
    int there;
    snprintf(key, sizeof key, "nc_stat_%s", name);
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, key, sizeof text - 1, text, &there);
    MPI_Info_free(&info);
    return atoll(text);
}

static int value(int var, int i, int add)
{
    return 10000 * var + 100 * check.rank + i + add;
}

/* Posts n values of this process's part, and overwrites the buffer immediately. */
static int post(int ncid, int var, int from, int n, int add)
{
    int values[N], id = NC_REQ_NULL;
    MPI_Offset start = check.rank * N + from, count = n;
    for (int i = 0; i < n; i++)
        values[i] = value(var, from + i, add);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, var, &start, &count, values, &id));
    memset(values, 0x55, sizeof values);
    return id;
}

static void wait_for(int ncid, int id)
{
    int status = -1;
    if (check.collective)
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, &status));
    else
        CHECK_NC(NC_NOERR, ncmpi_wait(ncid, 1, &id, &status));
    CHECK_EQ(NC_NOERR, status);
    CHECK_EQ(NC_REQ_NULL, id);
}

/* Reads this process's part from the file itself, by opening it a second time without the
 * burst buffer, and by another path: opening it by the same path would drain the log. */
static void read_file(int var, int *values)
{
    int ncid;
    MPI_Offset start = check.rank * N, count = N;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "disable");
    if (check.rank == 0 && symlink("a.nc", check_path("link.nc")) != 0)
        CHECK_EQ(EEXIST, errno);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("link.nc"), NC_NOWRITE, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, var, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Info_free(&info);
}

static void check_file(int var, int from, int n, int add)
{
    int values[N], wrong = 0;
    read_file(var, values);
    for (int i = from; i < from + n; i++)
        wrong += values[i] != value(var, i, add);
    CHECK_EQ(0, wrong);
}

static void check_unwritten(int var, int from, int n)
{
    int values[N], wrong = 0;
    read_file(var, values);
    for (int i = from; i < from + n; i++)
        wrong += values[i] != NC_FILL_INT;
    CHECK_EQ(0, wrong);
}

static void a_wait_drains_its_request_only(void)
{
    int ncid = create(info_with(NULL, NULL));
    int a = post(ncid, 0, 0, N, 0), b = post(ncid, 1, 0, N / 2, 0);
    int c = post(ncid, 1, N / 2, N / 2, 0);
    CHECK_EQ(8 * N, statistic(ncid, "burst_waiting_bytes"));
    wait_for(ncid, b);
    CHECK_EQ(6 * N, statistic(ncid, "burst_waiting_bytes"));
    CHECK_EQ(2 * N, statistic(ncid, "burst_drained_bytes"));
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(1, 0, N / 2, 0);
    check_unwritten(1, N / 2, N / 2);
    check_unwritten(0, 0, N);
    wait_for(ncid, a);
    MPI_Barrier(MPI_COMM_WORLD);
    check_file(0, 0, N, 0);
    check_unwritten(1, N / 2, N / 2);
    wait_for(ncid, c);
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file(1, 0, N, 0);
}

/* An earlier put must not be written after a later one, even if only the later one was
 * waited for. */
static void a_wait_keeps_program_order(void)
{
    int ncid = create(info_with(NULL, NULL));
    int first = post(ncid, 2, 0, 30, 0), second = post(ncid, 2, 20, 15, 5000);
    wait_for(ncid, second);
    wait_for(ncid, first);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file(2, 0, 20, 0);
    check_file(2, 20, 15, 5000);
    check_unwritten(2, 35, N - 35);
}

/* All processes put to the same variable collectively, and then one process posts a put
 * to it. The posted values must take precedence, although older values from other
 * processes are not in the file yet. */
static void a_posted_request_overwrites_an_earlier_put(void)
{
    for (int poster = 0; poster < check.nprocs; poster++) {
        int ncid = create(info_with(NULL, NULL)), ones[N], twos[N], id = NC_REQ_NULL;
        MPI_Offset start = 0, count = N;
        for (int i = 0; i < N; i++)
            ones[i] = i, twos[i] = 1000 + i;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 1, &start, &count, ones));
        if (check.rank == poster)
            CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, 1, &start, &count, twos, &id));
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, check.rank == poster, &id, NULL));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 1, &start, &count, ones));
        CHECK_BYTES(twos, ones, sizeof twos);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* The first put is posted in define mode, when there is no log, and the second put in
 * data mode. The second put must overwrite the first, so it must not be logged until the
 * first has been written. A third put can be logged. */
static void a_logged_request_overwrites_an_earlier_one_that_was_not_logged(void)
{
    int ncid = create(info_with(NULL, NULL)), ids[2];
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    int values[N];
    MPI_Offset start = check.rank * N, count = N;
    for (int i = 0; i < N; i++)
        values[i] = value(0, i, 0);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, 0, &start, &count, values, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    int later[10], back[N];
    start += 5;
    count = 10;
    for (int i = 0; i < 10; i++)
        later[i] = value(0, 5 + i, 3000);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, 0, &start, &count, later, &ids[1]));
    CHECK_EQ(0, statistic(ncid, "burst_logged_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 2, ids, NULL));
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    read_file(0, back);
    for (int i = 0; i < N; i++)
        CHECK_EQ(i < 5 || i >= 15 ? values[i] : later[i - 5], back[i]);
    int id = post(ncid, 1, 0, N, 0);
    CHECK_EQ(4 * N, statistic(ncid, "burst_waiting_bytes"));
    wait_for(ncid, id);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void a_cancelled_request_is_not_written(void)
{
    int ncid = create(info_with(NULL, NULL)), ids[2], statuses[2] = {-1, -1};
    int under = post(ncid, 0, 0, N, 0);
    ids[0] = post(ncid, 0, 5, 10, 3000);
    ids[1] = post(ncid, 1, 0, N, 0);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 2, ids, statuses));
    CHECK_EQ(NC_NOERR, statuses[0]);
    CHECK_EQ(NC_NOERR, statuses[1]);
    CHECK_EQ(NC_REQ_NULL, ids[0]);
    CHECK_EQ(4 * N, statistic(ncid, "burst_waiting_bytes"));
    CHECK_EQ(4 * N + 40, statistic(ncid, "burst_cancelled_bytes"));
    wait_for(ncid, under);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file(0, 0, N, 0);
    check_unwritten(1, 0, N);
}

static void a_drained_request_cannot_be_cancelled(void)
{
    int ncid = create(info_with(NULL, NULL)), status = -1;
    int drained = post(ncid, 0, 0, N, 0);
    if (check.collective)
        CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    else
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    int waiting = post(ncid, 1, 0, N, 0);
    CHECK_NC(NC_EFLUSHED, ncmpi_cancel(ncid, 1, &drained, &status));
    CHECK_EQ(NC_EFLUSHED, status);
    CHECK_EQ(NC_REQ_NULL, drained);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_EQ(0, waiting < 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file(0, 0, N, 0);
    check_unwritten(1, 0, N);
}

/* Completes puts of all kinds, one of them posted in define mode, with a single wait. */
static void all_kinds_of_requests_are_logged(void)
{
    int ncid = create(info_with(NULL, NULL)), ids[4], statuses[4], k[N];
    MPI_Offset start[2] = {1, check.rank * N}, count[2] = {1, N}, usage;
    MPI_Offset *starts[2], at[2][1] = {{check.rank * N + 3}, {check.rank * N}};
    double d[N];
    starts[0] = at[0];
    starts[1] = at[1];
    for (int i = 0; i < N; i++)
        d[i] = i, k[i] = value(0, i, 0);
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 10 * N));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, 0, start + 1, count + 1, k, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_bput_vara_double(ncid, 3, start, count, d, &ids[1]));
    CHECK_NC(NC_NOERR, ncmpi_iput_varn_int(ncid, 1, 2, starts, NULL, k, &ids[2]));
    d[N - 1] = 1e9;
    start[0] = 2;
    CHECK_NC(NC_ERANGE, ncmpi_iput_vara_double(ncid, 3, start, count, d, &ids[3]));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_usage(ncid, &usage));
    CHECK_EQ(2 * N, usage);
    int rc = check.collective ? ncmpi_wait_all(ncid, 4, ids, statuses)
                              : ncmpi_wait(ncid, 4, ids, statuses);
    CHECK_NC(NC_NOERR, rc);
    for (int i = 0; i < 4; i++)
        CHECK_NC(NC_NOERR, statuses[i]);
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_usage(ncid, &usage));
    CHECK_EQ(0, usage);
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file(0, 0, N, 0);
    read_file(1, k);
    CHECK_EQ(value(0, 0, 0), k[3]);
    CHECK_EQ(value(0, 1, 0), k[0]);
    CHECK_EQ(NC_FILL_INT, k[1]);
}

/* Restores the file and the logs to their state after a crash. The next open must replay
 * the puts that were posted, but not those that were cancelled. */
static void a_crash_loses_no_posted_requests(void)
{
    char command[5000], copy[1100];
    int ncid = create(info_with(NULL, NULL)), values[N], wrong = 0;
    MPI_Offset start = check.rank * N, count = N;
    post(ncid, 0, 0, N, 0);
    int gone = post(ncid, 0, 0, 10, 7000);
    post(ncid, 1, 0, N, 0);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, &gone, NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(copy, sizeof copy, "%s", check_path("was"));
    snprintf(command, sizeof command,
             "d='%s' && mkdir -p \"$d/was\" && cp -rp \"$d\"/a.nc* \"$d/was\" && "
             "cp -p \"$d/was/a.nc\" \"$d/keep.nc\"",
             check_path(""));
    if (check.rank == 0) CHECK_EQ(0, system(command));
    if (check.rank == 0) CHECK(old_notes(check_path("was")) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_unwritten(0, 0, N);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The logs identify the file by path and inode, so the old bytes are restored in
     * place, with their modification time. */
    snprintf(
        command, sizeof command,
        "d='%s' && cat \"$d/keep.nc\" >\"$d/a.nc\" && mv \"$d\"/was/a.nc.* \"$d\" && "
        "touch -r \"$d/keep.nc\" \"$d/a.nc\"",
        check_path(""));
    if (check.rank == 0) CHECK_EQ(0, system(command));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info info = info_with(NULL, NULL);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_EQ(8 * N, statistic(ncid, "burst_replayed_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, &start, &count, values));
    for (int i = 0; i < N; i++)
        wrong += values[i] != value(0, i, 0);
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    check_file(1, 0, N, 0);
}

/* Cancels requests while threads drain the log. Each request is either cancelled or
 * written, and its status reports which. */
static void requests_are_cancelled_or_drained_while_threads_drain(void)
{
    enum { MANY = 20 };
    MPI_Info info = info_with("nc_burst_buf_flush", "flush_immediate");
    MPI_Info_set(info, "nc_burst_buf_delay", "0");
    int ncid = create(info);
    int ids[MANY], statuses[MANY], values[N], wrong = 0;
    for (int i = 0; i < MANY; i++) {
        ids[i] = post(ncid, 0, 2 * i, 2, 0);
        if (i == MANY / 2) usleep(20000);
    }
    int rc = ncmpi_cancel(ncid, MANY, ids, statuses);
    CHECK(rc == NC_NOERR || rc == NC_EFLUSHED);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    read_file(0, values);
    for (int i = 0; i < MANY; i++) {
        CHECK(statuses[i] == NC_NOERR || statuses[i] == NC_EFLUSHED);
        int expected = statuses[i] == NC_NOERR ? NC_FILL_INT : value(0, 2 * i, 0);
        wrong += values[2 * i] != expected;
    }
    CHECK_EQ(0, wrong);
}

static const struct check_test tests[] = {
    {"a wait drains its request only", a_wait_drains_its_request_only, CHECK_MODES},
    {"a wait keeps program order", a_wait_keeps_program_order, CHECK_MODES},
    {"a posted request overwrites an earlier put",
     a_posted_request_overwrites_an_earlier_put, 0},
    {"a logged request overwrites an earlier one that was not logged",
     a_logged_request_overwrites_an_earlier_one_that_was_not_logged, 0},
    {"a cancelled request is not written", a_cancelled_request_is_not_written,
     CHECK_MODES},
    {"a drained request cannot be cancelled", a_drained_request_cannot_be_cancelled,
     CHECK_MODES},
    {"all kinds of requests are logged", all_kinds_of_requests_are_logged, CHECK_MODES},
    {"a crash loses no posted requests", a_crash_loses_no_posted_requests, 0},
    {"requests are cancelled or drained while threads drain",
     requests_are_cancelled_or_drained_while_threads_drain, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
