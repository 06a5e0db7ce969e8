/* Clocks, counters, and the lines that report them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <errno.h>

#include "bench.h"

static const char *const count_names[BENCH_COUNTS] = {
#define BENCH_COUNT(name) #name,
    BENCH_COUNT_NAMES
#undef BENCH_COUNT
};

static double wall_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_now(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bench_count_read_fn *counter(void)
{
    bench_count_read_fn *fn;
    *(void **)&fn = dlsym(RTLD_DEFAULT, "bench_count_read");
    return fn;
}

int64_t bench_sum(struct bench *b, int64_t value)
{
    int64_t sum;
    bench_need_mpi(MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, b->comm), "sum");
    return sum;
}

/* Process 0's clock decides for all. One repetition is always measured. */
bool bench_again(struct bench *b)
{
    if (b->rep == 0) b->began = wall_now();
    double limit = b->options.seconds;
    int again = b->rep <= 1 || limit <= 0 || wall_now() - b->began < limit;
    again = again && b->rep <= b->options.reps;
    bench_need_mpi(MPI_Bcast(&again, 1, MPI_INT, 0, b->comm), "MPI_Bcast");
    return again != 0;
}

void bench_remove(struct bench *b, const char *path)
{
    bench_need_mpi(MPI_Barrier(b->comm), "MPI_Barrier");
    if (b->rank == 0 && path == b->file) { /* and what the library keeps beside it */
        int err = ncmpi_delete(path, MPI_INFO_NULL);
        if (err != NC_ENOENT) bench_need(err, path);
    } else if (b->rank == 0 && unlink(path) != 0 && errno != ENOENT) {
        bench_stop(strerror(errno), path);
    }
    bench_need_mpi(MPI_Barrier(b->comm), "MPI_Barrier");
}

void bench_begin(struct bench *b, struct bench_clock *c)
{
    bench_need_mpi(MPI_Barrier(b->comm), "MPI_Barrier");
    if (counter() != NULL) counter()(c->counts);
    c->cpu = cpu_now();
    c->wall = wall_now();
}

/* The monotonic clock is one for all processes of a node, so that the time from the
 * first start to the last end can be told; across nodes only each one's own can. */
static double span(struct bench *b, double start, double end)
{
    MPI_Comm node;
    int nodeprocs;
    bench_need_mpi(
        MPI_Comm_split_type(b->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
    MPI_Comm_size(node, &nodeprocs);
    MPI_Comm_free(&node);
    double mine[3] = {nodeprocs == b->nprocs ? end : -1, -start, end - start}, most[3];
    bench_need_mpi(MPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, b->comm), "span");
    return most[0] < 0 ? most[2] : most[0] + most[1];
}

static void report_counts(struct bench *b, const struct bench_clock *c, const char *op,
                          const char *way, const char *variant)
{
    uint64_t now[BENCH_COUNTS], sum[BENCH_COUNTS], most[BENCH_COUNTS];
    counter()(now);
    for (int i = 0; i < BENCH_COUNTS; i++)
        now[i] -= c->counts[i];
    MPI_Reduce(now, sum, BENCH_COUNTS, MPI_UINT64_T, MPI_SUM, 0, b->comm);
    MPI_Reduce(now, most, BENCH_COUNTS, MPI_UINT64_T, MPI_MAX, 0, b->comm);
    for (int i = 0; i < BENCH_COUNTS && b->rank == 0 && b->rep > 0; i++)
        if (sum[i] > 0)
            printf("count\t%s\t%s\t%s\t%s\t%d\t%s\t%llu\t%llu\n", b->work->name, op, way,
                   variant, b->nprocs, count_names[i], (unsigned long long)most[i],
                   (unsigned long long)sum[i]);
}

void bench_end(struct bench *b, struct bench_clock *c, const char *op, const char *way,
               const char *variant, int64_t bytes)
{
    double end = wall_now();
    double mine = cpu_now() - c->cpu, cpu;
    if (counter() != NULL) report_counts(b, c, op, way, variant);
    double wall = span(b, c->wall, end);
    bench_need_mpi(MPI_Reduce(&mine, &cpu, 1, MPI_DOUBLE, MPI_MAX, 0, b->comm), "cpu");
    int64_t total = bench_sum(b, bytes);
    if (b->rank == 0 && b->rep > 0)
        printf("time\t%s\t%s\t%s\t%s\t%d\t%lld\t%.6f\t%.6f\n", b->work->name, op, way,
               variant, b->nprocs, (long long)total, wall, cpu);
    fflush(stdout);
}
