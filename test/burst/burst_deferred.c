/* A close that returns when all is in the log: what was put comes to the file behind it,
 * and the dataset is complete whenever the library promises that. */
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

/* Has a file, if one is watched, been written before this process came to the last
 * agreement? It is late for each of them. */
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

/* ---- behind the close ---- */

static void it_returns_and_is_complete_when_waited_for(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    int before = 0, after = 1;
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&before, NULL));
    for (int named = 0; named < 3; named++) {
        static const char *const names[] = {"a.nc", "./a.nc", NULL};
        CHECK_NC(NC_NOERR, plan_make(&p));
        CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&after, NULL));
        CHECK_EQ(before, after); /* the id is the program's again */
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

/* The library holds memory for it, which the program must not take for a leak. */
static void its_memory_is_no_leak(void)
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

/* Before it they would hold up those who are still to come to it. */
static void threads_begin_behind_the_agreement(void)
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

/* Nobody calls the library: threads write what there is to be written. */
static void threads_bring_it_to_the_file(void)
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

static void the_next_one_completes_it(void)
{
    const struct plan a = {MPI_COMM_WORLD, "a.nc", deferred, 3},
                      b = {MPI_COMM_WORLD, "b.nc", deferred, 4},
                      c = {MPI_COMM_WORLD, "c.nc", "nc_deferred_close=disable", 5};
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&c)); /* which is nobody's business */
    plan_logs_are("a.nc.", true);
    plan_logs_are("c.nc.", false);
    CHECK_NC(NC_NOERR, plan_make(&b));
    plan_logs_are("a.nc.", false);
    plan_logs_are("b.nc.", true);
    plan_is_there("a.nc", 3, check.nprocs);
    plan_read_back(&b); /* the same file */
    plan_logs_are("b.nc.", false);
    plan_is_there("b.nc", 4, check.nprocs);
    CHECK_NC(NC_NOERR, plan_make(&a));
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){a.comm, a.name, "x=y", 6})); /* over it */
    plan_logs_are("a.nc.", false);
    plan_is_there("a.nc", 6, check.nprocs);
}

/* The hint is process 0's, or the name is one of Guardnames. */
static void process_0_says_whether(void)
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

static void a_file_gets_another_name(void)
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

/* One process deletes it, as programs do, and nobody misses it. */
static void a_file_is_deleted(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 10};
    for (int again = 0; again < 2; again++) {
        CHECK_NC(NC_NOERR, plan_make(&p));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == check.nprocs - 1)
            CHECK_NC(NC_NOERR, ncmpi_delete(check_path("a.nc"), MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    } /* the second time it was made while the first was not yet ended */
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    plan_logs_are("a.nc.", false);
    CHECK(access(check_path("a.nc"), F_OK) != 0);
}

static void a_file_with_two_names_loses_one(void)
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

/* The others are not in the call, so that nobody may wait for them. */
static void one_process_alone_is_told_to_wait(void)
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
    /* another file is its own business */
    static const char *const own[] = {"b.nc", "c.nc", "d.nc"};
    CHECK_NC(NC_NOERR,
             plan_make(&(struct plan){MPI_COMM_SELF, own[check.rank % 3], deferred, 1}));
    plan_logs_are("a.nc.", true);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
    plan_is_there("a.nc", 12, check.nprocs);
}

/* Groups of their own, which overlap with that of all. */
static void groups_close_for_themselves(void)
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

/* More than are deferred at a time: the others are closed at once. */
static void there_may_be_many(void)
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

static void without_threads_it_is_an_ordinary_close(void)
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

static void without_a_log_it_is_an_ordinary_close(void)
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

/* Requests that nobody waits for, in a dataset that only one process puts to. */
static void pending_requests_are_told(void)
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

/* The next call tells it, with the name, once; and nothing is lost. */
static void what_cannot_be_written_is_told_later(void)
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
        CHECK(strstr(words, "/a.nc, whose close was deferred") != NULL);
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

/* The report comes when the dataset is complete, with what was wrong. */
static void the_report_tells_it(void)
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
        CHECK(bytes != NULL && memmem(bytes, n, "a.nc, whose close was deferred", 30));
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

/* Each with datasets of its own, which all of them may complete. */
static void threads_do_not_wait_for_each_other(void)
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
    {"it returns, and is complete when waited for",
     it_returns_and_is_complete_when_waited_for, CHECK_FORMATS | CHECK_MODES},
    {"its memory is no leak", its_memory_is_no_leak, CHECK_MODES},
    {"threads begin behind the agreement", threads_begin_behind_the_agreement,
     CHECK_MODES},
    {"threads bring it to the file", threads_bring_it_to_the_file, CHECK_MODES},
    {"the next one completes it", the_next_one_completes_it, CHECK_MODES},
    {"process 0 says whether", process_0_says_whether, 0},
    {"a file gets another name", a_file_gets_another_name, 0},
    {"a file is deleted", a_file_is_deleted, CHECK_MODES},
    {"a file with two names loses one", a_file_with_two_names_loses_one, 0},
    {"one process alone is told to wait", one_process_alone_is_told_to_wait,
     CHECK_SEVERAL},
    {"groups close for themselves", groups_close_for_themselves, 0},
    {"there may be many", there_may_be_many, 0},
    {"without threads it is an ordinary close", without_threads_it_is_an_ordinary_close,
     0},
    {"without a log it is an ordinary close", without_a_log_it_is_an_ordinary_close, 0},
    {"pending requests are told", pending_requests_are_told, 0},
    {"what cannot be written is told later", what_cannot_be_written_is_told_later, 0},
    {"the report tells it", the_report_tells_it, 0},
    {"threads do not wait for each other", threads_do_not_wait_for_each_other, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    check_thread_level = MPI_THREAD_MULTIPLE;
    return check_main(argc, argv, tests, "1 2 3");
}
