/* Runs each MPI test in all of its cases, and prints TAP. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "pnetcdf_ext.h"
#include "splitmix.h"

struct check_case check;
int check_thread_level = MPI_THREAD_SINGLE;

static struct {
    char text[8192]; /* this process's failures, one per line */
    size_t length;
    int failures;
    char skip[256];
    char dir[2048];
    int number, failed; /* numbers of cases reported and failed so far */
    uint64_t seed, shared, own;
} state;

static const struct {
    int format, cmode;
} formats[] = {{1, 0}, {2, NC_64BIT_OFFSET}, {5, NC_64BIT_DATA}};

/* ---- checks ---- */

static void note(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(const char *file, int line, const char *format, ...)
{
    va_list args;
    size_t room = sizeof state.text - state.length;
    state.failures++;
    if (room < 1024) return; /* no space left in the text */
    int n = snprintf(state.text + state.length, room, "# rank %d, %s:%d: ", check.rank,
                     file, line);
    va_start(args, format);
    n += vsnprintf(state.text + state.length + n, room - (size_t)n - 1, format, args);
    va_end(args);
    state.length += (size_t)n < room - 2 ? (size_t)n : room - 2;
    state.text[state.length++] = '\n';
    state.text[state.length] = '\0';
}

bool check_that(bool held, const char *text, const char *file, int line)
{
    if (!held) note(file, line, "%s", text);
    return held;
}

bool check_nc(int expected, int rc, const char *text, const char *file, int line)
{
    if (rc == expected) return true;
    char name[64];
    snprintf(name, sizeof name, "%s", base_error_name(expected));
    note(file, line, "%.400s: %s instead of %s: %.400s", text, base_error_name(rc), name,
         base_error_text(rc));
    return false;
}

bool check_eq(int64_t expected, int64_t value, const char *text, const char *file,
              int line)
{
    if (value != expected)
        note(file, line, "%.400s: %" PRId64 " instead of %" PRId64, text, value,
             expected);
    return value == expected;
}

bool check_str(const char *expected, const char *value, const char *text,
               const char *file, int line)
{
    bool same = strcmp(expected, value) == 0;
    if (!same)
        note(file, line, "%.200s: \"%.600s\" instead of \"%.300s\"", text, value,
             expected);
    return same;
}

bool check_bytes(const void *expected, const void *bytes, size_t length, const char *text,
                 const char *file, int line)
{
    const unsigned char *e = expected, *b = bytes;
    size_t i = 0;
    if (length == 0 || memcmp(e, b, length) == 0) return true;
    while (e[i] == b[i])
        i++;
    note(file, line, "%.400s: byte %zu of %zu is %02x instead of %02x", text, i, length,
         b[i], e[i]);
    return false;
}

void check_skip(const char *reason)
{
    snprintf(state.skip, sizeof state.skip, "%s", reason);
}

/* ---- random numbers ---- */

uint64_t check_random(uint64_t limit)
{
    return splitmix_next(&state.shared) % limit;
}

uint64_t check_random_own(uint64_t limit)
{
    return splitmix_next(&state.own) % limit;
}

uint64_t check_random_state(void)
{
    return state.shared;
}

void check_random_again(uint64_t random_state)
{
    state.shared = random_state;
}

static void choose_seed(void)
{
    const char *given = getenv("NCMPI_TEST_SEED");
    state.seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) % 1000000;
    MPI_Bcast(&state.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (check.rank == 0) printf("# seed %" PRIu64 "\n", state.seed);
}

/* ---- files ---- */

const char *check_path(const char *name)
{
    static char paths[8][4096];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", state.dir, name);
    return path;
}

MPI_Info check_info(const char *text)
{
    char pairs[1000], *rest = pairs, *pair;
    MPI_Info info;
    MPI_Info_create(&info);
    snprintf(pairs, sizeof pairs, "%s", text);
    while ((pair = strtok_r(rest, ";", &rest)) != NULL) {
        char *value = strchr(pair, '=');
        *value++ = '\0';
        MPI_Info_set(info, pair, value);
    }
    return info;
}

int check_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL) closedir(d);
    return n;
}

bool check_several_nodes(void)
{
    MPI_Comm own;
    int n;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check.rank, MPI_INFO_NULL,
                        &own);
    MPI_Comm_size(own, &n);
    MPI_Comm_free(&own);
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return n < check.nprocs;
}

bool check_write_file(const char *path, const void *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");
    bool ok = f != NULL && fwrite(bytes, 1, length, f) == length;
    if (f != NULL && fclose(f) != 0) ok = false;
    if (!ok) note(__FILE__, __LINE__, "cannot write %s: %s", path, strerror(errno));
    return ok;
}

unsigned char *check_read_file(const char *path, size_t *length)
{
    struct stat st;
    unsigned char *bytes = NULL;
    FILE *f = fopen(path, "rb");
    *length = 0;
    if (f != NULL && fstat(fileno(f), &st) == 0) bytes = malloc((size_t)st.st_size + 1);
    if (bytes != NULL) *length = fread(bytes, 1, (size_t)st.st_size, f);
    if (bytes == NULL || *length != (size_t)st.st_size)
        note(__FILE__, __LINE__, "cannot read %s: %s", path, strerror(errno));
    if (f != NULL) fclose(f);
    return bytes;
}

bool check_same_files(const char *path, const char *other)
{
    size_t n, m;
    unsigned char *a = check_read_file(path, &n), *b = check_read_file(other, &m);
    bool same = a != NULL && b != NULL && n == m && memcmp(a, b, n) == 0;
    if (!same && a != NULL && b != NULL) {
        size_t i = 0;
        while (i < n && i < m && a[i] == b[i])
            i++;
        note(__FILE__, __LINE__, "%s (%zu bytes) and %s (%zu bytes) differ at byte %zu",
             path, n, other, m, i);
    }
    free(a);
    free(b);
    return same;
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

/* ---- cases ---- */

static void enter_directory(const struct check_test *test, int number)
{
    const char *top = getenv("NCMPI_TEST_DIR");
    snprintf(state.dir, sizeof state.dir, "%s/%d", top ? top : ".", number);
    if (check.rank == 0 && mkdir(state.dir, 0777) != 0)
        note(__FILE__, __LINE__, "%s: cannot make %s: %s", test->name, state.dir,
             strerror(errno));
}

static void leave_directory(bool failed)
{
    if (check.rank != 0 || (failed && getenv("NCMPI_TEST_KEEP"))) return;
    nftw(state.dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Gathers the failures of all processes on process 0. Returns whether any process had a
 * failure; the result is the same on all processes. */
static bool gather_failures(char **notes)
{
    int length = (int)state.length, any = 0;
    int *lengths = NULL, *offsets = NULL, total = 0;
    *notes = NULL;
    MPI_Allreduce(&state.failures, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (any == 0) return false;
    if (check.rank == 0) {
        lengths = calloc((size_t)check.nprocs * 2, sizeof *lengths);
        offsets = lengths + check.nprocs;
    }
    MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; check.rank == 0 && i < check.nprocs; i++) {
        offsets[i] = total;
        total += lengths[i];
    }
    if (check.rank == 0) *notes = calloc((size_t)total + 1, 1);
    MPI_Gatherv(state.text, length, MPI_CHAR, *notes, lengths, offsets, MPI_CHAR, 0,
                MPI_COMM_WORLD);
    free(lengths);
    return true;
}

static void run_case(const struct check_test *test)
{
    char *notes;
    char mode[32] = "";
    MPI_Offset leaked = 0;
    const char *but = getenv("NCMPI_TEST_BUT");
    int number = ++state.number;
    state.length = 0;
    state.failures = 0;
    state.skip[0] = '\0';
    state.shared = state.seed + (uint64_t)number * 7919;
    state.own = state.shared ^ ((uint64_t)(check.rank + 1) << 32);
    enter_directory(test, number);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test->flags & CHECK_SEVERAL && check.nprocs == 1)
        check_skip("one process cannot differ");
    else if (but != NULL && strstr(but, test->name) != NULL)
        check_skip("not with these hints");
    else
        test->run();
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(NULL)); /* hints may have deferred closes */
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&leaked));
    CHECK_EQ(0, leaked);
    bool failed = gather_failures(&notes);
    leave_directory(failed);
    if (test->flags & CHECK_MODES)
        snprintf(mode, sizeof mode, "%s, ",
                 check.collective ? "collective" : "independent");
    if (check.rank == 0) {
        printf("%s %d - %s (CDF-%d, %s%d process%s)%s%s\n", failed ? "not ok" : "ok",
               number, test->name, check.format, mode, check.nprocs,
               check.nprocs > 1 ? "es" : "", state.skip[0] ? " # SKIP " : "", state.skip);
        if (failed) printf("%s# seed %" PRIu64 "\n", notes, state.seed);
        fflush(stdout);
    }
    free(notes);
    state.failed += failed;
}

/* Returns the create mode for a format. If NCMPI_TEST_NETCDF4 is set, returns the mode
 * for a netCDF-4 file instead, with the classic model unless the format has types that
 * the classic model lacks. */
static int mode_of(int i)
{
    if (getenv("NCMPI_TEST_NETCDF4") == NULL) return formats[i].cmode;
    return NC_NETCDF4 | (formats[i].format == 5 ? 0 : NC_CLASSIC_MODEL);
}

static void run_test(const struct check_test *test)
{
    int modes = test->flags & CHECK_MODES ? 2 : 1;
    for (int i = test->flags & CHECK_FORMATS ? 0 : 2; i < 3; i++)
        for (int mode = 0; mode < modes; mode++) {
            check.format = formats[i].format;
            check.cmode = mode_of(i);
            check.collective = mode == 0;
            run_case(test);
        }
}

static int count_cases(const struct check_test *tests)
{
    int n = 0;
    for (; tests->name != NULL; tests++)
        n +=
            (tests->flags & CHECK_FORMATS ? 3 : 1) * (tests->flags & CHECK_MODES ? 2 : 1);
    return n;
}

/* If there are several nodes, sends a message between each pair of processes, so that all
 * connections are established before MPI_Finalize. See yield.c. */
static void greet_all(void)
{
    for (int step = 1; step < check.nprocs; step++) {
        int to = (check.rank + step) % check.nprocs;
        int from = (check.rank + check.nprocs - step) % check.nprocs;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, 0, NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Returns whether the name contains the text in NCMPI_TEST_ONLY or, if that text ends
 * with $, whether the name ends with the text before the $. */
static bool is_asked_for(const char *name)
{
    const char *only = getenv("NCMPI_TEST_ONLY");
    if (only == NULL) return true;
    size_t n = strlen(only), length = strlen(name);
    if (n == 0 || only[n - 1] != '$') return strstr(name, only) != NULL;
    return length >= n - 1 && strncmp(name + length - (n - 1), only, n - 1) == 0;
}

int check_main(int argc, char **argv, const struct check_test *tests, const char *procs)
{
    if (argc > 1 && strcmp(argv[1], "--cases") == 0) {
        printf("%d: %s\n", count_cases(tests), procs ? procs : "1 2 3 4");
        return 0;
    }
    int offered;
    MPI_Init_thread(&argc, &argv, check_thread_level, &offered);
    MPI_Comm_rank(MPI_COMM_WORLD, &check.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check.nprocs);
    choose_seed();
    for (; tests->name != NULL; tests++)
        if (is_asked_for(tests->name)) run_test(tests);
    if (getenv("NCMPI_TEST_NODES") != NULL) greet_all();
    MPI_Finalize();
    return state.failed > 0;
}
