/* Makes and checks datasets whose closes are deferred and whose contents are known. */
#ifndef BURST_PLAN_H
#define BURST_PLAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { N = 40, RECORDS = 3 };

/* Parameters that determine a dataset and its values. */
struct plan {
    MPI_Comm comm;
    const char *name, *hints; /* path, or name in the test's directory; hints */
    int seed;
};

/* A path in its own buffer. Threads cannot use check_path, which has only a few static
 * buffers. */
struct path {
    char text[4096];
};
struct path path_of(const char *name);

/* Returns an info object with the hints in a string, and a hint that places logs in the
 * test's directory. Enables the burst buffer unless the string sets that hint. The caller
 * frees the result. */
MPI_Info hints_of(const char *hints);
extern const char deferred[]; /* hint that defers closes */

/* Creates a dataset with two variables of N values per process: a fixed-size one, and one
 * with RECORDS records. Returns the result of ncmpi_create. */
int plan_create(const struct plan *p, int *ncid);
void plan_put(const struct plan *p, int ncid);
/* Creates, fills and closes a dataset. Returns the first error. */
int plan_make(const struct plan *p);

/* Returns the offset of the first value in a dataset that plan_create makes.
 * Collective. */
int64_t plan_first_byte(void);
int plan_value(int seed, int var, int record, int64_t x);
int64_t plan_big_endian(const unsigned char *b, int n);
/* plan_is_complete returns whether the file is complete for programs that do not use this
 * library. plan_is_there checks on all processes that the file is complete. */
bool plan_is_complete(const char *path, int seed, int nprocs, int64_t begin);
void plan_is_there(const char *name, int seed, int nprocs);
/* Counts the log files of the dataset with this name. */
int plan_count_logs(const char *name);
void plan_logs_are(const char *name, bool there);
/* Checks that the library reads the plan's values from the dataset. */
void plan_read_back(const struct plan *p);

#endif
