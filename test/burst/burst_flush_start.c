/* A program says when draining may begin: then it does, whatever the hints say of when,
 * by threads, and no process waits for another; what a thread cannot write is told. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "no_threads.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { N = 50 };

/* Variables of N * nprocs ints each; logs beside the file. */
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

/* Asks until it is through, or there is an error, which is returned; -1: it never was. */
static int wait_for(int ncid)
{
    for (int i = 0; i < 20000; i++) {
        int done = 0, rc = ncmpix_flush_test(ncid, &done);
        if (done || rc != NC_NOERR) return rc;
        usleep(1000);
    }
    return -1;
}

/* In the file itself, which the program reads without the library's knowledge of its log.
 */
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

/* What comes behind the call waits for the next one, or for the close. */
static void it_begins_when_the_program_says(void)
{
    int done = 5, ncid = create("nc_burst_buf=enable", 3);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, &done));
    CHECK_EQ(1, done); /* nothing was asked for */
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
    CHECK_NC(NC_NOERR, wait_for(ncid)); /* that was not asked for */
    is_in_the_file(ncid, 2, false);
    close_and_look(ncid, 3);
}

/* Threads that wait for a pause in the puts need not wait any longer. */
static void it_does_not_wait_for_the_hint(void)
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

/* Process 0 calls it alone, and the others come late to everything that follows. */
static void nobody_waits_for_another(void)
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

/* Values of the later call stay, though a thread may have been at the earlier ones. */
static void order_is_kept(void)
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
/* All that is logged, by the call itself. */
static void where_there_are_no_threads_the_call_writes(void)
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

static void where_no_process_may_write_alone_it_says_so(void)
{
    int ncid = create("nc_burst_buf=enable;romio_no_indep_rw=true", 1);
    put(ncid, 0);
    no_threads = true;
    int rc = ncmpix_flush_start(ncid);
    no_threads = false;
    CHECK(rc == NC_ENOTSUPPORT || rc == NC_NOERR); /* with Open MPI it is no hint */
    is_in_the_file(ncid, 0, rc == NC_NOERR);
    close_and_look(ncid, 1);
}

#endif

/* The hint is about what MPI-IO does: a thread has the file open beside it. */
static void without_independent_access_a_thread_drains(void)
{
    int ncid = create("nc_burst_buf=enable;romio_no_indep_rw=true", 1);
    put(ncid, 0);
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid));
    is_in_the_file(ncid, 0, true);
    close_and_look(ncid, 1);
}

static void without_a_log_there_is_nothing_to_do(void)
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

/* Definitions that change, and all is as before. */
static void it_outlives_a_redefinition(void)
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
    {"it begins when the program says", it_begins_when_the_program_says, CHECK_MODES},
    {"it does not wait for the hint", it_does_not_wait_for_the_hint, CHECK_MODES},
    {"nobody waits for another", nobody_waits_for_another, CHECK_MODES},
    {"order is kept", order_is_kept, CHECK_MODES},
#ifndef __SANITIZE_THREAD__
    {"where there are no threads the call writes",
     where_there_are_no_threads_the_call_writes, CHECK_MODES},
    {"where no process may write alone it says so",
     where_no_process_may_write_alone_it_says_so, 0},
#endif
    {"without independent access a thread drains",
     without_independent_access_a_thread_drains, 0},
    {"without a log there is nothing to do", without_a_log_there_is_nothing_to_do, 0},
    {"it outlives a redefinition", it_outlives_a_redefinition, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
