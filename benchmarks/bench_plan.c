/* Builds plans: variables, and the pieces of them that this process reads and writes. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

int bench_dim(struct bench_plan *p, MPI_Offset length)
{
    p->dims = bench_grow(p->dims, p->ndims, sizeof *p->dims);
    p->dims[p->ndims] = length;
    return p->ndims++;
}

int bench_var(struct bench_plan *p, nc_type type, int ndims, const int dims[])
{
    p->vars = bench_grow(p->vars, p->nvars, sizeof *p->vars);
    struct bench_var *v = &p->vars[p->nvars];
    *v = (struct bench_var){.type = type, .mem = type, .ndims = ndims};
    for (int i = 0; i < ndims; i++) {
        v->dims[i] = dims[i];
        v->shape[i] = p->dims[dims[i]];
    }
    v->record = ndims > 0 && v->shape[0] == NC_UNLIMITED;
    return p->nvars++;
}

struct bench_piece *bench_piece(struct bench_plan *p, int var, int64_t nsegs)
{
    p->pieces = bench_grow(p->pieces, p->npieces, sizeof *p->pieces);
    struct bench_piece *piece = &p->pieces[p->npieces++];
    int64_t bytes = nsegs * p->vars[var].ndims * (int64_t)sizeof(MPI_Offset);
    *piece = (struct bench_piece){.var = var, .nsegs = nsegs};
    piece->start = bench_alloc(bytes);
    piece->count = bench_alloc(bytes);
    return piece;
}

void bench_piece_slab(struct bench_plan *p, int var, const MPI_Offset start[],
                      const MPI_Offset count[])
{
    struct bench_piece *piece = bench_piece(p, var, 1);
    for (int i = 0; i < p->vars[var].ndims; i++) {
        piece->start[i] = start[i];
        piece->count[i] = count[i];
    }
}

static int64_t product(const MPI_Offset *count, int n)
{
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= count[i];
    return all;
}

/* Describes a buffer with ghost cells, whose last three dimensions are wider than the
 * data. Returns its number of elements. */
static int64_t ghost_type(const struct bench_var *v, struct bench_piece *piece)
{
    int wide[BENCH_DIMS], inner[BENCH_DIMS], from[BENCH_DIMS];
    int64_t all = 1;
    for (int i = 0; i < v->ndims; i++) {
        int g = i >= v->ndims - 3 ? piece->ghost : 0;
        inner[i] = (int)piece->count[i];
        wide[i] = inner[i] + 2 * g;
        from[i] = g;
        all *= wide[i];
    }
    bench_need_mpi(MPI_Type_create_subarray(v->ndims, wide, inner, from, MPI_ORDER_C,
                                            bench_type_mpi(v->mem), &piece->type),
                   "MPI_Type_create_subarray");
    bench_need_mpi(MPI_Type_commit(&piece->type), "MPI_Type_commit");
    piece->nbuf = 1;
    return all;
}

static void list_segments(const struct bench_var *v, struct bench_piece *piece)
{
    int64_t bytes = piece->nsegs * (int64_t)sizeof(MPI_Offset *);
    piece->starts = bench_alloc(bytes);
    piece->counts = bench_alloc(bytes);
    for (int64_t i = 0; i < piece->nsegs; i++) {
        piece->starts[i] = piece->start + i * v->ndims;
        piece->counts[i] = piece->count + i * v->ndims;
    }
}

/* Returns the size in bytes of a piece's buffer. The buffer is large enough for its
 * values in memory and in the file's type, which the raw ways write. */
static int64_t finish_piece(struct bench_plan *p, struct bench_piece *piece)
{
    const struct bench_var *v = &p->vars[piece->var];
    for (int64_t i = 0; i < piece->nsegs; i++)
        piece->nelems += product(piece->count + i * v->ndims, v->ndims);
    piece->nbuf = piece->nelems;
    piece->type = bench_type_mpi(v->mem);
    if (piece->varn) list_segments(v, piece);
    int64_t cells = piece->ghost > 0 ? ghost_type(v, piece) : piece->nelems;
    p->file_bytes += piece->nelems * bench_type_size(v->type);
    int mem = bench_type_size(v->mem), file = bench_type_size(v->type);
    return (cells * (mem > file ? mem : file) + 7) / 8 * 8;
}

static void count_run(const struct bench_plan *p, const struct bench_run *run, void *arg)
{
    (void)p, (void)run;
    ++*(int64_t *)arg;
}

void bench_plan_finish(struct bench *b, struct bench_plan *p)
{
    int64_t *at = bench_alloc(p->npieces * (int64_t)sizeof *at);
    for (int64_t i = 0; i < p->npieces; i++) {
        at[i] = p->memory_bytes;
        p->memory_bytes += finish_piece(p, &p->pieces[i]);
    }
    p->memory = bench_alloc(p->memory_bytes);
    memset(p->memory, 0, (size_t)p->memory_bytes);
    for (int64_t i = 0; i < p->npieces; i++)
        p->pieces[i].buf = p->memory + at[i];
    free(at);
    bench_runs(p, count_run, &p->nruns);
    bench_need_mpi(
        MPI_Exscan(&p->file_bytes, &p->contig_at, 1, MPI_INT64_T, MPI_SUM, b->comm),
        "MPI_Exscan");
    if (b->rank == 0) p->contig_at = 0;
}

void bench_plan_free(struct bench_plan *p)
{
    for (int64_t i = 0; i < p->npieces; i++) {
        struct bench_piece *piece = &p->pieces[i];
        free(piece->start);
        free(piece->count);
        free(piece->starts);
        free(piece->counts);
        if (piece->ghost > 0) MPI_Type_free(&piece->type);
    }
    free(p->pieces);
    free(p->vars);
    free(p->dims);
    free(p->memory);
}

MPI_Offset bench_part(MPI_Offset n, int nparts, int part, MPI_Offset *count)
{
    MPI_Offset from = n * part / nparts;
    *count = n * (part + 1) / nparts - from;
    return from;
}

void bench_grid(struct bench *b, int ndims, int grid[], int place[])
{
    for (int i = 0; i < ndims; i++)
        grid[i] = 0;
    bench_need_mpi(MPI_Dims_create(b->nprocs, ndims, grid), "MPI_Dims_create");
    int rest = b->rank;
    for (int i = ndims - 1; i >= 0; i--) {
        place[i] = rest % grid[i];
        rest /= grid[i];
    }
}

/* The final steps of splitmix64, which map neighbouring inputs to unrelated values. */
uint64_t bench_hash(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
