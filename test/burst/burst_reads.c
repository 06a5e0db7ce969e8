/* Tests collective gets while values are in the logs. A get must return values that other
 * processes have logged. If values are read only by the process that logged them, nothing
 * is drained. The number and size of the reductions that determine this must not depend
 * on the number of processes. */
#include <stdlib.h>
#include <string.h>

#include "counts.h"

enum { N = 60 };

static int reductions, gathers, exchanges, longest;

static void count(int *calls, int n)
{
    ++*calls;
    if (n > longest) longest = n;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    count(&reductions, n);
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Allgather(const void *in, int nin, MPI_Datatype type, void *out, int nout,
                  MPI_Datatype out_type, MPI_Comm comm)
{
    count(&gathers, nin);
    return PMPI_Allgather(in, nin, type, out, nout, out_type, comm);
}

int MPI_Sendrecv(const void *out, int nout, MPI_Datatype type, int to, int tag, void *in,
                 int nin, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    count(&exchanges, nout);
    return PMPI_Sendrecv(out, nout, type, to, tag, in, nin, in_type, from, in_tag, comm,
                         status);
}

/* Creates a dataset with a fixed-size variable of N ints per process, and two record
 * variables of the same size. */
static int create(void)
{
    int ncid, dims[2], v;
    char hints[1200];
    snprintf(hints, sizeof hints,
             "nc_statistics=enable;nc_burst_buf=enable;nc_burst_buf_dirname=%s",
             check_path(""));
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "f", NC_INT, 1, &dims[1], &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "r", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "s", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Info_free(&info);
    return ncid;
}

/* Puts the same value to all elements of part number `part`. `record` applies only to
 * record variables. */
static void put(int ncid, int varid, int record, int part, int value)
{
    MPI_Offset start[2] = {record, N * part}, count[2] = {1, N};
    int values[N], skip = varid == 0;
    for (int i = 0; i < N; i++)
        values[i] = value;
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_int_all(ncid, varid, start + skip, count + skip, values));
}

static void get(int ncid, int varid, int record, int part, int value)
{
    MPI_Offset start[2] = {record, N * part}, count[2] = {1, N};
    int values[N] = {0}, skip = varid == 0, wrong = 0;
    CHECK_NC(NC_NOERR,
             ncmpi_get_vara_int_all(ncid, varid, start + skip, count + skip, values));
    for (int i = 0; i < N; i++)
        wrong += values[i] != value;
    CHECK_EQ(0, wrong);
}

static int log2_of(int n)
{
    int steps = 0;
    while (1 << steps < n)
        steps++;
    return steps;
}

/* Returns the number of this process's part. `way` determines whether parts are assigned
 * in the order of ranks, in reverse order, or rotated. */
static int part_of(int way)
{
    if (way == 0) return check.rank;
    if (way == 1) return check.nprocs - 1 - check.rank;
    return (check.rank + way) % check.nprocs;
}

static void a_read_of_a_process_own_values_does_not_drain(void)
{
    for (int way = 0; way < 4; way++) {
        int ncid = create(), part = part_of(way), boxes = way > 1 ? 2 : 1;
        for (int t = 0; t < 3; t++)
            for (int v = 0; v < 3; v++)
                put(ncid, v, t, part, 100 * part + 10 * v + t);
        for (int v = 0; v < 3; v++) {
            reductions = gathers = exchanges = longest = 0;
            get(ncid, v, 1, part, 100 * part + 10 * v + (v == 0 ? 2 : 1));
            /* one each to agree on variables, memory and boxes; two in the get */
            CHECK(reductions <= 3 + 2);
            CHECK_EQ(0, gathers);
            CHECK_EQ(log2_of(check.nprocs), exchanges);
            /* two lists of two-dimensional boxes */
            CHECK(longest <= 2 * (1 + 12 * boxes));
        }
        CHECK_EQ(0, count_of(ncid, "burst_drained_bytes"));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

/* Processes put blocks of three values in turn, one block per call. A process that gets
 * its own blocks does not cause a drain; a get of another process's block does. */
static void a_read_of_own_blocks_does_not_drain(void)
{
    int ncid = create(), n = check.nprocs, values[3], wrong = 0;
    for (int block = 0; block < N / 3; block++) {
        MPI_Offset start[2] = {0, 3 * (block * n + check.rank)}, count[2] = {1, 3};
        for (int i = 0; i < 3; i++)
            values[i] = 1000 * check.rank + block;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 1, start, count, values));
    }
    for (int next = 0; next < 2; next++) {
        int owner = (check.rank + next) % n;
        for (int block = 0; block < N / 3; block++) {
            MPI_Offset start[2] = {0, 3 * (block * n + owner)}, count[2] = {1, 3};
            CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, 1, start, count, values));
            for (int i = 0; i < 3; i++)
                wrong += values[i] != 1000 * owner + block;
        }
        CHECK_EQ(next > 0 && n > 1, count_of(ncid, "burst_drained_bytes") > 0);
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Any process can read parts that have no logged values without causing a drain. */
static void a_read_of_values_in_the_file_does_not_drain(void)
{
    int ncid = create(), next = (check.rank + 1) % check.nprocs;
    for (int v = 0; v < 3; v++)
        put(ncid, v, 0, check.rank, check.rank);
    put(ncid, 2, 1, check.rank, 7 + check.rank);
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    long long before = count_of(ncid, "burst_drained_bytes");
    put(ncid, 1, 1, check.rank, 5);
    put(ncid, 2, 0, check.rank, 6);
    get(ncid, 0, 0, next, next);
    get(ncid, 1, 0, next, next);
    get(ncid, 2, 1, next, 7 + next);
    CHECK_EQ(before, count_of(ncid, "burst_drained_bytes"));
    get(ncid, 2, 0, next, 6);
    CHECK(check.nprocs == 1 || count_of(ncid, "burst_drained_bytes") > before);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* ---- random puts and gets ---- */

enum { RECORDS = 3 };

/* Makes one collective put. Cuts the row at random, assigns the pieces to processes at
 * random, and updates the model. The pieces do not overlap. */
static void put_anywhere(int ncid, int step, int *model)
{
    int length = N * check.nprocs, varid = (int)check_random(3);
    int record = (int)check_random(RECORDS),
        turn = (int)check_random((uint64_t)check.nprocs);
    int *row = model + (varid == 0 ? 0 : (varid * RECORDS + record) * length);
    MPI_Offset start[2] = {record, 0}, count[2] = {1, 0};
    int *values = calloc((size_t)length, sizeof *values);
    for (int i = 0, from = 0; i < check.nprocs; i++) {
        int to = from + (int)check_random((uint64_t)(length - from) + 1);
        bool writes = check_random(3) > 0;
        for (int x = from; writes && x < to; x++)
            row[x] = 1000 * step + x;
        if (writes && (i + turn) % check.nprocs == check.rank)
            start[1] = from, count[1] = to - from;
        from = to;
    }
    for (int i = 0; i < count[1]; i++)
        values[i] = 1000 * step + (int)start[1] + i;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, varid, start + (varid == 0),
                                              count + (varid == 0), values));
    free(values);
}

static void get_anywhere(int ncid, const int *model)
{
    int length = N * check.nprocs, varid = (int)check_random(3), wrong = 0;
    int record = (int)check_random(RECORDS);
    const int *row = model + (varid == 0 ? 0 : (varid * RECORDS + record) * length);
    MPI_Offset start[2] = {record, (MPI_Offset)check_random_own((uint64_t)length)};
    MPI_Offset count[2] = {
        1, 1 + (MPI_Offset)check_random_own((uint64_t)(length - start[1]))};
    int *values = calloc((size_t)length, sizeof *values);
    if (check_random_own(3) == 0) count[1] = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, varid, start + (varid == 0),
                                              count + (varid == 0), values));
    for (int i = 0; i < count[1]; i++)
        wrong += values[i] != row[start[1] + i];
    CHECK_EQ(0, wrong);
    free(values);
}

static void reads_return_the_values_that_were_put_last(void)
{
    int ncid = create(), length = N * check.nprocs;
    int *model = calloc((size_t)(3 * RECORDS * length), sizeof *model);
    for (int v = 0; v < 3; v++)
        for (int t = 0; t < (v == 0 ? 1 : RECORDS); t++)
            put(ncid, v, t, check.rank, 0);
    for (int step = 1; step < 60; step++) {
        put_anywhere(ncid, step, model);
        if (check_random(2) == 0) get_anywhere(ncid, model);
        if (check_random(12) == 0) CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(model);
}

static const struct check_test tests[] = {
    {"a read of a process's own values does not drain",
     a_read_of_a_process_own_values_does_not_drain, 0},
    {"a read of a process's own blocks does not drain",
     a_read_of_own_blocks_does_not_drain, 0},
    {"a read of values in the file does not drain",
     a_read_of_values_in_the_file_does_not_drain, 0},
    {"reads return the values that were put last",
     reads_return_the_values_that_were_put_last, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 5");
}
