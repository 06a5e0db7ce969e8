/* Workloads on a simulated machine. A workload defines variables and the part of each
 * variable that each process puts and gets. scale_main.c runs, times and verifies the
 * workload. */
#ifndef SCALE_H
#define SCALE_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdint.h>

enum { SCALE_MAX_DIMS = 4 };

struct scale {
    int rank, nprocs;
    int64_t bytes; /* approximate number of bytes that each process puts */
};

/* A process's part of a variable: the starts and counts of nsegs boxes with ndims
 * dimensions. */
struct scale_part {
    int ndims;
    int64_t nsegs, nelems;
    MPI_Offset **starts, **counts;
};

/* A variable, or a group of `copies` identical ones. */
struct scale_var {
    const char *name;
    nc_type type; /* NC_INT or NC_DOUBLE */
    int copies, ndims;
    MPI_Offset shape[SCALE_MAX_DIMS]; /* the first one is NC_UNLIMITED for a record
                                       * variable */
    struct scale_part part;
};

struct scale_plan {
    int nvars;
    struct scale_var *vars;
    bool nonblocking; /* use iput and wait_all; otherwise one collective call per
                       * variable */
};

struct scale_workload {
    const char *name;
    void (*plan)(const struct scale *s, struct scale_plan *plan);
};
extern const struct scale_workload scale_workloads[];

/* Terminates the program with a message if err is an error code. */
void scale_need(int err, const char *what);
void *scale_alloc(int64_t n, size_t size);

/* Transfers the plan's values between `buf` and a file without the library: see
 * scale_ways.c. Collective. */
void scale_move_by(const char *way, const struct scale *s, const char *path,
                   const struct scale_plan *plan, char *buf, bool put);

/* Allocates n boxes with ndims dimensions. */
void scale_part_new(struct scale_part *p, int ndims, int64_t n);
void scale_part_free(struct scale_part *p);

#endif
