/* Tests the two-phase exchange, which assembles blocks of the file in shared memory.
 * After any puts, the file must be the same as after direct writes, and only bytes that
 * processes have put may be written. Memory usage and the numbers of file operations and
 * agreements must stay within limits. Several nodes are simulated by the hint
 * nc_node_procs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "check.h"
#include "counts.h"
#include "fault.h"
#include "plan_value.h"
#include "pnetcdf.h"
#include "splitmix.h"

enum { WIDTH = 37, ROWS = 23, RECORDS = 5, NVARS = 6 };

/* Sets a hint to one of several values, chosen at random, or leaves it unset if the
 * chosen value is "". */
static void set_one_of(MPI_Info info, const char *key, const char *const *values, int n)
{
    const char *value = values[check_random((uint64_t)n)];
    if (value[0] != '\0') MPI_Info_set(info, key, value);
}

/* Returns the hints for a transfer method: "node"; "across", in which up to three
 * processes form a node; or "dealt", in which stripes are also distributed over these
 * nodes. */
static MPI_Info info_for(const char *way)
{
    static const char *const shares[] = {"300", "900", "6000", "70000", "1048576"};
    static const char *const procs[] = {"1", "2", "3"};
    static const char *const units[] = {"", "8192", "12288", "65536", "262144"};
    static const char *const factors[] = {"", "1", "3", "4", "64"};
    static const char *const nodes[] = {"", "1", "2", "3"};
    MPI_Info info;
    MPI_Info_create(&info);
    bool dealt = strcmp(way, "dealt") == 0, across = dealt || strcmp(way, "across") == 0;
    MPI_Info_set(info, "nc_transfer", across ? "node" : way);
    if (across) set_one_of(info, "nc_node_procs", procs, 3);
    if (!across) MPI_Info_set(info, "nc_node_procs", "0");
    set_one_of(info, "nc_node_share_size", dealt ? shares + 3 : shares, dealt ? 2 : 5);
    set_one_of(info, "striping_unit", dealt ? units + 1 : units, dealt ? 2 : 5);
    set_one_of(info, "striping_factor", factors, 5);
    if (!dealt) set_one_of(info, "cb_nodes", nodes, 4);
    MPI_Info_set(info, "nc_statistics", "enable");
    MPI_Info_set(info, "nc_var_align_size", "4");
    return info;
}

static const nc_type types[NVARS] = {NC_BYTE,  NC_SHORT,  NC_INT,
                                     NC_FLOAT, NC_DOUBLE, NC_DOUBLE};

/* Creates a dataset with variables of every element size. Some variables begin at offsets
 * that are multiples of 4 but not of 8. */
static int create(const char *name, const char *way)
{
    int ncid = -1, dims[3], varid;
    MPI_Info info = info_for(way);
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path(name), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "odd", 5, "12345"));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", ROWS, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", WIDTH, &dims[2]));
    for (int v = 0; v < NVARS; v++) {
        char fixed[] = {(char)('a' + v), '\0'}, record[] = {(char)('A' + v), '\0'};
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, fixed, types[v], 2, dims + 1, &varid));
        CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, record, types[v], 3, dims, &varid));
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* Process 0 puts all values, so that the result does not depend on the transfer
 * method. */
static void fill_all(int ncid)
{
    static short values[RECORDS * ROWS * WIDTH];
    for (int v = 0; v < 2 * NVARS; v++) {
        MPI_Offset start[3] = {0}, count[3] = {RECORDS, ROWS, WIDTH};
        for (int i = 0; i < RECORDS * ROWS * WIDTH; i++)
            values[i] =
                (short)plan_int(v < 2 ? NC_BYTE : NC_SHORT, (uint64_t)(v << 20 | i));
        if (check.rank > 0) count[0] = count[1] = 0;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_short_all(ncid, v, start,
                                                    v % 2 ? count : count + 1, values));
    }
}

/* Chooses a random part, strided in all dimensions, of the rows that only this process
 * puts. Returns whether the part has any elements. */
static bool some_part(int ndims, MPI_Offset *start, MPI_Offset *count, MPI_Offset *stride)
{
    static const int shape[3] = {RECORDS, ROWS, WIDTH};
    bool empty = false;
    for (int d = 0; d < ndims; d++) {
        int length = shape[3 - ndims + d], row = d == ndims - 2;
        stride[d] = row ? check.nprocs : 1 + (MPI_Offset)check_random_own(3);
        start[d] = (MPI_Offset)check_random_own((uint64_t)length);
        if (row) start[d] += check.rank - start[d] % check.nprocs;
        int64_t room = length - start[d];
        int64_t most = room <= 0 ? 0 : (room - 1) / stride[d] + 1;
        count[d] = most > 0 ? 1 + (MPI_Offset)check_random_own((uint64_t)most) : 0;
        empty = empty || count[d] == 0;
    }
    for (int d = 0; empty && d < ndims; d++)
        start[d] = count[d] = 0;
    return !empty;
}

enum { MOST_VALUES = RECORDS * ROWS * WIDTH + 50 };

/* Posts the same random requests on both datasets. Some of the requests overlap. */
static void put_some(const int *ncid, int values[NVARS][MOST_VALUES])
{
    int n = 1 + (int)check_random_own(20);
    for (int i = 0; i < n; i++) {
        MPI_Offset start[3], count[3], stride[3];
        int v = (int)check_random_own(2 * NVARS);
        const int *from = values[v / 2] + check_random_own(50);
        if (!some_part(v % 2 ? 3 : 2, start, count, stride)) continue;
        for (int k = 0; k < 2; k++)
            CHECK_NC(NC_NOERR,
                     ncmpi_iput_vars_int(ncid[k], v, start, count, stride, from, NULL));
    }
    for (int k = 0; k < 2; k++)
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid[k], NC_REQ_ALL, NULL, NULL));
}

/* Gets a random part of a random variable from both datasets and compares the values. */
static void get_some(const int *ncid)
{
    enum { MOST = RECORDS * ROWS * WIDTH };
    static float values[2][MOST];
    MPI_Offset start[3], count[3], stride[3];
    int v = (int)check_random_own(NVARS) * 2;
    if (!some_part(2, start, count, stride)) count[0] = count[1] = 0;
    memset(values, 0, sizeof values);
    for (int k = 0; k < 2; k++)
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vars_float_all(ncid[k], v, start, count, stride, values[k]));
    CHECK_BYTES(values[0], values[1], sizeof values[0]);
}

/* Makes the same puts and gets on two files, with direct transfer on one and the method
 * `way` on the other. */
static void by_two_ways(const char *way)
{
    static int values[NVARS][MOST_VALUES];
    for (int i = 0; i < NVARS * MOST_VALUES; i++)
        values[i / MOST_VALUES][i % MOST_VALUES] =
            plan_int(types[i / MOST_VALUES], check_random_own(UINT64_MAX));
    for (int round = 0; round < 4; round++) {
        int ncid[2] = {create("a.nc", "direct"), create("b.nc", way)};
        bool filled = check_random(2);
        for (int k = 0; k < 2 && filled; k++)
            fill_all(ncid[k]);
        for (int i = 0; i < 3; i++) {
            get_some(ncid);
            put_some(ncid, values);
        }
        CHECK_NC(NC_NOERR, ncmpi_close(ncid[0]));
        CHECK_NC(NC_NOERR, ncmpi_close(ncid[1]));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(check_same_files(check_path("a.nc"), check_path("b.nc")));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void two_phase_writes_equal_direct_writes(void)
{
    by_two_ways("node");
}

static void two_phase_writes_equal_direct_writes_across_nodes(void)
{
    by_two_ways("across");
}

static void writes_of_distributed_stripes_equal_direct_writes(void)
{
    by_two_ways("dealt");
}

/* Creates a dataset with a single variable, which has one dimension and n integers.
 * Returns the variable's id. */
static int line_of(int n, const char *key, const char *hint, int *ncid)
{
    int x, v = -1;
    *ncid = counting_dataset("a.nc", key, hint);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(*ncid, "x", n, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "v", NC_INT, 1, &x, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(*ncid));
    return v;
}

static int line_dataset(int n, const char *share, int *ncid)
{
    return line_of(n, "nc_node_share_size", share, ncid);
}

/* Long runs are sent to other nodes in several messages. Each run begins at a common
 * multiple of all sizes that a mark can cover. */
static void long_runs_are_sent_in_pieces(void)
{
    enum { EACH = 16 * 1999 };
    int ncid, x, v, wrong = 0, *values = malloc(EACH * sizeof *values);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_transfer", "node");
    MPI_Info_set(info, "nc_node_procs", check_random(2) ? "1" : "2");
    MPI_Info_set(info, "nc_node_share_size", check_random(2) ? "1000" : "20000");
    MPI_Info_set(info, "nc_var_align_size", "4096");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", EACH * check.nprocs, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Offset start = (check.nprocs - 1 - check.rank) * EACH, count = EACH;
    for (int i = 0; i < EACH; i++)
        values[i] = (int)splitmix_hash((uint64_t)(start + i));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    start = check.rank * EACH;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
    for (int i = 0; i < EACH; i++)
        wrong += values[i] != (int)splitmix_hash((uint64_t)(start + i));
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* If several processes put to the same element, it must get the value of one of them.
 * Elements in between must keep their values. */
static void overlapping_elements_get_the_value_of_one_process(void)
{
    enum { N = 6000 };
    int ncid, v = line_dataset(N, "1000", &ncid), wrong = 0;
    int *values = malloc(N * sizeof *values);
    MPI_Offset start = 0, count = check.rank == 0 ? N : 0, stride = 3;
    for (int i = 0; i < N; i++)
        values[i] = -i - 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    for (int i = 0; i < N; i++)
        values[i] = check.rank;
    count = N / 3;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    CHECK(count_of(ncid, "calls_node") > 0);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int i = 0; i < N; i++)
        wrong +=
            i % 3 == 0 ? values[i] < 0 || values[i] >= check.nprocs : values[i] != -i - 1;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* If a call's first values are far from the beginning of a block, only these values may
 * be written. The block's memory is newly allocated and filled with nonzero bytes. */
static void uninitialized_buffer_memory_is_not_written(void)
{
    enum { N = 300000, FROM = 230000, EACH = 40, STEP = 50 };
    int ncid, v = -1, x, wrong = 0, *values = calloc(N, sizeof *values);
    MPI_Offset start = FROM + check.rank, count = EACH, stride = STEP;
    MPI_Info info = info_for("node");
    MPI_Info_set(info, "nc_node_procs", "1");
    /* The size is unique, so that memory from other datasets is not reused. */
    MPI_Info_set(info, "nc_node_share_size", "1234567");
    MPI_Info_set(info, "striping_unit", "65536");
    MPI_Info_set(info, "striping_factor", "64");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int i = 0; i < EACH; i++)
        values[i] = i + 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int i = 0; i < N; i++) {
        int at = i - FROM, is = i >= FROM && at % STEP < check.nprocs && at / STEP < EACH;
        wrong += values[i] != (is ? at / STEP + 1 : 0);
    }
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Creates a dataset and posts one put to v(t, x) and one to w(x). The put to v has short
 * pieces, all in one record, which are exchanged with other processes. The put to w is
 * one long piece, which is written directly. */
enum { LONG = 200000, EACH_SHORT = 64 };

static void both_ways(int *ncid, int *t, int *ids)
{
    static int values[LONG];
    int dims[2], v = -1, w = -1;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_node_procs", "2");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(*ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(*ncid, "x", LONG, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "w", NC_INT, 1, dims + 1, &w));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "v", NC_INT, 2, dims, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(*ncid));
    *t = dims[0];
    MPI_Offset start[2] = {2, check.rank}, count[2] = {1, EACH_SHORT};
    MPI_Offset stride[2] = {1, check.nprocs}, zero = 0, all = LONG;
    CHECK_NC(NC_NOERR,
             ncmpi_iput_vars_int(*ncid, v, start, count, stride, values, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(*ncid, w, &zero, &all, values, &ids[1]));
}

/* Whichever of a process's writes fails first, the number of records must match the puts
 * that succeeded. */
static void a_failed_write_leaves_the_right_number_of_records(void)
{
    enum { NTHS = 3 };
    int halves = 0;
    for (int round = 0; round < NTHS * NTHS; round++) {
        int ncid = -1, t, ids[2], status[2] = {NC_NOERR, NC_NOERR};
        int nth = 1 + (check.rank % 2 ? round / NTHS : round % NTHS);
        MPI_Offset records = -1;
        char plan[64];
        both_ways(&ncid, &t, ids);
        snprintf(plan, sizeof plan, "write:%d+:EIO:*/a.nc", nth);
        CHECK(fault_arm(plan));
        (void)ncmpi_wait_all(ncid, 2, ids, status);
        (void)fault_disarm();
        int put = status[0] == NC_NOERR, half = put && status[1] != NC_NOERR;
        MPI_Allreduce(MPI_IN_PLACE, &put, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &half, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        halves += half;
        (void)ncmpi_sync(ncid);
        CHECK_NC(NC_NOERR, ncmpi_inq_dimlen(ncid, t, &records));
        CHECK_EQ(put ? 3 : 0, records);
        (void)ncmpi_close(ncid);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(halves > 0 || check.nprocs == 1); /* a lone process writes w first */
}

/* Returns a counter's sum over all processes. */
static long long total(int ncid, const char *counter)
{
    long long mine = count_of(ncid, counter), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Each process puts every nprocs-th element. The library must write the file in large
 * pieces, and the processes must agree only once per call. */
static void interleaved_puts_make_few_file_operations(void)
{
    enum { EACH = 100000 };
    int ncid, v = line_dataset(EACH * check.nprocs, "1048576", &ncid), wrong = 0;
    int *values = malloc(EACH * sizeof *values);
    MPI_Offset start = check.rank, count = EACH, stride = check.nprocs;
    for (int i = 0; i < EACH; i++)
        values[i] = (int)splitmix_hash((uint64_t)(i * 64 + check.rank));
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    long long writes = total(ncid, "file_writes"), reads = total(ncid, "file_reads");
    long long agreements = count_of(ncid, "agreements");
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    long long alone = check.nprocs == 1; /* no other process fills the gaps */
    CHECK(total(ncid, "file_writes") - writes <= 2 * check.nprocs);
    CHECK(alone || total(ncid, "file_reads") == reads);
    CHECK_EQ(agreements + 1, count_of(ncid, "agreements"));
    memset(values, 0, EACH * sizeof *values);
    reads = total(ncid, "file_reads");
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values));
    CHECK(total(ncid, "file_reads") - reads <= 2 * check.nprocs);
    CHECK_EQ(agreements + 2, count_of(ncid, "agreements"));
    for (int i = 0; i < EACH; i++)
        wrong += values[i] != (int)splitmix_hash((uint64_t)(i * 64 + check.rank));
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Checks that each block of `piece` bytes is written in a single operation by one
 * process, and also read in a single operation by one process. */
static void in_pieces_of(const char *key, const char *hint, int piece)
{
    enum { EACH = 1 << 19 };
    int ncid, v = line_of(EACH * check.nprocs, key, hint, &ncid);
    int *values = malloc(EACH * sizeof *values), wrong = 0;
    MPI_Offset start = check.rank, count = EACH, stride = check.nprocs, begin;
    for (int i = 0; i < EACH; i++)
        values[i] = (int)splitmix_hash((uint64_t)(i * 64 + check.rank));
    CHECK_NC(NC_NOERR, ncmpi_inq_varoffset(ncid, v, &begin));
    long long end = begin + 4LL * EACH * check.nprocs;
    long long pieces = (end - 1) / piece - begin / piece + 1;
    long long writes = total(ncid, "file_writes"), reads = total(ncid, "file_reads");
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    writes = total(ncid, "file_writes") - writes;
    memset(values, 0, EACH * sizeof *values);
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values));
    reads = total(ncid, "file_reads") - reads;
    if (check.nprocs > 1) CHECK_EQ(pieces, writes);
    if (check.nprocs > 1) CHECK_EQ(pieces, reads);
    for (int i = 0; i < EACH; i++)
        wrong += values[i] != (int)splitmix_hash((uint64_t)(i * 64 + check.rank));
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void each_round_writes_whole_stripes(void)
{
    in_pieces_of("striping_unit", "1048576", 1 << 20);
}

/* Same as each_round_writes_whole_stripes, but with one process per node, and with rounds
 * that transfer only a quarter of a stripe. */
static void each_round_writes_parts_of_stripes(void)
{
    const char *hints = "nc_node_procs=1;nc_transfer=node;nc_node_share_size=8388608";
    setenv("PNETCDF_HINTS", hints, 1);
    in_pieces_of("striping_unit", "1048576", 1 << 18);
    unsetenv("PNETCDF_HINTS");
}

/* Memory that is cached for the next dataset is not used if its size differs. */
static void each_dataset_uses_its_own_share_size(void)
{
    enum { EACH = 20000 };
    static const char *const shares[] = {"262144", "4096", "262144"};
    static int values[EACH];
    long long writes[3];
    for (int i = 0; i < 3; i++) {
        int ncid, v = line_dataset(EACH * check.nprocs, shares[i], &ncid);
        MPI_Offset start = check.rank, count = EACH, stride = check.nprocs;
        writes[i] = -total(ncid, "file_writes");
        CHECK_NC(NC_NOERR,
                 ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
        writes[i] += total(ncid, "file_writes");
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
    CHECK_EQ(writes[0], writes[2]);
    CHECK(writes[0] < writes[1] || check.nprocs == 1);
}

/* If one process's disk fails, some values are not transferred, so all processes must
 * return an error. */
static void a_failed_disk_is_an_error_on_all_processes(void)
{
    enum { EACH = 3000 };
    for (int bad = 0; bad < check.nprocs; bad++)
        for (int put = 0; put <= 1; put++) {
            int ncid, v = line_dataset(EACH * check.nprocs, "1000", &ncid), values[EACH];
            MPI_Offset start = check.rank, count = EACH, stride = check.nprocs;
            char plan[64];
            memset(values, 0, sizeof values);
            CHECK_NC(NC_NOERR,
                     ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
            snprintf(plan, sizeof plan, "%s:1+:EIO:*/a.nc:%d", put ? "write" : "read",
                     bad);
            CHECK(fault_arm(plan));
            int rc =
                put ? ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values)
                    : ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values);
            int faults = fault_disarm(), any;
            MPI_Allreduce(&faults, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            CHECK(any > 0 || check.nprocs > 1);
            CHECK_EQ(any > 0, rc != NC_NOERR);
            /* A single process's runs are contiguous and therefore transferred directly,
             * so the error may be reported once more. */
            rc = ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values);
            if (check.nprocs > 1) CHECK_NC(NC_NOERR, rc);
            ncmpi_close(ncid);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

/* Returns a derived type of `n` segments with random lengths, which alternate with the
 * other processes' segments. */
static MPI_Datatype segments(int n, int *end)
{
    enum { MOST = 64 };
    int lengths[MOST], places[MOST];
    MPI_Datatype type;
    *end = (int)check_random(3);
    for (int i = 0; i < n; i++)
        for (int rank = 0; rank < check.nprocs; rank++) {
            int length = 1 + (int)check_random(40);
            if (rank == check.rank) lengths[i] = length, places[i] = *end;
            *end += length + (int)check_random(2);
        }
    MPI_Type_indexed(n, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Data that a file type describes (vard) must be transferred by two-phase exchange, just
 * like hyperslabs. */
static void file_types_are_transferred_by_two_phase_exchange(void)
{
    enum { SEGMENTS = 64, MOST = 40 * SEGMENTS };
    int ncid, end, bytes, values[MOST], back[MOST] = {0};
    MPI_Datatype type = segments(SEGMENTS, &end);
    int v = line_dataset(end, "1000", &ncid);
    MPI_Type_size(type, &bytes);
    int n = bytes / 4;
    for (int i = 0; i < n; i++)
        values[i] = (int)splitmix_hash((uint64_t)(i * 64 + check.rank));
    CHECK_NC(NC_NOERR, ncmpi_put_vard_all(ncid, v, type, values, n, MPI_INT));
    CHECK_NC(NC_NOERR, ncmpi_get_vard_all(ncid, v, type, back, n, MPI_INT));
    CHECK(check.nprocs == 1 || count_of(ncid, "calls_node") == 2);
    CHECK_BYTES(values, back, (size_t)bytes);

    int *line = malloc((size_t)end * sizeof *line), packed = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, line));
    MPI_Pack(line, 1, type, back, sizeof back, &packed, MPI_COMM_WORLD);
    CHECK_EQ(bytes, packed);
    CHECK_BYTES(values, back, (size_t)bytes);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Type_free(&type);
    free(line);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Elements beyond the end of the file must read as zeros. */
static void elements_beyond_the_end_of_the_file_are_zero(void)
{
    enum { EACH = 1000 };
    int ncid, v = line_dataset(EACH * check.nprocs, "1000", &ncid), values[EACH];
    MPI_Offset start = check.rank, count = EACH, stride = check.nprocs;
    static const int zeros[EACH];
    memset(values, 1, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values));
    CHECK_BYTES(zeros, values, sizeof values);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct check_test tests[] = {
    {"two-phase writes equal direct writes", two_phase_writes_equal_direct_writes,
     CHECK_FORMATS},
    {"two-phase writes equal direct writes across nodes",
     two_phase_writes_equal_direct_writes_across_nodes, 0},
    {"writes of distributed stripes equal direct writes",
     writes_of_distributed_stripes_equal_direct_writes, CHECK_FORMATS},
    {"long runs are sent in pieces", long_runs_are_sent_in_pieces, 0},
    {"overlapping elements get the value of one process",
     overlapping_elements_get_the_value_of_one_process, 0},
    {"each round writes whole stripes", each_round_writes_whole_stripes, 0},
    {"each round writes parts of stripes", each_round_writes_parts_of_stripes, 0},
    {"uninitialized buffer memory is not written",
     uninitialized_buffer_memory_is_not_written, 0},
    {"a failed write leaves the right number of records",
     a_failed_write_leaves_the_right_number_of_records, 0},
    {"interleaved puts make few file operations",
     interleaved_puts_make_few_file_operations, 0},
    {"each dataset uses its own share size", each_dataset_uses_its_own_share_size, 0},
    {"a failed disk is an error on all processes",
     a_failed_disk_is_an_error_on_all_processes, 0},
    {"file types are transferred by two-phase exchange",
     file_types_are_transferred_by_two_phase_exchange, 0},
    {"elements beyond the end of the file are zero",
     elements_beyond_the_end_of_the_file_are_zero, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5a); /* makes newly allocated memory contain nonzero bytes */
#endif
    return check_main(argc, argv, tests, "1 2 3 5");
}
