/* Reads that are staged: the same values, from the stage once they are there; never what
 * the file had before; and from the file whatever becomes of the stage. */
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

/* ---- what is staged ---- */

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

static void little_room_is_enough(void)
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

static void values_out_of_range_are_told(void)
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

static void writers_are_not_staged(void)
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

/* ---- ahead ---- */

static int to_collective(int ncid)
{
    return check.collective ? NC_NOERR : ncmpi_end_indep_data(ncid);
}

static int from_collective(int ncid)
{
    return check.collective ? NC_NOERR : ncmpi_begin_indep_data(ncid);
}

static void what_is_prefetched_is_there(void)
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
    CHECK_NC(NC_NOERR, from_collective(ncid)); /* looks at the file, which is new */
    if (check.collective)
        get_without_the_file(ncid);
    else
        get_all(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void by_hint_from_the_open_on(void)
{
    static const char *const names[] = {"open", "grid,line", "nothing,line,grid"};
    start();
    later = 60; /* a change of mode finds it unchanged */
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

/* Where no more is kept, what was asked for first is what is there. A program that closes
 * meanwhile waits for no more than a block. */
static void ahead_with_little_room(void)
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

/* A variable of so many steps, by process 0. */
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

/* Every `by`th step from one end on, and time for others to come between. */
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
        CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid)); /* it computes long enough */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(0, wrong);
    return got;
}

/* Steps of many blocks, one after the other or every other one, of records or not. */
static void steps_come_before_they_are_read(void)
{
    for (int records = 0; records < 2; records++) {
        write_steps(records);
        for (int step = -2; step <= 2; step++) {
            int ncid = open_staged(step == 0 ? "nc_stage_ahead=disable" : "");
            int got = walk(ncid, step == 0 ? 1 : step);
            /* Two to the next place are a progression, else three; the blocks that these
             * begin and end in have some of the others. */
            int first = step == 1 || step == -1 ? 2 : 3;
            long long ahead = of_all(ncid, "stage_ahead_bytes");
            if (step == 0) CHECK_EQ(0, ahead);
            if (step != 0) CHECK(ahead >= (long long)((got - first) * LONG * 8 - BLOCK));
            CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        }
    }
}

/* ---- kept ---- */

/* An open finds what an earlier one staged, if nothing has changed since. A stage of
 * other hints is another. */
static void what_is_kept_is_found_again(void)
{
    const struct timespec pause = {0, 20000000}; /* more than a tick of a file's time */
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

/* ---- never stale ---- */

static void readers_and_a_writer_in_turns(void)
{
    start();
    take_turns(40, false);
}

/* A file that nobody has touched for long stays staged over a sync; one that is given its
 * old time again after a change does not. */
static void only_a_change_is_one(void)
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

/* Changes that follow each other so quickly that the file's time stays the same. */
static void changes_of_one_moment_are_seen(void)
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

/* ---- whatever becomes of the stage ---- */

static void no_directory_no_stage(void)
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

/* Calls on the staged file fail on one process, or on all. */
static void a_stage_that_fails_is_left(void)
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

/* A file that ends before its header says it does reads as zeros, staged or not. */
static void a_file_cut_off_reads_as_zeros(void)
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

/* Nobody else finds a staged file, and none is left; what a killed program left goes,
 * what another is at does not. */
static void nothing_is_left(void)
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
    {"little room is enough", little_room_is_enough, CHECK_MODES},
    {"values out of range are told", values_out_of_range_are_told, CHECK_MODES},
    {"writers are not staged", writers_are_not_staged, CHECK_MODES},
    {"what is prefetched is there", what_is_prefetched_is_there, CHECK_MODES},
    {"by hint from the open on", by_hint_from_the_open_on, CHECK_MODES},
    {"ahead with little room", ahead_with_little_room, CHECK_MODES},
    {"steps come before they are read", steps_come_before_they_are_read, CHECK_MODES},
    {"what is kept is found again", what_is_kept_is_found_again, CHECK_MODES},
    {"readers and a writer in turns", readers_and_a_writer_in_turns, CHECK_MODES},
    {"changes of one moment are seen", changes_of_one_moment_are_seen, CHECK_MODES},
    {"only a change is one", only_a_change_is_one, CHECK_MODES},
    {"no directory, no stage", no_directory_no_stage, CHECK_MODES},
    {"a stage that fails is left", a_stage_that_fails_is_left, CHECK_MODES},
    {"a file cut off reads as zeros", a_file_cut_off_reads_as_zeros, CHECK_MODES},
    {"nothing is left", nothing_is_left, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
