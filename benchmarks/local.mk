# benchmarks

EXTRA_PROGRAMS += benchmarks/region_bench
benchmarks_region_bench_SOURCES = benchmarks/region_bench.c
benchmarks_region_bench_LDADD = libserial.la
