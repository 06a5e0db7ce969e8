/* Tests the burst buffer's hints, both PnetCDF's and E10's: each hint is accepted, is
 * reported, and takes effect. Also tests that each failed write is reported, and that a
 * put makes at most two system calls. */
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

/* Returns an info object with these hints, plus hints that place logs in the file's
 * directory and enable statistics. */
static MPI_Info logs_beside(const char *hints)
{
    MPI_Info info = check_info(hints);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    MPI_Info_set(info, "nc_statistics", "enable");
    return info;
}

/* Creates a dataset with two fixed-size variables of N * nprocs ints. */
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

/* ---- accepted hints ---- */

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

static void hints_are_applied_and_reported(void)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int ncid = create(table[i].hints);
        if (!CHECK_STR(table[i].then, in_force(ncid, table[i].key)))
            fprintf(stderr, "# %s\n", table[i].hints);
        put(ncid, 0, 0, N);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* ---- what hints do ---- */

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
    return count_entries("/proc/self/task", "") - 2; /* not counting . and .. */
}

static void the_number_of_threads_is_as_requested(void)
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

/* Usually a sync only makes the logs safe. */
static void a_sync_writes_a_coherent_cache_to_the_file(void)
{
    for (int coherent = 0; coherent < 2; coherent++) {
        int ncid =
            create(coherent ? "e10_cache=coherent;e10_cache_flush_flag=flush_onclose"
                            : "e10_cache=enable;e10_cache_flush_flag=flush_onclose");
        put(ncid, 0, 0, N);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_EQ(coherent ? 0 : 4 * N, statistic(ncid, "burst_waiting_bytes"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* A thread drains the log, limited to 20 bytes per second. It writes part of the first
 * put and then sleeps, so the second put must still be pending after 50 ms. */
static void threads_respect_the_bandwidth_limit(void)
{
    int ncid = create("nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;"
                      "nc_burst_buf_bandwidth=20");
    put(ncid, 0, 0, N);
    for (int i = 0; i < 1000 && statistic(ncid, "burst_waiting_bytes") == 4 * N; i++)
        usleep(1000);
    put(ncid, 1, 0, N);
    usleep(50000); /* long enough for 1 byte at this limit */
    CHECK(statistic(ncid, "burst_waiting_bytes") >= 4 * N);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid)); /* the close ignores the limit */
}

static void background_writes_are_counted(void)
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

/* Returns the number of read and write system calls that this process has made, or -1 if
 * the system does not report them. */
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

static void a_put_makes_at_most_two_system_calls(void)
{
    enum { MANY = 500 };
    int ncid = create("nc_burst_buf=enable");
    double values[3] = {1, 2, 3};
    int same[3] = {1, 2, 3};
    MPI_Offset start = check.rank * N, count = 3;
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double(ncid, 0, &start, &count, values));
    long long before = system_calls();
    for (int i = 0; i < MANY; i++) /* every second put converts its values */
        CHECK_NC(NC_NOERR, i % 2 ? ncmpi_put_vara_double(ncid, 0, &start, &count, values)
                                 : ncmpi_put_vara_int(ncid, 0, &start, &count, same));
    long long calls = system_calls() - before;
    int most = logs_are_stored() ? 2 : 4;
    CHECK(before < 0 || (calls >= MANY && calls <= most * MANY));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* ---- failures ---- */

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

/* The error message names both variables, their regions and the log. The report lists
 * every failed write, even those that did not fit into the message. The next flush writes
 * everything. */
static void all_failed_writes_are_reported(void)
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
    CHECK_EQ(N * check.nprocs, count_in(report, "not written to the file"));
    snprintf(region, sizeof region, "[%d+1]", check.rank * N + N - 1);
    CHECK_EQ(1, count_in(report, region));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_EQ(0, statistic(ncid, "burst_waiting_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(1, count_in(report, "burst buffer: bytes logged"));
    CHECK_EQ(1, count_in(report, "burst buffer: bytes drained"));
    CHECK_EQ(1, count_in(report, "burst buffer: time of puts"));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    MPI_Offset start = check.rank * N, count = N;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 1, &start, &count, values));
    for (int i = 1; i < N; i += 2)
        wrong += values[i] != start + i;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Polls until the drain has ended. Returns the drain's result, or -1 after a timeout. */
static int wait_for_threads(int ncid)
{
    for (int i = 0; i < 20000; i++) {
        int done = 0, rc = ncmpix_flush_test(ncid, &done);
        if (done || rc != NC_NOERR) return rc;
        usleep(1000);
    }
    return -1;
}

/* Each call to ncmpix_flush_test returns the error. The next call to ncmpix_flush_start
 * tries again. */
static void a_failed_write_by_a_thread_is_reported(void)
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

/* A signal interrupts the sync of the log. The library must repeat the sync instead of
 * falling back to draining. */
static void an_interrupted_sync_continues(void)
{
    static const char *const files[] = {"*.data", "*.meta"};
    for (int i = 0; i < 2; i++) {
        char plan[100];
        int ncid = create("nc_burst_buf=enable");
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid)); /* syncs the new file, not only the log */
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
    {"hints are applied and reported", hints_are_applied_and_reported, 0},
    {"the number of threads is as requested", the_number_of_threads_is_as_requested, 0},
    {"e10_cache_path and e10_cache_discard_flag are applied", e10_path_and_discard_flag,
     0},
    {"a sync writes a coherent cache to the file",
     a_sync_writes_a_coherent_cache_to_the_file, 0},
    {"threads respect the bandwidth limit", threads_respect_the_bandwidth_limit, 0},
    {"background writes are counted", background_writes_are_counted, 0},
    {"a put makes at most two system calls", a_put_makes_at_most_two_system_calls, 0},
    {"all failed writes are reported", all_failed_writes_are_reported, 0},
    {"a failed write by a thread is reported", a_failed_write_by_a_thread_is_reported, 0},
    {"an interrupted sync continues", an_interrupted_sync_continues, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
