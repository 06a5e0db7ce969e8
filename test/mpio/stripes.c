/* Puts and gets runs in a striped file that several nodes share. Each process must
 * transfer long runs directly, stripe by stripe, and short runs by two-phase exchange.
 * Every value must be written to the right offset. */
#include <stdlib.h>

#include "check.h"
#include "counts.h"
#include "fault.h"
#include "plan_value.h"
#include "pnetcdf.h"
#include "splitmix.h"

enum { NVARS = 5, MOST = 60000 }; /* elements of a variable per process */

/* Returns hints that make each process a node and the stripes as small as possible. */
static MPI_Info striped(void)
{
    static const char *const units[] = {"8192", "12288", "65536"};
    static const char *const factors[] = {"", "1", "3", "8"};
    const char *factor = factors[check_random(4)];
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_node_procs", "1");
    MPI_Info_set(info, "nc_file_io", "posix");
    MPI_Info_set(info, "nc_statistics", "enable");
    MPI_Info_set(info, "nc_var_align_size", "4");
    MPI_Info_set(info, "striping_unit", units[check_random(3)]);
    if (factor[0] != '\0') MPI_Info_set(info, "striping_factor", factor);
    return info;
}

/* The indices at which the processes' slices of a variable begin. Slices are in rank
 * order, without gaps. */
struct slices {
    MPI_Offset first[65];
};

/* Chooses random slices. Each may be long, short or empty, except that the first
 * process's slice is never empty. */
static void cut_slices(struct slices *s)
{
    s->first[0] = 0;
    for (int rank = 0; rank < check.nprocs; rank++) {
        static const int most[] = {1, 200, MOST - 1, MOST - 1};
        s->first[rank + 1] =
            s->first[rank] + (rank == 0) +
            (MPI_Offset)check_random((uint64_t)most[check_random(4)] - (rank == 0) + 1);
    }
}

static const nc_type types[NVARS] = {NC_DOUBLE, NC_INT, NC_SHORT, NC_DOUBLE, NC_FLOAT};

static int value_of(int var, MPI_Offset at, int turn)
{
    return plan_int(types[var], (uint64_t)(var * 100 + turn) << 32 | (uint64_t)at);
}

/* Defines variables with elements of every size, the last of them a record variable, and
 * chooses how each is divided into slices. */
static int create(struct slices *cut, int *ids)
{
    int ncid = -1, dims[2];
    MPI_Info info = striped();
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "odd", 5, "12345"));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, dims));
    for (int v = 0; v < NVARS; v++) {
        char name[] = {(char)('a' + v), '\0'};
        bool records = v == NVARS - 1;
        cut_slices(&cut[v]);
        CHECK_NC(NC_NOERR,
                 ncmpi_def_dim(ncid, name, cut[v].first[check.nprocs] + 1, &dims[1]));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, name, types[v], 1 + records,
                                         dims + !records, &ids[v]));
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* Puts or gets this process's slices of all variables, either by blocking calls or by
 * nonblocking calls and one wait. Returns the number of wrong values. */
static int move_slices(int ncid, const struct slices *cut, const int *ids, int turn,
                       bool put, bool later)
{
    static int values[NVARS][MOST];
    int wrong = 0;
    for (int v = 0; v < NVARS; v++) {
        bool records = v == NVARS - 1;
        MPI_Offset start[2] = {turn, cut[v].first[check.rank]};
        MPI_Offset count[2] = {1, cut[v].first[check.rank + 1] - start[1]};
        const MPI_Offset *from = start + !records, *many = count + !records;
        for (MPI_Offset i = 0; i < count[1]; i++)
            values[v][i] = put ? value_of(v, start[1] + i, turn) : -1;
        if (put && later)
            CHECK_NC(NC_NOERR,
                     ncmpi_iput_vara_int(ncid, ids[v], from, many, values[v], NULL));
        else if (put)
            CHECK_NC(NC_NOERR,
                     ncmpi_put_vara_int_all(ncid, ids[v], from, many, values[v]));
        else if (later)
            CHECK_NC(NC_NOERR,
                     ncmpi_iget_vara_int(ncid, ids[v], from, many, values[v], NULL));
        else
            CHECK_NC(NC_NOERR,
                     ncmpi_get_vara_int_all(ncid, ids[v], from, many, values[v]));
    }
    if (later) CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    for (int v = 0; v < NVARS && !put; v++)
        for (MPI_Offset i = 0;
             i < cut[v].first[check.rank + 1] - cut[v].first[check.rank]; i++)
            wrong += values[v][i] != value_of(v, cut[v].first[check.rank] + i, turn);
    return wrong;
}

/* Reopens the file without hints and reads everything on each process. Returns the number
 * of wrong values. */
static int look_at_all(const struct slices *cut, const int *ids, int turns)
{
    int ncid = -1, wrong = 0;
    int *values = malloc((size_t)(MOST * check.nprocs + 1) * sizeof *values);
    CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                  MPI_INFO_NULL, &ncid));
    for (int v = 0; v < NVARS; v++)
        for (int turn = v == NVARS - 1 ? 0 : turns - 1; turn < turns; turn++) {
            MPI_Offset start[2] = {turn, 0}, count[2] = {1, cut[v].first[check.nprocs]};
            bool records = v == NVARS - 1;
            CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, ids[v], start + !records,
                                                      count + !records, values));
            for (MPI_Offset i = 0; i < count[1]; i++)
                wrong += values[i] != value_of(v, i, turn);
        }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    return wrong;
}

static void long_and_short_runs_are_transferred(void)
{
    enum { ROUNDS = 12, TURNS = 2 };
    for (int round = 0; round < ROUNDS; round++) {
        struct slices cut[NVARS];
        int ids[NVARS], wrong = 0, ncid = create(cut, ids);
        for (int turn = 0; turn < TURNS; turn++)
            move_slices(ncid, cut, ids, turn, true, check_random(2));
        wrong += move_slices(ncid, cut, ids, TURNS - 1, false, check_random(2));
        CHECK_EQ(0, wrong);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_EQ(0, look_at_all(cut, ids, TURNS));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Creates a dataset with stripes of 64 KiB and one variable with EACH elements per
 * process. */
enum { EACH = 100000 };
static int line(int *v)
{
    int ncid = -1, x;
    MPI_Info info = striped();
    MPI_Info_set(info, "striping_unit", "65536");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", (MPI_Offset)EACH * check.nprocs, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* A run that only one process accesses must be transferred directly, stripe by stripe and
 * only once. A run that all processes get must be read only once, by two-phase
 * exchange. */
static void own_runs_are_transferred_directly_common_ones_only_once(void)
{
    int v = -1, ncid = line(&v), wrong = 0;
    int *values = malloc((size_t)check.nprocs * EACH * sizeof *values);
    MPI_Offset start = (MPI_Offset)check.rank * EACH, count = EACH, begin;
    for (int i = 0; i < EACH; i++)
        values[i] = (int)splitmix_hash((uint64_t)(i * 64 + check.rank));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &begin));
    long long low = begin + start * 4, high = low + EACH * 4LL - 1;
    long long before = count_of(ncid, "file_writes");
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    if (check.nprocs > 1) {
        CHECK_EQ(1, count_of(ncid, "calls_direct"));
        CHECK_EQ(0, count_of(ncid, "exchanged_bytes"));
        CHECK_EQ(high / 65536 - low / 65536 + 1, count_of(ncid, "file_writes") - before);
    }
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int rank = 0; rank < check.nprocs; rank++)
        for (int i = 0; i < EACH; i++)
            wrong +=
                values[rank * EACH + i] != (int)splitmix_hash((uint64_t)(i * 64 + rank));
    CHECK_EQ(0, wrong);
    if (check.nprocs > 2) CHECK_EQ(1, count_of(ncid, "calls_across"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each process puts a few values at random positions, so most rounds have no values to
 * transfer. */
static int put_few(int ncid, int v, int *model, int rows, MPI_Offset width)
{
    enum { FEW = 20 };
    MPI_Offset places[FEW][2], ones[2] = {1, 1}, *starts[FEW], *counts[FEW];
    int values[FEW], n = 0;
    for (int i = 0; i < FEW * check.nprocs; i++) {
        MPI_Offset at =
            (MPI_Offset)check_random((uint64_t)(rows * width / check.nprocs)) *
                check.nprocs +
            i % check.nprocs;
        model[at] = 1000 + i % check.nprocs;
        if (i % check.nprocs != check.rank) continue;
        places[n][0] = at / width;
        places[n][1] = at % width;
        starts[n] = places[n];
        counts[n] = ones;
        values[n++] = model[at];
    }
    return ncmpi_put_varn_int_all(ncid, v, n, starts, counts, values);
}

/* Puts rows in which the processes' runs alternate and have random lengths. There are few
 * servers, so a node mostly writes data that it receives from other nodes. The second put
 * gives each run to another process and omits some rows. */
static void alternating_runs_are_transferred(void)
{
    enum { N = 600000 };
    static const int lengths[] = {1, 7, 100, 5000};
    int length = lengths[check_random(4)], rows = N / length / check.nprocs;
    MPI_Offset width = (MPI_Offset)length * check.nprocs, count[2] = {rows, length};
    int ncid = -1, v = -1, dims[2], wrong = 0, *values = malloc(N * sizeof *values);
    int *model = malloc(N * sizeof *model);
    MPI_Info info = striped();
    MPI_Info_set(info, "striping_unit", "65536");
    MPI_Info_set(info, "striping_factor", "4");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", rows, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", width, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_DOUBLE, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int turn = 0; turn < 2; turn++) {
        int part = (check.rank + turn) % check.nprocs;
        MPI_Offset start[2] = {turn * rows / 3, (MPI_Offset)part * length};
        count[0] = rows - start[0];
        for (MPI_Offset i = 0; i < count[0] * length; i++) {
            MPI_Offset row = start[0] + i / length;
            values[i] = value_of(turn, row * width + start[1] + i % length, turn);
        }
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    }
    for (int i = 0; i < rows * width; i++)
        model[i] = value_of(i / width >= rows / 3, i, i / width >= rows / 3);
    CHECK_NC(NC_NOERR, put_few(ncid, v, model, rows, width));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int i = 0; i < rows * width; i++)
        wrong += values[i] != model[i];
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(model);
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* If two puts completed by the same wait overlap, the later one must take precedence,
 * whether it is long or short. */
static void the_later_of_two_overlapping_puts_takes_precedence(void)
{
    int v = -1, ncid = line(&v), wrong = 0;
    int *values = malloc(2 * EACH * sizeof *values), few[10];
    MPI_Offset start = (MPI_Offset)check.rank * EACH, count = EACH;
    MPI_Offset within = start + EACH / 2, ten = 10;
    for (int i = 0; i < EACH; i++)
        values[i] = i;
    for (int i = 0; i < 10; i++)
        few[i] = -i - 1;
    for (int later = 0; later < 2; later++) {
        for (int k = 0; k < 2; k++)
            CHECK_NC(NC_NOERR,
                     k == later
                         ? ncmpi_iput_vara_int(ncid, v, &within, &ten, few, NULL)
                         : ncmpi_iput_vara_int(ncid, v, &start, &count, values, NULL));
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_int_all(ncid, v, &start, &count, values + EACH));
        for (int i = 0; i < EACH; i++) {
            bool is = later && i >= EACH / 2 && i < EACH / 2 + 10;
            wrong += values[EACH + i] != (is ? few[i - EACH / 2] : i);
        }
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An out-of-range value must affect only its own request, wherever it is in the run. If
 * the disk fails, the writing process must get the error. */
static void errors_affect_only_their_own_request_or_process(void)
{
    int v = -1, ncid = line(&v);
    double *values = calloc(EACH, sizeof *values);
    MPI_Offset start = (MPI_Offset)check.rank * EACH, count = EACH;
    values[EACH / 3] = 1e30;
    CHECK_NC(NC_ERANGE, ncmpi_put_vara_double_all(ncid, v, &start, &count, values));
    values[EACH / 3] = 5;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, v, &start, &count, values));
    if (check.rank == check.nprocs - 1)
        CHECK(fault_arm(check.nprocs > 1 ? "write:3+:EIO:*/a.nc" : "write:1:EIO:*/a.nc"));
    int err = ncmpi_put_vara_double_all(ncid, v, &start, &count, values);
    (void)fault_disarm();
    CHECK_NC(check.rank == check.nprocs - 1 ? NC_EWRITE : NC_NOERR, err);
    (void)ncmpi_close(ncid);
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct check_test tests[] = {
    {"long and short runs are transferred", long_and_short_runs_are_transferred,
     CHECK_FORMATS},
    {"own runs are transferred directly, common ones only once",
     own_runs_are_transferred_directly_common_ones_only_once, 0},
    {"alternating runs are transferred", alternating_runs_are_transferred, CHECK_FORMATS},
    {"the later of two overlapping puts takes precedence",
     the_later_of_two_overlapping_puts_takes_precedence, 0},
    {"errors affect only their own request or process",
     errors_affect_only_their_own_request_or_process, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 5");
}
