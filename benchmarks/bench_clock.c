/* Reads the clock and the counters, and prints results as lines of tab-separated fields.
 * No other file measures or prints. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static const char *const count_names[BENCH_COUNTS] = {
#define BENCH_COUNT(name) #name,
    BENCH_COUNT_NAMES
#undef BENCH_COUNT
};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

double bench_most(struct bench *b, double value)
{
    double most;
    bench_need_mpi(MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, b->comm), "most");
    return most;
}

void bench_print(const struct bench *b, const char *kind, const char *op, const char *way,
                 const char *variant, const char *values, ...)
{
    if (b->rank > 0 || b->rep == 0) return;
    va_list args;
    va_start(args, values);
    printf("%s\t%s\t%s\t%s\t%s\t%d\t", kind, b->row->name, op, way, variant, b->nprocs);
    vprintf(values, args);
    putchar('\n');
    va_end(args);
    fflush(stdout);
}

/* Uses the clock of process 0, so that all processes make the same decision. Always
 * allows at least one measured repetition. */
bool bench_again(struct bench *b)
{
    if (b->rep == 0) b->began = now(CLOCK_MONOTONIC);
    double limit = (double)b->options.seconds;
    int again = b->rep <= 1 || limit <= 0 || now(CLOCK_MONOTONIC) - b->began < limit;
    again = again && b->rep <= b->options.reps;
    bench_need_mpi(MPI_Bcast(&again, 1, MPI_INT, 0, b->comm), "MPI_Bcast");
    return again != 0;
}

void bench_remove(struct bench *b, const char *path)
{
    bench_need_mpi(MPI_Barrier(b->comm), "MPI_Barrier");
    if (b->rank == 0 &&
        path == b->file) { /* also deletes the library's auxiliary files */
        int err = ncmpi_delete(path, MPI_INFO_NULL);
        if (err != NC_ENOENT) bench_need(err, path);
    } else if (b->rank == 0 && unlink(path) != 0 && errno != ENOENT) {
        bench_stop(strerror(errno), path);
    }
    bench_need_mpi(MPI_Barrier(b->comm), "MPI_Barrier");
}

void bench_clock_start(struct bench_clock *c)
{
    c->cpu -= now(CLOCK_PROCESS_CPUTIME_ID);
    c->wall -= now(CLOCK_MONOTONIC);
}

void bench_clock_stop(struct bench_clock *c)
{
    c->wall += now(CLOCK_MONOTONIC);
    c->cpu += now(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_begin(struct bench *b, struct bench_clock *c)
{
    *c = (struct bench_clock){0};
    bench_need_mpi(MPI_Barrier(b->comm), "MPI_Barrier");
    if (counter() != NULL) counter()(c->counts);
    c->began = now(CLOCK_MONOTONIC);
    bench_clock_start(c);
}

int bench_node_procs(struct bench *b)
{
    MPI_Comm node;
    int n;
    bench_need_mpi(
        MPI_Comm_split_type(b->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    return n;
}

/* Returns the time from the first start to the last end. If all processes are on one
 * node, they share the monotonic clock. Otherwise clocks are not comparable, and the
 * result is the longest time on any process. */
static double span(struct bench *b, double start, double end)
{
    double mine[3] = {bench_node_procs(b) == b->nprocs ? end : -1, -start, end - start},
           most[3];
    bench_need_mpi(MPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, b->comm), "span");
    return most[0] < 0 ? most[2] : most[0] + most[1];
}

static void report_counts(struct bench *b, const struct bench_clock *c, const char *op,
                          const char *way, const char *variant)
{
    uint64_t done[BENCH_COUNTS], sum[BENCH_COUNTS], most[BENCH_COUNTS];
    counter()(done);
    for (int i = 0; i < BENCH_COUNTS; i++)
        done[i] -= c->counts[i];
    MPI_Reduce(done, sum, BENCH_COUNTS, MPI_UINT64_T, MPI_SUM, 0, b->comm);
    MPI_Reduce(done, most, BENCH_COUNTS, MPI_UINT64_T, MPI_MAX, 0, b->comm);
    for (int i = 0; i < BENCH_COUNTS && b->rank == 0; i++)
        if (sum[i] > 0)
            bench_print(b, "count", op, way, variant, "%s\t%llu\t%llu", count_names[i],
                        (unsigned long long)most[i], (unsigned long long)sum[i]);
}

void bench_report(struct bench *b, const struct bench_clock *c, const char *op,
                  const char *way, const char *variant, int64_t bytes)
{
    double wall = bench_most(b, c->wall), cpu = bench_most(b, c->cpu);
    bench_print(b, "time", op, way, variant, "%lld\t%.6f\t%.6f",
                (long long)bench_sum(b, bytes), wall, cpu);
}

void bench_end(struct bench *b, struct bench_clock *c, const char *op, const char *way,
               const char *variant, int64_t bytes)
{
    bench_clock_stop(c);
    if (counter() != NULL) report_counts(b, c, op, way, variant);
    c->wall = span(b, c->began, c->began + c->wall);
    bench_report(b, c, op, way, variant, bytes);
}
