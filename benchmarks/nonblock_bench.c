/* What a nonblocking request costs: time to post it and to have it carried out, how that
 * grows with their number, and the memory that the library takes for each.
 *
 *     nonblock_bench [-d DIRECTORY] [-m MOST] [-n REPETITIONS]
 *
 * Each request is a vara of a three-dimensional variable: a row of few values. Processes
 * have planes of their own. Times are CPU times of this process, the least of all
 * repetitions, for the library alone: they depend little on who else uses the machine.
 * Beside them stand those of a pwrite or pread for each row in the same order, which grow
 * with the number too, as memory and file no longer fit the caches. Fails if the cost of
 * a request grows with their number, or if one takes too much. */
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base_mem.h"
#include "pnetcdf.h"

/* A put's values are kept until it is waited for; a call's own memory counts where it is
 * for few requests. */
enum { LEAST = 1000, ROW = 4, ROWS = 100, MOST_BYTES = 100, MOST_ANYWAY = 16384 };
static const double MOST_EXPONENT = 1.1;

static int rank, nprocs;

enum order { SORTED, REVERSED, RANDOM, ORDERS };
static const char *const order_names[ORDERS] = {"sorted", "reversed", "random"};

struct cost {
    double post, wait; /* seconds */
    double posted,
        waited; /* bytes, at most, a request: after posting, and what waiting adds */
};

static void need(int err, const char *what)
{
    if (err == NC_NOERR) return;
    fprintf(stderr, "nonblock_bench: %s: %s\n", what, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *take(size_t n, size_t size)
{
    void *block = malloc(n * size);
    if (block == NULL) need(NC_ENOMEM, "its own arrays");
    return block;
}

/* Every number below n once: a step that has no factor in common with n. */
static int64_t place_of(int64_t i, int64_t n, enum order order)
{
    static const int64_t prime = 1000003;
    if (order == SORTED) return i;
    return order == REVERSED ? n - 1 - i : (i * prime * 7919 + 13) % n;
}

static int make_file(const char *path, int64_t n, int *varid)
{
    int ncid, dims[3];
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &ncid),
         "ncmpi_create");
    need(ncmpi_def_dim(ncid, "z", (n + ROWS - 1) / ROWS * nprocs, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "y", ROWS, &dims[1]), "def_dim");
    need(ncmpi_def_dim(ncid, "x", 2 * ROW, &dims[2]), "def_dim");
    need(ncmpi_def_var(ncid, "v", NC_INT, 3, dims, varid), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

/* Posts n requests in an order and waits for all of them. */
static struct cost run(int ncid, int varid, int64_t n, enum order order, int put,
                       int *values, int *ids, int *statuses)
{
    struct cost c;
    MPI_Offset planes = (n + ROWS - 1) / ROWS * rank;
    int64_t before = base_mem_in_use(), posted;
    double start = now();
    for (int64_t i = 0; i < n; i++) {
        int64_t p = place_of(i, n, order);
        const MPI_Offset at[3] = {planes + p / ROWS, p % ROWS, p % 2 * ROW};
        const MPI_Offset count[3] = {1, 1, ROW};
        int *row = values + p * ROW;
        need(put ? ncmpi_iput_vara_int(ncid, varid, at, count, row, &ids[i])
                 : ncmpi_iget_vara_int(ncid, varid, at, count, row, &ids[i]),
             "posting");
    }
    c.post = now() - start;
    posted = base_mem_in_use();
    base_mem_forget_high_water();
    start = now();
    need(ncmpi_wait_all(ncid, (int)n, ids, statuses), "ncmpi_wait_all");
    c.wait = now() - start;
    c.posted = (double)(posted - before) / (double)n;
    c.waited = (double)(base_mem_high_water() - posted) / (double)n;
    return c;
}

/* What the system alone takes for the same rows in the same order, one by one. */
static double run_raw(int file, int64_t n, enum order order, int put, int *values)
{
    double start = now();
    for (int64_t i = 0; i < n; i++) {
        int64_t p = place_of(i, n, order);
        off_t at = (off_t)((n * rank + p) * 2 * ROW + p % 2 * ROW) * (off_t)sizeof(int);
        size_t length = ROW * sizeof(int);
        int *row = values + p * ROW;
        ssize_t moved =
            put ? pwrite(file, row, length, at) : pread(file, row, length, at);
        if (moved != (ssize_t)length) need(put ? NC_EWRITE : NC_EREAD, "a raw row");
    }
    return now() - start;
}

/* The same of all repetitions, the least in raw[put]. */
static void measure_raw(const char *path, int64_t n, enum order order, int repetitions,
                        double raw[2])
{
    int file = open(path, O_RDWR | O_CREAT, 0600);
    int *values = take((size_t)(n * ROW), sizeof *values);
    if (file < 0) need(NC_EFILE, "the file of raw rows");
    memset(values, 1, (size_t)(n * ROW) * sizeof *values);
    for (int rep = 0; rep < repetitions; rep++)
        for (int put = 1; put >= 0; put--) {
            double seconds = run_raw(file, n, order, put, values);
            if (rep == 0 || seconds < raw[put]) raw[put] = seconds;
        }
    close(file);
    free(values);
}

static void verify(const int *values, int64_t n)
{
    for (int64_t i = 0; i < n * ROW; i++)
        if (values[i] != (int)(i * 31 + rank)) need(NC_EREAD, "a wrong value was read");
}

/* Puts and gets n requests in an order; the least of all repetitions in cost[put]. */
static void measure(const char *path, int64_t n, enum order order, int repetitions,
                    struct cost cost[2])
{
    int varid, ncid = make_file(path, n, &varid);
    int *values = take((size_t)(n * ROW), sizeof *values);
    int *ids = take((size_t)n, sizeof *ids),
        *statuses = take((size_t)n, sizeof *statuses);
    for (int rep = 0; rep < repetitions; rep++) {
        for (int64_t i = 0; i < n * ROW; i++)
            values[i] = (int)(i * 31 + rank);
        for (int put = 1; put >= 0; put--) {
            struct cost c = run(ncid, varid, n, order, put, values, ids, statuses);
            if (rep == 0 || c.post < cost[put].post) cost[put].post = c.post;
            if (rep == 0 || c.wait < cost[put].wait) cost[put].wait = c.wait;
            cost[put].posted = c.posted;
            cost[put].waited = c.waited;
            if (put) memset(values, 0, (size_t)(n * ROW) * sizeof *values);
        }
        verify(values, n);
    }
    need(ncmpi_close(ncid), "ncmpi_close");
    free(values);
    free(ids);
    free(statuses);
}

static void report(int64_t n, enum order order, int put, const struct cost *c)
{
    printf("%-9s %-4s %8lld %9.0f %9.0f %9.0f %9.0f\n", order_names[order],
           put ? "iput" : "iget", (long long)n, 1e9 * c->post / (double)n,
           1e9 * c->wait / (double)n, c->posted, c->waited);
}

/* The slope of a line through the logarithms of number and time, by least squares. */
struct slope {
    double n, x, y, xx, xy;
};

static void add_point(struct slope *s, double requests, double seconds)
{
    double x = log(requests), y = log(seconds);
    s->n++;
    s->x += x;
    s->y += y;
    s->xx += x * x;
    s->xy += x * y;
}

static double exponent(const struct slope *s)
{
    return (s->n * s->xy - s->x * s->y) / (s->n * s->xx - s->x * s->x);
}

static void report_raw(int64_t n, enum order order, int put, double seconds)
{
    if (rank == 0)
        printf("%-9s %-6s %6lld %9s %9.0f\n", order_names[order],
               put ? "pwrite" : "pread", (long long)n, "", 1e9 * seconds / (double)n);
}

static int report_exponent(const struct slope *s, enum order order, const char *what)
{
    double e = exponent(s);
    if (rank == 0) printf("%-9s %-6s exponent %.2f\n", order_names[order], what, e);
    return e <= MOST_EXPONENT;
}

/* All numbers of requests in one order. Whether the cost is what it should be. */
static int grow(const char *path, enum order order, int64_t most, int repetitions)
{
    struct slope slope[2] = {{0}}, raw_slope[2] = {{0}};
    int good = 1;
    for (int64_t n = LEAST; n <= most; n *= 10) {
        struct cost c[2];
        double raw[2];
        measure(path, n, order, repetitions, c);
        measure_raw(path, n, order, repetitions, raw);
        for (int put = 1; put >= 0; put--) {
            add_point(&slope[put], (double)n, c[put].post + c[put].wait);
            add_point(&raw_slope[put], (double)n, raw[put]);
            if (rank == 0) report(n, order, put, &c[put]);
            report_raw(n, order, put, raw[put]);
            double kept = put ? ROW * sizeof(int) : 0,
                   anyway = (double)MOST_ANYWAY / (double)n;
            good = good && c[put].posted + c[put].waited <= MOST_BYTES + kept + anyway;
        }
    }
    for (int put = 1; put >= 0 && most > LEAST; put--) {
        good = report_exponent(&slope[put], order, put ? "iput" : "iget") && good;
        (void)report_exponent(&raw_slope[put], order, put ? "pwrite" : "pread");
    }
    return good;
}

int main(int argc, char **argv)
{
    const char *directory = "/dev/shm";
    int64_t most = 1000000;
    int repetitions = 3, good = 1;
    char path[1024];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int option; (option = getopt(argc, argv, "d:m:n:")) != -1;) {
        if (option == 'd') directory = optarg;
        if (option == 'm') most = atoll(optarg);
        if (option == 'n') repetitions = atoi(optarg);
        if (option == '?') need(NC_EINVAL, "[-d DIRECTORY] [-m MOST] [-n REPETITIONS]");
    }
    snprintf(path, sizeof path, "%s/nonblock_bench.nc", directory);
    if (rank == 0)
        printf("%-14s %8s %9s %9s %9s %9s\n%-14s %8s %9s %9s %9s %9s\n", "", "requests",
               "post ns", "wait ns", "bytes", "bytes", "", "", "each", "each", "posted",
               "waiting");
    for (int order = SORTED; order < ORDERS; order++)
        good = grow(path, (enum order)order, most, repetitions) && good;
    if (rank == 0) unlink(path);
    MPI_Finalize();
    return !good;
}
