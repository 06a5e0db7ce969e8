/* Changes the working directory, or renames the dataset's file, while the dataset is
 * open. Later data must still go to the original file. If another file then has the
 * dataset's path, that file must not change. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pnetcdf.h"

enum { N = 3000 };

static char before[PATH_MAX];

static void go(const char *path)
{
    CHECK_EQ(0, chdir(path));
    MPI_Barrier(MPI_COMM_WORLD);
}

static const char words[] = "what somebody else has written";

/* Creates an unrelated file at the path to which the dataset's name now resolves. */
static void put_other(const char *path)
{
    if (check.rank == 0) {
        FILE *f = fopen(path, "wb");
        CHECK(f != NULL);
        if (f != NULL) CHECK(fputs(words, f) >= 0 && fclose(f) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_other(const char *path)
{
    char text[sizeof words + 1] = "";
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    if (f == NULL) return;
    CHECK_EQ(sizeof words - 1, fread(text, 1, sizeof text, f));
    CHECK_STR(words, text);
    fclose(f);
}

static int files_in(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    struct dirent *e;
    CHECK(d != NULL);
    if (d == NULL) return -1;
    while ((e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static const char *const ways[] = {
    "nc_report=0",
    "nc_burst_buf=enable",
    "nc_burst_buf=enable;nc_burst_buf_dirname=logs",
    "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
    "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable",
    "nc_transfer=node",
#ifndef OMPI_MAJOR_VERSION /* Open MPI does not use views */
    "nc_transfer=view",
#endif
    "nc_report=report.txt",
    "nc_trace=trace.json"};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Creates the dataset in the current directory, together with a subdirectory and a
 * directory for logs. */
static int create_here(const char *hints)
{
    int ncid, dim, v;
    MPI_Info info = check_info(hints);
    if (check.rank == 0) {
        CHECK_EQ(0, system("rm -rf sub logs"));
        CHECK_EQ(0, mkdir("sub", 0777));
        CHECK_EQ(0, mkdir("logs", 0777));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, "a.nc", check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "w", NC_INT, 1, &dim, &v));
    return ncid;
}

/* Puts every second element, because the transfer methods differ most for strided
 * puts. */
static int put(int ncid, int varid)
{
    int values[N / 2];
    MPI_Offset start = check.rank * N, count = N / 2, stride = 2;
    for (int i = 0; i < N / 2; i++)
        values[i] = varid + 100 * check.rank + i;
    return ncmpi_put_vars_int_all(ncid, varid, &start, &count, &stride, values);
}

static void check_values(const char *path)
{
    int ncid, wrong = 0, values[N / 2];
    MPI_Offset start = check.rank * N, count = N / 2, stride = 2;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (int v = 0; v < 2; v++) {
        memset(values, 0, sizeof values);
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values));
        for (int i = 0; i < N / 2; i++)
            wrong += values[i] != v + 100 * check.rank + i;
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Puts data before and after a second define phase, and gives background threads time to
 * drain logs. */
static void write_rest(int ncid)
{
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put(ncid, 0));
    usleep(20000);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 3, "abc"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, put(ncid, 1));
    usleep(20000);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void transfers_continue_after_a_change_of_directory(void)
{
    for (int i = 0; i < WAYS; i++) {
        go(check_path(""));
        int ncid = create_here(ways[i]);
        put_other("sub/a.nc");
        go("sub");
        write_rest(ncid);
        check_other("a.nc");
        CHECK_EQ(1, files_in("."));
        go("..");
        check_values("a.nc");
        CHECK_EQ(0, files_in("logs"));
    }
    CHECK_EQ(0, access("report.txt", F_OK));
    CHECK_EQ(0, access("trace.json", F_OK));
    go(before);
}

/* A transfer method that has to reopen the file must report that the file is gone. */
static void transfers_continue_or_fail_after_the_file_was_renamed(void)
{
    for (int i = 0; i < WAYS; i++) {
        bool opens_again = strcmp(ways[i], "nc_transfer=view") == 0;
        go(check_path(""));
        int ncid = create_here(ways[i]);
        if (check.rank == 0) CHECK_EQ(0, rename("a.nc", "b.nc"));
        put_other("a.nc");
        if (opens_again) {
            CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
            CHECK_NC(NC_EFILE, put(ncid, 0));
            CHECK_NC(NC_EFILE, ncmpi_close(ncid));
        } else {
            write_rest(ncid);
            check_values("b.nc");
        }
        check_other("a.nc");
    }
    go(before);
}

static void abort_removes_only_the_file_that_create_made(void)
{
    for (int i = 0; i < WAYS; i++) {
        go(check_path(""));
        int ncid = create_here(ways[i]);
        put_other("sub/a.nc");
        go("sub");
        CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
        check_other("a.nc");
        CHECK_EQ(-1, access("../a.nc", F_OK));
        MPI_Barrier(MPI_COMM_WORLD);
        go("..");
        ncid = create_here(ways[i]);
        if (check.rank == 0) CHECK_EQ(0, rename("a.nc", "b.nc"));
        put_other("a.nc");
        CHECK_NC(NC_EFILE, ncmpi_abort(ncid));
        check_other("a.nc");
    }
    go(before);
}

static const struct check_test tests[] = {
    {"transfers continue after a change of directory",
     transfers_continue_after_a_change_of_directory, 0},
    {"transfers continue, or fail, after the file was renamed",
     transfers_continue_or_fail_after_the_file_was_renamed, 0},
    {"abort removes only the file that create made",
     abort_removes_only_the_file_that_create_made, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    if (getcwd(before, sizeof before) == NULL) return 99;
    return check_main(argc, argv, tests, "1 3");
}
