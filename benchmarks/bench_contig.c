/* Workloads with hyperslabs: slabs, blocks, columns, interleaved runs, strides, ghost
 * cells, conversions. The argument in the table is a type or a length. */
#include <math.h>

#include "bench.h"

static MPI_Offset elements(struct bench *b, nc_type type)
{
    MPI_Offset n = b->options.bytes / bench_type_size(type);
    return n > 0 ? n : 1;
}

void bench_contig_1d(struct bench *b, struct bench_plan *p)
{
    nc_type type = (nc_type)b->row->arg;
    MPI_Offset n = elements(b, type), start = n * b->rank;
    int dim = bench_dim(p, n * b->nprocs);
    bench_piece_slab(p, bench_var(p, type, 1, &dim), &start, &n);
}

/* A cube that is divided along its slowest dimension only. */
void bench_contig_3d(struct bench *b, struct bench_plan *p)
{
    nc_type type = (nc_type)b->row->arg;
    MPI_Offset edge = (MPI_Offset)cbrt((double)(elements(b, type) * b->nprocs)) + 1;
    if (edge < b->nprocs) edge = b->nprocs;
    MPI_Offset start[3] = {0, 0, 0}, count[3] = {0, edge, edge};
    int dims[3] = {bench_dim(p, edge), bench_dim(p, edge), bench_dim(p, edge)};
    start[0] = bench_part(edge, b->nprocs, b->rank, &count[0]);
    bench_piece_slab(p, bench_var(p, type, 3, dims), start, count);
}

/* A cube divided along all three dimensions. */
void bench_block_3d(struct bench *b, struct bench_plan *p)
{
    int grid[3], place[3], dims[3];
    MPI_Offset start[3], count[3];
    MPI_Offset edge = (MPI_Offset)cbrt((double)(elements(b, NC_DOUBLE) * b->nprocs)) + 3;
    bench_grid(b, 3, grid, place);
    for (int i = 0; i < 3; i++) {
        dims[i] = bench_dim(p, edge);
        start[i] = bench_part(edge, grid[i], place[i], &count[i]);
    }
    bench_piece_slab(p, bench_var(p, NC_DOUBLE, 3, dims), start, count);
}

/* `arg` records of `arg` cubes of floats, divided along their fastest dimension, which
 * results in short runs in the file. Each plane contains data from every process. */
void bench_slices(struct bench *b, struct bench_plan *p)
{
    MPI_Offset many = b->row->arg, cells = elements(b, NC_FLOAT) / (many * many);
    MPI_Offset edge = lround(cbrt((double)(cells * b->nprocs)));
    if (edge < b->nprocs) edge = b->nprocs;
    MPI_Offset start[4] = {0, 0, 0, 0}, count[4] = {many, edge, edge, 0};
    int dims[4] = {bench_dim(p, NC_UNLIMITED), bench_dim(p, edge), bench_dim(p, edge),
                   bench_dim(p, edge)};
    start[3] = bench_part(edge, b->nprocs, b->rank, &count[3]);
    for (MPI_Offset i = 0; i < many; i++)
        bench_piece_slab(p, bench_var(p, NC_FLOAT, 4, dims), start, count);
}

void bench_ghost_3d(struct bench *b, struct bench_plan *p)
{
    bench_block_3d(b, p);
    p->pieces[0].ghost = (int)b->row->arg;
}

/* Blocks of columns of a matrix of floats with rows of `arg` elements. */
void bench_columns(struct bench *b, struct bench_plan *p)
{
    MPI_Offset width = b->row->arg;
    MPI_Offset rows = elements(b, NC_FLOAT) * b->nprocs / width + 1;
    MPI_Offset start[2] = {0, 0}, count[2] = {rows, 0};
    int dims[2] = {bench_dim(p, rows), bench_dim(p, width)};
    start[1] = bench_part(width, b->nprocs, b->rank, &count[1]);
    bench_piece_slab(p, bench_var(p, NC_FLOAT, 2, dims), start, count);
}

/* Runs of `arg` bytes, assigned to the processes round-robin. */
void bench_interleaved(struct bench *b, struct bench_plan *p)
{
    MPI_Offset n = b->row->arg / 4;
    MPI_Offset rows = bench_at_most(b, b->options.bytes / b->row->arg);
    if (rows < 1) rows = 1;
    MPI_Offset start[2] = {0, n * b->rank}, count[2] = {rows, n};
    int dims[2] = {bench_dim(p, rows), bench_dim(p, n * b->nprocs)};
    bench_piece_slab(p, bench_var(p, NC_INT, 2, dims), start, count);
}

/* Every nprocs-th element of a vector of doubles. */
void bench_strided(struct bench *b, struct bench_plan *p)
{
    MPI_Offset n = bench_at_most(b, elements(b, NC_DOUBLE)), start = b->rank;
    int dim = bench_dim(p, n * b->nprocs);
    bench_piece_slab(p, bench_var(p, NC_DOUBLE, 1, &dim), &start, &n);
    p->pieces[0].stride[0] = b->nprocs;
}

/* Doubles in memory, which are converted to type `arg` in the file. */
void bench_convert(struct bench *b, struct bench_plan *p)
{
    bench_contig_1d(b, p);
    p->vars[0].mem = NC_DOUBLE;
}
