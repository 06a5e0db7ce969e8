/* Tests gets by processes that did not put the values. Such a get needs short pieces of
 * all blobs. The library must read the pieces of a blob together. */
#include <stdlib.h>
#include <string.h>

#include "../api/made_dataset.h"
#include "../driver/counts.h"

enum {
    Z = 80,
    Y = 64,
    X = 64,       /* makes the cube larger than a single read */
    COMB = 150000 /* more pieces than one pass examines */
};

struct scene {
    int ncid, cube, comb;
};

/* Return the value of element i of the cube in a record, and of element i of the comb. */
static int cell(int64_t record, int64_t i)
{
    return (int)(record * 10000000 + i);
}

static double tooth(int64_t i)
{
    return 3.0 * (double)i + 1;
}

/* Puts a record of the cube. The last column is put separately, so it is in the master
 * file. */
static void put_cube(const struct scene *s, int64_t record)
{
    MPI_Offset first = (X - 1) * check.rank / check.nprocs;
    MPI_Offset width = (X - 1) * (check.rank + 1) / check.nprocs - first;
    MPI_Offset start[4] = {record, 0, 0, first}, count[4] = {1, Z, Y, width};
    int *values = malloc((size_t)(Z * Y) * X * sizeof *values);
    for (MPI_Offset row = 0; row < Z * Y; row++)
        for (MPI_Offset i = 0; i < width; i++)
            values[row * width + i] = cell(record, row * X + first + i);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(s->ncid, s->cube, start, count, values));
    start[3] = X - 1;
    count[3] = 1;
    for (MPI_Offset row = 0; row < Z * Y; row++)
        values[row] = cell(record, row * X + X - 1);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(s->ncid));
    if (check.rank == 0)
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(s->ncid, s->cube, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(s->ncid));
    free(values);
}

static void put_comb(const struct scene *s)
{
    MPI_Offset start = check.rank, stride = check.nprocs;
    MPI_Offset count = (COMB - start + stride - 1) / stride;
    double *values = malloc((size_t)count * sizeof *values);
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = tooth(start + i * stride);
    CHECK_NC(NC_NOERR, ncmpi_put_vars_double_all(s->ncid, s->comb, &start, &count,
                                                 &stride, values));
    free(values);
}

/* Creates the dataset, puts all values, and opens it for reading. */
static struct scene put_and_open(void)
{
    struct scene s;
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2;nc_statistics=enable");
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("g.nc"),
                                    NC_CLOBBER | check.cmode, info, &s.ncid));
    int dims[4] = {new_dim(s.ncid, "t", NC_UNLIMITED), new_dim(s.ncid, "z", Z),
                   new_dim(s.ncid, "y", Y), new_dim(s.ncid, "x", X)};
    int comb = new_dim(s.ncid, "i", COMB);
    s.cube = new_var(s.ncid, "cube", NC_INT, 4, dims);
    s.comb = new_var(s.ncid, "comb", NC_DOUBLE, 1, &comb);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    for (int record = 0; record < 2; record++)
        put_cube(&s, record);
    put_comb(&s);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("g.nc"), NC_NOWRITE, info, &s.ncid));
    MPI_Info_free(&info);
    return s;
}

/* A process's share of the cube's planes, in all records. */
struct slab {
    MPI_Offset start[4], count[4], n;
};

static struct slab slab_of(int part)
{
    struct slab b = {{0, Z * part / check.nprocs, 0, 0}, {2, 0, Y, X}, 0};
    b.count[1] = Z * (part + 1) / check.nprocs - b.start[1];
    b.n = 2 * b.count[1] * Y * X;
    return b;
}

/* Returns the value of the i-th element of a slab. */
static int cell_of(const struct slab *b, MPI_Offset i)
{
    MPI_Offset planes = b->n / 2;
    return cell(i / planes, b->start[1] * Y * X + i % planes);
}

static void planes_are_read_in_large_pieces(void)
{
    enum { FEW = 24 }; /* allowance for the tiles of three files, and for maps */
    struct scene s = put_and_open();
    struct slab b = slab_of(check.nprocs - 1 - check.rank);
    int *values = malloc((size_t)b.n * sizeof *values), wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(s.ncid, s.cube, b.start, b.count, values));
    int64_t before = count_of(s.ncid, "file_reads");
    memset(values, 0, (size_t)b.n * sizeof *values);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(s.ncid, s.cube, b.start, b.count, values));
    if (check.nprocs > 1)
        CHECK(count_of(s.ncid, "file_reads") - before <=
              FEW + b.n * 4 / (1 << 20) * 2 * check.nprocs);
    for (MPI_Offset i = 0; i < b.n; i++)
        wrong += values[i] != cell_of(&b, i);
    CHECK_EQ(0, wrong);
    free(values);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

/* Gets planes converted to another memory type, and with gaps between the values in
 * memory. */
static void planes_are_converted_and_stored_with_gaps_in_memory(void)
{
    struct scene s = put_and_open();
    struct slab b = slab_of(check.nprocs - 1 - check.rank);
    double *values = malloc((size_t)b.n * sizeof *values);
    int *apart = calloc((size_t)b.n, 2 * sizeof *apart), wrong = 0;
    MPI_Datatype type;
    CHECK_NC(NC_NOERR,
             ncmpi_get_vara_double_all(s.ncid, s.cube, b.start, b.count, values));
    MPI_Type_vector((int)b.n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_NC(NC_NOERR,
             ncmpi_get_vara_all(s.ncid, s.cube, b.start, b.count, apart, 1, type));
    MPI_Type_free(&type);
    for (MPI_Offset i = 0; i < b.n; i++)
        wrong += values[i] != cell_of(&b, i) || apart[2 * i] != cell_of(&b, i);
    CHECK_EQ(0, wrong);
    free(values);
    free(apart);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

static void a_variable_that_was_put_with_strides_is_read(void)
{
    struct scene s = put_and_open();
    double *values = calloc(COMB, sizeof *values);
    int wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_double_all(s.ncid, s.comb, values));
    for (int i = 0; i < COMB; i++)
        wrong += values[i] != tooth(i);
    CHECK_EQ(0, wrong);
    free(values);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

/* Gets segments in random order, some of which overlap. */
static void overlapping_segments_are_read(void)
{
    enum { SEGMENTS = 400, MOST = 500 };
    struct scene s = put_and_open();
    static MPI_Offset at[SEGMENTS], many[SEGMENTS], *starts[SEGMENTS], *counts[SEGMENTS];
    double *values = calloc(SEGMENTS * MOST, sizeof *values), *v = values;
    int wrong = 0;
    srand((unsigned)check_random(1000) + (unsigned)check.rank);
    for (int i = 0; i < SEGMENTS; i++) {
        many[i] = 1 + rand() % (MOST - 1);
        at[i] = i % 7 == 3 ? at[i - 1] + many[i] / 2 : rand() % (COMB - 2 * MOST);
        starts[i] = &at[i];
        counts[i] = &many[i];
    }
    CHECK_NC(NC_NOERR,
             ncmpi_get_varn_double_all(s.ncid, s.comb, SEGMENTS, starts, counts, values));
    for (int i = 0; i < SEGMENTS; i++)
        for (int k = 0; k < many[i]; k++)
            wrong += *v++ != tooth(at[i] + k);
    CHECK_EQ(0, wrong);
    free(values);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

/* Gets every `stride`-th element. The elements in between are also read if they fit into
 * the buffer. */
static void check_stride(int ncid, int varid, MPI_Offset n, MPI_Offset stride)
{
    MPI_Offset start = check.rank, count = (n - start + stride - 1) / stride;
    double *values = calloc((size_t)count, sizeof *values);
    int wrong = 0;
    CHECK_NC(NC_NOERR,
             ncmpi_get_vars_double_all(ncid, varid, &start, &count, &stride, values));
    for (MPI_Offset i = 0; i < count; i++)
        wrong += values[i] != tooth(start + i * stride);
    CHECK_EQ(0, wrong);
    free(values);
}

static void strided_gets_return_the_right_elements(void)
{
    enum { LENGTH = 1500000 };
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2");
    int ncid, varid;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("g.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    int dim = new_dim(ncid, "i", LENGTH);
    varid = new_var(ncid, "blocks", NC_DOUBLE, 1, &dim);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Offset start = (MPI_Offset)LENGTH * check.rank / check.nprocs;
    MPI_Offset count = (MPI_Offset)LENGTH * (check.rank + 1) / check.nprocs - start;
    double *values = malloc((size_t)count * sizeof *values);
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = tooth(start + i);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, varid, &start, &count, values));
    free(values);
    static const MPI_Offset strides[] = {2, 5, 30, 31, 32, 33, 34, 1000};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        check_stride(ncid, varid, LENGTH, strides[i]);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"planes are read in large pieces", planes_are_read_in_large_pieces, 0},
    {"planes are converted and stored with gaps in memory",
     planes_are_converted_and_stored_with_gaps_in_memory, CHECK_FORMATS},
    {"a variable that was put with strides is read",
     a_variable_that_was_put_with_strides_is_read, 0},
    {"overlapping segments are read", overlapping_segments_are_read, 0},
    {"strided gets return the right elements", strided_gets_return_the_right_elements, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
