/* After a deferred close, makes the first, second, third ... call on the file or the log
 * fail. Either the call that completes the close returns the error, on all processes and
 * with the file's name, or the file is complete. Values that could not be written must
 * remain in the log, and must be in the dataset when it is opened again. With
 * BURST_FAULTS=all, every call fails in some run; otherwise only some calls do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_mem.h"
#include "burst_plan.h"
#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* Calls that can complete a deferred close. */
enum next { WAIT, WAIT_FOR_IT, CREATE, WRITE, READ, NEXTS };

static char plan[1000]; /* the current fault */
static int points, faults_made, told;

static const char *const ways[] = {
    "nc_deferred_close=enable;nc_burst_buf_shared_logs=disable",
    "nc_deferred_close=enable;nc_burst_buf_shared_logs=enable",
    "nc_deferred_close=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Checks that all processes got the same result. */
static void is_agreed(int rc)
{
    int ends[2] = {rc, -rc};
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (CHECK_EQ(ends[0], -ends[1])) return;
    printf("# process %d: %s with %s\n", check.rank, ncmpi_strerrno(rc), plan);
}

/* one fault */

/* Puts values that another process's next collective put overwrites. */
static void put_beside(int ncid)
{
    int values[N];
    MPI_Offset start = (MPI_Offset)N * ((check.rank + 1) % check.nprocs), count = N;
    memset(values, 0x55, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &count, values));
}

static void fill(const struct plan *p, bool promised, int *ncid)
{
    CHECK_NC(NC_NOERR, plan_create(p, ncid));
    put_beside(*ncid);
    if (promised) CHECK_NC(NC_NOERR, ncmpi_sync(*ncid));
    plan_put(p, *ncid);
}

static int call(enum next next, const struct plan *p, int *ncid)
{
    const struct plan b = {p->comm, "b.nc", deferred, 1};
    *ncid = -1;
    if (next == WAIT) return ncmpix_wait_closed(NULL);
    if (next == WAIT_FOR_IT) return ncmpix_wait_closed(check_path(p->name));
    if (next == CREATE) return plan_create(&b, ncid);
    MPI_Info info = hints_of("x=y");
    int rc = ncmpi_open(p->comm, check_path(p->name),
                        next == WRITE ? NC_WRITE : NC_NOWRITE, info, ncid);
    MPI_Info_free(&info);
    return rc;
}

/* Checks that no log is pending, and that the file is complete. */
static void has_everything(const struct plan *p, int omode)
{
    int ncid;
    MPI_Info info = hints_of("x=y");
    int rc = ncmpi_open(p->comm, check_path(p->name), omode, info, &ncid);
    MPI_Info_free(&info);
    if (CHECK_NC(NC_NOERR, rc)) CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    plan_is_there(p->name, p->seed, check.nprocs);
}

/* Runs the program. Returns the number of calls that failed, summed over all
 * processes. */
static int run(int number)
{
    enum next next = (enum next)(number % NEXTS);
    const struct plan p = {MPI_COMM_WORLD, "a.nc", ways[number / NEXTS % WAYS],
                           1 + number % 100};
    int ncid, other, all[2];
    fill(&p, number / 3 % 2, &ncid);
    CHECK(fault_arm(plan));
    int closed = ncmpi_close(ncid);
    is_agreed(closed);
    int rc = call(next, &p, &other);
    char words[500];
    snprintf(words, sizeof words, "%s", ncmpi_strerror(rc));
    all[0] = fault_disarm();
    is_agreed(rc);
    if (rc == NC_NOERR && other >= 0) CHECK_NC(NC_NOERR, ncmpi_close(other));
    if (rc != NC_NOERR && next == CREATE) CHECK(access(check_path("b.nc"), F_OK) != 0);
    if (rc != NC_NOERR) CHECK(strstr(words, "/a.nc") != NULL);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL)); /* an error is returned only once */
    CHECK_EQ(0, base_mem_in_use());
    bool good = closed == NC_NOERR && rc == NC_NOERR;
    has_everything(&p, good ? NC_NOWRITE : NC_WRITE);
    if (!good) plan_logs_are("a.nc.", false);
    if (next == CREATE && check.rank == 0) unlink(check_path("b.nc"));
    MPI_Barrier(MPI_COMM_WORLD);
    all[1] = !good;
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    told += all[1] > 0;
    return all[0];
}

/* ---- all faults ---- */

static bool all_of_them(void)
{
    const char *asked = getenv("BURST_FAULTS");
    return asked != NULL && strcmp(asked, "all") == 0;
}

/* Makes only the nth call fail or, with `later`, all calls from the nth on. The fault
 * occurs on one process or on all. */
static int one_point(const char *op, const char *what, const char *pattern, int n,
                     bool later)
{
    char who[16] = "";
    if (points % 3 != 2) snprintf(who, sizeof who, ":%d", points % check.nprocs);
    /* only in the test's directory, because MPI libraries open other files */
    snprintf(plan, sizeof plan, "%s:%d%s:%s:%s%s", op, n, later ? "+" : "", what,
             check_path(pattern), who);
    int faults = run(points++);
    faults_made += faults;
    return faults;
}

static void every_call(const char *op, const char *what, const char *pattern)
{
    int idle = 0, step = all_of_them() ? 1 : check.nprocs;
    int most = all_of_them() ? 3 * check.nprocs : 2;
    for (int n = 1; idle < most; n += step)
        for (int later = 0; later < 2; later++)
            for (int next = 0; next < (all_of_them() ? NEXTS * WAYS : 1); next++)
                idle = one_point(op, what, pattern, n, later) > 0 ? 0 : idle + 1;
}

static void say(void)
{
    if (check.rank == 0)
        printf("# %d points, %d faults, %d told\n", points, faults_made, told);
    points = faults_made = told = 0;
}

static void the_log_is_kept_if_the_file_cannot_be_written(void)
{
    static const char *const codes[] = {"EIO", "ENOSPC", "short", "part"};
    for (int i = 0; i < 4; i++)
        every_call("write", codes[i], "a.nc");
    CHECK(faults_made > 0 && told > 0);
    say();
}

static void the_log_is_kept_if_the_file_cannot_be_read_or_synced(void)
{
    every_call("read", "EIO", "a.nc");
    every_call("sync", "EIO", "a.nc");
    every_call("truncate", "EIO", "a.nc");
    every_call("close", "EIO", "a.nc");
    CHECK(faults_made > 0 && told > 0);
    say();
}

static void a_deferred_close_fails_if_the_log_cannot_be_read(void)
{
    every_call("read", "EIO", "*.data");
    every_call("read", "short", "*.data");
    CHECK(faults_made > 0 && told > 0);
    say();
}

/* Failures that occur after all values have been written to the file lose nothing. */
static void nothing_is_lost_if_the_log_cannot_be_synced_or_removed(void)
{
    every_call("sync", "EIO", "*.data");
    every_call("sync", "EIO", "*.meta*");
    every_call("close", "EIO", "*.data");
    every_call("close", "EIO", "*.meta*");
    every_call("unlink", "EIO", "*.data");
    every_call("unlink", "EACCES", "*.meta*");
    every_call("rename", "EACCES", "*.meta*");
    every_call("write", "EIO", "*.meta*");
    CHECK(faults_made > 0);
    say();
}

static const struct check_test tests[] = {
    {"the log is kept if the file cannot be written",
     the_log_is_kept_if_the_file_cannot_be_written, 0},
    {"the log is kept if the file cannot be read or synced",
     the_log_is_kept_if_the_file_cannot_be_read_or_synced, 0},
    {"a deferred close fails if the log cannot be read",
     a_deferred_close_fails_if_the_log_cannot_be_read, 0},
    {"nothing is lost if the log cannot be synced or removed",
     nothing_is_lost_if_the_log_cannot_be_synced_or_removed, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3");
}
