/* Workloads on a simulated machine. Each defines variables and says what every process
 * puts into them and gets back; scale_main.c runs, times and verifies it. */
#ifndef SCALE_H
#define SCALE_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdint.h>

enum { SCALE_MAX_DIMS = 4 };

struct scale {
    int rank, nprocs;
    int64_t bytes; /* that each process puts, about */
};

/* What a process puts into a variable: nsegs boxes of ndims each, start and count. */
struct scale_part {
    int ndims;
    int64_t nsegs, nelems;
    MPI_Offset **starts, **counts;
};

/* A variable, or `copies` of them, alike. */
struct scale_var {
    const char *name;
    nc_type type; /* NC_INT or NC_DOUBLE */
    int copies, ndims;
    MPI_Offset shape[SCALE_MAX_DIMS]; /* NC_UNLIMITED first: a record variable */
    struct scale_part part;
};

struct scale_plan {
    int nvars;
    struct scale_var *vars;
    bool nonblocking; /* iput and wait_all; else one call for each variable */
};

struct scale_workload {
    const char *name;
    void (*plan)(const struct scale *s, struct scale_plan *plan);
};
extern const struct scale_workload scale_workloads[];

/* Ends the program with what is wrong. */
void scale_need(int err, const char *what);
void *scale_alloc(int64_t n, size_t size);

/* The values of the plan in `buf` to a file, or from it, by another way than the
 * library's: see scale_ways.c. Collective. */
void scale_move_by(const char *way, const struct scale *s, const char *path,
                   const struct scale_plan *plan, char *buf, bool put);

/* Room for n boxes of ndims. */
void scale_part_new(struct scale_part *p, int ndims, int64_t n);
void scale_part_free(struct scale_part *p);

#endif
