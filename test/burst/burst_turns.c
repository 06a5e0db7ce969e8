/* Two processes write to the same place one after the other, in independent mode. One
 * puts a value and announces it (sync, flush, ...), and after a barrier another one
 * overwrites the value. The later value must take precedence, for each driver stack, each
 * kind of announcement, and each way in which values finally reach the file. The same
 * must be true after a crash. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_lock.h"
#include "check.h"
#include "old_notes.h"
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
enum {
    STACKS = sizeof stacks / sizeof stacks[0],
    LOGGED = 8 /* stacks that have logs */
};

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

/* ---- taking turns ---- */

/* The following functions announce a process's put before the barrier. */
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
    bool posts; /* whether the put is nonblocking */
} betweens[] = {{sync_it, false},
                {flush_it, false},
                {let_threads, false},
                {change_modes, false},
                {sync_it, true}};
enum { BETWEENS = sizeof betweens / sizeof betweens[0] };

/* Sets *start to one of the two places in a variable to which both processes put. At one
 * place, the first process puts before the last process does; at the other place, it puts
 * afterwards. */
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

/* Checks both places, by independent or collective gets. */
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

/* Makes the puts in independent mode. If `announced` is set, the newer values are
 * announced, too. */
static void take_turns(int ncid, const struct between *by, bool announced)
{
    put_both(ncid, false, by->posts);
    by->done(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    look(ncid, false, false);
    MPI_Barrier(MPI_COMM_WORLD);
    put_both(ncid, true, by->posts);
    if (announced) by->done(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (announced) look(ncid, true, false);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Creates a dataset with all of its records, and enters independent mode. */
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

/* ---- ways to stop using the dataset ---- */

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

static void the_later_of_alternating_puts_takes_precedence(void)
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

/* ---- crashes ---- */

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

static void keep(void)
{
    shell("rm -rf kept && mkdir kept && cp -rp a.nc* logs kept");
    if (check.rank == 0) CHECK(old_notes(check_path("kept/logs")) > 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Closes the dataset in such a way that later opens find it as if all processes had been
 * killed at this point. */
static void die(int ncid)
{
    keep();
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    shell("cp kept/logs/* logs && cd kept && for f in a.nc*; do "
          "cat $f >../$f && touch -r $f ../$f || exit; done");
}

static void a_replay_does_not_restore_older_values(void)
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

/* Drains an entry before another one that was logged earlier. */
static void draining_a_single_request_does_not_restore_older_values(void)
{
    const MPI_Offset one[2] = {1, 1}, pending[2] = {3, 7 + check.rank % 2};
    int other = 77, id, ncid;
    for (int announced = 0; announced < 2; announced++) {
        MPI_Info info = stack(4);
        const struct between by = {announced ? sync_it : only_close, true};
        ncid = make(info);
        for (int v = 0; v < VARS && takes_part(); v++)
            CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, pending, one, &other, &id));
        take_turns(ncid, &by, announced);
        keep();
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

/* The values are read without the log, so the file itself must contain the number of
 * records. */
static void records_that_one_process_added_are_not_lost(void)
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

/* Simulates another job, which has read the number of records and writes it back while it
 * holds the lock on the header. */
static void records_are_written_while_the_header_is_locked(void)
{
    enum { AT = 4, WIDTH = 8 }; /* location of the number of records in CDF-5 */
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
        base_lock_release(fd, BASE_LOCK_HEADER);
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
    {"the later of alternating puts takes precedence",
     the_later_of_alternating_puts_takes_precedence, CHECK_SEVERAL},
    {"a replay does not restore older values", a_replay_does_not_restore_older_values,
     CHECK_SEVERAL},
    {"draining a single request does not restore older values",
     draining_a_single_request_does_not_restore_older_values, CHECK_SEVERAL},
    {"records are written while the header is locked",
     records_are_written_while_the_header_is_locked, CHECK_SEVERAL},
    {"records that one process added are not lost",
     records_that_one_process_added_are_not_lost, CHECK_FORMATS | CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "3");
}
