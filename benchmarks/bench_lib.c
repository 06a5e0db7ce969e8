/* A plan through the library. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

/* Room for the requests posted between two waits. */
struct queue {
    int *ids;
    int n;
};

static void define(struct bench_plan *p, int ncid)
{
    char name[32];
    int *ids = bench_alloc(p->ndims * (int64_t)sizeof *ids);
    for (int i = 0; i < p->ndims; i++) {
        snprintf(name, sizeof name, "dim_%d", i);
        bench_need(ncmpi_def_dim(ncid, name, p->dims[i], &ids[i]), "ncmpi_def_dim");
    }
    for (int i = 0; i < p->nvars; i++) {
        const struct bench_var *v = &p->vars[i];
        int dims[BENCH_DIMS], id;
        for (int k = 0; k < v->ndims; k++)
            dims[k] = ids[v->dims[k]];
        snprintf(name, sizeof name, "var_%d", i);
        bench_need(ncmpi_def_var(ncid, name, v->type, v->ndims, dims, &id),
                   "ncmpi_def_var");
    }
    free(ids);
}

int bench_lib_create(struct bench *b, struct bench_plan *p)
{
    int ncid;
    MPI_Info hints = bench_stats_hints(b);
    bench_need(ncmpi_create(b->comm, b->file, NC_CLOBBER | NC_64BIT_DATA, hints, &ncid),
               "ncmpi_create");
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    define(p, ncid);
    bench_need(ncmpi_enddef(ncid), "ncmpi_enddef");
    return ncid;
}

void bench_lib_begin(const struct bench_plan *p, int ncid, bool writing)
{
    if (p->way == BENCH_BUFFERED && writing)
        bench_need(ncmpi_buffer_attach(ncid, p->memory_bytes + 8), "ncmpi_buffer_attach");
    if (p->way == BENCH_INDEPENDENT)
        bench_need(ncmpi_begin_indep_data(ncid), "ncmpi_begin_indep_data");
}

int bench_lib_open(struct bench *b, const struct bench_plan *p, bool writing)
{
    int ncid, mode = writing ? NC_WRITE : NC_NOWRITE;
    MPI_Info hints = bench_stats_hints(b);
    bench_need(ncmpi_open(b->comm, b->file, mode, hints, &ncid), "ncmpi_open");
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    bench_lib_begin(p, ncid, writing);
    return ncid;
}

void bench_lib_layout(struct bench_plan *p, int ncid)
{
    for (int i = 0; i < p->nvars; i++)
        bench_need(ncmpi_inq_varoffset(ncid, i, &p->vars[i].begin),
                   "ncmpi_inq_varoffset");
    bench_need(ncmpi_inq_recsize(ncid, &p->recsize), "ncmpi_inq_recsize");
}

void bench_lib_close(const struct bench_plan *p, int ncid, bool writing)
{
    if (p->way == BENCH_BUFFERED && writing)
        bench_need(ncmpi_buffer_detach(ncid), "ncmpi_buffer_detach");
    bench_need(ncmpi_close(ncid), "ncmpi_close");
}

static const MPI_Offset *stride_of(const struct bench_piece *piece)
{
    return piece->stride[0] > 0 ? piece->stride : NULL;
}

static int put_blocking(int ncid, const struct bench_piece *q)
{
    if (q->varn)
        return ncmpi_put_varn_all(ncid, q->var, (int)q->nsegs, q->starts, q->counts,
                                  q->buf, q->nbuf, q->type);
    return ncmpi_put_vars_all(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                              q->nbuf, q->type);
}

static int get_blocking(int ncid, const struct bench_piece *q)
{
    if (q->varn)
        return ncmpi_get_varn_all(ncid, q->var, (int)q->nsegs, q->starts, q->counts,
                                  q->buf, q->nbuf, q->type);
    return ncmpi_get_vars_all(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                              q->nbuf, q->type);
}

static int iput(int ncid, const struct bench_piece *q, int *id)
{
    if (q->varn)
        return ncmpi_iput_varn(ncid, q->var, (int)q->nsegs, q->starts, q->counts, q->buf,
                               q->nbuf, q->type, id);
    return ncmpi_iput_vars(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                           q->nbuf, q->type, id);
}

static int bput(int ncid, const struct bench_piece *q, int *id)
{
    if (q->varn)
        return ncmpi_bput_varn(ncid, q->var, (int)q->nsegs, q->starts, q->counts, q->buf,
                               q->nbuf, q->type, id);
    return ncmpi_bput_vars(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                           q->nbuf, q->type, id);
}

static int iget(int ncid, const struct bench_piece *q, int *id)
{
    if (q->varn)
        return ncmpi_iget_varn(ncid, q->var, (int)q->nsegs, q->starts, q->counts, q->buf,
                               q->nbuf, q->type, id);
    return ncmpi_iget_vars(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                           q->nbuf, q->type, id);
}

static int independent(int ncid, const struct bench_piece *q, bool put)
{
    return put ? ncmpi_put_vars(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                                q->nbuf, q->type)
               : ncmpi_get_vars(ncid, q->var, q->start, q->count, stride_of(q), q->buf,
                                q->nbuf, q->type);
}

static void wait_all(int ncid, struct queue *queue, int *statuses)
{
    bench_need(ncmpi_wait_all(ncid, queue->n, queue->ids, statuses), "ncmpi_wait_all");
    for (int i = 0; i < queue->n; i++)
        bench_need(statuses[i], "a request");
    queue->n = 0;
}

static void move_nonblocking(const struct bench_plan *p, int ncid, bool put)
{
    int64_t every = p->every > 0 ? p->every : p->npieces;
    struct queue queue = {.ids = bench_alloc(every * (int64_t)sizeof(int))};
    int *statuses = bench_alloc(every * (int64_t)sizeof(int));
    for (int64_t i = 0; i < p->npieces; i++) {
        const struct bench_piece *q = &p->pieces[i];
        int *id = &queue.ids[queue.n++];
        if (!put) {
            bench_need(iget(ncid, q, id), "ncmpi_iget");
        } else if (p->way == BENCH_BUFFERED) {
            bench_need(bput(ncid, q, id), "ncmpi_bput");
        } else {
            bench_need(iput(ncid, q, id), "ncmpi_iput");
        }
        if (queue.n == every || i + 1 == p->npieces) wait_all(ncid, &queue, statuses);
    }
    free(queue.ids);
    free(statuses);
}

void bench_lib_move(const struct bench_plan *p, int ncid, bool put)
{
    if (p->way == BENCH_NONBLOCKING || p->way == BENCH_BUFFERED) {
        move_nonblocking(p, ncid, put);
        return;
    }
    for (int64_t i = 0; i < p->npieces; i++) {
        const struct bench_piece *q = &p->pieces[i];
        if (p->way == BENCH_INDEPENDENT) {
            bench_need(independent(ncid, q, put), "an independent call");
        } else {
            bench_need(put ? put_blocking(ncid, q) : get_blocking(ncid, q),
                       "a collective call");
        }
    }
}
