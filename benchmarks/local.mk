# benchmarks

EXTRA_PROGRAMS += benchmarks/region_bench
benchmarks_region_bench_SOURCES = benchmarks/region_bench.c
benchmarks_region_bench_LDADD = libserial.la

EXTRA_PROGRAMS += benchmarks/conv_bench
benchmarks_conv_bench_SOURCES = benchmarks/conv_bench.c
benchmarks_conv_bench_LDADD = libserial.la
