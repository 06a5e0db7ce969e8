/* Tests failing storage: a full disk, a broken disk, and missing permissions. The process
 * on which an operation fails must get the error for that failure, all other processes
 * must get some error, and no process may hang. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"
#include "fault.h"

enum { N = 3000 };

static int x, v;

static int one_variable(void)
{
    int ncid = new_dataset("a.nc");
    x = new_dim(ncid, "x", N * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    return ncid;
}

static void my_part(MPI_Offset *start, MPI_Offset *count, int *values)
{
    *start = N * check.rank;
    *count = N;
    for (int i = 0; i < N; i++)
        values[i] = N * check.rank + i;
}

static bool is_error_on_any(int rc)
{
    int least;
    MPI_Allreduce(&rc, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return least != NC_NOERR;
}

static bool write_code(int rc)
{
    return rc == NC_ENO_SPACE || rc == NC_EWRITE || rc == NC_EIO;
}

/* ---- the number of records ---- */

enum { NEW = 3 }; /* index of the record that the test adds */
static const char *const ways[][2] = {{"nc_transfer", "direct"},
                                      {"nc_transfer", "node"},
                                      {"nc_transfer", "view"},
                                      {"romio_no_indep_rw", "true"}};
enum { WAYS = 4 };

static int t;

/* Creates v(t, x) with record 0. */
static int one_record(const char *const way[2])
{
    int ncid = -1, values[N], dims[2];
    MPI_Offset start[2] = {0}, count[2] = {1};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, way[0], way[1]);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    dims[0] = t = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = x = new_dim(ncid, "x", N * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 2, dims);
    begin_data(ncid);
    my_part(&start[1], &count[1], values);
    CHECK_NC(NC_NOERR, put_ints(ncid, v, start, count, values));
    end_data(ncid);
    return ncid;
}

/* Puts record NEW. If `odd` is set, one value is out of range, but the record must be
 * added nevertheless. */
static int put_record(int ncid, bool posted, bool odd)
{
    int few[N], id, status = NC_NOERR;
    long long values[N];
    MPI_Offset start[2] = {NEW}, count[2] = {1};
    my_part(&start[1], &count[1], few);
    for (int i = 0; i < N; i++)
        values[i] = odd && i == N / 2 ? INT64_MAX : few[i];
    if (posted) {
        CHECK_NC(odd ? NC_ERANGE : NC_NOERR,
                 ncmpi_iput_vara_longlong(ncid, v, start, count, values, &id));
        return check.collective ? ncmpi_wait_all(ncid, 1, &id, &status)
                                : ncmpi_wait(ncid, 1, &id, &status);
    }
    return check.collective ? ncmpi_put_vara_longlong_all(ncid, v, start, count, values)
                            : ncmpi_put_vara_longlong(ncid, v, start, count, values);
}

/* Puts a record while the disk is full on process `bad`, or on all processes if `bad` is
 * -1. If every put fails, the number of records must not change. */
static void no_record_for(const char *const way[2], int bad, bool posted, bool odd)
{
    char plan[64];
    int ncid = one_record(way), good, any;
    snprintf(plan, sizeof plan,
             bad < 0 ? "write:1+:ENOSPC:*/a.nc" : "write:1+:ENOSPC:*/a.nc:%d", bad);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK(fault_arm(plan));
    int rc = put_record(ncid, posted, odd), faults = fault_disarm();
    if (faults > 0) CHECK_NC(NC_ENO_SPACE, rc);
    good = rc == NC_NOERR || rc == NC_ERANGE;
    MPI_Allreduce(&good, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Offset expected = any ? NEW + 1 : 1;
    if (good || !any) CHECK_EQ(expected, dim_length(ncid, t));
    end_data(ncid);
    (void)ncmpi_sync_numrecs(ncid); /* may report the error once more */
    CHECK_EQ(expected, dim_length(ncid, t));
    (void)ncmpi_close(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_EQ(expected, dim_length(ncid, t));
    close_dataset(ncid);
}

static void a_failed_put_adds_no_record(void)
{
    int last = check.collective ? WAYS : 2;
    for (int way = 0; way < last; way++)
        for (int bad = -1; bad < check.nprocs;
             bad += bad < 0 ? 1 : check.nprocs - 1 + (check.nprocs == 1))
            for (int how = 0; how < 4; how++)
                no_record_for(ways[way], bad, how & 1, how & 2);
}

/* ---- */

/* Simulates a full disk on one process after another. */
static void a_full_disk_on_one_process_is_reported(void)
{
    for (int bad = 0; bad < check.nprocs; bad++) {
        char plan[64];
        int values[N], ncid = one_variable();
        MPI_Offset start, count;
        my_part(&start, &count, values);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        snprintf(plan, sizeof plan, "write:1+:ENOSPC:*/a.nc:%d", bad);
        CHECK(fault_arm(plan));
        int rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
        int faults = fault_disarm(), any;
        MPI_Allreduce(&faults, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (faults > 0) CHECK(write_code(rc));
        if (any > 0) CHECK(is_error_on_any(rc));
        int next = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
        if (any > 0) CHECK(rc != NC_NOERR || next != NC_NOERR);
        ncmpi_close(ncid); /* may report the error once more, but must return */
    }
}

static void a_full_disk_on_all_processes_is_reported(void)
{
    int values[N], ncid = one_variable();
    MPI_Offset start, count;
    my_part(&start, &count, values);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK(fault_arm("write:1+:ENOSPC:*/a.nc"));
    int rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
    int faults = fault_disarm(), all;
    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0);
    CHECK(is_error_on_any(rc));
    ncmpi_close(ncid);
}

static void an_independent_put_returns_its_own_error(void)
{
    int values[N], ncid = one_variable(), bad = check.rank == check.nprocs - 1;
    MPI_Offset start, count;
    my_part(&start, &count, values);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (bad) CHECK(fault_arm("write:1+:EIO:*/a.nc"));
    int rc = ncmpi_put_vara_int(ncid, v, &start, &count, values);
    if (bad) CHECK(fault_disarm() > 0);
    CHECK(bad ? write_code(rc) : rc == NC_NOERR);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, &start, &count, values));
    ncmpi_end_indep_data(ncid);
    ncmpi_close(ncid);
}

static void short_transfers_are_completed(void)
{
    int values[N], back[N], ncid = one_variable();
    MPI_Offset start, count;
    my_part(&start, &count, values);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK(fault_arm("write:1:short:*/a.nc"));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK(fault_arm("read:1:short:*/a.nc"));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, back));
    fault_disarm();
    CHECK_BYTES(values, back, sizeof back);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, back));
    CHECK_BYTES(values, back, sizeof back);
    close_dataset(ncid);
}

static void a_failed_read_is_reported(void)
{
    int values[N], ncid = one_variable(), faults, any;
    MPI_Offset start, count;
    my_part(&start, &count, values);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK(fault_arm("read:1+:EIO:*/a.nc"));
    int rc = ncmpi_get_vara_int_all(ncid, v, &start, &count, values);
    faults = fault_disarm();
    MPI_Allreduce(&faults, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(any > 0);
    if (faults > 0) CHECK(rc == NC_EREAD || rc == NC_EIO);
    ncmpi_close(ncid);
}

static void a_failed_write_of_the_header_is_an_error_on_all(void)
{
    int ncid = one_variable();
    CHECK(fault_arm("write:1+:ENOSPC:*/a.nc"));
    int rc = ncmpi_enddef(ncid), faults = fault_disarm(), any;
    MPI_Allreduce(&faults, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(any > 0);
    CHECK(write_code(rc));
    ncmpi_close(ncid);
}

static void a_failed_read_of_the_header_is_an_error_on_all(void)
{
    int ncid = one_variable();
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(fault_arm("read:1+:EIO:*/a.nc"));
    int rc =
        ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    fault_disarm();
    CHECK(rc == NC_EREAD || rc == NC_EIO || rc == NC_EFILE);
}

/* Makes opening the file fail on all processes or on one. */
static void a_file_that_cannot_be_opened_is_an_error_on_all(void)
{
    int ncid;
    close_dataset(one_variable());
    MPI_Barrier(MPI_COMM_WORLD);
    for (int bad = -1; bad < check.nprocs; bad++) {
        char plan[64];
        snprintf(plan, sizeof plan,
                 bad < 0 ? "open:1+:EACCES:*/a.nc" : "open:1+:EACCES:*/a.nc:%d", bad);
        CHECK(fault_arm(plan));
        int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, MPI_INFO_NULL,
                            &ncid);
        int faults = fault_disarm(), any;
        MPI_Allreduce(&faults, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (any > 0)
            CHECK_NC(NC_EACCESS, rc);
        else if (CHECK_NC(NC_NOERR, rc))
            close_dataset(ncid);
        CHECK(bad > 0 || any > 0);
    }
}

static void a_file_that_cannot_be_created_is_an_error_on_all(void)
{
    int ncid = -1;
    CHECK(fault_arm("open:1+:EACCES:*/a.nc"));
    int rc = ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, MPI_INFO_NULL,
                          &ncid);
    fault_disarm();
    CHECK_NC(NC_EACCESS, rc);
    CHECK_NC(NC_EBADID, ncmpi_close(ncid));
}

static void a_failed_sync_is_reported(void)
{
    int values[N], ncid = one_variable();
    MPI_Offset start, count;
    my_part(&start, &count, values);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK(fault_arm("sync:1+:EIO:*/a.nc"));
    int rc = ncmpi_sync(ncid), faults = fault_disarm();
    CHECK(faults == 0 || rc != NC_NOERR);
    CHECK(is_error_on_any(rc));
    ncmpi_close(ncid);
}

static void safe_mode_reports_a_failed_write_to_all_at_once(void)
{
    int values[N];
    MPI_Offset start, count;
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", "1", 1));
    int ncid = one_variable();
    my_part(&start, &count, values);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK(fault_arm("write:1+:ENOSPC:*/a.nc"));
    int rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, values);
    fault_disarm();
    CHECK(write_code(rc));
    ncmpi_close(ncid);
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

/* If the system's error has no corresponding NC_ code, the message must contain the
 * system's text, even if MPI-IO made the system call. The text comes from MPI or, if MPI
 * has none, from errno. */
static void messages_contain_the_systems_error_text(void)
{
    static const char *const io[] = {"posix", "mpi"};
    for (int i = 0; i < 2; i++) {
        int ncid = -1, value = 1;
        MPI_Offset start = check.rank, count = 1;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_file_io", io[i]);
        MPI_Info_set(info, "nc_transfer", "direct");
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER,
                                        info, &ncid));
        MPI_Info_free(&info);
        x = new_dim(ncid, "x", check.nprocs);
        v = new_var(ncid, "v", NC_INT, 1, &x);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK(fault_arm("write:1+:ENOTCONN:*/a.nc"));
        int rc = ncmpi_put_vara_int_all(ncid, v, &start, &count, &value);
        CHECK(fault_disarm() > 0);
        CHECK_NC(NC_EWRITE, rc);
        if (strstr(ncmpi_strerror(rc), strerror(ENOTCONN)) == NULL)
            CHECK_STR(strerror(ENOTCONN), ncmpi_strerror(rc));
        ncmpi_close(ncid);
    }
}

static const struct check_test tests[] = {
    {"a full disk on one process is reported", a_full_disk_on_one_process_is_reported, 0},
    {"a full disk on all processes is reported", a_full_disk_on_all_processes_is_reported,
     CHECK_FORMATS},
    {"a failed put adds no record", a_failed_put_adds_no_record, CHECK_MODES},
    {"an independent put returns its own error", an_independent_put_returns_its_own_error,
     0},
    {"short transfers are completed", short_transfers_are_completed, 0},
    {"a failed read is reported", a_failed_read_is_reported, 0},
    {"a failed write of the header is an error on all",
     a_failed_write_of_the_header_is_an_error_on_all, CHECK_FORMATS},
    {"a failed read of the header is an error on all",
     a_failed_read_of_the_header_is_an_error_on_all, 0},
    {"a file that cannot be opened is an error on all",
     a_file_that_cannot_be_opened_is_an_error_on_all, 0},
    {"a file that cannot be created is an error on all",
     a_file_that_cannot_be_created_is_an_error_on_all, 0},
    {"a failed sync is reported", a_failed_sync_is_reported, 0},
    {"messages contain the system's error text", messages_contain_the_systems_error_text,
     0},
    {"safe mode reports a failed write to all at once",
     safe_mode_reports_a_failed_write_to_all_at_once, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
