/* Datasets whose closes are deferred, in which it is known what there has to be. */
#ifndef BURST_PLAN_H
#define BURST_PLAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { N = 40, RECORDS = 3 };

/* How to make one. */
struct plan {
    MPI_Comm comm;
    const char *name, *hints; /* a path, or a name in the directory of the test */
    int seed;
};

/* check_path has few buffers, and threads come here. */
struct path {
    char text[4096];
};
struct path path_of(const char *name);

/* These, and a log, unless they say something of it, in the directory of the test; to be
 * freed by the caller. */
MPI_Info hints_of(const char *hints);
extern const char deferred[]; /* the hint */

/* Two variables, of N values a process: fixed, and RECORDS records. What ncmpi_create
 * says. */
int plan_create(const struct plan *p, int *ncid);
void plan_put(const struct plan *p, int ncid);
/* Made, filled and closed: what create or close say. */
int plan_make(const struct plan *p);

/* Where values begin in what plan_create makes. All processes call it. */
int64_t plan_first_byte(void);
int plan_value(int seed, int var, int record, int64_t x);
int64_t plan_big_endian(const unsigned char *b, int n);
/* Is all of it in the file, as a program would find it that knows nothing of the library?
 * That is checked of the second, by all processes. */
bool plan_is_complete(const char *path, int seed, int nprocs, int64_t begin);
void plan_is_there(const char *name, int seed, int nprocs);
/* Files of logs of this name; those of others do not matter. */
int plan_count_logs(const char *name);
void plan_logs_are(const char *name, bool there);
/* Its values are what the library reads. */
void plan_read_back(const struct plan *p);

#endif
