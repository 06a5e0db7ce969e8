/* The interface of the preloaded counting library. The benchmark program looks the
 * function up at run time and also works without it. */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

#include <stdint.h>

/* The counters. MPI calls are those made by the program and the library, excluding calls
 * inside MPI. System calls are those on the benchmark's files, including calls by MPI. */
#define BENCH_COUNT_NAMES                                                                \
    BENCH_COUNT(collective)                                                              \
    BENCH_COUNT(point_to_point)                                                          \
    BENCH_COUNT(file_collective)                                                         \
    BENCH_COUNT(file_independent)                                                        \
    BENCH_COUNT(file_view)                                                               \
    BENCH_COUNT(file_other)                                                              \
    BENCH_COUNT(write)                                                                   \
    BENCH_COUNT(read)                                                                    \
    BENCH_COUNT(seek)                                                                    \
    BENCH_COUNT(sync)                                                                    \
    BENCH_COUNT(bytes_written)                                                           \
    BENCH_COUNT(bytes_read)

enum bench_count {
#define BENCH_COUNT(name) BENCH_COUNT_##name,
    BENCH_COUNT_NAMES
#undef BENCH_COUNT
        BENCH_COUNTS
};

/* Copies the current values of the counters. */
typedef void bench_count_read_fn(uint64_t counts[BENCH_COUNTS]);
bench_count_read_fn bench_count_read;

#endif
