/* Tests that every process reads back what was put, even if the log fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fault.h"
#include "pnetcdf.h"

enum { N = 60 };

static MPI_Info info_with(const char *key, const char *value)
{
    MPI_Info info;
    char dir[1000];
    snprintf(dir, sizeof dir, "%s", check_path(""));
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    MPI_Info_set(info, "nc_statistics", "enable");
    if (key != NULL) MPI_Info_set(info, key, value);
    return info;
}

/* Creates a dataset with a fixed-size variable of N * nprocs ints and a record variable
 * of N * nprocs shorts per record. */
static int create(const char *name, MPI_Info info)
{
    int ncid, dims[2], v;
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "f", NC_INT, 1, &dims[1], &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "r", NC_SHORT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Info_free(&info);
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

static void put_part(int ncid, int from, int n, int add)
{
    MPI_Offset start = check.rank * N + from, count = n;
    int values[N];
    for (int i = 0; i < n; i++)
        values[i] = check.rank * 1000 + from + i + add;
    if (check.collective)
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &count, values));
    else
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, 0, &start, &count, values));
}

/* Checks values in the part of process `rank`. */
static void check_part(int ncid, int rank, int from, int n, int add)
{
    MPI_Offset start = rank * N + from, count = n;
    int values[N], wrong = 0;
    memset(values, -1, sizeof values);
    if (check.collective)
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, &start, &count, values));
    else
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, 0, &start, &count, values));
    for (int i = 0; i < n; i++)
        wrong += values[i] != rank * 1000 + from + i + add;
    CHECK_EQ(0, wrong);
}

static void enter_mode(int ncid)
{
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
}

static void a_process_reads_its_own_values_from_the_log(void)
{
    int ncid = create("a.nc", info_with(NULL, NULL));
    enter_mode(ncid);
    put_part(ncid, 0, N, 0);
    put_part(ncid, 10, 20, 5000); /* the later put takes precedence */
    put_part(ncid, 20, 3, 7000);
    check_part(ncid, check.rank, 0, 10, 0);
    check_part(ncid, check.rank, 10, 10, 5000);
    check_part(ncid, check.rank, 20, 3, 7000);
    check_part(ncid, check.rank, 30, 30, 0);
    CHECK_EQ(0, statistic(ncid, "burst_drained_bytes"));
    CHECK_EQ((N + 23) * 4, statistic(ncid, "burst_logged_bytes"));
    CHECK_EQ((N + 23) * 4, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    enter_mode(ncid);
    check_part(ncid, (check.rank + 1) % check.nprocs, 10, 10, 5000);
    check_part(ncid, (check.rank + 1) % check.nprocs, 20, 3, 7000);
    check_part(ncid, (check.rank + 1) % check.nprocs, 30, 30, 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void values_of_other_processes_are_read(void)
{
    int ncid = create("a.nc", info_with(NULL, NULL));
    put_part(ncid, 0, N, 1);
    check_part(ncid, (check.rank + 1) % check.nprocs, 0, N, 1);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Gets with other types and memory layouts combine logged values with values in the
 * file. */
static void gets_convert_logged_values_and_values_in_the_file(void)
{
    int ncid = create("a.nc", info_with(NULL, NULL));
    MPI_Offset start[2] = {1, check.rank * N}, count[2] = {1, N / 3}, stride[2] = {1, 3};
    MPI_Offset every[2] = {1, 1}, all[2] = {1, N}, imap[2] = {1, 2};
    double values[N], back[2 * N];
    for (int i = 0; i < N; i++)
        values[i] = i * 3 + check.rank;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, 1, start, all, values));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    for (int i = 0; i < N; i++)
        values[i] = -i;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_double_all(ncid, 1, start, count, stride, values));
    CHECK_NC(NC_NOERR, ncmpi_get_varm_double_all(ncid, 1, start, all, every, imap, back));
    for (int i = 0; i < N; i++)
        CHECK_EQ(i % 3 == 0 ? -i / 3 : i * 3 + check.rank, back[2 * i]);
    values[0] = 1e6; /* out of range for NC_SHORT */
    count[1] = 1;
    CHECK_NC(NC_ERANGE, ncmpi_put_vara_double_all(ncid, 1, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* A get reports only current values that are out of range. Overwritten values are not
 * reported, whether they are in the file or in the log. */
static void only_current_values_are_reported_as_out_of_range(void)
{
    static const char *const ways[] = {"false", "true"};
    for (int k = 0; k < 16; k++) {
        bool in_file = k & 1, halves = k & 2, one_bad = k & 4;
        int ncid = create("a.nc", info_with("romio_no_indep_rw", ways[k >> 3]));
        MPI_Offset start = check.rank * N, count = N, half = N / 2;
        int values[N];
        unsigned back[N];
        for (int i = 0; i < N; i++)
            values[i] = -5 - i;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &count, values));
        if (in_file) CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
        for (int i = 0; i < N; i++)
            values[i] = i;
        if (one_bad) values[N - 1] = -1;
        if (halves) {
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &half, values));
            start += half;
            CHECK_NC(NC_NOERR,
                     ncmpi_put_vara_int_all(ncid, 0, &start, &half, values + half));
            start -= half;
        } else {
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &count, values));
        }
        count = N - 1;
        CHECK_NC(NC_NOERR, ncmpi_get_vara_uint_all(ncid, 0, &start, &count, back));
        count = N;
        CHECK_NC(one_bad ? NC_ERANGE : NC_NOERR,
                 ncmpi_get_vara_uint_all(ncid, 0, &start, &count, back));
        for (int i = 0; i < N; i++)
            CHECK_EQ(one_bad && i == N - 1 ? NC_FILL_UINT : (unsigned)i, back[i]);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* Only the put reports that values are out of range. Neither the flush that writes them
 * nor a put that overwrites them reports it again. */
static void a_range_error_is_reported_once(void)
{
    int ncid = create("a.nc", info_with(NULL, NULL));
    MPI_Offset start[2] = {0, check.rank * N}, count[2] = {1, 3};
    double values[3] = {1, 1e9, 3};
    short back[3];
    CHECK_NC(NC_ERANGE, ncmpi_put_vara_double_all(ncid, 1, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_NC(NC_ERANGE, ncmpi_put_vara_double_all(ncid, 1, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_short_all(ncid, 1, start, count, back));
    CHECK_EQ(NC_FILL_SHORT, back[1]);
    values[1] = 2;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, 1, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_short_all(ncid, 1, start, count, back));
    CHECK_EQ(2, back[1]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static int count_logs(void)
{
    char command[1200];
    int n = -1;
    snprintf(command, sizeof command, "ls '%s' | grep -c '[.]meta$'", check_path(""));
    FILE *p = popen(command, "r");
    if (p == NULL || fscanf(p, "%d", &n) != 1) n = -1;
    if (p != NULL) pclose(p);
    return n;
}

static void a_hint_determines_whether_logs_are_removed_at_close(void)
{
    int ncid = create("a.nc", info_with(NULL, NULL));
    put_part(ncid, 0, N, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(check.nprocs, count_logs());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(0, count_logs());
    MPI_Barrier(MPI_COMM_WORLD);
    ncid = create("b.nc", info_with("nc_burst_buf_del_on_close", "disable"));
    put_part(ncid, 0, N, 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(check.nprocs, count_logs());
    MPI_Barrier(MPI_COMM_WORLD);
}

static void the_processes_of_a_node_share_one_log(void)
{
    int ncid = create("a.nc", info_with("nc_burst_buf_shared_logs", "enable"));
    for (int round = 0; round < 3; round++) {
        put_part(ncid, 0, N, round);
        if (check.rank == 0) CHECK_EQ(1, count_logs());
        check_part(ncid, check.rank, 0, N, round);
        check_part(ncid, (check.rank + 1) % check.nprocs, 0, N, round);
        if (round == 1) CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void puts_go_to_the_file_if_the_log_directory_is_missing(void)
{
    int ncid = create("a.nc", info_with("nc_burst_buf_dirname", "/nonexistent/there"));
    put_part(ncid, 0, N, 0);
    CHECK_EQ(1, statistic(ncid, "burst_fallbacks"));
    CHECK_EQ(0, statistic(ncid, "burst_logged_bytes"));
    check_part(ncid, (check.rank + 1) % check.nprocs, 0, N, 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* On every process, a fault affects the nth call on the log, or all calls from the nth
 * on. An affected call fails or writes only part of the data. */
static void no_value_is_lost_if_a_log_call_fails(void)
{
    static const char *const plans[] = {
        "write:1:ENOSPC:*.data",  "write:2+:EIO:*.data",    "write:3:short:*.data",
        "write:4+:ENOSPC:*.data", "write:1+:short:*.data",  "sync:1:EIO:*.data",
        "write:1:EIO:*.meta",     "write:2+:ENOSPC:*.meta", "write:3:short:*.meta",
        "write:5+:EIO:*.meta",    "write:9+:EIO:*.meta"};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        int ncid = create("a.nc", info_with(NULL, NULL));
        enter_mode(ncid);
        CHECK(fault_arm(plans[i]));
        for (int step = 0; step < 6; step++)
            put_part(ncid, step * 7, 20, step);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        fault_disarm();
        for (int step = 0; step < 5; step++)
            check_part(ncid, check.rank, step * 7, 7, step);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        enter_mode(ncid);
        for (int step = 0; step < 5; step++)
            check_part(ncid, check.rank, step * 7, 7, step);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* Returns whether an error code reports a failed write. */
static bool io_code(int rc) /* MPI-IO sometimes returns a less specific error */
{
    return rc == NC_ENO_SPACE || rc == NC_EWRITE || rc == NC_EFILE;
}

/* If the file cannot be written, flush returns an error that names the variable. The log
 * remains, and the next open writes all of its values. */
static void the_log_is_kept_if_the_file_cannot_be_written(void)
{
    int ncid = create("a.nc", info_with(NULL, NULL));
    put_part(ncid, 0, N, 0);
    CHECK(fault_arm("write:1+:ENOSPC:*a.nc"));
    int rc = ncmpi_flush(ncid);
    CHECK(io_code(rc));
    CHECK(strstr(ncmpi_strerror(rc), "'f'") != NULL);
    CHECK(io_code(ncmpi_close(ncid)));
    fault_disarm();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info info = info_with(NULL, NULL);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    check_part(ncid, (check.rank + 1) % check.nprocs, 0, N, 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(0, count_logs());
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Several processes write to the same elements in successive collective calls. The last
 * call takes precedence. */
static void the_last_of_several_collective_puts_takes_precedence(void)
{
    MPI_Offset start = 0, count = N;
    int ncid = create("a.nc", info_with(NULL, NULL)), values[N], back[N], wrong = 0;
    for (int step = 0; step < 2 * check.nprocs; step++) {
        for (int i = 0; i < N; i++)
            values[i] = step * 100 + i;
        count = check.rank == (step * 7 + 1) % check.nprocs ? N - step : 0;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &count, values));
    }
    count = N;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, &start, &count, back));
    for (int i = 0; i < N; i++) {
        int step = N - 1 - i < 2 * check.nprocs - 1 ? N - 1 - i : 2 * check.nprocs - 1;
        wrong += back[i] != step * 100 + i;
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Puts, gets, flushes or pauses at random while four threads drain the log. Gets must
 * always return the values that were put last, whether they are in the log, in the file,
 * or partly in both. */
static void gets_return_current_values_while_threads_drain(void)
{
    MPI_Info info = info_with("nc_burst_buf_flush", "flush_immediate");
    int added[N] = {0};
    MPI_Info_set(info, "nc_burst_buf_threads", "4");
    MPI_Info_set(info, "nc_burst_buf_delay", check_random(2) == 0 ? "0" : "1");
    int ncid = create("a.nc", info);
    enter_mode(ncid);
    put_part(ncid, 0, N, 0);
    for (int step = 1; step < 300; step++) {
        int from = (int)check_random(N), n = 1 + (int)check_random((uint64_t)(N - from));
        put_part(ncid, from, n, step);
        for (int i = from; i < from + n; i++)
            added[i] = step;
        if (check_random(15) == 0) usleep(5000); /* gives the threads time to start */
        if (check_random(15) == 0) check_part(ncid, check.rank, from, n, step);
        if (check_random(40) == 0) CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    }
    for (int i = 0; i < N; i++)
        check_part(ncid, check.rank, i, 1, added[i]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    enter_mode(ncid);
    for (int i = 0; i < N; i++)
        check_part(ncid, (check.rank + 1) % check.nprocs, i, 1, added[i]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Changes names and attributes while threads drain the log, and renames _FillValue. Each
 * record is filled with the value that _FillValue had when the fill was requested. */
static void names_and_attributes_may_change_while_threads_drain(void)
{
    enum { STEPS = 12 };
    MPI_Info info = info_with("nc_burst_buf_flush", "flush_immediate");
    MPI_Info_set(info, "nc_burst_buf_threads", "2");
    MPI_Info_set(info, "nc_burst_buf_delay", "0");
    int ncid = create("a.nc", info);
    short fill = 7, values[N];
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    int dims[2] = {0, 1}, v, wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "filled", NC_SHORT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &fill));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, v, "note", 4, "0000"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int step = 0; step < STEPS; step++) {
        char text[16];
        bool renamed = step % 2;
        CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, v, step));
        put_part(ncid, 0, N, step);
        if (check_random(2) == 0) usleep(200);
        if (step == STEPS / 2)
            CHECK_NC(NC_NOERR, ncmpi_rename_att(ncid, v, "_FillValue", "was_filled"));
        snprintf(text, sizeof text, "%04d", step);
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, v, "note", 4, text));
        CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, v, renamed ? "filled" : "f_ll_d"));
        CHECK(statistic(ncid, "burst_drained_bytes") >= 0);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    check_part(ncid, check.rank, 0, N, STEPS - 1);
    for (int step = 0; step < STEPS; step++) {
        MPI_Offset start[2] = {step, check.rank * N}, count[2] = {1, N};
        CHECK_NC(NC_NOERR, ncmpi_get_vara_short_all(ncid, v, start, count, values));
        for (int i = 0; i < N; i++)
            wrong += values[i] != (step > STEPS / 2 ? NC_FILL_SHORT : fill);
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* A sync must include values that threads wrote directly, bypassing the driver below. */
static void a_sync_includes_values_that_threads_wrote(void)
{
    enum { TRIES = 2000 };
    char plan[4200];
    MPI_Info info = info_with("nc_burst_buf_flush", "flush_immediate");
    int ncid = create("a.nc", info);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    put_part(ncid, 0, N, 0);
    int64_t logged = statistic(ncid, "burst_logged_bytes");
    for (int i = 0; i < TRIES && statistic(ncid, "burst_drained_bytes") < logged; i++)
        usleep(5000);
    CHECK_EQ(logged, statistic(ncid, "burst_drained_bytes"));
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(plan, sizeof plan, "sync:1+:EIO:%s", check_path("a.nc"));
    CHECK(fault_arm(plan));
    int rc = ncmpi_sync(ncid);
    CHECK(fault_disarm() > 0);
    CHECK(rc != NC_NOERR);
    rc = ncmpi_sync(ncid); /* each process on the node may report the failure once */
    CHECK_NC(NC_NOERR, rc == NC_NOERR ? rc : ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"a sync includes values that threads wrote",
     a_sync_includes_values_that_threads_wrote, 0},
    {"a process reads its own values from the log",
     a_process_reads_its_own_values_from_the_log, CHECK_MODES},
    {"values of other processes are read", values_of_other_processes_are_read, 0},
    {"gets convert logged values and values in the file",
     gets_convert_logged_values_and_values_in_the_file, CHECK_FORMATS},
    {"only current values are reported as out of range",
     only_current_values_are_reported_as_out_of_range, 0},
    {"a range error is reported once", a_range_error_is_reported_once, 0},
    {"a hint determines whether logs are removed at close",
     a_hint_determines_whether_logs_are_removed_at_close, 0},
    {"the processes of a node share one log", the_processes_of_a_node_share_one_log, 0},
    {"puts go to the file if the log directory is missing",
     puts_go_to_the_file_if_the_log_directory_is_missing, 0},
    {"no value is lost if a log call fails", no_value_is_lost_if_a_log_call_fails,
     CHECK_MODES},
    {"the log is kept if the file cannot be written",
     the_log_is_kept_if_the_file_cannot_be_written, 0},
    {"the last of several collective puts takes precedence",
     the_last_of_several_collective_puts_takes_precedence, 0},
    {"gets return current values while threads drain",
     gets_return_current_values_while_threads_drain, CHECK_MODES},
    {"names and attributes may change while threads drain",
     names_and_attributes_may_change_while_threads_drain, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
