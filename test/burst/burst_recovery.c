/* Opens a dataset whose file and logs are in the state that a crash would leave. To
 * simulate the crash, the test copies the file and the logs while nothing is being
 * drained, and restores the copies after the close. */
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burst_reader.h"
#include "check.h"
#include "old_notes.h"
#include "pnetcdf.h"

enum { N = 40, RECORDS = 5 };

static MPI_Info info_with(const char *key, const char *value)
{
    MPI_Info info;
    char dir[1000];
    snprintf(dir, sizeof dir, "%s/logs", check_path(""));
    if (check.rank == 0) mkdir(dir, 0777);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    if (key != NULL) MPI_Info_set(info, key, value);
    MPI_Barrier(MPI_COMM_WORLD);
    return info;
}

static void shell(const char *command)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        char all[2000];
        snprintf(all, sizeof all, "cd '%s' && %s", check_path(""), command);
        CHECK_EQ(0, system(all));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void put_records(int ncid)
{
    int values[N];
    for (MPI_Offset t = 0; t < RECORDS; t++) {
        MPI_Offset start[2] = {t, check.rank * N}, count[2] = {1, N};
        for (int i = 0; i < N; i++)
            values[i] = (int)t * 10000 + check.rank * 1000 + i;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, start, count, values));
        for (int i = 0; i < N; i++)
            values[i] = -i;
        count[1] = N / 4;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, start, count, values));
    }
}

static void check_records(int ncid)
{
    int values[N], wrong = 0, reader = (check.rank + 1) % check.nprocs;
    MPI_Offset length = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &length));
    CHECK_EQ(RECORDS, length);
    for (MPI_Offset t = 0; t < length; t++) {
        MPI_Offset start[2] = {t, reader * N}, count[2] = {1, N};
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, start, count, values));
        for (int i = 0; i < N; i++)
            wrong += values[i] != (i < N / 4 ? -i : (int)t * 10000 + reader * 1000 + i);
    }
    CHECK_EQ(0, wrong);
}

/* Restores the file and the logs, including the file's modification time, because logs
 * are not replayed into a changed file. */
#define BACK "cp kept/* logs && cat kept.nc > a.nc && touch -r kept.nc a.nc"

/* Copies the file and the logs as they would be if all processes were killed now. */
#define KEEP "rm -rf kept && cp -r logs kept && cp -p a.nc kept.nc"

static void keep(void)
{
    shell(KEEP);
    if (check.rank == 0) CHECK(old_notes(check_path("kept")) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Closes the dataset, but then restores the file and the logs to their state before the
 * close, as if all processes had been killed at this point. */
static void die(int ncid)
{
    keep();
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell(BACK);
}

static int new_dataset(const char *key, const char *value)
{
    MPI_Info info = info_with(key, value);
    int ncid = -1;
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Creates a dataset with a record variable, and enters data mode. */
static int make(const char *key, const char *value)
{
    int dims[2], v, ncid = new_dataset(key, value);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* Leaves the file and the logs as if all processes had been killed after the last put. */
static void crash(const char *key, const char *value)
{
    int ncid = make(key, value);
    put_records(ncid);
    die(ncid);
}

static int open_with(const char *key, const char *value, int mode, int *ncid)
{
    MPI_Info info = info_with(key, value);
    int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), mode, info, ncid);
    MPI_Info_free(&info);
    return rc;
}

static void an_open_replays_logs(void)
{
    for (int mode = 0; mode < 2; mode++) {
        int ncid;
        crash("nc_burst_buf_shared_logs", mode ? "enable" : "disable");
        CHECK_NC(NC_NOERR, open_with("nc_burst_buf_recover", mode ? "always" : "enable",
                                     mode ? NC_NOWRITE : NC_WRITE, &ncid));
        check_records(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        shell("test -z \"$(ls logs)\"");
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        check_records(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static void a_second_replay_changes_nothing(void)
{
    int ncid;
    crash(NULL, NULL);
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_WRITE, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("cp a.nc once.nc && " BACK);
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_WRITE, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("cmp a.nc once.nc");
}

/* An open for reading changes nothing unless a hint requests it. The open fails instead
 * of showing only part of the data. */
static void an_open_for_reading_reports_logs(void)
{
    int ncid;
    crash(NULL, NULL);
    int rc = open_with(NULL, NULL, NC_NOWRITE, &ncid);
    CHECK_NC(NC_EBADLOG, rc);
    CHECK(strstr(ncmpi_strerror(rc), "for writing once") != NULL);
    shell("cmp a.nc kept.nc && test -n \"$(ls logs)\"");
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_WRITE, &ncid));
    check_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_NOWRITE, &ncid));
    check_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    /* if a log remains after a close, the file already contains its values */
    CHECK_NC(NC_NOERR,
             open_with("nc_burst_buf_del_on_close", "disable", NC_WRITE, &ncid));
    put_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -n \"$(ls logs)\"");
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_NOWRITE, &ncid));
    check_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Makes another program change the file in various ways. The log may be older than that
 * change, so it must not be replayed. */
static void a_log_is_not_replayed_into_a_changed_dataset(void)
{
    static const char *const ways[] = {"touch a.nc", "cat kept.nc > a.nc",
                                       "truncate -s +4 a.nc && touch -r kept.nc a.nc",
                                       "touch -d '1 day ago' a.nc"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int ncid;
        crash("nc_burst_buf_shared_logs", i % 2 ? "enable" : "disable");
        shell("sleep 0.02");
        shell(ways[i]);
        shell("cp a.nc before.nc");
        for (int mode = 0; mode < 2; mode++) {
            int rc =
                open_with("nc_burst_buf_recover", "always", mode ? NC_WRITE : 0, &ncid);
            CHECK_NC(NC_EBADLOG, rc);
            CHECK(strstr(ncmpi_strerror(rc), "after its logs were written") != NULL);
        }
        shell("cmp a.nc before.nc && test -n \"$(ls logs)\" && rm -f logs/*");
    }
}

static void hints_can_forbid_a_replay(void)
{
    int ncid;
    crash(NULL, NULL);
    CHECK_NC(NC_EBADLOG, open_with("nc_burst_buf_recover", "error", NC_WRITE, &ncid));
    CHECK_NC(NC_NOERR, open_with("nc_burst_buf_recover", "disable", NC_NOWRITE, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -n \"$(ls logs)\"");
}

static void creating_a_file_removes_old_logs(void)
{
    int ncid, dim, v, value = 17;
    crash(NULL, NULL);
    MPI_Info info = info_with(NULL, NULL);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", 1, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, v, &value));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -z \"$(ls logs)\"");
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_WRITE, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Each of these commands damages the logs, or replaces the file, so that the logs must be
 * refused. The file must not change. */
static void wrong_logs_are_refused(void)
{
    static const char *const ways[] = {
        "cp a.nc b.nc && rm a.nc && mv b.nc a.nc",
        "for f in logs/*.data; do truncate -s 100 \"$f\"; done",
        "for f in logs/*.meta; do truncate -s 5000 \"$f\"; done",
        "for f in logs/*.meta; do printf X | dd of=\"$f\" bs=1 seek=4200 conv=notrunc "
        "2>/dev/null; done",
        "for f in logs/*.data; do printf X | dd of=\"$f\" bs=1 seek=60 conv=notrunc "
        "2>/dev/null; done",
        "rm logs/*.0.meta && : > nothing && cp nothing \"$(ls logs/*.0.data | sed "
        "s/data$/meta/)\"",
        "rm logs/*.data"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int ncid;
        crash(NULL, NULL);
        shell(ways[i]);
        CHECK_NC(NC_EBADLOG, open_with(NULL, NULL, NC_WRITE, &ncid));
        shell("cmp a.nc kept.nc");
        shell("rm -f logs/*");
    }
}

static void missing_logs_are_reported(void)
{
    int ncid;
    if (check.nprocs == 1) return;
    crash(NULL, NULL);
    shell("rm logs/*.1.meta");
    int rc = open_with(NULL, NULL, NC_WRITE, &ncid);
    CHECK_NC(NC_EBADLOG, rc);
    CHECK(strstr(ncmpi_strerror(rc), "missing") != NULL);
    shell("cmp a.nc kept.nc");
}

/* puts with a file type, and puts that are logged in several pieces */

enum { RUNS, ROWS, LARGE };
enum { RUN = 3, MUCH = 2200000 }; /* length of a run; number of doubles in `large` */

/* Puts or gets every second run of this process's part of `runs` or of the records of
 * `rows`. */
static int put_runs(int ncid, int varid, bool put, int *values)
{
    MPI_Datatype runs;
    MPI_Aint row = (MPI_Aint)(sizeof(int) * 2 * RUN) * check.nprocs,
             first = (MPI_Aint)(sizeof(int) * 2 * RUN) * check.rank;
    MPI_Aint places[N];
    int lengths[N];
    for (int i = 0; i < N; i++) {
        places[i] = first + i * row;
        lengths[i] = RUN;
    }
    MPI_Type_create_hindexed(N, lengths, places, MPI_INT, &runs);
    MPI_Type_commit(&runs);
    int rc = put ? ncmpi_put_vard_all(ncid, varid, runs, values, N * RUN, MPI_INT)
                 : ncmpi_get_vard_all(ncid, varid, runs, values, N * RUN, MPI_INT);
    MPI_Type_free(&runs);
    return rc;
}

static void access_strangely(int ncid, bool put, bool large)
{
    int values[N * RUN], wrong = 0;
    for (int varid = RUNS; varid <= ROWS; varid++) {
        for (int i = 0; i < N * RUN; i++)
            values[i] = put ? 1000 * check.rank + 10 * i + varid : -1;
        CHECK_NC(NC_NOERR, put_runs(ncid, varid, put, values));
        for (int i = 0; i < N * RUN; i++)
            wrong += values[i] != 1000 * check.rank + 10 * i + varid;
    }
    MPI_Offset start = (MPI_Offset)MUCH * check.rank, count = large ? MUCH : 0;
    double *much = malloc(MUCH * sizeof *much);
    if (!CHECK(much != NULL)) return;
    for (int i = 0; i < MUCH; i++)
        much[i] = put ? check.rank + 2 * i : -1;
    CHECK_NC(NC_NOERR,
             put ? ncmpi_put_vara_double_all(ncid, LARGE, &start, &count, much)
                 : ncmpi_get_vara_double_all(ncid, LARGE, &start, &count, much));
    for (int i = 0; i < MUCH && large; i++)
        wrong += much[i] != check.rank + 2 * i;
    CHECK_EQ(0, wrong);
    free(much);
}

static void puts_of_all_kinds_are_replayed(void)
{
    static const char *const sizes[] = {"0", "64"}; /* two sizes of the flush buffer */
    for (int i = 0; i < 2; i++) {
        int dims[2], x, y, v, ncid = new_dataset(NULL, NULL);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "w", 2 * RUN * check.nprocs, &dims[1]));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", 2 * RUN * N * check.nprocs, &x));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", (MPI_Offset)MUCH * check.nprocs, &y));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "runs", NC_INT, 1, &x, &v));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "rows", NC_INT, 2, dims, &v));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "large", NC_INT, 1, &y, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        access_strangely(ncid, true, i == 0);
        die(ncid);
        CHECK_NC(NC_NOERR,
                 open_with("nc_burst_buf_flush_buffer_size", sizes[i], NC_WRITE, &ncid));
        access_strangely(ncid, false, i == 0);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        shell("test -z \"$(ls logs)\"");
    }
}

/* ---- definitions that change while a log is in use ---- */

/* Adds definitions, so that existing data must move. The new variable has more dimensions
 * than any existing one. */
static void define_more(int ncid)
{
    int dims[3], v;
    char text[3000];
    memset(text, 'a', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", sizeof text, text));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "t", &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "x", &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", 3, &dims[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "more", NC_SHORT, 3, dims, &v));
}

static void put_more(int ncid)
{
    MPI_Offset start[3] = {2, check.rank * N, 1}, count[3] = {1, N, 2};
    int values[2 * N];
    for (int i = 0; i < 2 * N; i++)
        values[i] = check.rank * 100 + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 1, start, count, values));
}

static void check_more(int ncid)
{
    int values[2 * N], wrong = 0, reader = (check.rank + 1) % check.nprocs;
    MPI_Offset start[3] = {2, reader * N, 1}, count[3] = {1, N, 2};
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 1, start, count, values));
    for (int i = 0; i < 2 * N; i++)
        wrong += values[i] != reader * 100 + i;
    CHECK_EQ(0, wrong);
}

/* Points at which a job that puts values before a redef and after its enddef is
 * killed. */
enum point { DEFINING, DEFINED, LOGGED, POINTS };

static void crash_at(enum point point, const char *shared)
{
    int ncid = make("nc_burst_buf_shared_logs", shared);
    put_records(ncid);
    shell("rm -rf older && cp -r logs older");
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    define_more(ncid);
    if (point == DEFINING) keep();
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (point == DEFINED) keep();
    put_more(ncid);
    if (point == LOGGED) keep();
    check_records(ncid);
    check_more(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -z \"$(ls logs)\"");
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_NOWRITE, &ncid));
    check_records(ncid);
    check_more(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell(BACK);
}

static void open_and_check(enum point point)
{
    int ncid, nvars;
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_WRITE, &ncid));
    check_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &nvars));
    CHECK_EQ(point == DEFINING ? 1 : 2, nvars);
    if (point == LOGGED) check_more(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -z \"$(ls logs)\"");
}

static void a_log_is_replayed_after_a_redefinition(void)
{
    for (int i = 0; i < POINTS * 2; i++) {
        int ncid;
        crash_at(i / 2, i % 2 ? "enable" : "disable");
        if (i / 2 == DEFINED) { /* nothing needs to be replayed */
            CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_NOWRITE, &ncid));
            check_records(ncid);
            CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        }
        open_and_check(i / 2);
    }
}

/* Combines the logs from before the redef with the file from after the enddef. */
static void entries_of_other_definitions_are_refused(void)
{
    for (int shared = 0; shared < 2; shared++) {
        int ncid;
        crash_at(LOGGED, shared ? "enable" : "disable");
        shell("cp older/* logs && touch -r kept.nc a.nc");
        int rc = open_with(NULL, NULL, NC_WRITE, &ncid);
        CHECK_NC(NC_EBADLOG, rc);
        CHECK(strstr(ncmpi_strerror(rc), "different definitions") != NULL);
        shell("cmp a.nc kept.nc && rm -f logs/*");
    }
}

/* Renaming a variable does not change where its values are stored. */
static void a_log_is_replayed_after_a_variable_was_renamed(void)
{
    int ncid = make(NULL, NULL), v;
    put_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_rename_var(ncid, 0, "w"));
    die(ncid);
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_WRITE, &ncid));
    check_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_inq_varid(ncid, "w", &v));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* The entries that one call logs have distinct numbers. After a power cut, the numbers
 * show which calls were logged completely. */
static void entries_of_one_call_have_different_numbers(void)
{
    enum { PARTS = 5 };
    MPI_Offset at[PARTS][2], *starts[PARTS];
    int values[PARTS] = {0}, ncid = make(NULL, NULL);
    struct burst_entry e;
    struct burst_reader *r;
    glob_t logs;
    bool more = true;
    for (int i = 0; i < PARTS; i++) {
        at[i][0] = i, at[i][1] = check.rank * N + i;
        starts[i] = at[i];
    }
    CHECK_NC(NC_NOERR, ncmpi_put_varn_int_all(ncid, 0, PARTS, starts, NULL, values));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(0, glob(check_path("logs/*.0.meta"), 0, NULL, &logs));
    if (CHECK_NC(NC_NOERR, burst_reader_open(logs.gl_pathv[0], 0, &r, NULL))) {
        for (int64_t i = 0; i < PARTS && more; i++) {
            CHECK_NC(NC_NOERR, burst_reader_next(r, false, &e, &more));
            CHECK_EQ(i, e.seq);
        }
        CHECK(more);
        burst_reader_close(r);
    }
    globfree(&logs);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"an open replays logs", an_open_replays_logs, CHECK_FORMATS},
    {"a second replay changes nothing", a_second_replay_changes_nothing, 0},
    {"an open for reading reports logs", an_open_for_reading_reports_logs, 0},
    {"a log is not replayed into a changed dataset",
     a_log_is_not_replayed_into_a_changed_dataset, 0},
    {"hints can forbid a replay", hints_can_forbid_a_replay, 0},
    {"creating a file removes old logs", creating_a_file_removes_old_logs, 0},
    {"wrong logs are refused", wrong_logs_are_refused, 0},
    {"missing logs are reported", missing_logs_are_reported, 0},
    {"puts of all kinds are replayed", puts_of_all_kinds_are_replayed, 0},
    {"a log is replayed after a redefinition", a_log_is_replayed_after_a_redefinition,
     CHECK_FORMATS},
    {"entries of other definitions are refused", entries_of_other_definitions_are_refused,
     0},
    {"a log is replayed after a variable was renamed",
     a_log_is_replayed_after_a_variable_was_renamed, 0},
    {"entries of one call have different numbers",
     entries_of_one_call_have_different_numbers, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
