/* Tests closes that return as soon as all values are in the log. The log is drained
 * later. The dataset must be complete whenever the library promises that it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_mem.h"
#include "burst_plan.h"
#include "check.h"
#include "fault.h"
#include "no_threads.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* The path of a file to watch, and whether the file had been written when this process
 * reached its last agreement. Each agreement is delayed, so that threads have time to
 * write. */
static const char *watched;
static bool written;

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    enum { WHILE_US = 20000 };
    struct stat before = {0}, after = {0};
    if (watched != NULL && stat(watched, &before) == 0) {
        usleep(WHILE_US);
        written = stat(watched, &after) == 0 &&
                  (before.st_mtim.tv_nsec != after.st_mtim.tv_nsec ||
                   before.st_size != after.st_size);
    }
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

/* ---- after the close ---- */

static void a_deferred_close_returns_at_once_and_a_wait_completes_it(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    int before = 0, after = 1;
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&before, NULL));
    for (int named = 0; named < 3; named++) {
        static const char *const names[] = {"a.nc", "./a.nc", NULL};
        CHECK_NC(NC_NOERR, plan_make(&p));
        CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&after, NULL));
        CHECK_EQ(before, after); /* files with deferred closes do not count as open */
        plan_logs_are("a.nc.", true);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed("another.nc"));
        plan_logs_are("a.nc.", true);
        CHECK_NC(NC_NOERR,
                 ncmpix_wait_closed(named == 2 ? NULL : check_path(names[named])));
        plan_logs_are("a.nc.", false);
        plan_is_there("a.nc", p.seed, check.nprocs);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
        plan_read_back(&p);
    }
    CHECK_EQ(0, base_mem_in_use());
}

/* A deferred close uses the library's memory. ncmpi_inq_malloc_size must not report that
 * memory, because programs would take it for a leak. */
static void memory_for_a_deferred_close_is_not_reported_as_a_leak(void)
{
    const struct plan a = {MPI_COMM_WORLD, "a.nc", deferred, 30},
                      b = {MPI_COMM_WORLD, "b.nc", "nc_deferred_close=disable", 31};
    MPI_Offset size = -1;
    int ncid;
    CHECK_NC(NC_NOERR, plan_make(&b));
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK(base_mem_in_use() > 0);
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
    CHECK_EQ(0, size);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("b.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
    CHECK(size > 0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    plan_logs_are("a.nc.", true);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    CHECK_EQ(0, base_mem_in_use());
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
    CHECK_EQ(0, size);
}

/* Threads must not start before the agreement, because they would slow down the processes
 * that have not reached it. */
static void threads_start_after_the_agreement(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 16};
    char path[1024];
    snprintf(path, sizeof path, "%s", check_path("a.nc"));
    if (check.rank == 0) watched = path;
    CHECK_NC(NC_NOERR, plan_make(&p));
    watched = NULL;
    CHECK(!written);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    plan_read_back(&p);
}

/* Threads drain the log even if no process calls the library. */
static void threads_drain_the_log_without_further_calls(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 2};
    int64_t begin = plan_first_byte(), place = begin + (int64_t)4 * N * check.rank;
    unsigned char b[4] = {0};
    CHECK_NC(NC_NOERR, plan_make(&p));
    for (int i = 0; i < 20000; i++) {
        FILE *f = fopen(check_path("a.nc"), "rb");
        if (f != NULL && fseek(f, (long)place, SEEK_SET) == 0)
            (void)!fread(b, 1, sizeof b, f);
        if (f != NULL) fclose(f);
        if (plan_big_endian(b, 4) != 0) break;
        usleep(1000);
    }
    CHECK_EQ(plan_value(2, 0, -1, (int64_t)N * check.rank), plan_big_endian(b, 4));
    plan_logs_are("a.nc.", true);
}

static void the_next_call_completes_a_deferred_close(void)
{
    const struct plan a = {MPI_COMM_WORLD, "a.nc", deferred, 3},
                      b = {MPI_COMM_WORLD, "b.nc", deferred, 4},
                      c = {MPI_COMM_WORLD, "c.nc", "nc_deferred_close=disable", 5};
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&c)); /* does not complete a.nc's close */
    plan_logs_are("a.nc.", true);
    plan_logs_are("c.nc.", false);
    CHECK_NC(NC_NOERR, plan_make(&b));
    plan_logs_are("a.nc.", false);
    plan_logs_are("b.nc.", true);
    plan_is_there("a.nc", 3, check.nprocs);
    plan_read_back(&b); /* completes b.nc's deferred close */
    plan_logs_are("b.nc.", false);
    plan_is_there("b.nc", 4, check.nprocs);
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){a.comm, a.name, "x=y", 6})); /* overwrites
                                                                              * the
                                                                              * file */
    plan_logs_are("a.nc.", false);
    plan_is_there("a.nc", 6, check.nprocs);
}

/* Process 0's hint determines whether a close is deferred. */
static void process_0s_hint_decides_whether_a_close_is_deferred(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc",
                           check.rank == 0 ? deferred : "nc_deferred_close=disable", 7};
    CHECK_NC(NC_NOERR, plan_make(&p));
    plan_logs_are("a.nc.", true);
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){p.comm, "b.nc",
                                                check.rank > 0 ? deferred : "x=y", 8}));
    plan_logs_are("b.nc.", false);
}

/* ---- names ---- */

static void a_file_may_be_renamed_after_a_deferred_close(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 9};
    CHECK_NC(NC_NOERR, plan_make(&p));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(0, rename(check_path("a.nc"), check_path("new.nc")));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("new.nc")));
    plan_logs_are("a.nc.", false);
    plan_is_there("new.nc", 9, check.nprocs);
}

/* One process deletes the file. This must not make any call fail. */
static void a_file_may_be_deleted_after_a_deferred_close(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 10};
    for (int again = 0; again < 2; again++) {
        CHECK_NC(NC_NOERR, plan_make(&p));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == check.nprocs - 1)
            CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    } /* the second create comes before the first close is completed */
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    plan_logs_are("a.nc.", false);
    CHECK(access(check_path("a.nc"), F_OK) != 0);
}

static void one_of_a_files_two_names_may_be_removed_after_a_deferred_close(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 11};
    CHECK_NC(NC_NOERR, plan_make(&p));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(0, link(check_path("a.nc"), check_path("kept.nc")));
        CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    plan_is_there("kept.nc", 11, check.nprocs);
}

/* ---- other processes ---- */

/* Opens and creates, on process 0 alone, a file whose close is deferred on all processes.
 * The other processes do not make the call, so it must fail rather than wait for them. */
static void an_open_on_fewer_processes_is_refused_before_a_wait(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 12};
    int ncid;
    CHECK_NC(NC_NOERR, plan_make(&p));
    MPI_Info info = hints_of(deferred);
    if (check.rank == 0) {
        int rc = ncmpi_open(MPI_COMM_SELF, check_path("a.nc"), NC_NOWRITE, info, &ncid);
        CHECK_NC(NC_EBADLOG, rc);
        CHECK(strstr(ncmpi_strerror(rc), "ncmpix_wait_closed") != NULL);
        CHECK_NC(NC_EBADLOG, ncmpi_create(MPI_COMM_SELF, check_path("a.nc"), check.cmode,
                                          info, &ncid));
    }
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    /* other files remain unaffected */
    static const char *const own[] = {"b.nc", "c.nc", "d.nc"};
    CHECK_NC(NC_NOERR,
             plan_make(&(struct plan){MPI_COMM_SELF, own[check.rank % 3], deferred, 1}));
    plan_logs_are("a.nc.", true);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
    plan_is_there("a.nc", 12, check.nprocs);
}

/* Half of the processes close one file, and the other half close another. In addition,
 * all processes close a common file. */
static void disjoint_groups_complete_their_closes_independently(void)
{
    MPI_Comm half;
    int size;
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, check.nprocs - check.rank, &half);
    MPI_Comm_size(half, &size);
    const char *own = check.rank % 2 ? "odd.nc" : "even.nc";
    const struct plan p = {half, own, deferred, 13},
                      all = {MPI_COMM_WORLD, "all.nc", deferred, 14};
    for (int i = 0; i < 3; i++) {
        CHECK_NC(NC_NOERR, plan_make(&all));
        if (check.rank % 2 == i % 2) CHECK_NC(NC_NOERR, plan_make(&p));
        if (i == 1) CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    }
    CHECK_NC(NC_NOERR, plan_make(&p));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path(own)));
    MPI_Comm_free(&half);
    if (check.nprocs > 1) plan_is_there("odd.nc", 13, check.nprocs / 2);
    plan_is_there("even.nc", 13, (check.nprocs + 1) / 2);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("all.nc")));
    plan_is_there("all.nc", 14, check.nprocs);
}

/* Closes more datasets than the library can defer at the same time. Closes beyond the
 * limit are completed immediately. */
static void closes_beyond_the_limit_complete_immediately(void)
{
    enum { MANY = 20 };
    int ncids[MANY], logs = 0;
    char name[20];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%02d.nc", i);
        const struct plan p = {MPI_COMM_WORLD, name, deferred, 1 + i};
        CHECK_NC(NC_NOERR, plan_create(&p, &ncids[i]));
        plan_put(&p, ncids[i]);
    }
    for (int i = 0; i < MANY; i++)
        CHECK_NC(NC_NOERR, ncmpi_close(ncids[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%02d.nc", i);
        logs += plan_count_logs(name) > 0;
    }
    CHECK_EQ(16, logs);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%02d.nc", i);
        plan_is_there(name, 1 + i, check.nprocs);
    }
    CHECK_EQ(0, base_mem_in_use());
}

/* ---- closes that do not wait ---- */

static void without_threads_a_close_is_not_deferred(void)
{
#ifdef __SANITIZE_THREAD__
    check_skip("pthread_create is the sanitizer's");
#else
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 15};
    no_threads = check.rank == check.nprocs - 1;
    CHECK_NC(NC_NOERR, plan_make(&p));
    no_threads = false;
    plan_logs_are("a.nc.", false);
    plan_is_there("a.nc", 15, check.nprocs);
#endif
}

static void without_a_log_a_close_is_not_deferred(void)
{
    static const char *const hints[] = {
        "nc_deferred_close=enable;nc_burst_buf=disable",
        "nc_deferred_close=enable;romio_no_indep_rw=true"};
    for (int i = 0; i < 2; i++) {
        MPI_Info info = check_info(hints[i]);
        int ncid;
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode,
                                        info, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 1, "a"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Info_free(&info);
        CHECK_EQ(0, base_mem_in_use());
    }
}

/* Closes a dataset while one process, the only one that puts to it, has pending
 * requests. */
static void a_deferred_close_reports_pending_requests(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 16};
    int ncid, req, value = 1, last = check.rank == check.nprocs - 1;
    MPI_Offset at = 0;
    CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (last) CHECK_NC(NC_NOERR, ncmpi_put_var1_int(ncid, 0, &at, &value));
    if (last) CHECK_NC(NC_NOERR, ncmpi_iput_var1_int(ncid, 0, &at, &value, &req));
    CHECK_NC(last ? NC_EPENDING : NC_NOERR, ncmpi_close(ncid));
    plan_logs_are("a.nc.", true);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    CHECK_EQ(0, base_mem_in_use());
}

/* ---- errors ---- */

static void fail_writes(int rank)
{
    char text[4200];
    snprintf(text, sizeof text, "write:1+:EIO:%s:%d", check_path("a.nc"), rank);
    CHECK(fault_arm(text));
}

static void is_recovered(const char *name, int seed)
{
    int ncid;
    MPI_Info info = hints_of("x=y");
    CHECK_NC(NC_EBADLOG,
             ncmpi_open(MPI_COMM_WORLD, check_path(name), NC_NOWRITE, info, &ncid));
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path(name), NC_WRITE, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Info_free(&info);
    plan_logs_are(name, false);
    plan_is_there(name, seed, check.nprocs);
}

/* The next call returns an error that refers to the deferred close; later calls do not.
 * No value is lost. */
static void the_next_call_reports_a_failed_write(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 17},
                      b = {MPI_COMM_WORLD, "b.nc", deferred, 18};
    for (int waits = 0; waits < 2; waits++) {
        int ncid;
        CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
        plan_put(&p, ncid);
        fail_writes(check.nprocs - 1);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        int rc = waits ? ncmpix_wait_closed(check_path("a.nc")) : plan_make(&b);
        fault_disarm();
        CHECK_NC(NC_EWRITE, rc);
        const char *words = ncmpi_strerror(rc);
        CHECK(strstr(words, "deferred close of ") != NULL);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
        CHECK_EQ(0, base_mem_in_use());
        if (!waits) CHECK(access(check_path("b.nc"), F_OK) != 0);
        CHECK_NC(NC_NOERR, plan_make(&b));
        is_recovered("a.nc", 17);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
        if (check.rank == 0)
            CHECK_NC(NC_NOERR, ncmpi_delete(check_path("b.nc"), MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The report is written once the dataset is complete, and includes the errors. */
static void the_report_includes_errors_of_a_deferred_close(void)
{
    char hints[4200];
    snprintf(hints, sizeof hints, "nc_deferred_close=enable;nc_report=%s",
             check_path("report"));
    const struct plan p = {MPI_COMM_WORLD, "a.nc", hints, 19};
    int ncid;
    CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
    plan_put(&p, ncid);
    fail_writes(0);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK(access(check_path("report"), F_OK) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_EWRITE, ncmpix_wait_closed(NULL));
    fault_disarm();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        size_t n;
        unsigned char *bytes = check_read_file(check_path("report"), &n);
        CHECK(bytes != NULL && memmem(bytes, n, "deferred close of ", 18));
        CHECK(bytes != NULL && memmem(bytes, n, "process", 7) != NULL);
        free(bytes);
    }
    is_recovered("a.nc", 19);
}

/* ---- threads ---- */

static void *go_on(void *arg)
{
    const struct plan *p = arg;
    for (int i = 0; i < 8; i++) {
        CHECK_NC(NC_NOERR, plan_make(p));
        if (i % 3 == p->seed % 3)
            CHECK_NC(NC_NOERR, ncmpix_wait_closed(path_of(p->name).text));
    }
    return NULL;
}

/* Each thread has its own datasets. A thread may complete other threads' closes. */
static void threads_of_a_program_do_not_wait_for_each_other(void)
{
    enum { THREADS = 3 };
    static const char *const names[THREADS] = {"0.nc", "1.nc", "2.nc"};
    struct plan plans[THREADS];
    pthread_t threads[THREADS] = {0};
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) return check_skip("MPI has no threads");
    for (int i = 0; i < THREADS; i++) {
        plans[i] = (struct plan){MPI_COMM_NULL, names[i], deferred, 20 + i};
        MPI_Comm_dup(MPI_COMM_WORLD, &plans[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, go_on, &plans[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&plans[i].comm);
        plan_is_there(names[i], 20 + i, check.nprocs);
    }
    CHECK_EQ(0, base_mem_in_use());
}

static const struct check_test tests[] = {
    {"a deferred close returns at once, and a wait completes it",
     a_deferred_close_returns_at_once_and_a_wait_completes_it,
     CHECK_FORMATS | CHECK_MODES},
    {"memory for a deferred close is not reported as a leak",
     memory_for_a_deferred_close_is_not_reported_as_a_leak, CHECK_MODES},
    {"threads start after the agreement", threads_start_after_the_agreement, CHECK_MODES},
    {"threads drain the log without further calls",
     threads_drain_the_log_without_further_calls, CHECK_MODES},
    {"the next call completes a deferred close", the_next_call_completes_a_deferred_close,
     CHECK_MODES},
    {"process 0's hint decides whether a close is deferred",
     process_0s_hint_decides_whether_a_close_is_deferred, 0},
    {"a file may be renamed after a deferred close",
     a_file_may_be_renamed_after_a_deferred_close, 0},
    {"a file may be deleted after a deferred close",
     a_file_may_be_deleted_after_a_deferred_close, CHECK_MODES},
    {"one of a file's two names may be removed after a deferred close",
     one_of_a_files_two_names_may_be_removed_after_a_deferred_close, 0},
    {"an open on fewer processes is refused before a wait",
     an_open_on_fewer_processes_is_refused_before_a_wait, CHECK_SEVERAL},
    {"disjoint groups complete their closes independently",
     disjoint_groups_complete_their_closes_independently, 0},
    {"closes beyond the limit complete immediately",
     closes_beyond_the_limit_complete_immediately, 0},
    {"without threads a close is not deferred", without_threads_a_close_is_not_deferred,
     0},
    {"without a log a close is not deferred", without_a_log_a_close_is_not_deferred, 0},
    {"a deferred close reports pending requests",
     a_deferred_close_reports_pending_requests, 0},
    {"the next call reports a failed write", the_next_call_reports_a_failed_write, 0},
    {"the report includes errors of a deferred close",
     the_report_includes_errors_of_a_deferred_close, 0},
    {"threads of a program do not wait for each other",
     threads_of_a_program_do_not_wait_for_each_other, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    check_thread_level = MPI_THREAD_MULTIPLE;
    return check_main(argc, argv, tests, "1 2 3");
}
