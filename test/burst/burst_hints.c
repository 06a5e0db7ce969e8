/* Hints of the burst buffer, PnetCDF's and E10's: each is taken, told and acted on; what
 * failed is told one by one; a put is at most two system calls. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burst_stored.h"
#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { N = 50 };

/* The hints, logs beside the file, and statistics. */
static MPI_Info logs_beside(const char *hints)
{
    MPI_Info info = check_info(hints);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    MPI_Info_set(info, "nc_statistics", "enable");
    return info;
}

/* A fixed variable of N * nprocs ints, and another. */
static int create(const char *hints)
{
    int ncid, dim, v;
    MPI_Info info = logs_beside(hints);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "first", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "second", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Info_free(&info);
    return ncid;
}

static const char *in_force(int ncid, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int there = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    MPI_Info_free(&info);
    return there ? value : "";
}

static long long statistic(int ncid, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "nc_stat_%s", name);
    return atoll(in_force(ncid, key));
}

static void put(int ncid, int var, int from, int n)
{
    MPI_Offset start = check.rank * N + from, count = n;
    int values[N];
    for (int i = 0; i < n; i++)
        values[i] = start + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, var, &start, &count, values));
}

/* ---- what is taken ---- */

static const struct known {
    const char *hints, *key, *then;
} table[] = {
    {"x=y", "nc_burst_buf", "disable"},
    {"x=y", "nc_burst_buf_del_on_close", "enable"},
    {"x=y", "nc_burst_buf_flush_buffer_size", "0"},
    {"x=y", "nc_burst_buf_shared_logs", "auto"},
    {"x=y", "nc_burst_buf_recover", "enable"},
    {"x=y", "nc_burst_buf_flush", "flush_onclose"},
    {"x=y", "nc_burst_buf_threads", "1"},
    {"x=y", "nc_burst_buf_bandwidth", "0"},
    {"x=y", "nc_burst_buf_log_at", "wait"},
    {"nc_burst_buf=enable", "nc_burst_buf", "enable"},
    {"nc_burst_buf=perhaps", "nc_burst_buf", "disable"},
    {"nc_burst_buf_del_on_close=disable", "nc_burst_buf_del_on_close", "disable"},
    {"nc_burst_buf_flush_buffer_size=4096", "nc_burst_buf_flush_buffer_size", "4096"},
    {"nc_burst_buf_flush_buffer_size=-1", "nc_burst_buf_flush_buffer_size", "0"},
    {"nc_burst_buf_shared_logs=enable", "nc_burst_buf_shared_logs", "enable"},
    {"nc_burst_buf_recover=error", "nc_burst_buf_recover", "error"},
    {"nc_burst_buf_flush=flush_immediate", "nc_burst_buf_flush", "flush_immediate"},
    {"nc_burst_buf_threads=3", "nc_burst_buf_threads", "3"},
    {"nc_burst_buf_threads=0", "nc_burst_buf_threads", "1"},
    {"x=y", "nc_burst_buf_delay", "2"},
    {"nc_burst_buf_delay=0", "nc_burst_buf_delay", "0"},
    {"nc_burst_buf_delay=soon", "nc_burst_buf_delay", "2"},
    {"nc_burst_buf_bandwidth=1000000", "nc_burst_buf_bandwidth", "1000000"},
    {"nc_burst_buf_bandwidth=fast", "nc_burst_buf_bandwidth", "0"},
    {"nc_burst_buf_log_at=post", "nc_burst_buf_log_at", "post"},
    {"e10_cache=enable", "nc_burst_buf", "enable"},
    {"e10_cache=enable", "nc_burst_buf_flush", "flush_immediate"},
    {"e10_cache=coherent", "nc_burst_buf", "enable"},
    {"e10_cache=disable;e10_cache_threads=7", "nc_burst_buf", "disable"},
    {"e10_cache=enable;e10_cache_flush_flag=flush_onclose", "nc_burst_buf_flush",
     "flush_onclose"},
    {"e10_cache=enable;e10_cache_discard_flag=disable", "nc_burst_buf_del_on_close",
     "disable"},
    {"e10_cache=enable;e10_cache_threads=2", "nc_burst_buf_threads", "2"},
};

static void hints_are_taken_and_told(void)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int ncid = create(table[i].hints);
        if (!CHECK_STR(table[i].then, in_force(ncid, table[i].key)))
            fprintf(stderr, "# %s\n", table[i].hints);
        put(ncid, 0, 0, N);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* ---- what is acted on ---- */

static int count_entries(const char *directory, const char *part)
{
    int n = 0;
    struct dirent *e;
    DIR *d = opendir(directory);
    while (d != NULL && (e = readdir(d)) != NULL)
        n += strstr(e->d_name, part) != NULL;
    if (d != NULL) closedir(d);
    return n;
}

static int count_threads(void)
{
    return count_entries("/proc/self/task", "") - 2; /* . and .. */
}

static void as_many_threads_as_asked_for(void)
{
    int before = count_threads();
    for (int n = 1; n <= 4; n += 3) {
        char hints[100];
        snprintf(hints, sizeof hints, "e10_cache=enable;e10_cache_threads=%d", n);
        int ncid = create(hints);
        if (before > 0) CHECK_EQ(before + n, count_threads());
        put(ncid, 0, 0, N);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        if (before > 0) CHECK_EQ(before, count_threads());
    }
}

static void e10_path_and_discard_flag(void)
{
    char hints[1200];
    snprintf(hints, sizeof hints,
             "e10_cache=enable;e10_cache_path=%s;e10_cache_discard_flag=disable",
             check_path(""));
    int ncid = create(hints);
    put(ncid, 0, 0, N);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(check.nprocs, count_entries(check_path(""), ".meta"));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A thread must not write 400 bytes in less than a second: it has a first part to write,
 * then sleeps, so that what comes next still waits long after it could have gone. */
static void bandwidth_is_kept_to(void)
{
    int ncid = create("nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;"
                      "nc_burst_buf_bandwidth=20");
    put(ncid, 0, 0, N);
    for (int i = 0; i < 1000 && statistic(ncid, "burst_waiting_bytes") == 4 * N; i++)
        usleep(1000);
    put(ncid, 1, 0, N);
    usleep(50000); /* 1 byte by the hint */
    CHECK(statistic(ncid, "burst_waiting_bytes") >= 4 * N);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid)); /* waits for no limit */
}

static void what_is_in_the_background_is_counted(void)
{
    int ncid = create("nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate");
    put(ncid, 0, 0, N);
    for (int i = 0; i < 20000 && statistic(ncid, "burst_drained_bytes") < 4 * N; i++)
        usleep(1000);
    CHECK_EQ(4 * N, statistic(ncid, "burst_logged_bytes"));
    CHECK_EQ(4 * N, statistic(ncid, "burst_drained_bytes"));
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    CHECK(statistic(ncid, "burst_hidden_us") > 0);
    CHECK(statistic(ncid, "burst_log_bytes") >= 4 * N);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Write-like and read-like calls of this process so far; -1: the system does not say. */
static long long system_calls(void)
{
    char line[100];
    long long all = -1, n;
    FILE *f = fopen("/proc/self/io", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "syscr: %lld", &n) == 1 || sscanf(line, "syscw: %lld", &n) == 1)
            all = all < 0 ? n : all + n;
    if (f != NULL) fclose(f);
    return all;
}

static void a_put_is_at_most_two_system_calls(void)
{
    enum { MANY = 500 };
    int ncid = create("nc_burst_buf=enable");
    double values[3] = {1, 2, 3};
    int same[3] = {1, 2, 3};
    MPI_Offset start = check.rank * N, count = 3;
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double(ncid, 0, &start, &count, values));
    long long before = system_calls();
    for (int i = 0; i < MANY; i++) /* half of them converted */
        CHECK_NC(NC_NOERR, i % 2 ? ncmpi_put_vara_double(ncid, 0, &start, &count, values)
                                 : ncmpi_put_vara_int(ncid, 0, &start, &count, same));
    long long calls = system_calls() - before;
    int most = logs_are_stored() ? 2 : 4;
    CHECK(before < 0 || (calls >= MANY && calls <= most * MANY));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* ---- what failed ---- */

static int count_in(const char *path, const char *word)
{
    char line[2000];
    int n = 0;
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n += strstr(line, word) != NULL;
    if (f != NULL) fclose(f);
    return n;
}

/* Both variables in the words, with their regions and the log; each write in the report,
 * also where the words have no room for it. The next flush brings all of it. */
static void all_that_failed_are_told(void)
{
    char hints[1200], report[1100], region[40];
    snprintf(report, sizeof report, "%s", check_path("report"));
    snprintf(hints, sizeof hints, "nc_burst_buf=enable;nc_report=%s", report);
    int ncid = create(hints), values[N], wrong = 0;
    for (int i = 0; i < N; i++)
        put(ncid, i % 2, i, 1);
    CHECK(fault_arm("write:1+:ENOSPC:*a.nc"));
    int rc = ncmpi_flush(ncid);
    fault_disarm();
    CHECK(rc != NC_NOERR);
    const char *text = ncmpi_strerror(rc);
    snprintf(region, sizeof region, "[%d+1]", check.rank * N);
    CHECK(strstr(text, "'first'") != NULL && strstr(text, "'second'") != NULL);
    CHECK(strstr(text, region) != NULL && strstr(text, ".meta") != NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(N * check.nprocs, count_in(report, "not in the file"));
    snprintf(region, sizeof region, "[%d+1]", check.rank * N + N - 1);
    CHECK_EQ(1, count_in(report, region));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(1, count_in(report, "burst buffer: bytes logged"));
    CHECK_EQ(1, count_in(report, "burst buffer: bytes drained"));
    CHECK_EQ(1, count_in(report, "burst buffer: microseconds of puts"));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    MPI_Offset start = check.rank * N, count = N;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 1, &start, &count, values));
    for (int i = 1; i < N; i += 2)
        wrong += values[i] != start + i;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Asks until it is through, or there is an error, which is returned. */
static int wait_for_threads(int ncid)
{
    for (int i = 0; i < 20000; i++) {
        int done = 0, rc = ncmpix_flush_test(ncid, &done);
        if (done || rc != NC_NOERR) return rc;
        usleep(1000);
    }
    return -1;
}

/* By the question, as often as it is put; the next beginning tries again. */
static void what_a_thread_cannot_write_is_told(void)
{
    int done = 5, ncid = create("nc_burst_buf=enable");
    put(ncid, 0, 0, N);
    CHECK(fault_arm("write:1+:ENOSPC:*a.nc"));
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_ENO_SPACE, wait_for_threads(ncid));
    CHECK_NC(NC_ENO_SPACE, ncmpix_flush_test(ncid, &done));
    CHECK_EQ(5, done);
    fault_disarm();
    CHECK_EQ(4 * N, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_NOERR, wait_for_threads(ncid));
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* A signal comes while the log, or the file, is synced: that goes on, and nothing is
 * drained for it. */
static void a_sync_that_is_interrupted_goes_on(void)
{
    static const char *const files[] = {"*.data", "*.meta"};
    for (int i = 0; i < 2; i++) {
        char plan[100];
        int ncid = create("nc_burst_buf=enable");
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid)); /* the new file */
        put(ncid, 0, 0, N);
        snprintf(plan, sizeof plan, "sync:1:EINTR:%s", files[i]);
        CHECK(fault_arm(plan));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_EQ(1, fault_disarm());
        CHECK_EQ(0, statistic(ncid, "burst_drained_bytes"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static const struct check_test tests[] = {
    {"hints are taken and told", hints_are_taken_and_told, 0},
    {"as many threads as asked for", as_many_threads_as_asked_for, 0},
    {"e10_cache_path and e10_cache_discard_flag", e10_path_and_discard_flag, 0},
    {"bandwidth is kept to", bandwidth_is_kept_to, 0},
    {"what is in the background is counted", what_is_in_the_background_is_counted, 0},
    {"a put is at most two system calls", a_put_is_at_most_two_system_calls, 0},
    {"all that failed are told", all_that_failed_are_told, 0},
    {"what a thread cannot write is told", what_a_thread_cannot_write_is_told, 0},
    {"a sync that is interrupted goes on", a_sync_that_is_interrupted_goes_on, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
