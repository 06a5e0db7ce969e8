/* Definitions change while one call fails, on one process: each call once, in each way.
 * What is there afterwards is the old dataset or the new one, and the new one if all went
 * well as the program was told; then netCDF-C says so, too.
 *
 *     NCMPI_FAULTS=all   each call, with every error; else a part of them */
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
static char *made; /* what netCDF-C finds where no call failed */

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

/* What a reader without our help makes of the file: it has the mark, or is sound. */
static bool is_marked(const char *path)
{
    size_t n = 0;
    unsigned char *bytes = check_read_file(path, &n);
    bool marked = n > 0 && bytes[0] == 'R';
    free(bytes);
    return marked;
}

/* NULL if it cannot be asked here; on process 0. */
static char *told_by_others(const char *path)
{
    enum { MOST = 1 << 20 };
    static const char program[] = "test/support/nc_read";
    char command[5000];
    if (check.rank != 0 || access(program, X_OK) != 0) return NULL;
    snprintf(command, sizeof command, "%s %s 2>&1", program, path);
    FILE *f = popen(command, "r"); /* NOLINT(cert-env33-c): all of it is our own */
    char *text = calloc(1, MOST);
    if (f != NULL && text != NULL && fread(text, 1, MOST - 1, f) == 0) text[0] = '\0';
    if (f != NULL) pclose(f);
    return text;
}

static bool others_agree(const char *path)
{
    char *text = told_by_others(path);
    bool same = text == NULL || made == NULL || strcmp(text, made) == 0;
    free(text);
    return same;
}

/* Journals and logs of a case before. */
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

/* One call fails. How many did, or would have. */
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

/* Files of the dataset, or their directory, which is opened by another name than it has.
 */
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
    bool later, whole; /* once, or from then on; only if all is asked for */
} ways[] = {{"EIO", false, false},   {"EIO", true, false},    {"ENOSPC", false, false},
            {"ENOSPC", true, false}, {"short", false, false}, {"short", true, false},
            {"EINTR", false, false}, {"EDQUOT", false, true}, {"EDQUOT", true, true},
            {"EACCES", true, true},  {NULL, false, false}};

/* The first such call, the second ... */
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
    made = told_by_others(path);
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

static void a_call_that_fails(void)
{
    each_call_fails(NULL);
}

/* Where one process's call fails within a collective one of ROMIO's (MPICH 4.0.2), the
 * others may wait for it for ever. */
static void a_call_that_fails_in_a_view(void)
{
    if (check.nprocs > 1) {
        check_skip("MPI-IO may not return");
        return;
    }
    each_call_fails("romio_no_indep_rw");
}

static const struct check_test tests[] = {
    {"a call that fails loses nothing", a_call_that_fails, 0},
    {"nor through a view", a_call_that_fails_in_a_view, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
