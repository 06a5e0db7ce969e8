/* Tests that posting a small put copies its values, so that the program may reuse the
 * buffer before the wait. */
#include <stdlib.h>
#include <string.h>

#include "nonblocking.h"

enum { X = 24 };

/* The variable is v(y, x). Each process puts its own row in various ways. */
static int v, dims[2];

static int one_variable(nc_type type)
{
    int ncid = new_dataset("a.nc");
    dims[0] = new_dim(ncid, "y", check.nprocs);
    dims[1] = new_dim(ncid, "x", X);
    v = new_var(ncid, "v", type, 2, dims);
    return ncid;
}

static int by_row(int ncid, const int *values, int *id)
{
    const MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, X};
    return ncmpi_iput_vara_int(ncid, v, start, count, values, id);
}

static int by_strides(int ncid, const int *values, int *id)
{
    MPI_Offset start[2] = {check.rank, 0}, stride[2] = {1, 2};
    const MPI_Offset count[2] = {1, X / 2};
    int odd[X / 2], even[X / 2];
    for (int i = 0; i < X; i++)
        (i % 2 ? odd : even)[i / 2] = values[i];
    int err = ncmpi_iput_vars_int(ncid, v, start, count, stride, even, NULL);
    start[1] = 1;
    return err != NC_NOERR ? err
                           : ncmpi_iput_vars_int(ncid, v, start, count, stride, odd, id);
}

/* Puts values that are in reverse order in memory, using a map with a step of -1. */
static int by_map(int ncid, const int *values, int *id)
{
    const MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, X}, imap[2] = {0, -1};
    int turned[X];
    for (int i = 0; i < X; i++)
        turned[X - 1 - i] = values[i];
    int err = ncmpi_iput_varm_int(ncid, v, start, count, NULL, imap, turned + X - 1, id);
    memset(turned, 0x55, sizeof turned);
    return err;
}

/* Puts every third int of a larger array. */
static int by_datatype(int ncid, const int *values, int *id)
{
    const MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, X};
    MPI_Datatype third;
    int wide[3 * X];
    for (int i = 0; i < X; i++)
        wide[3 * i] = values[i];
    MPI_Type_vector(X, 1, 3, MPI_INT, &third);
    MPI_Type_commit(&third);
    int err = ncmpi_iput_vara(ncid, v, start, count, wide, 1, third, id);
    MPI_Type_free(&third);
    memset(wide, 0x55, sizeof wide);
    return err;
}

/* Puts pieces of 1 to 3 elements, in ascending or descending order. */
static int by_pieces(int ncid, const int *values, int *id, bool upwards)
{
    MPI_Offset starts[X][2], counts[X][2], *s[X], *c[X];
    int turned[X], n = 0, done = 0;
    for (int at = 0; at < X; n++) {
        int length = 1 + (n + check.rank) % 3;
        if (length > X - at) length = X - at;
        starts[n][0] = check.rank, starts[n][1] = at;
        counts[n][0] = 1, counts[n][1] = length;
        at += length;
    }
    for (int i = 0; i < n; i++) {
        int k = upwards ? i : n - 1 - i;
        s[i] = starts[k], c[i] = counts[k];
        for (int e = 0; e < counts[k][1]; e++)
            turned[done++] = values[starts[k][1] + e];
    }
    int err = ncmpi_iput_varn_int(ncid, v, n, s, c, turned, id);
    memset(turned, 0x55, sizeof turned);
    return err;
}

static int by_pieces_up(int ncid, const int *values, int *id)
{
    return by_pieces(ncid, values, id, true);
}

static int by_pieces_down(int ncid, const int *values, int *id)
{
    return by_pieces(ncid, values, id, false);
}

static int (*const ways[])(int ncid, const int *values, int *id) = {
    by_row, by_strides, by_map, by_datatype, by_pieces_up, by_pieces_down};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void check_stored(int ncid, const int *expected)
{
    const MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, X};
    int back[X] = {0};
    CHECK_NC(NC_NOERR, get_ints(ncid, v, start, count, back));
    CHECK_BYTES(expected, back, sizeof back);
}

static void the_buffer_of_a_small_put_may_be_reused(void)
{
    static const nc_type types[] = {NC_INT, NC_DOUBLE, NC_SHORT};
    for (int k = 0; k < WAYS * 3; k++) {
        bool early = check_random(2); /* whether the puts are posted in define mode */
        int ncid = one_variable(types[k / WAYS]), values[X], expected[X];
        for (int i = 0; i < X; i++)
            values[i] = expected[i] = (int)check_random_own(30000);
        if (!early) begin_data(ncid);
        CHECK_NC(NC_NOERR, ways[k % WAYS](ncid, values, NULL));
        memset(values, 0x55, sizeof values);
        if (early) begin_data(ncid);
        CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
        check_stored(ncid, expected);
        end_data(ncid);
        close_dataset(ncid);
    }
}

/* Posts many puts from the same buffer, some of text and some of numbers. Each must write
 * the values that the buffer had when the put was posted. */
static void one_buffer_may_be_reused_for_many_puts(void)
{
    enum { MANY = 300 };
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", MANY * check.nprocs);
    int n = new_var(ncid, "n", NC_FLOAT, 1, &x), c = new_var(ncid, "c", NC_CHAR, 1, &x);
    const MPI_Offset first = (MPI_Offset)MANY * check.rank, many = MANY;
    double number, numbers[MANY];
    char letter, text[MANY];
    begin_data(ncid);
    for (int i = 0; i < MANY; i++) {
        MPI_Offset at = first + i;
        number = i, letter = (char)('a' + i % 26);
        CHECK_NC(NC_NOERR, ncmpi_iput_var1_double(ncid, n, &at, &number, NULL));
        CHECK_NC(NC_NOERR, ncmpi_iput_var1_text(ncid, c, &at, &letter, NULL));
    }
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iget_vara_double(ncid, n, &first, &many, numbers, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iget_vara_text(ncid, c, &first, &many, text, NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    for (int i = 0; i < MANY; i++) {
        if (!CHECK_EQ(i, numbers[i])) break;
        if (!CHECK_EQ('a' + i % 26, text[i])) break;
    }
    end_data(ncid);
    close_dataset(ncid);
}

static MPI_Offset memory(void)
{
    MPI_Offset size = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&size));
    return size;
}

/* Returns how much memory the library allocates for a put of `n` ints. */
static MPI_Offset held_by(int ncid, int varid, const int *values, MPI_Offset n, int *id)
{
    const MPI_Offset start = 0, before = memory();
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, varid, &start, &n, values, id));
    return memory() - before;
}

/* Tests the limits up to which values are copied: 4 KiB per put and 16 MiB in total. When
 * they are exceeded, the program must not change its buffer before the wait. The copies
 * are freed by the wait, by a cancel, or by the close. */
static void only_small_puts_up_to_a_total_size_are_copied(void)
{
    enum { FEW = 4096 / sizeof(int), FULL = (16 << 20) / 4096 };
    static int values[FEW + 1];
    const char *hints = getenv("PNETCDF_HINTS");
    if (hints != NULL && strstr(hints, "log_at=post") != NULL) {
        check_skip("the log takes the values");
        return;
    }
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", FEW + 1), id[3];
    int varid = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK(held_by(ncid, varid, values, 1, &id[0]) < 1024); /* includes the queue */
    CHECK(held_by(ncid, varid, values, FEW, &id[1]) >= 4096);
    CHECK(held_by(ncid, varid, values, FEW + 1, &id[2]) < 1024);
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL));
    MPI_Offset before = memory();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FULL; i++)
            if (!CHECK(held_by(ncid, varid, values, FEW, NULL) >= 4096)) break;
        MPI_Offset full = memory();
        CHECK(held_by(ncid, varid, values, FEW, &id[0]) < 4096);
        CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, id, NULL));
        CHECK(full - before < (MPI_Offset)FULL * (4096 + 100));
        CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, NC_PUT_REQ_ALL, NULL, NULL));
        CHECK_EQ(before, memory());
    }
    CHECK(held_by(ncid, varid, values, FEW, NULL) >= 4096);
    CHECK_NC(NC_EPENDING, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"the buffer of a small put may be reused", the_buffer_of_a_small_put_may_be_reused,
     CHECK_FORMATS | CHECK_MODES},
    {"one buffer may be reused for many puts", one_buffer_may_be_reused_for_many_puts,
     CHECK_FORMATS | CHECK_MODES},
    {"only small puts up to a total size are copied",
     only_small_puts_up_to_a_total_size_are_copied, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
