/* Implements random_model.h: draws slabs, and records which values were written. */
#include "random_model.h"

#include <stdlib.h>

void model_free(struct model *m)
{
    for (int i = 0; i < m->nvars; i++) {
        free(m->vars[i].value);
        free(m->vars[i].known);
    }
    *m = (struct model){0};
}

void model_add_var(struct model *m, int type, int ndims, const int *dimids)
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
                       struct plan_slab *s)
{
    bool some = true;
    *s = (struct plan_slab){.ndims = v->ndims};
    for (int i = 0; i < v->ndims; i++) {
        int64_t length = i == 0 && v->is_record && !put ? m->numrecs : v->shape[i];
        uint64_t draw[3] = {check_random(1 << 20), check_random(1 << 20),
                            check_random(3)};
        some = some && length > 0;
        if (length > 0)
            plan_slab_set(s, i, length, draw[0], draw[1],
                          draw[2] == 0 ? 1 + (int64_t)(draw[0] % 3) : 1);
    }
    return some;
}

int model_random_memory(const struct model_var *v)
{
    const uint64_t draw = check_random(2 * (MEMORY_TYPES - 1));
    return v->type == PLAN_CHAR || draw >= MEMORY_TYPES - 1 ? plan_memory_of(v->type)
                                                            : 1 + (int)draw;
}

uint64_t model_value(const struct model_var *v, int write, int memory, int64_t element)
{
    return plan_value(v->type, memory, (uint64_t)write << 32 | (uint64_t)element);
}

void model_write(struct model *m, struct model_var *v, const struct plan_slab *s,
                 int write, int memory)
{
    const int64_t n = plan_slab_size(s);
    for (int64_t i = 0; i < n; i++) {
        int64_t e = plan_slab_element(s, v->shape, i);
        v->value[e] = model_value(v, write, memory, e);
        v->known[e] = true;
    }
    if (!v->is_record || n == 0) return;
    int64_t end = s->start[0] + (s->count[0] - 1) * s->stride[0] + 1;
    if (end > m->numrecs) m->numrecs = end;
}
