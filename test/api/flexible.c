/* Tests flexible data calls, whose memory layout is described by an MPI datatype, and
 * mapped access (varm). */
#include "config.h"

#include <string.h>

#include "made_dataset.h"

enum { N = 12 }; /* number of elements per process */

static int v;
static MPI_Offset start, count = N;

/* Creates a variable with N ints per process and enters the case's data mode. */
static int ints_for_all(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    start = N * check.rank;
    count = N;
    begin_data(ncid);
    return ncid;
}

static int put(int ncid, const void *buf, MPI_Offset bufcount, MPI_Datatype type)
{
    return check.collective
               ? ncmpi_put_vara_all(ncid, v, &start, &count, buf, bufcount, type)
               : ncmpi_put_vara(ncid, v, &start, &count, buf, bufcount, type);
}

static int get(int ncid, void *buf, MPI_Offset bufcount, MPI_Datatype type)
{
    return check.collective
               ? ncmpi_get_vara_all(ncid, v, &start, &count, buf, bufcount, type)
               : ncmpi_get_vara(ncid, v, &start, &count, buf, bufcount, type);
}

static void file_holds(int ncid, const int *expected)
{
    int back[N];
    memset(back, 0, sizeof back);
    CHECK_NC(NC_NOERR, get_ints(ncid, v, &start, &count, back));
    CHECK_BYTES(expected, back, sizeof back);
}

static void numbered(int *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = 1000 * check.rank + i + 1;
}

static void values_are_described_by_a_predefined_type(void)
{
    int ncid = ints_for_all(), values[N], back[N] = {0};
    numbered(values, N);
    CHECK_NC(NC_NOERR, put(ncid, values, N, MPI_INT));
    file_holds(ncid, values);
    CHECK_NC(NC_NOERR, get(ncid, back, N, MPI_INT));
    CHECK_BYTES(values, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

static void values_of_a_predefined_type_are_converted(void)
{
    int ncid = ints_for_all(), values[N];
    double wide[N], back[N];
    numbered(values, N);
    for (int i = 0; i < N; i++)
        wide[i] = values[i];
    CHECK_NC(NC_NOERR, put(ncid, wide, N, MPI_DOUBLE));
    file_holds(ncid, values);
    CHECK_NC(NC_NOERR, get(ncid, back, N, MPI_DOUBLE));
    CHECK_BYTES(wide, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

static void the_count_may_be_derived_from_the_request(void)
{
    int ncid = ints_for_all(), values[N], back[N] = {0};
    numbered(values, N);
    CHECK_NC(NC_NOERR, put(ncid, values, NC_COUNT_IGNORE, MPI_INT));
    file_holds(ncid, values);
    CHECK_NC(NC_NOERR, get(ncid, back, NC_COUNT_IGNORE, MPI_INT));
    CHECK_BYTES(values, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

static void MPI_DATATYPE_NULL_means_the_variables_type(void)
{
    int ncid = ints_for_all(), values[N], back[N] = {0};
    numbered(values, N);
    CHECK_NC(NC_NOERR, put(ncid, values, 12345, MPI_DATATYPE_NULL));
    file_holds(ncid, values);
    CHECK_NC(NC_NOERR, get(ncid, back, -7, MPI_DATATYPE_NULL));
    CHECK_BYTES(values, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

/* ---- derived types, each of which selects N ints from a buffer of ROOM ints ---- */

enum { ROOM = 80 };

struct layout {
    MPI_Datatype type; /* the buffer consists of `count` of these */
    MPI_Offset count;
    int place[N]; /* each element's index in the buffer, in order */
};

static void make_vector(struct layout *l)
{
    MPI_Type_vector(N / 2, 2, 5, MPI_INT, &l->type);
    l->count = 1;
    for (int i = 0; i < N; i++)
        l->place[i] = i / 2 * 5 + i % 2;
}

static void make_contiguous(struct layout *l)
{
    MPI_Type_contiguous(3, MPI_INT, &l->type);
    l->count = N / 3;
    for (int i = 0; i < N; i++)
        l->place[i] = i;
}

static void make_subarray(struct layout *l)
{
    int sizes[2] = {6, 8}, subsizes[2] = {4, 3}, starts[2] = {1, 4};
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &l->type);
    l->count = 1;
    for (int i = 0; i < N; i++)
        l->place[i] = (1 + i / 3) * 8 + 4 + i % 3;
}

static void make_hindexed(struct layout *l)
{
    int lengths[3] = {5, 0, 7};
    MPI_Aint places[3] = {40 * sizeof(int), 0, 3 * sizeof(int)};
    MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &l->type);
    l->count = 1;
    for (int i = 0; i < N; i++)
        l->place[i] = i < 5 ? 40 + i : 3 + i - 5;
}

static void make_struct(struct layout *l)
{
    int lengths[2] = {2, 1};
    MPI_Aint places[2] = {sizeof(int), 8 * sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, types, &l->type);
    l->count = N / 3; /* the extent is 8 ints: indices 1 to 8 */
    for (int i = 0; i < N; i++)
        l->place[i] = i / 3 * 8 + (i % 3 == 2 ? 8 : 1 + i % 3);
}

static void make_resized(struct layout *l)
{
    MPI_Type_create_resized(MPI_INT, 0, 5 * sizeof(int), &l->type);
    l->count = N;
    for (int i = 0; i < N; i++)
        l->place[i] = 5 * i;
}

static void make_nested(struct layout *l)
{
    MPI_Datatype pair, spaced;
    MPI_Type_vector(2, 1, 3, MPI_INT, &pair); /* selects ints 0 and 3 */
    MPI_Type_create_resized(pair, 0, 7 * sizeof(int), &spaced);
    MPI_Type_create_hvector(3, 1, 14 * (MPI_Aint)sizeof(int), spaced, &l->type);
    MPI_Type_free(&pair);
    MPI_Type_free(&spaced);
    l->count = 2; /* the second instance begins after the extent of 35 ints */
    for (int i = 0; i < N; i++)
        l->place[i] = i / 6 * 35 + i % 6 / 2 * 14 + i % 2 * 3;
}

static void make_dup(struct layout *l)
{
    struct layout vector;
    make_vector(&vector);
    *l = vector;
    MPI_Type_dup(vector.type, &l->type);
    MPI_Type_free(&vector.type);
}

/* Datatypes created by MPI-4's large-count constructors. Only MPI's large-count functions
 * can decode them. */
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
static void make_vector_c(struct layout *l)
{
    make_vector(l);
    MPI_Type_free(&l->type);
    MPI_Type_vector_c(N / 2, 2, 5, MPI_INT, &l->type);
}

static void make_contiguous_c(struct layout *l)
{
    make_contiguous(l);
    MPI_Type_free(&l->type);
    MPI_Type_contiguous_c(3, MPI_INT, &l->type);
}

static void make_subarray_c(struct layout *l)
{
    MPI_Count sizes[2] = {6, 8}, subsizes[2] = {4, 3}, starts[2] = {1, 4};
    make_subarray(l);
    MPI_Type_free(&l->type);
    MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT,
                               &l->type);
}

static void make_nested_c(struct layout *l)
{
    MPI_Datatype ordinary;
    make_nested(l);
    ordinary = l->type;
    MPI_Type_contiguous_c(2, ordinary, &l->type);
    MPI_Type_free(&ordinary);
    l->count = 1;
}
#endif

static void derived_types_may_be_nested(void)
{
    static void (*const makers[])(struct layout *) = {
        make_vector,   make_contiguous,   make_subarray,   make_hindexed,
        make_struct,   make_resized,      make_nested,     make_dup,
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
        make_vector_c, make_contiguous_c, make_subarray_c, make_nested_c,
#endif
    };
    int ncid = ints_for_all();
    for (size_t m = 0; m < sizeof makers / sizeof makers[0]; m++) {
        struct layout l;
        int buf[ROOM], kept[ROOM], values[N];
        makers[m](&l);
        MPI_Type_commit(&l.type);
        numbered(values, N);
        for (int i = 0; i < ROOM; i++)
            buf[i] = -7;
        for (int i = 0; i < N; i++)
            buf[l.place[i]] = values[i] += 100 * (int)m;
        memcpy(kept, buf, sizeof buf);
        CHECK_NC(NC_NOERR, put(ncid, buf, l.count, l.type));
        CHECK_BYTES(kept, buf, sizeof buf);
        file_holds(ncid, values);
        for (int i = 0; i < N; i++)
            buf[l.place[i]] = 0;
        CHECK_NC(NC_NOERR, get(ncid, buf, l.count, l.type));
        CHECK_BYTES(kept, buf, sizeof buf);
        MPI_Type_free(&l.type);
    }
    end_data(ncid);
    close_dataset(ncid);
}

/* MPI_BOTTOM is NULL, which means a missing buffer in other calls. */
static void absolute_addresses_count_from_bottom(void)
{
    int ncid = ints_for_all(), values[N], low[N / 3], high[N - N / 3];
    int lengths[] = {N / 3, N - N / 3};
    MPI_Aint places[2];
    MPI_Datatype type;
    numbered(values, N);
    memcpy(low, values, sizeof low);
    memcpy(high, values + N / 3, sizeof high);
    MPI_Get_address(low, &places[0]);
    MPI_Get_address(high, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_NC(NC_NOERR, put(ncid, MPI_BOTTOM, 1, type));
    file_holds(ncid, values);
    memset(low, 0, sizeof low);
    memset(high, 0, sizeof high);
    CHECK_NC(NC_NOERR, get(ncid, MPI_BOTTOM, 1, type));
    CHECK_BYTES(values, low, sizeof low);
    CHECK_BYTES(values + N / 3, high, sizeof high);
    MPI_Type_free(&type);
    end_data(ncid);
    close_dataset(ncid);
}

static void a_type_of_two_basic_types_is_refused(void)
{
    int ncid = ints_for_all(), lengths[2] = {N / 2, N / 2};
    char buf[N * 8] = {0};
    MPI_Aint places[2] = {0, N * 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT}, mixed;
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    CHECK_NC(NC_EMULTITYPES, put(ncid, buf, 1, mixed));
    CHECK_NC(NC_EMULTITYPES, get(ncid, buf, 1, mixed));
    MPI_Type_free(&mixed);
    end_data(ncid);
    close_dataset(ncid);
}

static void a_wrong_number_of_elements_is_refused(void)
{
    int ncid = ints_for_all(), values[N + 1] = {0};
    CHECK_NC(NC_EIOMISMATCH, put(ncid, values, N - 1, MPI_INT));
    CHECK_NC(NC_EIOMISMATCH, put(ncid, values, N + 1, MPI_INT));
    CHECK_NC(NC_EIOMISMATCH, get(ncid, values, N - 1, MPI_INT));
    CHECK(put(ncid, values, -5, MPI_INT) != NC_NOERR);
    end_data(ncid);
    close_dataset(ncid);
}

static void text_is_converted_to_text_only(void)
{
    int ncid = ints_for_all();
    char text[N] = {0};
    CHECK_NC(NC_ECHAR, put(ncid, text, N, MPI_CHAR));
    CHECK_NC(NC_ECHAR, get(ncid, text, N, MPI_CHAR));
    end_data(ncid);
    close_dataset(ncid);
}

/* ---- mapped memory and scalars ---- */

static void a_mapped_call_may_omit_strides(void)
{
    int ncid = new_dataset("a.nc"), dims[2], values[6], back[6] = {0};
    dims[0] = new_dim(ncid, "y", 2 * check.nprocs);
    dims[1] = new_dim(ncid, "x", 3);
    v = new_var(ncid, "v", NC_INT, 2, dims);
    begin_data(ncid);
    MPI_Offset s[2] = {2 * check.rank, 0}, c[2] = {2, 3},
               imap[2] = {1, 2}; /* x varies slowest */
    numbered(values, 6);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_put_varm_int_all(ncid, v, s, c, NULL, imap, values)
                           : ncmpi_put_varm_int(ncid, v, s, c, NULL, imap, values));
    CHECK_NC(NC_NOERR, get_ints(ncid, v, s, c, back));
    for (int i = 0; i < 6; i++)
        CHECK_EQ(values[i % 3 * 2 + i / 3], back[i]);
    memset(back, 0, sizeof back);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_get_varm_all(ncid, v, s, c, NULL, imap, back, 6, MPI_INT)
                 : ncmpi_get_varm(ncid, v, s, c, NULL, imap, back, 6, MPI_INT));
    CHECK_BYTES(values, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

static void a_strided_call_may_omit_strides(void)
{
    int ncid = new_dataset("a.nc"), dims[2], values[6], back[6] = {0};
    dims[0] = new_dim(ncid, "y", 2 * check.nprocs);
    dims[1] = new_dim(ncid, "x", 3);
    v = new_var(ncid, "v", NC_INT, 2, dims);
    begin_data(ncid);
    MPI_Offset s[2] = {2 * check.rank, 0}, c[2] = {2, 3};
    numbered(values, 6);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_put_vars_int_all(ncid, v, s, c, NULL, values)
                           : ncmpi_put_vars_int(ncid, v, s, c, NULL, values));
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_get_vars_int_all(ncid, v, s, c, NULL, back)
                           : ncmpi_get_vars_int(ncid, v, s, c, NULL, back));
    CHECK_BYTES(values, back, sizeof back);
    end_data(ncid);
    close_dataset(ncid);
}

/* Maps the elements to every second position in memory. bufcount may be either the number
 * of accessed elements or the number of elements that the map spans. */
static void a_map_may_have_gaps(void)
{
    int ncid = new_dataset("a.nc"), dim, values[9], back[9];
    dim = new_dim(ncid, "x", 5 * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &dim);
    begin_data(ncid);
    MPI_Offset s[1] = {5 * check.rank}, c[1] = {5}, imap[1] = {2};
    const struct {
        MPI_Offset n;
        int result;
    } given[] = {{5, NC_NOERR}, {9, NC_NOERR}, {4, NC_EIOMISMATCH}, {6, NC_EIOMISMATCH}};
    for (size_t k = 0; k < sizeof given / sizeof given[0]; k++) {
        numbered(values, 9);
        memset(back, 0, sizeof back);
        CHECK_NC(given[k].result, check.collective
                                      ? ncmpi_put_varm_all(ncid, v, s, c, NULL, imap,
                                                           values, given[k].n, MPI_INT)
                                      : ncmpi_put_varm(ncid, v, s, c, NULL, imap, values,
                                                       given[k].n, MPI_INT));
        CHECK_NC(
            given[k].result,
            check.collective
                ? ncmpi_get_varm_all(ncid, v, s, c, NULL, imap, back, given[k].n, MPI_INT)
                : ncmpi_get_varm(ncid, v, s, c, NULL, imap, back, given[k].n, MPI_INT));
        for (int i = 0; i < 9; i++)
            CHECK_EQ(given[k].result == NC_NOERR && i % 2 == 0 ? values[i] : 0, back[i]);
    }
    end_data(ncid);
    close_dataset(ncid);
}

static void scalars_need_no_arguments(void)
{
    int ncid = new_dataset("a.nc"), value = 5, back = 0;
    v = new_var(ncid, "v", NC_INT, 0, NULL);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var1_int_all(ncid, v, NULL, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, NULL, NULL, &back));
    CHECK_EQ(5, back);
    value = 6;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, NULL, NULL, NULL, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_varm_int_all(ncid, v, NULL, NULL, NULL, NULL, &back));
    CHECK_EQ(6, back);
    value = 7;
    CHECK_NC(NC_NOERR,
             ncmpi_put_varm_all(ncid, v, NULL, NULL, NULL, NULL, &value, 1, MPI_INT));
    CHECK_NC(NC_NOERR, ncmpi_get_var_all(ncid, v, &back, 1, MPI_INT));
    CHECK_EQ(7, back);
    close_dataset(ncid);
}

/* imap counts only elements that the datatype selects, not positions in memory. */
static void a_map_counts_elements_of_a_derived_type(void)
{
    enum { ROWS = 3, COLUMNS = 4, ALL = ROWS * COLUMNS };
    int dims[2], buf[2 * ALL], back[2 * ALL], file[ALL], ncid = new_dataset("a.nc");
    dims[0] = new_dim(ncid, "r", ROWS * check.nprocs);
    dims[1] = new_dim(ncid, "c", COLUMNS);
    v = new_var(ncid, "v", NC_INT, 2, dims);
    begin_data(ncid);
    MPI_Offset s[2] = {ROWS * check.rank, 0}, c[2] = {ROWS, COLUMNS}, imap[2] = {1, ROWS};
    MPI_Datatype second; /* selects every second int of a buffer */
    MPI_Type_vector(ALL, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    numbered(buf, 2 * ALL);
    CHECK_NC(NC_NOERR, check.collective
                           ? ncmpi_put_varm_all(ncid, v, s, c, NULL, imap, buf, 1, second)
                           : ncmpi_put_varm(ncid, v, s, c, NULL, imap, buf, 1, second));
    CHECK_NC(NC_NOERR, get_ints(ncid, v, s, c, file));
    for (int i = 0; i < ALL; i++)
        CHECK_EQ(buf[2 * (i / COLUMNS + i % COLUMNS * ROWS)], file[i]);
    memset(back, 0, sizeof back);
    CHECK_NC(NC_NOERR,
             check.collective
                 ? ncmpi_get_varm_all(ncid, v, s, c, NULL, imap, back, 1, second)
                 : ncmpi_get_varm(ncid, v, s, c, NULL, imap, back, 1, second));
    for (int i = 0; i < 2 * ALL; i++)
        CHECK_EQ(i % 2 == 0 ? buf[i] : 0, back[i]);
    imap[0] = -1; /* would address memory before the buffer */
    CHECK_NC(NC_EIOMISMATCH,
             check.collective
                 ? ncmpi_get_varm_all(ncid, v, s, c, NULL, imap, back, 1, second)
                 : ncmpi_get_varm(ncid, v, s, c, NULL, imap, back, 1, second));
    MPI_Type_free(&second);
    end_data(ncid);
    close_dataset(ncid);
}

/* MPI_BYTE matches both text and byte variables, and is treated as the variable's
 * type. */
static void bytes_of_mpi(void)
{
    static const nc_type types[] = {NC_CHAR, NC_BYTE};
    unsigned char bytes[N], back[N];
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", N * check.nprocs), vars[2];
    for (int i = 0; i < 2; i++)
        vars[i] = new_var(ncid, i == 0 ? "text" : "bytes", types[i], 1, &x);
    begin_data(ncid);
    start = N * check.rank;
    count = N;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < N; k++)
            bytes[k] = (unsigned char)('a' + check.rank + k + i);
        v = vars[i];
        memset(back, 0, sizeof back);
        CHECK_NC(NC_NOERR, put(ncid, bytes, N, MPI_BYTE));
        CHECK_NC(NC_NOERR, get(ncid, back, N, MPI_BYTE));
        CHECK_BYTES(bytes, back, sizeof back);
        memset(back, 0, sizeof back);
        CHECK_NC(NC_NOERR, get(ncid, back, N, i == 0 ? MPI_CHAR : MPI_UNSIGNED_CHAR));
        CHECK_BYTES(bytes, back, sizeof back);
    }
    end_data(ncid);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"values are described by a predefined type",
     values_are_described_by_a_predefined_type, CHECK_FORMATS | CHECK_MODES},
    {"values of a predefined type are converted",
     values_of_a_predefined_type_are_converted, CHECK_FORMATS | CHECK_MODES},
    {"the count may be derived from the request",
     the_count_may_be_derived_from_the_request, CHECK_FORMATS | CHECK_MODES},
    {"MPI_DATATYPE_NULL means the variable's type",
     MPI_DATATYPE_NULL_means_the_variables_type, CHECK_FORMATS | CHECK_MODES},
    {"derived types may be nested", derived_types_may_be_nested,
     CHECK_FORMATS | CHECK_MODES},
    {"absolute addresses are relative to MPI_BOTTOM",
     absolute_addresses_count_from_bottom, CHECK_FORMATS | CHECK_MODES},
    {"a type of two basic types is refused", a_type_of_two_basic_types_is_refused,
     CHECK_FORMATS | CHECK_MODES},
    {"a wrong number of elements is refused", a_wrong_number_of_elements_is_refused,
     CHECK_FORMATS | CHECK_MODES},
    {"text is converted to text only", text_is_converted_to_text_only,
     CHECK_FORMATS | CHECK_MODES},
    {"a mapped call may omit strides", a_mapped_call_may_omit_strides,
     CHECK_FORMATS | CHECK_MODES},
    {"a strided call may omit strides", a_strided_call_may_omit_strides,
     CHECK_FORMATS | CHECK_MODES},
    {"a map may have gaps", a_map_may_have_gaps, CHECK_FORMATS | CHECK_MODES},
    {"scalars need no arguments", scalars_need_no_arguments, CHECK_FORMATS},
    {"a map counts elements of a derived type", a_map_counts_elements_of_a_derived_type,
     CHECK_FORMATS | CHECK_MODES},
    {"MPI_BYTE matches text and bytes", bytes_of_mpi, CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
