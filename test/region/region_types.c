/* See region_types.h. */
#include "config.h"

#include "region_types.h"

#include "check.h"

static int within(int low, int high)
{
    return low + (int)check_random((uint64_t)(high - low + 1));
}

/* Open MPI 4.1 packs incorrectly if the pieces of a vector overlap in descending
 * order. */
static int some_stride(int most)
{
#ifdef OPEN_MPI
    return within(0, most);
#else
    return within(-most, most);
#endif
}

enum { MOST = 5 };

/* Random arguments. Most constructors use only some of them. */
struct arguments {
    int n, length[MOST], displ[MOST];
    MPI_Aint bytes[MOST];
};

static struct arguments some_arguments(void)
{
    struct arguments a = {.n = within(1, MOST)};
    for (int i = 0; i < MOST; i++) {
        a.length[i] = within(0, 3);
        a.displ[i] = within(-12, 12);
        a.bytes[i] = within(-90, 90);
    }
    return a;
}

static MPI_Datatype dup_type(MPI_Datatype old)
{
    MPI_Datatype t;
    return MPI_Type_dup(old, &t) == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype contiguous(MPI_Datatype old)
{
    MPI_Datatype t;
    int n = within(0, 4);
    return MPI_Type_contiguous(n, old, &t) == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype vector(MPI_Datatype old)
{
    MPI_Datatype t;
    int n = within(0, 4), length = within(0, 3), stride = some_stride(6);
    return MPI_Type_vector(n, length, stride, old, &t) == MPI_SUCCESS ? t
                                                                      : MPI_DATATYPE_NULL;
}

static MPI_Datatype hvector(MPI_Datatype old)
{
    MPI_Datatype t;
    int n = within(0, 4), length = within(0, 3), stride = some_stride(60);
    int err = MPI_Type_create_hvector(n, length, stride, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype indexed(MPI_Datatype old)
{
    MPI_Datatype t;
    struct arguments a = some_arguments();
    int err = MPI_Type_indexed(a.n, a.length, a.displ, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype hindexed(MPI_Datatype old)
{
    MPI_Datatype t;
    struct arguments a = some_arguments();
    int err = MPI_Type_create_hindexed(a.n, a.length, a.bytes, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype indexed_block(MPI_Datatype old)
{
    MPI_Datatype t;
    struct arguments a = some_arguments();
    int err = MPI_Type_create_indexed_block(a.n, a.length[0], a.displ, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype hindexed_block(MPI_Datatype old)
{
    MPI_Datatype t;
    struct arguments a = some_arguments();
    int err = MPI_Type_create_hindexed_block(a.n, a.length[0], a.bytes, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

/* Returns a struct type that consists of `old`, pairs of `old`, and another `old`. */
static MPI_Datatype structure(MPI_Datatype old)
{
    MPI_Datatype t, pair;
    struct arguments a = some_arguments();
    if (MPI_Type_vector(2, 1, 2, old, &pair) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
    MPI_Datatype members[] = {old, pair, old, pair, old};
    int err = MPI_Type_create_struct(a.n, a.length, a.bytes, members, &t);
    if (MPI_Type_free(&pair) != MPI_SUCCESS) err = MPI_ERR_OTHER;
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype resized(MPI_Datatype old)
{
    MPI_Datatype t;
    int err = MPI_Type_create_resized(old, within(-20, 20), within(0, 60), &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype subarray(MPI_Datatype old)
{
    MPI_Datatype t;
    int ndims = within(1, 3), size[3], sub[3], start[3];
    int order = within(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int k = 0; k < ndims; k++) {
        size[k] = within(1, 4);
        sub[k] = within(1, size[k]);
        start[k] = within(0, size[k] - sub[k]);
    }
    int err = MPI_Type_create_subarray(ndims, size, sub, start, order, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

/* Chooses how one dimension is distributed: the kind of distribution, its argument, and
 * the number of processes. */
static void some_distribution(int size, int *how, int *arg, int *nprocs)
{
    static const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                MPI_DISTRIBUTE_NONE};
    *how = kinds[within(0, 2)];
    *nprocs = *how == MPI_DISTRIBUTE_NONE ? 1 : within(1, 3);
    *arg = MPI_DISTRIBUTE_DFLT_DARG;
    if (*how == MPI_DISTRIBUTE_BLOCK && within(0, 1))
        *arg = (size + *nprocs - 1) / *nprocs + within(0, 1);
    if (*how == MPI_DISTRIBUTE_CYCLIC && within(0, 2)) *arg = within(1, 3);
}

static MPI_Datatype darray(MPI_Datatype old)
{
    MPI_Datatype t;
    int ndims = within(1, 3), size[3], how[3], arg[3], nprocs[3], all = 1;
    int order = within(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int k = 0; k < ndims; k++) {
        size[k] = within(1, 7);
        some_distribution(size[k], &how[k], &arg[k], &nprocs[k]);
        all *= nprocs[k];
    }
    int err = MPI_Type_create_darray(all, within(0, all - 1), ndims, size, how, arg,
                                     nprocs, order, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

/* ---- the same constructors with large counts, if MPI provides them ---- */

#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
static MPI_Datatype contiguous_c(MPI_Datatype old)
{
    MPI_Datatype t;
    int err = MPI_Type_contiguous_c(within(0, 4), old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype vector_c(MPI_Datatype old)
{
    MPI_Datatype t;
    int n = within(0, 4), length = within(0, 3), stride = some_stride(6);
    int err = MPI_Type_vector_c(n, length, stride, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype hvector_c(MPI_Datatype old)
{
    MPI_Datatype t;
    int n = within(0, 4), length = within(0, 3), stride = some_stride(60);
    int err = MPI_Type_create_hvector_c(n, length, stride, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static void widen(const struct arguments *a, MPI_Count *length, MPI_Count *displ,
                  MPI_Count *bytes)
{
    for (int i = 0; i < MOST; i++) {
        length[i] = a->length[i];
        displ[i] = a->displ[i];
        bytes[i] = a->bytes[i];
    }
}

static MPI_Datatype indexed_c(MPI_Datatype old)
{
    MPI_Datatype t;
    MPI_Count length[MOST], displ[MOST], bytes[MOST];
    struct arguments a = some_arguments();
    widen(&a, length, displ, bytes);
    int err = within(0, 1) ? MPI_Type_indexed_c(a.n, length, displ, old, &t)
                           : MPI_Type_create_hindexed_c(a.n, length, bytes, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype indexed_block_c(MPI_Datatype old)
{
    MPI_Datatype t;
    MPI_Count length[MOST], displ[MOST], bytes[MOST];
    struct arguments a = some_arguments();
    widen(&a, length, displ, bytes);
    int err = within(0, 1)
                  ? MPI_Type_create_indexed_block_c(a.n, length[0], displ, old, &t)
                  : MPI_Type_create_hindexed_block_c(a.n, length[0], bytes, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype structure_c(MPI_Datatype old)
{
    MPI_Datatype t;
    MPI_Count length[MOST], displ[MOST], bytes[MOST];
    struct arguments a = some_arguments();
    MPI_Datatype members[] = {old, old, old, old, old};
    widen(&a, length, displ, bytes);
    int err = MPI_Type_create_struct_c(a.n, length, bytes, members, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype resized_c(MPI_Datatype old)
{
    MPI_Datatype t;
    int err = MPI_Type_create_resized_c(old, within(-20, 20), within(0, 60), &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype subarray_c(MPI_Datatype old)
{
    MPI_Datatype t;
    MPI_Count size[3], sub[3], start[3];
    int ndims = within(1, 3), order = within(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int k = 0; k < ndims; k++) {
        size[k] = within(1, 4);
        sub[k] = within(1, (int)size[k]);
        start[k] = within(0, (int)(size[k] - sub[k]));
    }
    int err = MPI_Type_create_subarray_c(ndims, size, sub, start, order, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}

static MPI_Datatype darray_c(MPI_Datatype old)
{
    MPI_Datatype t;
    MPI_Count size[3];
    int ndims = within(1, 3), how[3], arg[3], nprocs[3], all = 1;
    int order = within(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int k = 0; k < ndims; k++) {
        size[k] = within(1, 7);
        some_distribution((int)size[k], &how[k], &arg[k], &nprocs[k]);
        all *= nprocs[k];
    }
    int err = MPI_Type_create_darray_c(all, within(0, all - 1), ndims, size, how, arg,
                                       nprocs, order, old, &t);
    return err == MPI_SUCCESS ? t : MPI_DATATYPE_NULL;
}
#endif

const struct types_maker types_makers[] = {
    {"dup", dup_type},
    {"contiguous", contiguous},
    {"vector", vector},
    {"hvector", hvector},
    {"indexed", indexed},
    {"hindexed", hindexed},
    {"indexed_block", indexed_block},
    {"hindexed_block", hindexed_block},
    {"struct", structure},
    {"resized", resized},
    {"subarray", subarray},
    {"darray", darray},
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
    {"contiguous_c", contiguous_c},
    {"vector_c", vector_c},
    {"hvector_c", hvector_c},
    {"indexed_c", indexed_c},
    {"indexed_block_c", indexed_block_c},
    {"struct_c", structure_c},
    {"resized_c", resized_c},
    {"subarray_c", subarray_c},
    {"darray_c", darray_c},
#endif
};
const int types_nmakers = sizeof types_makers / sizeof types_makers[0];

void types_free(MPI_Datatype *type, MPI_Datatype basic)
{
    if (*type != basic) CHECK(MPI_Type_free(type) == MPI_SUCCESS);
}

MPI_Datatype types_random(int depth, MPI_Datatype basic)
{
    int size;
    if (depth == 0) return basic;
    MPI_Datatype old = types_random(depth - 1, basic);
    CHECK(MPI_Type_size(old, &size) == MPI_SUCCESS);
    if (size == 0 || size > 2000) return old; /* Open MPI refuses an empty darray */
    MPI_Datatype type = types_makers[within(0, types_nmakers - 1)].make(old);
    CHECK(type != MPI_DATATYPE_NULL);
    types_free(&old, basic);
    return type;
}
