/* What handling a header costs, by its number of variables (2 dimensions and 2
 * attributes each): CPU time of defining, laying out, encoding, copying and decoding,
 * and the memory that the model takes for each byte of the header. Needs no MPI.
 * cdf_bench [VARIABLES...]; run it with one number for memory that was never used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_mem.h"
#include "cdf.h"
#include "pnetcdf_constants.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool good)
{
    if (good) return;
    fprintf(stderr, "cdf_bench: a step failed\n");
    exit(1);
}

static void put_text(struct cdf_header *h, int varid, const char *name, const char *text)
{
    void *values;
    int64_t n = (int64_t)strlen(text);
    must(cdf_put_att(h, varid, name, NC_CHAR, n, &values) == NC_NOERR);
    memcpy(values, text, (size_t)n);
}

static void define(struct cdf_header *h, int n)
{
    int ids[2], id;
    cdf_init(h, 5);
    must(cdf_def_dim(h, "time", NC_UNLIMITED, &ids[0]) == NC_NOERR);
    must(cdf_def_dim(h, "x", 100, &ids[1]) == NC_NOERR);
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "variable_%d", i);
        must(cdf_def_var(h, name, NC_DOUBLE, 2, ids, &id) == NC_NOERR);
        put_text(h, id, "units", "m per s");
        put_text(h, id, "long_name", "twenty characters...");
    }
}

static void measure(int n)
{
    const struct cdf_room room = {.fixed_align = 4, .record_align = 4};
    struct cdf_header h, copy, back;
    double t[6];
    t[0] = now();
    define(&h, n);
    t[1] = now();
    must(cdf_layout(&h, NULL, &room) == NC_NOERR);
    t[2] = now();
    size_t length = (size_t)cdf_encoded_size(&h);
    unsigned char *bytes = calloc(1, length);
    must(bytes != NULL);
    cdf_encode(&h, bytes);
    t[3] = now();
    must(cdf_copy(&copy, &h) == NC_NOERR);
    t[4] = now();
    int64_t before = base_mem_in_use();
    must(cdf_decode(&back, bytes, length, INT64_MAX, NULL) == NC_NOERR);
    t[5] = now();
    double memory = (double)(base_mem_in_use() - before) / (double)length;
    printf("%9d", n);
    for (int i = 0; i < 5; i++)
        printf(" %9.2f", (t[i + 1] - t[i]) * 1e3);
    printf(" %9.2f\n", memory);
    cdf_free(&h);
    cdf_free(&copy);
    cdf_free(&back);
    free(bytes);
}

int main(int argc, char **argv)
{
    static const int usual[] = {10000, 100000, 1000000};
    printf("variables    define    layout    encode      copy    decode  memory\n"
           "                 ms        ms        ms        ms        ms  B a byte\n");
    for (int i = 1; i < argc; i++)
        measure((int)strtol(argv[i], NULL, 10));
    for (int i = 0; i < 3 && argc == 1; i++)
        measure(usual[i]);
    return 0;
}
