/* Tests that a log is retained across redefinitions. Except to drain, redef and enddef
 * must not create or open files, and must not make more collective calls than for a
 * dataset without a log. The test counts calls by interposing them. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "pnetcdf.h"

enum { N = 9 };

/* ---- interposed functions ---- */

static struct {
    int opens, steps; /* numbers of opened files and collective calls */
} made;

#define EXPORT __attribute__((visibility("default")))

static int open_next(const char *name, const char *path, int flags, mode_t mode)
{
    typedef int fn(const char *, int, ...);
    fn *f;
    *(void **)&f = dlsym(RTLD_NEXT, name);
    made.opens += strncmp(path, check_path(""), strlen(check_path(""))) == 0;
    return f(path, flags, mode);
}

#include "stand_open.h"

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    made.steps++;
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Bcast(void *bytes, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    made.steps++;
    return PMPI_Bcast(bytes, n, type, root, comm);
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                            void *base, MPI_Win *win)
{
    made.steps++;
    return PMPI_Win_allocate_shared(size, unit, info, comm, base, win);
}

/* ---- datasets ---- */

static int make(const char *hints)
{
    int ncid, dim, v;
    MPI_Info info = check_info(hints);
    MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

static void put(int ncid, int v, int what)
{
    MPI_Offset start = N * check.rank, count = N;
    int values[N];
    for (int i = 0; i < N; i++)
        values[i] = what * 10000 + N * check.rank + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
}

static void check_values(int ncid, int v, int what)
{
    int reader = (check.rank + 1) % check.nprocs, values[N], wrong = 0;
    MPI_Offset start = N * reader, count = N;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
    for (int i = 0; i < N; i++)
        wrong += values[i] != what * 10000 + N * reader + i;
    CHECK_EQ(0, wrong);
}

/* Returns the sum of the inode numbers of the metadata logs. The sum changes if a log is
 * replaced. Stores the number of these logs in *n. */
static unsigned long logs(int *n)
{
    unsigned long sum = 0;
    struct dirent *e;
    DIR *d = opendir(check_path(""));
    *n = 0;
    while (d != NULL && (e = readdir(d)) != NULL) {
        size_t length = strlen(e->d_name);
        if (length < 5 || strcmp(e->d_name + length - 5, ".meta") != 0) continue;
        sum += e->d_ino;
        ++*n;
    }
    if (d != NULL) closedir(d);
    return sum;
}

/* Adds a variable in a redefinition. Counts the collective calls of redef and enddef, and
 * returns the number of files opened. */
static int redefine(int ncid, int *redef, int *enddef)
{
    char name[16];
    int v;
    CHECK_NC(NC_NOERR, ncmpi_inq_nvars(ncid, &v));
    snprintf(name, sizeof name, "more%d", v);
    made.opens = made.steps = 0;
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    *redef = made.steps;
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, NC_INT, 1, (int[]){0}, &v));
    made.steps = 0;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    *enddef = made.steps;
    return made.opens;
}

static void a_redefinition_creates_no_new_log(void)
{
    static const char *const ways[] = {
        "nc_burst_buf=disable", "nc_burst_buf=enable;nc_burst_buf_shared_logs=disable",
        "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable",
        "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0"};
    int opens = 0, steps[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        int ncid = make(ways[i]), before, after, redef, enddef;
        put(ncid, 0, 0); /* from now on, each process has the file open */
        CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
        unsigned long were = logs(&before);
        CHECK_EQ(i == 0 ? 0 : i == 2 ? 1 : check.nprocs, before);
        for (int round = 1; round < 4; round++) {
            int n = redefine(ncid, &redef, &enddef);
            if (i == 0) opens = n, steps[0] = redef, steps[1] = enddef;
            CHECK_EQ(opens, n);
            /* one call determines whether there is anything to drain, and one whether all
             * logs were reset */
            CHECK(redef <= steps[0] + (i == 0 ? 0 : i == 2 ? 2 : 1));
            CHECK_EQ(steps[1], enddef);
            CHECK(logs(&after) == were && after == before);
        }
        for (int v = 0; v < 4; v++)
            put(ncid, v, v + 1);
        for (int v = 0; v < 4; v++)
            check_values(ncid, v, v + 1);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        logs(&after);
        CHECK_EQ(0, after);
    }
}

/* Closes or aborts in define mode, right after create or after a second redef. */
static void a_log_may_be_removed_in_define_mode(void)
{
    for (int i = 0; i < 4; i++) {
        int ncid = make("nc_burst_buf=enable"), n;
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        if (i >= 2) {
            CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
            put(ncid, 0, 5);
            CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        }
        CHECK_NC(NC_NOERR, i % 2 ? ncmpi_abort(ncid) : ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        logs(&n);
        CHECK_EQ(0, n);
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        if (i >= 2) check_values(ncid, 0, 5);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* If a put is posted in define mode, the wait logs it, using the definitions that are
 * current at the time of the wait. */
static void a_request_posted_in_define_mode_is_logged_by_the_wait(void)
{
    static const char *const ways[] = {"nc_burst_buf=enable",
                                       "nc_burst_buf=enable;nc_burst_buf_log_at=post"};
    for (int i = 0; i < 2; i++) {
        int ncid = make(ways[i]), values[N], more, id;
        MPI_Offset start = N * check.rank, count = N;
        char text[7000];
        memset(text, 'a', sizeof text);
        put(ncid, 0, 1);
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        for (int k = 0; k < N; k++)
            values[k] = 20000 + N * check.rank + k;
        CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, 0, &start, &count, values, &id));
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", sizeof text, text));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "more", NC_INT, 1, (int[]){0}, &more));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        put(ncid, more, 3);
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, NULL));
        check_values(ncid, 0, 2);
        check_values(ncid, more, 3);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static const struct check_test tests[] = {
    {"a redefinition creates no new log", a_redefinition_creates_no_new_log,
     CHECK_FORMATS},
    {"a log may be removed in define mode", a_log_may_be_removed_in_define_mode, 0},
    {"a request posted in define mode is logged by the wait",
     a_request_posted_in_define_mode_is_logged_by_the_wait, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
