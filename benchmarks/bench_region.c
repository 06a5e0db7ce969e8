/* Measures iterating over a region, seeking in it, and gathering and scattering its
 * bytes. The byte count is the size of the region, although walks and seeks do not move
 * any bytes. Needs no MPI. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "region.h"

enum { TILE = 256 << 10, SEEKS = 1 << 16, BLOCKS = 100000 };

static void *need(void *p)
{
    if (p == NULL) bench_stop("out of memory", "region");
    return p;
}

static volatile int64_t sink; /* makes the compiler keep results */

static void walk(struct bench *b, const char *what, struct region *r, int64_t max_runs)
{
    struct region_cursor *c = need(region_cursor_new(r));
    struct region_strip s;
    struct bench_clock clock;
    int64_t sum = 0;
    bench_begin(b, &clock);
    while (region_next(c, INT64_MAX, max_runs, &s))
        sum += s.offset;
    bench_end(b, &clock, "walk", "lib", what, 0);
    sink = sum;
    region_cursor_free(c);
}

/* Measures seeks to positions that are spread over the whole region. */
static void seek(struct bench *b, const char *what, struct region *r)
{
    struct region_cursor *c = need(region_cursor_new(r));
    struct bench_clock clock;
    int64_t low, high, sum = 0;
    uint64_t at = 1;
    region_bounds(r, &low, &high);
    bench_begin(b, &clock);
    for (int k = 0; k < SEEKS; k++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += region_seek(c, (int64_t)((at >> 33) % (uint64_t)high));
    }
    bench_end(b, &clock, "seek", "lib", what, 0);
    sink = sum;
    region_cursor_free(c);
}

/* Gathers or scatters all bytes of r, one tile at a time. */
static void move(struct bench *b, const char *what, struct region *r)
{
    int64_t low, high;
    region_bounds(r, &low, &high);
    unsigned char *base = bench_alloc(high), *packed = bench_alloc(TILE);
    memset(base, 1, (size_t)high);
    for (int out = 0; out < 2; out++) {
        struct region_cursor *c = need(region_cursor_new(r));
        struct bench_clock clock;
        bench_begin(b, &clock);
        while ((out ? region_scatter(c, base, packed, TILE)
                    : region_gather(c, base, packed, TILE)) > 0)
            continue;
        bench_end(b, &clock, out ? "scatter" : "gather", "lib", what, region_bytes(r));
        region_cursor_free(c);
    }
    free(packed);
    free(base);
}

/* Regions are every `step`-th element of the last dimension of rows x cols x n elements.
 * Rows and columns are not contiguous, so no two runs can be merged. */
static const struct {
    void (*run)(struct bench *b, const char *what, struct region *r);
    int64_t max_runs; /* maximum number of runs per step of a walk */
    int64_t rows, cols, n, step, size;
    const char *what;
} cases[] = {
    {NULL, INT64_MAX, 256, 256, 128, 2, 4, "4 bytes of 8, strips of 128"},
    {NULL, INT64_MAX, 256, 256, 4, 2, 4, "4 bytes of 8, strips of 4"},
    {NULL, 1, 256, 256, 128, 2, 4, "4 bytes of 8, one at a time"},
    {seek, 0, 256, 256, 128, 2, 4, "4 bytes of 8, x65536"},
    {seek, 0, 0, 0, 0, 0, 0, "list of 100000 blocks, x65536"},
    {move, 0, 1, 1, 256 << 10, 2, 1, "1 byte of 2, 512 KiB"},
    {move, 0, 1, 1, 64 << 10, 2, 4, "4 bytes of 8, 512 KiB"},
    {move, 0, 8, 8, 128 << 10, 2, 4, "4 bytes of 8, 64 MiB"},
    {move, 0, 1 << 10, 512, 16, 2, 4, "4 bytes of 8, 64 MiB, rows of 16"},
    {move, 0, 8, 512, 16, 2, 4, "4 bytes of 8, 512 KiB, rows of 16"},
    {move, 0, 4096, 1, 1, 4096, 8, "8-byte columns of 4096, 32 MiB"},
    {move, 0, 1, 1, 512 << 10, 2, 64, "64 bytes of 128, 64 MiB"},
    {move, 0, 1, 1, 8 << 10, 2, 4096, "4 KiB of 8 KiB, 64 MiB"},
};

/* Returns a list of blocks, each 1 to 7 bytes long. */
static struct region *blocks(void)
{
    int64_t *displ = bench_alloc(BLOCKS * (int64_t)sizeof *displ);
    int64_t *length = bench_alloc(BLOCKS * (int64_t)sizeof *length);
    for (int64_t i = 0; i < BLOCKS; i++) {
        displ[i] = 10 * i;
        length[i] = 1 + i % 7;
    }
    struct region *r = need(region_blocks(BLOCKS, displ, length));
    free(displ);
    free(length);
    return r;
}

static struct region *make(int i)
{
    int64_t rows = cases[i].rows, cols = cases[i].cols, n = cases[i].n;
    const int64_t shape[] = {rows, cols + 1, n * cases[i].step + 1}, start[] = {0, 0, 0};
    const int64_t count[] = {rows, cols, n}, stride[] = {1, 1, cases[i].step};
    if (n == 0) return blocks();
    return need(region_slab(0, 3, shape, start, count, stride, cases[i].size, 0));
}

void bench_region(struct bench *b)
{
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        struct region *r = make(i);
        bool large = cases[i].run == move && region_bytes(r) > b->options.bytes;
        for (b->rep = 0; !large && bench_again(b); b->rep++)
            if (cases[i].run != NULL)
                cases[i].run(b, cases[i].what, r);
            else
                walk(b, cases[i].what, r, cases[i].max_runs);
        region_free(r);
    }
}
