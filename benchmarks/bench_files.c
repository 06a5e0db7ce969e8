/* Workloads on whole files: creating them, opening them, and changing definitions after
 * data has been written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { TIMES = 50, FIELDS = 10 };

const struct bench_option bench_redef_options[] = {
    {"grow", "1048576", "length of the attribute that moves the data"},
    {NULL, NULL, NULL},
};

static void small_file(struct bench *b, struct bench_plan *p)
{
    int dim = bench_dim(p, (MPI_Offset)16 * b->nprocs);
    MPI_Offset start = (MPI_Offset)16 * b->rank, count = 16;
    for (int i = 0; i < FIELDS; i++)
        bench_piece_slab(p, bench_var(p, NC_DOUBLE, 1, &dim), &start, &count);
    bench_plan_finish(b, p);
    bench_fill(p);
}

static void create_open(struct bench *b, struct bench_plan *p)
{
    struct bench_clock c;
    char variant[16];
    int times = (int)bench_at_most(b, TIMES);
    snprintf(variant, sizeof variant, "x%d", times);
    bench_remove(b, b->file);
    bench_begin(b, &c);
    for (int i = 0; i < times; i++)
        bench_need(ncmpi_close(bench_lib_create(b, p)), "ncmpi_close");
    bench_end(b, &c, "create+close", "lib", variant, 0);
    bench_begin(b, &c);
    for (int i = 0; i < times; i++)
        bench_need(ncmpi_close(bench_lib_open(b, p, false)), "ncmpi_close");
    bench_end(b, &c, "open+close", "lib", variant, 0);
}

/* Reports the library's statistics for creating and for opening a file, each measured
 * until just before the close. */
static void count_steps(struct bench *b, struct bench_plan *p)
{
    static const struct bench_stats none;
    int ncid = bench_lib_create(b, p);
    bench_stats_report(b, ncid, &none, "create", "once");
    bench_need(ncmpi_close(ncid), "ncmpi_close");
    ncid = bench_lib_open(b, p, false);
    bench_stats_report(b, ncid, &none, "open", "once");
    bench_need(ncmpi_close(ncid), "ncmpi_close");
}

static void verify(struct bench *b, struct bench_plan *p)
{
    int ncid = bench_lib_open(b, p, true);
    bench_lib_layout(p, ncid);
    bench_lib_move(p, ncid, true);
    bench_need(ncmpi_close(ncid), "ncmpi_close");
    bench_check_file(b, p);
}

void bench_openclose(struct bench *b)
{
    struct bench_plan p = {0};
    small_file(b, &p);
    for (b->rep = 0; bench_again(b); b->rep++) {
        create_open(b, &p);
        if (b->rep == 0) verify(b, &p);
        if (b->rep == 1) count_steps(b, &p);
    }
    bench_plan_free(&p);
}

/* Half of the bytes are in one fixed-size variable, the other half in two records of two
 * record variables. */
static void plan_redef(struct bench *b, struct bench_plan *p)
{
    MPI_Offset edge = (MPI_Offset)sqrt((double)b->options.bytes * b->nprocs / 16) + 1;
    if (edge < b->nprocs) edge = b->nprocs;
    int dims[3] = {bench_dim(p, NC_UNLIMITED), bench_dim(p, edge), bench_dim(p, edge)};
    MPI_Offset start[3] = {0}, count[3] = {1, edge, edge};
    start[1] = bench_part(edge, b->nprocs, b->rank, &count[1]);
    bench_piece_slab(p, bench_var(p, NC_DOUBLE, 2, dims + 1), start + 1, count + 1);
    int var = bench_var(p, NC_FLOAT, 3, dims);
    bench_var(p, NC_FLOAT, 3, dims);
    for (int i = 0; i < 2; i++, start[0]++) {
        bench_piece_slab(p, var, start, count);
        bench_piece_slab(p, var + 1, start, count);
    }
    bench_plan_finish(b, p);
    bench_fill(p);
}

/* Adds an attribute that either fits into the header's padding or forces all data to
 * move. */
static void redefine(struct bench *b, struct bench_plan *p, int length, const char *op,
                     int64_t bytes)
{
    char *text = bench_alloc(length);
    memset(text, 'x', (size_t)length);
    int ncid = bench_lib_open(b, p, true);
    struct bench_clock c;
    struct bench_stats before;
    bench_stats_read(b, ncid, &before);
    bench_begin(b, &c);
    bench_need(ncmpi_redef(ncid), "ncmpi_redef");
    bench_need(ncmpi_put_att_text(ncid, NC_GLOBAL, op, length, text), "put_att_text");
    bench_need(ncmpi_enddef(ncid), "ncmpi_enddef");
    if (b->options.sync) bench_need(ncmpi_sync(ncid), "ncmpi_sync");
    bench_end(b, &c, op, "lib", "over", bytes);
    bench_stats_report(b, ncid, &before, op, "over");
    bench_lib_layout(p, ncid);
    bench_need(ncmpi_close(ncid), "ncmpi_close");
    if (b->rep == 0) bench_check_file(b, p);
    free(text);
}

void bench_redef(struct bench *b)
{
    struct bench_plan p = {0};
    plan_redef(b, &p);
    for (b->rep = 0; bench_again(b); b->rep++) {
        bench_remove(b, b->file);
        int ncid = bench_lib_create(b, &p);
        bench_lib_move(&p, ncid, true);
        bench_need(ncmpi_close(ncid), "ncmpi_close");
        redefine(b, &p, 8, "fit", 0);
        redefine(b, &p, (int)bench_number(bench_option(b, "grow")), "grow", p.file_bytes);
    }
    bench_plan_free(&p);
}
