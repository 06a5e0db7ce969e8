/* Tests the cost of typical calls by counting collective operations and file operations.
 * The counts do not depend on the machine or on the amount of data. */
#define _GNU_SOURCE /* for statx and fallocate */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counts.h"
#include "made_dataset.h"

/* ---- MPI functions that count their calls ---- */

static int reductions, broadcasts;

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Bcast(void *bytes, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    broadcasts++;
    return PMPI_Bcast(bytes, n, type, root, comm);
}

/* Checks that at most this many reductions and broadcasts have been made since the last
 * check. */
static void took(int at_most_reductions, int at_most_broadcasts, const char *what)
{
    if (reductions > at_most_reductions || broadcasts > at_most_broadcasts)
        CHECK_STR("so few", what);
    CHECK(reductions <= at_most_reductions);
    CHECK(broadcasts <= at_most_broadcasts);
    reductions = broadcasts = 0;
}

/* ---- interposed system calls that flush or revalidate ---- */

static int syncs, asked;

int fdatasync(int fd)
{
    syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
    asked++;
    return (int)syscall(SYS_fallocate, fd, mode, at, n);
}

int statx(int fd, const char *restrict path, int flags, unsigned mask,
          struct statx *restrict st)
{
    asked++;
    return (int)syscall(SYS_statx, fd, path, flags, mask, st);
}

/* ---- the library's counters ---- */

struct tally {
    long long agreements, reads, writes, read_bytes, header_bytes, written_bytes, copied,
        runs;
};

static struct tally tally_of(int ncid)
{
    return (struct tally){
        count_of(ncid, "agreements"),        count_of(ncid, "file_reads"),
        count_of(ncid, "file_writes"),       count_of(ncid, "file_read_bytes"),
        count_of(ncid, "header_read_bytes"), count_of(ncid, "file_written_bytes"),
        count_of(ncid, "copied_bytes"),      count_of(ncid, "runs")};
}

static struct tally since(int ncid, const struct tally *before)
{
    struct tally t = tally_of(ncid);
    t.agreements -= before->agreements;
    t.reads -= before->reads;
    t.writes -= before->writes;
    t.read_bytes -= before->read_bytes;
    t.header_bytes -= before->header_bytes;
    t.written_bytes -= before->written_bytes;
    t.copied -= before->copied;
    t.runs -= before->runs;
    return t;
}

/* Returns a counter's sum over all processes. */
static long long of_all(long long mine)
{
    long long all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* ---- tests ---- */

static void define(int ncid, int nvars)
{
    int x = new_dim(ncid, "x", 10);
    for (int i = 0; i < nvars; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        new_var(ncid, name, NC_INT, 1, &x);
    }
}

static void metadata_calls_take_few_collective_steps(void)
{
    static const int sizes[] = {1, 300};
    reductions = broadcasts = 0;
    for (int round = 0; round < 2; round++) {
        int nvars = sizes[round], ncid = new_dataset(nvars == 1 ? "a.nc" : "b.nc");
        took(2, 1, "create");
        define(ncid, nvars);
        took(0, 0, "definitions");
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        took(2, 0, "enddef");
        close_dataset(ncid);
        took(2, 0, "close");
        ncid = open_dataset(nvars == 1 ? "a.nc" : "b.nc", NC_NOWRITE);
        took(nvars == 1 ? 3 : 4, nvars == 1 ? 2 : 3, "open");
        close_dataset(ncid);
        took(1, 0, "close after reading");
        ncid = open_dataset(nvars == 1 ? "a.nc" : "b.nc", NC_WRITE);
        took(4, 3, "open to write");
        CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
        took(2, 0, "redef");
        CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
        took(2, 0, "enddef after redef");
        close_dataset(ncid);
        took(2, 0, "close after writing");
    }
    close_dataset(new_dataset("a.nc"));
    took(3 + 2 + 2, 1, "create over what is there");
}

enum { N = 5000 };

/* On a coherent file system, every node's page cache reflects writes by other nodes.
 * Therefore only ncmpi_sync flushes or revalidates anything. */
static void calls_on_a_coherent_file_system_do_not_revalidate(void)
{
    int ncid = counting_dataset("a.nc", NULL, NULL), values[3] = {0};
    int x = new_dim(ncid, "x", 3 * check.nprocs), v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = 3 * check.rank, count = 3;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    syncs = asked = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
        CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, v, &start, &count, values));
        CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, v, &start, &count, values));
        CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    }
    CHECK_EQ(0, syncs);
    CHECK_EQ(0, asked);
    CHECK_EQ(0, count_of(ncid, "file_settled"));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_EQ(0, asked);
    CHECK(syncs <= 1);
    CHECK(of_all(syncs) > 0);
    close_dataset(ncid);
}

static void contiguous_calls_make_one_operation_each(void)
{
    int ncid = counting_dataset("a.nc", NULL, NULL), *values = calloc(N, sizeof *values);
    int x = new_dim(ncid, "x", N * check.nprocs), v = new_var(ncid, "v", NC_INT, 1, &x);
    MPI_Offset start = N * check.rank, count = N;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));

    struct tally before = tally_of(ncid), t;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, &start, &count, values));
    t = since(ncid, &before);
    CHECK_EQ(1, t.agreements);
    CHECK_EQ(1, t.writes);
    CHECK_EQ(0, t.reads);
    CHECK_EQ(1, t.runs);
    CHECK_EQ(4 * N, t.written_bytes);

    before = tally_of(ncid);
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int_all(ncid, v, &start, &count, values));
    t = since(ncid, &before);
    CHECK_EQ(1, t.agreements);
    CHECK_EQ(1, t.reads);
    CHECK_EQ(4 * N, t.read_bytes);

    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    before = tally_of(ncid);
    CHECK_NC(NC_NOERR, ncmpi_put_var1_int(ncid, v, &start, values));
    t = since(ncid, &before);
    CHECK_EQ(0, t.agreements);
    CHECK_EQ(1, t.writes);
    CHECK_EQ(4, t.written_bytes);
    CHECK_EQ(1, count_of(ncid, "calls_independent"));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    close_dataset(ncid);
    free(values);
}

/* The values need no conversion, so they go directly from the user's buffer to the
 * file. */
static void bytes_that_need_no_change_are_not_copied(void)
{
    int ncid = counting_dataset("a.nc", NULL, NULL);
    int x = new_dim(ncid, "x", N * check.nprocs), v = new_var(ncid, "v", NC_BYTE, 1, &x);
    signed char *values = calloc(N, 1);
    MPI_Offset start = N * check.rank, count = N;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    struct tally before = tally_of(ncid), t;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_schar_all(ncid, v, &start, &count, values));
    t = since(ncid, &before);
    CHECK_EQ(0, t.copied);
    CHECK_EQ(N, t.written_bytes);
    close_dataset(ncid);
    free(values);
}

/* In the file, the processes' short runs alternate. Each byte must be written once, and
 * the processes must agree only once per call. */
static void interleaved_runs_make_one_agreement(void)
{
    enum { ROWS = 3000 };
    int ncid = counting_dataset("a.nc", NULL, NULL), dims[2];
    int *values = calloc(ROWS, sizeof *values);
    dims[0] = new_dim(ncid, "y", ROWS);
    dims[1] = new_dim(ncid, "x", check.nprocs);
    int v = new_var(ncid, "v", NC_INT, 2, dims);
    MPI_Offset start[2] = {0, check.rank}, count[2] = {ROWS, 1};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    /* The first call is not counted, because it may allocate shared memory. */
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    struct tally before = tally_of(ncid), t;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    t = since(ncid, &before);
    CHECK_EQ(1, t.agreements);
    CHECK_EQ(4LL * ROWS * check.nprocs, of_all(t.written_bytes));
    if (count_of(ncid, "calls_node") > 0) CHECK(t.writes <= 2);
    close_dataset(ncid);
    free(values);
}

/* Posts one request for each element and completes all of them with a single wait. */
enum { REQUESTS = 50 };

static void put_by_requests(int ncid, int varid)
{
    int ids[REQUESTS], values[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        MPI_Offset start[2] = {i, check.rank}, count[2] = {1, 1};
        values[i] = i;
        CHECK_NC(NC_NOERR,
                 ncmpi_iput_vara_int(ncid, varid, start, count, &values[i], &ids[i]));
    }
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_PUT_REQ_ALL, NULL, NULL));
}

/* The processes agree once per wait, however many requests it completes. */
static void one_wait_makes_one_agreement(void)
{
    int ncid = counting_dataset("a.nc", NULL, NULL);
    int dims[2] = {new_dim(ncid, "y", REQUESTS), new_dim(ncid, "x", check.nprocs)};
    int v = new_var(ncid, "v", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put_by_requests(ncid, v);
    struct tally before = tally_of(ncid), t;
    put_by_requests(ncid, v);
    t = since(ncid, &before);
    CHECK_EQ(1, t.agreements);
    CHECK_EQ(4LL * REQUESTS * check.nprocs, of_all(t.written_bytes));
    close_dataset(ncid);
}

/* Two record variables alternate in the file. Requests that are adjacent in the file must
 * be written in one operation. */
static void adjacent_parts_of_two_requests_make_one_operation(void)
{
    enum { RECORDS = 8, EACH = 300 };
    int ncid = counting_dataset("a.nc", "nc_transfer", "direct"), wrong = 0;
    int dims[2] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", EACH)};
    int v = new_var(ncid, "v", NC_INT, 2, dims),
        w = new_var(ncid, "w", NC_SHORT, 2, dims);
    MPI_Offset start[2] = {RECORDS * check.rank, 0}, count[2] = {RECORDS, EACH};
    int *values = calloc(2 * RECORDS * EACH, sizeof *values);
    for (int i = 0; i < RECORDS * EACH; i++)
        values[i] = i + check.rank;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    struct tally before = tally_of(ncid), t;
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, w, start, count, values, NULL));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, v, start, count, values, NULL));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_PUT_REQ_ALL, NULL, NULL));
    t = since(ncid, &before);
    CHECK_EQ(1 + (check.rank == 0), t.writes); /* one write for the number of records */
    for (int i = 0; i < 2; i++) {
        int *got = values + RECORDS * EACH;
        CHECK_NC(NC_NOERR,
                 ncmpi_get_vara_int_all(ncid, i == 0 ? v : w, start, count, got));
        wrong += memcmp(values, got, RECORDS * EACH * sizeof *got) != 0;
    }
    CHECK_EQ(0, wrong);
    close_dataset(ncid);
    free(values);
}

static void appends_make_one_agreement_each(void)
{
    enum { RECORDS = 20 };
    int ncid = counting_dataset("a.nc", NULL, NULL), values[100] = {0};
    int dims[2] = {new_dim(ncid, "t", NC_UNLIMITED),
                   new_dim(ncid, "x", 100 * check.nprocs)};
    int v = new_var(ncid, "v", NC_INT, 2, dims);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    struct tally before = tally_of(ncid), t;
    for (int i = 0; i < RECORDS; i++) {
        MPI_Offset start[2] = {i, 100 * check.rank}, count[2] = {1, 100};
        CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, v, start, count, values));
    }
    t = since(ncid, &before);
    CHECK_EQ(RECORDS, t.agreements);
    /* Process 0 writes the number of records at most once per new record. */
    CHECK(of_all(t.writes) <= (check.nprocs + 1) * RECORDS);
    close_dataset(ncid);
}

/* ---- redef ---- */

static void put_text(int ncid, const char *name, int length)
{
    char *text = calloc(1, (size_t)length);
    memset(text, 'x', (size_t)length);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, name, length, text));
    free(text);
}

static void definitions_that_fit_move_no_data(void)
{
    int ncid = counting_dataset("a.nc", NULL, NULL), values[100] = {0};
    define(ncid, 300);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    MPI_Offset start = 0, count = 10, size, extent;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &start, &count, values));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_size(ncid, &size));
    CHECK_NC(NC_NOERR, ncmpi_inq_header_extent(ncid, &extent));
    CHECK(extent - size >= size / 16);

    struct tally before = tally_of(ncid), t;
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    put_text(ncid, "history", (int)(size / 20));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    t = since(ncid, &before);
    CHECK_EQ(0, count_of(ncid, "redef_moves"));
    CHECK_EQ(0, count_of(ncid, "redef_moved_bytes"));
    CHECK_EQ(0, count_of(ncid, "file_syncs"));
    /* Process 0 checks twice whether another program has added records or changed the
     * header: before the processes agree on the definitions, and before it writes. */
    CHECK_EQ(check.rank == 0 ? 3 : 0, t.reads);
    CHECK_EQ(t.header_bytes, t.read_bytes);
    CHECK(t.writes <= (check.rank == 0)); /* 0 if the journal is used */

    /* A change within one page of the header is a single write that contains only the new
     * bytes. */
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 8, "Xbrevity"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 8, "xbrevitY"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    before = tally_of(ncid);
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 8, "Xbrevity"));
    t = since(ncid, &before);
    CHECK_EQ(check.rank == 0, t.writes);
    CHECK_EQ(check.rank == 0 ? 8 : 0, t.written_bytes);
    CHECK_EQ(0, count_of(ncid, "file_syncs"));
    close_dataset(ncid);
}

/* Checks that moving data reads the data exactly once and nothing else. */
static void move(const char *chunk, int length)
{
    int ncid =
        counting_dataset("a.nc", chunk == NULL ? NULL : "nc_data_move_chunk_size", chunk);
    int dims[2] = {new_dim(ncid, "t", NC_UNLIMITED), new_dim(ncid, "x", length)};
    int f = new_var(ncid, "f", NC_INT, 1, &dims[1]),
        r = new_var(ncid, "r", NC_INT, 2, dims);
    int *values = calloc((size_t)length, sizeof *values);
    MPI_Offset start[2] = {check.rank, 0}, count[2] = {1, length}, none[2] = {0, 0};
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR,
             ncmpi_put_vara_int_all(ncid, f, &start[1],
                                    check.rank == 0 ? &count[1] : none, values));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, r, start, count, values));

    struct tally before = tally_of(ncid), t;
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    put_text(ncid, "history", 5000);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    t = since(ncid, &before);
    long long data = 4LL * length * (1 + check.nprocs);
    CHECK_EQ(1, count_of(ncid, "redef_moves"));
    CHECK_EQ(data, of_all(count_of(ncid, "redef_moved_bytes")));
    CHECK_EQ(data, of_all(t.read_bytes - t.header_bytes));
    /* The processes share the work, so none of them moves more than its share, plus at
     * most one round. */
    CHECK(count_of(ncid, "redef_moved_bytes") <= data / check.nprocs + 65536);
    close_dataset(ncid);
    free(values);
}

/* Moves data in many rounds, and in a single round that is only partly filled. */
static void data_is_moved_only_once(void)
{
    move("65536", 100000);
    move(NULL, 500000);
}

static const struct check_test tests[] = {
    {"metadata calls take few collective steps", metadata_calls_take_few_collective_steps,
     0},
    {"calls on a coherent file system do not revalidate",
     calls_on_a_coherent_file_system_do_not_revalidate, 0},
    {"contiguous calls make one operation each", contiguous_calls_make_one_operation_each,
     CHECK_FORMATS},
    {"bytes that need no change are not copied", bytes_that_need_no_change_are_not_copied,
     0},
    {"interleaved runs make one agreement", interleaved_runs_make_one_agreement, 0},
    {"one wait makes one agreement", one_wait_makes_one_agreement, 0},
    {"adjacent parts of two requests make one operation",
     adjacent_parts_of_two_requests_make_one_operation, CHECK_FORMATS},
    {"appends make one agreement each", appends_make_one_agreement_each, 0},
    {"definitions that fit move no data", definitions_that_fit_move_no_data, 0},
    {"data is moved only once", data_is_moved_only_once, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 4");
}
