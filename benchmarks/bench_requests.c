/* Measures the cost of nonblocking requests: the time to post and complete them, for
 * several numbers of requests, and the library's memory per request. benchmarks/run
 * prints the exponent with which the time grows.
 *
 * Each request is a vara access to one short row of a three-dimensional variable. No two
 * processes access the same plane. For comparison, the program also measures one pwrite
 * or pread per row, in the same order. The time per system call also grows with the
 * number of rows once the buffer and the file no longer fit in the caches. The program
 * fails if the library uses too much memory per request. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_mem.h"
#include "bench.h"

/* Limit on the memory per request. It must allow for the values of a put, which are
 * stored until the put completes, and for the memory of the call itself, which matters
 * when there are few requests. */
enum { LEAST = 1000, ROW = 4, ROWS = 100, MOST_BYTES = 100, MOST_ANYWAY = 16384 };

enum order { SORTED, REVERSED, RANDOM, ORDERS };
static const char *const order_names[ORDERS] = {"sorted", "reversed", "random"};

/* A set of n requests in one order. */
struct batch {
    struct bench *b;
    int64_t n;
    enum order order;
    char variant[32];
    int ncid, varid, fd;
    int *values, *ids, *statuses;
};

/* Returns the i-th number of a permutation of 0 to n - 1, which advances by a step that
 * is coprime to n. */
static int64_t place_of(const struct batch *q, int64_t i)
{
    static const int64_t prime = 1000003;
    if (q->order == SORTED) return i;
    return q->order == REVERSED ? q->n - 1 - i : (i * prime * 7919 + 13) % q->n;
}

static void open_batch(struct batch *q)
{
    struct bench *b = q->b;
    int dims[3];
    MPI_Offset planes = (q->n + ROWS - 1) / ROWS * b->nprocs;
    bench_need(ncmpi_create(b->comm, b->file, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                            &q->ncid),
               "ncmpi_create");
    bench_need(ncmpi_def_dim(q->ncid, "z", planes, &dims[0]), "def_dim");
    bench_need(ncmpi_def_dim(q->ncid, "y", ROWS, &dims[1]), "def_dim");
    bench_need(ncmpi_def_dim(q->ncid, "x", 2L * ROW, &dims[2]), "def_dim");
    bench_need(ncmpi_def_var(q->ncid, "v", NC_INT, 3, dims, &q->varid), "def_var");
    bench_need(ncmpi_enddef(q->ncid), "enddef");
    q->fd = open(b->raw, O_RDWR | O_CREAT, 0600);
    bench_need_system(q->fd >= 0, b->raw);
    q->values = bench_alloc(q->n * ROW * (int64_t)sizeof *q->values);
    q->ids = bench_alloc(q->n * (int64_t)sizeof *q->ids);
    q->statuses = bench_alloc(q->n * (int64_t)sizeof *q->statuses);
    snprintf(q->variant, sizeof q->variant, "%s n=%lld", order_names[q->order],
             (long long)q->n);
}

static void close_batch(struct batch *q)
{
    bench_need(ncmpi_close(q->ncid), "ncmpi_close");
    bench_need_system(close(q->fd) == 0, "close");
    free(q->values);
    free(q->ids);
    free(q->statuses);
}

/* Posts all requests and waits for them. */
static void run(struct batch *q, bool put)
{
    MPI_Offset planes = (q->n + ROWS - 1) / ROWS * q->b->rank;
    int64_t before = base_mem_in_use();
    struct bench_clock c;
    bench_begin(q->b, &c);
    for (int64_t i = 0; i < q->n; i++) {
        int64_t p = place_of(q, i);
        const MPI_Offset at[3] = {planes + p / ROWS, p % ROWS, p % 2 * ROW};
        const MPI_Offset count[3] = {1, 1, ROW};
        int *row = q->values + p * ROW, *id = &q->ids[i];
        bench_need(put ? ncmpi_iput_vara_int(q->ncid, q->varid, at, count, row, id)
                       : ncmpi_iget_vara_int(q->ncid, q->varid, at, count, row, id),
                   "posting");
    }
    bench_end(q->b, &c, put ? "iput" : "iget", "lib", q->variant, 0);
    int64_t posted = base_mem_in_use() - before;
    base_mem_reset_high_water();
    bench_begin(q->b, &c);
    bench_need(ncmpi_wait_all(q->ncid, (int)q->n, q->ids, q->statuses), "ncmpi_wait_all");
    bench_end(q->b, &c, put ? "wait put" : "wait get", "lib", q->variant, 0);
    int64_t waited = base_mem_high_water() - before - posted;
    bench_print(q->b, "count", put ? "iput" : "iget", "lib", q->variant,
                "request_bytes\t%lld\t%lld", (long long)(posted / q->n),
                (long long)((posted + waited) / q->n));
    int64_t kept = put ? ROW * (int64_t)sizeof(int) : 0;
    if (q->b->rep > 0 && posted + waited > (MOST_BYTES + kept) * q->n + MOST_ANYWAY)
        bench_stop("too much memory per request", q->variant);
}

/* Accesses the same rows in the same order, with one system call per row. */
static void run_raw(struct batch *q, bool put)
{
    struct bench_clock c;
    size_t length = ROW * sizeof(int);
    bench_begin(q->b, &c);
    for (int64_t i = 0; i < q->n; i++) {
        int64_t p = place_of(q, i);
        off_t at = (off_t)((q->n * q->b->rank + p) * 2 + p % 2) * (off_t)length;
        int *row = q->values + p * ROW;
        ssize_t moved =
            put ? pwrite(q->fd, row, length, at) : pread(q->fd, row, length, at);
        bench_need_system(moved == (ssize_t)length, "a raw row");
    }
    bench_end(q->b, &c, put ? "put" : "get", "runs", q->variant, 0);
}

/* Puts and gets the rows with system calls and through the library, and verifies the
 * values. */
static void repetition(struct batch *q)
{
    for (int64_t i = 0; i < q->n * ROW; i++)
        q->values[i] = (int)(i * 31 + q->b->rank);
    for (int put = 1; put >= 0; put--) {
        run_raw(q, put);
        if (!put) memset(q->values, 0, (size_t)(q->n * ROW) * sizeof *q->values);
        run(q, put);
    }
    for (int64_t i = 0; i < q->n * ROW; i++)
        if (q->values[i] != (int)(i * 31 + q->b->rank))
            bench_stop("WRONG VALUES READ", q->variant);
}

void bench_requests(struct bench *b)
{
    int64_t limit = bench_at_most(b, 1000000);
    for (int order = SORTED; order < ORDERS; order++)
        for (int64_t n = LEAST; n <= limit; n *= 10) {
            struct batch q = {.b = b, .n = n, .order = (enum order)order};
            open_batch(&q);
            for (b->rep = 0; bench_again(b); b->rep++)
                repetition(&q);
            close_batch(&q);
        }
}
