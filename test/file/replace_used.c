/* Tests what happens if a job creates a dataset while another job has a dataset of that
 * name open for writing. Job A consists of all processes but the last one, and job B of
 * the last one. Whatever A does after B has created its dataset, B's file must have the
 * same bytes as without A, and A must receive an error that explains what happened. The
 * test also runs without locks, which the library otherwise uses to detect that a file is
 * in use. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_fs.h"
#include "base_lock.h"
#include "base_names.h"
#include "fault.h"
#include "made_dataset.h"

enum { X = 1237, RECORDS = 4, MOST = X * (RECORDS + 1) };

static MPI_Comm job; /* the communicator of this process's job */
static bool is_b;
static int values[MOST]; /* values that this job puts; the same on all its processes */

static void begin_jobs(void)
{
    is_b = check.rank == check.nprocs - 1;
    MPI_Comm_split(MPI_COMM_WORLD, is_b, 0, &job);
    for (int i = 0; i < MOST; i++) {
        int a = (int)check_random((uint64_t)1 << 32), b = (int)check_random(1u << 31);
        values[i] = is_b ? b : a;
    }
}

static void end_jobs(void)
{
    fault_disarm();
    MPI_Comm_free(&job);
}

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- a dataset ---- */

static const char *const stacks[] = {
    "nc_file_io=posix",
    "nc_file_io=mpi",
    "nc_burst_buf=enable;nc_burst_buf_dirname=%s",
    "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_dirname=%s",
    "e10_cache=enable;e10_cache_path=%s",
    "nc_stage=enable;nc_stage_dirname=%s",
    "romio_no_indep_rw=true"};
enum { STACKS = sizeof stacks / sizeof stacks[0] };

static int define(int ncid)
{
    int dims[] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", X)};
    new_var(ncid, "records", NC_INT, 2, dims);
    new_var(ncid, "fixed", NC_INT, 1, dims + 1);
    return ncmpi_enddef(ncid);
}

/* Puts a record or, if `record` is -1, the fixed-size variable. */
static int put(int ncid, int record)
{
    int rank, nprocs;
    MPI_Comm_rank(job, &rank);
    MPI_Comm_size(job, &nprocs);
    MPI_Offset low = X * rank / nprocs, high = X * (rank + 1) / nprocs;
    MPI_Offset start[] = {record, low}, count[] = {1, high - low};
    const int *from = values + (record + 1) * X + low;
    return record < 0 ? ncmpi_put_vara_int_all(ncid, 1, start + 1, count + 1, from)
                      : ncmpi_put_vara_int_all(ncid, 0, start, count, from);
}

/* Creates a dataset, writes its first `records` records, and leaves it open. */
static int make(const char *name, const char *stack, int records)
{
    int err, ncid = create_through(job, name, stack, &err);
    CHECK_NC(NC_NOERR, err);
    CHECK_NC(NC_NOERR, define(ncid));
    for (int record = -1; record < records; record++)
        CHECK_NC(NC_NOERR, put(ncid, record));
    return ncid;
}

static void expect_replaced_error(int err)
{
    CHECK_NC(NC_EFILE, err);
    CHECK(strstr(ncmpi_strerror(err), "replaced") != NULL);
}

static bool has_locks(void)
{
    int fd = open(check_path("locks"), O_RDWR | O_CREAT, 0666);
    bool has = fd >= 0 && base_lock_try(fd, BASE_LOCK_LAYOUT, true) != BASE_LOCKLESS;
    if (fd >= 0) (void)close(fd);
    return has;
}

/* ---- B creates a dataset over A's ---- */

/* Job B writes twin.nc. The dataset that B creates over A's must be identical to it in
 * the end. */
static void make_twin(const char *stack)
{
    if (is_b) close_dataset(make("twin.nc", stack, RECORDS));
}

/* A has a dataset open and has not yet synced all of its values. B creates a dataset over
 * it, and either closes its dataset or keeps it open while A continues. */
static void create_over(const char *mine, const char *other, bool found, bool open)
{
    int ncid = -1;
    begin_jobs();
    make_twin(other);
    if (!is_b && !found) ncid = make("a.nc", mine, 1);
    if (!is_b && found) {
        MPI_Info info = stack_info(mine);
        close_dataset(make("a.nc", "", 1));
        CHECK_NC(NC_NOERR, ncmpi_open(job, check_path("a.nc"), NC_WRITE, info, &ncid));
        if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    }
    if (!is_b) CHECK_NC(NC_NOERR, put(ncid, 1));
    meet();
    if (is_b) ncid = make("a.nc", other, open ? 1 : RECORDS);
    if (is_b && !open) close_dataset(ncid);
    meet();
    if (!is_b) {
        (void)put(ncid, 2);
        (void)put(ncid, RECORDS - 1);
        (void)put(ncid, -1);
        if (!found) expect_replaced_error(ncmpi_sync(ncid));
        expect_replaced_error(ncmpi_close(ncid));
    }
    meet();
    for (int record = 1; is_b && open && record < RECORDS; record++)
        CHECK_NC(NC_NOERR, put(ncid, record));
    if (is_b && open) close_dataset(ncid);
    complete_closes();
    if (is_b) {
        check_same_files(check_path("twin.nc"), check_path("a.nc"));
        CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
    }
    meet();
    end_jobs();
}

static void each_stack(bool lockless)
{
    for (int i = 0; i < STACKS * 4; i++) {
        if (lockless) CHECK(fault_arm("lock:1+:ENOLCK:*.nc"));
        create_over(stacks[i / 4], "nc_file_io=posix", i % 2, i / 2 % 2);
        if (lockless) CHECK(fault_arm("lock:1+:ENOLCK:*.nc"));
        create_over("nc_file_io=posix", stacks[i / 4], i % 2, i / 2 % 2);
    }
}

static void a_file_in_use_is_replaced(void)
{
    if (has_locks())
        each_stack(false);
    else
        check_skip("no open file description locks here");
}

static void a_file_is_replaced_if_it_is_unknown_whether_it_is_in_use(void)
{
    if (base_lock_is_known())
        each_stack(true);
    else
        check_skip("no open file description locks in this system");
}

/* ---- properties of the new file ---- */

static void the_new_file_gets_the_old_files_permissions(void)
{
    struct stat before, after;
    for (int lockless = 0; lockless < 2; lockless++) {
        int ncid = -1;
        begin_jobs();
        if (!is_b) ncid = make("a.nc", "", 1);
        if (check.rank == 0) CHECK_EQ(0, chmod(check_path("a.nc"), 0640));
        meet();
        CHECK_EQ(0, stat(check_path("a.nc"), &before));
        meet();
        if (lockless) CHECK(fault_arm("lock:1+:ENOLCK:*.nc"));
        if (is_b) {
            close_dataset(make("a.nc", "", RECORDS));
            CHECK_EQ(0, stat(check_path("a.nc"), &after));
            CHECK(before.st_ino != after.st_ino);
            CHECK_EQ(before.st_mode, after.st_mode);
            CHECK_EQ(before.st_gid, after.st_gid);
        }
        meet();
        if (!is_b) expect_replaced_error(ncmpi_close(ncid));
        end_jobs();
    }
}

static void make_leftover_name(char name[64])
{
    struct stat st = {0};
    int fd = open(check_path("a.nc"), O_RDONLY);
    CHECK_EQ(0, fstat(fd, &st));
    const uint64_t id[] = {(uint64_t)st.st_ino, base_fs_birth(fd)};
    CHECK_EQ(0, close(fd));
    snprintf(name, 64, "a.nc.creating-%016llx",
             (unsigned long long)base_hash(id, sizeof id, 0));
}

/* A create that is killed before it has renamed its new file leaves an empty file. The
 * next create must remove that file. */
static void a_file_left_by_a_killed_create_is_removed(void)
{
    for (int in_use = 0; in_use < 2; in_use++) {
        char name[64];
        int ncid = -1;
        begin_jobs();
        if (!is_b) ncid = make("a.nc", "", 1);
        if (!is_b && !in_use) close_dataset(ncid);
        meet();
        if (is_b) {
            make_leftover_name(name);
            CHECK(check_write_file(check_path(name), "", 0));
            close_dataset(make("a.nc", "", RECORDS));
            CHECK(access(check_path(name), F_OK) != 0);
        }
        meet();
        if (!is_b && in_use) expect_replaced_error(ncmpi_close(ncid));
        end_jobs();
    }
}

/* A file that has such a name but is not empty belongs to another program, so it must
 * remain. */
static void another_programs_file_with_that_name_is_kept(void)
{
    char name[64];
    int ncid = -1;
    begin_jobs();
    if (!is_b) ncid = make("a.nc", "", 1);
    meet();
    if (is_b) {
        make_leftover_name(name);
        CHECK(check_write_file(check_path(name), "mine", 4));
        close_dataset(make("a.nc", "", RECORDS));
        CHECK_EQ(0, access(check_path(name), F_OK));
    }
    meet();
    if (!is_b) expect_replaced_error(ncmpi_close(ncid));
    end_jobs();
}

/* ---- files that cannot be replaced ---- */

/* Job B must fail to create its dataset, with this error code and message. Meanwhile A
 * writes alone.nc, to which A's dataset must be identical in the end. */
static void refuse(int expected, const char *why, const char *plan)
{
    int err = NC_NOERR;
    if (is_b) {
        if (plan != NULL) CHECK(fault_arm(plan));
        (void)create_through(job, "a.nc", "", &err);
        CHECK_NC(expected, err);
        CHECK(strstr(ncmpi_strerror(err), why) != NULL);
        if (plan != NULL) CHECK(fault_disarm() > 0);
    } else {
        close_dataset(make("alone.nc", "", RECORDS));
    }
    meet();
}

static void a_file_with_two_names_is_kept(void)
{
    int ncid = -1;
    begin_jobs();
    if (!is_b) ncid = make("a.nc", "", 1);
    meet();
    if (is_b) CHECK_EQ(0, link(check_path("a.nc"), check_path("b.nc")));
    refuse(NC_EFILE, "hard links", NULL);
    for (int record = 1; !is_b && record < RECORDS; record++)
        CHECK_NC(NC_NOERR, put(ncid, record));
    if (!is_b) close_dataset(ncid);
    meet();
    if (is_b) check_same_files(check_path("alone.nc"), check_path("a.nc"));
    if (is_b) check_same_files(check_path("alone.nc"), check_path("b.nc"));
    end_jobs();
}

static void a_failed_create_changes_nothing(void)
{
    static const char *const plans[] = {"open:1:EACCES:*.creating-*",
                                        "rename:1:EACCES:*.creating-*"};
    for (int i = 0; i < 2; i++) {
        int ncid = -1;
        char name[64] = "";
        begin_jobs();
        if (!is_b) ncid = make("a.nc", "", 1);
        meet();
        if (is_b) make_leftover_name(name);
        refuse(NC_EACCESS, "a.nc", plans[i]);
        if (is_b) CHECK(access(check_path(name), F_OK) != 0);
        for (int record = 1; !is_b && record < RECORDS; record++)
            CHECK_NC(NC_NOERR, put(ncid, record));
        if (!is_b) close_dataset(ncid);
        meet();
        if (is_b) check_same_files(check_path("alone.nc"), check_path("a.nc"));
        meet();
        end_jobs();
    }
}

/* ---- many concurrent creates ---- */

/* Creates a dataset, writes the values of this process's job, and closes it. */
static int write_own(const char *stack)
{
    int err, ncid = create_through(job, "a.nc", stack, &err);
    if (err != NC_NOERR) return err;
    err = define(ncid);
    for (int record = -1; record < RECORDS && err == NC_NOERR; record++)
        err = put(ncid, record);
    int closed = ncmpi_close(ncid);
    return err != NC_NOERR ? err : closed;
}

/* Returns true if the dataset contains exactly the records that this process's job
 * wrote. */
static bool has_mine(void)
{
    int ncid = -1, all[X * RECORDS];
    MPI_Offset start[] = {0, 0}, count[] = {RECORDS, X};
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    memset(all, 0, sizeof all);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 0, start, count, all));
    close_dataset(ncid);
    return memcmp(all, values + X, sizeof all) == 0;
}

static void one_of_many_concurrent_creates_remains(void)
{
    static const char *const of_creators[] = {"nc_blob=enable", "nc_blob=disable"};
    for (int round = 0; round < 10; round++) {
        int ncid = -1, err = NC_NOERR;
        const bool is_a = check.rank == 0;
        job = MPI_COMM_SELF;
        for (int i = 0; i < MOST; i++)
            values[i] = (int)check_random_own((uint64_t)1 << 32);
        if (is_a) ncid = make("a.nc", "", 2);
        meet();
        if (!is_a) err = write_own(of_creators[round / 5]);
        CHECK(err == NC_NOERR || err == NC_EFILE);
        int good = !is_a && err == NC_NOERR, ngood = 0, nours = 0;
        meet();
        int ours = has_mine() && good;
        MPI_Allreduce(&good, &ngood, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&ours, &nours, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(ngood > 0);
        CHECK_EQ(1, nours);
        if (is_a) expect_replaced_error(ncmpi_close(ncid));
        meet();
        if (is_a) CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        meet();
    }
}

#define WITH_LOCKS(test)                                                                 \
    static void test##_with_locks(void)                                                  \
    {                                                                                    \
        if (has_locks())                                                                 \
            test();                                                                      \
        else                                                                             \
            check_skip("no open file description locks here");                           \
    }
WITH_LOCKS(the_new_file_gets_the_old_files_permissions)
WITH_LOCKS(a_file_left_by_a_killed_create_is_removed)
WITH_LOCKS(another_programs_file_with_that_name_is_kept)
WITH_LOCKS(a_file_with_two_names_is_kept)
WITH_LOCKS(a_failed_create_changes_nothing)
WITH_LOCKS(one_of_many_concurrent_creates_remains)

static const struct check_test tests[] = {
    {"a file in use is replaced", a_file_in_use_is_replaced, 0},
    {"a file is replaced if it is unknown whether it is in use",
     a_file_is_replaced_if_it_is_unknown_whether_it_is_in_use, 0},
    {"the new file gets the old file's permissions",
     the_new_file_gets_the_old_files_permissions_with_locks, 0},
    {"a file left by a killed create is removed",
     a_file_left_by_a_killed_create_is_removed_with_locks, 0},
    {"another program's file with that name is kept",
     another_programs_file_with_that_name_is_kept_with_locks, 0},
    {"a file with two names is kept", a_file_with_two_names_is_kept_with_locks, 0},
    {"a failed create changes nothing", a_failed_create_changes_nothing_with_locks, 0},
    {"one of many concurrent creates remains",
     one_of_many_concurrent_creates_remains_with_locks, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 4");
}
