/* Tests staged reads. They must return the same values as reads from the file, and must
 * read blocks from the staged file once it contains them. They must never return data
 * that is older than a change of the file. If staging fails in any way, they must fall
 * back to the file. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "stage_scene.h"

enum { FEW_BLOCKS = 3 };

/* ---- staging ---- */

static void the_file_is_read_once(void)
{
    start();
    int ncid = open_staged("");
    get_some(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    long long before = statistic(ncid, "file_read_bytes"), staged;
    CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
    get_some(ncid);
    CHECK_EQ(before, statistic(ncid, "file_read_bytes"));
    CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
    CHECK(statistic(ncid, "stage_read_bytes") >= (long long)sizeof grid);
    staged = of_all(ncid, "stage_copied_bytes");
    CHECK(staged >= (long long)sizeof grid && staged % BLOCK == 0);
    CHECK(staged <= (long long)(sizeof grid + sizeof line + sizeof small) + 3 * BLOCK);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void a_small_stage_suffices(void)
{
    char more[100];
    start();
    snprintf(more, sizeof more, "nc_stage_size=%d", FEW_BLOCKS * BLOCK);
    int ncid = open_staged(more);
    for (int i = 0; i < 3; i++)
        get_some(ncid);
    CHECK(of_all(ncid, "stage_dropped") > FEW_BLOCKS);
    CHECK_EQ(0, statistic(ncid, "stage_fallbacks"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Random gets that are much shorter than a block: nearly each evicts one. */
static void a_stage_too_small_reads_little_more_than_none(void)
{
    enum { SHORT = 5, MANY = 600 };
    char more[100];
    start();
    snprintf(more, sizeof more, "nc_stage_size=%d;nc_stage_ahead=disable",
             FEW_BLOCKS * BLOCK);
    int ncid = open_staged(more), got[SHORT];
    long long before = of_all(ncid, "file_read_bytes");
    for (int i = 0; i < MANY; i++) {
        MPI_Offset from[2] = {(MPI_Offset)check_random_own(X),
                              (MPI_Offset)check_random_own(Y - SHORT + 1)};
        const MPI_Offset count[2] = {1, SHORT};
        CHECK_NC(NC_NOERR, check.collective
                               ? ncmpi_get_vara_int_all(ncid, 0, from, count, got)
                               : ncmpi_get_vara_int(ncid, 0, from, count, got));
        CHECK_BYTES(&grid[from[0]][from[1]], got, sizeof got);
    }
    long long asked = (long long)check.nprocs * MANY * (long long)sizeof got;
    long long most = asked * 6 / 5 + (long long)(check.nprocs + FEW_BLOCKS) * BLOCK;
    CHECK(of_all(ncid, "file_read_bytes") - before <= most);
    CHECK(of_all(ncid, "stage_direct_bytes") > 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void values_out_of_range_are_reported(void)
{
    start();
    int ncid = open_staged("");
    static signed char values[X * Y];
    const MPI_Offset from[2] = {0, 0}, all[2] = {X, Y};
    for (int i = 0; i < 2; i++)
        CHECK_NC(NC_ERANGE, check.collective
                                ? ncmpi_get_vara_schar_all(ncid, 0, from, all, values)
                                : ncmpi_get_vara_schar(ncid, 0, from, all, values));
    get_some(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void files_opened_for_writing_are_not_staged(void)
{
    int ncid = -1;
    start();
    MPI_Info info = hints("");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    get_some(ncid);
    CHECK_EQ(0, statistic(ncid, "stage_copied_bytes"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static int count_stages(void);

/* ---- prefetching ---- */

static int to_collective(int ncid)
{
    return check.collective ? NC_NOERR : ncmpi_end_indep_data(ncid);
}

static int from_collective(int ncid)
{
    return check.collective ? NC_NOERR : ncmpi_begin_indep_data(ncid);
}

static void prefetched_values_are_read_from_the_stage(void)
{
    const MPI_Offset from[2] = {1, 2}, some[2] = {3, 4}, beyond[2] = {X + 1, 0},
                     many[2] = {X, Y}, none[2] = {0, 0};
    start();
    int ncid = open_staged("");
    CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, NC_GLOBAL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
    CHECK_EQ(0, statistic(ncid, "stage_waiting_bytes"));
    CHECK(of_all(ncid, "stage_ahead_bytes") >= (long long)sizeof grid);
    get_without_the_file(ncid);
    CHECK_NC(NC_ENOTVAR, ncmpix_prefetch(ncid, 17, NULL, NULL));
    CHECK_NC(NC_EINVALCOORDS, ncmpix_prefetch(ncid, 0, beyond, some));
    CHECK_NC(NC_EEDGE, ncmpix_prefetch(ncid, 0, from, many));
    CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, 0, from, none));
    CHECK_NC(NC_EBADID, ncmpix_prefetch(-1, 0, NULL, NULL));
    CHECK_NC(NC_EBADID, ncmpix_prefetch_wait(-1));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));

    ncid = open_staged("");
    if (!check.collective) CHECK_NC(NC_EINDEP, ncmpix_prefetch_all(ncid, 0, NULL, NULL));
    CHECK_NC(NC_NOERR, to_collective(ncid));
    CHECK_NC(NC_NOERR, ncmpix_prefetch_all(ncid, 0, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpix_prefetch_all(ncid, 1, NULL, NULL));
    int bad = check.nprocs - 1;
    CHECK_NC(NC_ENOTVAR,
             ncmpix_prefetch_all(ncid, check.rank == bad ? 17 : 0, NULL, NULL));
    CHECK_NC(NC_NOERR, from_collective(ncid)); /* revalidates the new file */
    if (check.collective)
        get_without_the_file(ncid);
    else
        get_all(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void a_hint_prefetches_at_open(void)
{
    static const char *const names[] = {"open", "grid,line", "nothing,line,grid"};
    start();
    later = 60; /* makes the file seem old, so mode changes do not revalidate it */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char more[100];
        snprintf(more, sizeof more, "nc_stage_prefetch=%s", names[i]);
        int ncid = open_staged(more);
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        get_without_the_file(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    later = 0;
}

/* If the staged file is small, it stores only the blocks that were requested first. A
 * close during prefetching waits for at most one block. */
static void a_small_stage_limits_prefetching(void)
{
    start();
    for (int i = 0; i < 4; i++) {
        int ncid = open_staged(
            "nc_stage_size=16384;nc_stage_prefetch=open;nc_stage_ahead=disable");
        if (i % 2) get_some(ncid);
        if (i > 1) CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
        CHECK(statistic(ncid, "stage_ahead_bytes") <= 16384);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

enum { LONG = 3000, STEPS = 12 };

/* Creates a variable of STEPS steps on process 0. */
static void write_steps(bool records)
{
    static double values[LONG];
    int ncid, dims[2], v;
    MPI_Offset from[2] = {0, 0}, one[2] = {1, LONG};
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_SELF, check_path("a.nc"), check.cmode,
                                        MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR,
                 ncmpi_def_dim(ncid, "t", records ? NC_UNLIMITED : STEPS, &dims[0]));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", LONG, &dims[1]));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 2, dims, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        for (from[0] = 0; from[0] < STEPS; from[0]++) {
            for (int i = 0; i < LONG; i++)
                values[i] = (double)(from[0] * LONG + i);
            CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, 0, from, one, values));
        }
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Gets every `by`th step (backwards if negative), and waits for prefetching between the
 * steps. Returns the number of steps. */
static int walk(int ncid, int by)
{
    static double values[LONG];
    MPI_Offset from[2] = {by > 0 ? 0 : STEPS - 1, 0}, one[2] = {1, LONG};
    int wrong = 0, got = 0;
    for (; from[0] >= 0 && from[0] < STEPS; from[0] += by, got++) {
        CHECK_NC(NC_NOERR, check.collective
                               ? ncmpi_get_vara_double_all(ncid, 0, from, one, values)
                               : ncmpi_get_vara_double(ncid, 0, from, one, values));
        for (int i = 0; i < LONG; i++)
            wrong += values[i] != (double)(from[0] * LONG + i);
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid)); /* simulates computation */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(0, wrong);
    return got;
}

/* If a program gets consecutive or alternate steps of a variable, forwards or backwards,
 * the next steps must be prefetched. Each step covers many blocks. */
static void steps_are_prefetched(void)
{
    for (int records = 0; records < 2; records++) {
        write_steps(records);
        for (int step = -2; step <= 2; step++) {
            int ncid = open_staged(step == 0 ? "nc_stage_ahead=disable" : "");
            int got = walk(ncid, step == 0 ? 1 : step);
            /* Prefetching starts once a progression is detected: after two gets if the
             * steps are adjacent, otherwise after three. The first and last blocks of a
             * step also contain parts of its neighbours. */
            int first = step == 1 || step == -1 ? 2 : 3;
            long long ahead = of_all(ncid, "stage_ahead_bytes");
            if (step == 0) CHECK_EQ(0, ahead);
            if (step != 0) CHECK(ahead >= (long long)((got - first) * LONG * 8 - BLOCK));
            CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        }
    }
}

/* ---- kept stages ---- */

/* An open must reuse a kept stage if the file has not changed since, and must not reuse a
 * stage with different hints. */
static void a_kept_stage_is_used_again(void)
{
    const struct timespec pause = {0, 20000000}; /* longer than the resolution of file
                                                  * times */
    bool current = false;
    start();
    later = 60;
    for (int i = 0; i < 12; i++) {
        bool other = i % 4 == 3;
        int ncid = open_staged(other ? "nc_stage_keep=enable;nc_stage_size=40960"
                                     : "nc_stage_keep=enable");
        CHECK_EQ(i > 0 && i != 3 ? check.nprocs : 0, of_all(ncid, "stage_kept"));
        if (!check.collective) CHECK_EQ(0, statistic(ncid, "stage_copied_bytes"));
        get_all(ncid);
        long long copied = of_all(ncid, "stage_copied_bytes");
        if (!other) CHECK_EQ(current, copied == 0);
        CHECK_EQ(0, of_all(ncid, "stage_fallbacks"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        current = i % 3 != 2 && (current || !other);
        if (i % 3 == 2) change_some();
        nanosleep(&pause, NULL);
    }
    later = 0;
    CHECK_EQ(0, count_stages());
    int ncid = open_staged("");
    CHECK_EQ(0, of_all(ncid, "stage_kept"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* ---- no stale data ---- */

static void readers_and_a_writer_take_turns_without_stale_data(void)
{
    start();
    take_turns(40, false);
}

/* If a file has not changed for a long time, it must remain staged after a sync. If it
 * was changed and its modification time set back, it must not. */
static void an_unchanged_file_stays_staged(void)
{
    const struct utimbuf old = {1000000000, 1000000000};
    start();
    later = 60;
    int ncid = open_staged("");
    get_all(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    long long before = of_all(ncid, "stage_copied_bytes");
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    get_all(ncid);
    CHECK_EQ(before, of_all(ncid, "stage_copied_bytes"));
    later = 0;
    change_some();
    if (check.rank == 0) CHECK_EQ(0, utime(check_path("a.nc"), &old));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    get_all(ncid);
    CHECK(of_all(ncid, "stage_stale") > 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Two changes in quick succession must be noticed even if the file's modification time
 * stays the same. */
static void changes_within_one_clock_tick_are_noticed(void)
{
    enum { ROUNDS = 200 };
    const MPI_Offset at[2] = {X / 2, Y / 2};
    MPI_Offset begin;
    int fd = -1, wrong = 0, value;
    start();
    int ncid = open_staged("");
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, 0, &begin));
    begin += (at[0] * Y + at[1]) * (MPI_Offset)sizeof(int);
    if (check.rank == 0) fd = open(check_path("a.nc"), O_WRONLY);
    for (int i = 0; i < ROUNDS; i++) {
        const unsigned char bytes[4] = {0, 0, 1, (unsigned char)i};
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) CHECK_EQ(4, pwrite(fd, bytes, sizeof bytes, begin));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, check.collective ? ncmpi_get_var1_int_all(ncid, 0, at, &value)
                                            : ncmpi_get_var1_int(ncid, 0, at, &value));
        wrong += value != 256 + i;
    }
    CHECK_EQ(0, wrong);
    if (fd >= 0) close(fd);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Short writes must be noticed even if the pages that contain them are already dirty. */
static void a_writers_short_pieces_are_noticed(void)
{
    enum { ROUNDS = 4 };
    int writer = -1, column[X];
    start();
    if (check.rank == 0)
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE,
                                      MPI_INFO_NULL, &writer));
    if (check.rank == 0) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(writer));
    later = 60;
    int ncid = open_staged("");
    for (int i = 0; i < ROUNDS; i++) {
        const MPI_Offset from[2] = {0, (MPI_Offset)check_random(Y)}, rows[2] = {X, 1};
        for (int x = 0; x < X; x++)
            grid[x][from[1]] = column[x] = (int)check_random(1 << 30);
        if (check.rank == 0)
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int(writer, 0, from, rows, column));
        if (check.rank == 0 && i % 2) CHECK_NC(NC_NOERR, ncmpi_sync(writer));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        get_all(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    later = 0;
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    if (check.rank == 0) CHECK_NC(NC_NOERR, ncmpi_close(writer));
}

/* ---- failures of the stage ---- */

static void without_a_directory_nothing_is_staged(void)
{
    static const char *const places[] = {"missing", "a.nc", "a.nc/below"};
    start();
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char more[1200];
        snprintf(more, sizeof more, "nc_stage_dirname=%s", check_path(places[i]));
        int ncid = open_staged(more);
        get_some(ncid);
        CHECK(of_all(ncid, "stage_fallbacks") > 0);
        CHECK_EQ(0, statistic(ncid, "stage_copied_bytes"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* Makes calls on the staged file fail on one process or on all of them. */
static void a_failing_stage_is_abandoned(void)
{
    static const char *const plans[] = {
        "open:1+:EACCES:*ncmpi-stage*",  "open:1:EMFILE:*ncmpi-stage*:0",
        "write:1+:ENOSPC:*ncmpi-stage*", "write:3:ENOSPC:*ncmpi-stage*",
        "write:2:EIO:*ncmpi-stage*",     "write:2:short:*ncmpi-stage*",
        "read:2:EIO:*ncmpi-stage*",      "read:1+:EIO:*ncmpi-stage*:0",
        "read:1+:short:*ncmpi-stage*",   "unlink:1+:EACCES:*ncmpi-stage*"};
    start();
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        CHECK(fault_arm(plans[i]));
        int ncid = open_staged("");
        get_some(ncid);
        get_some(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        fault_disarm();
    }
}

/* Values beyond the end of a truncated file must read as zeros, whether the file is
 * staged or not. */
static void a_truncated_file_reads_as_zeros(void)
{
    struct stat st;
    start();
    if (check.rank == 0) {
        CHECK_EQ(0, stat(check_path("a.nc"), &st));
        CHECK_EQ(0, truncate(check_path("a.nc"), st.st_size - 3 * Y));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    static double plain[RECORDS][Y], staged[RECORDS][Y];
    for (int i = 0; i < 2; i++) {
        int ncid = open_staged(i == 0 ? "nc_stage=disable" : "");
        const MPI_Offset from[2] = {0, 0}, all[2] = {RECORDS, Y};
        double *to = i == 0 ? &plain[0][0] : &staged[0][0];
        CHECK_NC(NC_NOERR, check.collective
                               ? ncmpi_get_vara_double_all(ncid, 1, from, all, to)
                               : ncmpi_get_vara_double(ncid, 1, from, all, to));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    CHECK_BYTES(plain, staged, sizeof plain);
}

/* ---- the directory ---- */

static int count_stages(void)
{
    int n = 0;
    struct dirent *e;
    DIR *d = opendir(check_path(""));
    while (d != NULL && (e = readdir(d)) != NULL)
        n += strstr(e->d_name, "ncmpi-stage") != NULL;
    if (d != NULL) closedir(d);
    return n;
}

static void leave(const char *name, long age)
{
    struct utimbuf when = {time(NULL) - age, time(NULL) - age};
    CHECK(check_write_file(check_path(name), "left", 4));
    CHECK_EQ(0, utime(check_path(name), &when));
}

/* A staged file is unlinked while it is in use, so none remains after the close. Files
 * left by a killed program are removed, but locked or recent files, links and directories
 * are not. */
static void no_staged_file_remains(void)
{
    int locked = -1;
    start();
    if (check.rank == 0) {
        leave(".ncmpi-stage-old", 3600);
        leave(".ncmpi-stage-young", 0);
        leave(".ncmpi-stage-locked", 3600);
        leave("target", 3600);
        CHECK_EQ(0, symlink(check_path("target"), check_path(".ncmpi-stage-link")));
        CHECK_EQ(0, mkdir(check_path(".ncmpi-stage-directory"), 0700));
        locked = open(check_path(".ncmpi-stage-locked"), O_RDWR);
        CHECK_EQ(0, flock(locked, LOCK_EX));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int one = open_staged(""), other = open_staged("");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(4, count_stages());
    get_some(one);
    get_some(other);
    CHECK_EQ(0, statistic(one, "stage_fallbacks"));
    CHECK_EQ(0, statistic(other, "stage_fallbacks"));
    CHECK_NC(NC_NOERR, ncmpi_close(one));
    get_some(other);
    CHECK_NC(NC_NOERR, ncmpi_close(other));
    CHECK_EQ(0, access(check_path("target"), F_OK));
    CHECK(access(check_path(".ncmpi-stage-old"), F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (locked >= 0) close(locked);
}

static const struct check_test tests[] = {
    {"the file is read once", the_file_is_read_once, CHECK_FORMATS | CHECK_MODES},
    {"a small stage suffices", a_small_stage_suffices, CHECK_MODES},
    {"a stage too small reads little more than none",
     a_stage_too_small_reads_little_more_than_none, CHECK_MODES},
    {"values out of range are reported", values_out_of_range_are_reported, CHECK_MODES},
    {"files opened for writing are not staged", files_opened_for_writing_are_not_staged,
     CHECK_MODES},
    {"prefetched values are read from the stage",
     prefetched_values_are_read_from_the_stage, CHECK_MODES},
    {"a hint prefetches at open", a_hint_prefetches_at_open, CHECK_MODES},
    {"a small stage limits prefetching", a_small_stage_limits_prefetching, CHECK_MODES},
    {"steps are prefetched", steps_are_prefetched, CHECK_MODES},
    {"a kept stage is used again", a_kept_stage_is_used_again, CHECK_MODES},
    {"readers and a writer take turns without stale data",
     readers_and_a_writer_take_turns_without_stale_data, CHECK_MODES},
    {"changes within one clock tick are noticed",
     changes_within_one_clock_tick_are_noticed, CHECK_MODES},
    {"an unchanged file stays staged", an_unchanged_file_stays_staged, CHECK_MODES},
    {"a writer's short pieces are noticed", a_writers_short_pieces_are_noticed,
     CHECK_MODES},
    {"without a directory nothing is staged", without_a_directory_nothing_is_staged,
     CHECK_MODES},
    {"a failing stage is abandoned", a_failing_stage_is_abandoned, CHECK_MODES},
    {"a truncated file reads as zeros", a_truncated_file_reads_as_zeros, CHECK_MODES},
    {"no staged file remains", no_staged_file_remains, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
