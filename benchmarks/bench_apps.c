/* Workloads that imitate the output of two well-known programs, based on their published
 * descriptions. */
#include <math.h>

#include "bench.h"

/* FLASH: adaptive blocks of 16 x 16 x 16 cells, 24 unknowns, and four ghost cells around
 * each block in memory. The blocks of a process are contiguous in the file. */
enum { UNKNOWNS = 24, CELLS = 16, GHOSTS = 4 };

static void tree_arrays(struct bench_plan *p, MPI_Offset start, MPI_Offset count,
                        int blocks)
{
    static const struct {
        nc_type type;
        int ndims, inner[2];
    } arrays[] = {
        {NC_INT, 1, {0, 0}},    {NC_INT, 1, {0, 0}},    {NC_INT, 2, {15, 0}},
        {NC_DOUBLE, 2, {3, 0}}, {NC_DOUBLE, 2, {3, 0}}, {NC_DOUBLE, 3, {3, 2}},
    };
    for (int i = 0; i < (int)(sizeof arrays / sizeof arrays[0]); i++) {
        int dims[3] = {blocks};
        MPI_Offset starts[3] = {start, 0, 0}, counts[3] = {count};
        for (int k = 1; k < arrays[i].ndims; k++) {
            dims[k] = bench_dim(p, arrays[i].inner[k - 1]);
            counts[k] = arrays[i].inner[k - 1];
        }
        bench_piece_slab(p, bench_var(p, arrays[i].type, arrays[i].ndims, dims), starts,
                         counts);
    }
}

void bench_flash(struct bench *b, struct bench_plan *p)
{
    MPI_Offset count =
        b->options.bytes / ((MPI_Offset)UNKNOWNS * CELLS * CELLS * CELLS * 8) + 1;
    MPI_Offset start[4] = {count * b->rank, 0, 0, 0};
    MPI_Offset counts[4] = {count, CELLS, CELLS, CELLS};
    int dims[4] = {bench_dim(p, count * b->nprocs), bench_dim(p, CELLS),
                   bench_dim(p, CELLS), bench_dim(p, CELLS)};
    tree_arrays(p, start[0], count, dims[0]);
    for (int i = 0; i < bench_at_most(b, UNKNOWNS); i++) {
        bench_piece_slab(p, bench_var(p, NC_DOUBLE, 4, dims), start, counts);
        p->pieces[p->npieces - 1].ghost = GHOSTS;
    }
    p->call = (enum bench_call)b->row->arg;
}

/* WRF: the processes form a two-dimensional grid. Each owns all vertical columns of its
 * patch. Velocities are on staggered grids, which are one cell wider. */
struct family {
    int count;
    int levels, wide_y, wide_x; /* levels is 0 for a two-dimensional field */
};

static const struct family families[] = {
    {55, 0, 0, 0}, {3, 0, 0, 1},  {3, 0, 1, 0},  {15, 35, 0, 0},
    {1, 35, 0, 1}, {1, 35, 1, 0}, {4, 36, 0, 0}, {4, 4, 0, 0},
};

static void put_family(struct bench *b, struct bench_plan *p, const struct family *f,
                       const int grid[], const int place[], MPI_Offset edge)
{
    MPI_Offset start[4] = {0}, count[4] = {1};
    int dims[4] = {0}, n = 1;
    if (f->levels > 0) {
        count[n] = f->levels;
        dims[n++] = bench_dim(p, f->levels);
    }
    MPI_Offset shape[2] = {edge + f->wide_y, edge + f->wide_x};
    for (int i = 0; i < 2; i++, n++) {
        dims[n] = bench_dim(p, shape[i]);
        start[n] = bench_part(shape[i], grid[i], place[i], &count[n]);
    }
    for (int i = 0; i < bench_at_most(b, f->count); i++)
        bench_piece_slab(p, bench_var(p, NC_FLOAT, n, dims), start, count);
}

void bench_wrf(struct bench *b, struct bench_plan *p)
{
    const int nfamilies = (int)(sizeof families / sizeof families[0]);
    int grid[2], place[2], layers = 0;
    bench_grid(b, 2, grid, place);
    for (int i = 0; i < nfamilies; i++)
        layers += families[i].count * (families[i].levels > 0 ? families[i].levels : 1);
    double cells = (double)b->options.bytes * b->nprocs / 4 / layers;
    bench_dim(p, NC_UNLIMITED);
    for (int i = 0; i < nfamilies; i++)
        put_family(b, p, &families[i], grid, place, (MPI_Offset)sqrt(cells) + b->nprocs);
    p->call = (enum bench_call)b->row->arg;
}
