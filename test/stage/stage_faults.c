/* Makes every system call on the staged file fail, once or permanently. No library call
 * of the program may fail as a result, and all values that it reads must be correct. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "stage_ints.h"

enum { BLOCK = 4096, BLOCKS = 6, N = BLOCKS * BLOCK / 4, MOST = 200 };

static int values[N];

static void write_file(void)
{
    for (int i = 0; i < N; i++)
        values[i] = (int)check_random(1000000);
    write_ints(values, N, "");
}

static void get_parts(int ncid)
{
    static int got[N];
    for (int i = 0; i < 4; i++) {
        MPI_Offset first = (MPI_Offset)check_random_own(N), n = N - first;
        if (i == 0) first = 0, n = N;
        CHECK_NC(NC_NOERR, check.collective
                               ? ncmpi_get_vara_int_all(ncid, 0, &first, &n, got)
                               : ncmpi_get_vara_int(ncid, 0, &first, &n, got));
        CHECK_BYTES(values + first, got, (size_t)n * sizeof *got);
    }
}

/* Takes a stage through its life cycle: it is filled by prefetching and by gets,
 * invalidated, kept and reused. */
static void live(const char *hints)
{
    char text[1400];
    snprintf(text, sizeof text, "nc_stage=enable;nc_stage_block_size=%d;%s", BLOCK,
             hints);
    MPI_Info info = check_info(text);
    MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    for (int i = 0; i < 2; i++) {
        int ncid;
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
        if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, 0, NULL, NULL));
        get_parts(ncid);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        get_parts(ncid);
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    MPI_Info_free(&info);
}

/* Makes call number 1, 2, ... fail on one process or on all of them, until no process
 * makes that many calls. */
static void each_call(const char *op, const char *what, const char *hints)
{
    for (int n = 1, met = 1; met != 0 && n <= MOST; n++) {
        char plan[100];
        bool one = n % 2 == 0;
        snprintf(plan, sizeof plan, "%s:%d%s:%s:*ncmpi-stage*%s", op, n,
                 n % 3 == 0 ? "+" : "", what, one ? ":0" : "");
        CHECK(fault_arm(plan));
        live(hints);
        met = fault_disarm();
        MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(n < MOST);
    }
}

static void a_failing_stage_causes_no_errors(void)
{
    static const struct {
        const char *op, *what, *hints;
    } calls[] = {
        {"open", "EACCES", ""},
        {"truncate", "ENOSPC", ""},
        {"write", "ENOSPC", ""},
        {"write", "EIO", "nc_stage_keep=enable"},
        {"write", "short", "nc_stage_size=8192"},
        {"read", "EIO", "nc_stage_keep=enable"},
        {"read", "short", ""},
        {"unlink", "EACCES", ""},
        {"close", "EIO", ""},
    };
    write_file();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        each_call(calls[i].op, calls[i].what, calls[i].hints);
}

/* If the file size is limited, a process that writes the staged file must not be killed
 * by SIGXFSZ. */
static void a_file_size_limit_causes_no_signal(void)
{
    struct rlimit before, few;
    write_file();
    CHECK_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
    few = before;
    few.rlim_cur = 2 * BLOCK;
    CHECK_EQ(0, setrlimit(RLIMIT_FSIZE, &few));
    live("");
    CHECK_EQ(0, setrlimit(RLIMIT_FSIZE, &before));
}

static const struct check_test tests[] = {
    {"a failing stage causes no errors", a_failing_stage_causes_no_errors, CHECK_MODES},
    {"a file size limit causes no signal", a_file_size_limit_causes_no_signal,
     CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
