/* Tests staged reads of a dataset in subfiles. One stage must contain the blocks of all
 * of the dataset's files, no matter which processes wrote them and which read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../blob/foreign_make.h"
#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "stage_scene.h"

/* Runs a test with two subfiles written by two processes, with two subfiles written by
 * all processes, and with one subfile for each process. */
static void each_way(void (*body)(void))
{
    static const int ways[][2] = {{2, 2}, {2, 0}, {64, 0}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        subfiles = ways[i][0];
        writers = ways[i][1];
        start();
        body();
    }
}

/* ---- staging ---- */

static void read_once(void)
{
    int ncid = open_staged("");
    get_some(ncid);
    CHECK(of_all(ncid, "blob_get_bytes") > 0);
    get_without_the_file(ncid);
    get_some(ncid);
    CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
    CHECK(of_all(ncid, "stage_read_bytes") >= (long long)sizeof grid);
    CHECK(of_all(ncid, "stage_copied_bytes") > 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void the_files_are_read_once(void)
{
    each_way(read_once);
}

static void little_room(void)
{
    int ncid = open_staged("nc_stage_size=12288");
    for (int i = 0; i < 3; i++)
        get_some(ncid);
    CHECK(of_all(ncid, "stage_dropped") > 0);
    CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void a_small_stage_suffices(void)
{
    each_way(little_room);
}

/* Checks that all variables contain the same bytes as in another dataset. */
static void same_values(int ncid, int whole)
{
    static char values[2][1 << 16];
    int nvars = 0, n;
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(whole, &nvars));
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &n));
    CHECK_EQ(nvars, n);
    for (int v = 0; v < nvars; v++) {
        memset(values, 1, sizeof values);
        for (int i = 0; i < 2; i++)
            CHECK_NC(NC_NOERR,
                     check.collective
                         ? ncmpi_get_var_all(i == 0 ? ncid : whole, v, values[i],
                                             NC_COUNT_IGNORE, MPI_DATATYPE_NULL)
                         : ncmpi_get_var(i == 0 ? ncid : whole, v, values[i],
                                         NC_COUNT_IGNORE, MPI_DATATYPE_NULL));
        CHECK_BYTES(values[1], values[0], sizeof values[0]);
    }
}

/* In these layouts, the dataset's own file may have a different format, or no values. */
static void other_libraries_subfiles_are_staged(void)
{
    static const char *const layouts[] = {"whole", "e3sm", "master", "pnetcdf"};
    int whole = -1;
    for (int i = 0; i < 4; i++) {
        if (check.rank == 0)
            CHECK_EQ(0, foreign_make(layouts[i], check_path(layouts[i]), 3, ""));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Info info = hints(i == 0 ? "nc_stage=disable" : "nc_stage_prefetch=open");
        int ncid = -1;
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path(layouts[i]), NC_NOWRITE,
                                      info, &ncid));
        MPI_Info_free(&info);
        if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        if (i == 0) {
            whole = ncid;
            continue;
        }
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD); /* no process evicts what others fetch */
        same_values(ncid, whole);
        MPI_Barrier(MPI_COMM_WORLD);
        long long before = statistic(ncid, "file_read_bytes");
        same_values(ncid, whole);
        CHECK_EQ(before, statistic(ncid, "file_read_bytes"));
        CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
        CHECK(of_all(ncid, "stage_read_bytes") > 0);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(whole));
}

/* ---- prefetching ---- */

static void prefetch(void)
{
    static const int all[] = {NC_GLOBAL}, each[] = {0, 1, 2};
    const MPI_Offset from[2] = {1, 2}, some[2] = {3, 4};
    later = 60; /* makes files seem old, so mode changes do not revalidate them */
    for (int i = 0; i < 2; i++) {
        int ncid = open_staged("");
        CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, 1, from, some));
        for (int k = 0; k < (i == 0 ? 1 : 3); k++)
            CHECK_NC(NC_NOERR,
                     ncmpix_prefetch(ncid, i == 0 ? all[0] : each[k], NULL, NULL));
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        CHECK_EQ(0, statistic(ncid, "stage_waiting_bytes"));
        CHECK(of_all(ncid, "stage_ahead_bytes") >= (long long)sizeof grid);
        MPI_Barrier(MPI_COMM_WORLD);
        long long copied = of_all(ncid, "stage_copied_bytes");
        get_all(ncid);
        /* Maps must be read only when they are needed. */
        if (i == 0) CHECK_EQ(copied, of_all(ncid, "stage_copied_bytes"));
        get_without_the_file(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    for (int i = 0; i < 2; i++) {
        int ncid = open_staged(i == 0 ? "nc_stage_prefetch=open"
                                      : "nc_stage_prefetch=grid,line,nothing");
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        long long copied = of_all(ncid, "stage_copied_bytes");
        get_all(ncid);
        CHECK_EQ(copied, of_all(ncid, "stage_copied_bytes"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    later = 0;
}

static void prefetched_values_are_read_from_the_stage(void)
{
    each_way(prefetch);
}

enum { LONG = 6000, STEPS = 12 };

/* Writes a variable step by step. Each process writes its part to its own blob. */
static void write_steps(void)
{
    static double values[LONG];
    int ncid, dims[2], v;
    const MPI_Offset begin = LONG * check.rank / check.nprocs,
                     end = LONG * (check.rank + 1) / check.nprocs;
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", LONG, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int t = 0; t < STEPS; t++) {
        const MPI_Offset from[2] = {t, begin}, one[2] = {1, end - begin};
        for (MPI_Offset i = begin; i < end; i++)
            values[i - begin] = (double)(t * LONG + i);
        CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, v, from, one, values));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Gets each step in turn, or this process's part of it. */
static void walk(int ncid, bool whole)
{
    static double values[LONG];
    int wrong = 0;
    const MPI_Offset begin = whole ? 0 : LONG * check.rank / check.nprocs,
                     end = whole ? LONG : LONG * (check.rank + 1) / check.nprocs;
    for (int t = 0; t < STEPS; t++) {
        const MPI_Offset from[2] = {t, begin}, one[2] = {1, end - begin};
        CHECK_NC(NC_NOERR, check.collective
                               ? ncmpi_get_vara_double_all(ncid, 0, from, one, values)
                               : ncmpi_get_vara_double(ncid, 0, from, one, values));
        for (MPI_Offset i = begin; i < end; i++)
            wrong += values[i - begin] != (double)(t * LONG + i);
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid)); /* simulates computation */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(0, wrong);
}

static void steps_are_prefetched(void)
{
    write_steps();
    for (int i = 0; i < 3; i++) {
        int ncid = open_staged(i == 2 ? "nc_stage_ahead=disable" : "");
        walk(ncid, i > 0);
        long long ahead = of_all(ncid, "stage_ahead_bytes");
        /* Everything must be prefetched, except for the first three steps and, in each
         * file, the blocks that contain the ends of these steps. */
        CHECK(i == 2 ? ahead == 0 : ahead >= (long long)(STEPS - 5) * LONG * 8);
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* ---- no stale data ---- */

static void turns(void)
{
    take_turns(20, true);
}

static void readers_and_a_writer_take_turns_without_stale_data(void)
{
    each_way(turns);
}

static void kept(void)
{
    const struct timespec pause = {0, 20000000}; /* longer than the resolution of file
                                                  * times */
    bool current = false;
    later = 60;
    for (int i = 0; i < 9; i++) {
        int ncid = open_staged("nc_stage_keep=enable");
        if (i > 0) CHECK_EQ(check.nprocs, of_all(ncid, "stage_kept"));
        if (!check.collective) CHECK_EQ(0, statistic(ncid, "stage_copied_bytes"));
        get_all(ncid);
        CHECK_EQ(current, of_all(ncid, "stage_copied_bytes") == 0);
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        current = i % 3 != 2;
        if (i % 3 == 2) change_some();
        nanosleep(&pause, NULL);
    }
    later = 0;
}

static void a_kept_stage_is_used_again(void)
{
    each_way(kept);
}

/* ---- replaced or missing subfiles ---- */

/* Replaces a subfile with a copy that has different values, by renaming the copy. */
static void replace_subfile(void)
{
    size_t n;
    unsigned char *bytes = check_read_file(check_path("a.nc.0001"), &n);
    for (size_t i = n - 5000; bytes != NULL && i < n - 1000; i += 64)
        bytes[i] ^= 1;
    CHECK(check_write_file(check_path("new"), bytes, n));
    free(bytes);
    CHECK_EQ(0, rename(check_path("new"), check_path("a.nc.0001")));
}

static int grids[2][X][Y];
static double lines[2][RECORDS][Y];

/* Checks that gets through both ids return the same values. If a subfile was replaced, a
 * process that has not yet opened it may receive an error. */
static void get_both(const int *ncids)
{
    int got[2], err[2];
    for (int i = 0; i < 2; i++) {
        got[i] = check.collective ? ncmpi_get_var_int_all(ncids[i], 0, &grids[i][0][0])
                                  : ncmpi_get_var_int(ncids[i], 0, &grids[i][0][0]);
        err[i] = check.collective ? ncmpi_get_var_double_all(ncids[i], 1, &lines[i][0][0])
                                  : ncmpi_get_var_double(ncids[i], 1, &lines[i][0][0]);
    }
    CHECK_NC(got[0], got[1]);
    CHECK_NC(err[0], err[1]);
    if (got[0] == NC_NOERR) CHECK_BYTES(grids[0], grids[1], sizeof grids[0]);
    if (err[0] == NC_NOERR) CHECK_BYTES(lines[0], lines[1], sizeof lines[0]);
}

/* A process that has a replaced subfile open must continue to read the old one, as it
 * does without staging. When the dataset is opened again, the new subfile must be read,
 * even if a stage with blocks of the old one was kept. */
static void replaced(void)
{
    int ncids[2];
    later = 60;
    for (int i = 0; i < 8; i++) {
        bool synced = i & 1, read = i & 2, keep = i & 4;
        ncids[0] = open_staged("nc_stage=disable");
        ncids[1] = open_staged(keep ? "nc_stage_keep=enable" : "");
        if (read) get_both(ncids);
        CHECK(!read || memcmp(grids[0], grid, sizeof grid) == 0 || i > 2);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == check.nprocs - 1) replace_subfile();
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < 2 && synced; k++)
            CHECK_NC(NC_NOERR, ncmpi_sync(ncids[k]));
        MPI_Barrier(MPI_COMM_WORLD);
        get_both(ncids);
        for (int k = 0; k < 2; k++)
            CHECK_NC(NC_NOERR, ncmpi_close(ncids[k]));
    }
    later = 0;
}

static void a_subfile_that_was_replaced_is_noticed(void)
{
    each_way(replaced);
}

/* If a subfile is missing, values in the other subfiles must be readable. The error code
 * and message must be the same as without staging. */
static void missing(void)
{
    static int values[X][Y];
    char words[2][400];
    int ncid, got[2];
    if (check.rank == 0) CHECK_EQ(0, unlink(check_path("a.nc.0001")));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        ncid = open_staged(i == 0 ? "nc_stage=disable" : "nc_stage_prefetch=open");
        got[i] = check.collective ? ncmpi_get_var_int_all(ncid, 0, &values[0][0])
                                  : ncmpi_get_var_int(ncid, 0, &values[0][0]);
        snprintf(words[i], sizeof words[i], "%s", ncmpi_strerror(got[i]));
        get_small(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    CHECK(got[0] != NC_NOERR);
    CHECK_NC(got[0], got[1]);
    CHECK_STR(words[0], words[1]);
}

static void a_missing_subfile_is_an_error(void)
{
    each_way(missing);
}

/* ---- failures of the stage ---- */

/* Makes calls on the staged file fail, or makes the process run out of descriptors when
 * it opens subfiles. */
static void failing(void)
{
    static const char *const plans[] = {
        "open:1+:EACCES:*ncmpi-stage*",  "write:2:EIO:*ncmpi-stage*",
        "write:1+:ENOSPC:*ncmpi-stage*", "read:3:EIO:*ncmpi-stage*",
        "open:2:EMFILE:*a.nc.000*:0",    "open:3:EMFILE:*a.nc.000*",
        "open:4:EMFILE:*a.nc.000*"};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        int ncid = -1;
        bool opens = strstr(plans[i], "a.nc") != NULL;
        if (opens) {
            ncid = open_staged("");
            CHECK(fault_arm(plans[i]));
            CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, NC_GLOBAL, NULL, NULL));
            CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
            fault_disarm();
        } else {
            CHECK(fault_arm(plans[i]));
            ncid = open_staged("");
        }
        get_some(ncid);
        get_some(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        fault_disarm();
    }
}

static void a_failing_stage_is_abandoned(void)
{
    each_way(failing);
}

static const struct check_test tests[] = {
    {"the files are read once", the_files_are_read_once,
     CHECK_FORMATS | CHECK_MODES | CHECK_SEVERAL},
    {"a small stage suffices", a_small_stage_suffices, CHECK_MODES | CHECK_SEVERAL},
    {"other libraries' subfiles are staged", other_libraries_subfiles_are_staged,
     CHECK_MODES},
    {"prefetched values are read from the stage",
     prefetched_values_are_read_from_the_stage, CHECK_MODES | CHECK_SEVERAL},
    {"steps are prefetched", steps_are_prefetched, CHECK_MODES | CHECK_SEVERAL},
    {"readers and a writer take turns without stale data",
     readers_and_a_writer_take_turns_without_stale_data, CHECK_MODES | CHECK_SEVERAL},
    {"a kept stage is used again", a_kept_stage_is_used_again,
     CHECK_MODES | CHECK_SEVERAL},
    {"a subfile that was replaced is noticed", a_subfile_that_was_replaced_is_noticed,
     CHECK_MODES | CHECK_SEVERAL},
    {"a missing subfile is an error", a_missing_subfile_is_an_error,
     CHECK_MODES | CHECK_SEVERAL},
    {"a failing stage is abandoned", a_failing_stage_is_abandoned,
     CHECK_MODES | CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3");
}
