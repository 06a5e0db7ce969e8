/* Copies the values that cannot be copied as bytes.
 *
 * A batch is a list of pieces that are close to each other in the file, so the library
 * can join them. The batches are assigned to the processes round-robin. Each batch is
 * small enough to stay in the CPU cache while it is read, written, and read again. */
#include <string.h>

#include "base_mem.h"
#include "copy.h"
#include "pnetcdf.h"
#include "util_message.h"
#include "util_piece.h"
#include "util_whole.h"

enum {
    ROOM = 1 << 18,   /* size in bytes of the values in a batch */
    PIECES = 1 << 12, /* maximum number of pieces in a batch */
    INDICES = 1 << 16 /* maximum number of indices in the starts and counts of a batch */
};

/* A piece of a variable, as a hyperslab of the copy. */
struct part {
    const struct copy_var *v;
    MPI_Offset *start, *count;
    char *values;
};

struct batch {
    struct copy *c;
    char *values, *others; /* values read from the source, and values read back from the
                            * copy */
    int64_t used;          /* size of the values in bytes */
    struct part parts[PIECES];
    int nparts;
    MPI_Offset *indices, *from, *step; /* first indices and strides of a part, in the
                                        * source */
    int64_t nindices, most_indices;
    int64_t batches; /* number of batches assigned so far to all processes */
};

void copy_moved(struct copy *c, int64_t bytes)
{
    c->moved += bytes;
    util_progress_at(&c->progress, c->moved);
}

void copy_keep_error(struct copy *c, const char *path, int err)
{
    if (err == NC_NOERR || c->err != NC_NOERR) return;
    c->err = err;
    c->path = path;
}

/* ---- one batch ---- */

static void read_source(struct batch *b)
{
    struct copy *c = b->c;
    for (int i = 0; i < b->nparts && c->err == NC_NOERR; i++) {
        const struct part *p = &b->parts[i];
        for (int k = 0; k < p->v->ndims; k++)
            b->from[k] = p->v->from[k] + p->start[k] * (b->step[k] = p->v->step[k]);
        copy_keep_error(c, c->options.from,
                        ncmpi_iget_vars(c->in, p->v->in, b->from, p->count, b->step,
                                        p->values, 0, MPI_DATATYPE_NULL, NULL));
    }
    copy_keep_error(c, c->options.from, ncmpi_wait(c->in, NC_REQ_ALL, NULL, NULL));
}

static void write_copy(struct batch *b)
{
    struct copy *c = b->c;
    for (int i = 0; i < b->nparts && c->err == NC_NOERR; i++) {
        const struct part *p = &b->parts[i];
        copy_keep_error(c, c->options.to,
                        ncmpi_iput_vara(c->out, p->v->out, p->start, p->count, p->values,
                                        0, MPI_DATATYPE_NULL, NULL));
    }
    copy_keep_error(c, c->options.to, ncmpi_wait(c->out, NC_REQ_ALL, NULL, NULL));
}

static void compare_copy(struct batch *b)
{
    struct copy *c = b->c;
    for (int i = 0; i < b->nparts && c->err == NC_NOERR; i++) {
        const struct part *p = &b->parts[i];
        copy_keep_error(c, c->options.to,
                        ncmpi_iget_vara(c->out, p->v->out, p->start, p->count,
                                        b->others + (p->values - b->values), 0,
                                        MPI_DATATYPE_NULL, NULL));
    }
    copy_keep_error(c, c->options.to, ncmpi_wait(c->out, NC_REQ_ALL, NULL, NULL));
    if (c->err != NC_NOERR || memcmp(b->values, b->others, (size_t)b->used) == 0) return;
    c->words = COPY_DIFFERS;
    copy_keep_error(c, c->options.to, NC_EREAD);
}

static void flush(struct batch *b)
{
    const struct copy *c = b->c;
    bool mine = b->batches++ % c->nprocs == c->rank;
    if (mine && b->nparts > 0 && c->err == NC_NOERR) {
        read_source(b);
        if (c->err == NC_NOERR) write_copy(b);
        if (c->err == NC_NOERR && !c->options.unchecked) compare_copy(b);
    }
    copy_moved(b->c, b->used);
    b->used = b->nindices = 0;
    b->nparts = 0;
}

/* ---- filling a batch ---- */

static void add_piece(struct batch *b, const struct copy_var *v,
                      const struct util_piece *p)
{
    const int64_t bytes = p->n * v->size;
    if (b->nparts == PIECES || b->used + bytes > ROOM ||
        b->nindices + 2 * (int64_t)v->ndims > b->most_indices)
        flush(b);
    struct part *to = &b->parts[b->nparts++];
    *to = (struct part){.v = v, .values = b->values + b->used};
    to->start = b->indices + b->nindices;
    to->count = to->start + v->ndims;
    for (int i = 0; i < v->ndims; i++) {
        to->start[i] = p->start[i];
        to->count[i] = p->count[i];
    }
    b->nindices += 2 * (int64_t)v->ndims;
    b->used += bytes;
}

/* Adds a whole variable. `start` has space for 2 * ndims indices. */
static void add_variable(struct batch *b, const struct copy_var *v, int64_t *start)
{
    int64_t *count = start + v->ndims;
    struct util_piece p = {.start = start, .count = count};
    const int64_t done = v->record ? b->c->records_done : 0;
    for (int64_t at = done == 0 ? 0 : v->total / v->length[0] * done; at < v->total;
         at += p.n) {
        util_piece_make(&p, v->ndims, v->length, at, ROOM / v->size);
        add_piece(b, v, &p);
    }
}

/* Adds n records of a record variable. */
static void add_records(struct batch *b, const struct copy_var *v, int64_t first,
                        int64_t n, int64_t *start)
{
    int64_t *count = start + v->ndims;
    struct util_piece p = {.start = start, .count = count};
    p.n = v->total / v->length[0] * n;
    for (int i = 0; i < v->ndims; i++) {
        p.start[i] = i == 0 ? first : 0;
        p.count[i] = i == 0 ? n : v->length[i];
    }
    add_piece(b, v, &p);
}

/* Adds all variables. In the file, each record contains all record variables. So a batch
 * consists of whole records, unless a record is larger than a batch. */
static void add_all(struct batch *b, int64_t *start)
{
    struct copy *c = b->c;
    int64_t record = 0, records = 0;
    for (int i = 0; i < c->nvars; i++) {
        const struct copy_var *v = &c->vars[i];
        if (!v->record || v->total == 0) continue;
        records = v->length[0];
        int64_t bytes = v->total / records * v->size;
        record = record > ROOM - bytes ? ROOM + 1 : record + bytes;
    }
    const bool together = record > 0 && record <= ROOM;
    for (int i = 0; i < c->nvars; i++)
        if (!c->vars[i].done && (!c->vars[i].record || !together))
            add_variable(b, &c->vars[i], start);
    if (!together) return;
    int64_t n = ROOM / record;
    for (int64_t at = c->records_done; at < records; at += n)
        for (int i = 0; i < c->nvars; i++)
            if (c->vars[i].record && c->vars[i].total > 0)
                add_records(b, &c->vars[i], at, records - at < n ? records - at : n,
                            start);
}

/* ---- all batches ---- */

static int64_t *allocate(struct batch *b)
{
    int most = 1;
    for (int i = 0; i < b->c->nvars; i++)
        if (b->c->vars[i].ndims > most) most = b->c->vars[i].ndims;
    b->most_indices = 2 * (int64_t)most > INDICES ? 2 * (int64_t)most : INDICES;
    b->values = base_malloc(ROOM);
    b->others = base_malloc(ROOM);
    b->indices = base_malloc((size_t)b->most_indices * sizeof *b->indices);
    b->from = base_malloc((size_t)most * sizeof *b->from);
    b->step = base_malloc((size_t)most * sizeof *b->step);
    int64_t *start = base_malloc(2 * (size_t)most * sizeof *start);
    if (b->values == NULL || b->others == NULL || b->indices == NULL || b->from == NULL ||
        b->step == NULL || start == NULL)
        copy_keep_error(b->c, NULL, NC_ENOMEM);
    return start;
}

static void run(struct batch *b)
{
    struct copy *c = b->c;
    int64_t *start = allocate(b);
    int bad = c->err != NC_NOERR;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!bad && !util_is_one_file(c->out)) {
        copy_parts(c);
    } else if (!bad) {
        copy_bytes(c);
        copy_keep_error(c, c->options.from, ncmpi_begin_indep_data(c->in));
        copy_keep_error(c, c->options.to, ncmpi_begin_indep_data(c->out));
        add_all(b, start);
        flush(b);
        copy_keep_error(c, c->options.from, ncmpi_end_indep_data(c->in));
        copy_keep_error(c, c->options.to, ncmpi_end_indep_data(c->out));
    }
    base_free(b->values);
    base_free(b->others);
    base_free(b->indices);
    base_free(b->from);
    base_free(b->step);
    base_free(start);
}

static int complain(const struct copy *c)
{
    if (c->words == NULL) return copy_complain(c->path, NULL, c->err);
    util_message(COPY_TOOL, c->path, -1, "%s", c->words);
    return -1;
}

int copy_data(struct copy *c)
{
    struct batch *b = base_calloc(1, sizeof *b);
    if (b == NULL) return copy_complain(NULL, NULL, NC_ENOMEM);
    *b = (struct batch){.c = c};
    if (c->rank == 0) util_progress_start(&c->progress, COPY_TOOL, c->bytes);
    run(b);
    util_progress_end(&c->progress);
    int status = c->err == NC_NOERR ? 0 : complain(c);
    base_free(b);
    int bad = status != 0;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return bad ? -1 : 0;
}
