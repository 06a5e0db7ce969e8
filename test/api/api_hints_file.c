/* Tests hints from a file (PNETCDF_HINTS_FILE). Process 0 reads the file and sends its
 * contents to all processes. Hints in the file override those in the info object, and the
 * environment overrides both. If the file is invalid or unreadable, all processes get the
 * same error. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "made_dataset.h"
#include "fault.h"
#include "shortage.h"

#ifdef HAVE_JANSSON
static const bool reads_json = true;
#else
static const bool reads_json = false;
#endif

/* Creates the hints file, and sets the environment variable only on process 0. */
static void use_file(const char *text)
{
    if (check.rank == 0) {
        CHECK(check_write_file(check_path("h.json"), text, strlen(text)));
        CHECK_EQ(0, setenv("PNETCDF_HINTS_FILE", check_path("h.json"), 1));
    } else {
        CHECK_EQ(0, unsetenv("PNETCDF_HINTS_FILE"));
    }
}

static void use_none(void)
{
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS_FILE"));
    CHECK_EQ(0, unsetenv("PNETCDF_HINTS"));
    CHECK_EQ(0, unsetenv("PNETCDF_SAFE_MODE"));
}

static int create(const char *hints, int *ncid)
{
    MPI_Info info = check_info(hints);
    int rc = ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER | check.cmode,
                          info, ncid);
    MPI_Info_free(&info);
    return rc;
}

/* Tests precedence, both for this library's hints and for those of MPI-IO: the file
 * overrides the info object, PNETCDF_HINTS overrides the file, and a later entry
 * overrides an earlier one. Entries for other paths are ignored. */
static void hints_files_PNETCDF_HINTS_and_info_have_a_precedence(void)
{
    int ncid = -1;
    if (!reads_json) return check_skip("no jansson");
    use_file(
        "{\"File\": [{\"Path\": \"a.nc\", \"nc_ibuf_size\": 4096, \"others\": \"1\",\n"
        "\"nc_hash_size_dim\": 2, \"nc_hash_size_var\": 2, \"nc_record_align_size\": 6},"
        "{\"Path\": \"/b.nc\", \"nc_ibuf_size\": 1, \"nc_hash_size_vattr\": 3},"
        "{\"Path\": \"*.nc\", \"nc_hash_size_var\": 5, \"Type\": \"MPI\"}]}");
    if (check.rank == 0) CHECK_EQ(0, setenv("PNETCDF_HINTS", "nc_hash_size_dim=7", 1));
    CHECK_NC(NC_NOERR, create("nc_ibuf_size=512;nc_hash_size_gattr=9;others=0", &ncid));
    CHECK_STR("4096", hint_in_force(ncid, "nc_ibuf_size"));
    CHECK_STR("1", hint_in_force(ncid, "others"));
    CHECK_STR("7", hint_in_force(ncid, "nc_hash_size_dim"));
    CHECK_STR("5", hint_in_force(ncid, "nc_hash_size_var"));
    CHECK_STR("8", hint_in_force(ncid, "nc_record_align_size"));
    CHECK_STR("9", hint_in_force(ncid, "nc_hash_size_gattr"));
    CHECK_STR("8", hint_in_force(ncid, "nc_hash_size_vattr"));
    close_dataset(ncid);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    CHECK_STR("4096", hint_in_force(ncid, "nc_ibuf_size"));
    close_dataset(ncid);
    use_none();
    CHECK_NC(NC_NOERR, create("x=y", &ncid));
    CHECK_STR("16777216", hint_in_force(ncid, "nc_ibuf_size"));
    close_dataset(ncid);
}

/* Only process 0 reads the file, but its E10 hints and its report path must take effect
 * on all processes. */
static void e10_hints_reach_all_processes(void)
{
    char text[3000], report[1200];
    int ncid = -1, dim, v, value = 5;
    MPI_Offset at = check.rank;
    if (!reads_json) return check_skip("no jansson");
    snprintf(report, sizeof report, "%s", check_path("report"));
    snprintf(text, sizeof text,
             "{\"Guardnames\": \"a.nc\", \"File\": [{\"Path\": \"%s\", \"Type\": \"MPI\","
             "\"e10_cache\": \"enable\", \"e10_cache_path\": \"%s\","
             "\"e10_cache_flush_flag\": \"flush_onclose\", \"nc_report\": \"%s\"}]}",
             check_path("a.nc"), check_path(""), report);
    use_file(text);
    for (int safe = 0; safe < 2; safe++) {
        CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", safe ? "1" : "0", 1));
        CHECK_NC(NC_NOERR, create("x=y", &ncid));
        CHECK_STR("enable", hint_in_force(ncid, "nc_burst_buf"));
        CHECK_STR("flush_onclose", hint_in_force(ncid, "nc_burst_buf_flush"));
        CHECK_STR("enable",
                  hint_in_force(ncid, "e10_cache")); /* unused, but still reported */
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", check.nprocs, &dim));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_var1_int_all(ncid, v, &at, &value));
        close_dataset(ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        size_t n = 0;
        char *told = (char *)check_read_file(report, &n);
        char *all = told == NULL ? NULL : realloc(told, n + 1);
        CHECK(all != NULL);
        if (all != NULL) {
            all[n] = '\0';
            CHECK(strstr(all, "h.json, line 1, Path ") != NULL);
            CHECK(strstr(all, " e10_cache_flush_flag=flush_onclose") != NULL);
            free(all);
        }
    }
    use_none();
}

/* Tests more hints than fit into the fixed-size broadcast message, and checks that a few
 * hints need no second broadcast. */
static void a_hints_file_may_have_any_number_of_hints(void)
{
    enum { MANY = 300 };
    static char text[MANY * 120];
    char key[40], value[60];
    int ncid = -1;
    size_t n;
    if (!reads_json) return check_skip("no jansson");
    for (int many = 3; many <= MANY; many += MANY - 3) {
        n = (size_t)snprintf(text, sizeof text, "{\"File\": [{\"Path\": \"a.nc\"");
        for (int i = 0; i < many; i++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  ", \"other_%d\": \"a value of some length %d\"", i, i);
        snprintf(text + n, sizeof text - n, "}]}");
        use_file(text);
        CHECK_NC(NC_NOERR, create("nc_statistics=enable", &ncid));
        for (int i = 0; i < many; i++) {
            snprintf(key, sizeof key, "other_%d", i);
            snprintf(value, sizeof value, "a value of some length %d", i);
            if (!CHECK_STR(value, hint_in_force(ncid, key))) break;
        }
        char with[40];
        snprintf(with, sizeof with, "%s", hint_in_force(ncid, "nc_stat_broadcasts"));
        close_dataset(ncid);
        use_none();
        CHECK_NC(NC_NOERR, create("nc_statistics=enable", &ncid));
        if (many == 3) CHECK_STR(hint_in_force(ncid, "nc_stat_broadcasts"), with);
        close_dataset(ncid);
    }
}

/* Safe mode compares the processes' hints after the file's hints have been merged in. */
static void safe_mode_compares_hints_of_the_file(void)
{
    int ncid = -1;
    if (!reads_json) return check_skip("no jansson");
    use_file("{\"File\": [{\"Path\": \"a.nc\", \"nc_ibuf_size\": \"4096\","
             "\"romio_no_indep_rw\": true, \"e10_cache\": \"disable\"}]}");
    CHECK_EQ(0, setenv("PNETCDF_SAFE_MODE", "1", 1));
    CHECK_NC(NC_NOERR, create("x=y", &ncid));
    CHECK_STR("4096", hint_in_force(ncid, "nc_ibuf_size"));
    close_dataset(ncid);
    if (check.nprocs > 1) {
        int rc = create(check.rank == 1 ? "nc_node_procs=1" : "x=y", &ncid);
        CHECK_NC(NC_EMULTIDEFINE_HINTS, rc);
    }
    use_none();
}

/* Checks that both create and open fail on all processes, with a message that names the
 * hints file. */
static void is_refused(const char *words)
{
    int ncid = -1, rc = create("x=y", &ncid);
    CHECK_NC(NC_EINVAL, rc);
    const char *text = ncmpi_strerror(rc);
    if (!CHECK(strstr(text, "h.json") != NULL && strstr(text, words) != NULL))
        fprintf(stderr, "# %s\n", text);
    rc = ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid);
    CHECK_NC(NC_EINVAL, rc);
}

static void an_invalid_hints_file_is_an_error_on_all_processes(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "line 1, column 1"},
        {"{\"File\": [{\"Path\": \"a.nc\"\n \"x\": \"y\"}]}", "line 2, column"},
        {"{\"File\": {}}", "line 1, column 2: File must be a list"},
        {"{\"File\": [],\n \"File\": []}", "line 2"},
    };
    int ncid = -1;
    char path[1200];
    CHECK_NC(NC_NOERR, create("x=y", &ncid));
    close_dataset(ncid);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        use_file(cases[i].text);
        is_refused(reads_json ? cases[i].words : "jansson");
    }
    snprintf(path, sizeof path, "%s", check_path("h.json"));
    for (int kind = 0; kind < 5; kind++) {
        static const char *const words[] = {"No such file", "a directory",
                                            "not a regular file", "not read", "jansson"};
        if (check.rank == 0) {
            int fd;
            unlink(path);
            rmdir(path);
            if (kind == 1) CHECK_EQ(0, mkdir(path, 0700));
            if (kind == 2) CHECK_EQ(0, mkfifo(path, 0600));
            if (kind == 3) {
                fd = open(path, O_CREAT | O_WRONLY, 0600);
                CHECK(fd >= 0 && ftruncate(fd, (off_t)1 << 30) == 0);
                close(fd);
            }
            if (kind == 4) CHECK(check_write_file(path, "{\"File\":[]}", 11));
        }
        if (kind < 4 || !reads_json) is_refused(words[kind]);
    }
    use_none();
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    close_dataset(ncid);
}

/* Process 0 cannot read the file, because it has no permission or because reading
 * fails. */
static void an_unreadable_hints_file_is_an_error_on_all_processes(void)
{
    static const struct {
        const char *plan, *words;
    } cases[] = {{"open:1+:EACCES:*h.json", "Permission denied"},
                 {"read:1+:EIO:*h.json", "Input/output error"}};
    int ncid = -1;
    CHECK_NC(NC_NOERR, create("x=y", &ncid));
    close_dataset(ncid);
    use_file("{\"File\": []}");
    for (int i = 0; i < 2; i++) {
        if (check.rank == 0) CHECK(fault_arm(cases[i].plan));
        is_refused(cases[i].words);
        if (check.rank == 0) CHECK_EQ(2, fault_disarm());
    }
    use_none();
}

/* Makes one of process 0's allocations fail in each run. Either all processes must then
 * get NC_ENOMEM, or the hints must take effect on all of them. */
static void a_lack_of_memory_is_an_error_on_all_processes_or_on_none(void)
{
    int any = 1;
    if (!reads_json) return check_skip("no jansson");
    use_file("{\"Guardnames\": \"g\", \"File\": [{\"Path\": \"/b.nc\"},"
             "{\"Path\": \"a.nc\", \"nc_ibuf_size\": \"4096\"}]}");
    if (check.rank == 0) CHECK_EQ(0, setenv("PNETCDF_HINTS", "nc_hash_size_var=5", 1));
    for (long nth = 1; any && nth < 200; nth++) {
        int ncid = -1;
        if (check.rank == 0) shortage_arm(nth);
        int rc = create("nc_ibuf_size=512", &ncid);
        int failed = check.rank == 0 && shortage_disarm();
        MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(rc == NC_NOERR || (any && rc == NC_ENOMEM));
        if (rc != NC_NOERR) continue;
        CHECK_STR("4096", hint_in_force(ncid, "nc_ibuf_size"));
        CHECK_STR("5", hint_in_force(ncid, "nc_hash_size_var"));
        close_dataset(ncid);
    }
    CHECK_EQ(0, any);
    use_none();
}

/* Unknown keys and invalid values are skipped, and process 0 prints a warning for
 * each. */
static void unknown_keys_and_invalid_values_are_ignored_with_a_warning(void)
{
    char text[3000] = "";
    int ncid = -1, saved = dup(STDERR_FILENO);
    if (!reads_json) return check_skip("no jansson");
    use_file("{\"Remark\": {}, \"File\": [{\"Path\": \"a.nc\", \"nc_ibuf_sice\": \"1\",\n"
             "\"nc_ibuf_size\": \"512\", \"nc_transfer\": \"teleport\", \"k\": [1]}]}");
    FILE *f = tmpfile();
    CHECK(f != NULL && saved >= 0);
    if (f == NULL) return;
    dup2(fileno(f), STDERR_FILENO);
    int rc = create("x=y", &ncid);
    dup2(saved, STDERR_FILENO);
    close(saved);
    CHECK_NC(NC_NOERR, rc);
    CHECK_STR("512", hint_in_force(ncid, "nc_ibuf_size"));
    CHECK_STR("auto", hint_in_force(ncid, "nc_transfer"));
    CHECK_STR("1", hint_in_force(ncid, "nc_ibuf_sice"));
    close_dataset(ncid);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    if (check.rank == 0)
        CHECK(strstr(text, "h.json: line 1, column 2: 'Remark'") &&
              strstr(text, "'nc_ibuf_sice'") &&
              strstr(text, "column 24: invalid value for nc_transfer: 'teleport'") &&
              strstr(text, "'k'"));
    else
        CHECK_STR("", text);
    use_none();
}

static const struct check_test tests[] = {
    {"hints files, PNETCDF_HINTS and info have a precedence",
     hints_files_PNETCDF_HINTS_and_info_have_a_precedence, 0},
    {"E10's hints take effect on all processes", e10_hints_reach_all_processes, 0},
    {"a hints file may have any number of hints",
     a_hints_file_may_have_any_number_of_hints, 0},
    {"safe mode compares hints of the file", safe_mode_compares_hints_of_the_file, 0},
    {"an invalid hints file is an error on all processes",
     an_invalid_hints_file_is_an_error_on_all_processes, 0},
    {"an unreadable hints file is an error on all processes",
     an_unreadable_hints_file_is_an_error_on_all_processes, 0},
    {"a lack of memory is an error on all processes or on none",
     a_lack_of_memory_is_an_error_on_all_processes_or_on_none, 0},
    {"unknown keys and invalid values are ignored with a warning",
     unknown_keys_and_invalid_values_are_ignored_with_a_warning, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
