/* Record variables, and many small calls. */
#include "bench.h"

enum { HISTORY_VARS = 100, HISTORY_RECORDS = 2 };

static MPI_Offset at_least(MPI_Offset n, MPI_Offset least)
{
    return n > least ? n : least;
}

/* One step's piece of a variable (time, y, x): a band of rows. */
static void band(struct bench *b, struct bench_plan *p, int var, MPI_Offset record)
{
    const MPI_Offset *shape = p->vars[var].shape;
    MPI_Offset start[3] = {record, 0, 0}, count[3] = {1, 0, shape[2]};
    start[1] = bench_part(shape[1], b->nprocs, b->rank, &count[1]);
    bench_piece_slab(p, var, start, count);
}

/* A model's history: many variables a step, a few steps. `arg` says which calls. */
void bench_history(struct bench *b, struct bench_plan *p)
{
    int nvars = (int)bench_at_most(b, HISTORY_VARS);
    MPI_Offset field = b->options.bytes * b->nprocs / 4 / nvars / HISTORY_RECORDS;
    MPI_Offset x = 360, y = at_least(field / x, b->nprocs);
    int dims[3] = {bench_dim(p, NC_UNLIMITED), bench_dim(p, y), bench_dim(p, x)};
    for (int i = 0; i < nvars; i++)
        bench_var(p, NC_FLOAT, 3, dims);
    for (MPI_Offset record = 0; record < HISTORY_RECORDS; record++)
        for (int i = 0; i < nvars; i++)
            band(b, p, i, record);
    p->way = (enum bench_way)b->work->arg;
    p->every = nvars;
}

/* `arg` records, one call each. */
void bench_append(struct bench *b, struct bench_plan *p)
{
    MPI_Offset records = bench_at_most(b, b->work->arg);
    MPI_Offset n = at_least(b->options.bytes / 8 / records, 1);
    MPI_Offset x = 64, y = at_least(n / x, 1) * b->nprocs;
    int dims[3] = {bench_dim(p, NC_UNLIMITED), bench_dim(p, y), bench_dim(p, x)};
    int var = bench_var(p, NC_DOUBLE, 3, dims);
    for (MPI_Offset record = 0; record < records; record++)
        band(b, p, var, record);
}

/* Many calls of `arg` elements each, independent where that is one. */
void bench_small(struct bench *b, struct bench_plan *p)
{
    bool single = b->work->arg == 1;
    MPI_Offset n = b->work->arg, calls = bench_at_most(b, single ? 20000 : 1000);
    int dim = bench_dim(p, n * calls * b->nprocs);
    int var = bench_var(p, NC_DOUBLE, 1, &dim);
    for (MPI_Offset i = 0; i < calls; i++) {
        MPI_Offset start = (i * b->nprocs + b->rank) * n;
        bench_piece_slab(p, var, &start, &n);
    }
    p->way = single ? BENCH_INDEPENDENT : BENCH_BLOCKING;
}
