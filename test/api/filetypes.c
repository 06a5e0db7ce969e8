/* Tests vard calls whose file type covers several variables, with each transfer method. A
 * call must access exactly the elements that the file type selects, and must fail if the
 * file type selects anything but values of the right type. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

enum { N = 10 }; /* elements per process in a variable or in one of its records */

static const char *const ways[] = {NULL,   "direct", "node",
                                   "view", "burst",  "burst at once"};
enum { NWAYS = sizeof ways / sizeof ways[0] };

static MPI_Info info_for(const char *way)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (way != NULL && strncmp(way, "burst", 5) == 0) {
        bool at_once = way[5] != '\0';
        MPI_Info_set(info, "nc_burst_buf", "enable");
        MPI_Info_set(info, "nc_burst_buf_dirname", check_path("."));
        MPI_Info_set(info, "nc_burst_buf_flush",
                     at_once ? "flush_immediate" : "flush_onclose");
    } else if (way != NULL) {
        MPI_Info_set(info, "nc_transfer", way);
    }
    return info;
}

static int create_by(const char *way)
{
    MPI_Info info = info_for(way);
    int ncid = -1;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static int open_by(const char *way)
{
    MPI_Info info = info_for(way);
    int ncid = -1;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Defines three variables of the same shape and enters the case's data mode. The second
 * variable has type `middle`. */
static void three_variables(int ncid, int ndims, const int *dimids, nc_type middle,
                            int *v)
{
    v[0] = new_var(ncid, "a", NC_INT, ndims, dimids);
    v[1] = new_var(ncid, "b", middle, ndims, dimids);
    v[2] = new_var(ncid, "c", NC_INT, ndims, dimids);
    begin_data(ncid);
}

static int put(int ncid, int varid, MPI_Datatype filetype, const void *buf, MPI_Offset n,
               MPI_Datatype type)
{
    return check.collective ? ncmpi_put_vard_all(ncid, varid, filetype, buf, n, type)
                            : ncmpi_put_vard(ncid, varid, filetype, buf, n, type);
}

static int get(int ncid, int varid, MPI_Datatype filetype, void *buf, MPI_Offset n,
               MPI_Datatype type)
{
    return check.collective ? ncmpi_get_vard_all(ncid, varid, filetype, buf, n, type)
                            : ncmpi_get_vard(ncid, varid, filetype, buf, n, type);
}

static MPI_Offset place_of(int ncid, int varid)
{
    MPI_Offset offset = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, varid, &offset));
    return offset;
}

/* Creates a datatype with `n` runs, each of `length` ints. Uses MPI's large-count
 * constructors if available, because only the large-count functions can decode the
 * resulting types. */
static MPI_Datatype runs_of(int n, const MPI_Aint *displ, int length)
{
    MPI_Datatype type, run = MPI_INT;
#ifdef HAVE_MPI_TYPE_GET_CONTENTS_C
    MPI_Type_contiguous_c(1, MPI_INT, &run);
#endif
    MPI_Type_create_hindexed_block(n, length, displ, run, &type);
    if (run != MPI_INT) MPI_Type_free(&run);
    MPI_Type_commit(&type);
    return type;
}

static void numbered(int *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = 1000 * check.rank + i + 1;
}

/* Checks this process's N elements of a variable or, for a record variable, those in
 * record `rec`. */
static void variable_holds(int ncid, int varid, int rec, const int *expected)
{
    int back[N], ndims = 0;
    MPI_Offset start[2] = {rec, (MPI_Offset)N * check.rank}, count[2] = {1, N};
    memset(back, 0, sizeof back);
    CHECK_NC(NC_NOERR, ncmpi_inq_varndims(ncid, varid, &ndims));
    CHECK_NC(NC_NOERR, get_ints(ncid, varid, start + 2 - ndims, count + 2 - ndims, back));
    CHECK_BYTES(expected, back, sizeof back);
}

static void finish(int ncid, MPI_Datatype *type)
{
    MPI_Type_free(type);
    end_data(ncid);
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD); /* all must finish before the file is recreated */
}

/* Passes the id of the middle variable with a file type that selects runs in all three
 * variables, starting with the last one. */
static void file_types_select_elements_of_fixed_size_variables(void)
{
    for (int w = 0; w < NWAYS; w++) {
        int v[3], values[3 * N], back[3 * N] = {0};
        int ncid = create_by(ways[w]), x = new_dim(ncid, "x", N * check.nprocs);
        three_variables(ncid, 1, &x, NC_INT, v);
        MPI_Aint displ[3];
        for (int i = 0; i < 3; i++)
            displ[i] = (MPI_Aint)(place_of(ncid, v[2 - i]) - place_of(ncid, v[1]) +
                                  4 * N * check.rank);
        MPI_Datatype type = runs_of(3, displ, N);
        numbered(values, 3 * N);
        CHECK_NC(NC_NOERR, put(ncid, v[1], type, values, 3 * N, MPI_INT));
        for (int i = 0; i < 3; i++)
            variable_holds(ncid, v[2 - i], 0, values + (ptrdiff_t)i * N);
        CHECK_NC(NC_NOERR, get(ncid, v[1], type, back, 3 * N, MPI_INT));
        CHECK_BYTES(values, back, sizeof back);
        finish(ncid, &type);
    }
}

/* Selects all variables in two records. */
static void file_types_select_records(void)
{
    for (int w = 0; w < NWAYS; w++) {
        int v[3], values[6 * N], back[6 * N] = {0}, dims[2];
        int ncid = create_by(ways[w]);
        MPI_Offset recsize = 0;
        dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
        dims[1] = new_dim(ncid, "x", N * check.nprocs);
        three_variables(ncid, 2, dims, NC_INT, v);
        CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &recsize));
        MPI_Aint displ[6];
        for (int i = 0; i < 6; i++)
            displ[i] = (MPI_Aint)(place_of(ncid, v[i % 3]) - place_of(ncid, v[0]) +
                                  4 * N * check.rank + (1 + i / 3) * recsize);
        MPI_Datatype type = runs_of(6, displ, N);
        numbered(values, 6 * N);
        CHECK_NC(NC_NOERR, put(ncid, v[0], type, values, 6 * N, MPI_INT));
        CHECK_EQ(3, dim_length(ncid, dims[0]));
        for (int i = 0; i < 6; i++)
            variable_holds(ncid, v[i % 3], 1 + i / 3, values + (ptrdiff_t)i * N);
        CHECK_NC(NC_NOERR, get(ncid, v[0], type, back, 6 * N, MPI_INT));
        CHECK_BYTES(values, back, sizeof back);
        finish(ncid, &type);
    }
}

/* Selects elements of a fixed-size variable and of new records. */
static void file_types_select_elements_of_a_fixed_size_variable_and_of_records(void)
{
    for (int w = 0; w < NWAYS; w++) {
        int values[2 * N], back[2 * N] = {0}, dims[2], fixed, record;
        int ncid = create_by(ways[w]);
        dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
        dims[1] = new_dim(ncid, "x", N * check.nprocs);
        fixed = new_var(ncid, "fixed", NC_INT, 1, dims + 1);
        record = new_var(ncid, "record", NC_INT, 2, dims);
        begin_data(ncid);
        MPI_Aint displ[2] = {4 * N * check.rank,
                             (MPI_Aint)(place_of(ncid, record) - place_of(ncid, fixed)) +
                                 4 * N * check.nprocs * 4 + 4 * N * check.rank};
        MPI_Datatype type = runs_of(2, displ, N);
        numbered(values, 2 * N);
        CHECK_NC(NC_NOERR, put(ncid, fixed, type, values, 2 * N, MPI_INT));
        CHECK_EQ(5, dim_length(ncid, dims[0]));
        variable_holds(ncid, fixed, 0, values);
        variable_holds(ncid, record, 4, values + N);
        CHECK_NC(NC_NOERR, get(ncid, fixed, type, back, 2 * N, MPI_INT));
        CHECK_BYTES(values, back, sizeof back);
        finish(ncid, &type);
    }
}

/* In memory, the values are doubles separated by gaps. */
static void file_types_are_used_with_converted_strided_memory(void)
{
    for (int w = 0; w < NWAYS; w++) {
        int v[3], expected[2 * N];
        double values[4 * N], back[4 * N];
        int ncid = create_by(ways[w]), x = new_dim(ncid, "x", N * check.nprocs);
        three_variables(ncid, 1, &x, NC_SHORT, v);
        MPI_Aint displ[2] = {4 * N * check.rank};
        displ[1] = displ[0] + (MPI_Aint)(place_of(ncid, v[2]) - place_of(ncid, v[0]));
        MPI_Datatype type = runs_of(2, displ, N), memory;
        MPI_Type_vector(2 * N, 1, 2, MPI_DOUBLE, &memory);
        MPI_Type_commit(&memory);
        numbered(expected, 2 * N);
        for (int i = 0; i < 4 * N; i++) {
            values[i] = i % 2 == 0 ? expected[i / 2] : -1;
            back[i] = -1;
        }
        CHECK_NC(NC_NOERR, put(ncid, v[0], type, values, 1, memory));
        variable_holds(ncid, v[0], 0, expected);
        variable_holds(ncid, v[2], 0, expected + N);
        CHECK_NC(NC_NOERR, get(ncid, v[0], type, back, 1, memory));
        CHECK_BYTES(values, back, sizeof values);
        MPI_Type_free(&memory);
        finish(ncid, &type);
    }
}

/* Selects all elements of two adjacent variables. Process 0 puts them, and all processes
 * get them. */
static void file_types_select_adjacent_variables(void)
{
    for (int w = 0; w < NWAYS; w++) {
        int v[3], values[2 * N], back[2 * N] = {0};
        int ncid = create_by(ways[w]), x = new_dim(ncid, "x", N);
        three_variables(ncid, 1, &x, NC_INT, v);
        MPI_Aint displ = 0;
        MPI_Datatype type = runs_of(1, &displ, 2 * N);
        for (int i = 0; i < 2 * N; i++)
            values[i] = i + 1;
        if (check.collective || check.rank == 0)
            CHECK_NC(NC_NOERR, put(ncid, v[0], check.rank == 0 ? type : MPI_DATATYPE_NULL,
                                   values, 2 * N, MPI_INT));
        end_data(ncid);
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        CHECK_NC(NC_NOERR, ncmpi_get_vard_all(ncid, v[0], type, back, 2 * N, MPI_INT));
        CHECK_BYTES(values, back, sizeof back);
        memset(back, 0, sizeof back);
        CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v[1], back));
        CHECK_BYTES(values + N, back, N * sizeof back[0]);
        MPI_Type_free(&type);
        close_dataset(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The last process selects an int of variable `a` and one at file offset `at`. Its put
 * and its get must both fail; the other processes participate without data. */
static void refused(int ncid, int a, MPI_Offset at, int code)
{
    int values[2] = {1, 2}, back[2] = {7, 7};
    MPI_Aint displ[2] = {0, (MPI_Aint)(at - place_of(ncid, a))};
    MPI_Datatype type = runs_of(2, displ, 1);
    bool mine = check.rank == check.nprocs - 1;
    MPI_Datatype used = mine ? type : MPI_DATATYPE_NULL;
    CHECK_NC(mine ? code : NC_NOERR, put(ncid, a, used, values, 2, MPI_INT));
    CHECK_NC(mine ? code : NC_NOERR, get(ncid, a, used, back, 2, MPI_INT));
    CHECK_EQ(7, back[0]);
    CHECK_EQ(7, back[1]);
    MPI_Type_free(&type);
}

/* Tests file types that select header bytes, padding, values of another type, or bytes
 * after the data. A put must not change any of these bytes. */
static void file_types_outside_of_the_variables_are_refused(void)
{
    for (int w = 0; w < NWAYS; w++) {
        int v[3], length = N * check.nprocs + 1;
        int ncid = create_by(ways[w]), x = new_dim(ncid, "x", length);
        three_variables(ncid, 1, &x, NC_SHORT, v);
        MPI_Offset a = place_of(ncid, v[0]), b = place_of(ncid, v[1]),
                   c = place_of(ncid, v[2]);
        end_data(ncid);
        close_dataset(ncid);
        complete_closes();
        size_t before = 0, after = 0;
        unsigned char *was = check_read_file(check_path("a.nc"), &before), *is;
        ncid = open_by(ways[w]);
        if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        refused(ncid, v[0], 0, NC_EEDGE);
        refused(ncid, v[0], a - 4, NC_EEDGE);
        refused(ncid, v[0], b, NC_EEDGE);
        refused(ncid, v[0], b + 2 * length, NC_EEDGE); /* padding */
        refused(ncid, v[0], c + 4 * length - 2, NC_EEDGE);
        refused(ncid, v[0], c + 4 * length, NC_EEDGE);
        refused(ncid, v[0], c + ((MPI_Offset)1 << 40), NC_EEDGE);
        refused(ncid, v[0], -4, NC_EEDGE);
        end_data(ncid);
        close_dataset(ncid);
        complete_closes();
        is = check_read_file(check_path("a.nc"), &after);
        CHECK_EQ((long long)before, (long long)after);
        if (was != NULL && is != NULL && before == after) CHECK_BYTES(was, is, before);
        free(was);
        free(is);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A get must fail if its file type extends beyond the last record, or if it selects
 * padding between the variables of a record. */
static void file_types_beyond_the_last_record_are_refused(void)
{
    int dims[2], v[3], values[2] = {3, 4}, back[2] = {7, 7};
    int ncid = create_by(NULL);
    MPI_Offset start[2] = {0, check.rank}, count[2] = {2, 1}, recsize;
    dims[0] = new_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = new_dim(ncid, "x", check.nprocs % 2 == 0 ? check.nprocs + 1 : check.nprocs);
    three_variables(ncid, 2, dims, NC_SHORT, v);
    CHECK_NC(NC_NOERR, put_ints(ncid, v[0], start, count, values));
    make_visible(ncid);
    if (!check.collective) end_data(ncid);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_inq_recsize(ncid, &recsize));
    MPI_Aint both[2] = {4 * check.rank, 4 * check.rank + recsize};
    MPI_Aint behind[2] = {4 * check.rank, 4 * check.rank + 2 * recsize};
    MPI_Aint short_of[2] = {4 * check.rank,
                            (MPI_Aint)(place_of(ncid, v[1]) - place_of(ncid, v[0]))};
    MPI_Aint padding[2] = {4 * check.rank,
                           (MPI_Aint)(place_of(ncid, v[2]) - place_of(ncid, v[0]) - 2)};
    const struct {
        const MPI_Aint *displ;
        int put, get;
    } cases[] = {{both, NC_NOERR, NC_NOERR},
                 {short_of, NC_EEDGE, NC_EEDGE},
                 {padding, NC_EEDGE, NC_EEDGE},
                 {behind, NC_NOERR, NC_EEDGE}};
    for (int i = 0; i < 4; i++) {
        MPI_Datatype type = runs_of(2, cases[i].displ, 1);
        back[0] = back[1] = 7;
        CHECK_NC(cases[i].get, get(ncid, v[0], type, back, 2, MPI_INT));
        CHECK_EQ(cases[i].get == NC_NOERR ? 3 : 7, back[0]);
        CHECK_EQ(cases[i].get == NC_NOERR ? 4 : 7, back[1]);
        if (i > 0) CHECK_NC(cases[i].put, put(ncid, v[0], type, values, 2, MPI_INT));
        MPI_Type_free(&type);
    }
    end_data(ncid);
    CHECK_EQ(3, dim_length(ncid, dims[0]));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"file types select elements of fixed-size variables",
     file_types_select_elements_of_fixed_size_variables, CHECK_FORMATS | CHECK_MODES},
    {"file types select records", file_types_select_records, CHECK_FORMATS | CHECK_MODES},
    {"file types select elements of a fixed-size variable and of records",
     file_types_select_elements_of_a_fixed_size_variable_and_of_records,
     CHECK_FORMATS | CHECK_MODES},
    {"file types are used with converted, strided memory",
     file_types_are_used_with_converted_strided_memory, CHECK_FORMATS | CHECK_MODES},
    {"file types select adjacent variables", file_types_select_adjacent_variables,
     CHECK_FORMATS | CHECK_MODES},
    {"file types outside of the variables are refused",
     file_types_outside_of_the_variables_are_refused, CHECK_FORMATS | CHECK_MODES},
    {"file types beyond the last record are refused",
     file_types_beyond_the_last_record_are_refused, CHECK_FORMATS | CHECK_MODES},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
