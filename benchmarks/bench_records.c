/* Workloads with record variables, and workloads that make many small calls. */
#include "bench.h"

enum { HISTORY_VARS = 100, HISTORY_RECORDS = 2 };

static MPI_Offset at_least(MPI_Offset n, MPI_Offset least)
{
    return n > least ? n : least;
}

/* Adds one piece: a band of rows in one record of a variable (time, y, x). */
static void band(struct bench *b, struct bench_plan *p, int var, MPI_Offset record)
{
    const MPI_Offset *shape = p->vars[var].shape;
    MPI_Offset start[3] = {record, 0, 0}, count[3] = {1, 0, shape[2]};
    start[1] = bench_part(shape[1], b->nprocs, b->rank, &count[1]);
    bench_piece_slab(p, var, start, count);
}

/* Writes a model's history, with a few steps and many variables per step. `arg` selects
 * the kind of call. */
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
    p->call = (enum bench_call)b->row->arg;
    p->every = nvars;
}

/* Appends `arg` records, one per call. */
void bench_append(struct bench *b, struct bench_plan *p)
{
    MPI_Offset records = bench_at_most(b, b->row->arg);
    MPI_Offset n = at_least(b->options.bytes / 8 / records, 1);
    MPI_Offset x = 64, y = at_least(n / x, 1) * b->nprocs;
    int dims[3] = {bench_dim(p, NC_UNLIMITED), bench_dim(p, y), bench_dim(p, x)};
    int var = bench_var(p, NC_DOUBLE, 3, dims);
    for (MPI_Offset record = 0; record < records; record++)
        band(b, p, var, record);
}

/* Makes many calls of `arg` elements each. The calls are independent if `arg` is 1. */
void bench_small(struct bench *b, struct bench_plan *p)
{
    bool single = b->row->arg == 1;
    MPI_Offset n = b->row->arg, calls = bench_at_most(b, single ? 20000 : 1000);
    int dim = bench_dim(p, n * calls * b->nprocs);
    int var = bench_var(p, NC_DOUBLE, 1, &dim);
    for (MPI_Offset i = 0; i < calls; i++) {
        MPI_Offset start = (i * b->nprocs + b->rank) * n;
        bench_piece_slab(p, var, &start, &n);
    }
    p->call = single ? BENCH_INDEPENDENT : BENCH_BLOCKING;
}

/* Variables of several types. Three quarters of the bytes are in fixed-size variables.
 * The file (-o) is also used to measure the tools: see `tools`. */
void bench_mixed(struct bench *b, struct bench_plan *p)
{
    static const struct {
        nc_type type;
        int percent; /* percentage of all bytes */
        bool record;
    } vars[] = {{NC_DOUBLE, 50, false},
                {NC_FLOAT, 25, false},
                {NC_INT, 17, true},
                {NC_SHORT, 8, true}};
    int x = bench_dim(p, 1024), time = bench_dim(p, NC_UNLIMITED);
    for (int i = 0; i < 4; i++) {
        MPI_Offset each = b->options.bytes * vars[i].percent / 100 / 1024;
        MPI_Offset rows = at_least(each / bench_type_size(vars[i].type), 1);
        MPI_Offset start[2] = {rows * b->rank, 0}, count[2] = {rows, 1024};
        int dims[2] = {vars[i].record ? time : bench_dim(p, rows * b->nprocs), x};
        bench_piece_slab(p, bench_var(p, vars[i].type, 2, dims), start, count);
    }
}
