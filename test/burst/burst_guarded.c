/* Tests the hint `Guardnames`, which defers closing files with guarded names until the
 * next create or open of any guarded file. Processes use different names for the same
 * file, and other programs remove, replace or rename the file in the meantime. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_mem.h"
#include "burst_plan.h"
#include "check.h"
#include "config.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

#ifdef HAVE_JANSSON
static const bool reads_json = true;
#else
static const bool reads_json = false;
#endif

/* ---- the hints file ---- */

/* Writes a hints file in MPIWRAP's format that contains the guarded names, and E10's
 * hints for the test's directory. */
static void guard(const char *names)
{
    char text[10000];
    snprintf(text, sizeof text,
             "{\n  \"Guardnames\": %s,\n  \"File\": [{\n    \"Path\": \"%s\",\n"
             "    \"Type\": \"MPI\",\n    \"cb_nodes\": \"64\",\n"
             "    \"romio_cb_write\": \"enable\",\n    \"e10_cache\": \"enable\",\n"
             "    \"e10_cache_path\": \"%s\",\n"
             "    \"e10_cache_flush_flag\": \"flush_immediate\",\n"
             "    \"e10_cache_discard_flag\": \"enable\",\n"
             "    \"e10_cache_threads\": \"1\"\n  }]\n}\n",
             names, path_of("").text, path_of("").text);
    if (check.rank == 0) {
        CHECK(check_write_file(check_path("hints.json"), text, strlen(text)));
        CHECK_EQ(0, setenv("PNETCDF_HINTS_FILE", check_path("hints.json"), 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Writes the example file from E10's documentation, but with different values for the two
 * paths. The example forbids independent access through MPI-IO. */
static void guard_as_documented(void)
{
    char text[10000];
    snprintf(text, sizeof text,
             "  {\n      \"Guardnames\": \"test_file\",\n      \"File\": [{\n"
             "          \"Path\": \"%s\",\n          \"Type\": \"MPI\",\n"
             "          \"cb_buffer_size\": \"4194304\",\n"
             "          \"ind_wr_buffer_size\": \"524288\",\n"
             "          \"cb_nodes\": \"64\",\n"
             "          \"romio_cb_read\": \"enable\",\n"
             "          \"romio_cb_write\": \"enable\",\n"
             "          \"romio_no_indep_rw\": \"true\",\n"
             "          \"striping_unit\": \"4194304\",\n"
             "          \"striping_factor\": \"4\",\n"
             "          \"e10_cache\": \"enable\",\n"
             "          \"e10_cache_path\": \"%s\",\n"
             "          \"e10_cache_flush_flag\": \"flush_immediate\",\n"
             "          \"e10_cache_discard_flag\": \"enable\",\n"
             "          \"e10_cache_threads\": \"1\"\n      }]\n  }\n",
             path_of("test_file").text, path_of("").text);
    if (check.rank == 0) {
        CHECK(check_write_file(check_path("hints.json"), text, strlen(text)));
        CHECK_EQ(0, setenv("PNETCDF_HINTS_FILE", check_path("hints.json"), 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void guard_none(void)
{
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS_FILE"));
    CHECK_EQ(0, base_mem_in_use());
}

static int make(const char *name, int seed)
{
    const struct plan p = {MPI_COMM_WORLD, name, "x=y", seed};
    return plan_make(&p);
}

/* ---- guarded names ---- */

static void two_guarded_datasets_are_written_alternately(void)
{
    static const char *const names[] = {"test_file.0.nc", "test_file.1.nc"};
    if (!reads_json) return check_skip("no jansson");
    guard("\"test_file\"");
    for (int i = 0; i < 7; i++) {
        CHECK_NC(NC_NOERR, make(names[i % 2], 1 + i));
        plan_logs_are(names[i % 2], true);
        if (i > 0) plan_logs_are(names[1 - i % 2], false);
        if (i > 0) plan_is_there(names[1 - i % 2], i, check.nprocs);
    }
    guard_none();
    plan_is_there("test_file.0.nc", 7, check.nprocs);
}

static void an_open_for_reading_completes_deferred_closes(void)
{
    if (!reads_json) return check_skip("no jansson");
    guard("\"a, b\"");
    CHECK_NC(NC_NOERR, make("b.nc", 1));
    CHECK_NC(NC_NOERR, make("a.nc", 2)); /* completes b.nc's close */
    plan_read_back(&(struct plan){MPI_COMM_WORLD, "b.nc", "x=y", 1});
    plan_logs_are("a.nc", false);
    plan_is_there("a.nc", 2, check.nprocs);
    guard_none();
}

static void guarded_names_may_be_patterns(void)
{
    static const struct {
        const char *guards, *name;
        bool guarded;
    } cases[] = {
        {"\"check*.nc\"", "checkpoint.nc", true},
        {"\"check?.nc\"", "checkpoint.nc", false},
        {"[\"x.nc\", \"[a-c]*.nc\"]", "checkpoint.nc", true},
        {"[\"x.nc\", \"[d-z]*.nc\"]", "checkpoint.nc", false},
        {"\"x.nc , checkpoint\"", "checkpoint.nc", true},
        {"\"point.nc\"", "checkpoint.nc", true}, /* like Path, matches the end of a
                                                  * path */
        {"\"heckpoint\"", "checkpoint.nc", false},
        {"\"checkpoint.n\"", "checkpoint.nc", true},
        {"\"\"", "checkpoint.nc", false},
        {"[]", "checkpoint.nc", false},
    };
    if (!reads_json) return check_skip("no jansson");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        guard(cases[i].guards);
        CHECK_NC(NC_NOERR, make(cases[i].name, 1));
        plan_logs_are(cases[i].name, cases[i].guarded);
        guard_none();
    }
    char all[5000];
    snprintf(all, sizeof all, "\"%s\"", path_of("").text); /* path of a directory */
    guard(all);
    CHECK_NC(NC_NOERR, make("a.nc", 1));
    plan_logs_are("a.nc", true);
    guard_none();
}

static void an_open_of_an_unguarded_name_completes_no_deferred_close(void)
{
    if (!reads_json) return check_skip("no jansson");
    guard("\"a.nc\"");
    CHECK_NC(NC_NOERR, make("a.nc", 1));
    CHECK_NC(NC_NOERR, make("b.nc", 2));
    plan_logs_are("a.nc", true);
    plan_logs_are("b.nc", false);
    if (check.rank == 0) unsetenv("PNETCDF_HINTS_FILE"); /* not needed to complete a.nc */
    plan_read_back(&(struct plan){MPI_COMM_WORLD, "a.nc", "x=y", 1});
    plan_logs_are("a.nc", false);
    guard_none();
}

/* ---- different names for one file ---- */

/* Changes to a directory that only this process uses. Returns a descriptor for the
 * previous directory. */
static int go_into_own_directory(void)
{
    char own[30];
    int back = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(own, sizeof own, "own.%d", check.rank);
    CHECK_EQ(0, mkdir(path_of(own).text, 0700));
    CHECK_EQ(0, chdir(path_of(own).text));
    return back;
}

static void go_back(int back)
{
    CHECK_EQ(0, fchdir(back));
    close(back);
}

/* Returns a name for a file in the test's directory. `way` and the process's rank
 * determine the kind of name. */
static struct path own_name(const char *name, int way)
{
    struct path p;
    switch ((way + check.rank) % 4) {
    case 0:
        return path_of(name);
    case 1:
        snprintf(p.text, sizeof p.text, "../%s", name);
        return p;
    case 2:
        snprintf(p.text, sizeof p.text, "ufs:.././/%s", name);
        return p;
    default:
        snprintf(p.text, sizeof p.text, "../link/%s", name); /* a symbolic link */
        return p;
    }
}

static int make_by(const struct path *path, int seed)
{
    const struct plan p = {MPI_COMM_WORLD, path->text, deferred, seed};
    return plan_make(&p);
}

static void processes_may_use_different_paths_to_a_dataset(void)
{
    if (check.rank == 0) CHECK_EQ(0, symlink(".", check_path("link")));
    MPI_Barrier(MPI_COMM_WORLD);
    int back = go_into_own_directory();
    for (int way = 0; way < 4; way++) {
        struct path p = own_name("a.nc", way), other = own_name("a.nc", way + 1);
        int ncid;
        CHECK_NC(NC_NOERR, make_by(&p, 1 + way));
        plan_logs_are("a.nc", true);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(other.text));
        plan_logs_are("a.nc", false);
        plan_is_there("a.nc", 1 + way, check.nprocs);

        CHECK_NC(NC_NOERR, make_by(&p, 11 + way)); /* then opens a.nc by another name */
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, other.text, NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        plan_logs_are("a.nc", false);

        CHECK_NC(NC_NOERR, make_by(&p, 21 + way)); /* then waits for the close, by a name
                                                    * relative to a different directory */
        CHECK_EQ(0, chdir("/"));
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
        plan_logs_are("a.nc", false);
        plan_is_there("a.nc", 21 + way, check.nprocs);
        char own[30];
        snprintf(own, sizeof own, "own.%d", check.rank);
        CHECK_EQ(0, chdir(path_of(own).text));
    }
    go_back(back);
}

/* Creates a dataset through a symbolic link, first when the target file does not exist,
 * then when it does. */
static void a_dataset_is_recognized_through_a_symbolic_link(void)
{
    if (check.rank == 0) CHECK_EQ(0, symlink("a.nc", check_path("link.nc")));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < 4; i++) {
        const struct plan by_link = {MPI_COMM_WORLD, "link.nc", deferred, i};
        CHECK_NC(NC_NOERR, plan_make(&by_link));
        if (i == 1) CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
        if (i == 2)
            plan_read_back(&(struct plan){MPI_COMM_WORLD, "a.nc", "x=y", by_link.seed});
        if (i == 3) CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("link.nc")));
        plan_logs_are("a.nc", false);
        plan_is_there("a.nc", i, check.nprocs);
    }
    CHECK_EQ(0, base_mem_in_use());
}

/* ---- files that other programs remove, replace or rename ---- */

static void on_one(void (*act)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == check.nprocs - 1) act();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void remove_it(void)
{
    CHECK_EQ(0, unlink(check_path("a.nc")));
}

static void replace_it(void)
{
    remove_it();
    CHECK(check_write_file(check_path("a.nc"), "another's", 9));
}

/* Checks that all processes got the same result and that no memory has leaked. */
static void errors_are_equal(int rc)
{
    int ends[2] = {rc, -rc};
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(ends[0], -ends[1]);
    CHECK_EQ(0, base_mem_in_use());
}

static void other_programs_may_remove_a_dataset(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    CHECK_NC(NC_NOERR, plan_make(&p));
    on_one(remove_it);
    errors_are_equal(ncmpix_wait_closed(NULL));
    CHECK(access(check_path("a.nc"), F_OK) != 0);

    CHECK_NC(NC_NOERR, plan_make(&(struct plan){p.comm, p.name, deferred, 2}));
    on_one(remove_it);
    int rc = plan_make(&(struct plan){p.comm, p.name, deferred, 3});
    if (rc != NC_NOERR) rc = plan_make(&(struct plan){p.comm, p.name, deferred, 3});
    CHECK_NC(NC_NOERR, rc);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    plan_is_there("a.nc", 3, check.nprocs);

    CHECK_NC(NC_NOERR, plan_make(&(struct plan){p.comm, p.name, deferred, 4}));
    on_one(remove_it); /* the next create, whose close is not deferred, reuses the name */
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){p.comm, p.name, "x=y", 5}));
    plan_is_there("a.nc", 5, check.nprocs);
    errors_are_equal(ncmpix_wait_closed(NULL));
    plan_is_there("a.nc", 5, check.nprocs);
    plan_read_back(&(struct plan){p.comm, p.name, "x=y", 5});
}

static void other_programs_may_replace_a_dataset(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    CHECK_NC(NC_NOERR, plan_make(&p));
    on_one(replace_it);
    errors_are_equal(ncmpix_wait_closed(check_path("a.nc")));
    if (check.rank == 0) {
        size_t n = 0;
        unsigned char *bytes = check_read_file(check_path("a.nc"), &n);
        CHECK(n == 9 && bytes != NULL && memcmp(bytes, "another's", 9) == 0);
        free(bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void a_file_may_be_renamed_over_an_earlier_one_between_deferred_closes(void)
{
    const struct plan new = {MPI_COMM_WORLD, "new.nc", deferred, 1};
    for (int i = 1; i < 5; i++) { /* writes new.nc, then renames it to last.nc */
        CHECK_NC(NC_NOERR, plan_make(&(struct plan){new.comm, new.name, deferred, i}));
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0)
            CHECK_EQ(0, rename(check_path("new.nc"), check_path("last.nc")));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("last.nc")));
    plan_is_there("last.nc", 4, check.nprocs);
    CHECK_EQ(0, base_mem_in_use());
}

/* ---- other communicators ---- */

static void datasets_may_be_reopened_on_another_communicator(void)
{
    MPI_Comm dup, turned, half;
    int size;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check.nprocs - check.rank, &turned);
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &half);
    MPI_Comm_size(half, &size);
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){dup, "a.nc", deferred, 1}));
    MPI_Comm_free(&dup); /* the deferred close must not use it */
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){turned, "a.nc", deferred, 2}));
    plan_logs_are("a.nc", true);
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){MPI_COMM_WORLD, "b.nc", deferred, 3}));
    plan_logs_are("a.nc", false);

    /* Only the processes in one `half` make this call. */
    if (check.rank % 2 == 0)
        CHECK_NC(NC_NOERR, plan_make(&(struct plan){half, "half.nc", deferred, 4}));
    plan_logs_are("half.nc", true);
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){turned, "half.nc", deferred, 5}));
    plan_logs_are("b.nc", false);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    MPI_Comm_free(&turned);
    MPI_Comm_free(&half);
}

static void half_of_the_processes_cannot_reopen_a_dataset_before_a_wait(void)
{
    MPI_Comm half;
    int ncid;
    MPI_Comm_split(MPI_COMM_WORLD, check.rank % 2, 0, &half);
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){MPI_COMM_WORLD, "a.nc", deferred, 1}));
    int rc = ncmpi_create(half, check_path("a.nc"), check.cmode, MPI_INFO_NULL, &ncid);
    CHECK_NC(NC_EBADLOG, rc);
    CHECK(strstr(ncmpi_strerror(rc), "ncmpix_wait_closed") != NULL);
    rc = ncmpi_open(half, check_path("a.nc"), NC_WRITE, MPI_INFO_NULL, &ncid);
    CHECK_NC(NC_EBADLOG, rc);
    plan_logs_are("a.nc", true);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
    plan_is_there("a.nc", 1, check.nprocs);
    CHECK_NC(NC_NOERR, plan_make(&(struct plan){
                           half, check.rank % 2 ? "odd.nc" : "even.nc", deferred, 2}));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    MPI_Comm_free(&half);
}

/* ---- state of a dataset when it is closed ---- */

static void a_dataset_may_be_closed_in_define_mode(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    int ncid, n = 0;
    for (int again = 0; again < 2; again++) {
        MPI_Info info = hints_of(deferred);
        CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
        plan_put(&p, ncid);
        if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "note", 3, "new"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        if (again) CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
        plan_read_back(&p);
        CHECK_NC(NC_NOERR, ncmpi_open(p.comm, check_path("a.nc"), NC_WRITE, info, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_natts(ncid, &n));
        CHECK_EQ(1, n);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, NC_GLOBAL, "note"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        plan_read_back(&p);
        MPI_Info_free(&info);
    }
}

static void an_empty_new_dataset_may_be_closed(void)
{
    int ncid;
    for (int i = 0; i < 3; i++) {
        MPI_Info info = hints_of(deferred);
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode,
                                        info, &ncid));
        if (i > 0) CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        if (i > 1 && !check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_EQ(0, base_mem_in_use()); /* datasets opened for reading are closed
                                         * immediately */
        MPI_Info_free(&info);
    }
}

/* If the definitions cannot be completed, the close is not deferred, and returns the
 * error. */
static void a_close_is_not_deferred_if_definitions_do_not_fit(void)
{
    int ncid, dim, v;
    MPI_Info info = hints_of(deferred);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), 0, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", 2000000000, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "a", NC_DOUBLE, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "b", NC_DOUBLE, 1, &dim, &v));
    CHECK_NC(NC_EVARSIZE, ncmpi_close(ncid));
    CHECK_EQ(0, base_mem_in_use());
    CHECK(access(check_path("a.nc"), F_OK) != 0);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    MPI_Info_free(&info);
}

/* After an abort, no value of the dataset may be drained. */
static void nothing_is_drained_after_an_abort(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    int ncid;
    CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
    plan_put(&p, ncid);
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    CHECK_EQ(0, base_mem_in_use());
    plan_logs_are("a.nc", false);
}

/* A close writes the requests that the program has waited for, but not pending ones. */
static void pending_requests_are_not_written(void)
{
    const struct plan p = {MPI_COMM_WORLD, "a.nc", deferred, 1};
    int ncid, req, value = 7;
    MPI_Offset at = (MPI_Offset)N * check.rank;
    CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
    plan_put(&p, ncid);
    CHECK_NC(NC_NOERR, ncmpi_iput_var1_int(ncid, 0, &at, &value, &req));
    CHECK_NC(NC_EPENDING, ncmpi_close(ncid));
    plan_logs_are("a.nc", true);
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
    plan_is_there("a.nc", 1, check.nprocs);
}

/* ---- when independent MPI-IO is disabled ---- */

static void in_force(int ncid, const char *key, char *value, int size)
{
    MPI_Info info;
    int there = 0;
    value[0] = '\0';
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, key, size - 1, value, &there);
    MPI_Info_free(&info);
}

static void is_in_force(int ncid, const char *key, const char *wanted)
{
    char value[100];
    in_force(ncid, key, value, sizeof value);
    CHECK_STR(wanted, value);
}

static int64_t statistic(int ncid, const char *key)
{
    char value[100];
    in_force(ncid, key, value, sizeof value);
    return atoll(value);
}

/* Checks that a thread drains all values that this process has put, although the process
 * makes no call that requests it. */
static void drains_behind(int ncid)
{
    enum { TRIES = 2000 };
    int64_t logged = statistic(ncid, "nc_stat_burst_logged_bytes"), drained = 0;
    CHECK(logged > 0);
    for (int i = 0; i < TRIES && drained < logged; i++) {
        drained = statistic(ncid, "nc_stat_burst_drained_bytes");
        if (drained < logged) usleep(5000);
    }
    CHECK_EQ(logged, drained);
    CHECK(statistic(ncid, "nc_stat_burst_hidden_us") > 0);
}

static void e10_hints_work_as_documented(void)
{
    const struct plan p = {MPI_COMM_WORLD, "test_file", "nc_statistics=enable", 1};
    if (!reads_json) return check_skip("no jansson");
    guard_as_documented();
    for (int step = 0; step < 3; step++) {
        int ncid;
        struct plan now = p;
        now.seed = 1 + step;
        CHECK_NC(NC_NOERR, plan_create(&now, &ncid));
        is_in_force(ncid, "nc_burst_buf", "enable");
        is_in_force(ncid, "nc_burst_buf_flush", "flush_immediate");
        is_in_force(ncid, "nc_deferred_close", "enable");
        plan_put(&now, ncid);
        if (step > 0) drains_behind(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        plan_logs_are("test_file", true); /* not drained yet */
    }
    guard_none();
    plan_logs_are("test_file", false);
    plan_is_there("test_file", 3, check.nprocs);
}

/* ncmpi_inq_file_info must report the hints in effect. */
static void hints_in_effect_are_reported(void)
{
    static const struct {
        const char *hints, *force;
    } cases[] = {
        {"nc_deferred_close=enable", "enable"},
        {"nc_deferred_close=enable;romio_no_indep_rw=true", "enable"},
        {"nc_deferred_close=enable;nc_burst_buf=disable", "disable"},
        {"nc_deferred_close=disable", "disable"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct plan p = {MPI_COMM_WORLD, "a.nc", cases[i].hints, 1};
        int ncid;
        CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
        is_in_force(ncid, "nc_deferred_close", cases[i].force);
        plan_put(&p, ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        plan_logs_are("a.nc", strcmp(cases[i].force, "enable") == 0);
        CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL));
        plan_is_there("a.nc", 1, check.nprocs);
    }
}

/* Threads cannot write to subfiles. The report must state the reason. */
static void closes_of_datasets_with_subfiles_are_not_deferred(void)
{
    char hints[5000], said[5000] = "", text[5000];
    snprintf(hints, sizeof hints, "nc_deferred_close=enable;nc_blob=enable;nc_report=%s",
             path_of("report").text);
    const struct plan p = {MPI_COMM_WORLD, "a.nc", hints, 1};
    int ncid;
    CHECK_NC(NC_NOERR, plan_create(&p, &ncid));
    is_in_force(ncid, "nc_deferred_close", "disable");
    plan_put(&p, ncid);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    plan_logs_are("a.nc", false);
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *f = check.rank == 0 ? fopen(path_of("report").text, "r") : NULL;
    while (f != NULL && fgets(text, sizeof text, f) != NULL)
        if (strstr(text, "threads must not write") != NULL)
            memcpy(said, text, sizeof text);
    if (f != NULL) fclose(f);
    CHECK(check.rank != 0 || said[0] != '\0');
}

static const struct check_test tests[] = {
    {"closes of datasets with subfiles are not deferred",
     closes_of_datasets_with_subfiles_are_not_deferred, 0},
    {"E10's hints work as documented", e10_hints_work_as_documented,
     CHECK_FORMATS | CHECK_MODES},
    {"hints in effect are reported", hints_in_effect_are_reported, CHECK_MODES},
    {"two guarded datasets are written alternately",
     two_guarded_datasets_are_written_alternately, CHECK_MODES},
    {"an open for reading completes deferred closes",
     an_open_for_reading_completes_deferred_closes, 0},
    {"guarded names may be patterns", guarded_names_may_be_patterns, 0},
    {"an open of an unguarded name completes no deferred close",
     an_open_of_an_unguarded_name_completes_no_deferred_close, 0},
    {"processes may use different paths to a dataset",
     processes_may_use_different_paths_to_a_dataset, 0},
    {"a dataset is recognized through a symbolic link",
     a_dataset_is_recognized_through_a_symbolic_link, 0},
    {"other programs may remove a dataset", other_programs_may_remove_a_dataset,
     CHECK_MODES},
    {"other programs may replace a dataset", other_programs_may_replace_a_dataset, 0},
    {"a file may be renamed over an earlier one between deferred closes",
     a_file_may_be_renamed_over_an_earlier_one_between_deferred_closes, 0},
    {"datasets may be reopened on another communicator",
     datasets_may_be_reopened_on_another_communicator, CHECK_SEVERAL},
    {"half of the processes cannot reopen a dataset before a wait",
     half_of_the_processes_cannot_reopen_a_dataset_before_a_wait, CHECK_SEVERAL},
    {"a dataset may be closed in define mode", a_dataset_may_be_closed_in_define_mode,
     CHECK_FORMATS | CHECK_MODES},
    {"an empty new dataset may be closed", an_empty_new_dataset_may_be_closed,
     CHECK_MODES},
    {"a close is not deferred if definitions do not fit",
     a_close_is_not_deferred_if_definitions_do_not_fit, 0},
    {"nothing is drained after an abort", nothing_is_drained_after_an_abort, CHECK_MODES},
    {"pending requests are not written", pending_requests_are_not_written, CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
