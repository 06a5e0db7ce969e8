/* Metadata workloads: define, write, read and look up many variables. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { LEAST = 1000, DIMS = 32 };

static void define(int ncid, int n)
{
    char name[64];
    int dims[DIMS], id;
    for (int i = 0; i < DIMS; i++) {
        snprintf(name, sizeof name, "dim_%02d", i);
        bench_need(ncmpi_def_dim(ncid, name, 2 + i, &dims[i]), "ncmpi_def_dim");
    }
    for (int i = 0; i < n; i++) {
        int shape[2] = {dims[i % DIMS], dims[i / DIMS % DIMS]};
        double scale = i;
        snprintf(name, sizeof name, "variable_%d", i);
        bench_need(ncmpi_def_var(ncid, name, NC_FLOAT, 2, shape, &id), "ncmpi_def_var");
        bench_need(ncmpi_put_att_text(ncid, id, "units", 5, "m s-1"), "put_att_text");
        if (i % 2 == 1)
            bench_need(ncmpi_put_att_double(ncid, id, "scale", NC_DOUBLE, 1, &scale),
                       "ncmpi_put_att_double");
    }
}

static void expect(bool good, const char *what)
{
    if (!good) bench_stop(what, "WRONG DEFINITIONS READ");
}

/* Looks up names in an order that differs from the order of definition. */
static void look_up(int ncid, int n)
{
    char name[64];
    for (int i = 0; i < n; i++) {
        int want = (int)(((int64_t)i * 7919 + 13) % n), id;
        snprintf(name, sizeof name, "variable_%d", want);
        bench_need(ncmpi_inq_varid(ncid, name, &id), name);
        expect(id == want, name);
    }
}

static void verify(int ncid, int n)
{
    int ndims, nvars, natts, unlimited, shape[2];
    bench_need(ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited), "ncmpi_inq");
    expect(ndims == DIMS && nvars == n && natts == 0 && unlimited == -1, "counts");
    for (int i = 0; i < n; i++) {
        char units[8] = "";
        double scale = i;
        bench_need(ncmpi_inq_vardimid(ncid, i, shape), "ncmpi_inq_vardimid");
        expect(shape[0] == i % DIMS && shape[1] == i / DIMS % DIMS, "dimensions");
        bench_need(ncmpi_get_att_text(ncid, i, "units", units), "units");
        expect(strcmp(units, "m s-1") == 0, "units");
        if (i % 2 == 1)
            bench_need(ncmpi_get_att_double(ncid, i, "scale", &scale), "scale");
        expect(scale == i, "scale");
    }
}

static void write_header(struct bench *b, int n, const char *variant)
{
    struct bench_clock c;
    int ncid;
    bench_remove(b, b->file);
    bench_need(
        ncmpi_create(b->comm, b->file, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid),
        "ncmpi_create");
    bench_begin(b, &c);
    define(ncid, n);
    bench_end(b, &c, "define", "lib", variant, 0);
    bench_begin(b, &c);
    bench_need(ncmpi_enddef(ncid), "ncmpi_enddef");
    bench_end(b, &c, "enddef", "lib", variant, 0);
    bench_begin(b, &c);
    bench_need(ncmpi_close(ncid), "ncmpi_close");
    bench_end(b, &c, "close", "lib", variant, 0);
}

/* Opens a file twice: first in a program that has just started, and again when it can
 * reuse the memory that the first open has freed. */
static void open_header(struct bench *b, const char *name, const char *variant, int *ncid)
{
    struct bench_clock c;
    bench_begin(b, &c);
    bench_need(ncmpi_open(b->comm, b->file, NC_NOWRITE, MPI_INFO_NULL, ncid),
               "ncmpi_open");
    bench_end(b, &c, name, "lib", variant, 0);
}

static void read_header(struct bench *b, int n, const char *variant)
{
    struct bench_clock c;
    int ncid;
    malloc_trim(0);
    open_header(b, "open_first", variant, &ncid);
    bench_need(ncmpi_close(ncid), "ncmpi_close");
    open_header(b, "open", variant, &ncid);
    bench_begin(b, &c);
    look_up(ncid, n);
    bench_end(b, &c, "lookup", "lib", variant, 0);
    if (b->rep == 0) verify(ncid, n);
    bench_need(ncmpi_close(ncid), "ncmpi_close");
}

/* Measures 10^3 variables, ten times as many, and so on, up to the limit. */
void bench_meta(struct bench *b)
{
    char variant[32];
    int64_t limit = bench_at_most(b, 1000000);
    for (b->rep = 0; bench_again(b); b->rep++)
        for (int64_t n = LEAST; n <= limit; n *= 10) {
            snprintf(variant, sizeof variant, "n=%lld", (long long)n);
            write_header(b, (int)n, variant);
            read_header(b, (int)n, variant);
        }
}
