/* Tests puts of segments that are listed in an arbitrary order, which is not their order
 * in the blob. If an element is listed twice, its last value takes precedence. Adjacent
 * pieces must be written together. */
#include <stdlib.h>

#include "../api/made_dataset.h"
#include "../driver/counts.h"

enum { N = 300, MORE = 40 };

struct scene {
    int ncid, fixed, record;
};

static struct scene define(void)
{
    struct scene s;
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2;nc_statistics=enable");
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("p.nc"),
                                    NC_CLOBBER | check.cmode, info, &s.ncid));
    MPI_Info_free(&info);
    int dims[2] = {new_dim(s.ncid, "t", NC_UNLIMITED),
                   new_dim(s.ncid, "x", N * check.nprocs)};
    s.fixed = new_var(s.ncid, "fixed", NC_INT, 1, &dims[1]);
    s.record = new_var(s.ncid, "record", NC_SHORT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(s.ncid));
    return s;
}

/* This process's elements: numbers[i] = k selects element k * nprocs + rank. */
struct list {
    MPI_Offset at[N + MORE][2], *starts[N + MORE];
    int numbers[N + MORE], n;
};

/* Lists all of this process's elements and `more` repetitions, in random order. */
static void draw(struct list *l, int more)
{
    for (l->n = 0; l->n < N; l->n++)
        l->numbers[l->n] = l->n;
    for (; l->n < N + more; l->n++)
        l->numbers[l->n] = rand() % N;
    for (int i = l->n - 1; i > 0; i--) {
        int other = rand() % (i + 1), number = l->numbers[i];
        l->numbers[i] = l->numbers[other];
        l->numbers[other] = number;
    }
}

/* Puts a list into record `record`, or into a fixed-size variable if `record` is -1. The
 * values increase along the list. Sets `last` to the final value of each element. */
static int put(struct list *l, int ncid, int varid, int record, int add, int last[N])
{
    int values[N + MORE], at = record >= 0;
    for (int i = 0; i < l->n; i++) {
        values[i] = add + i;
        last[l->numbers[i]] = values[i];
        l->at[i][0] = record;
        l->at[i][at] = l->numbers[i] * check.nprocs + check.rank;
        l->starts[i] = l->at[i];
    }
    return ncmpi_put_varn_int_all(ncid, varid, l->n, l->starts, NULL, values);
}

static void check_values(int ncid, int varid, int record, const int last[N])
{
    int values[N], wrong = 0, at = record >= 0;
    MPI_Offset start[2] = {record, 0}, count[2] = {1, 0}, stride[2] = {1, 0};
    start[at] = check.rank;
    count[at] = N;
    stride[at] = check.nprocs;
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, varid, start, count, stride, values));
    for (int i = 0; i < N; i++)
        wrong += values[i] != last[i];
    CHECK_EQ(0, wrong);
}

static void the_last_occurrence_of_an_element_in_a_list_takes_precedence(void)
{
    struct scene s = define();
    static struct list l;
    int last[2][N] = {{0}};
    srand((unsigned)check_random(1000) + (unsigned)check.rank);
    for (int round = 0; round < 4; round++) {
        draw(&l, round % 2 == 0 ? 0 : MORE);
        CHECK_NC(NC_NOERR, put(&l, s.ncid, s.fixed, -1, 1000 * round, last[0]));
        check_values(s.ncid, s.fixed, -1, last[0]);
        draw(&l, round < 2 ? MORE : 0);
        CHECK_NC(NC_NOERR, put(&l, s.ncid, s.record, round, 1000 * round, last[1]));
        check_values(s.ncid, s.record, round, last[1]);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("p.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &s.ncid));
    check_values(s.ncid, s.fixed, -1, last[0]);
    check_values(s.ncid, s.record, 3, last[1]);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

static void adjacent_pieces_are_written_at_once(void)
{
    enum { FEW = 8 }; /* maximum number of writes: values, record count, checksums */
    struct scene s = define();
    static struct list l;
    int last[N] = {0};
    srand((unsigned)check.rank);
    draw(&l, 0);
    CHECK_NC(NC_NOERR, put(&l, s.ncid, s.record, 0, 0, last));
    for (int record = 1; record < 4; record++) {
        int64_t before = count_of(s.ncid, "file_writes");
        draw(&l, 0);
        CHECK_NC(NC_NOERR, put(&l, s.ncid, s.record, record, 0, last));
        CHECK(count_of(s.ncid, "file_writes") - before <= FEW);
        check_values(s.ncid, s.record, record, last);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

/* Gets all elements, or a random half of them, in random order. */
static void elements_of_a_get_are_moved_only_once(void)
{
    enum { MOST = N * sizeof(short) + 100 };
    struct scene s = define();
    static struct list l;
    int last[N] = {0}, wrong = 0;
    short values[N];
    srand((unsigned)check.rank);
    for (int record = 0; record < 4; record++) {
        draw(&l, 0);
        CHECK_NC(NC_NOERR, put(&l, s.ncid, s.record, record, 0, last));
        check_values(s.ncid, s.record, record, last);
        draw(&l, 0);
        l.n = record % 2 == 0 ? N : N / 2;
        for (int i = 0; i < l.n; i++) {
            l.at[i][0] = record;
            l.at[i][1] = l.numbers[i] * check.nprocs + check.rank;
            l.starts[i] = l.at[i];
        }
        int64_t before = count_of(s.ncid, "copied_bytes");
        CHECK_NC(NC_NOERR,
                 ncmpi_get_varn_short_all(s.ncid, s.record, l.n, l.starts, NULL, values));
        CHECK(count_of(s.ncid, "copied_bytes") - before <= MOST);
        for (int i = 0; i < l.n; i++)
            wrong += values[i] != last[l.numbers[i]];
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(s.ncid));
}

/* Puts a list of 2048 pieces of 32 KiB each (64 MiB in total), from the last piece to the
 * first. Copies of all values would exceed the memory limit, so the library must write
 * the pieces directly from the caller's buffer. */
static void a_large_list_is_put_without_copying_all_values(void)
{
    enum { PIECE = 8192, PIECES = 2048, MOST = 40 << 20 };
    static MPI_Offset at[PIECES][1], *starts[PIECES];
    static const MPI_Offset one[1] = {PIECE};
    static MPI_Offset *counts[PIECES];
    size_t size = (size_t)PIECES * PIECE * sizeof(int);
    int *values = malloc(size), *got = malloc(size);
    MPI_Info info = check_info("nc_blob=enable;nc_num_subfiles=2");
    MPI_Offset had, most;
    int ncid, v;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("m.nc"), NC_64BIT_DATA,
                                    info, &ncid));
    MPI_Info_free(&info);
    v = new_dim(ncid, "x", (MPI_Offset)PIECES * PIECE * check.nprocs);
    v = new_var(ncid, "much", NC_INT, 1, &v);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < PIECES; i++) {
        starts[i] = at[i];
        counts[i] = (MPI_Offset *)one;
        at[i][0] = ((MPI_Offset)(PIECES - 1 - i) * check.nprocs + check.rank) * PIECE;
    }
    for (int i = 0; i < PIECES * PIECE; i++)
        values[i] = rand();
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&had));
    CHECK_NC(NC_NOERR, ncmpi_put_varn_int_all(ncid, v, PIECES, starts, counts, values));
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_max_size(&most));
    CHECK(most - had < MOST);
    CHECK_NC(NC_NOERR, ncmpi_get_varn_int_all(ncid, v, PIECES, starts, counts, got));
    CHECK_BYTES(values, got, size);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    free(got);
}

static const struct check_test tests[] = {
    {"a large list is put without copying all values",
     a_large_list_is_put_without_copying_all_values, 0},
    {"the last occurrence of an element in a list takes precedence",
     the_last_occurrence_of_an_element_in_a_list_takes_precedence, CHECK_FORMATS},
    {"adjacent pieces are written at once", adjacent_pieces_are_written_at_once, 0},
    {"elements of a get are moved only once", elements_of_a_get_are_moved_only_once, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
