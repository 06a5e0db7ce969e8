/* Copies values into a dataset in subfiles, or into a netCDF-4 file. Each process puts
 * its own part of every variable in collective calls, for two reasons:
 * 1. Compressed variables must be put collectively.
 * 2. A reader of subfiles finds a few large blobs instead of thousands of small ones.
 *
 * Memory must be large enough for two copies of this process's part of a record or, in
 * subfiles, of a whole fixed-size variable. */
#include <string.h>

#include "base_mem.h"
#include "copy.h"
#include "pnetcdf.h"

enum { ROOM = 1 << 23 }; /* maximum number of bytes per put, unless a record is larger */

/* The part of a variable that this process copies. */
struct part {
    struct copy *c;
    const struct copy_var *v;
    MPI_Offset *start, *count, *from, *step; /* hyperslab for a put; its indices and
                                              * strides in the source */
    bool stepped;    /* process the first dimension in steps, like records */
    int64_t records; /* length of a step along the first dimension */
    int cut;         /* dimension divided among the processes; -1 if none */
    char *values, *others;
    size_t bytes;
};

/* Returns the dimension to divide: the first one that is long enough for all processes,
 * otherwise the longest one, or -1 if there is none. */
static int cut_dim(const struct copy_var *v, bool stepped, int nprocs)
{
    int longest = -1;
    for (int i = stepped; i < v->ndims; i++) {
        if (v->length[i] >= nprocs) return i;
        if (longest < 0 || v->length[i] > v->length[longest]) longest = i;
    }
    return longest;
}

/* Finds this process's part of a record, or of a whole fixed-size variable. Returns false
 * if out of memory. */
static bool make_part(struct part *p, struct copy *c, const struct copy_var *v)
{
    const size_t n = (size_t)v->ndims;
    const bool stepped = v->record || (copy_is_nc4(c) && v->ndims > 0);
    const int cut = cut_dim(v, stepped, c->nprocs);
    *p = (struct part){.c = c, .v = v, .cut = cut, .stepped = stepped};
    p->start = base_calloc(4 * n + 1, sizeof *p->start);
    if (p->start == NULL) return false;
    p->count = p->start + n;
    p->from = p->count + n;
    p->step = p->from + n;
    int64_t most = v->size; /* size of the largest part in bytes */
    for (int i = stepped; i < v->ndims; i++) {
        p->count[i] = v->length[i];
        most *= i == cut ? (v->length[i] + c->nprocs - 1) / c->nprocs : v->length[i];
    }
    p->records = most < ROOM ? ROOM / most : 1;
    if (cut >= 0) {
        const int64_t length = v->length[cut];
        p->start[cut] = length * c->rank / c->nprocs;
        p->count[cut] = length * (c->rank + 1) / c->nprocs - p->start[cut];
    }
    return true;
}

static void free_part(struct part *p)
{
    base_free(p->start);
    base_free(p->values);
    base_free(p->others);
}

/* Allocates memory for one put and returns its size. After an error, sets the counts to
 * 0, so that this process still makes the collective calls but transfers nothing. */
static size_t reserve(struct part *p)
{
    size_t bytes = (size_t)p->v->size;
    for (int i = 0; i < p->v->ndims; i++)
        bytes *= (size_t)p->count[i];
    if (bytes > p->bytes) {
        base_free(p->values);
        base_free(p->others);
        p->values = base_malloc(bytes);
        p->others = base_malloc(bytes);
        p->bytes = bytes;
    }
    if (bytes > 0 && (p->values == NULL || p->others == NULL))
        copy_keep_error(p->c, NULL, NC_ENOMEM);
    for (int i = 0; i < p->v->ndims && p->c->err != NC_NOERR; i++)
        p->count[i] = 0;
    return bytes;
}

/* Reads values, writes them, and reads them back. All processes call this together, even
 * after an error. */
static void move_part_all(struct part *p)
{
    struct copy *c = p->c;
    const struct copy_options *o = &c->options;
    const struct copy_var *v = p->v;
    const size_t bytes = reserve(p);
    for (int i = 0; i < v->ndims; i++)
        p->from[i] = v->from[i] + p->start[i] * (p->step[i] = v->step[i]);
    copy_keep_error(c, o->from,
                    ncmpi_get_vars_all(c->in, v->in, p->from, p->count, p->step,
                                       p->values, 0, MPI_DATATYPE_NULL));
    copy_keep_error(c, o->to,
                    ncmpi_put_vara_all(c->out, v->out, p->start, p->count, p->values, 0,
                                       MPI_DATATYPE_NULL));
    if (o->unchecked) return;
    copy_keep_error(c, o->to,
                    ncmpi_get_vara_all(c->out, v->out, p->start, p->count, p->others, 0,
                                       MPI_DATATYPE_NULL));
    if (c->err != NC_NOERR || p->values == NULL || p->others == NULL) return;
    if (memcmp(p->values, p->others, bytes) == 0) return;
    c->words = COPY_DIFFERS;
    copy_keep_error(c, o->to, NC_EREAD);
}

static void move_var_all(struct part *p)
{
    const struct copy_var *v = p->v;
    const int64_t records = p->stepped ? v->length[0] : 1;
    for (int64_t at = 0; at < records; at += p->records) {
        int64_t n = records - at < p->records ? records - at : p->records;
        if (p->stepped) {
            p->start[0] = at; /* process 0 copies a record that cannot be divided */
            p->count[0] = p->cut < 0 && p->c->rank > 0 ? 0 : n;
        }
        move_part_all(p);
        copy_moved(p->c, v->total / records * (p->stepped ? n : 1) * v->size);
    }
}

void copy_parts(struct copy *c)
{
    int bad = 0;
    for (int i = 0; i < c->nvars && !bad; i++) {
        struct part p;
        if (c->vars[i].total == 0) continue;
        bool made = make_part(&p, c, &c->vars[i]);
        if (!made) copy_keep_error(c, NULL, NC_ENOMEM);
        bad = !made;
        MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
        if (made && !bad) move_var_all(&p); /* !bad: all processes succeeded */
        free_part(&p);
        bad = bad || c->err != NC_NOERR;
        MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
        c->vars[i].done = true;
    }
}
