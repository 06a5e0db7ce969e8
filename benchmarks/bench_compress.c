/* Measures the cost of compressing a field. Each process writes a complete copy of the
 * field, and the copies are placed side by side along the last dimension. If there
 * are at least three dimensions, the first is the record dimension. Hints in the
 * environment determine how the file is written. Then the program reads the field twice,
 * in the same columns and in slabs of the second-to-last dimension, and compares the
 * values. Times are measured from create or open to close. HDF5 (-5) has one chunk for
 * each process and record, shuffled and deflated at level 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

const struct bench_option bench_compress_options[] = {
    {"source", "", "netCDF file of the field; none: a smooth field of -b MiB"},
    {"variable", "", "name of the field"},
    {"times", "1", "number of times that the records are repeated"},
    {NULL, NULL, NULL},
};

struct field {
    int ndims;            /* dimensions of one record */
    MPI_Offset n, length; /* number of records, and number of values in each */
    MPI_Offset shape[BENCH_DIMS];
    MPI_Offset times;
    float *values;
};

static void make_field(const struct bench *b, struct field *f)
{
    enum { RECORDS = 4, ROWS = 64 };
    MPI_Offset columns = b->options.bytes / RECORDS / ROWS / (int)sizeof *f->values + 1;
    f->n = RECORDS;
    f->ndims = 2;
    f->shape[0] = ROWS;
    f->shape[1] = columns;
    f->length = ROWS * columns;
    f->values = bench_alloc(f->n * f->length * (int64_t)sizeof *f->values);
    for (MPI_Offset i = 0; i < f->n * f->length; i++)
        f->values[i] = (float)sin((double)i / 1000);
}

static void read_field(const struct bench *b, struct field *f)
{
    int ncid, v, ndims, dims[BENCH_DIMS];
    MPI_Offset shape[BENCH_DIMS] = {1, 1}, all = 1;
    const char *path = bench_option(b, "source"), *name = bench_option(b, "variable");
    bench_need(ncmpi_open(MPI_COMM_SELF, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), path);
    bench_need(ncmpi_inq_varid(ncid, name, &v), name);
    bench_need(ncmpi_inq_varndims(ncid, v, &ndims), name);
    if (ndims < 2 || ndims > BENCH_DIMS) bench_stop("number of dimensions", name);
    bench_need(ncmpi_inq_vardimid(ncid, v, dims), name);
    for (int i = 0; i < ndims; i++) {
        bench_need(ncmpi_inq_dimlen(ncid, dims[i], &shape[i]), name);
        all *= shape[i];
    }
    bool records = ndims > 2;
    f->n = records ? shape[0] : 1;
    f->ndims = ndims - records;
    memcpy(f->shape, shape + records, (size_t)f->ndims * sizeof f->shape[0]);
    f->length = all / f->n;
    f->values = bench_alloc(all * (int64_t)sizeof *f->values);
    bench_need(ncmpi_get_var_float_all(ncid, v, f->values), name);
    bench_need(ncmpi_close(ncid), path);
}

/* Plans access to this process's columns in all records, or to its slabs. */
static void plan(struct bench *b, const struct field *f, bool slabs, struct bench_plan *p)
{
    int dims[BENCH_DIMS + 1] = {bench_dim(p, NC_UNLIMITED)}, last = f->ndims;
    MPI_Offset start[BENCH_DIMS + 1] = {0}, count[BENCH_DIMS + 1] = {1};
    for (int i = 1; i <= last; i++) {
        count[i] = f->shape[i - 1];
        dims[i] = bench_dim(p, count[i] * (i == last ? b->nprocs : 1));
    }
    if (slabs) {
        count[last] *= b->nprocs;
        start[last - 1] =
            bench_part(count[last - 1], b->nprocs, b->rank, &count[last - 1]);
    } else {
        start[last] = count[last] * b->rank;
    }
    int var = bench_var(p, NC_FLOAT, last + 1, dims);
    for (; start[0] < f->n * f->times; start[0]++)
        bench_piece_slab(p, var, start, count);
    p->chunked = p->deflate = true;
    bench_plan_finish(b, p);
}

/* Returns the largest relative difference between a record's values and the values
 * read. */
static double difference(const struct bench_piece *q, const struct field *f)
{
    MPI_Offset columns = f->shape[f->ndims - 1], high = f->shape[f->ndims - 2], i = 0;
    const MPI_Offset *n = q->count + f->ndims, y0 = q->start[f->ndims - 1];
    const float *is = f->values + q->start[0] % f->n * f->length;
    const float *got = (const float *)q->buf;
    double most = 0;
    for (MPI_Offset plane = 0; plane < f->length / columns / high; plane++)
        for (MPI_Offset y = y0; y < y0 + n[-1]; y++)
            for (MPI_Offset x = 0; x < n[0]; x++, i++) {
                double want = is[(plane * high + y) * columns + x % columns];
                double off = fabs(got[i] - want);
                if (off > most * fabs(want)) most = off / fabs(want);
            }
    return most;
}

static void measure(struct bench *b, struct bench_plan *p, const struct bench_way *way,
                    enum bench_step step, const char *op)
{
    struct bench_handle h;
    struct bench_clock c;
    bench_begin(b, &c);
    way->open(b, p, step, &h);
    way->move(p, h, step != BENCH_GET);
    way->close(b, p, h, step);
    bench_end(b, &c, op, way->name, "field", p->file_bytes);
}

/* Returns the largest relative difference between what is written and what is read. */
static double run(struct bench *b, const struct field *f, const struct bench_way *way,
                  struct bench_plan *columns, struct bench_plan *slabs)
{
    double most = 0;
    bench_remove(b, way == &bench_lib ? b->file : b->raw);
    for (int64_t i = 0; i < columns->npieces; i++)
        memcpy(columns->pieces[i].buf, f->values + i % f->n * f->length,
               (size_t)f->length * sizeof *f->values);
    measure(b, columns, way, BENCH_FRESH, "put");
    for (int slab = 0; slab < 2; slab++) {
        struct bench_plan *p = slab ? slabs : columns;
        measure(b, p, way, BENCH_GET, slab ? "slabs" : "columns");
        for (int64_t i = 0; i < p->npieces; i++)
            most = fmax(most, difference(&p->pieces[i], f));
    }
    return bench_most(b, most);
}

void bench_compress(struct bench *b)
{
    const struct bench_way *const ways[] = {&bench_lib, &bench_hdf5};
    struct field f = {.times = (MPI_Offset)bench_number(bench_option(b, "times"))};
    struct bench_plan columns = {0}, slabs = {0};
    if (*bench_option(b, "source") != '\0')
        read_field(b, &f);
    else
        make_field(b, &f);
    b->options.keep = true;
    plan(b, &f, false, &columns);
    plan(b, &f, true, &slabs);
    int nways = b->options.hdf5 && bench_hdf5.can(b, &columns) ? 2 : 1;
    for (b->rep = 0; bench_again(b); b->rep++)
        for (int i = 0; i < nways; i++) {
            double most = run(b, &f, ways[i], &columns, &slabs);
            bench_print(b, "count", "get", ways[i]->name, "field",
                        "relative_difference\t%.1e\t%.1e", most, most);
        }
    bench_plan_free(&columns);
    bench_plan_free(&slabs);
    free(f.values);
}
