/* A dataset in subfiles that is made one file behind its close, by threads: the file is
 * whole whenever the library promises that, and until then the dataset is in its
 * subfiles. */
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

/* What the library calls for a dataset's agreements and files, it calls in the thread of
 * the program. */
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

/* ---- what is there ---- */

static bool is_subfile_there(const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, "%s.0000", check_path(name));
    return access(path, F_OK) == 0;
}

/* Those that could not be removed when the one file was there: a new dataset leaves them
 * alone, as nobody knows whose they are. */
static void remove_subfiles(const char *name)
{
    char path[4200];
    for (int i = 0; check.rank == 0 && i < check.nprocs; i++) {
        snprintf(path, sizeof path, "%s.%04d", check_path(name), i);
        CHECK(unlink(path) == 0 || errno == ENOENT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Before or behind it: all processes look at the same time. */
static void is_joined(const char *name, int seed, bool joined)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is_subfile_there(name) != joined);
    if (joined) plan_is_there(name, seed, check.nprocs);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The name of the file until it is whole: of the master's token. */
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

/* ---- behind the close ---- */

static void it_is_whole_when_waited_for(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", behind, 1};
    MPI_Offset size = -1;
    for (int named = 0; named < 2; named++) {
        CHECK_NC(NC_NOERR, plan_make(&p));
        CHECK_NC(NC_NOERR, ncmpix_wait_closed("another.nc"));
        is_joined("a.nc", 1, false);
        CHECK(base_mem_in_use() > 0);
        CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
        CHECK_EQ(0, size); /* which the program must not take for a leak */
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(named ? check_path("a.nc") : NULL));
        is_joined("a.nc", 1, true);
        plan_read_back(&p);
    }
    CHECK_EQ(0, base_mem_in_use());
}

/* Nobody calls the library. */
static void threads_make_it(void)
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

static void the_next_one_completes_it(void)
{
    const struct plan a = {MPI_COMM_WORLD, "a.nc", behind, 3},
                      b = {MPI_COMM_WORLD, "b.nc", behind, 4},
                      c = {MPI_COMM_WORLD, "c.nc", in_subfiles, 5};
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&c)); /* which is nobody's business */
    is_joined("a.nc", 3, false);
    CHECK_NC(NC_NOERR, plan_make(&b));
    is_joined("a.nc", 3, true);
    is_joined("b.nc", 4, false);
    plan_read_back(&b); /* the same dataset */
    is_joined("b.nc", 4, true);
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){a.comm, a.name, "x=y", 6})); /* over it */
    plan_is_there("a.nc", 6, check.nprocs);
    CHECK(!is_subfile_there("a.nc"));
}

/* One that was there, by a job that appends to it. */
static void one_that_was_there_is_joined(void)
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

/* It is drained before, and its log has nothing that the file lacks. */
static void the_burst_buffer_is_on_top(void)
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

/* By one process, as programs do; another takes its name. */
static void a_deleted_one_is_not_made(void)
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

/* The master got another name, or another dataset its own: neither is touched. */
static void a_name_that_is_another_s_is_told(void)
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
    if (check.rank == 0)
        CHECK(strstr(ncmpi_strerror(rc), "/a.nc, whose close was deferred") != NULL);
    CHECK(access(made.text, F_OK) != 0);
    plan_is_there("a.nc", 15, 1);
    CHECK(is_subfile_there("a.nc"));
    if (check.rank == 0) CHECK_EQ(0, rename(check_path("moved.nc"), a.text));
    MPI_Barrier(MPI_COMM_WORLD);
    plan_read_back(&p);
}

/* ---- closes that do not wait ---- */

static void without_threads_the_next_call_makes_it(void)
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

/* Threads would have to call MPI-IO. */
static void through_mpi_io_it_is_an_ordinary_close(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", BEHIND ";nc_file_io=mpi", 17};
    CHECK_NC(NC_NOERR, plan_make(&p));
    is_joined("a.nc", 17, true);
    CHECK_EQ(0, base_mem_in_use());
}

/* Without blobs there is nothing to join. */
static void without_subfiles_it_is_an_ordinary_close(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", "nc_blob_join=behind", 18};
    CHECK_NC(NC_NOERR, plan_make(&p));
    plan_is_there("a.nc", 18, check.nprocs);
    plan_logs_are("a.nc.", false);
}

/* ---- errors ---- */

/* Whatever fails on whichever process, all are told, in the close or by the next call,
 * and the dataset is in its subfiles; or it is one file. False: there was no such call;
 * *later counts those that the next call told. */
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

static void what_fails_is_told_and_leaves_the_subfiles(void)
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
    {"it is whole when waited for", it_is_whole_when_waited_for,
     CHECK_FORMATS | CHECK_MODES},
    {"threads make it", threads_make_it, CHECK_FORMATS},
    {"the next one completes it", the_next_one_completes_it, 0},
    {"one that was there is joined", one_that_was_there_is_joined, 0},
    {"the burst buffer is on top", the_burst_buffer_is_on_top, 0},
    {"a deleted one is not made", a_deleted_one_is_not_made, 0},
    {"a name that is another's is told", a_name_that_is_another_s_is_told, 0},
    {"without threads the next call makes it", without_threads_the_next_call_makes_it, 0},
    {"through MPI-IO it is an ordinary close", through_mpi_io_it_is_an_ordinary_close, 0},
    {"without subfiles it is an ordinary close", without_subfiles_it_is_an_ordinary_close,
     0},
    {"what fails is told, and leaves the subfiles",
     what_fails_is_told_and_leaves_the_subfiles, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    first = pthread_self();
    return check_main(argc, argv, tests, NULL);
}
