/* What walking a region costs a run, what seeking in it costs, and how fast its bytes are
 * gathered and scattered. Prints the best of several rounds; needs no MPI. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "region.h"

enum { ROUNDS = 9 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *must(void *p)
{
    if (p != NULL) return p;
    fprintf(stderr, "region_bench: out of memory\n");
    exit(1);
}

/* Every `step`-th element of rows x cols x n elements, in the last dimension. Rows and
 * columns do not fit together, so that nothing merges. */
static struct region *slab(int64_t rows, int64_t cols, int64_t n, int64_t step,
                           int64_t size)
{
    const int64_t shape[] = {rows, cols + 1, n * step + 1}, start[] = {0, 0, 0};
    const int64_t count[] = {rows, cols, n}, stride[] = {1, 1, step};
    return must(region_slab(0, 3, shape, start, count, stride, size, 0));
}

static volatile int64_t sink;

static void walk(const char *what, struct region *r, int64_t max_runs)
{
    double best = 1e30;
    for (int i = 0; i < ROUNDS; i++) {
        struct region_cursor *c = must(region_cursor_new(r));
        struct region_strip s;
        int64_t sum = 0;
        double t = now();
        while (region_next(c, INT64_MAX, max_runs, &s))
            sum += s.offset;
        t = now() - t;
        sink = sum;
        if (t < best) best = t;
        region_cursor_free(c);
    }
    printf("%-52s %8.2f ns a run\n", what, best / (double)region_runs(r));
    region_free(r);
}

/* n blocks of 1 to 7 bytes. */
static struct region *blocks(int64_t n)
{
    int64_t *displ = must(malloc((size_t)n * sizeof *displ));
    int64_t *length = must(malloc((size_t)n * sizeof *length));
    for (int64_t i = 0; i < n; i++) {
        displ[i] = 10 * i;
        length[i] = 1 + i % 7;
    }
    struct region *r = must(region_blocks(n, displ, length));
    free(displ);
    free(length);
    return r;
}

/* To places all over the region. */
static void seek(const char *what, struct region *r)
{
    enum { SEEKS = 1 << 16 };
    double best = 1e30;
    int64_t low, high;
    region_bounds(r, &low, &high);
    struct region_cursor *c = must(region_cursor_new(r));
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t at = 1;
        int64_t sum = 0;
        double t = now();
        for (int k = 0; k < SEEKS; k++) {
            at = at * 6364136223846793005u + 1442695040888963407u;
            sum += region_seek(c, (int64_t)((at >> 33) % (uint64_t)high));
        }
        t = now() - t;
        sink = sum;
        if (t < best) best = t;
    }
    printf("%-52s %8.2f ns a seek\n", what, best / SEEKS);
    region_cursor_free(c);
    region_free(r);
}

/* Moves all of r in tiles of `tile` bytes. */
static double move(const struct region *r, unsigned char *base, unsigned char *packed,
                   size_t tile, int out)
{
    struct region_cursor *c = must(region_cursor_new(r));
    double t = now();
    while ((out ? region_scatter(c, base, packed, tile)
                : region_gather(c, base, packed, tile)) > 0)
        continue;
    t = now() - t;
    region_cursor_free(c);
    return t;
}

static void bandwidth(const char *what, struct region *r)
{
    enum { TILE = 256 << 10 };
    int64_t low, high;
    double best[2] = {1e30, 1e30};
    region_bounds(r, &low, &high);
    unsigned char *base = must(malloc((size_t)high)), *packed = must(malloc(TILE));
    memset(base, 1, (size_t)high);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        double t = move(r, base, packed, TILE, i % 2);
        if (t < best[i % 2]) best[i % 2] = t;
    }
    double bytes = (double)region_bytes(r);
    printf("%-52s %8.2f GB/s gather %8.2f GB/s scatter\n", what, bytes / best[0],
           bytes / best[1]);
    free(packed);
    free(base);
    region_free(r);
}

int main(void)
{
    const int64_t count[] = {4096, 1024}, stride[] = {8, 4096L * 8};
    walk("4-byte runs, 3-D slab, strips of 128", slab(256, 256, 128, 2, 4), INT64_MAX);
    walk("4-byte runs, 3-D slab, strips of 4", slab(256, 256, 4, 2, 4), INT64_MAX);
    walk("4-byte runs, 3-D slab, one at a time", slab(256, 256, 128, 2, 4), 1);
    seek("seek, 3-D slab of 4-byte runs", slab(256, 256, 128, 2, 4));
    seek("seek, list of 100000 blocks", blocks(100000));
    bandwidth("1 byte of 2, 512 KiB", slab(1, 1, 256 << 10, 2, 1));
    bandwidth("4 bytes of 8, 512 KiB", slab(1, 1, 64 << 10, 2, 4));
    bandwidth("4 bytes of 8, 64 MiB", slab(8, 8, 128 << 10, 2, 4));
    bandwidth("4 bytes of 8, 64 MiB, rows of 16", slab(1 << 10, 512, 16, 2, 4));
    bandwidth("4 bytes of 8, 512 KiB, rows of 16", slab(8, 512, 16, 2, 4));
    bandwidth("8-byte columns of 4096, 32 MiB",
              must(region_loops(0, 2, count, stride, 8)));
    bandwidth("64 bytes of 128, 64 MiB", slab(1, 1, 512 << 10, 2, 64));
    bandwidth("4 KiB of 8 KiB, 64 MiB", slab(1, 1, 8 << 10, 2, 4096));
    return 0;
}
