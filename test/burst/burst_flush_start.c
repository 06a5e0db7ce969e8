/* Tests ncmpix_flush_start, which starts a drain. Threads then drain the log regardless
 * of the hints, and processes do not wait for each other. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "no_threads.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { N = 50 };

/* Creates a dataset with nvars variables of N * nprocs ints each. Its logs are in the
 * same directory. */
static int create(const char *hints, int nvars)
{
    int ncid = -1, dim, v;
    char name[20];
    MPI_Info info = check_info(hints);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    MPI_Info_set(info, "nc_statistics", "enable");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", (MPI_Offset)N * check.nprocs, &dim));
    for (int i = 0; i < nvars; i++) {
        snprintf(name, sizeof name, "v%d", i);
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, NC_INT, 1, &dim, &v));
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

static int value(int var, int64_t place)
{
    return (int)(1000000 * (var + 1) + place);
}

static void put(int ncid, int var)
{
    MPI_Offset start = (MPI_Offset)check.rank * N, count = N;
    int values[N];
    for (int i = 0; i < N; i++)
        values[i] = value(var, start + i);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_put_vara_int_all(ncid, var, &start, &count, values)
                           : ncmpi_put_vara_int(ncid, var, &start, &count, values));
}

static long long statistic(int ncid, const char *name)
{
    char key[64], text[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int there = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    snprintf(key, sizeof key, "nc_stat_%s", name);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there);
    MPI_Info_free(&info);
    return there ? atoll(text) : -1;
}

/* Polls until everything has been drained. Returns the drain's result, or -1 after a
 * timeout. */
static int wait_for(int ncid)
{
    for (int i = 0; i < 20000; i++) {
        int done = 0, rc = ncmpix_flush_test(ncid, &done);
        if (done || rc != NC_NOERR) return rc;
        usleep(1000);
    }
    return -1;
}

/* Checks that this process's values are in the file or, if `there` is false, that they
 * are not. Reads the file without the library, because the library would also read the
 * log. */
static void is_in_the_file(int ncid, int var, bool there)
{
    MPI_Offset begin;
    int values[N] = {0}, wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, var, &begin));
    FILE *f = fopen(check_path("a.nc"), "rb");
    CHECK(f != NULL);
    if (f == NULL) return;
    if (fseek(f, (long)begin + (long)sizeof values * check.rank, SEEK_SET) == 0)
        (void)!fread(values, 1, sizeof values, f);
    fclose(f);
    for (int i = 0; i < N; i++) {
        unsigned char *b = (unsigned char *)&values[i];
        int found = (int)((unsigned)b[0] << 24 | (unsigned)b[1] << 16 |
                          (unsigned)b[2] << 8 | b[3]);
        wrong += found != value(var, (int64_t)check.rank * N + i);
    }
    CHECK_EQ(there ? 0 : N, wrong);
}

static void close_and_look(int ncid, int nvars)
{
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    for (int v = 0; v < nvars; v++)
        is_in_the_file(ncid, v, true);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Values put after the call are drained only by the next call or by the close. */
static void flush_start_drains_the_values_put_before_it(void)
{
    int done = 5, ncid = create("nc_burst_buf=enable", 3);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, &done));
    CHECK_EQ(1, done); /* nothing was requested, so nothing is pending */
    for (int v = 0; v < 2; v++) {
        put(ncid, v);
        usleep(20000);
        is_in_the_file(ncid, v, false);
        CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
        CHECK_NC(NC_NOERR, wait_for(ncid));
        is_in_the_file(ncid, v, true);
        CHECK_EQ((v + 1) * 4 * N, statistic(ncid, "burst_drained_bytes"));
    }
    put(ncid, 2);
    usleep(20000);
    CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid)); /* the last put is not drained */
    is_in_the_file(ncid, 2, false);
    close_and_look(ncid, 3);
}

/* Threads drain the log immediately after the call, although the hint makes them wait for
 * a pause in the puts. */
static void flush_start_drains_without_the_delay_of_the_hint(void)
{
    int ncid = create("nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;"
                      "nc_burst_buf_delay=3000000;nc_burst_buf_threads=2",
                      2);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int v = 0; v < 2; v++) {
        put(ncid, v);
        usleep(5000);
        is_in_the_file(ncid, v, false);
        CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
        CHECK_NC(NC_NOERR, wait_for(ncid));
        is_in_the_file(ncid, v, true);
    }
    close_and_look(ncid, 2);
}

/* Only process 0 makes the call, so only process 0's values are drained. */
static void flush_start_is_not_collective(void)
{
    int ncid = create("nc_burst_buf=enable", 1);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    put(ncid, 0);
    if (check.rank == 0) {
        CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
        CHECK_NC(NC_NOERR, wait_for(ncid));
        is_in_the_file(ncid, 0, true);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank != 0) is_in_the_file(ncid, 0, false);
    MPI_Barrier(MPI_COMM_WORLD);
    close_and_look(ncid, 1);
}

/* Later values take precedence, even if a thread is still draining earlier ones. */
static void later_values_take_precedence_while_threads_drain(void)
{
    enum { ROUNDS = 30 };
    int ncid = create("nc_burst_buf=enable;nc_burst_buf_threads=3", 1), wrong = 0;
    MPI_Offset start, count = N;
    int values[N];
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    for (int r = 0; r < ROUNDS; r++) {
        int row = check.collective ? (check.rank + r) % check.nprocs : check.rank;
        start = (MPI_Offset)row * N;
        for (int i = 0; i < N; i++)
            values[i] = r * 1000 + row;
        CHECK_NC(NC_NOERR, check.collective
                               ? ncmpi_put_vara_int_all(ncid, 0, &start, &count, values)
                               : ncmpi_put_vara_int(ncid, 0, &start, &count, values));
        if (check_random_own(2)) CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    }
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    start = (MPI_Offset)check.rank * N;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, &start, &count, values));
    for (int i = 0; i < N; i++)
        wrong += values[i] != (ROUNDS - 1) * 1000 + check.rank;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

#ifndef __SANITIZE_THREAD__
/* If the call cannot start threads, it writes all logged values itself. */
static void without_threads_flush_start_itself_writes(void)
{
    int done = 0, ncid = create("nc_burst_buf=enable", 2);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    put(ncid, 0);
    no_threads = true;
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    no_threads = false;
    is_in_the_file(ncid, 0, true);
    put(ncid, 1);
    CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, &done));
    CHECK_EQ(1, done);
    is_in_the_file(ncid, 1, false);
    close_and_look(ncid, 2);
}

static void flush_start_fails_if_no_process_may_write_independently(void)
{
    int ncid = create("nc_burst_buf=enable;romio_no_indep_rw=true", 1);
    put(ncid, 0);
    no_threads = true;
    int rc = ncmpix_flush_start(ncid);
    no_threads = false;
    CHECK(rc == NC_ENOTSUPPORT || rc == NC_NOERR); /* Open MPI ignores the hint */
    is_in_the_file(ncid, 0, rc == NC_NOERR);
    close_and_look(ncid, 1);
}

#endif

/* The hint restricts only MPI-IO. A thread opens the file itself and drains the log. */
static void without_independent_MPI_IO_a_thread_drains(void)
{
    int ncid = create("nc_burst_buf=enable;romio_no_indep_rw=true", 1);
    put(ncid, 0);
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid));
    is_in_the_file(ncid, 0, true);
    close_and_look(ncid, 1);
}

static void without_a_log_flush_start_does_nothing(void)
{
    int done = 0, ncid = create("x=y", 1);
    CHECK_NC(NC_EBADID, ncmpix_flush_start(-1));
    CHECK_NC(NC_EBADID, ncmpix_flush_test(-1, &done));
    CHECK_EQ(0, done);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    for (int defining = 1; defining >= 0; defining--) {
        CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
        done = 0;
        CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, &done));
        CHECK_EQ(1, done);
        if (defining) CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Draining continues to work after a redefinition. */
static void draining_continues_after_a_redefinition(void)
{
    int v, ncid = create("nc_burst_buf=enable", 2);
    put(ncid, 0);
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "w", NC_INT, 0, NULL, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put(ncid, 1);
    usleep(5000);
    is_in_the_file(ncid, 1, false);
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid));
    is_in_the_file(ncid, 1, true);
    close_and_look(ncid, 2);
}

static const struct check_test tests[] = {
    {"flush_start drains the values put before it",
     flush_start_drains_the_values_put_before_it, CHECK_MODES},
    {"flush_start drains without the delay of the hint",
     flush_start_drains_without_the_delay_of_the_hint, CHECK_MODES},
    {"flush_start is not collective", flush_start_is_not_collective, CHECK_MODES},
    {"later values take precedence while threads drain",
     later_values_take_precedence_while_threads_drain, CHECK_MODES},
#ifndef __SANITIZE_THREAD__
    {"without threads flush_start itself writes",
     without_threads_flush_start_itself_writes, CHECK_MODES},
    {"flush_start fails if no process may write independently",
     flush_start_fails_if_no_process_may_write_independently, 0},
#endif
    {"without independent MPI-IO a thread drains",
     without_independent_MPI_IO_a_thread_drains, 0},
    {"without a log flush_start does nothing", without_a_log_flush_start_does_nothing, 0},
    {"draining continues after a redefinition", draining_continues_after_a_redefinition,
     0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
