/* Processes that take turns at one place in independent mode: one puts, says that it is
 * done (sync, flush, ...), and behind a barrier another one puts over it. The later value
 * holds: for each layer of drivers, way of saying so, and way in which everything reaches
 * the file in the end; and behind a crash. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_lock.h"
#include "check.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { X = 100, RECORDS = 4, VARS = 2 };

#define LOG "nc_burst_buf=enable"
#define NOW LOG ";nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0"

static const char *const stacks[] = {
    LOG,
    NOW,
    NOW ";nc_burst_buf_threads=4",
    LOG ";nc_burst_buf_shared_logs=enable",
    LOG ";nc_burst_buf_log_at=post",
    LOG ";nc_blob=enable",
    LOG ";nc_deferred_close=enable",
    NOW ";nc_deferred_close=enable;nc_burst_buf_shared_logs=enable",
    "e10_cache=coherent;e10_cache_flush_flag=flush_onclose",
    "nc_blob=enable",
    "nc_file_io=mpi",
    "nc_burst_buf=disable",
};
enum { STACKS = sizeof stacks / sizeof stacks[0], LOGGED = 8 /* of them, the first */ };

static MPI_Info stack(int i)
{
    char dir[1000];
    MPI_Info info = check_info(stacks[i]);
    snprintf(dir, sizeof dir, "%s/logs", check_path(""));
    if (check.rank == 0) mkdir(dir, 0777);
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    MPI_Info_set(info, "e10_cache_path", dir);
    MPI_Barrier(MPI_COMM_WORLD);
    return info;
}

/* ---- the turns ---- */

/* What a process does behind its put, before the barrier. */
static void sync_it(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
}

static void flush_it(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
}

static void let_threads(int ncid)
{
    int done = 0;
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    while (!done && CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, &done)))
        usleep(100);
}

static void change_modes(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
}

static const struct between {
    void (*done)(int ncid);
    bool posts; /* the put is a nonblocking one */
} betweens[] = {{sync_it, false},
                {flush_it, false},
                {let_threads, false},
                {change_modes, false},
                {sync_it, true}};
enum { BETWEENS = sizeof betweens / sizeof betweens[0] };

/* Each variable has a place that the first process puts to before the last one does, and
 * another the other way round. */
static void place_of(bool first, MPI_Offset *start)
{
    start[0] = first ? 1 : 2;
    start[1] = first ? 40 : 60;
}

static void put_one(int ncid, int varid, const MPI_Offset *start, int value, bool posts)
{
    const MPI_Offset one[2] = {1, 1};
    int id = NC_REQ_NULL, status = NC_NOERR;
    if (!posts) {
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, varid, start, one, &value));
        return;
    }
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, varid, start, one, &value, &id));
    CHECK_NC(NC_NOERR, ncmpi_wait(ncid, 1, &id, &status));
    CHECK_NC(NC_NOERR, status);
}

static int value_of(int varid, bool newer)
{
    return 1000 * (varid + 1) + newer;
}

static bool is_first(void)
{
    return check.rank == 0;
}

static bool takes_part(void)
{
    return check.rank == 0 || check.rank == check.nprocs - 1;
}

static void put_both(int ncid, bool newer, bool posts)
{
    MPI_Offset start[2];
    place_of(is_first() != newer, start);
    for (int v = 0; v < VARS && takes_part(); v++)
        put_one(ncid, v, start, value_of(v, newer), posts);
}

/* Both places are read by this process alone, or by all together. */
static void look(int ncid, bool newer, bool all)
{
    const MPI_Offset one[2] = {1, 1};
    for (int v = 0; v < VARS; v++)
        for (int first = 0; first < 2; first++) {
            MPI_Offset start[2];
            int value = -1;
            place_of(first, start);
            CHECK_NC(NC_NOERR, all ? ncmpi_get_vara_int_all(ncid, v, start, one, &value)
                                   : ncmpi_get_vara_int(ncid, v, start, one, &value));
            CHECK_EQ(value_of(v, newer), value);
        }
}

/* In independent mode; told: the newer values are followed by a sync, too. */
static void take_turns(int ncid, const struct between *by, bool told)
{
    put_both(ncid, false, by->posts);
    by->done(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    look(ncid, false, false);
    MPI_Barrier(MPI_COMM_WORLD);
    put_both(ncid, true, by->posts);
    if (told) by->done(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (told) look(ncid, true, false);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A dataset in independent mode; all of its records are there. */
static int make(MPI_Info info)
{
    int ncid = -1, dims[3], v;
    static const int zero[RECORDS * X];
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", X, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", RECORDS, &dims[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "r", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR,
             ncmpi_def_var(ncid, "a", NC_INT, 2, (int[]){dims[2], dims[1]}, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    const MPI_Offset start[2] = {0, 0}, count[2] = {check.rank == 0 ? RECORDS : 0, X};
    for (v = 0; v < VARS; v++)
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, zero));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    return ncid;
}

/* ---- to the end ---- */

static void put_elsewhere(int ncid)
{
    const MPI_Offset start[2] = {0, check.rank % X}, one[2] = {1, 1};
    for (int v = 0; v < VARS; v++)
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, one, &v));
}

static void put_and_flush(int ncid)
{
    put_elsewhere(ncid);
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
}

static void get_together(int ncid)
{
    put_elsewhere(ncid);
    look(ncid, true, true);
}

static void define_again(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_elsewhere(ncid);
}

static void go_on_alone(int ncid)
{
    put_elsewhere(ncid);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    look(ncid, true, false);
}

static void only_close(int ncid)
{
    (void)ncid;
}

static void (*const ends[])(int ncid) = {put_elsewhere, put_and_flush, get_together,
                                         define_again,  go_on_alone,   only_close};
enum { ENDS = sizeof ends / sizeof ends[0] };

static void check_file(MPI_Info info)
{
    int ncid;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    look(ncid, true, true);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
}

static void the_later_one_holds(void)
{
    for (int s = 0; s < STACKS; s++)
        for (int i = 0; i < BETWEENS * ENDS; i++) {
            MPI_Info info = stack(s);
            int ncid = make(info);
            MPI_Info_free(&info);
            take_turns(ncid, &betweens[i % BETWEENS], i / BETWEENS % 2 == 0);
            CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
            ends[i / BETWEENS](ncid);
            CHECK_NC(NC_NOERR, ncmpi_close(ncid));
            check_file(MPI_INFO_NULL);
        }
}

/* ---- a crash ---- */

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

/* All are killed now: so it is for those who open the dataset later. */
static void die(int ncid)
{
    shell("rm -rf kept && mkdir kept && cp -rp a.nc* logs kept");
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    shell("cp kept/logs/* logs && cd kept && for f in a.nc*; do "
          "cat $f >../$f && touch -r $f ../$f || exit; done");
}

static void no_replay_brings_the_older_one_back(void)
{
    for (int s = 0; s < LOGGED; s++)
        for (int i = 0; i < 2 * BETWEENS; i++) {
            MPI_Info info = stack(s);
            int ncid = make(info);
            take_turns(ncid, &betweens[i / 2], i % 2);
            die(ncid);
            check_file(info);
            MPI_Info_free(&info);
        }
}

/* An entry that was drained before one that was logged earlier. */
static void nor_that_of_a_single_request(void)
{
    const MPI_Offset one[2] = {1, 1}, pending[2] = {3, 7 + check.rank % 2};
    int other = 77, id, ncid;
    for (int told = 0; told < 2; told++) {
        MPI_Info info = stack(4);
        const struct between by = {told ? sync_it : only_close, true};
        ncid = make(info);
        for (int v = 0; v < VARS && takes_part(); v++)
            CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, pending, one, &other, &id));
        take_turns(ncid, &by, told);
        shell("rm -rf kept && mkdir kept && cp -rp a.nc* logs kept");
        CHECK_NC(NC_NOERR, ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        shell("cp kept/logs/* logs && cat kept/a.nc >a.nc && touch -r kept/a.nc a.nc");
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
        look(ncid, true, true);
        for (int v = 0; v < VARS; v++) {
            CHECK_NC(NC_NOERR,
                     ncmpi_get_vara_int_all(ncid, v, (MPI_Offset[]){3, 7}, one, &other));
            CHECK_EQ(77, other);
        }
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Info_free(&info);
    }
}

/* The log is not needed: so the file must say how many records it has. */
static void records_of_one_process_are_not_lost(void)
{
    const MPI_Offset start[2] = {RECORDS + 2, 5}, one[2] = {1, 1};
    for (int i = 0; i < BETWEENS; i++) {
        MPI_Info info = stack(i % 2 ? 0 : 3);
        MPI_Offset records = 0;
        int value = 7, ncid = make(info);
        if (check.rank == 1)
            CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, 0, start, one, &value));
        betweens[i].done(ncid);
        die(ncid);
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
        MPI_Info_free(&info);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &records));
        CHECK_EQ(RECORDS + 3, records);
        value = 0;
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, start, one, &value));
        CHECK_EQ(7, value);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* Another job has read the number of records, and writes it back while it has the header
 * locked. */
static void records_are_told_under_the_headers_lock(void)
{
    enum { AT = 4, WIDTH = 8 }; /* CDF-5 */
    const MPI_Offset start[2] = {RECORDS + 2, 5}, one[2] = {1, 1};
    unsigned char there[WIDTH] = {0};
    int ncid = -1, fd = -1, value = 7;
    MPI_Info info = stack(0);
    CHECK_NC(NC_NOERR, ncmpi_close(make(info)));
    if (check.rank == 0) {
        fd = open(check_path("a.nc"), O_RDWR);
        CHECK_EQ(BASE_LOCKED, base_lock_try(fd, BASE_LOCK_HEADER, true));
        CHECK_EQ(WIDTH, pread(fd, there, WIDTH, AT));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        CHECK_EQ(WIDTH, pwrite(fd, there, WIDTH, AT));
        base_lock_drop(fd, BASE_LOCK_HEADER);
    } else if (check.rank == 1) {
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_WRITE, info, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, 0, start, one, &value));
        CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(WIDTH, pread(fd, there, WIDTH, AT));
        CHECK_EQ(RECORDS + 3, there[WIDTH - 1]);
        (void)close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 1) CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Info_free(&info);
}

static const struct check_test tests[] = {
    {"the later one holds", the_later_one_holds, CHECK_SEVERAL},
    {"no replay brings the older one back", no_replay_brings_the_older_one_back,
     CHECK_SEVERAL},
    {"nor that of a single request", nor_that_of_a_single_request, CHECK_SEVERAL},
    {"records are told under the header's lock", records_are_told_under_the_headers_lock,
     CHECK_SEVERAL},
    {"records of one process are not lost", records_of_one_process_are_not_lost,
     CHECK_FORMATS | CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "3");
}
