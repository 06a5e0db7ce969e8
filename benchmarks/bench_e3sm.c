/* The history files of an Earth system model. Each process writes the columns, cells,
 * edges or vertices that it owns, with one varn call per variable. The variables have the
 * same number, types and shapes as in the model's files. The decomposition is taken from
 * a real run on 16 processes, or generated with the same statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { OWNERS = 16, MAPS = 7 };

/* A group of `count` identical variables. If `map` is 0, each is a small variable of
 * `length` values (0: one value per record), which process 0 writes. A scalar is stored
 * as a vector with one element: one of the compared libraries hangs if only one process
 * contributes to a varn call on a scalar variable. */
struct field {
    int count;
    nc_type type;
    bool record;
    int map;
    int length;
};

/* Shape of a generated map. Each column has `levels` values, which are contiguous, or
 * stored layer by layer if `layered` is set. On average `run` / 10 consecutive columns
 * have the same owner. */
struct shape {
    int columns, levels;
    bool layered;
    int run;
};

static const struct shape atmosphere[MAPS] = {
    [1] = {866, 1, false, 184},
    [2] = {866, 1, false, 10},
    [3] = {866, 72, true, 10},
};

static const struct shape ocean[MAPS] = {
    [1] = {285, 1, false, 23},   [2] = {879, 1, false, 11},   [3] = {285, 100, false, 10},
    [4] = {879, 100, false, 10}, [5] = {593, 100, false, 10}, [6] = {285, 101, false, 10},
};

static const struct field atmosphere_h0[] = {
    {2, NC_CHAR, true, 0, 8},     {1, NC_DOUBLE, false, 0, 1},
    {3, NC_DOUBLE, false, 0, 73}, {3, NC_DOUBLE, false, 0, 72},
    {3, NC_DOUBLE, false, 1, 0},  {7, NC_DOUBLE, true, 0, 0},
    {1, NC_DOUBLE, true, 0, 2},   {5, NC_INT, false, 0, 1},
    {5, NC_INT, true, 0, 0},      {63, NC_FLOAT, true, 3, 0},
    {321, NC_FLOAT, true, 2, 0},  {0},
};

static const struct field atmosphere_h1[] = {
    {2, NC_CHAR, true, 0, 8},     {1, NC_DOUBLE, false, 0, 1},
    {3, NC_DOUBLE, false, 0, 73}, {3, NC_DOUBLE, false, 0, 72},
    {3, NC_DOUBLE, false, 1, 0},  {7, NC_DOUBLE, true, 0, 0},
    {1, NC_DOUBLE, true, 0, 2},   {5, NC_INT, false, 0, 1},
    {5, NC_INT, true, 0, 0},      {1, NC_FLOAT, true, 3, 0},
    {20, NC_FLOAT, true, 2, 0},   {0},
};

static const struct field ocean_history[] = {
    {1, NC_CHAR, true, 0, 64},
    {6, NC_DOUBLE, true, 0, 0},
    {4, NC_DOUBLE, true, 1, 0},
    {24, NC_DOUBLE, true, 3, 0},
    {4, NC_DOUBLE, true, 6, 0},
    {1, NC_DOUBLE, true, 4, 0},
    {1, NC_DOUBLE, true, 5, 0},
    {1, NC_DOUBLE, false, 1, 0},
    {4, NC_DOUBLE, false, 0, 100},
    {1, NC_INT, false, 1, 0},
    {1, NC_INT, false, 3, 0},
    {2, NC_INT, false, 2, 0},
    {1, NC_INT, false, 4, 0},
    {1, NC_INT, false, 5, 0},
    {0},
};

static const struct history {
    const char *file;
    int records;
    const struct shape *shapes; /* a field whose `map` is n uses shapes[n - 1] */
    const struct field *fields;
} histories[] = {
    {"map_f_case_16p.nc", 1, atmosphere, atmosphere_h0},
    {"map_f_case_16p.nc", 20, atmosphere, atmosphere_h1},
    {"map_g_case_16p.nc", 4, ocean, ocean_history},
};

/* The part of a flattened array that this process owns. */
struct map {
    int ndims;
    MPI_Offset dims[2];
    int64_t nsegs;
    int64_t (*segs)[2]; /* offset and length of each run */
};

static bool mine(const struct bench *b, int owner)
{
    return owner % b->nprocs == b->rank;
}

static void own(struct map *m, int64_t offset, int64_t length)
{
    m->segs = bench_grow(m->segs, m->nsegs, sizeof *m->segs);
    m->segs[m->nsegs][0] = offset;
    m->segs[m->nsegs++][1] = length;
}

/* Generates one layer of a map. */
static void generate_layer(struct bench *b, const struct shape *s, int64_t base,
                           struct map *m)
{
    int64_t width = s->layered ? 1 : s->levels;
    for (int c = 0, run = 0, end; c < s->columns; c = end, run++) {
        end = c + 1;
        while (end < s->columns && bench_hash((uint64_t)end) % (uint64_t)s->run >= 10)
            end++;
        if (mine(b, (run * 5 + run / OWNERS) % OWNERS))
            own(m, base + c * width, (end - c) * width);
    }
}

static void generate(struct bench *b, const struct shape *s, struct map *m)
{
    bool flat = s->levels == 1;
    m->ndims = flat ? 1 : 2;
    m->dims[0] = s->layered ? s->levels : s->columns;
    m->dims[1] = s->layered ? s->columns : s->levels;
    if (flat) m->dims[0] = s->columns;
    for (int layer = 0; layer < (s->layered ? s->levels : 1); layer++)
        generate_layer(b, s, (int64_t)layer * s->columns, m);
}

/* Reads the integer variable D<n>.<what> of a map file. */
static int *read_list(int ncid, int n, const char *what)
{
    char name[64];
    int varid, dimid;
    MPI_Offset length;
    snprintf(name, sizeof name, "D%d.%s", n, what);
    bench_need(ncmpi_inq_varid(ncid, name, &varid), name);
    bench_need(ncmpi_inq_vardimid(ncid, varid, &dimid), name);
    bench_need(ncmpi_inq_dimlen(ncid, dimid, &length), name);
    int *list = bench_alloc(length * (int64_t)sizeof *list);
    bench_need(ncmpi_get_var_int_all(ncid, varid, list), name);
    return list;
}

static void read_dims(int ncid, int n, struct map *m)
{
    char name[64];
    int dims[2] = {0, 0};
    MPI_Offset length;
    snprintf(name, sizeof name, "D%d.dims", n);
    bench_need(ncmpi_inq_attlen(ncid, NC_GLOBAL, name, &length), name);
    if (length > 2) bench_stop("more than two dimensions", name);
    bench_need(ncmpi_get_att_int(ncid, NC_GLOBAL, name, dims), name);
    m->ndims = (int)length;
    m->dims[0] = dims[0];
    m->dims[1] = dims[1];
}

static void read_map(struct bench *b, int ncid, int n, struct map *m)
{
    read_dims(ncid, n, m);
    int *counts = read_list(ncid, n, "nreqs"), *offsets = read_list(ncid, n, "offsets");
    int *lengths = read_list(ncid, n, "lengths");
    for (int owner = 0, k = 0; owner < OWNERS; owner++)
        for (int i = 0; i < counts[owner]; i++, k++)
            if (mine(b, owner)) own(m, offsets[k], lengths[k]);
    free(counts);
    free(offsets);
    free(lengths);
}

static void get_maps(struct bench *b, const struct history *h, struct map *maps)
{
    char path[BENCH_PATH];
    int ncid = -1;
    if (b->options.maps != NULL) {
        snprintf(path, sizeof path, "%s/%s", b->options.maps, h->file);
        bench_need(ncmpi_open(b->comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), path);
    }
    for (int n = 1; n < MAPS && h->shapes[n].columns > 0; n++) {
        if (ncid >= 0) {
            read_map(b, ncid, n, &maps[n]);
        } else {
            generate(b, &h->shapes[n], &maps[n]);
        }
    }
    if (ncid >= 0) bench_need(ncmpi_close(ncid), path);
}

/* Returns the id of the dimension that has this length, and defines it on first use.
 * Dimension 0 is the record dimension. */
static int small_dim(struct bench_plan *p, int length)
{
    for (int i = 1; i < p->ndims; i++)
        if (p->dims[i] == length) return i;
    return bench_dim(p, length);
}

static int define(struct bench_plan *p, const struct field *f, const struct map *m)
{
    int dims[3], n = 0;
    if (f->record) dims[n++] = 0;
    for (int i = 0; f->map > 0 && i < m->ndims; i++)
        dims[n++] = small_dim(p, (int)m->dims[i]);
    if (f->length > 0) dims[n++] = small_dim(p, f->length);
    return bench_var(p, f->type, n, dims);
}

/* Adds the pieces of a map. A run that crosses the end of the innermost dimension is
 * split there. */
static void put_map(struct bench_plan *p, int var, MPI_Offset record, const struct map *m)
{
    int ndims = p->vars[var].ndims, lead = ndims - m->ndims;
    int64_t inner = m->dims[m->ndims - 1], n = 0;
    for (int64_t i = 0; i < m->nsegs; i++)
        n += (m->segs[i][0] % inner + m->segs[i][1] + inner - 1) / inner;
    struct bench_piece *piece = bench_piece(p, var, n);
    piece->varn = true;
    MPI_Offset *start = piece->start, *count = piece->count;
    for (int64_t i = 0; i < m->nsegs; i++) {
        int64_t at = m->segs[i][0], left = m->segs[i][1], now;
        for (; left > 0; at += now, left -= now, start += ndims, count += ndims) {
            now = inner - at % inner < left ? inner - at % inner : left;
            start[0] = record;
            count[0] = 1;
            if (m->ndims == 2) start[lead] = at / inner, count[lead] = 1;
            start[ndims - 1] = at % inner;
            count[ndims - 1] = now;
        }
    }
}

static void put_small(struct bench *b, struct bench_plan *p, int var, MPI_Offset record)
{
    const struct bench_var *v = &p->vars[var];
    struct bench_piece *piece = bench_piece(p, var, b->rank == 0);
    piece->varn = true;
    for (int i = 0; i < v->ndims && b->rank == 0; i++) {
        piece->start[i] = v->record && i == 0 ? record : 0;
        piece->count[i] = v->record && i == 0 ? 1 : v->shape[i];
    }
}

static void put_step(struct bench *b, struct bench_plan *p, const struct history *h,
                     const struct map *maps, int record)
{
    int var = 0;
    for (const struct field *f = h->fields; f->count > 0; f++) {
        for (int64_t i = 0; i < bench_at_most(b, f->count); i++, var++) {
            if (!f->record && record > 0) continue;
            if (f->map > 0) {
                put_map(p, var, record, &maps[f->map]);
            } else {
                put_small(b, p, var, record);
            }
        }
    }
}

/* Builds the plan of history number `arg`, or of number `arg` - 10 with nonblocking calls
 * and a single wait if `arg` is at least 10. */
void bench_e3sm(struct bench *b, struct bench_plan *p)
{
    const struct history *h = &histories[b->row->arg % 10];
    struct map maps[MAPS] = {0};
    get_maps(b, h, maps);
    bench_dim(p, NC_UNLIMITED);
    for (const struct field *f = h->fields; f->count > 0; f++)
        for (int64_t i = 0; i < bench_at_most(b, f->count); i++)
            define(p, f, &maps[f->map]);
    for (int record = 0; record < bench_at_most(b, h->records); record++)
        put_step(b, p, h, maps, record);
    if (b->row->arg >= 10) p->call = BENCH_NONBLOCKING;
    for (int n = 0; n < MAPS; n++)
        free(maps[n].segs);
}
