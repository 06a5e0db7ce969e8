/* Tests that only one process on a node lists the directory of logs when datasets are
 * created, recovered or removed. The test counts the calls that list directories by
 * interposing them. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_fs.h"
#include "check.h"
#include "pnetcdf.h"

enum { N = 7 };

static int listed;

DIR *opendir(const char *path)
{
    typedef DIR *fn(const char *);
    fn *f;
    *(void **)&f = dlsym(RTLD_NEXT, "opendir");
    listed++;
    return f(path);
}

static int listed_since(void)
{
    int n = listed;
    listed = 0;
    return n;
}

static MPI_Info hints(const char *more)
{
    char text[1300];
    snprintf(text, sizeof text, "nc_burst_buf=enable;nc_burst_buf_dirname=%s;%s",
             check_path(""), more);
    return check_info(text);
}

static int make(const char *name, const char *more)
{
    int ncid, dim, v, values[N];
    MPI_Info info = hints(more);
    MPI_Offset start = N * check.rank, count = N;
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < N; i++)
        values[i] = N * check.rank + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    MPI_Info_free(&info);
    return ncid;
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Counts the files whose names begin with `begin` and end with `end`, and stores the last
 * of these names. Does not count its own listing of the directory. */
static int count_files(const char *begin, const char *end, char *last, size_t size)
{
    int n = 0, before = listed;
    struct dirent *e;
    DIR *d = opendir(check_path(""));
    while (d != NULL && (e = readdir(d)) != NULL)
        if (strncmp(e->d_name, begin, strlen(begin)) == 0 && ends_with(e->d_name, end)) {
            if (last != NULL) snprintf(last, size, "%s", e->d_name);
            n++;
        }
    if (d != NULL) closedir(d);
    listed = before;
    return n;
}

static void process_0_lists_the_log_directory(void)
{
    listed_since();
    int ncid = make("a.nc", "nc_burst_buf_del_on_close=disable"), calls = listed_since();
    CHECK_EQ(check.rank == 0 ? 2 : 0, calls); /* one listing for logs, one for orphans */
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_EQ(0, listed_since());
    for (int round = 0; round < 2; round++) {
        MPI_Info info = hints("x=y");
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"),
                                      round == 0 ? NC_NOWRITE : NC_WRITE, info, &ncid));
        MPI_Info_free(&info);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        calls = listed_since(); /* one listing for orphans, one for shared logs */
        CHECK_EQ(check.rank == 0 ? 2 : 0, calls);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(make("a.nc", "nc_burst_buf_del_on_close=enable")));
    calls = listed_since();
    CHECK_EQ(check.rank == 0 ? 2 : 0, calls);
}

/* Copies the beginning of a file to a file with another name in the same directory. */
static void copy_head(const char *from, const char *to)
{
    enum { HEAD = 16384 };
    size_t length = 0;
    unsigned char *bytes = check_read_file(check_path(from), &length);
    CHECK(check_write_file(check_path(to), bytes, length < HEAD ? length : HEAD));
    free(bytes);
}

/* Copies process 0's log, which has no pending entries, to files that are named like the
 * logs of many other processes. */
static void make_many(int many)
{
    char meta[256] = "", name[300];
    CHECK(count_files("a.nc.", ".0.meta", meta, sizeof meta) == 1);
    size_t length = strlen(meta);
    int stem = length < 6 ? 0 : (int)length - 6; /* length without "0.meta" */
    for (int i = 0; i < many; i++) {
        snprintf(name, sizeof name, "%.*s%d.meta", stem, meta, 100 + i);
        copy_head(meta, name);
        snprintf(name, sizeof name, "%.*s%d.data", stem, meta, 100 + i);
        CHECK(check_write_file(check_path(name), "PnetCDF1", 8));
    }
    copy_head(meta, "other.meta");
}

/* The directory has more names than one getdents call returns. The library must find all
 * logs, including those of ranks that this job does not have, and must not change any
 * other file. */
static void logs_are_found_in_a_large_directory(void)
{
    enum { MANY = 200 };
    int ncid = make("a.nc",
                    "nc_burst_buf_del_on_close=disable;nc_burst_buf_shared_logs=disable");
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) make_many(MANY);
    if (check.rank == 0) CHECK(count_files("a.nc", ".meta", NULL, 0) > MANY);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Info info = hints("x=y");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        CHECK_EQ(0, count_files("a.nc", ".meta", NULL, 0));
        CHECK_EQ(0, count_files("a.nc", ".data", NULL, 0));
        CHECK_EQ(1, count_files("other", ".meta", NULL, 0));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Unless hints say otherwise, the processes on a node share one log if there are more
 * than 8 of them and the logs are on a file system that nodes may share. */
static void more_than_8_processes_of_a_node_share_one_log(void)
{
    static const char *const asked[] = {"nc_burst_buf_shared_logs=auto",
                                        "nc_burst_buf_shared_logs=enable",
                                        "nc_burst_buf_shared_logs=disable"};
    for (int i = 0; i < 3; i++) {
        int ncid = make("a.nc", asked[i]);
        bool local = base_fs_is_local(check_path("."));
        bool shared = i == 1 || (i == 0 && check.nprocs > 8 && !local);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0)
            CHECK_EQ(shared ? 1 : check.nprocs, count_files("a.nc", ".meta", NULL, 0));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static const struct check_test tests[] = {
    {"process 0 lists the log directory", process_0_lists_the_log_directory, 0},
    {"logs are found in a large directory", logs_are_found_in_a_large_directory, 0},
    {"more than 8 processes of a node share one log",
     more_than_8_processes_of_a_node_share_one_log, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3 9");
}
