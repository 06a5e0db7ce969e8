/* After a crash: a dataset as it was, with its logs, is opened again. The crash is
 * played: copies of file and logs are made while nothing is drained, and put back after
 * close. */
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burst_reader.h"
#include "check.h"
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

/* As they were, the file's time of change too: logs are of no use to a changed file. */
#define BACK "cp kept/* logs && cat kept.nc > a.nc && touch -r kept.nc a.nc"

/* Keeps file and logs as they would be if all were killed now. */
#define KEEP "rm -rf kept && cp -r logs kept && cp -p a.nc kept.nc"

/* All are killed now: so it is for those who open the dataset later. */
static void die(int ncid)
{
    shell(KEEP);
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

/* One of records, in data mode. */
static int make(const char *key, const char *value)
{
    int dims[2], v, ncid = new_dataset(key, value);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* Leaves file and logs as if all had been killed after the last put. */
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

static void opening_replays(void)
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

static void replaying_twice_gives_the_same(void)
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

/* Who only reads changes nothing unless asked, and is not given half of the data. */
static void opening_for_reading_tells(void)
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
    /* a log that stays has nothing that a reader would miss */
    CHECK_NC(NC_NOERR,
             open_with("nc_burst_buf_del_on_close", "disable", NC_WRITE, &ncid));
    put_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -n \"$(ls logs)\"");
    CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_NOWRITE, &ncid));
    check_records(ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Whatever others did to the file since: the log may be older than that. */
static void a_changed_dataset_keeps_its_values(void)
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
            CHECK(strstr(ncmpi_strerror(rc), "was changed since") != NULL);
        }
        shell("cmp a.nc before.nc && test -n \"$(ls logs)\" && rm -f logs/*");
    }
}

static void it_can_be_forbidden(void)
{
    int ncid;
    crash(NULL, NULL);
    CHECK_NC(NC_EBADLOG, open_with("nc_burst_buf_recover", "error", NC_WRITE, &ncid));
    CHECK_NC(NC_NOERR, open_with("nc_burst_buf_recover", "disable", NC_NOWRITE, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    shell("test -n \"$(ls logs)\"");
}

static void a_new_file_is_no_business_of_old_logs(void)
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

/* Each leaves the logs in a way that must be refused, with all that is in the file. */
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

static void missing_logs_are_told(void)
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

/* ---- puts by a file's datatype, and such as are logged piece by piece ---- */

enum { RUNS, ROWS, LARGE };
enum { RUN = 3, MUCH = 2200000 }; /* of two processes' elements in turn; doubles */

/* Every second run of a part of the variable, or of its records. */
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
    static const char *const sizes[] = {"0", "64"}; /* in pieces of so many bytes */
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

/* Data move, and the new variable has more dimensions than there were. */
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

/* Killed at such a point; puts come before the redef, and behind the enddef. */
enum point { DEFINING, DEFINED, LOGGED, POINTS };

static void crash_at(enum point point, const char *shared)
{
    int ncid = make("nc_burst_buf_shared_logs", shared);
    put_records(ncid);
    shell("rm -rf older && cp -r logs older");
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    define_more(ncid);
    if (point == DEFINING) shell(KEEP);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    if (point == DEFINED) shell(KEEP);
    put_more(ncid);
    if (point == LOGGED) shell(KEEP);
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

static void a_log_outlives_definitions(void)
{
    for (int i = 0; i < POINTS * 2; i++) {
        int ncid;
        crash_at(i / 2, i % 2 ? "enable" : "disable");
        if (i / 2 == DEFINED) { /* nothing waits: who only reads need not care */
            CHECK_NC(NC_NOERR, open_with(NULL, NULL, NC_NOWRITE, &ncid));
            check_records(ncid);
            CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        }
        open_and_check(i / 2);
    }
}

/* The logs as they were before the redef, with the file as it is after it. */
static void entries_of_other_definitions_are_refused(void)
{
    for (int shared = 0; shared < 2; shared++) {
        int ncid;
        crash_at(LOGGED, shared ? "enable" : "disable");
        shell("cp older/* logs && touch -r kept.nc a.nc");
        int rc = open_with(NULL, NULL, NC_WRITE, &ncid);
        CHECK_NC(NC_EBADLOG, rc);
        CHECK(strstr(ncmpi_strerror(rc), "other definitions") != NULL);
        shell("cmp a.nc kept.nc && rm -f logs/*");
    }
}

/* A name says nothing of where values are. */
static void a_variable_gets_another_name(void)
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

/* By their numbers the whole ones are told from the others after a power cut. */
static void entries_of_one_call_have_numbers_of_their_own(void)
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
    {"opening replays", opening_replays, CHECK_FORMATS},
    {"replaying twice gives the same", replaying_twice_gives_the_same, 0},
    {"opening for reading tells", opening_for_reading_tells, 0},
    {"a changed dataset keeps its values", a_changed_dataset_keeps_its_values, 0},
    {"it can be forbidden", it_can_be_forbidden, 0},
    {"a new file is no business of old logs", a_new_file_is_no_business_of_old_logs, 0},
    {"wrong logs are refused", wrong_logs_are_refused, 0},
    {"missing logs are told", missing_logs_are_told, 0},
    {"puts of all kinds are replayed", puts_of_all_kinds_are_replayed, 0},
    {"a log outlives definitions", a_log_outlives_definitions, CHECK_FORMATS},
    {"entries of other definitions are refused", entries_of_other_definitions_are_refused,
     0},
    {"a variable gets another name", a_variable_gets_another_name, 0},
    {"entries of one call have numbers of their own",
     entries_of_one_call_have_numbers_of_their_own, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
