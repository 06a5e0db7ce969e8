/* What the preloaded counter counts, and how the benchmark program reads it. The
 * program looks the function up at run time and does without where it is missing. */
#ifndef BENCH_COUNT_H
#define BENCH_COUNT_H

#include <stdint.h>

/* Calls of MPI by the program and its library, not those MPI makes itself; system
 * calls on the benchmark's files by anybody. */
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

/* Copies the counters so far. */
typedef void bench_count_read_fn(uint64_t counts[BENCH_COUNTS]);
bench_count_read_fn bench_count_read;

#endif
