/* The model of a random program. */
#include "random_model.h"

#include <stdlib.h>
#include <string.h>

void model_free(struct model *m)
{
    for (int i = 0; i < m->nvars; i++) {
        free(m->vars[i].value);
        free(m->vars[i].known);
    }
    *m = (struct model){0};
}

void model_add_var(struct model *m, nc_type type, int ndims, const int *dimids)
{
    struct model_var *v = &m->vars[m->nvars++];
    *v = (struct model_var){.type = type, .ndims = ndims, .nelems = 1};
    for (int i = 0; i < ndims; i++) {
        bool record = dimids[i] == m->unlimited;
        v->dimids[i] = dimids[i];
        v->shape[i] = record ? MAX_RECORDS : m->length[dimids[i]];
        v->is_record |= record;
        v->nelems *= v->shape[i];
    }
    v->value = calloc((size_t)v->nelems, sizeof *v->value);
    v->known = calloc((size_t)v->nelems, sizeof *v->known);
    if (v->value == NULL || v->known == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
}

bool model_random_slab(const struct model *m, const struct model_var *v, bool put,
                       struct slab *s)
{
    bool some = true;
    for (int i = 0; i < v->ndims; i++) {
        MPI_Offset length = i == 0 && v->is_record && !put ? m->numrecs : v->shape[i];
        uint64_t draw[3] = {check_random(1 << 20), check_random(1 << 20),
                            check_random(3)};
        some = some && length > 0;
        if (length == 0) continue;
        s->stride[i] = draw[2] == 0 ? 1 + (MPI_Offset)(draw[0] % 3) : 1;
        s->start[i] = (MPI_Offset)(draw[0] % (uint64_t)length);
        MPI_Offset most = (length - s->start[i] - 1) / s->stride[i] + 1;
        s->count[i] = 1 + (MPI_Offset)(draw[1] % (uint64_t)most);
    }
    return some;
}

struct slab model_share(const struct model_var *v, const struct slab *s, int dim,
                        int rank, int nprocs)
{
    struct slab part = *s;
    if (v->ndims == 0) return part;
    MPI_Offset low = s->count[dim] * rank / nprocs;
    MPI_Offset high = s->count[dim] * (rank + 1) / nprocs;
    part.count[dim] = high - low;
    if (high > low) part.start[dim] += low * s->stride[dim];
    return part;
}

MPI_Offset slab_nelems(const struct model_var *v, const struct slab *s)
{
    MPI_Offset n = 1;
    for (int i = 0; i < v->ndims; i++)
        n *= s->count[i];
    return n;
}

MPI_Offset slab_element(const struct model_var *v, const struct slab *s, MPI_Offset i)
{
    MPI_Offset element = 0, step = 1;
    for (int d = v->ndims - 1; d >= 0; d--) {
        element += (s->start[d] + i % s->count[d] * s->stride[d]) * step;
        i /= s->count[d];
        step *= v->shape[d];
    }
    return element;
}

double model_value(const struct model_var *v, int write, MPI_Offset element)
{
    int number = (int)((write * 31 + element * 7) % 100);
    return v->type == NC_CHAR ? 'a' + number % 26 : number;
}

void model_write(struct model *m, struct model_var *v, const struct slab *s, int write)
{
    MPI_Offset n = slab_nelems(v, s);
    for (MPI_Offset i = 0; i < n; i++) {
        MPI_Offset e = slab_element(v, s, i);
        v->value[e] = model_value(v, write, e);
        v->known[e] = true;
    }
    if (!v->is_record || n == 0) return;
    MPI_Offset end = s->start[0] + (s->count[0] - 1) * s->stride[0] + 1;
    if (end > m->numrecs) m->numrecs = end;
}

/* ---- values in memory ---- */

#define MEMORY_TYPES(X)                                                                  \
    X(MPI_SIGNED_CHAR, signed char)                                                      \
    X(MPI_UNSIGNED_CHAR, unsigned char)                                                  \
    X(MPI_SHORT, short)                                                                  \
    X(MPI_UNSIGNED_SHORT, unsigned short)                                                \
    X(MPI_INT, int)                                                                      \
    X(MPI_UNSIGNED, unsigned)                                                            \
    X(MPI_LONG, long)                                                                    \
    X(MPI_LONG_LONG_INT, long long)                                                      \
    X(MPI_UNSIGNED_LONG_LONG, unsigned long long)                                        \
    X(MPI_FLOAT, float)                                                                  \
    X(MPI_DOUBLE, double)

MPI_Datatype memory_type(const struct model_var *v)
{
#define NAME(mpi, c) mpi,
    const MPI_Datatype types[] = {MEMORY_TYPES(NAME)};
#undef NAME
    uint64_t draw = check_random(sizeof types / sizeof types[0]);
    return v->type == NC_CHAR ? MPI_CHAR : types[draw];
}

void memory_set(void *buf, MPI_Datatype type, MPI_Offset i, double value)
{
    if (type == MPI_CHAR) ((char *)buf)[i] = (char)value;
#define SET(mpi, c)                                                                      \
    if (type == mpi) ((c *)buf)[i] = (c)value;
    MEMORY_TYPES(SET)
#undef SET
}

double memory_get(const void *buf, MPI_Datatype type, MPI_Offset i)
{
    if (type == MPI_CHAR) return ((const char *)buf)[i];
#define GET(mpi, c)                                                                      \
    if (type == mpi) return (double)((const c *)buf)[i];
    MEMORY_TYPES(GET)
#undef GET
    return -1;
}
