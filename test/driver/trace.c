/* Tests when traces are written. Datasets that are open at the same time must share one
 * trace, and failed attempts to open a dataset must also be traced. A file that is not a
 * trace must not be overwritten, and tracing must not change the library's counts.
 * test/driver/trace.sh tests the contents of traces. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counts.h"
#include "made_dataset.h"

enum { N = 100 };

/* Creates a dataset with the hint nc_trace, puts and gets values, and closes it. Every
 * call must succeed. */
static void use_traced(const char *name, const char *trace)
{
    int values[N] = {1}, ncid = counting_dataset(name, "nc_trace", trace);
    int x = new_dim(ncid, "x", N * check.nprocs), v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = N * check.rank, count = N;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    memset(values, 0, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
    CHECK_EQ(1, values[0]);
    close_dataset(ncid);
}

/* Returns how often `text` occurs in a file, or -1 if the file does not exist. Called
 * only on process 0. */
static int times_in(const char *path, const char *text)
{
    size_t length = 0;
    int n = 0;
    if (access(path, F_OK) != 0) return -1;
    unsigned char *bytes = check_read_file(path, &length);
    char *copy = bytes == NULL ? NULL : strndup((char *)bytes, length);
    for (const char *at = copy; at != NULL && (at = strstr(at, text)) != NULL; at++)
        n++;
    free(bytes);
    free(copy);
    return n;
}

/* Redirect standard error to a file, and restore it. */
static int muted = -1;
static void mute(void)
{
    muted = dup(STDERR_FILENO);
    CHECK(freopen(check_path("told"), "w", stderr) != NULL);
}

static void unmute(void)
{
    fflush(stderr);
    CHECK(dup2(muted, STDERR_FILENO) >= 0);
    close(muted);
}

static void datasets_share_a_trace(void)
{
    char trace[MPI_MAX_INFO_VAL];
    snprintf(trace, sizeof trace, "%s", check_path("t.json"));
    int ncid = counting_dataset("a.nc", "nc_trace", trace);
    use_traced("b.nc", trace);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank != 0) return;
    CHECK_EQ(2 * check.nprocs, times_in(trace, "\"name\":\"dataset\""));
    CHECK_EQ(check.nprocs, times_in(trace, "b.nc"));
    CHECK_EQ(2 * check.nprocs, times_in(trace, "\"ncmpi_create\":"));
    CHECK_EQ(check.nprocs, times_in(trace, "\"ncmpi_put_vara_all\":"));
    CHECK_EQ(2 * check.nprocs, times_in(trace, "\"ncmpi_close\":"));
}

static void a_failed_open_is_traced_too(void)
{
    int ncid;
    char hints[MPI_MAX_INFO_VAL + 16], trace[MPI_MAX_INFO_VAL];
    snprintf(trace, sizeof trace, "%s", check_path("t.json"));
    snprintf(hints, sizeof hints, "nc_trace=%s", trace);
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_ENOENT,
             ncmpi_open(MPI_COMM_WORLD, check_path("none.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) CHECK_EQ(check.nprocs, times_in(trace, "\"error\":"));
}

static void an_existing_file_that_is_no_trace_is_kept(void)
{
    char other[MPI_MAX_INFO_VAL], none[MPI_MAX_INFO_VAL], own[MPI_MAX_INFO_VAL];
    snprintf(other, sizeof other, "%s", check_path("notes.txt"));
    snprintf(none, sizeof none, "%s", check_path("no/such/directory"));
    snprintf(own, sizeof own, "%s", check_path("a.nc"));
    if (check.rank == 0) check_write_file(other, "my notes", 8);
    MPI_Barrier(MPI_COMM_WORLD);
    mute();
    use_traced("a.nc", other);
    use_traced("a.nc", none);
    use_traced("a.nc", own);
    unmute();
    if (check.rank != 0) return;
    CHECK_EQ(1, times_in(other, "my notes"));
    CHECK_EQ(0, times_in(other, "ncmpi"));
    CHECK_EQ(-1, times_in(none, ""));
    CHECK_EQ(0, times_in(own, "ncmpi"));
    CHECK_EQ(3, times_in(check_path("told"), "no trace is written"));
}

/* The trace's path is another name for the dataset's file. The library must stop tracing
 * before it damages that file. */
static void the_dataset_itself_is_not_used_as_a_trace(void)
{
    char trace[MPI_MAX_INFO_VAL];
    snprintf(trace, sizeof trace, "%s", check_path("link.json"));
    if (check.rank == 0) {
        CHECK(check_write_file(check_path("a.nc"), "", 0));
        CHECK_EQ(0, link(check_path("a.nc"), trace));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    mute();
    use_traced("a.nc", trace);
    unmute();
    if (check.rank != 0) return;
    CHECK_EQ(0, times_in(trace, "ncmpi"));
    CHECK_EQ(1, times_in(check_path("told"), "the trace is incomplete"));
}

/* Tracing must not cause any additional collective calls or file operations. */
static void the_counts_are_the_same(void)
{
    char trace[MPI_MAX_INFO_VAL];
    long long counts[2][3];
    snprintf(trace, sizeof trace, "%s", check_path("t.json"));
    for (int on = 0; on < 2; on++) {
        int ncid =
            counting_dataset(on ? "b.nc" : "a.nc", "nc_trace", on ? trace : "disable");
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        counts[on][0] = count_of(ncid, "agreements");
        counts[on][1] = count_of(ncid, "broadcasts");
        counts[on][2] = count_of(ncid, "file_writes");
        close_dataset(ncid);
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQ(counts[0][i], counts[1][i]);
}

static const struct check_test tests[] = {
    {"datasets that are open together share a trace", datasets_share_a_trace, 0},
    {"a failed open is traced", a_failed_open_is_traced_too, 0},
    {"an existing file that is no trace is kept",
     an_existing_file_that_is_no_trace_is_kept, 0},
    {"the dataset itself is not used as a trace",
     the_dataset_itself_is_not_used_as_a_trace, 0},
    {"tracing does not change the library's counts", the_counts_are_the_same, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
