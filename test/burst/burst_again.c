/* Runs random programs in which some calls fail and are repeated. In the end, the dataset
 * must contain the same values as it would without a log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fault.h"
#include "pnetcdf.h"

/* Dimensions of the variables. A fixed-size variable, or a record of a record variable,
 * has W elements. At most PARTS processes put to a variable. */
enum { PARTS = 4, PART = 23, W = PARTS * PART, RECS = 5, POSTS = 4 };

/* Special values in `expected`, the contents that every process expects the dataset to
 * have. NONE permits any value. */
enum { NONE = -77, FILL = -5 };
enum {
    FIXED,
    RECORDS,
    OWN,
    VARS
}; /* in OWN, each process always writes to the same part */
static int expected[VARS][RECS][W]; /* a fixed-size variable has only row 0 */
static int records;
static bool logs_fail; /* whether logs sometimes fail during a put */
static bool unlogged;  /* whether the log may lack values until a flush */
static const char *way;

/* ---- the dataset ---- */

static MPI_Info new_info(void)
{
    MPI_Info info;
    char dir[1000], hints[300], *rest = hints, *hint;
    snprintf(dir, sizeof dir, "%s", check_path(""));
    snprintf(hints, sizeof hints, "%s", way);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", dir);
    MPI_Info_set(info, "nc_burst_buf_delay", "0");
    while ((hint = strtok_r(rest, ";", &rest)) != NULL) {
        char *value = strchr(hint, '=');
        *value = '\0';
        MPI_Info_set(info, hint, value + 1);
    }
    return info;
}

static int create(void)
{
    int ncid, dims[2], v;
    short fill = FILL;
    MPI_Info info = new_info();
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", W, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "f", NC_INT, 1, &dims[1], &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "r", NC_SHORT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, &fill));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "own", NC_INT, 1, &dims[1], &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < VARS * RECS * W; i++)
        (&expected[0][0][0])[i] = NONE;
    records = 0;
    unlogged = false;
    return ncid;
}

/* ---- faults ---- */

static char plan[1200];

static bool failed_anywhere(int rc)
{
    int failed = rc != NC_NOERR;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed;
}

/* Often makes some later writes to the file fail, on one process or on all. */
static void arm(void)
{
    int nth = 1 + (int)check_random(5), who = (int)check_random(3);
    const char *later = check_random(2) ? "+" : "";
    const char *what = check_random(2) ? "EIO" : "ENOSPC";
    snprintf(plan, sizeof plan, "write:%d%s:%s:%s", nth, later, what, check_path("a.nc"));
    if (who < check.nprocs)
        snprintf(plan + strlen(plan), sizeof plan - strlen(plan), ":%d", who);
    if (check_random(3) > 0) CHECK(fault_arm(plan));
}

/* Sometimes makes the log fail, on one process or on all. The affected processes then
 * continue without a log. */
static void arm_log(void)
{
    if (!logs_fail || check_random(6) > 0) return;
    int nth = 1 + (int)check_random(3), who = (int)check_random(PARTS);
    const char *later = check_random(2) ? "+" : "";
    const char *which = check_random(2) ? "*.data" : "*.meta";
    snprintf(plan, sizeof plan, "write:%d%s:ENOSPC:%s", nth, later, check_path(which));
    if (who < check.nprocs)
        snprintf(plan + strlen(plan), sizeof plan - strlen(plan), ":%d", who);
    CHECK(fault_arm(plan));
}

/* Makes a collective call with faults. If it fails on any process, repeats it without
 * faults. */
static int do_again(int ncid, int (*call)(int))
{
    arm();
    int rc = call(ncid);
    fault_disarm();
    if (!failed_anywhere(rc)) return rc;
    rc = call(ncid);
    if (rc != NC_NOERR) printf("# %s; the last fault was %s\n", way, plan);
    return rc;
}

/* ---- steps ---- */

/* The elements [from, from + n) of a row. */
struct slab {
    int var, row, from, n;
};

/* Updates the expected values after a put. All processes call this function, regardless
 * of which of them makes the put. */
static void expect(const struct slab *s, int value)
{
    for (int i = s->from; i < s->from + s->n; i++)
        expected[s->var][s->row][i] = value + i;
    if (s->var == RECORDS && s->row >= records) records = s->row + 1;
}

static struct slab random_slab(int var, int low, int high)
{
    struct slab s = {.var = var};
    s.row = s.var != RECORDS ? 0 : (int)check_random(RECS);
    s.from = low + (int)check_random((uint64_t)(high - low));
    s.n = 1 + (int)check_random((uint64_t)(high - s.from));
    return s;
}

/* Sets start and count for a record variable. Returns the index of the first element that
 * applies to the slab's variable, which may lack the record dimension. */
static int place(const struct slab *s, MPI_Offset *start, MPI_Offset *count)
{
    start[0] = s->row;
    start[1] = s->from;
    count[0] = s->n > 0;
    count[1] = s->n;
    return s->var != RECORDS;
}

static void fill_values(const struct slab *s, int value, int *values)
{
    for (int i = 0; i < s->n; i++)
        values[i] = value + s->from + i;
}

/* Puts this process's slab collectively. The slab may be empty. */
static void put_mine(int ncid, const struct slab *mine, int step)
{
    MPI_Offset start[2], count[2];
    int values[W], skip = place(mine, start, count);
    fill_values(mine, 100 * step, values);
    arm_log();
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_int_all(ncid, mine->var, start + skip, count + skip, values));
    unlogged |= failed_anywhere(fault_disarm());
}

/* Puts a random slab on one process. The others put nothing. */
static void put_one(int ncid, int step)
{
    struct slab mine = {0}, s = random_slab((int)check_random(OWN), 0, W);
    expect(&s, 100 * step);
    if ((int)check_random((uint64_t)check.nprocs) == check.rank) mine = s;
    put_mine(ncid, &mine, step);
}

/* Each process puts to one part of the variable. The parts are assigned at random, except
 * in OWN, in which each process always writes to the same part. */
static void put_parts(int ncid, int step)
{
    struct slab mine = {0};
    int var = (int)check_random(VARS), shift = var == OWN ? 0 : (int)check_random(PARTS);
    for (int p = 0; p < check.nprocs; p++) {
        int low = (p + shift) % PARTS * PART;
        struct slab s = random_slab(var, low, low + PART);
        expect(&s, 100 * step);
        if (p == check.rank) mine = s;
    }
    put_mine(ncid, &mine, step);
}

/* Posts n puts on this process, and waits for them on all processes. */
static int post_all(int ncid, const struct slab *s, int n, int step)
{
    int values[POSTS][W], ids[POSTS], statuses[POSTS];
    for (int k = 0; k < n; k++) {
        MPI_Offset start[2], count[2];
        int skip = place(&s[k], start, count);
        fill_values(&s[k], 100 * step + k, values[k]);
        CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, s[k].var, start + skip, count + skip,
                                               values[k], &ids[k]));
    }
    return ncmpi_wait_all(ncid, n, ids, statuses);
}

/* Posts puts, which may overlap, on one process. If the wait cannot write them to the
 * file, they must remain in the log. Without a log, they must be repeated. */
static void post_and_wait(int ncid, int step)
{
    struct slab s[POSTS];
    int n = 1 + (int)check_random(POSTS);
    int mine = (int)check_random((uint64_t)check.nprocs) == check.rank ? n : 0;
    for (int k = 0; k < n; k++) {
        s[k] = random_slab((int)check_random(OWN), 0, W);
        expect(&s[k], 100 * step + k);
    }
    arm();
    int rc = post_all(ncid, s, mine, step);
    fault_disarm();
    if (!failed_anywhere(rc)) return;
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    if (unlogged) CHECK_NC(NC_NOERR, post_all(ncid, s, mine, step));
}

static void put_alone(int ncid, int step)
{
    MPI_Offset start[2], count[2];
    int values[W], owner = (int)check_random((uint64_t)check.nprocs);
    struct slab s = random_slab((int)check_random(OWN), 0, W);
    expect(&s, 100 * step);
    fill_values(&s, 100 * step, values);
    int skip = place(&s, start, count);
    CHECK_NC(NC_NOERR, do_again(ncid, ncmpi_begin_indep_data));
    if (check.rank == owner)
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_int(ncid, s.var, start + skip, count + skip, values));
    if (check_random(3) == 0) CHECK_NC(NC_NOERR, do_again(ncid, ncmpi_sync));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}

static void fill_record(int ncid, int step)
{
    (void)step;
    struct slab s = {RECORDS, (int)check_random(RECS), 0, W};
    expect(&s, 0);
    for (int i = 0; i < W; i++)
        expected[RECORDS][s.row][i] = FILL;
    CHECK_NC(NC_NOERR, ncmpi_fill_var_rec(ncid, RECORDS, s.row));
}

static int get_row(int ncid, int var, int row, int *values)
{
    MPI_Offset start[2] = {row, 0}, count[2] = {1, W};
    int skip = var != RECORDS;
    return ncmpi_get_vara_int_all(ncid, var, start + skip, count + skip, values);
}

static int asked_var, asked_row;

static int get_asked_row(int ncid)
{
    int values[W];
    return get_row(ncid, asked_var, asked_row, values);
}

/* Returns the number of wrong values in a row. Ignores elements that were never put. */
static int wrong_in_row(int ncid, int var, int row)
{
    int values[W], wrong = 0;
    if (!CHECK_NC(NC_NOERR, get_row(ncid, var, row, values))) return 0;
    for (int i = 0; i < W; i++)
        wrong += expected[var][row][i] != NONE && values[i] != expected[var][row][i];
    return wrong;
}

static void check_values(int ncid, const char *when, int step)
{
    MPI_Offset n;
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &n));
    int wrong = n != records;
    wrong += wrong_in_row(ncid, FIXED, 0) + wrong_in_row(ncid, OWN, 0);
    for (int row = 0; row < n && row < records; row++)
        wrong += wrong_in_row(ncid, RECORDS, row);
    if (!CHECK_EQ(0, wrong))
        printf("# %s, step %d, %s; the last fault was %s\n", when, step, way, plan);
}

/* Adds an attribute of random length, so that all data must move. The distance may be a
 * few bytes or more than the data's total size. */
static void grow(int ncid)
{
    static char text[20000];
    MPI_Offset n = 600 + (MPI_Offset)check_random(check_random(2) ? 1000 : 10000);
    char name[16];
    int natts, dim;
    memset(text, 'x', sizeof text);
    CHECK_NC(NC_NOERR, ncmpi_inq_natts(ncid, &natts));
    snprintf(name, sizeof name, "more%d", natts);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, name, n, text));
    if (check_random(3) > 0) return;
    CHECK_NC(NC_NOERR, ncmpi_inq_dimid(ncid, "t", &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, NC_SHORT, 1, &dim, &dim));
}

static int dataset; /* id of the dataset */

/* Closes and reopens the dataset after an enddef that could be neither completed nor
 * undone. The open completes or undoes the enddef. */
static int open_again(int ncid)
{
    MPI_Info info = new_info();
    CHECK_NC(NC_EFILE, ncmpi_close(ncid));
    int rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &dataset);
    MPI_Info_free(&info);
    return rc;
}

static int redefine(int ncid)
{
    CHECK_NC(NC_NOERR, do_again(ncid, ncmpi_redef));
    if (check_random(2)) grow(ncid);
    arm();
    int rc = ncmpi_enddef(ncid);
    fault_disarm();
    if (failed_anywhere(rc)) rc = ncmpi_enddef(ncid);
    return rc == NC_EFILE ? open_again(ncid) : rc;
}

static int again_flush(int ncid)
{
    return do_again(ncid, ncmpi_flush);
}

static int again_sync(int ncid)
{
    return do_again(ncid, ncmpi_sync);
}

static int again_get(int ncid)
{
    asked_var = records > 0 ? RECORDS : FIXED;
    asked_row = records > 0 ? (int)check_random((uint64_t)records) : 0;
    return do_again(ncid, get_asked_row);
}

static void take_step(int ncid, int step)
{
    static int (*const again[])(int) = {again_flush, again_sync, again_get, redefine};
    static void (*const puts[])(int, int) = {put_one,   put_parts,     put_one,
                                             put_parts, post_and_wait, put_alone,
                                             put_parts, fill_record};
    int kind = (int)check_random(15);
    if (kind < 4)
        CHECK_NC(NC_NOERR, again[kind](ncid));
    else if (kind < 12)
        puts[kind - 4](ncid, step);
    else if (kind == 12)
        check_values(ncid, "open", step);
    else
        put_parts(ncid, step);
}

/* ---- programs ---- */

/* Closes the dataset, possibly with faults, and checks its values. A close cannot be
 * repeated, so values that it could not write to the file must be written by the next
 * open, which finds them in the logs. */
static void close_and_look(int ncid, int steps)
{
    MPI_Info info = new_info();
    if (unlogged) CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    arm();
    bool failed = failed_anywhere(ncmpi_close(ncid));
    fault_disarm();
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"),
                                  failed ? NC_WRITE : NC_NOWRITE,
                                  failed ? info : MPI_INFO_NULL, &ncid));
    check_values(ncid, failed ? "recovered" : "closed", steps);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Info_free(&info);
}

static void run_programs(int programs)
{
    enum { STEPS = 30 };
    for (int k = 0; k < programs; k++) {
        dataset = create();
        for (int step = 1; step <= STEPS; step++)
            take_step(dataset, step);
        close_and_look(dataset, STEPS);
    }
}

static void failed_writes_are_repeated(void)
{
    static const char *const ways[] = {
        "",
        "nc_burst_buf_flush_buffer_size=100",
        "nc_burst_buf_log_at=post",
        "nc_burst_buf_log_at=post;nc_burst_buf_shared_logs=enable",
        "nc_burst_buf_flush=flush_immediate;nc_burst_buf_threads=2",
        "nc_burst_buf_flush=flush_immediate;nc_burst_buf_log_at=post",
        "romio_no_indep_rw=true",
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        way = ways[i];
        logs_fail = check_random(2) == 1;
        run_programs(4);
    }
    logs_fail = false;
}

/* Makes the nth write to the file fail. Later puts by this process that overlap the
 * failed write must be written after it, even if contested variables are written in
 * between. */
static void a_later_put_is_written_after_the_failed_write_that_it_overlaps(void)
{
    enum { MOST = 8 };
    way = "nc_burst_buf_flush_buffer_size=100;nc_transfer=direct";
    for (int nth = 1; nth <= MOST; nth++) {
        int ncid = create();
        for (int step = 1; step <= 3; step++) {
            struct slab all = {FIXED, 0, 0, W}, mine = {0};
            for (int p = 0; p < check.nprocs; p++) {
                struct slab own = {OWN, 0, p * PART, PART};
                expect(&own, 100 * step);
                if (p == check.rank) mine = own;
            }
            put_mine(ncid, &mine, step);
            expect(&all, 100 * step);
            if (step % check.nprocs != check.rank) all.n = 0;
            put_mine(ncid, &all, step);
        }
        snprintf(plan, sizeof plan, "write:%d:EIO:%s:0", nth, check_path("a.nc"));
        CHECK(fault_arm(plan));
        bool failed = failed_anywhere(ncmpi_flush(ncid));
        CHECK(failed || nth > 3);
        fault_disarm();
        CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
        check_values(ncid, "flushed", nth);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static void put_one_as(int ncid, const struct slab *s, int rank, int step)
{
    struct slab none = {.var = s->var};
    expect(s, 100 * step);
    put_mine(ncid, check.rank == rank ? s : &none, step);
}

/* Makes one process's log fail after its first put. The values that the process then puts
 * without a log must be written after earlier puts by other processes, and before later
 * ones. */
static void puts_keep_their_order_when_one_process_log_fails(void)
{
    static const char *const ways[] = {"", "romio_no_indep_rw=true",
                                       "nc_burst_buf_flush=flush_immediate"};
    static const struct slab all = {FIXED, 0, 0, W}, middle = {FIXED, 0, 20, 50},
                             inner = {FIXED, 0, 40, 10};
    for (int i = 0; i < 3 * check.nprocs; i++) {
        int who = i / 3, other = (who + 1) % check.nprocs;
        way = ways[i % 3];
        int ncid = create();
        put_one_as(ncid, &middle, who, 1);
        put_one_as(ncid, &all, other, 2);
        snprintf(plan, sizeof plan, "write:1+:EIO:%s:%d", check_path("*.data"), who);
        CHECK(fault_arm(plan));
        put_one_as(ncid, &middle, who, 3);
        fault_disarm();
        put_one_as(ncid, &inner, other, 4);
        if (i % 2) CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
        check_values(ncid, "flushed", i);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* ---- number of records ---- */

/* If neither the log nor the file accepts a put, the number of records must not
 * change. */
static void a_failed_put_adds_no_record(void)
{
    for (int collective = 0; collective < 2; collective++) {
        MPI_Offset start[2] = {3, 0}, count[2] = {1, W}, n = -1;
        int values[W] = {0};
        way = "";
        int ncid = create();
        if (!collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        snprintf(plan, sizeof plan, "write:1+:ENOSPC:%s", check_path("*"));
        CHECK(fault_arm(plan));
        int rc = collective ? ncmpi_put_vara_int_all(ncid, RECORDS, start, count, values)
                            : ncmpi_put_vara_int(ncid, RECORDS, start, count, values);
        CHECK(fault_disarm() > 0);
        CHECK(rc == NC_ENO_SPACE || rc == NC_EWRITE);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &n));
        CHECK_EQ(0, n);
        start[0] = 1;
        if (!collective) ncmpi_end_indep_data(ncid); /* this or the flush fails */
        ncmpi_flush(ncid);
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, RECORDS, start, count, values));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &n));
        CHECK_EQ(2, n);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static const struct check_test tests[] = {
    {"failed writes are repeated", failed_writes_are_repeated, 0},
    {"a later put is written after the failed write that it overlaps",
     a_later_put_is_written_after_the_failed_write_that_it_overlaps, 0},
    {"puts keep their order when one process's log fails",
     puts_keep_their_order_when_one_process_log_fails, 0},
    {"a failed put adds no record", a_failed_put_adds_no_record, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
