/* Compares the speed of type conversion with that of memcpy (`contig`) for the same
 * bytes: the fastest loops (`lib`), and the portable ones (`plain`). Each is measured on
 * a tile that fits the second-level cache and on -b MiB of source data. Needs no MPI. */
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "bench.h"
#include "conv.h"
#include "conv_loops.h"

const struct bench_option bench_conv_options[] = {
    {"pairs", "common", "common or all"},
    {NULL, NULL, NULL},
};

enum { TILE = 128 << 10 };

static const char *const names[CONV_NTYPES] = {
    "text", "schar",    "uchar",     "short", "ushort", "int",
    "uint", "longlong", "ulonglong", "float", "double",
};
static const int xtypes[CONV_NTYPES] = {
    NC_CHAR, NC_BYTE,  NC_UBYTE,  NC_SHORT, NC_USHORT, NC_INT,
    NC_UINT, NC_INT64, NC_UINT64, NC_FLOAT, NC_DOUBLE,
};

/* A conversion from `from` to `to`, both of which are types in memory. */
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

struct buffers {
    size_t size; /* size of each element in bytes */
    char *source, *target;
};

static conv_loop *loop_of(const struct conv_loops *loops, struct pair p)
{
    return p.put ? loops->put[xtypes[p.to]][p.from] : loops->get[xtypes[p.from]][p.to];
}

/* Converts n elements in blocks, as conv_put and conv_get do. A NULL loop stands for
 * memcpy. */
static void convert(const struct buffers *s, conv_loop *loop, size_t n, struct pair p)
{
    static const char fill[8];
    size_t size = (size_t)conv_size((enum conv_type)p.from);
    size_t to_size = (size_t)conv_size((enum conv_type)p.to);
    if (loop == NULL) memcpy(s->target, s->source, n * size);
    for (size_t i = 0; loop != NULL && i < n; i += CONV_BLOCK)
        loop(s->target + i * to_size, s->source + i * size,
             n - i < CONV_BLOCK ? n - i : CONV_BLOCK, fill);
}

/* Measures conversion from memory and from the cache, with the same number of bytes. */
static void measure(struct bench *b, const struct buffers *s, struct pair p)
{
    const struct {
        const char *way;
        conv_loop *loop;
    } ways[] = {{"lib", loop_of(conv_loops_best(), p)},
                {"plain", loop_of(&conv_loops_plain, p)},
                {"contig", NULL}};
    size_t size = (size_t)conv_size((enum conv_type)p.from);
    size_t to_size = (size_t)conv_size((enum conv_type)p.to);
    size_t widest = size > to_size ? size : to_size;
    char op[64];
    snprintf(op, sizeof op, "%s %s to %s", p.put ? "put" : "get", names[p.from],
             names[p.to]);
    for (int i = 0; i < 6; i++) {
        size_t n = (i < 3 ? TILE : s->size) / widest, repeat = s->size / (n * size);
        struct bench_clock c;
        bench_begin(b, &c);
        for (size_t k = 0; k < repeat; k++)
            convert(s, ways[i % 3].loop, n, p);
        bench_end(b, &c, op, ways[i % 3].way, i < 3 ? "cache" : "memory",
                  (int64_t)(repeat * n * size));
    }
}

/* Fills the source with small numbers that are in range for every type, in the byte order
 * that the conversion expects. */
static void prepare(const struct buffers *s, struct pair p)
{
    size_t n = s->size / (size_t)conv_size((enum conv_type)p.from);
    unsigned char *small = bench_alloc((int64_t)n);
    for (size_t i = 0; i < n; i++)
        small[i] = (unsigned char)(i % 100);
    if (p.put)
        conv_get(s->source, (enum conv_type)p.from, small, NC_UBYTE, n);
    else
        conv_put(s->source, xtypes[p.from], small, CONV_UCHAR, n, "");
    free(small);
}

static void run(struct bench *b, const struct buffers *s, struct pair p)
{
    prepare(s, p);
    for (b->rep = 0; bench_again(b); b->rep++)
        measure(b, s, p);
}

void bench_conv(struct bench *b)
{
    int64_t size = b->options.bytes > TILE ? b->options.bytes : TILE;
    struct buffers s = {(size_t)size, bench_alloc(size), bench_alloc(size)};
    memset(s.target, 0, s.size);
    if (strcmp(bench_option(b, "pairs"), "all") != 0)
        for (size_t i = 0; i < sizeof common / sizeof *common; i++)
            run(b, &s, common[i]);
    else
        for (int put = 0; put < 2; put++)
            for (int from = CONV_SCHAR; from < CONV_NTYPES; from++)
                for (int to = CONV_SCHAR; to < CONV_NTYPES; to++)
                    run(b, &s, (struct pair){put, from, to});
    free(s.source);
    free(s.target);
}
