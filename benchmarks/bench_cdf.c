/* Measures how the cost of a header grows with its number of variables. Each variable has
 * 2 dimensions and 2 attributes. Reports the time to define, lay out, encode, copy and
 * decode the header, and the memory of struct cdf_header as a percentage of the encoded
 * size. Needs no MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "bench.h"
#include "cdf.h"

enum { LEAST = 1000, STEPS = 5 };
static const char *const steps[STEPS] = {"define", "layout", "encode", "copy", "decode"};

struct headers {
    int n; /* number of variables */
    struct cdf_header made, copy, decoded;
    unsigned char *bytes;
    size_t length;
    int64_t memory;
};

static void put_text(struct cdf_header *h, int varid, const char *name, const char *text)
{
    void *values;
    int64_t n = (int64_t)strlen(text);
    bench_need(cdf_put_att(h, varid, name, NC_CHAR, n, &values), name);
    memcpy(values, text, (size_t)n);
}

static void define(struct cdf_header *h, int n)
{
    int ids[2], id;
    cdf_init(h, 5);
    bench_need(cdf_def_dim(h, "time", NC_UNLIMITED, &ids[0]), "time");
    bench_need(cdf_def_dim(h, "x", 100, &ids[1]), "x");
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "variable_%d", i);
        bench_need(cdf_def_var(h, name, NC_DOUBLE, 2, ids, &id), name);
        put_text(h, id, "units", "m per s");
        put_text(h, id, "long_name", "twenty characters...");
    }
}

static void run_step(struct headers *h, int step)
{
    const struct cdf_padding padding = {.fixed_align = 4, .record_align = 4};
    int64_t before = base_mem_in_use();
    switch (step) {
    case 0:
        define(&h->made, h->n);
        break;
    case 1:
        bench_need(cdf_layout(&h->made, NULL, &padding), "cdf_layout");
        break;
    case 2:
        h->length = (size_t)cdf_encoded_size(&h->made);
        h->bytes = bench_alloc((int64_t)h->length);
        cdf_encode(&h->made, h->bytes);
        break;
    case 3:
        bench_need(cdf_copy(&h->copy, &h->made), "cdf_copy");
        break;
    default:
        bench_need(cdf_decode(&h->decoded, h->bytes, h->length, INT64_MAX, NULL),
                   "cdf_decode");
        h->memory = base_mem_in_use() - before;
    }
}

void bench_cdf(struct bench *b)
{
    char variant[32];
    int64_t limit = bench_at_most(b, 1000000);
    for (b->rep = 0; bench_again(b); b->rep++)
        for (int64_t n = LEAST; n <= limit; n *= 10) {
            struct headers h = {.n = (int)n};
            snprintf(variant, sizeof variant, "n=%lld", (long long)n);
            for (int step = 0; step < STEPS; step++) {
                struct bench_clock c;
                bench_begin(b, &c);
                run_step(&h, step);
                bench_end(b, &c, steps[step], "lib", variant, 0);
            }
            int percent = (int)(100 * h.memory / (int64_t)h.length);
            bench_print(b, "count", "decode", "lib", variant, "memory_percent\t%d\t%d",
                        percent, percent);
            cdf_free(&h.made);
            cdf_free(&h.copy);
            cdf_free(&h.decoded);
            free(h.bytes);
        }
}
