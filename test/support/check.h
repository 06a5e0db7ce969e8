/* What the bodies of the MPI tests are made of. A body is a table of tests:
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
 * run-mpi starts it once for each process count; every test is then called for each
 * format and data mode that its flags ask for. All processes call every test. A check
 * that fails is noted and the test goes on, so that no process is left waiting by
 * another; the notes of all are gathered when the test ends. */
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
    CHECK_FORMATS = 1, /* call it for CDF-1, CDF-2 and CDF-5; else once, with CDF-5 */
    CHECK_MODES = 2,   /* ... and collective and independent; else once, collective */
    CHECK_SEVERAL = 4  /* skip it on one process: it is about processes that differ */
};

struct check_test {
    const char *name;
    void (*run)(void);
    unsigned flags;
};

/* The case at hand. */
struct check_case {
    int rank, nprocs;
    int format;      /* 1, 2 or 5 */
    int cmode;       /* the flag of that format for ncmpi_create */
    bool collective; /* use the collective data functions, else the independent ones */
};
extern struct check_case check;

/* The threads a body needs, to be set before check_main: MPI_THREAD_SINGLE if it is not.
 * MPI may offer less; the body asks. */
extern int check_thread_level;

/* Runs the table, which ends with a NULL name, on the process counts `procs` names
 * (NULL: "1 2 3 4"; 16 is for the tests that need it). The body's exit status. */
int check_main(int argc, char **argv, const struct check_test *tests, const char *procs);

/* A file's path in the case's own directory, which is empty at first and removed in
 * the end. One of a few static buffers. */
const char *check_path(const char *name);

/* Hints from "key=value;key=value", to be freed by the caller. */
MPI_Info check_info(const char *text);

/* Each notes a failure and returns whether it held. Arguments are evaluated once.
 * CHECK_NC compares NC_ codes and tells their names, CHECK_EQ integers. */
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

/* Says in the output why the case was not tried; call it on all processes. */
void check_skip(const char *reason);

/* Random numbers: check_random is the same on every process, if all call it equally
 * often; check_random_own differs. Every case starts from the seed that is printed;
 * NCMPI_TEST_SEED=N repeats it. Results are below `limit`, which is above 0. */
uint64_t check_random(uint64_t limit);
uint64_t check_random_own(uint64_t limit);

/* Where check_random is, and back there: the same numbers come again. */
uint64_t check_random_state(void);
void check_random_again(uint64_t random_state);

/* Whole files, on one process: writes one; reads one into memory the caller frees (NULL
 * and a failure noted if it cannot); are two of the same bytes (else where they differ
 * is noted). */
bool check_write_file(const char *path, const void *bytes, size_t length);
unsigned char *check_read_file(const char *path, size_t *length);
bool check_same_files(const char *path, const char *other);

/* How many descriptors this process has, for looking later whether it has more. */
int check_descriptors(void);

/* Do processes run on several nodes? Collective. */
bool check_several_nodes(void);

#ifdef __cplusplus
}
#endif

#endif
