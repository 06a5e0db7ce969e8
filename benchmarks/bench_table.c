/* The table of all benchmarks. To add a workload, write a function that builds its plan
 * and add a row. */
#include <stddef.h>

#include "bench.h"

#define DATA(name, about, plan, arg)                                                     \
    {                                                                                    \
        name, about, bench_##plan, NULL, arg, NULL, false                                \
    }
#define BURST(name, about, pattern)                                                      \
    {                                                                                    \
        "burst-" name, about, NULL, bench_burst, pattern, bench_burst_options, true      \
    }
/* A benchmark that needs functions that only this library has. */
#ifdef BENCH_NCMPI
#define NCMPI(run, options) NULL, bench_##run, 0, options, true
#else
#define NCMPI(run, options) NULL, NULL, 0, NULL, true
#endif

const struct bench_row bench_table[] = {
    DATA("contig-1d-float", "vectors of floats, one slab per process", contig_1d,
         NC_FLOAT),
    DATA("contig-1d-double", "vectors of doubles, one slab per process", contig_1d,
         NC_DOUBLE),
    DATA("contig-3d-float", "a cube divided into slabs", contig_3d, NC_FLOAT),
    DATA("contig-3d-double", "a cube divided into slabs", contig_3d, NC_DOUBLE),
    DATA("block-3d", "a cube divided along all three dimensions", block_3d, 0),
    DATA("slices", "8 records of 8 cubes, divided along the fastest dimension", slices,
         8),
    DATA("columns", "a matrix divided into blocks of columns", columns, 1024),
    DATA("interleaved-4", "runs of 4 B, round-robin", interleaved, 4),
    DATA("interleaved-16", "runs of 16 B, round-robin", interleaved, 16),
    DATA("interleaved-512", "runs of 512 B, round-robin", interleaved, 512),
    DATA("interleaved-4k", "runs of 4 KiB, round-robin", interleaved, 4096),
    DATA("interleaved-64k", "runs of 64 KiB, round-robin", interleaved, 65536),
    DATA("strided", "every nprocs-th double", strided, 0),
    DATA("convert-float", "doubles put to a float variable", convert, NC_FLOAT),
    DATA("convert-short", "doubles put to a short variable", convert, NC_SHORT),
    DATA("ghost", "block-3d with two ghost cells in memory", ghost_3d, 2),
    DATA("history", "100 record variables, blocking", history, BENCH_BLOCKING),
    DATA("history-iput", "100 record variables, one wait per record", history,
         BENCH_NONBLOCKING),
    DATA("history-bput", "100 record variables, buffered", history, BENCH_BUFFERED),
    DATA("append", "1000 records, one call each", append, 1000),
    DATA("single", "20000 independent calls of one element", small, 1),
    DATA("small", "1000 collective calls of 8 elements", small, 8),
    DATA("unstructured-10k", "10^4 short segments per process (varn)", unstructured,
         10000),
    DATA("unstructured-100k", "10^5 short segments per process (varn)", unstructured,
         100000),
    DATA("unstructured-1m", "10^6 short segments per process (varn)", unstructured,
         1000000),
    DATA("e3sm-f-h0", "atmosphere, 414 variables (varn)", e3sm, 0),
    DATA("e3sm-f-h0-iput", "the same, one wait for all calls", e3sm, 10),
    DATA("e3sm-f-h1", "atmosphere, 51 variables, 20 steps (varn)", e3sm, 1),
    DATA("e3sm-f-h1-iput", "the same, one wait for all calls", e3sm, 11),
    DATA("e3sm-g", "ocean, 52 variables, 4 steps (varn)", e3sm, 2),
    DATA("e3sm-g-iput", "the same, one wait for all calls", e3sm, 12),
    DATA("flash", "checkpoint of blocks, 24 variables", flash, BENCH_BLOCKING),
    DATA("flash-iput", "the same, one wait for all calls", flash, BENCH_NONBLOCKING),
    DATA("wrf", "checkerboard of patches, 86 variables", wrf, BENCH_BLOCKING),
    DATA("wrf-iput", "the same, one wait for all calls", wrf, BENCH_NONBLOCKING),
    DATA("mixed", "fixed-size and record variables of four types", mixed, 0),
    {"meta", "10^3 to 10^6 variables: define, open, look up", NULL, bench_meta, 0, NULL,
     false},
    {"openclose", "create or open and close a file, 50 times", NULL, bench_openclose, 0,
     NULL, false},
    {"redef", "add an attribute that fits, or that moves data", NULL, bench_redef, 0,
     bench_redef_options, false},

    BURST("small-64", "burst buffer: 40000 independent puts of 64 B", 0),
    BURST("small-512", "burst buffer: 40000 independent puts of 512 B", 1),
    BURST("small-4k", "burst buffer: 10000 independent puts of 4 KiB", 2),
    BURST("large", "burst buffer: 16 independent puts of 4 MiB", 3),
    BURST("history", "burst buffer: 10 records of 20 variables", 4),
    BURST("history-iput", "the same, one wait per record", 5),
    BURST("flash", "burst buffer: 24 variables of 2.5 MiB", 6),
    BURST("checkpoint", "burst buffer: 4 steps in a file, with gaps", 7),
    BURST("checkpoints", "burst buffer: 10 files, with gaps", 8),
    {"compress", "a field, as the hints compress it", NULL, bench_compress, 0,
     bench_compress_options, true},
    {"stage", "epochs over a staged dataset", NCMPI(stage, bench_stage_options)},
    {"requests", "10^3 to 10^6 nonblocking requests", NCMPI(requests, NULL)},
    {"cdf", "headers of 10^3 to 10^6 variables in memory", NCMPI(cdf, NULL)},
    {"conv", "type conversion compared with memcpy", NCMPI(conv, bench_conv_options)},
    {"region", "regions: walk, seek, gather, scatter", NCMPI(region, NULL)},
    {NULL, NULL, NULL, NULL, 0, NULL, false},
};
