/* Defines the workloads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

/* Adds a variable. */
static struct scale_var *add(struct scale_plan *plan, const char *name, nc_type type,
                             int copies, int ndims)
{
    plan->vars = realloc(plan->vars, (size_t)(plan->nvars + 1) * sizeof *plan->vars);
    if (plan->vars == NULL) scale_need(NC_ENOMEM, name);
    struct scale_var *v = &plan->vars[plan->nvars++];
    *v = (struct scale_var){.name = name, .type = type, .copies = copies, .ndims = ndims};
    return v;
}

/* Sets a variable's part to a single box. */
static void box(struct scale_var *v, const MPI_Offset *start, const MPI_Offset *count)
{
    struct scale_part *p = &v->part;
    scale_part_new(p, v->ndims, 1);
    p->nelems = 1;
    for (int d = 0; d < v->ndims; d++) {
        p->starts[0][d] = start[d];
        p->counts[0][d] = count[d];
        p->nelems *= count[d];
    }
}

static void contiguous(const struct scale *s, struct scale_plan *plan)
{
    struct scale_var *v = add(plan, "v", NC_INT, 1, 1);
    MPI_Offset n = s->bytes / 4;
    v->shape[0] = n * s->nprocs;
    box(v, (MPI_Offset[]){n * s->rank}, &n);
}

/* Factors the number of processes into nearly equal side lengths. */
static void grid(int nprocs, int ndims, int *sides)
{
    for (int d = 0; d < ndims; d++) {
        int side = (int)(pow(nprocs, 1.0 / (ndims - d)) + 1e-9);
        while (nprocs % side != 0)
            side--;
        sides[d] = side;
        nprocs /= side;
    }
}

static void blocks(const struct scale *s, struct scale_plan *plan)
{
    int sides[3], at[3], rest = s->rank;
    MPI_Offset start[3], count[3];
    struct scale_var *v = add(plan, "v", NC_INT, 1, 3);
    grid(s->nprocs, 3, sides);
    for (int d = 2; d >= 0; d--) {
        at[d] = rest % sides[d];
        rest /= sides[d];
    }
    for (int d = 0; d < 3; d++) {
        count[d] = (MPI_Offset)(cbrt((double)s->bytes / 4) + 0.5);
        start[d] = at[d] * count[d];
        v->shape[d] = sides[d] * count[d];
    }
    box(v, start, count);
}

/* A four-dimensional lattice that is divided in all dimensions, as in lattice QCD. Each
 * site has 24 doubles, which are contiguous in the last dimension. */
static void lattice(const struct scale *s, struct scale_plan *plan)
{
    enum { SITE = 24 };
    int sides[4], at[4], rest = s->rank;
    MPI_Offset start[4], count[4];
    struct scale_var *v = add(plan, "v", NC_DOUBLE, 1, 4);
    grid(s->nprocs, 4, sides);
    for (int d = 3; d >= 0; d--) {
        at[d] = rest % sides[d];
        rest /= sides[d];
    }
    for (int d = 0; d < 4; d++) {
        count[d] = (MPI_Offset)(pow((double)s->bytes / 8 / SITE, 0.25) + 0.5);
        if (d == 3) count[d] *= SITE;
        start[d] = at[d] * count[d];
        v->shape[d] = sides[d] * count[d];
    }
    box(v, start, count);
}

/* Rows in which each process owns `run` bytes. */
static void interleave(const struct scale *s, struct scale_plan *plan, MPI_Offset run)
{
    struct scale_var *v = add(plan, "v", NC_INT, 1, 2);
    MPI_Offset width = run / 4, rows = s->bytes / run;
    if (rows == 0) rows = 1;
    v->shape[0] = rows;
    v->shape[1] = width * s->nprocs;
    box(v, (MPI_Offset[]){0, width * s->rank}, (MPI_Offset[]){rows, width});
}

/* A matrix of 1,024 rows in which each process owns a block of columns. */
static void columns(const struct scale *s, struct scale_plan *plan)
{
    interleave(s, plan, s->bytes / 1024 < 4 ? 4 : s->bytes / 1024);
}

static void runs64k(const struct scale *s, struct scale_plan *plan)
{
    interleave(s, plan, 65536);
}

static void runs512(const struct scale *s, struct scale_plan *plan)
{
    interleave(s, plan, 512);
}

static void runs16(const struct scale *s, struct scale_plan *plan)
{
    interleave(s, plan, 16);
}

/* Returns which of the nprocs segments in a group belongs to this process. Each group
 * assigns its segments to the processes in a different order. */
static MPI_Offset dealt(const struct scale *s, int64_t group)
{
    return (MPI_Offset)(((uint64_t)s->rank + mix((uint64_t)group + 1)) %
                        (uint64_t)s->nprocs);
}

/* Segments of 36 bytes, assigned to the processes in an irregular order. */
static void varn(const struct scale *s, struct scale_plan *plan)
{
    enum { LENGTH = 9 };
    struct scale_var *v = add(plan, "v", NC_INT, 1, 1);
    int64_t n = s->bytes / (4 * LENGTH);
    v->shape[0] = n * s->nprocs * LENGTH;
    scale_part_new(&v->part, 1, n);
    for (int64_t i = 0; i < n; i++) {
        v->part.starts[i][0] = (i * s->nprocs + dealt(s, i)) * LENGTH;
        v->part.counts[i][0] = LENGTH;
    }
    v->part.nelems = n * LENGTH;
}

static void records(const struct scale *s, struct scale_plan *plan)
{
    enum { VARS = 50 };
    struct scale_var *v = add(plan, "v", NC_INT, VARS, 2);
    MPI_Offset n = s->bytes / 4 / VARS;
    v->shape[0] = NC_UNLIMITED;
    v->shape[1] = n * s->nprocs;
    box(v, (MPI_Offset[]){0, n * s->rank}, (MPI_Offset[]){1, n});
    plan->nonblocking = true;
}

static void records_singly(const struct scale *s, struct scale_plan *plan)
{
    records(s, plan);
    plan->nonblocking = false;
}

/* Records of an odd size. The last 448 bytes of each variable are never put, as is common
 * for land or halo points. */
static void holes(const struct scale *s, struct scale_plan *plan)
{
    enum { HOLE = 448 / 4 };
    records(s, plan);
    struct scale_var *v = &plan->vars[0];
    MPI_Offset n = v->part.nelems | 1;
    v->shape[1] = n * s->nprocs + HOLE;
    box(v, (MPI_Offset[]){0, n * s->rank}, (MPI_Offset[]){1, n});
}

/* Sets a process's part in an irregular decomposition: `columns` columns, assigned in
 * groups. Each column has `levels` values, which are contiguous or stored layer by
 * layer. */
static void decompose(const struct scale *s, struct scale_var *v, int64_t columns,
                      int64_t levels, bool layered)
{
    MPI_Offset all = columns * s->nprocs;
    int d = v->ndims - (levels > 1 ? 2 : 1); /* the record dimension comes first */
    int64_t layers = layered ? levels : 1, n = 0;
    v->shape[d] = layered && levels > 1 ? levels : all;
    if (levels > 1) v->shape[d + 1] = layered ? all : levels;
    scale_part_new(&v->part, v->ndims, columns * layers);
    for (int64_t layer = 0; layer < layers; layer++) {
        for (int64_t c = 0; c < columns; c++, n++) {
            MPI_Offset *start = v->part.starts[n], *count = v->part.counts[n];
            MPI_Offset column = c * s->nprocs + dealt(s, c);
            for (int i = 0; i < v->ndims; i++)
                start[i] = 0, count[i] = 1;
            start[v->ndims - 1] = column;
            if (layered && levels > 1) start[d] = layer;
            if (!layered && levels > 1)
                start[d] = column, start[d + 1] = 0, count[d + 1] = levels;
        }
    }
    v->part.nelems = columns * levels;
    v->shape[0] = NC_UNLIMITED;
}

/* Returns how many of n equal variables fit into the requested size, given that all n
 * variables together have `whole` bytes. */
static int scaled(const struct scale *s, int n, int64_t whole)
{
    int64_t some = (int64_t)n * s->bytes / whole;
    if (some < 1) return 1;
    return some < n ? (int)some : n;
}

/* The atmosphere of an Earth system model (case F). A step of its history contains 63
 * fields with 72 layers and 321 fields with one layer. Each of 16 processes has 54
 * scattered columns out of a total of 866. */
static void atmosphere(const struct scale *s, struct scale_plan *plan)
{
    enum { COLUMNS = 54, LAYERS = 72, WHOLE = 4 * COLUMNS * (63 * LAYERS + 321) };
    struct scale_var *v = add(plan, "deep", NC_INT, scaled(s, 63, WHOLE), 3);
    decompose(s, v, COLUMNS, LAYERS, true);
    v = add(plan, "flat", NC_INT, scaled(s, 321, WHOLE), 2);
    decompose(s, v, COLUMNS, 1, true);
    plan->nonblocking = true;
}

/* The ocean of the same model (case G): cells, edges and vertices with 100 contiguous
 * levels. */
static void ocean(const struct scale *s, struct scale_plan *plan)
{
    enum { CELLS = 18, EDGES = 55, VERTICES = 37, LEVELS = 100 };
    enum { WHOLE = 8 * (4 * CELLS + LEVELS * (28 * CELLS + EDGES + VERTICES)) };
    struct scale_var *v = add(plan, "flat", NC_DOUBLE, scaled(s, 4, WHOLE), 2);
    decompose(s, v, CELLS, 1, false);
    v = add(plan, "cells", NC_DOUBLE, scaled(s, 24, WHOLE), 3);
    decompose(s, v, CELLS, LEVELS, false);
    v = add(plan, "between", NC_DOUBLE, scaled(s, 4, WHOLE), 3);
    decompose(s, v, CELLS, LEVELS + 1, false);
    v = add(plan, "edges", NC_DOUBLE, 1, 3);
    decompose(s, v, EDGES, LEVELS, false);
    v = add(plan, "vertices", NC_DOUBLE, 1, 3);
    decompose(s, v, VERTICES, LEVELS, false);
    plan->nonblocking = true;
}

/* Writes only a header, no values. */
static void header(const struct scale *s, struct scale_plan *plan)
{
    (void)s;
    (void)plan;
}

const struct scale_workload scale_workloads[] = {
    {"contiguous", contiguous}, {"blocks", blocks},   {"columns", columns},
    {"lattice", lattice},       {"runs64k", runs64k}, {"runs512", runs512},
    {"runs16", runs16},         {"varn", varn},       {"atmosphere", atmosphere},
    {"ocean", ocean},           {"records", records}, {"records_singly", records_singly},
    {"holes", holes},           {"header", header},   {NULL, NULL},
};
