/* Tests datasets whose subfiles are joined into a single file by background threads after
 * the close. The joined file must be complete when the library promises that it is. Until
 * then, the dataset must remain in its subfiles. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../burst/burst_plan.h"
#include "base_mem.h"
#include "check.h"
#include "fault.h"
#include "no_threads.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

#define BEHIND "nc_burst_buf=disable;nc_blob=enable;nc_num_subfiles=2;nc_blob_join=behind"
static const char behind[] = BEHIND;
static const char in_subfiles[] = "nc_burst_buf=disable;nc_blob=enable;nc_num_subfiles=2";

/* The program's main thread. No other thread may call MPI functions that use the
 * dataset's communicator and files. */
static pthread_t first;
static _Atomic int called_beside;

static void note_call(void)
{
    if (!pthread_equal(first, pthread_self())) called_beside++;
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    note_call();
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    note_call();
    return PMPI_Comm_create_group(comm, group, tag, made);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *f)
{
    note_call();
    return PMPI_File_open(comm, name, mode, info, f);
}

int MPI_File_read_at(MPI_File f, MPI_Offset at, void *bytes, int n, MPI_Datatype type,
                     MPI_Status *status)
{
    note_call();
    return PMPI_File_read_at(f, at, bytes, n, type, status);
}

int MPI_File_write_at(MPI_File f, MPI_Offset at, const void *bytes, int n,
                      MPI_Datatype type, MPI_Status *status)
{
    note_call();
    return PMPI_File_write_at(f, at, bytes, n, type, status);
}

/* ---- checks ---- */

static bool is_subfile_there(const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.0000", check_path(name));
    return access(path, F_OK) == 0;
}

/* Removes subfiles that could not be deleted after the join. A new dataset leaves such
 * files alone, because it cannot know whether they belong to it. */
static void remove_subfiles(const char *name)
{
    char path[4200];
    for (int i = 0; check.rank == 0 && i < check.nprocs; i++) {
        snprintf(path, sizeof path, "%s.%04d", check_path(name), i);
        CHECK(unlink(path) == 0 || errno == ENOENT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Checks that the dataset has been joined if `joined` is true, and has not been joined if
 * it is false. Collective. */
static void is_joined(const char *name, int seed, bool joined)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is_subfile_there(name) != joined);
    if (joined) plan_is_there(name, seed, check.nprocs);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Returns the temporary name of the joined file, which contains the master's token. */
static struct path joining(const char *name)
{
    struct path p = path_of(name);
    size_t n;
    unsigned char *page = check_read_file(p.text, &n);
    strcat(p.text, ".joining-");
    for (int i = 16; page != NULL && i < 24; i++)
        sprintf(p.text + strlen(p.text), "%02x", page[i] ^ page[i + 8]);
    free(page);
    return p;
}

/* ---- joins after the close ---- */

static void a_deferred_join_is_complete_after_a_wait(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 1};
    MPI_Offset size = -1;
    for (int named = 0; named < 2; named++) {
        CHECK_NC(NC_NOERR, plan_make(&p));
        CHECK_NC(NC_NOERR, ncmpix_wait_closed("another.nc"));
        is_joined("a.nc", 1, false);
        CHECK(base_mem_in_use() > 0);
        CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
        CHECK_EQ(0, size); /* a nonzero size would look like a leak */
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(named ? check_path("a.nc") : NULL));
        is_joined("a.nc", 1, true);
        plan_read_back(&p);
    }
    CHECK_EQ(0, base_mem_in_use());
}

/* The join must complete even if the program makes no further calls to the library. */
static void threads_join_a_file_without_further_calls(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 2};
    int64_t begin = plan_first_byte();
    bool whole = false;
    CHECK_NC(NC_NOERR, plan_make(&p));
    struct path made = joining("a.nc");
    for (int i = 0; i < 20000 && !whole; i++) {
        whole = plan_is_complete(made.text, 2, check.nprocs, begin);
        usleep(1000);
    }
    CHECK(whole);
    CHECK_EQ(0, called_beside);
    is_joined("a.nc", 2, false);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    is_joined("a.nc", 2, true);
}

static void the_next_call_completes_a_deferred_join(void)
{
    const struct plan a = {MPI_COMM_WORLD, "a.nc", behind, 3},
                      b = {MPI_COMM_WORLD, "b.nc", behind, 4},
                      c = {MPI_COMM_WORLD, "c.nc", in_subfiles, 5};
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&c)); /* its close is not deferred, so it does not join
                                        * a.nc */
    is_joined("a.nc", 3, false);
    CHECK_NC(NC_NOERR, plan_make(&b));
    is_joined("a.nc", 3, true);
    is_joined("b.nc", 4, false);
    plan_read_back(&b); /* the same dataset under another name */
    is_joined("b.nc", 4, true);
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR,
             plan_make(&(struct plan){a.comm, a.name, "x=y", 6})); /* overwrites a.nc */
    plan_is_there("a.nc", 6, check.nprocs);
    CHECK(!is_subfile_there("a.nc"));
}

/* A job appends to an existing dataset, which is then joined. */
static void an_existing_dataset_is_joined_after_an_append(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", in_subfiles, 7};
    int ncid;
    CHECK_NC(NC_NOERR, plan_make(&p));
    MPI_Info info = check_info(behind);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    plan_put(&(struct plan){MPI_COMM_WORLD, "a.nc", behind, 8}, ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    is_joined("a.nc", 8, false);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    is_joined("a.nc", 8, true);
}

/* The log is drained before the join, so the joined file contains its values. */
static void logs_are_drained_before_a_deferred_join(void)
{
    static const char *const more[] = {"", ";nc_deferred_close=enable",
                                       ";nc_burst_buf_del_on_close=disable"};
    for (int i = 0; i < 3; i++) {
        char hints[200];
        snprintf(hints, sizeof hints, "%s%s", behind + sizeof "nc_burst_buf=disable",
                 more[i]);
        const struct plan p = {MPI_COMM_WORLD, "a.nc", hints, 9 + i};
        CHECK_NC(NC_NOERR, plan_make(&p));
        is_joined("a.nc", p.seed, false);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
        is_joined("a.nc", p.seed, true);
        plan_logs_are("a.nc.", i == 2);
        CHECK_EQ(0, base_mem_in_use());
    }
}

/* ---- names ---- */

/* One process deletes the dataset, and another dataset may then take its name. */
static void a_deleted_dataset_is_not_joined(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 12},
                      b = {MPI_COMM_WORLD, "a.nc", in_subfiles, 13};
    for (int again = 0; again < 2; again++) {
        CHECK_NC(NC_NOERR, plan_make(&p));
        struct path made = joining("a.nc");
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == check.nprocs - 1)
            CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
        if (again) CHECK_NC(NC_NOERR, plan_make(&b));
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
        CHECK_EQ(0, base_mem_in_use());
        CHECK(access(made.text, F_OK) != 0);
        CHECK_EQ(again, access(check_path("a.nc"), F_OK) == 0);
        CHECK_EQ(again, is_subfile_there("a.nc"));
    }
    plan_read_back(&b);
}

/* The master is renamed, or another dataset takes its name. The join must change neither
 * file. */
static void a_join_fails_if_the_masters_name_is_another_datasets(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 14},
                      b = {MPI_COMM_SELF, "b.nc", "x=y", 15};
    CHECK_NC(NC_NOERR, plan_make(&p));
    struct path made = joining("a.nc"), a = path_of("a.nc");
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(0, rename(a.text, check_path("moved.nc")));
        CHECK_NC(NC_NOERR, plan_make(&b));
        CHECK_EQ(0, rename(check_path("b.nc"), a.text));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int rc = ncmpix_wait_closed(NULL);
    CHECK_NC(NC_EFILE, rc);
    if (check.rank == 0) CHECK(strstr(ncmpi_strerror(rc), "deferred close of ") != NULL);
    CHECK(access(made.text, F_OK) != 0);
    plan_is_there("a.nc", 15, 1);
    CHECK(is_subfile_there("a.nc"));
    if (check.rank == 0) CHECK_EQ(0, rename(check_path("moved.nc"), a.text));
    MPI_Barrier(MPI_COMM_WORLD);
    plan_read_back(&p);
}

/* ---- joins without a thread ---- */

static void without_threads_the_next_call_joins(void)
{
#ifdef __SANITIZE_THREAD__
    check_skip("pthread_create is the sanitizer's");
#else
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 16};
    no_threads = check.rank == check.nprocs - 1;
    CHECK_NC(NC_NOERR, plan_make(&p));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    no_threads = false;
    is_joined("a.nc", 16, true);
#endif
}

/* The threads that join a file must not call MPI-IO. */
static void through_mpi_io_a_close_is_not_deferred(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", BEHIND ";nc_file_io=mpi", 17};
    CHECK_NC(NC_NOERR, plan_make(&p));
    is_joined("a.nc", 17, true);
    CHECK_EQ(0, base_mem_in_use());
}

/* Without blobs there is nothing to join. */
static void without_subfiles_a_close_is_not_deferred(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", "nc_blob_join=behind", 18};
    CHECK_NC(NC_NOERR, plan_make(&p));
    plan_is_there("a.nc", 18, check.nprocs);
    plan_logs_are("a.nc.", false);
}

/* ---- errors ---- */

/* Makes a call fail on one process. Afterwards either the dataset must be joined, or it
 * must still be in its subfiles and every process must have received an error from the
 * close or the next call. Increments *later if the next call returned the error. Returns
 * false if the process makes no such call. */
static bool fails(const char *what, int rank, int *later)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 19};
    char plan[4300];
    int ncid;
    remove_subfiles("a.nc");
    CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
    plan_put(&p, ncid);
    struct path made = joining("a.nc");
    snprintf(plan, sizeof plan, what, check_path("a.nc"), rank);
    CHECK(fault_arm(plan));
    int rc = ncmpi_close(ncid);
    int waited = ncmpix_wait_closed(NULL);
    int met = fault_disarm(), error = rc != NC_NOERR || waited != NC_NOERR;
    int all[3] = {met, error, -error};
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(all[1], -all[2]);
    *later += waited != NC_NOERR;
    CHECK(access(made.text, F_OK) != 0);
    if (!all[1]) is_joined("a.nc", 19, true);
    plan_read_back(&p);
    CHECK_EQ(0, base_mem_in_use());
    return all[0] > 0;
}

static void a_failed_join_is_reported_and_keeps_the_subfiles(void)
{
    static const char *const ways[] = {
        "write:%d:ENOSPC:%%s.joining-*:%%d", "sync:%d:EIO:%%s.joining-*:%%d",
        "read:%d:EIO:%%s.000*:%%d",          "rename:%d:EIO:%%s.joining-*:%%d",
        "open:%d:EMFILE:%%s.joining-*:%%d",  "unlink:%d:EACCES:%%s.000*:%%d",
    };
    int later = 0;
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
        for (int rank = 0; rank < check.nprocs; rank++) {
            bool more = true;
            for (int nth = 1; more && nth < 50; nth++) {
                char what[200];
                snprintf(what, sizeof what, ways[way], nth);
                more = fails(what, rank, &later);
            }
        }
    CHECK(later > 0);
}

static const struct check_test tests[] = {
    {"a deferred join is complete after a wait", a_deferred_join_is_complete_after_a_wait,
     CHECK_FORMATS | CHECK_MODES},
    {"threads join a file without further calls",
     threads_join_a_file_without_further_calls, CHECK_FORMATS},
    {"the next call completes a deferred join", the_next_call_completes_a_deferred_join,
     0},
    {"an existing dataset is joined after an append",
     an_existing_dataset_is_joined_after_an_append, 0},
    {"logs are drained before a deferred join", logs_are_drained_before_a_deferred_join,
     0},
    {"a deleted dataset is not joined", a_deleted_dataset_is_not_joined, 0},
    {"a join fails if the master's name is another dataset's",
     a_join_fails_if_the_masters_name_is_another_datasets, 0},
    {"without threads the next call joins", without_threads_the_next_call_joins, 0},
    {"through MPI-IO a close is not deferred", through_mpi_io_a_close_is_not_deferred, 0},
    {"without subfiles a close is not deferred", without_subfiles_a_close_is_not_deferred,
     0},
    {"a failed join is reported and keeps the subfiles",
     a_failed_join_is_reported_and_keeps_the_subfiles, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    first = pthread_self();
    return check_main(argc, argv, tests, NULL);
}
