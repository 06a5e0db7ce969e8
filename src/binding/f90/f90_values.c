/* Handles Fortran arrays in C: describes array sections as MPI datatypes, or copies
 * them. */
#include "f90_values.h"

#include <limits.h>
#include <string.h>

#include "base_mpi.h"
#include "pnetcdf.h"

const struct f90_type_row f90_types[] = {
    [F90_TEXT] = {MPI_CHAR, 1},          [F90_INT1] = {MPI_SIGNED_CHAR, 1},
    [F90_INT2] = {MPI_SHORT, 2},         [F90_INT4] = {MPI_INT, 4},
    [F90_INT8] = {MPI_LONG_LONG_INT, 8}, [F90_REAL4] = {MPI_FLOAT, 4},
    [F90_REAL8] = {MPI_DOUBLE, 8},
};

/* ---- sections as MPI datatypes ---- */

/* Intermediate datatypes, which are freed when the final datatype is complete. */
struct type_list {
    int n, err;
    MPI_Datatype made[8 * (CFI_MAX_RANK + 1) + 1];
};

static MPI_Datatype made(struct type_list *m, int result, const MPI_Datatype *type)
{
    if (m->err == NC_NOERR) m->err = base_mpi_error(result, NC_ENOMEM, "an MPI datatype");
    if (result != MPI_SUCCESS) return MPI_DATATYPE_NULL;
    m->made[m->n++] = *type;
    return *type;
}

static MPI_Datatype vector(struct type_list *m, MPI_Offset n, MPI_Offset step,
                           MPI_Datatype inner)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (m->err != NC_NOERR) return type;
    return made(m, MPI_Type_create_hvector((int)n, 1, (MPI_Aint)step, inner, &type),
                &type);
}

static MPI_Datatype join(struct type_list *m, int n, const MPI_Aint *at,
                         const MPI_Datatype *parts)
{
    int ones[CFI_MAX_RANK + 2];
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (m->err != NC_NOERR) return type;
    for (int i = 0; i < n; i++)
        ones[i] = 1;
    return made(m, MPI_Type_create_struct(n, ones, at, parts, &type), &type);
}

/* Returns a datatype that consists of n copies of `inner`, `step` bytes apart. Counts in
 * MPI are ints, so a large n needs two nested datatypes. */
static MPI_Datatype loop(struct type_list *m, MPI_Offset n, MPI_Offset step,
                         MPI_Datatype inner)
{
    if (n <= INT_MAX) return vector(m, n, step, inner);
    const MPI_Offset block = (MPI_Offset)1 << 30, blocks = n / block, rest = n % block;
    MPI_Datatype parts[2] = {
        vector(m, blocks, block * step, vector(m, block, step, inner)),
        vector(m, rest, step, inner)};
    return join(m, 2, (MPI_Aint[]){0, (MPI_Aint)(blocks * block * step)}, parts);
}

/* Returns a datatype that consists of the first n elements: as many whole slabs of the
 * slowest dimension as fit, then of the next dimension, and so on. */
static MPI_Datatype first_elements(struct type_list *m, const struct f90_values *v,
                                   MPI_Offset n)
{
    MPI_Datatype slab[CFI_MAX_RANK + 2] = {v->type}, parts[CFI_MAX_RANK + 2];
    MPI_Aint at[CFI_MAX_RANK + 2], here = 0;
    MPI_Offset size[CFI_MAX_RANK + 2] = {1};
    int nparts = 0;
    for (int d = 0; d + 1 < v->rank; d++) {
        slab[d + 1] = loop(m, v->extent[d], v->step[d], slab[d]);
        size[d + 1] = size[d] * v->extent[d];
    }
    for (int d = v->rank; d-- > 0 && n > 0;) {
        MPI_Offset whole = n / size[d];
        n -= whole * size[d];
        if (whole == 0) continue;
        parts[nparts] = loop(m, whole, v->step[d], slab[d]);
        at[nparts++] = here;
        here += (MPI_Aint)(whole * v->step[d]);
    }
    return join(m, nparts, at, parts);
}

int f90_section_type(const struct f90_values *v, MPI_Offset n, MPI_Datatype *type)
{
    struct type_list m = {.err = NC_NOERR};
    *type = first_elements(&m, v, n);
    if (m.err == NC_NOERR)
        m.err = base_mpi_error(MPI_Type_commit(type), NC_ENOMEM, "MPI_Type_commit");
    bool keep = m.err == NC_NOERR;
    for (int i = 0; i < (keep ? m.n - 1 : m.n); i++)
        (void)MPI_Type_free(&m.made[i]);
    if (!keep) *type = MPI_DATATYPE_NULL;
    return m.err;
}

/* ---- sections as copies ---- */

/* Copies one element at a time, in Fortran order. */
static void copy(const struct f90_values *v, char *packed, bool pack)
{
    MPI_Offset place[CFI_MAX_RANK + 1] = {0};
    char *element = v->base;
    for (MPI_Offset i = 0; i < v->size; i++, packed += v->width) {
        memcpy(pack ? packed : element, pack ? element : packed, (size_t)v->width);
        for (int d = 0; d < v->rank; d++) {
            element += v->step[d];
            if (++place[d] < v->extent[d]) break;
            element -= v->extent[d] * v->step[d];
            place[d] = 0;
        }
    }
}

void f90_pack(const struct f90_values *v, void *packed)
{
    copy(v, packed, true);
}

void f90_unpack(const struct f90_values *v, const void *packed)
{
    copy(v, (char *)packed, false);
}
