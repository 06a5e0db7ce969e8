/* Makes one of a process's system calls fail while definitions change, in a separate run
 * for each call and each kind of failure. Afterwards the file must contain either the old
 * dataset or the new one. If the program got no error, the file must contain the new one,
 * and netCDF-C must read the same contents from it.
 *
 *   NCMPI_FAULTS=all tries every error on each call, not only a sample. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "redef_change.h"

static int cases, lost, lied, old, pending;
static char *made; /* netCDF-C's output after a run without faults */

static MPI_Info small_rounds(int change, const char *key)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_data_move_chunk_size", "4096");
    redef_hints(change, check_path("a.nc"), info);
    if (key != NULL) MPI_Info_set(info, key, "true");
    return info;
}

static int most_of(int mine)
{
    int most = mine;
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Returns whether the file begins with the journal's mark. While it does, other programs
 * cannot read it. */
static bool is_marked(const char *path)
{
    size_t n = 0;
    unsigned char *bytes = check_read_file(path, &n);
    bool marked = n > 0 && bytes[0] == 'R';
    free(bytes);
    return marked;
}

/* Returns netCDF-C's output for the file on process 0. Returns NULL on other processes,
 * or if nc_read was not built. */
static char *dump_by_netcdf(const char *path)
{
    enum { MOST = 1 << 20 };
    static const char program[] = "test/support/nc_read";
    char command[5000];
    if (check.rank != 0 || access(program, X_OK) != 0) return NULL;
    snprintf(command, sizeof command, "%s %s 2>&1", program, path);
    FILE *f = popen(command, "r"); /* NOLINT(cert-env33-c): the command contains
                                    * no external input */
    char *text = calloc(1, MOST);
    if (f != NULL && text != NULL && fread(text, 1, MOST - 1, f) == 0) text[0] = '\0';
    if (f != NULL) pclose(f);
    return text;
}

static bool others_agree(const char *path)
{
    char *text = dump_by_netcdf(path);
    bool same = text == NULL || made == NULL || strcmp(text, made) == 0;
    free(text);
    return same;
}

/* Removes journals and logs that earlier cases have left behind. */
static void remove_left(void)
{
    glob_t found;
    if (glob(check_path("a.nc?*"), 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

static void begin_anew(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) {
        size_t n = 0;
        unsigned char *bytes = check_read_file(check_path("made.nc"), &n);
        check_write_file(path, bytes, n);
        free(bytes);
        remove_left();
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Makes a change while one call fails. Returns the number of injected faults; 0 means
 * that the call was not reached. */
static int fail_once(int change, const char *plan, int rank, MPI_Info info)
{
    const char *path = check_path("a.nc");
    int ncid;
    begin_anew(path);
    if (check.rank == rank) CHECK(fault_arm(plan));
    int rc = most_of(-redef_try(path, change, info, NULL));
    int faults = most_of(check.rank == rank ? fault_disarm() : 0);
    if (faults == 0) return 0;

    cases++;
    pending += is_marked(path);
    bool ask = rc == NC_NOERR && (cases % 8 == 0 || getenv("NCMPI_FAULTS") != NULL);
    bool agree = !ask || others_agree(path);
    MPI_Barrier(MPI_COMM_WORLD);
    int opened = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid);
    int is = opened == NC_NOERR ? redef_is(ncid, change, rc == NC_NOERR) : -1;
    if (opened == NC_NOERR) CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    lost += is < 0;
    old += is == 0;
    lied += rc == NC_NOERR && (is != 1 || !agree);
    if (is < 0 || !agree || (rc == NC_NOERR && is != 1))
        fprintf(stderr, "# %s, %s: told %d, opens with %d, is %d\n", redef_names[change],
                plan, -rc, opened, is);
    return faults;
}

/* Sets `pattern` to match either the dataset's files or their directory, which the
 * library opens by a different name. */
static void place_of(const char *call, bool directory, char *pattern, size_t size)
{
    int n = (int)strlen(check_path("")) - 1;
    if (!directory)
        snprintf(pattern, size, "%s*", check_path("a.nc"));
    else
        snprintf(pattern, size, "%.*s%s", n, check_path(""),
                 strcmp(call, "open") == 0 ? "/." : "");
}

static const struct way {
    const char *what;
    bool later, whole; /* later calls also fail; tried only with NCMPI_FAULTS=all */
} ways[] = {{"EIO", false, false},   {"EIO", true, false},    {"ENOSPC", false, false},
            {"ENOSPC", true, false}, {"short", false, false}, {"short", true, false},
            {"EINTR", false, false}, {"EDQUOT", false, true}, {"EDQUOT", true, true},
            {"EACCES", true, true},  {NULL, false, false}};

/* Makes the first matching call fail, then the second, and so on. */
static void each_in_turn(int change, const char *call, const char *pattern,
                         const struct way *way, MPI_Info info)
{
    bool all = getenv("NCMPI_FAULTS") != NULL;
    for (int n = 1, more = 1; more; n += all ? 1 : 1 + n / 2) {
        char plan[1000];
        int rank = (change + *call + n) % check.nprocs;
        snprintf(plan, sizeof plan, "%s:%d%s:%s:%s", call, n, way->later ? "+" : "",
                 way->what, pattern);
        more = fail_once(change, plan, rank, info);
    }
}

static void each_call_of(int change, const char *key)
{
    static const char *const calls[] = {"open",     "read",   "write", "sync", "truncate",
                                        "allocate", "unlink", "close", NULL};
    MPI_Info info = small_rounds(change, key);
    const char *path = check_path("a.nc");
    begin_anew(path);
    CHECK_NC(NC_NOERR, redef_try(path, change, info, NULL));
    made = dump_by_netcdf(path);
    for (const char *const *call = calls; *call != NULL; call++)
        for (int directory = 0; directory < 2; directory++)
            for (const struct way *way = ways; way->what != NULL; way++) {
                char pattern[700];
                if (way->whole && getenv("NCMPI_FAULTS") == NULL) continue;
                place_of(*call, directory != 0, pattern, sizeof pattern);
                each_in_turn(change, *call, pattern, way, info);
            }
    free(made);
    MPI_Info_free(&info);
}

static void each_call_fails(const char *key)
{
    cases = lost = lied = old = pending = 0;
    CHECK_NC(NC_NOERR, redef_make(check_path("made.nc"), MPI_INFO_NULL, NULL));
    for (int change = 0; redef_names[change] != NULL; change++)
        each_call_of(change, key);
    if (check.rank == 0)
        fprintf(stderr, "# %d cases: %d old, %d pending, %d lost, %d lied\n", cases, old,
                pending, lost, lied);
    CHECK(cases > 50);
    CHECK_EQ(0, lost);
    CHECK_EQ(0, lied);
}

static void a_failed_call_loses_nothing(void)
{
    each_call_fails(NULL);
}

/* If one process's system call fails inside a collective ROMIO call (MPICH 4.0.2), the
 * other processes may wait forever. */
static void a_failed_call_loses_nothing_through_a_view(void)
{
    if (check.nprocs > 1) {
        check_skip("MPI-IO may not return");
        return;
    }
    each_call_fails("romio_no_indep_rw");
}

static const struct check_test tests[] = {
    {"a failed call loses nothing", a_failed_call_loses_nothing, 0},
    {"a failed call loses nothing through a view",
     a_failed_call_loses_nothing_through_a_view, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
