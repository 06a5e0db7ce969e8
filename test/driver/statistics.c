/* Tests the statistics. If and only if the hints request it, the library must report its
 * counts in the info object and in a report file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "made_dataset.h"

enum { N = 1000 };

/* Defines, puts and gets a variable with N ints per process. */
static void write_and_read(int ncid)
{
    int values[N], x = new_dim(ncid, "x", N * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = i;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
}

static void a_hint_makes_statistics_available(void)
{
    int ncid = counting_dataset("a.nc", NULL, NULL);
    write_and_read(ncid);
    CHECK_EQ(N * 4, count_of(ncid, "put_bytes"));
    CHECK_EQ(N * 4, count_of(ncid, "get_bytes"));
    CHECK_EQ(2, count_of(ncid, "calls_direct") + count_of(ncid, "calls_node") +
                    count_of(ncid, "calls_across") + count_of(ncid, "calls_view"));
    CHECK_EQ(0, count_of(ncid, "calls_independent"));
    CHECK_EQ(2, count_of(ncid, "runs"));
    CHECK(count_of(ncid, "agreements") > 2);
    close_dataset(ncid);
}

static void statistics_are_not_reported_by_default(void)
{
    int ncid = new_dataset("a.nc");
    write_and_read(ncid);
    CHECK_EQ(-1, count_of(ncid, "put_bytes"));
    close_dataset(ncid);
}

/* Returns the number that follows `what` in the report, which is a sum over all
 * processes. Returns -1 if the report does not contain `what`. */
static long long all_in(const char *report, const char *what)
{
    const char *line = strstr(report, what);
    return line == NULL ? -1 : strtoll(line + strlen(what), NULL, 10);
}

static void a_report_is_appended_at_close(void)
{
    char path[MPI_MAX_INFO_VAL];
    snprintf(path, sizeof path, "%s", check_path("report.txt"));
    for (int round = 0; round < 2; round++) {
        int ncid = counting_dataset("a.nc", "nc_report", path);
        write_and_read(ncid);
        close_dataset(ncid);
    }
    if (check.rank != 0) return;
    size_t length = 0;
    char *report = (char *)check_read_file(path, &length), *second;
    if (report == NULL) return;
    report[length] = '\0'; /* within the memory that check_read_file allocates */
    CHECK(strstr(report, "a.nc: statistics of ") != NULL);
    CHECK_EQ(4LL * N * check.nprocs, all_in(report, "bytes put "));
    CHECK_EQ(4LL * N * check.nprocs, all_in(report, "bytes got "));
    CHECK_EQ(check.nprocs, all_in(report, "file: opened "));
    CHECK_EQ(-1, all_in(report, "independent data calls"));
    second = strstr(report + 1, "a.nc: statistics of ");
    CHECK(second != NULL && strstr(second + 1, "a.nc: statistics of ") != NULL);
    free(report);
}

/* A report that cannot be appended to its file must be printed to standard error, which
 * this test redirects to a file. */
static void a_report_that_cannot_be_written_is_printed(void)
{
    size_t length;
    char nowhere[1000];
    snprintf(nowhere, sizeof nowhere, "%s/none/report.txt", check_path(""));
    int ncid = counting_dataset("a.nc", "nc_report", nowhere), voice = dup(STDERR_FILENO);
    int heard = open(check_path(check.rank == 0 ? "heard" : "others"),
                     O_CREAT | O_TRUNC | O_WRONLY, 0600);
    write_and_read(ncid);
    CHECK(dup2(heard, STDERR_FILENO) >= 0);
    int rc = ncmpi_close(ncid);
    CHECK(dup2(voice, STDERR_FILENO) >= 0);
    CHECK_NC(NC_NOERR, rc);
    CHECK(close(heard) == 0 && close(voice) == 0);
    if (check.rank != 0) return;
    char *report = (char *)check_read_file(check_path("heard"), &length);
    if (report == NULL) return;
    report[length] = '\0'; /* within the memory that check_read_file allocates */
    CHECK_EQ(4LL * N * check.nprocs, all_in(report, "bytes put "));
    CHECK(strstr(report, "(not written to ") != NULL);
    CHECK(strstr(report, "No such file") != NULL);
    free(report);
}

/* Returns how many times the processes agree in ncmpi_wait_all after process 0 has posted
 * a put, a get, or both. */
static long long agreements_of_wait(int ncid, int v, bool put, bool get)
{
    static int value; /* must stay valid until the wait */
    MPI_Offset at = 0;
    if (put && check.rank == 0)
        CHECK_NC(NC_NOERR, ncmpi_iput_var1_int(ncid, v, &at, &value, NULL));
    if (get && check.rank == 0)
        CHECK_NC(NC_NOERR, ncmpi_iget_var1_int(ncid, v, &at, &value, NULL));
    long long before = count_of(ncid, "agreements");
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    return count_of(ncid, "agreements") - before;
}

static void waits_for_puts_only_make_one_agreement(void)
{
    int ncid = counting_dataset("a.nc", "nc_transfer", "direct");
    int x = new_dim(ncid, "x", N), v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_EQ(1, agreements_of_wait(ncid, v, true, false));
    CHECK_EQ(1, agreements_of_wait(ncid, v, false, false));
    CHECK_EQ(2, agreements_of_wait(ncid, v, true, true));
    CHECK_EQ(2, agreements_of_wait(ncid, v, false, true));
    CHECK_EQ(1, agreements_of_wait(ncid, v, true, false));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"a hint makes statistics available", a_hint_makes_statistics_available, 0},
    {"statistics are not reported by default", statistics_are_not_reported_by_default, 0},
    {"waits for puts only make one agreement", waits_for_puts_only_make_one_agreement, 0},
    {"a report is appended at close", a_report_is_appended_at_close, 0},
    {"a report that cannot be written is printed",
     a_report_that_cannot_be_written_is_printed, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
