/* The way `lib`: transfers a plan's data through the library. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

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

static void begin(const struct bench_plan *p, int ncid, bool writing)
{
    if (p->call == BENCH_BUFFERED && writing)
        bench_need(ncmpi_buffer_attach(ncid, p->memory_bytes + 8), "ncmpi_buffer_attach");
    if (p->call == BENCH_INDEPENDENT)
        bench_need(ncmpi_begin_indep_data(ncid), "ncmpi_begin_indep_data");
}

int bench_lib_open(struct bench *b, const struct bench_plan *p, bool writing)
{
    int ncid, mode = writing ? NC_WRITE : NC_NOWRITE;
    MPI_Info hints = bench_stats_hints(b);
    bench_need(ncmpi_open(b->comm, b->file, mode, hints, &ncid), "ncmpi_open");
    if (hints != MPI_INFO_NULL) MPI_Info_free(&hints);
    begin(p, ncid, writing);
    return ncid;
}

void bench_lib_layout(struct bench_plan *p, int ncid)
{
    for (int i = 0; i < p->nvars; i++)
        bench_need(ncmpi_inq_varoffset(ncid, i, &p->vars[i].begin),
                   "ncmpi_inq_varoffset");
    bench_need(ncmpi_inq_recsize(ncid, &p->recsize), "ncmpi_inq_recsize");
}

#define VARN(q) q->var, (int)q->nsegs, q->starts, q->counts, q->buf, q->nbuf, q->type
#define VARS(q)                                                                          \
    q->var, q->start, q->count, q->stride[0] > 0 ? q->stride : NULL, q->buf, q->nbuf,    \
        q->type

static int blocking(int ncid, const struct bench_piece *q, bool put)
{
    if (q->varn)
        return put ? ncmpi_put_varn_all(ncid, VARN(q))
                   : ncmpi_get_varn_all(ncid, VARN(q));
    return put ? ncmpi_put_vars_all(ncid, VARS(q)) : ncmpi_get_vars_all(ncid, VARS(q));
}

static int post(int ncid, const struct bench_piece *q, bool put, bool buffered, int *id)
{
    if (!put)
        return q->varn ? ncmpi_iget_varn(ncid, VARN(q), id)
                       : ncmpi_iget_vars(ncid, VARS(q), id);
    if (buffered)
        return q->varn ? ncmpi_bput_varn(ncid, VARN(q), id)
                       : ncmpi_bput_vars(ncid, VARS(q), id);
    return q->varn ? ncmpi_iput_varn(ncid, VARN(q), id)
                   : ncmpi_iput_vars(ncid, VARS(q), id);
}

static void move_nonblocking(const struct bench_plan *p, int ncid, bool put)
{
    int every = (int)(p->every > 0 ? p->every : p->npieces), n = 0;
    int *ids = bench_alloc(every * (int64_t)sizeof *ids);
    int *statuses = bench_alloc(every * (int64_t)sizeof *statuses);
    for (int64_t i = 0; i < p->npieces; i++) {
        bool buffered = p->call == BENCH_BUFFERED;
        bench_need(post(ncid, &p->pieces[i], put, buffered, &ids[n++]), "a request");
        if (n < every && i + 1 < p->npieces) continue;
        bench_need(ncmpi_wait_all(ncid, n, ids, statuses), "ncmpi_wait_all");
        while (n > 0)
            bench_need(statuses[--n], "a request");
    }
    free(ids);
    free(statuses);
}

void bench_lib_move(const struct bench_plan *p, int ncid, bool put)
{
    if (p->call == BENCH_NONBLOCKING || p->call == BENCH_BUFFERED) {
        move_nonblocking(p, ncid, put);
        return;
    }
    for (int64_t i = 0; i < p->npieces; i++) {
        const struct bench_piece *q = &p->pieces[i];
        if (p->call == BENCH_INDEPENDENT)
            bench_need(put ? ncmpi_put_vars(ncid, VARS(q))
                           : ncmpi_get_vars(ncid, VARS(q)),
                       "an independent call");
        else
            bench_need(blocking(ncid, q, put), "a collective call");
    }
}

/* Unless -k is given, closes a new file after its definitions and opens it again. */
static void open_file(struct bench *b, struct bench_plan *p, enum bench_step step,
                      struct bench_handle *h)
{
    if (step == BENCH_FRESH) {
        h->id = bench_lib_create(b, p);
        bench_lib_layout(p, h->id);
        if (b->options.keep) {
            begin(p, h->id, true);
            return;
        }
        bench_need(ncmpi_close(h->id), "ncmpi_close");
    }
    h->id = bench_lib_open(b, p, step != BENCH_GET);
}

static int64_t move(const struct bench_plan *p, struct bench_handle h, bool put)
{
    bench_lib_move(p, h.id, put);
    return p->file_bytes;
}

static void sync_file(struct bench_handle h)
{
    bench_need(ncmpi_sync(h.id), "ncmpi_sync");
}

static void close_file(struct bench *b, const struct bench_plan *p, struct bench_handle h,
                       enum bench_step step)
{
    (void)b;
    if (p->call == BENCH_BUFFERED && step != BENCH_GET)
        bench_need(ncmpi_buffer_detach(h.id), "ncmpi_buffer_detach");
    bench_need(ncmpi_close(h.id), "ncmpi_close");
}

const struct bench_way bench_lib = {"lib", true,      NULL,      open_file,
                                    move,  sync_file, close_file};
