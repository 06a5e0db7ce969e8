/* Checks that every transfer method produces the same bytes: direct, through a file view,
 * through shared memory, the library's own choice, and without independent I/O
 * (romio_no_indep_rw). The test transfers short and long runs, with and without
 * conversion. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plan_value.h"
#include "pnetcdf.h"
#include "splitmix.h"

enum { PLANES = 3, ROWS = 7, WIDTH = 5 }; /* WIDTH is the number of columns per process */

static const struct {
    const char *key, *value;
} ways[] = {{"nc_transfer", "auto"},
            {"nc_transfer", "direct"},
            {"nc_transfer", "view"},
            {"nc_transfer", "node"},
            {"romio_no_indep_rw", "true"}};
enum { NWAYS = sizeof ways / sizeof ways[0] };

static MPI_Info info_for(int way)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, ways[way].key, ways[way].value);
    MPI_Info_set(info, "nc_ibuf_size", check_random(2) ? "300" : "16777216");
    MPI_Info_set(info, "nc_node_share_size", check_random(2) ? "2000" : "1048576");
    return info;
}

static int create(const char *name, int way)
{
    int ncid = -1;
    MPI_Info info = info_for(way);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

static int reopen(const char *name, int way)
{
    int ncid = -1;
    MPI_Info info = info_for(way);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path(name), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* One process's part of an array with dimensions PLANES, ROWS and WIDTH * nprocs. */
struct part {
    MPI_Offset start[3], count[3], stride[3];
};

static void every_nth_column(struct part *p)
{
    *p = (struct part){{0, 0, check.rank}, {PLANES, ROWS, WIDTH}, {1, 1, check.nprocs}};
}

static void adjacent_columns(struct part *p)
{
    *p = (struct part){{0, 0, check.rank * WIDTH}, {PLANES, ROWS, WIDTH}, {1, 1, 1}};
}

static void every_nth_row(struct part *p)
{
    MPI_Offset rows = (ROWS - check.rank + check.nprocs - 1) / check.nprocs;
    if (rows < 0) rows = 0;
    *p = (struct part){{0, rows > 0 ? check.rank : 0, 0},
                       {PLANES, rows, WIDTH * check.nprocs},
                       {1, check.nprocs, 1}};
}

static void whole_planes(struct part *p)
{
    MPI_Offset planes =
        check.rank < PLANES ? (PLANES - check.rank - 1) / check.nprocs + 1 : 0;
    *p = (struct part){{planes > 0 ? check.rank : 0, 0, 0},
                       {planes, ROWS, WIDTH * check.nprocs},
                       {check.nprocs, 1, 1}};
}

static void the_last_has_all(struct part *p)
{
    bool last = check.rank == check.nprocs - 1;
    *p = (struct part){
        {0, 0, 0}, {last ? PLANES : 0, ROWS, WIDTH * check.nprocs}, {1, 1, 1}};
}

static void (*const parts[])(struct part *) = {
    every_nth_column, adjacent_columns, every_nth_row, whole_planes, the_last_has_all};
enum { NPARTS = sizeof parts / sizeof parts[0] };

static const nc_type types[NPARTS] = {NC_INT, NC_SHORT, NC_DOUBLE, NC_FLOAT, NC_INT};

/* Returns the value of an element. */
static int value_at(int varid, MPI_Offset plane, MPI_Offset row, MPI_Offset column)
{
    return plan_int(types[varid],
                    (uint64_t)(varid * 7919 + plane * 1000003 + row * 1009 + column));
}

/* Stores the values of all elements of the part, in order. Returns the number of
 * elements. */
static int values_of(int varid, const struct part *p, int *values)
{
    int n = 0;
    for (MPI_Offset i = 0; i < p->count[0]; i++)
        for (MPI_Offset j = 0; j < p->count[1]; j++)
            for (MPI_Offset k = 0; k < p->count[2]; k++)
                values[n++] = value_at(varid, p->start[0] + i * p->stride[0],
                                       p->start[1] + j * p->stride[1],
                                       p->start[2] + k * p->stride[2]);
    return n;
}

/* Defines variables of various types, one for each way of partitioning the array. If
 * `records` is set, they are record variables. */
static void define(int ncid, bool records)
{
    int dims[3], varid;
    CHECK_NC(NC_NOERR,
             ncmpi_def_dim(ncid, "plane", records ? NC_UNLIMITED : PLANES, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "row", ROWS, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "column", WIDTH * check.nprocs, &dims[2]));
    for (int v = 0; v < NPARTS; v++) {
        char name[2] = {(char)('a' + v), '\0'};
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, types[v], 3, dims, &varid));
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

static void write_all(int ncid, int *values)
{
    for (int v = 0; v < NPARTS; v++) {
        struct part p;
        parts[v](&p);
        values_of(v, &p, values);
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vars_int_all(ncid, v, p.start, p.count, p.stride, values));
    }
}

static void read_all(int ncid, int *values, int *back)
{
    for (int v = 0; v < NPARTS; v++)
        for (int other = 0; other < NPARTS; other++) {
            struct part p;
            parts[other](&p);
            int n = values_of(v, &p, values);
            memset(back, 0, (size_t)n * sizeof *back);
            CHECK_NC(NC_NOERR,
                     ncmpi_get_vars_int_all(ncid, v, p.start, p.count, p.stride, back));
            CHECK_BYTES(values, back, (size_t)n * sizeof *back);
        }
}

static void all_ways(bool records)
{
    size_t size = sizeof(int) * PLANES * ROWS * WIDTH * (size_t)check.nprocs;
    int *values = malloc(size), *back = malloc(size);
    for (int way = 0; way < NWAYS; way++) {
        char name[8] = {(char)('a' + way), '.', 'n', 'c', '\0'};
        int ncid = create(name, way);
        define(ncid, records);
        write_all(ncid, values);
        read_all(ncid, values, back);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(check_same_files(check_path("a.nc"), check_path(name)));
    }
    for (int way = 0; way < NWAYS; way++) {
        int ncid = reopen("a.nc", way);
        read_all(ncid, values, back);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    free(values);
    free(back);
}

static void every_way_transfers_fixed_size_variables(void)
{
    all_ways(false);
}

static void every_way_transfers_record_variables(void)
{
    all_ways(true);
}

/* The layout is irregular both in memory and in the file. If a view consists of lists of
 * subarrays, MPICH up to 4.0.3 writes to the wrong offsets. */
static void layouts_may_be_irregular_in_memory_and_in_the_file(void)
{
    enum { BOXES = 4 };
    size_t n = (size_t)(ROWS * WIDTH * BOXES);
    int *buf = calloc(n * 3, sizeof *buf), *back = malloc(n * sizeof *back), dims[2], v;
    MPI_Datatype every_third;
    MPI_Type_vector((int)n, 1, 3, MPI_INT, &every_third);
    MPI_Type_commit(&every_third);
    for (size_t i = 0; i < n; i++)
        buf[3 * i] = (int)splitmix_hash(i + 10000 * (size_t)check.rank);
    for (int way = 0; way < NWAYS; way++) {
        MPI_Offset start[BOXES][2], count[BOXES][2], *starts[BOXES], *counts[BOXES];
        int ncid = create("a.nc", way);
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", ROWS * BOXES, &dims[0]));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", WIDTH * check.nprocs, &dims[1]));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        for (int b = 0; b < BOXES; b++) { /* in reverse order on odd ranks */
            int place = check.rank % 2 ? BOXES - 1 - b : b;
            starts[b] = start[b], counts[b] = count[b];
            start[b][0] = place * ROWS, count[b][0] = ROWS;
            start[b][1] = (check.rank + place) % check.nprocs * WIDTH,
            count[b][1] = WIDTH;
        }
        CHECK_NC(NC_NOERR,
                 ncmpi_put_varn_all(ncid, v, BOXES, starts, counts, buf, 1, every_third));
        CHECK_NC(NC_NOERR, ncmpi_get_varn_int_all(ncid, v, BOXES, starts, counts, back));
        int wrong = 0;
        for (size_t i = 0; i < n; i++)
            wrong += back[i] != buf[3 * i];
        CHECK_EQ(0, wrong);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&every_third);
    free(buf);
    free(back);
}

/* The gaps between this process's runs belong to other processes, which write to them
 * independently and at the same time. */
static void neighbours_write_concurrently(void)
{
    enum { MANY = 4000 };
    for (int way = 0; way < NWAYS - 1; way++) {
        int ncid = create("a.nc", way), x, v, values[MANY], wrong = 0;
        int *all = malloc(sizeof *all * MANY * (size_t)check.nprocs);
        MPI_Offset start = check.rank, count = MANY, stride = check.nprocs;
        for (int i = 0; i < MANY; i++)
            values[i] = (int)splitmix_hash((uint64_t)(i * check.nprocs + check.rank));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", MANY * check.nprocs, &x));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &v));
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vars_int(ncid, v, &start, &count, &stride, values));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, all));
        for (int i = 0; i < MANY * check.nprocs; i++)
            wrong += all[i] != (int)splitmix_hash((uint64_t)i);
        CHECK_EQ(0, wrong);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
        free(all);
    }
}

/* If pieces in one call overlap, the last one must take precedence. */
static void the_last_of_overlapping_pieces_takes_precedence(void)
{
    enum { N = 40, PIECES = 30 };
    for (int way = 0; way < NWAYS; way++) {
        int ncid = create("a.nc", way), dims[2], v, values[PIECES * N], model[N] = {0};
        int back[N], at = 0;
        MPI_Offset start[PIECES][2], count[PIECES][2], *starts[PIECES], *counts[PIECES];
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "p", check.nprocs, &dims[0]));
        CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N, &dims[1]));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v));
        CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, v, 0, model)); /* never written */
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        for (int p = 0; p < PIECES; p++) {
            starts[p] = start[p], counts[p] = count[p];
            start[p][0] = check.rank, count[p][0] = 1;
            start[p][1] = (MPI_Offset)check_random_own(N);
            count[p][1] = 1 + (MPI_Offset)check_random_own((uint64_t)(N - start[p][1]));
            for (int i = 0; i < count[p][1]; i++)
                model[start[p][1] + i] = values[at++] =
                    (int)splitmix_hash((uint64_t)(p * 1000 + i));
        }
        CHECK_NC(NC_NOERR,
                 ncmpi_put_varn_int_all(ncid, v, PIECES, starts, counts, values));
        MPI_Offset whole[2] = {check.rank, 0}, row[2] = {1, N};
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, whole, row, back));
        CHECK_BYTES(model, back, sizeof back);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static const struct check_test tests[] = {
    {"every way transfers fixed-size variables", every_way_transfers_fixed_size_variables,
     CHECK_FORMATS},
    {"every way transfers record variables", every_way_transfers_record_variables,
     CHECK_FORMATS},
    {"layouts may be irregular in memory and in the file",
     layouts_may_be_irregular_in_memory_and_in_the_file, 0},
    {"neighbours write concurrently", neighbours_write_concurrently, 0},
    {"the last of overlapping pieces takes precedence",
     the_last_of_overlapping_pieces_takes_precedence, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3 4 16");
}
