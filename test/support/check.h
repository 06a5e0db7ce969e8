/* Support for MPI test programs. A program consists of a table of tests:
 *
 *     static void reopened_file_keeps_its_records(void)
 *     {
 *         int ncid;
 *         CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
 *                                         check.cmode, MPI_INFO_NULL, &ncid));
 *         ...
 *     }
 *
 *     static const struct check_test tests[] = {
 *         {"a reopened file keeps its records", reopened_file_keeps_its_records,
 *          CHECK_FORMATS | CHECK_MODES},
 *         {NULL, NULL, 0},
 *     };
 *
 *     int main(int argc, char **argv)
 *     {
 *         return check_main(argc, argv, tests, "1 2 4");
 *     }
 *
 * run-mpi starts the program once for each process count. All processes then call every
 * test once for each format and data mode that its flags request. A failed check does not
 * end the test, because other processes might then wait forever. Failures are recorded,
 * and gathered from all processes when the test ends. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CHECK_FORMATS = 1, /* run for CDF-1, CDF-2 and CDF-5 instead of only CDF-5 */
    CHECK_MODES = 2,   /* run in both data modes instead of only in collective mode */
    CHECK_SEVERAL = 4  /* skip on a single process, because the test needs several */
};

struct check_test {
    const char *name;
    void (*run)(void);
    unsigned flags;
};

/* The case that is being run. */
struct check_case {
    int rank, nprocs;
    int format;      /* 1, 2 or 5 */
    int cmode;       /* create mode flags that select the format */
    bool collective; /* whether to use collective data calls */
};
extern struct check_case check;

/* The thread level that the program requests from MPI (default: MPI_THREAD_SINGLE). A
 * program that sets this variable before calling check_main must check whether MPI
 * provides the level. */
extern int check_thread_level;

/* Runs a table of tests, terminated by a NULL name, for each process count in `procs`.
 * NULL means "1 2 3 4"; use 16 only if a test needs it. Returns the exit status. */
int check_main(int argc, char **argv, const struct check_test *tests, const char *procs);

/* Returns the path of a file in a directory that belongs to the current case. The
 * directory is empty when the case starts and is removed when it ends. The path is in one
 * of a few static buffers, which are reused. */
const char *check_path(const char *name);

/* Creates an info object from "key=value;key=value". The caller must free it. */
MPI_Info check_info(const char *text);

/* Each check records a failure if its condition does not hold, and returns whether it
 * holds. Arguments are evaluated once. CHECK_NC compares NC_ codes and prints their
 * names; CHECK_EQ compares integers. */
#define CHECK(cond)            check_that(!!(cond), #cond, __FILE__, __LINE__)
#define CHECK_NC(expected, rc) check_nc(expected, rc, #rc, __FILE__, __LINE__)
#define CHECK_EQ(expected, value)                                                        \
    check_eq((int64_t)(expected), (int64_t)(value), #value, __FILE__, __LINE__)
#define CHECK_STR(expected, value) check_str(expected, value, #value, __FILE__, __LINE__)
#define CHECK_BYTES(expected, bytes, length)                                             \
    check_bytes(expected, bytes, length, #bytes, __FILE__, __LINE__)

bool check_that(bool held, const char *text, const char *file, int line);
bool check_nc(int expected, int rc, const char *text, const char *file, int line);
bool check_eq(int64_t expected, int64_t value, const char *text, const char *file,
              int line);
bool check_str(const char *expected, const char *value, const char *text,
               const char *file, int line);
bool check_bytes(const void *expected, const void *bytes, size_t length, const char *text,
                 const char *file, int line);

/* Reports the case as skipped, for the given reason. Must be called on all processes. */
void check_skip(const char *reason);

/* Return random numbers in [0, limit), where limit > 0. check_random returns the same
 * sequence on all processes; check_random_own returns a different one on each. Every run
 * prints its seed, and NCMPI_TEST_SEED=N repeats the run with seed N. */
uint64_t check_random(uint64_t limit);
uint64_t check_random_own(uint64_t limit);

/* check_random_state returns the state of check_random. check_random_again restores that
 * state, so that check_random repeats its numbers. */
uint64_t check_random_state(void);
void check_random_again(uint64_t random_state);

/* Functions that process whole files; call them on one process. check_write_file writes a
 * file. check_read_file returns the contents, which the caller must free; if it cannot
 * read the file, it records a failure and returns NULL. check_same_files compares two
 * files byte by byte and reports the first difference. */
bool check_write_file(const char *path, const void *bytes, size_t length);
unsigned char *check_read_file(const char *path, size_t *length);
bool check_same_files(const char *path, const char *other);

/* Returns the number of open file descriptors, to detect leaks. */
int check_descriptors(void);

/* Returns whether the processes run on more than one node. Collective. */
bool check_several_nodes(void);

#ifdef __cplusplus
}
#endif

#endif
