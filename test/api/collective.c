/* Tests collective data calls in which the processes access different parts of a
 * variable, or no part at all. */
#include <stdlib.h>
#include <string.h>

#include "made_dataset.h"

enum { N = 11 }; /* elements per process */

static int t, x, fixed, record;

/* Creates fixed(x) and record(t, x) with N elements for each process, and enters data
 * mode. */
static int two_variables(void)
{
    int ncid = new_dataset("a.nc");
    t = new_dim(ncid, "t", NC_UNLIMITED);
    x = new_dim(ncid, "x", N * check.nprocs);
    int dims[2] = {t, x};
    fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    record = new_var(ncid, "record", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

static void fill_with(int *values, int first)
{
    for (int i = 0; i < N; i++)
        values[i] = first + i;
}

static void any_process_may_pass_no_elements(void)
{
    int ncid = two_variables(), values[N], back[N];
    for (int idle = 0; idle < check.nprocs; idle++) {
        bool busy = check.rank != idle || check.nprocs == 1;
        MPI_Offset start[2] = {idle, N * check.rank}, count[2] = {1, busy ? N : 0};
        fill_with(values, 100 * idle + 1000 * check.rank);
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vara_int_all(ncid, fixed, start + 1, count + 1, values));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, record, start, count, values));
        memset(back, 0, sizeof back);
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, record, start, count, back));
        if (busy) CHECK_BYTES(values, back, sizeof back);
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_int_all(ncid, fixed, start + 1, count + 1, back));
        if (busy) CHECK_BYTES(values, back, sizeof back);
        CHECK_EQ(idle + 1, dim_length(ncid, t));
    }
    close_dataset(ncid);
}

static void all_processes_may_pass_no_elements(void)
{
    int ncid = two_variables(), value = 1;
    MPI_Offset start[2] = {7, 0}, count[2] = {0, 0};
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, fixed, start + 1, count, &value));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, record, start, count, &value));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, fixed, start + 1, count, &value));
    CHECK_EQ(0, dim_length(ncid, t));
    CHECK_EQ(1, value);
    close_dataset(ncid);
}

/* Tests strided, mapped, and list accesses. */
static void every_kind_of_call_accepts_no_elements(void)
{
    int ncid = two_variables(), values[N], back[N];
    bool busy = check.rank == check.nprocs - 1;
    MPI_Offset start[1] = {busy ? 1 : 0}, count[1] = {busy ? 3 : 0}, stride[1] = {2};
    MPI_Offset imap[1] = {1}, *starts[1] = {start}, *counts[1] = {count};
    fill_with(values, 5);
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, fixed, start, count, stride, values));
    CHECK_NC(NC_NOERR,
             ncmpi_put_varm_int_all(ncid, fixed, start, count, stride, imap, values));
    CHECK_NC(NC_NOERR, ncmpi_put_varn_int_all(ncid, fixed, busy, starts, counts, values));
    CHECK_NC(NC_NOERR, ncmpi_get_varn_int_all(ncid, fixed, busy, starts, counts, back));
    if (busy) CHECK_BYTES(values, back, 3 * sizeof back[0]);
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, fixed, start, count, stride, values));
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, fixed, start, count, stride, back));
    if (busy) CHECK_BYTES(values, back, 3 * sizeof back[0]);
    close_dataset(ncid);
}

static void start_at_the_end_with_count_zero(void)
{
    int ncid = two_variables(), value = 1;
    MPI_Offset start[2] = {0, N * check.nprocs}, count[2] = {1, 0};
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, put_ints(ncid, fixed, start + 1, count + 1, &value));
    CHECK_NC(NC_NOERR, get_ints(ncid, fixed, start + 1, count + 1, &value));
    CHECK_NC(NC_NOERR, put_ints(ncid, record, start, count, &value));
    CHECK_EQ(1, value);
    start[1]++;
    CHECK_NC(NC_EINVALCOORDS, put_ints(ncid, fixed, start + 1, count + 1, &value));
    start[1]--;
    count[1] = 1;
    CHECK_NC(NC_EINVALCOORDS, put_ints(ncid, fixed, start + 1, count + 1, &value));
    end_data(ncid);
    close_dataset(ncid);
}

static void an_error_on_one_process_does_not_affect_the_others(void)
{
    int ncid = two_variables(), values[N], back[N];
    for (int bad = 0; bad < check.nprocs; bad++) {
        bool good = check.rank != bad;
        MPI_Offset start[1] = {N * check.rank}, count[1] = {N};
        fill_with(values, 100 * bad + check.rank);
        CHECK_NC(good ? NC_NOERR : NC_ENOTVAR,
                 ncmpi_put_vara_int_all(ncid, good ? fixed : 99, start, count, values));
        if (!good) count[0] = N * check.nprocs + 1;
        CHECK_NC(good ? NC_NOERR : NC_EEDGE,
                 ncmpi_put_vara_int_all(ncid, fixed, start, count, values));
        CHECK_NC(good ? NC_NOERR : NC_EEDGE,
                 ncmpi_get_vara_int_all(ncid, fixed, start, count, back));
        if (good) CHECK_BYTES(values, back, sizeof back);
        CHECK_NC(good ? NC_NOERR : NC_EINVALCOORDS,
                 ncmpi_put_vara_int_all(ncid, fixed, good ? start : NULL, count, values));
        start[0] = good ? start[0] : -1;
        CHECK_NC(good ? NC_NOERR : NC_EINVALCOORDS,
                 ncmpi_get_vara_int_all(ncid, fixed, start, count, back));
    }
    close_dataset(ncid);
}

static int swapping_dataset(const char *how)
{
    MPI_Info info;
    int ncid = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_in_place_swap", how);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static void buffer_is_as_before(const char *how)
{
    enum { M = 300000 };
    int ncid = swapping_dataset(how), dim = new_dim(ncid, "x", M * check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 1, &dim);
    MPI_Offset start = (MPI_Offset)M * check.rank, count = M;
    int *values = malloc(M * sizeof *values), *kept = malloc(M * sizeof *kept);
    begin_data(ncid);
    for (int i = 0; i < M; i++)
        values[i] = kept[i] = (int)check_random_own(1u << 31);
    for (MPI_Offset n = 7; n <= count; n = n * 207 + 1) {
        CHECK_NC(NC_NOERR, put_ints(ncid, v, &start, &n, values));
        CHECK_BYTES(kept, values, M * sizeof *values);
    }
    CHECK_NC(NC_NOERR, put_ints(ncid, v, &start, &count, values));
    CHECK_BYTES(kept, values, M * sizeof *values);
    memset(values, 0, M * sizeof *values);
    CHECK_NC(NC_NOERR, get_ints(ncid, v, &start, &count, values));
    CHECK_BYTES(kept, values, M * sizeof *values);
    free(values);
    free(kept);
    end_data(ncid);
    close_dataset(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void a_put_does_not_change_the_callers_buffer(void)
{
    buffer_is_as_before("auto");
    buffer_is_as_before("enable");
}

/* Each process accesses every nprocs-th element, as in a cyclic distribution. */
static void interleaved_elements_are_written(void)
{
    int ncid = two_variables(), values[N], all[16 * N];
    MPI_Offset start[1] = {check.rank}, count[1] = {N}, stride[1] = {check.nprocs};
    for (int i = 0; i < N; i++)
        values[i] = 1000 * check.rank + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, fixed, start, count, stride, values));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, fixed, all));
    for (int i = 0; i < N * check.nprocs; i++)
        CHECK_EQ(1000 * (i % check.nprocs) + i / check.nprocs, all[i]);
    close_dataset(ncid);
}

/* Each process puts a block of columns, so that short runs from different processes
 * alternate in each row. */
static void columns_of_a_matrix_are_written(void)
{
    enum { ROWS = 23 };
    int ncid = new_dataset("a.nc"), columns = 3 * check.nprocs, values[ROWS * 3];
    int dims[2] = {new_dim(ncid, "y", ROWS), new_dim(ncid, "x", columns)};
    int v = new_var(ncid, "v", NC_INT, 2, dims), row[3 * 16];
    MPI_Offset start[2] = {0, 3 * check.rank}, count[2] = {ROWS, 3};
    for (int i = 0; i < ROWS * 3; i++)
        values[i] = i / 3 * columns + 3 * check.rank + i % 3;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, v, start, count, values));
    make_visible(ncid);
    for (MPI_Offset y = check.rank; y < ROWS; y += check.nprocs) {
        MPI_Offset s[2] = {y, 0}, c[2] = {1, columns};
        if (check.collective) break;
        CHECK_NC(NC_NOERR, get_ints(ncid, v, s, c, row));
        for (int i = 0; i < columns; i++)
            CHECK_EQ(y * columns + i, row[i]);
    }
    end_data(ncid);
    int *all = malloc(sizeof *all * (size_t)(ROWS * columns));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, all));
    for (int i = 0; i < ROWS * columns; i++)
        CHECK_EQ(i, all[i]);
    free(all);
    close_dataset(ncid);
}

/* Each process puts a random hyperslab of a four-dimensional variable, and another
 * process reads it back. */
static void random_hyperslabs_are_read_back(void)
{
    enum { SIDE = 9 };
    int ncid = new_dataset("a.nc"), dims[4];
    MPI_Offset start[4], count[4], stride[4];
    for (int d = 0; d < 4; d++) {
        char name[2] = {(char)('a' + d), '\0'};
        dims[d] = new_dim(ncid, name, d == 0 ? check.nprocs : SIDE);
    }
    int v = new_var(ncid, "v", NC_INT, 4, dims), values[SIDE * SIDE * SIDE];
    int back[SIDE * SIDE * SIDE];
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int round = 0; round < 20; round++) {
        size_t n = 1;
        start[0] = (check.rank + round) % check.nprocs;
        count[0] = stride[0] = 1;
        /* All processes access the same hyperslab, but each in a different plane. */
        for (int d = 1; d < 4; d++) {
            start[d] = (MPI_Offset)check_random(SIDE);
            stride[d] = 1 + (MPI_Offset)check_random(3);
            count[d] = (MPI_Offset)check_random(
                (uint64_t)((SIDE - 1 - start[d]) / stride[d] + 2));
            n *= (size_t)count[d];
        }
        for (size_t i = 0; i < n; i++)
            values[i] = (int)i + 10000 * (int)start[0] + 1000000 * round;
        CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, start, count, stride, values));
        CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, start, count, stride, back));
        CHECK_BYTES(values, back, n * sizeof back[0]);
        start[0] = (check.rank + round + 1) % check.nprocs;
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t i = 0; i < n; i++)
            values[i] = (int)i + 10000 * (int)start[0] + 1000000 * round;
        CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, start, count, stride, back));
        CHECK_BYTES(values, back, n * sizeof back[0]);
    }
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"any process may pass no elements", any_process_may_pass_no_elements, CHECK_FORMATS},
    {"all processes may pass no elements", all_processes_may_pass_no_elements,
     CHECK_FORMATS},
    {"every kind of call accepts no elements", every_kind_of_call_accepts_no_elements,
     CHECK_FORMATS},
    {"a start at the end with count 0 is valid", start_at_the_end_with_count_zero,
     CHECK_FORMATS | CHECK_MODES},
    {"an error on one process does not affect the others",
     an_error_on_one_process_does_not_affect_the_others, CHECK_FORMATS},
    {"a put does not change the caller's buffer",
     a_put_does_not_change_the_callers_buffer, CHECK_MODES},
    {"interleaved elements are written", interleaved_elements_are_written, CHECK_FORMATS},
    {"columns of a matrix are written", columns_of_a_matrix_are_written,
     CHECK_FORMATS | CHECK_MODES},
    {"random hyperslabs are read back", random_hyperslabs_are_read_back, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4 16");
}
