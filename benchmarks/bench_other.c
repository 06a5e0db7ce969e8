/* Plans reads in which each process gets values that other processes have put: slabs
 * along the slowest dimension of each variable, or columns if the original plan already
 * uses slabs. */
#include <stdlib.h>

#include "bench.h"

/* Properties of a variable's pieces, combined over all processes. */
struct told {
    int64_t nelems, records;
    int64_t slabs; /* number of pieces that are not slabs */
};

static bool is_slab(const struct bench_var *v, const struct bench_piece *piece)
{
    for (int i = (v->record ? 1 : 0) + 1; i < v->ndims; i++)
        if (piece->count[i] != v->shape[i]) return false;
    return piece->nsegs == 1 && piece->stride[0] == 0;
}

static void note_piece(const struct bench_var *v, const struct bench_piece *piece,
                       struct told *t)
{
    t->nelems += piece->nelems;
    t->slabs += !is_slab(v, piece);
    for (int64_t i = 0; v->record && i < piece->nsegs; i++) {
        const int64_t end = piece->start[i * v->ndims] + piece->count[i * v->ndims];
        if (end > t->records) t->records = end;
    }
}

/* Adds this process's part of a variable, with all records. Parts are assigned in reverse
 * order: the last process gets the first part. */
static void add_part(struct bench *b, struct bench_plan *q, int var, const struct told *t)
{
    const struct bench_var *v = &q->vars[var];
    MPI_Offset start[BENCH_DIMS] = {0}, count[BENCH_DIMS] = {0};
    int first = v->record ? 1 : 0, part = b->nprocs - 1 - b->rank;
    int cut = t->slabs == 0 || first == v->ndims ? v->ndims - 1 : first;
    int64_t all = v->record ? t->records : 1;
    for (int i = 0; i < v->ndims; i++)
        count[i] = v->record && i == 0 ? t->records : v->shape[i];
    for (int i = first; i < v->ndims; i++)
        all *= v->shape[i];
    if (t->nelems != all) return; /* values in gaps would be undefined */
    if (v->ndims > 0) start[cut] = bench_part(count[cut], b->nprocs, part, &count[cut]);
    bench_piece_slab(q, var, start, count);
}

static void add_up_all(struct bench *b, struct told *t)
{
    int64_t most = t->records;
    bench_need_mpi(MPI_Allreduce(&most, &t->records, 1, MPI_INT64_T, MPI_MAX, b->comm),
                   "MPI_Allreduce");
    t->nelems = bench_sum(b, t->nelems);
    t->slabs = bench_sum(b, t->slabs);
}

void bench_plan_other(struct bench *b, const struct bench_plan *p, struct bench_plan *q)
{
    struct told *told = bench_alloc(p->nvars * (int64_t)sizeof *told);
    for (int i = 0; i < p->ndims; i++)
        bench_dim(q, p->dims[i]);
    for (int i = 0; i < p->nvars; i++) {
        const struct bench_var *v = &p->vars[i];
        int var = bench_var(q, v->type, v->ndims, v->dims);
        q->vars[var].mem = v->mem;
        told[i] = (struct told){0, 0, 0};
    }
    for (int64_t i = 0; i < p->npieces; i++)
        note_piece(&p->vars[p->pieces[i].var], &p->pieces[i], &told[p->pieces[i].var]);
    for (int i = 0; i < p->nvars; i++) {
        add_up_all(b, &told[i]);
        add_part(b, q, i, &told[i]);
    }
    q->call = p->call == BENCH_INDEPENDENT ? BENCH_BLOCKING : p->call;
    bench_plan_finish(b, q);
    free(told);
}
