/* Another program replaces the file of a dataset that is open for writing, either by
 * creating a new dataset with the same name or by renaming another file to that name. The
 * new dataset must keep its values, and the next sync or close of the old one must return
 * an error on all processes. If the old file has only been renamed or deleted, puts must
 * work as usual. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_lock.h"
#include "made_dataset.h"

enum { X = 777, RECORDS = 3 };

static const char *const stacks[] = {
    "nc_file_io=posix",
    "nc_file_io=mpi",
    "romio_no_indep_rw=true",
    "nc_burst_buf=enable;nc_burst_buf_dirname=%s",
    "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_dirname=%s",
    "e10_cache=enable;e10_cache_path=%s"};
enum { STACKS = sizeof stacks / sizeof stacks[0] };

/* Returns a value that depends on the dataset, the record and the position. */
static double value_of(uint64_t seed, int rec, int i)
{
    uint64_t bits = (seed + (uint64_t)rec * 1000003 + (uint64_t)i) * 0x9e3779b97f4a7c15u;
    bits ^= bits >> 29;
    bits = (bits & ~((uint64_t)0x7ff << 52)) | ((uint64_t)(1000 + bits % 40) << 52);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- a dataset with one record variable and one fixed-size variable ---- */

static void define(int ncid)
{
    int dims[] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", X)};
    new_var(ncid, "records", NC_DOUBLE, 2, dims);
    new_var(ncid, "fixed", NC_DOUBLE, 1, dims + 1);
}

/* Puts record `rec` from all processes in `comm`. For record 0, also puts the fixed-size
 * variable. */
static int put(MPI_Comm comm, int ncid, uint64_t seed, int rec)
{
    int rank, nprocs;
    double values[X];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    MPI_Offset low = X * rank / nprocs, high = X * (rank + 1) / nprocs;
    MPI_Offset start[] = {rec, low}, count[] = {1, high - low};
    for (MPI_Offset i = low; i < high; i++)
        values[i - low] = value_of(seed, rec, (int)i);
    int err = ncmpi_put_vara_double_all(ncid, 0, start, count, values);
    if (rec > 0) return err;
    int fixed = ncmpi_put_vara_double_all(ncid, 1, start + 1, count + 1, values);
    return err != NC_NOERR ? err : fixed;
}

/* Writes a complete dataset from one process, as another program would. */
static void make(const char *name, const char *stack, uint64_t seed)
{
    int err, ncid = create_through(MPI_COMM_SELF, name, stack, &err);
    CHECK_NC(NC_NOERR, err);
    define(ncid);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int rec = 0; rec < RECORDS; rec++)
        CHECK_NC(NC_NOERR, put(MPI_COMM_SELF, ncid, seed, rec));
    close_dataset(ncid);
}

static void expect(const char *name, uint64_t seed, int records)
{
    double values[X];
    MPI_Offset length = -1, from = 0, all = X;
    int wrong = 0, ncid = -1;
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path(name), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, 0, &length));
    CHECK_EQ(records, length);
    for (int rec = 0; rec < records; rec++) {
        MPI_Offset start[] = {rec, 0}, count[] = {1, X};
        CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(ncid, 0, start, count, values));
        for (int i = 0; i < X; i++)
            wrong += values[i] != value_of(seed, rec, i);
    }
    CHECK_NC(NC_NOERR, ncmpi_get_vara_double_all(ncid, 1, &from, &all, values));
    for (int i = 0; i < X; i++)
        wrong += values[i] != value_of(seed, 0, i);
    CHECK_EQ(0, wrong);
    close_dataset(ncid);
}

/* Returns how many files in the case's directory have names that begin with the dataset's
 * name. */
static int other_files(void)
{
    int n = 0;
    DIR *d = opendir(check_path(""));
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.' && strstr(e->d_name, ".nc.") != NULL;
    if (d != NULL) closedir(d);
    return n;
}

/* ---- the replacement ---- */

enum how { CREATED, RENAMED, DELETED_AND_CREATED, HOWS };

static void replace(enum how how, const char *stack, uint64_t seed)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        if (how == RENAMED) {
            make("b.nc", stack, seed);
            CHECK_EQ(0, rename(check_path("b.nc"), check_path("a.nc")));
        }
        if (how == DELETED_AND_CREATED)
            CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        if (how != RENAMED) make("a.nc", stack, seed);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void expect_replaced(int err)
{
    CHECK_NC(NC_EFILE, err);
    CHECK(strstr(ncmpi_strerror(err), "replaced") != NULL);
}

/* Writes a dataset through the driver stack `mine`, and replaces its file through the
 * stack `other`. The two datasets have different values and lengths. */
static void one_pair(const char *mine, const char *other, enum how how, bool sync_before,
                     bool sync_after)
{
    const uint64_t seed = check_random(UINT32_MAX), its = seed + 5000000;
    int err, ncid = create_through(MPI_COMM_WORLD, "a.nc", mine, &err);
    CHECK_NC(NC_NOERR, err);
    define(ncid);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, seed, 0));
    if (sync_before) CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    replace(how, other, its);
    (void)put(MPI_COMM_WORLD, ncid, seed, 1);
    (void)put(MPI_COMM_WORLD, ncid, seed, 4);
    if (sync_after) expect_replaced(ncmpi_sync(ncid));
    expect_replaced(ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        expect("a.nc", its, RECORDS);
        CHECK_EQ(0, other_files());
        CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void a_replaced_dataset_reports_it_and_the_new_one_is_complete(void)
{
    for (int a = 0; a < STACKS; a++)
        for (int b = 0; b < STACKS; b++)
            one_pair(stacks[a], stacks[b], (enum how)((a + b) % HOWS), b % 2, a % 2);
}

static void every_way_of_replacing_a_dataset_is_reported(void)
{
    for (int how = 0; how < HOWS; how++)
        for (int a = 0; a < STACKS; a++)
            one_pair(stacks[a], "nc_file_io=posix", (enum how)how, how % 2, true);
}

static void replacement_by_a_dataset_with_subfiles_is_reported(void)
{
    for (int a = 0; a < STACKS; a++) {
        const uint64_t seed = check_random(UINT32_MAX);
        int err, ncid = create_through(MPI_COMM_WORLD, "a.nc", stacks[a], &err);
        CHECK_NC(NC_NOERR, err);
        define(ncid);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, seed, 0));
        replace(CREATED, "nc_blob=enable", seed + 77);
        (void)put(MPI_COMM_WORLD, ncid, seed, 1);
        expect_replaced(ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) {
            expect("a.nc", seed + 77, RECORDS);
            CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- other calls that must report the replacement ---- */

static int created_and_replaced(const char *stack, uint64_t seed)
{
    int err, ncid = create_through(MPI_COMM_WORLD, "a.nc", stack, &err);
    CHECK_NC(NC_NOERR, err);
    define(ncid);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, seed, 0));
    replace(CREATED, "nc_file_io=posix", seed + 99);
    return ncid;
}

static void enddef_reports_that_the_dataset_was_replaced(void)
{
    for (int a = 0; a < STACKS; a++) {
        const uint64_t seed = check_random(UINT32_MAX);
        int err, ncid = create_through(MPI_COMM_WORLD, "a.nc", stacks[a], &err);
        CHECK_NC(NC_NOERR, err);
        define(ncid);
        replace(CREATED, "nc_file_io=posix", seed);
        expect_replaced(ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
        if (check.rank == 0) expect("a.nc", seed, RECORDS);
        ncid = created_and_replaced(stacks[a], seed);
        err = ncmpi_redef(ncid);
        if (err == NC_NOERR) {
            new_var(ncid, "more", NC_INT, 0, NULL);
            expect_replaced(ncmpi_enddef(ncid));
        }
        CHECK_NC(NC_EFILE, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) expect("a.nc", seed + 99, RECORDS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Creates a dataset, which replaces a file in use, and aborts it before enddef. The new
 * file must nevertheless keep the name, so that the program that uses the old file can
 * detect that its values are lost. */
static void an_aborted_create_is_reported_as_a_replacement(void)
{
    struct stat st;
    for (int a = 0; a < STACKS; a++) {
        int err, other, ncid = create_through(MPI_COMM_WORLD, "a.nc", stacks[a], &err);
        CHECK_NC(NC_NOERR, err);
        define(ncid);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, 3, 0));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) {
            other = create_through(MPI_COMM_SELF, "a.nc", stacks[a], &err);
            CHECK_NC(NC_NOERR, err);
            define(other);
            CHECK_NC(NC_NOERR, ncmpi_abort(other));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        (void)put(MPI_COMM_WORLD, ncid, 3, 1);
        expect_replaced(ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) CHECK(stat(check_path("a.nc"), &st) == 0 && st.st_size == 0);
    }
}

static void a_single_process_reports_that_the_dataset_was_replaced(void)
{
    for (int a = 0; a < STACKS; a++) {
        const uint64_t seed = check_random(UINT32_MAX);
        double value = value_of(seed, 2, 2);
        MPI_Offset at[] = {2, check.rank};
        int ncid = created_and_replaced(stacks[a], seed);
        bool together = strcmp(stacks[a], "romio_no_indep_rw=true") == 0;
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        if (!together) (void)ncmpi_put_var1_double(ncid, 0, at, &value);
        if (check.rank == 0) expect_replaced(ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        (void)ncmpi_end_indep_data(ncid);
        expect_replaced(ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0) expect("a.nc", seed + 99, RECORDS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- files that must not be replaced ---- */

static void renaming_or_deleting_a_dataset_in_use_is_no_error(void)
{
    for (int a = 0; a < 2 * STACKS; a++) {
        const uint64_t seed = check_random(UINT32_MAX);
        bool renamed = a % 2 == 0;
        int err, ncid = create_through(MPI_COMM_WORLD, "a.nc", stacks[a / 2], &err);
        CHECK_NC(NC_NOERR, err);
        define(ncid);
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, seed, 0));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0 && renamed) {
            CHECK_EQ(0, rename(check_path("a.nc"), check_path("moved.nc")));
            make("a.nc", "nc_file_io=posix", seed + 1);
        } else if (check.rank == 0) {
            CHECK_EQ(0, unlink(check_path("a.nc")));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int rec = 1; rec < RECORDS; rec++)
            CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, seed, rec));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        close_dataset(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0 && renamed) expect("moved.nc", seed, RECORDS);
        if (check.rank == 0 && renamed) expect("a.nc", seed + 1, RECORDS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* If a file in use is created through a symbolic link, the link's target must be
 * replaced, not the link. */
static void a_create_through_a_symbolic_link_keeps_the_link(void)
{
    struct stat st;
    const uint64_t seed = check_random(UINT32_MAX);
    int err, ncid = create_through(MPI_COMM_WORLD, "target.nc", "nc_file_io=posix", &err);
    CHECK_NC(NC_NOERR, err);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(0, symlink("target.nc", check_path("a.nc")));
        make("a.nc", "nc_file_io=posix", seed);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_replaced(ncmpi_enddef(ncid));
    CHECK_NC(NC_EFILE, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank > 0) return;
    CHECK(lstat(check_path("a.nc"), &st) == 0 && S_ISLNK(st.st_mode));
    expect("target.nc", seed, RECORDS);
}

/* If no process has the file open for writing, ncmpi_create must keep the inode, and with
 * it the file's mode and links. */
static void a_create_empties_a_file_that_is_not_in_use(void)
{
    struct stat before, after;
    if (check.rank > 0) return;
    make("a.nc", "nc_file_io=posix", 1);
    CHECK_EQ(0, stat(check_path("a.nc"), &before));
    for (int i = 0; i < STACKS; i++) {
        make("a.nc", stacks[i], 2);
        CHECK_EQ(0, stat(check_path("a.nc"), &after));
        CHECK_EQ(before.st_ino, after.st_ino);
    }
}

/* If the file's directory entry cannot be removed, ncmpi_create must fail and change
 * nothing. */
static void a_file_that_cannot_be_replaced_is_kept(void)
{
    char folder[4096];
    const uint64_t seed = check_random(UINT32_MAX);
    if (geteuid() == 0) {
        check_skip("root may remove any name");
        return;
    }
    snprintf(folder, sizeof folder, "%s", check_path("folder"));
    if (check.rank == 0) CHECK_EQ(0, mkdir(folder, 0777));
    MPI_Barrier(MPI_COMM_WORLD);
    int other, err,
        ncid = create_through(MPI_COMM_WORLD, "folder/a.nc", "nc_file_io=posix", &err);
    CHECK_NC(NC_NOERR, err);
    define(ncid);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(0, chmod(folder, 0555));
        create_through(MPI_COMM_SELF, "folder/a.nc", "nc_file_io=posix", &other);
        CHECK_NC(NC_EACCESS, other);
        CHECK_EQ(0, chmod(folder, 0755));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int rec = 0; rec < RECORDS; rec++)
        CHECK_NC(NC_NOERR, put(MPI_COMM_WORLD, ncid, seed, rec));
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) expect("folder/a.nc", seed, RECORDS);
}

/* ---- creating a dataset concurrently ---- */

/* Every process acts as a separate job, and all jobs create the same dataset. One
 * complete dataset must remain, and the job that created it must have completed without
 * an error. */
static void one_of_several_concurrent_creates_remains(void)
{
    enum { ROUNDS = 4 };
    for (int round = 0; round < ROUNDS * STACKS; round++) {
        double first = 0;
        const uint64_t seed = check_random(UINT32_MAX);
        MPI_Barrier(MPI_COMM_WORLD);
        int err,
            ncid = create_through(MPI_COMM_SELF, "a.nc", stacks[round % STACKS], &err);
        if (err == NC_NOERR) {
            define(ncid);
            err = ncmpi_enddef(ncid);
            for (int rec = 0; rec < RECORDS && err == NC_NOERR; rec++)
                err = put(MPI_COMM_SELF, ncid, seed + (uint64_t)check.rank, rec);
            int closed = ncmpi_close(ncid);
            if (err == NC_NOERR) err = closed;
        }
        CHECK(err == NC_NOERR || err == NC_EFILE);
        int good = err == NC_NOERR, which = -1, ours = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Offset at[] = {0, 0};
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_get_var1_double_all(ncid, 0, at, &first));
        close_dataset(ncid);
        for (int i = 0; i < check.nprocs; i++)
            if (first == value_of(seed + (uint64_t)i, 0, 0)) which = i;
        CHECK(which >= 0);
        if (which == check.rank) ours = good;
        MPI_Allreduce(MPI_IN_PLACE, &ours, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK_EQ(1, ours);
        if (check.rank == 0 && which >= 0)
            expect("a.nc", seed + (uint64_t)which, RECORDS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Returns whether the file system supports the locks with which ncmpi_create detects that
 * a file is in use. */
static bool has_locks(void)
{
    int fd = open(check_path("locks"), O_RDWR | O_CREAT, 0666);
    bool has = fd >= 0 && base_lock_try(fd, BASE_LOCK_LAYOUT, true) != BASE_LOCKLESS;
    if (fd >= 0) close(fd);
    return has;
}

#define WITH_LOCKS(test)                                                                 \
    static void test##_with_locks(void)                                                  \
    {                                                                                    \
        if (has_locks())                                                                 \
            test();                                                                      \
        else                                                                             \
            check_skip("no open file description locks here");                           \
    }
WITH_LOCKS(a_replaced_dataset_reports_it_and_the_new_one_is_complete)
WITH_LOCKS(an_aborted_create_is_reported_as_a_replacement)
WITH_LOCKS(one_of_several_concurrent_creates_remains)

static const struct check_test tests[] = {
    {"a replaced dataset reports it, and the new one is complete",
     a_replaced_dataset_reports_it_and_the_new_one_is_complete_with_locks, 0},
    {"every way of replacing a dataset is reported",
     every_way_of_replacing_a_dataset_is_reported, CHECK_FORMATS},
    {"replacement by a dataset with subfiles is reported",
     replacement_by_a_dataset_with_subfiles_is_reported, 0},
    {"enddef reports that the dataset was replaced",
     enddef_reports_that_the_dataset_was_replaced, 0},
    {"an aborted create is reported as a replacement",
     an_aborted_create_is_reported_as_a_replacement_with_locks, 0},
    {"a single process reports that the dataset was replaced",
     a_single_process_reports_that_the_dataset_was_replaced, 0},
    {"renaming or deleting a dataset in use is no error",
     renaming_or_deleting_a_dataset_in_use_is_no_error, 0},
    {"a create through a symbolic link keeps the link",
     a_create_through_a_symbolic_link_keeps_the_link, 0},
    {"a create empties a file that is not in use",
     a_create_empties_a_file_that_is_not_in_use, 0},
    {"a file that cannot be replaced is kept", a_file_that_cannot_be_replaced_is_kept, 0},
    {"one of several concurrent creates remains",
     one_of_several_concurrent_creates_remains_with_locks, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3");
}
