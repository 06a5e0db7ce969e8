/* Makes the first, second, third ... call on the log or on the file fail. Each process
 * must return an error or work around the failure, and none may hang. Every value whose
 * put succeeded must be in the dataset, at the latest after the next open. With
 * BURST_FAULTS=all, every call fails in some run; otherwise only some calls do. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burst_stored.h"
#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { N = 50, PUTS = 10 };

static const char *shared = "disable", *flush = "flush_onclose", *deferral = "disable";
static int acked[PUTS]; /* whether each put by this process has succeeded */
static char plan[1000]; /* the current fault */

static MPI_Info new_info(void)
{
    MPI_Info info;
    char dir[1000];
    snprintf(dir, sizeof dir, "%s", check_path(""));
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    MPI_Info_set(info, "nc_burst_buf_shared_logs", shared);
    MPI_Info_set(info, "nc_burst_buf_flush", flush);
    MPI_Info_set(info, "nc_deferred_close", deferral);
    MPI_Info_set(info, "nc_burst_buf_delay", "0");
    return info;
}

/* ---- the program ---- */

static bool failed_anywhere(int rc)
{
    int worst = rc != NC_NOERR;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst != 0;
}

/* Checks that a collective call that makes definitions has failed on all processes or on
 * none. Returns whether it succeeded. */
static bool defined(int rc)
{
    bool any = failed_anywhere(rc);
    CHECK(any == (rc != NC_NOERR));
    return !any;
}

static int define(int ncid)
{
    int dims[2], v;
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]);
    ncmpi_def_var(ncid, "r", NC_INT, 2, dims, &v);
    ncmpi_def_dim(ncid, "put", PUTS, &dims[0]);
    ncmpi_def_var(ncid, "f", NC_INT, 2, dims, &v);
    return ncmpi_enddef(ncid);
}

static int value_of(int put, int rank, int i)
{
    return put * 10000 + rank * 1000 + i;
}

static void put(int ncid, int k, bool all)
{
    MPI_Offset start[2] = {k, check.rank * N}, count[2] = {1, N};
    int values[N];
    for (int i = 0; i < N; i++)
        values[i] = value_of(k, check.rank, i);
    acked[k] = (all ? ncmpi_put_vara_int_all(ncid, k % 2, start, count, values)
                    : ncmpi_put_vara_int(ncid, k % 2, start, count, values)) == NC_NOERR;
}

static void check_values(int ncid)
{
    for (int k = 0; k < PUTS; k++) {
        MPI_Offset start[2] = {k, check.rank * N}, count[2] = {1, N}, rows = 0;
        int values[N], wrong = 0;
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &rows));
        memset(values, 0, sizeof values);
        if (k % 2 == 0 && rows <= k) count[0] = count[1] = start[0] = start[1] = 0;
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, k % 2, start, count, values));
        for (int i = 0; i < N && acked[k]; i++)
            wrong += values[i] != value_of(k, check.rank, i);
        if (CHECK_EQ(0, wrong)) continue;
        printf("# put %d of process %d is lost with %s, %s, %s, close later: %s\n", k,
               check.rank, plan, shared, flush, deferral);
        return;
    }
}

static void look_again(void)
{
    int ncid;
    MPI_Info info = new_info();
    int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid);
    MPI_Info_free(&info);
    /* A log is not replayed if a change to the file could not be recorded in it. */
    if (rc == NC_EBADLOG && !logs_are_stored()) return;
    if (!CHECK_NC(NC_NOERR, rc)) return;
    check_values(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Makes threads drain the log. Waits until they have finished or failed. */
static int drain_behind(int ncid)
{
    int done = 0, rc = ncmpix_flush_start(ncid);
    for (int i = 0; i < 20000 && rc == NC_NOERR && !done; i++) {
        rc = ncmpix_flush_test(ncid, &done);
        if (!done) usleep(200);
    }
    CHECK(rc != NC_NOERR || done);
    return rc;
}

/* Closes the dataset, and completes the close if it was deferred. Returns the first
 * error. */
static int close_at_last(int ncid)
{
    int rc = ncmpi_close(ncid), completed = ncmpix_wait_closed(check_path("a.nc"));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL)); /* an error is returned only once */
    return rc != NC_NOERR ? rc : completed;
}

/* Runs the program. Returns the number of calls that failed, summed over all processes.
 * Sets *errors if any library call returned an error. */
static int run(bool *errors)
{
    int ncid, faults;
    MPI_Info info = new_info();
    memset(acked, 0, sizeof acked);
    *errors = true;
    CHECK(fault_arm(plan));
    int rc = ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid);
    MPI_Info_free(&info);
    if (defined(rc)) {
        bool good = defined(define(ncid));
        *errors = !good;
        for (int k = 0; k < PUTS && good; k++) {
            if (k == 7) *errors |= ncmpi_begin_indep_data(ncid) != NC_NOERR;
            put(ncid, k, k != 7);
            *errors |= !acked[k];
            if (k == 7) *errors |= ncmpi_end_indep_data(ncid) != NC_NOERR;
            if (k == 2 || k == 8) *errors |= ncmpi_sync(ncid) != NC_NOERR;
            if (k == 4) *errors |= ncmpi_flush(ncid) != NC_NOERR;
            if (k == 6) *errors |= drain_behind(ncid) != NC_NOERR;
        }
        bool closed = close_at_last(ncid) == NC_NOERR;
        *errors |= !closed;
        faults = fault_disarm();
        if (good) look_again();
    } else {
        faults = fault_disarm();
    }
    int all[2] = {faults, *errors};
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    *errors = all[1] > 0;
    return all[0];
}

/* ---- the faults ---- */

static int points, faults_made;

/* Makes only the nth call fail or, with `later`, all calls from the nth on. The fault
 * occurs on one process if n is even, otherwise on all. */
static int one_point(const char *op, const char *what, const char *pattern, int n,
                     bool later, bool *errors)
{
    char who[16] = "";
    if (n % 2 == 0) snprintf(who, sizeof who, ":%d", n / 2 % check.nprocs);
    deferral = points / 2 % 2 ? "enable" : "disable";
    /* only in the test's directory, because MPI libraries open other files */
    snprintf(plan, sizeof plan, "%s:%d%s:%s:%s%s", op, n, later ? "+" : "", what,
             pattern[0] == '\0' ? "*" : check_path(pattern), who);
    int faults = run(errors);
    points++;
    faults_made += faults;
    return faults;
}

static bool all_of_them(void)
{
    const char *asked = getenv("BURST_FAULTS");
    return asked != NULL && strcmp(asked, "all") == 0;
}

static void every_call(const char *op, const char *what, const char *pattern,
                       bool must_go_on)
{
    bool errors;
    int idle = 0, step = all_of_them() ? 1 : check.nprocs == 1 ? 3 : 9;
    int most = all_of_them() ? 2 * check.nprocs : 2; /* some processes make fewer calls */
    for (int n = 1; idle < most; n += step)
        for (int later = 0; later < 2; later++) {
            int faults = one_point(op, what, pattern, n, later, &errors);
            idle = faults > 0 ? 0 : idle + 1;
            if (must_go_on) CHECK(!errors);
        }
}

static void every_way(const char *pattern, bool must_go_on)
{
    static const char *const codes[] = {"EIO", "ENOSPC", "short"};
    for (int way = 0; way < 4; way++) {
        shared = way & 1 ? "enable" : "disable";
        flush = way & 2 ? "flush_immediate" : "flush_onclose";
        /* A shared log remains if it could not record the contents of the file. */
        bool must = must_go_on && (way % 2 == 0 || logs_are_stored());
        for (int i = 0; i < 3; i++)
            if (all_of_them() || check.nprocs == 1 || way % 3 == i)
                every_call("write", codes[i], pattern, must);
    }
    if (check.rank == 0) printf("# %d points, %d faults\n", points, faults_made);
    points = faults_made = 0;
}

static void no_value_is_lost_if_the_log_cannot_be_written(void)
{
    every_way("*.data", true);
    every_way("*.meta*", true);
}

static void puts_go_to_the_file_if_there_is_no_space_for_a_log(void)
{
    for (int way = 0; way < 4; way++) {
        shared = way & 1 ? "enable" : "disable";
        flush = way & 2 ? "flush_immediate" : "flush_onclose";
        every_call("allocate", "ENOSPC", "*.meta*", true);
        every_call("open", "EMFILE", "*.meta*", true);
        every_call("open", "EACCES", "*.data", true);
    }
}

static void the_log_is_kept_if_the_file_cannot_be_written(void)
{
    every_way("a.nc", false);
}

static void errors_are_returned_if_neither_log_nor_file_can_be_written(void)
{
    every_way("a.nc*", false);
}

static void a_sync_returns_errors_of_the_log_and_the_file(void)
{
    for (int way = 0; way < 4; way++) {
        shared = way & 1 ? "enable" : "disable";
        flush = way & 2 ? "flush_immediate" : "flush_onclose";
        every_call("sync", "EIO", "*.data", false);
        every_call("sync", "EIO", "*.meta*", false);
        every_call("sync", "EIO", "a.nc", false);
    }
}

/* The system reports a lost page only once, and later syncs succeed. Therefore values
 * that an earlier sync has guaranteed must remain in the log, regardless of the results
 * of later syncs. */
static void values_that_an_earlier_sync_promised_survive_a_failed_sync(void)
{
    shared = "disable";
    flush = "flush_onclose";
    deferral = "disable";
    MPI_Info info = new_info();
    int ncid = -1;
    snprintf(plan, sizeof plan, "sync:1:EIO:%s", check_path("a.nc"));
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, define(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    for (int k = 0; k < 4; k++)
        put(ncid, k, true);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK(fault_arm(plan));
    CHECK(failed_anywhere(ncmpi_flush(ncid)));
    (void)fault_disarm();
    for (int k = 4; k < PUTS; k++)
        put(ncid, k, true);
    CHECK(failed_anywhere(ncmpi_flush(ncid)));
    CHECK(failed_anywhere(ncmpi_close(ncid)));
    look_again();
}

/* Overwrites all values in this process's log, as if the system had lost the log's
 * pages. */
static void lose_values(void)
{
    enum { BEGIN = 8 };
    glob_t found;
    char pattern[1100], bytes[4096];
    memset(bytes, 0x5a, sizeof bytes);
    snprintf(pattern, sizeof pattern, "%s/*.%d.data", check_path(""), check.rank);
    if (!CHECK_EQ(0, glob(pattern, 0, NULL, &found)) || !CHECK_EQ(1, found.gl_pathc))
        return;
    int fd = open(found.gl_pathv[0], O_WRONLY);
    CHECK(pwrite(fd, bytes, sizeof bytes, BEGIN) == (ssize_t)sizeof bytes);
    (void)close(fd);
    globfree(&found);
}

/* Makes a sync of the log fail, as if the system had discarded the pages. The stale bytes
 * in the log must not reach the file, and the sync and the close must return errors. */
static void a_sync_that_loses_logged_values_is_detected(void)
{
    static int values[PUTS * N];
    int ncid = -1, wrong = 0;
    shared = "disable";
    flush = "flush_onclose";
    deferral = "disable";
    MPI_Info info = new_info();
    MPI_Offset start[2] = {0, check.rank * N}, count[2] = {PUTS, N};
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, define(ncid));
    for (int k = 0; k < PUTS; k++)
        put(ncid, k, true);
    if (check.rank == 0) lose_values();
    snprintf(plan, sizeof plan, "sync:1:EIO:*.data");
    if (check.rank == 0) CHECK(fault_arm(plan));
    CHECK(failed_anywhere(ncmpi_sync(ncid)));
    if (check.rank == 0) CHECK(fault_disarm() > 0);
    CHECK(failed_anywhere(ncmpi_close(ncid)));
    MPI_Info_set(info, "nc_burst_buf", "disable");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 1, start, count, values));
    for (int i = 0; i < PUTS * N; i++)
        wrong += values[i] == 0x5a5a5a5a;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Info_free(&info);
}

/* If no other process passes it a descriptor, a process must open the file itself. If it
 * cannot start threads, it must drain the log itself. */
static void a_log_works_without_sockets_and_threads(void)
{
    static const struct {
        const char *op, *what;
    } calls[] = {{"thread", "EAGAIN"}, {"socket", "EMFILE"},  {"bind", "EACCES"},
                 {"listen", "EMFILE"}, {"name", "ENOMEM"},    {"connect", "EACCES"},
                 {"option", "ENOMEM"}, {"accept", "EMFILE"},  {"accept", "EINTR"},
                 {"send", "EAGAIN"},   {"recv", "ECONNRESET"}};
    bool errors;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int met = 0;
        shared = i & 1 ? "enable" : "disable";
        flush = i == 0 ? "flush_immediate" : "flush_onclose";
        for (int n = 1; n <= 3; n++) {
            int before = check_descriptors();
            met += one_point(calls[i].op, calls[i].what, "", n, n == 3, &errors);
            CHECK(!errors);
            CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL)); /* completes the close in
                                                           * look_again */
            CHECK_EQ(before, check_descriptors());
        }
        CHECK(met > 0 || (check.nprocs == 1 && i > 0));
    }
}

/* Makes memfd_create fail, so that a process cannot pass its descriptor to the other
 * processes on its node. */
static bool short_of_descriptors;

int memfd_create(const char *name, unsigned flags)
{
    int (*next)(const char *, unsigned);
    *(void **)&next = dlsym(RTLD_NEXT, "memfd_create");
    if (!short_of_descriptors) return next(name, flags);
    errno = EMFILE;
    return -1;
}

/* If a process has no descriptor left for its log when the dataset is created, its puts
 * must work without a log, even puts that add records. They must continue to work once
 * descriptors become available. */
static void puts_work_without_a_descriptor_for_a_log(void)
{
    shared = "disable";
    flush = "flush_onclose";
    MPI_Info info = new_info();
    int ncid = -1, values[N], back[N];
    MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, N};
    snprintf(plan, sizeof plan, "open:%d+:EMFILE:%s", check.rank == 0 ? 2 : 1,
             check_path("a.nc"));
    CHECK(fault_arm(plan));
    short_of_descriptors = true;
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    short_of_descriptors = false;
    CHECK(fault_disarm() > 0);
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, define(ncid));
    for (int i = 0; i < N; i++)
        values[i] = 100 * check.rank + i;
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, 0, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, 0, start, count, back));
    CHECK_BYTES(values, back, sizeof back);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"no value is lost if the log cannot be written",
     no_value_is_lost_if_the_log_cannot_be_written, 0},
    {"puts go to the file if there is no space for a log",
     puts_go_to_the_file_if_there_is_no_space_for_a_log, 0},
    {"the log is kept if the file cannot be written",
     the_log_is_kept_if_the_file_cannot_be_written, 0},
    {"errors are returned if neither log nor file can be written",
     errors_are_returned_if_neither_log_nor_file_can_be_written, 0},
    {"a sync returns errors of the log and the file",
     a_sync_returns_errors_of_the_log_and_the_file, 0},
    {"values that an earlier sync promised survive a failed sync",
     values_that_an_earlier_sync_promised_survive_a_failed_sync, 0},
    {"a sync that loses logged values is detected",
     a_sync_that_loses_logged_values_is_detected, 0},
    {"a log works without sockets and threads", a_log_works_without_sockets_and_threads,
     0},
    {"puts work without a descriptor for a log", puts_work_without_a_descriptor_for_a_log,
     0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
