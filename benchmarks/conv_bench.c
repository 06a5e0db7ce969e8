/* How fast conversion is, against memcpy of the same bytes.
 *
 *   conv_bench          the common pairs
 *   conv_bench all      every pair
 *
 * Each line is one direction of a pair: GB of source read in a second by the loops
 * for any processor and by the best ones, and by memcpy; each from a tile in the
 * second cache and from a buffer in memory that no cache holds. Figures are medians
 * of 15 runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conv.h"
#include "conv_loops.h"

enum { RUNS = 15, TILE = 128 << 10, LARGE = 64 << 20 };

static const char *const names[CONV_NTYPES] = {
    "text", "schar",    "uchar",     "short", "ushort", "int",
    "uint", "longlong", "ulonglong", "float", "double",
};
static const int xtypes[CONV_NTYPES] = {
    NC_CHAR, NC_BYTE,  NC_UBYTE,  NC_SHORT, NC_USHORT, NC_INT,
    NC_UINT, NC_INT64, NC_UINT64, NC_FLOAT, NC_DOUBLE,
};

/* The source is `from`, the destination `to`, both by their type in memory. */
struct pair {
    int put, from, to;
};

static const struct pair common[] = {
    {1, CONV_SHORT, CONV_SHORT},     {1, CONV_INT, CONV_INT},
    {1, CONV_FLOAT, CONV_FLOAT},     {1, CONV_DOUBLE, CONV_DOUBLE},
    {0, CONV_FLOAT, CONV_FLOAT},     {0, CONV_DOUBLE, CONV_DOUBLE},
    {1, CONV_DOUBLE, CONV_FLOAT},    {0, CONV_FLOAT, CONV_DOUBLE},
    {0, CONV_DOUBLE, CONV_FLOAT},    {1, CONV_FLOAT, CONV_DOUBLE},
    {1, CONV_DOUBLE, CONV_SHORT},    {0, CONV_SHORT, CONV_DOUBLE},
    {1, CONV_DOUBLE, CONV_INT},      {0, CONV_INT, CONV_DOUBLE},
    {1, CONV_LONGLONG, CONV_INT},    {0, CONV_INT, CONV_LONGLONG},
    {1, CONV_INT, CONV_UCHAR},       {0, CONV_UCHAR, CONV_INT},
    {1, CONV_DOUBLE, CONV_LONGLONG}, {0, CONV_LONGLONG, CONV_DOUBLE},
};

static char *source, *target;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As conv_put and conv_get do it; no loop stands for memcpy. */
static void convert(conv_loop *loop, size_t n, size_t size, size_t to_size)
{
    static const char fill[8];
    if (loop == NULL) {
        memcpy(target, source, n * size);
        return;
    }
    for (size_t i = 0; i < n; i += CONV_BLOCK)
        loop(target + i * to_size, source + i * size,
             n - i < CONV_BLOCK ? n - i : CONV_BLOCK, fill);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median GB of source in a second, over n elements. */
static double speed(conv_loop *loop, size_t n, size_t size, size_t to_size)
{
    size_t repeat = LARGE / (n * size);
    double seconds[RUNS];
    convert(loop, n, size, to_size);
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        for (size_t i = 0; i < repeat; i++)
            convert(loop, n, size, to_size);
        seconds[run] = now() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, by_value);
    return 1e-9 * (double)(repeat * n * size) / seconds[RUNS / 2];
}

static conv_loop *loop_of(const struct conv_loops *loops, struct pair p)
{
    return p.put ? loops->put[xtypes[p.to]][p.from] : loops->get[xtypes[p.from]][p.to];
}

static void report(struct pair p)
{
    size_t size = (size_t)conv_size((enum conv_type)p.from);
    size_t to_size = (size_t)conv_size((enum conv_type)p.to);
    size_t widest = size > to_size ? size : to_size;
    conv_loop *plain = loop_of(&conv_loops_plain, p);
    conv_loop *best = loop_of(conv_loops_best(), p);
    printf("%s %-9s -> %-9s", p.put ? "put" : "get", names[p.from], names[p.to]);
    for (int large = 0; large < 2; large++) {
        size_t n = (large ? LARGE : TILE) / widest;
        printf(" | %6.1f %6.1f %6.1f", speed(plain, n, size, to_size),
               speed(best, n, size, to_size), speed(NULL, n, size, to_size));
    }
    putchar('\n');
}

/* Small numbers, which fit every type, in the order of bytes that is read. */
static void prepare(struct pair p)
{
    size_t n = LARGE / (size_t)conv_size((enum conv_type)p.from);
    unsigned char *small = malloc(n);
    if (small == NULL) {
        fputs("conv_bench: out of memory\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        small[i] = (unsigned char)(i % 100);
    if (p.put)
        conv_get(source, (enum conv_type)p.from, small, NC_UBYTE, n);
    else
        conv_put(source, xtypes[p.from], small, CONV_UCHAR, n, "");
    free(small);
}

static void measure(struct pair p)
{
    prepare(p);
    report(p);
}

static void measure_all(void)
{
    for (int put = 0; put < 2; put++)
        for (int from = CONV_SCHAR; from < CONV_NTYPES; from++)
            for (int to = CONV_SCHAR; to < CONV_NTYPES; to++)
                measure((struct pair){put, from, to});
}

int main(int argc, char **argv)
{
    source = malloc(LARGE);
    target = malloc(LARGE);
    if (source == NULL || target == NULL) {
        fputs("conv_bench: out of memory\n", stderr);
        return 1;
    }
    memset(target, 0, LARGE);
    puts("GB/s of source           |   tile in cache 2    |   from memory\n"
         "                         |  plain   best memcpy |  plain   best memcpy");
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        measure_all();
    else
        for (size_t i = 0; i < sizeof common / sizeof *common; i++)
            measure(common[i]);
    free(source);
    free(target);
    return 0;
}
