/* Blocks through shared memory: whatever is put, the file is the one that plain writes
 * leave, and nothing is written that nobody put. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "check.h"
#include "counts.h"
#include "fault.h"
#include "pnetcdf.h"

enum { WIDTH = 37, ROWS = 23, RECORDS = 5, NVARS = 6 };

/* A hint of those that the ways across nodes go by, or none. */
static void set_one_of(MPI_Info info, const char *key, const char *const *values, int n)
{
    const char *value = values[check_random((uint64_t)n)];
    if (value[0] != '\0') MPI_Info_set(info, key, value);
}

/* "node", or "across": as if up to three processes were a node; "dealt": with stripes
 * that are dealt out to these. */
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

/* Variables of all widths, some at places that are multiples of 4 only. */
static int create(const char *name, const char *way)
{
    static const nc_type types[NVARS] = {NC_BYTE,  NC_SHORT,  NC_INT,
                                         NC_FLOAT, NC_DOUBLE, NC_DOUBLE};
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

/* Every value of the variables, the same whatever the way, by one process. */
static void fill_all(int ncid)
{
    static short values[RECORDS * ROWS * WIDTH];
    for (int v = 0; v < 2 * NVARS; v++) {
        MPI_Offset start[3] = {0}, count[3] = {RECORDS, ROWS, WIDTH};
        for (int i = 0; i < RECORDS * ROWS * WIDTH; i++)
            values[i] = (short)((v * 31 + i) % 127);
        if (check.rank > 0) count[0] = count[1] = 0;
        CHECK_NC(NC_NOERR, ncmpi_put_vara_short_all(ncid, v, start,
                                                    v % 2 ? count : count + 1, values));
    }
}

/* Part of the rows that are this process's alone, in all directions with strides. */
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

/* Many requests of this process at once, some over each other: the same in both. */
static void put_some(const int *ncid, const int *values)
{
    int n = 1 + (int)check_random_own(20);
    for (int i = 0; i < n; i++) {
        MPI_Offset start[3], count[3], stride[3];
        int v = (int)check_random_own(2 * NVARS);
        const int *from = values + check_random_own(50);
        if (!some_part(v % 2 ? 3 : 2, start, count, stride)) continue;
        for (int k = 0; k < 2; k++)
            CHECK_NC(NC_NOERR,
                     ncmpi_iput_vars_int(ncid[k], v, start, count, stride, from, NULL));
    }
    for (int k = 0; k < 2; k++)
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid[k], NC_REQ_ALL, NULL, NULL));
}

/* Any part of any variable, by both ways. */
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

/* Two files, the same puts and gets by two ways. */
static void by_two_ways(const char *way)
{
    enum { MOST = RECORDS * ROWS * WIDTH + 50 };
    static int values[MOST];
    for (int i = 0; i < MOST; i++)
        values[i] = (int)check_random_own(127);
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

static void as_by_plain_writes(void)
{
    by_two_ways("node");
}

static void as_by_plain_writes_across_nodes(void)
{
    by_two_ways("across");
}

static void in_stripes_dealt_out(void)
{
    by_two_ways("dealt");
}

/* A line of N integers. */
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

/* Long runs for other nodes, which go there in several messages, at places that are
 * multiples of any size a mark may stand for. */
static void long_runs_go_in_pieces(void)
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
        values[i] = (int)start + i + 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    start = check.rank * EACH;
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
    for (int i = 0; i < EACH; i++)
        wrong += values[i] != (int)start + i + 1;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Where several put to one place, one of them is there; beside it stays what was. */
static void overlapping_processes(void)
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

/* In fresh memory, which is not of zeros: a call whose first values lie far behind the
 * beginning of a block writes these alone. */
static void what_was_in_memory_stays_there(void)
{
    enum { N = 300000, FROM = 230000, EACH = 40, STEP = 50 };
    int ncid, v = -1, x, wrong = 0, *values = calloc(N, sizeof *values);
    MPI_Offset start = FROM + check.rank, count = EACH, stride = STEP;
    MPI_Info info = info_for("node");
    MPI_Info_set(info, "nc_node_procs", "1");
    MPI_Info_set(info, "nc_node_share_size", "1234567"); /* that no other test has */
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

/* A dataset whose v(t, x) and w(x) are put in one call: short pieces of v, a record, with
 * those of others, and a long one of w directly. */
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

/* Whichever write of each process is the first that its disk refuses: there are the
 * records of what was put, and no others. */
static void a_failing_disk_and_both_ways(void)
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
    CHECK(halves > 0 ||
          check.nprocs == 1); /* of one process the short pieces alone came there */
}

/* All of a counter. */
static long long total(int ncid, const char *counter)
{
    long long mine = count_of(ncid, counter), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Runs of one element by turns: the file is written in large pieces, and the processes
 * agree as often as they do for one element. */
static void few_file_operations(void)
{
    enum { EACH = 100000 };
    int ncid, v = line_dataset(EACH * check.nprocs, "1048576", &ncid), wrong = 0;
    int *values = malloc(EACH * sizeof *values);
    MPI_Offset start = check.rank, count = EACH, stride = check.nprocs;
    for (int i = 0; i < EACH; i++)
        values[i] = i * 7 + check.rank;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    long long writes = total(ncid, "file_writes"), reads = total(ncid, "file_reads");
    long long agreements = count_of(ncid, "agreements");
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
    long long alone = check.nprocs == 1; /* then others' values are holes */
    CHECK(total(ncid, "file_writes") - writes <= 2 * check.nprocs);
    CHECK(alone || total(ncid, "file_reads") == reads);
    CHECK_EQ(agreements + 1, count_of(ncid, "agreements"));
    memset(values, 0, EACH * sizeof *values);
    reads = total(ncid, "file_reads");
    CHECK_NC(NC_NOERR, ncmpi_get_vars_int_all(ncid, v, &start, &count, &stride, values));
    CHECK(total(ncid, "file_reads") - reads <= 2 * check.nprocs);
    CHECK_EQ(agreements + 2, count_of(ncid, "agreements"));
    for (int i = 0; i < EACH; i++)
        wrong += values[i] != i * 7 + check.rank;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What lies between multiples of `piece` is written and read by one process at once. */
static void in_pieces_of(const char *key, const char *hint, int piece)
{
    enum { EACH = 1 << 19 };
    int ncid, v = line_of(EACH * check.nprocs, key, hint, &ncid);
    int *values = malloc(EACH * sizeof *values), wrong = 0;
    MPI_Offset start = check.rank, count = EACH, stride = check.nprocs, begin;
    for (int i = 0; i < EACH; i++)
        values[i] = i * 5 + check.rank;
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
        wrong += values[i] != i * 5 + check.rank;
    CHECK_EQ(0, wrong);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    free(values);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void whole_stripes(void)
{
    in_pieces_of("striping_unit", "1048576", 1 << 20);
}

/* Between nodes, each a quarter of a stripe a round. */
static void parts_of_stripes(void)
{
    const char *hints = "nc_node_procs=1;nc_transfer=node;nc_node_share_size=8388608";
    setenv("PNETCDF_HINTS", hints, 1);
    in_pieces_of("striping_unit", "1048576", 1 << 18);
    unsetenv("PNETCDF_HINTS");
}

/* What is kept for the next dataset is not lost, and a program that looks for leaks is
 * not told of it. */
static void no_memory_is_left(void)
{
    MPI_Offset before, after;
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&before));
    for (int round = 0; round < 3; round++) {
        int ncid = create("a.nc", "across");
        fill_all(ncid);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&after));
        CHECK_EQ(0, after);
    }
    CHECK_EQ(0, before);
}

/* Whoever's disk fails, all know that the values are not all there. */
static void a_failing_disk_is_told_to_all(void)
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
            /* Alone the runs are one, which goes direct: such errors are told again. */
            rc = ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values);
            if (check.nprocs > 1) CHECK_NC(NC_NOERR, rc);
            ncmpi_close(ncid);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

/* Segments of any length by turns, as one derived type. */
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

/* A file type goes the way that hyperslabs go. */
static void by_file_type(void)
{
    enum { SEGMENTS = 64, MOST = 40 * SEGMENTS };
    int ncid, end, bytes, values[MOST], back[MOST] = {0};
    MPI_Datatype type = segments(SEGMENTS, &end);
    int v = line_dataset(end, "1000", &ncid);
    MPI_Type_size(type, &bytes);
    int n = bytes / 4;
    for (int i = 0; i < n; i++)
        values[i] = i * 5 + check.rank;
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

/* What lies behind the file's end reads as zeros. */
static void behind_the_end(void)
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
    {"as by plain writes", as_by_plain_writes, CHECK_FORMATS},
    {"as by plain writes, across nodes", as_by_plain_writes_across_nodes, 0},
    {"in stripes that are dealt out", in_stripes_dealt_out, CHECK_FORMATS},
    {"long runs go in pieces", long_runs_go_in_pieces, 0},
    {"overlapping processes", overlapping_processes, 0},
    {"whole stripes", whole_stripes, 0},
    {"parts of stripes", parts_of_stripes, 0},
    {"what was in memory stays there", what_was_in_memory_stays_there, 0},
    {"a failing disk and both ways", a_failing_disk_and_both_ways, 0},
    {"few file operations", few_file_operations, 0},
    {"no memory is left", no_memory_is_left, 0},
    {"a failing disk is told to all", a_failing_disk_is_told_to_all, 0},
    {"by file type", by_file_type, 0},
    {"behind the end", behind_the_end, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5a); /* memory is not of zeros by chance */
#endif
    return check_main(argc, argv, tests, "1 2 3 5");
}
