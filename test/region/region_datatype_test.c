/* Tests region_from_datatype. A region must contain the bytes that MPI_Pack packs, in as
 * simple a form as possible. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "check.h"
#include "region_mpi.h"
#include "region_types.h"

/* ---- counting handles, all of which must be freed ---- */

static int handles; /* derived types returned by get_contents that have not been freed */

static void count_handles(MPI_Count n, const MPI_Datatype *types)
{
    for (MPI_Count i = 0; i < n; i++) {
        int combiner;
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
        MPI_Count ints, addresses, counts, inner;
        int err = PMPI_Type_get_envelope_c(types[i], &ints, &addresses, &counts, &inner,
                                           &combiner);
#else
        int ints, addresses, inner;
        int err = PMPI_Type_get_envelope(types[i], &ints, &addresses, &inner, &combiner);
#endif
        handles += err != MPI_SUCCESS || combiner != MPI_COMBINER_NAMED;
    }
}

int MPI_Type_get_contents(MPI_Datatype type, int ints, int addresses, int types, int *i,
                          MPI_Aint *a, MPI_Datatype *t)
{
    int err = PMPI_Type_get_contents(type, ints, addresses, types, i, a, t);
    count_handles(err == MPI_SUCCESS ? types : 0, t);
    return err;
}

#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
int MPI_Type_get_contents_c(MPI_Datatype type, MPI_Count ints, MPI_Count addresses,
                            MPI_Count counts, MPI_Count types, int *i, MPI_Aint *a,
                            MPI_Count *c, MPI_Datatype *t)
{
    int err = PMPI_Type_get_contents_c(type, ints, addresses, counts, types, i, a, c, t);
    count_handles(err == MPI_SUCCESS ? types : 0, t);
    return err;
}
#endif

int MPI_Type_free(MPI_Datatype *type)
{
    handles--;
    return PMPI_Type_free(type);
}

/* ---- comparison with MPI_Pack ---- */

/* The region must be within the bounds that MPI reports. MPICH's bounds include even
 * pieces of length 0. */
static void check_bounds(MPI_Datatype type, const struct region *r, int64_t bytes)
{
    MPI_Count low, extent;
    int64_t l, h;
    region_bounds(r, &l, &h);
    CHECK_EQ(MPI_SUCCESS, MPI_Type_get_true_extent_x(type, &low, &extent));
    if (bytes == 0) return;
    CHECK(low <= l);
    CHECK(h <= low + extent);
}

static void check_packs_alike(MPI_Datatype type, int count, const struct region *r)
{
    int64_t low, high;
    int size, position = 0;
    region_bounds(r, &low, &high);
    size_t room = (size_t)(high - low), n = (size_t)region_bytes(r);
    unsigned char *buf = malloc(room + 1);
    unsigned char *mine = calloc(1, n + 1);
    for (size_t i = 0; i < room; i++)
        buf[i] = (unsigned char)check_random(256);
    const void *base = (void *)((uintptr_t)buf - (uintptr_t)low);

    CHECK_EQ(MPI_SUCCESS, MPI_Pack_size(count, type, MPI_COMM_SELF, &size));
    unsigned char *theirs = calloc(1, (size_t)size + 1);
    int err = MPI_Pack(base, count, type, theirs, size, &position, MPI_COMM_SELF);
    CHECK_EQ(MPI_SUCCESS, err);
    struct region_cursor *c = region_cursor_new(r);
    CHECK_EQ(position, region_gather(c, base, mine, n + 1));
    CHECK_EQ(n, position);
    CHECK_BYTES(theirs, mine, n);
    region_cursor_free(c);
    free(theirs);
    free(mine);
    free(buf);
}

static void check_type(MPI_Datatype type, MPI_Datatype expected)
{
    struct region *r;
    MPI_Datatype basic;
    MPI_Count size;
    int64_t bytes;
    int count = (int)check_random(4);
    CHECK_EQ(MPI_SUCCESS, MPI_Type_size_x(type, &size));
    if (!CHECK_NC(NC_NOERR, region_from_datatype(type, 1, &basic, &bytes, &r))) return;
    CHECK_EQ(size, bytes);
    CHECK_EQ(size, region_bytes(r));
    CHECK(basic == expected || (size == 0 && basic == MPI_BYTE));
    check_bounds(type, r, bytes);
    region_free(r);

    CHECK_EQ(MPI_SUCCESS, MPI_Type_commit(&type));
    CHECK_NC(NC_NOERR, region_from_datatype(type, count, &basic, &bytes, &r));
    CHECK_EQ(size * count, region_bytes(r));
    check_packs_alike(type, count, r);
    region_free(r);
}

static MPI_Datatype some_basic(void)
{
    const MPI_Datatype basics[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_CHAR};
    return basics[check_random(5)];
}

static void every_constructor_is_packed_as_by_MPI(void)
{
    for (int i = 0; i < 100 * types_nmakers; i++) {
        MPI_Datatype basic = some_basic();
        MPI_Datatype type = types_makers[i % types_nmakers].make(basic);
        if (!CHECK(type != MPI_DATATYPE_NULL)) return;
        check_type(type, basic);
        types_free(&type, basic);
    }
}

static void nested_constructors_are_packed_as_by_MPI(void)
{
    for (int i = 0; i < 1000; i++) {
        MPI_Datatype basic = some_basic();
        MPI_Datatype type = types_random(2 + (int)check_random(3), basic);
        check_type(type, basic);
        types_free(&type, basic);
    }
}

static void no_memory_is_leaked(void)
{
    struct region *r;
    MPI_Datatype basic;
    int64_t bytes, before = base_mem_in_use();
    for (int i = 0; i < 200; i++) {
        MPI_Datatype type = types_random(4, MPI_INT);
        handles = 0;
        CHECK_NC(NC_NOERR, region_from_datatype(type, 2, &basic, &bytes, &r));
        CHECK_EQ(0, handles);
        region_free(r);
        types_free(&type, MPI_INT);
    }
    CHECK_EQ(before, base_mem_in_use());
}

/* ---- properties ---- */

static void check_is_block(MPI_Datatype type, int count, int64_t bytes)
{
    struct region *r;
    MPI_Datatype basic;
    int64_t one, offset;
    CHECK_NC(NC_NOERR, region_from_datatype(type, count, &basic, &one, &r));
    CHECK(basic == MPI_INT);
    CHECK(r != NULL && region_is_block(r, &offset) && offset == 0);
    CHECK_EQ(bytes, region_bytes(r));
    region_free(r);
    types_free(&type, MPI_INT);
}

static void dense_types_become_one_block(void)
{
    const int size[] = {3, 4, 5}, zero[] = {0, 0, 0}, four = 4, length[] = {1, 2, 3};
    const int displ[] = {0, 1, 3};
    const MPI_Aint bytes[] = {0, 4, 12};
    const MPI_Datatype ints[] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Datatype t, u;
    check_is_block(MPI_INT, 1, 4);
    check_is_block(MPI_INT, 7, 28);
    MPI_Type_contiguous(5, MPI_INT, &t);
    MPI_Type_contiguous(6, t, &u);
    MPI_Type_free(&t);
    check_is_block(u, 2, 240);
    MPI_Type_vector(5, 3, 3, MPI_INT, &t);
    check_is_block(t, 3, 180);
    MPI_Type_create_subarray(3, size, size, zero, MPI_ORDER_C, MPI_INT, &t);
    check_is_block(t, 2, 480);
    MPI_Type_create_struct(1, &four, bytes, ints, &t);
    check_is_block(t, 2, 32);
    MPI_Type_create_struct(3, length, bytes, ints, &t);
    check_is_block(t, 2, 48);
    MPI_Type_indexed(3, length, displ, MPI_INT, &t);
    check_is_block(t, 2, 48);
}

static void large_subarrays_are_described_in_little_memory(void)
{
    const int size[] = {1000, 1000, 100}, sub[] = {500, 500, 50}, start[] = {1, 2, 3};
    struct region *r;
    MPI_Datatype t, basic;
    int64_t bytes, before = base_mem_in_use();
    MPI_Type_create_subarray(3, size, sub, start, MPI_ORDER_FORTRAN, MPI_INT, &t);
    CHECK_NC(NC_NOERR, region_from_datatype(t, 10, &basic, &bytes, &r));
    CHECK(base_mem_in_use() - before < 150);
    CHECK_EQ((int64_t)500 * 500 * 50 * 4, bytes);
    CHECK_EQ((int64_t)500 * 50 * 10, region_runs(r));
    region_free(r);
    MPI_Type_free(&t);
}

static void check_refused(int error, MPI_Datatype type, int64_t count)
{
    struct region *r;
    MPI_Datatype basic;
    int64_t bytes, before = base_mem_in_use();
    CHECK_NC(error, region_from_datatype(type, count, &basic, &bytes, &r));
    CHECK(r == NULL);
    CHECK_EQ(before, base_mem_in_use());
}

static MPI_Datatype mixed(int doubles)
{
    const int length[] = {3, doubles, 1};
    const MPI_Aint displ[] = {0, 16, 64};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_INT};
    MPI_Datatype t;
    MPI_Type_create_struct(3, length, displ, types, &t);
    return t;
}

static void mixed_types_are_refused(void)
{
    MPI_Datatype t = mixed(2), u;
    struct region *r;
    int64_t bytes;
    MPI_Type_vector(3, 1, 2, t, &u);
    check_refused(NC_EMULTITYPES, t, 1);
    check_refused(NC_EMULTITYPES, u, 1);
    MPI_Type_free(&u);
    MPI_Type_free(&t);

    t = mixed(0); /* members without elements are ignored */
    CHECK_NC(NC_NOERR, region_from_datatype(t, 1, &u, &bytes, &r));
    CHECK(u == MPI_INT);
    CHECK_EQ(16, bytes);
    region_free(r);
    MPI_Type_free(&t);
}

static void other_types_are_refused(void)
{
    MPI_Datatype t;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &t);
    check_refused(NC_EUNSPTETYPE, MPI_DATATYPE_NULL, 1);
    check_refused(NC_EUNSPTETYPE, MPI_DOUBLE_INT, 1);
    check_refused(NC_EUNSPTETYPE, MPI_C_DOUBLE_COMPLEX, 1);
    check_refused(NC_EUNSPTETYPE, t, 1);
    check_refused(NC_EINVAL, MPI_INT, -1);
    MPI_Type_free(&t);
}

static void too_many_instances_are_refused(void)
{
    MPI_Datatype t;
    MPI_Type_create_resized(MPI_INT, 0, 1 << 30, &t);
    check_refused(NC_EINTOVERFLOW, MPI_INT, INT64_MAX / 2);
    check_refused(NC_EINTOVERFLOW, t, (int64_t)1 << 40);
    MPI_Type_free(&t);
}

static void predefined_types_are_recognized(void)
{
    const MPI_Datatype known[] = {
        MPI_CHAR,      MPI_SIGNED_CHAR,    MPI_UNSIGNED_CHAR, MPI_BYTE,
        MPI_SHORT,     MPI_UNSIGNED_SHORT, MPI_INT,           MPI_UNSIGNED,
        MPI_LONG,      MPI_UNSIGNED_LONG,  MPI_LONG_LONG,     MPI_UNSIGNED_LONG_LONG,
        MPI_FLOAT,     MPI_DOUBLE,         MPI_INT8_T,        MPI_UINT8_T,
        MPI_INT16_T,   MPI_UINT16_T,       MPI_INT32_T,       MPI_UINT32_T,
        MPI_INT64_T,   MPI_UINT64_T,       MPI_OFFSET,        MPI_AINT,
        MPI_COUNT,     MPI_INTEGER,        MPI_REAL,          MPI_DOUBLE_PRECISION,
        MPI_CHARACTER, MPI_INTEGER1,       MPI_INTEGER2,      MPI_INTEGER4,
        MPI_INTEGER8,  MPI_REAL4,          MPI_REAL8,
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i] != MPI_DATATYPE_NULL) check_type(known[i], known[i]);
}

static void fortran_types_by_precision_are_named_ones(void)
{
    struct region *r;
    MPI_Datatype t, basic;
    int64_t bytes;
    int size;
    MPI_Type_create_f90_integer(9, &t);
    CHECK_NC(NC_NOERR, region_from_datatype(t, 1, &basic, &bytes, &r));
    CHECK_EQ(4, bytes);
    CHECK_EQ(MPI_SUCCESS, MPI_Type_size(basic, &size));
    CHECK_EQ(4, size);
    region_free(r);
    MPI_Type_create_f90_complex(6, 30, &t);
    check_refused(NC_EUNSPTETYPE, t, 1);
}

static void displacements_may_be_addresses(void)
{
    int values[] = {1, 2, 3, 4, 5}, got[2] = {0};
    const int length = 1;
    MPI_Aint displ[2];
    MPI_Datatype t, basic;
    struct region *r;
    int64_t bytes;
    MPI_Get_address(&values[3], &displ[0]);
    MPI_Get_address(&values[1], &displ[1]);
    MPI_Type_create_hindexed_block(2, length, displ, MPI_INT, &t);
    CHECK_NC(NC_NOERR, region_from_datatype(t, 1, &basic, &bytes, &r));
    struct region_cursor *c = region_cursor_new(r);
    CHECK_EQ(8, region_gather(c, MPI_BOTTOM, got, sizeof got));
    CHECK_EQ(4, got[0]);
    CHECK_EQ(2, got[1]);
    region_cursor_free(c);
    region_free(r);
    MPI_Type_free(&t);
}

/* Together, the processes' parts of a distributed array must cover it exactly once. */
static void distributed_arrays_are_complete(void)
{
    enum { X = 7, Y = 11, P = 3, Q = 2 };
    const int size[] = {X, Y}, grid[] = {P, Q}, arg[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    const int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    char seen[X * Y] = {0}, all[X * Y];
    memset(all, 1, sizeof all);
    for (int rank = 0; rank < P * Q; rank++) {
        MPI_Datatype t, basic;
        struct region *r;
        struct region_strip s;
        int64_t bytes;
        MPI_Type_create_darray(P * Q, rank, 2, size, how, arg, grid, MPI_ORDER_C,
                               MPI_BYTE, &t);
        CHECK_NC(NC_NOERR, region_from_datatype(t, 1, &basic, &bytes, &r));
        struct region_cursor *c = region_cursor_new(r);
        while (region_next(c, INT64_MAX, 1, &s))
            for (int64_t i = 0; i < s.length; i++)
                seen[s.offset + i]++;
        region_cursor_free(c);
        region_free(r);
        MPI_Type_free(&t);
    }
    CHECK_BYTES(all, seen, sizeof all);
}

#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
/* Checks a region with large counts, and that all handles have been freed. */
static void check_large(MPI_Datatype type, int64_t bytes, int64_t runs, int64_t end)
{
    struct region *r;
    MPI_Datatype basic, copy;
    int64_t one, low, high;
    MPI_Type_dup(type, &copy);
    handles = 0;
    if (CHECK_NC(NC_NOERR, region_from_datatype(copy, 1, &basic, &one, &r))) {
        region_bounds(r, &low, &high);
        CHECK_EQ(bytes, one);
        CHECK_EQ(runs, region_runs(r));
        CHECK_EQ(end, high);
        region_free(r);
    }
    CHECK_EQ(0, handles);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
}

/* Tests each constructor with a count that does not fit into an int. Also nests the
 * resulting types in ordinary constructors, and vice versa. */
static void counts_may_exceed_an_int(void)
{
    const MPI_Count large = (MPI_Count)3 << 30, one = 1, four = 4, at = 2 * large;
    const MPI_Count size[] = {2, 2 * large}, sub[] = {2, large}, start[] = {0, 7};
    MPI_Datatype t, u, pair;
    MPI_Type_contiguous_c(large, MPI_SHORT, &t);
    check_large(t, 2 * large, 1, 2 * large);
    MPI_Type_vector_c(3, large, 2 * large, MPI_BYTE, &t);
    check_large(t, 3 * large, 3, 5 * large);
    MPI_Type_vector_c(large, 1, 2, MPI_SHORT, &t);
    check_large(t, 2 * large, large, 4 * large - 2);
    MPI_Type_create_hvector_c(2, large, 2 * large, MPI_BYTE, &t);
    check_large(t, 2 * large, 2, 3 * large);
    MPI_Type_indexed_c(1, &large, &at, MPI_BYTE, &t);
    check_large(t, large, 1, 3 * large);
    MPI_Type_create_hindexed_c(1, &large, &at, MPI_INT, &t);
    check_large(t, 4 * large, 1, 6 * large);
    MPI_Type_create_indexed_block_c(1, large, &at, MPI_SHORT, &t);
    check_large(t, 2 * large, 1, 6 * large);
    MPI_Type_create_hindexed_block_c(1, large, &at, MPI_BYTE, &t);
    check_large(t, large, 1, 3 * large);
    t = MPI_INT;
    MPI_Type_create_struct_c(1, &large, &at, &t, &u);
    check_large(u, 4 * large, 1, 6 * large);
    MPI_Type_create_subarray_c(2, size, sub, start, MPI_ORDER_C, MPI_BYTE, &t);
    check_large(t, 2 * large, 2, 3 * large + 7);
    MPI_Type_create_resized_c(MPI_INT, 0, large, &t);
    MPI_Type_contiguous(3, t, &u); /* nests a large-count type in an ordinary type */
    MPI_Type_free(&t);
    check_large(u, 12, 3, 2 * large + 4);
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair); /* the other way round */
    MPI_Type_create_hindexed_block_c(1, 1, &at, pair, &t);
    check_large(t, 8, 2, at + 12);
    MPI_Type_create_struct_c(1, &one, &four, &pair, &t);
    MPI_Type_vector_c(2, 1, large, t, &u);
    MPI_Type_free(&pair);
    MPI_Type_free(&t);
    check_large(u, 16, 4, 12 * large + 16);
}
#endif

static const struct check_test tests[] = {
    {"every constructor is packed as by MPI", every_constructor_is_packed_as_by_MPI, 0},
    {"nested constructors are packed as by MPI", nested_constructors_are_packed_as_by_MPI,
     0},
    {"no memory is leaked", no_memory_is_leaked, 0},
    {"dense types become one block", dense_types_become_one_block, 0},
    {"large subarrays are described in little memory",
     large_subarrays_are_described_in_little_memory, 0},
    {"mixed types are refused", mixed_types_are_refused, 0},
    {"other types are refused", other_types_are_refused, 0},
    {"too many instances are refused", too_many_instances_are_refused, 0},
    {"predefined types are recognized", predefined_types_are_recognized, 0},
    {"Fortran types by precision are predefined types",
     fortran_types_by_precision_are_named_ones, 0},
    {"displacements may be addresses", displacements_may_be_addresses, 0},
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
    {"counts may exceed an int", counts_may_exceed_an_int, 0},
#endif
    {"distributed arrays are complete", distributed_arrays_are_complete, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
