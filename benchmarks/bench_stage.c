/* Measures epochs over a dataset, each of which reads all samples in a different random
 * order: without staging, with staging, and with a stage that already contains the data.
 * Also measures a loop over records that computes after each one. For comparison, it
 * measures epochs over a local copy that is read by pread and, with -5, over HDF5 files:
 * one with contiguous data, and one with a chunk per sample that fits HDF5's cache.
 * benchmarks/stage_run limits the speed of the source. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "pnetcdf_ext.h"

const struct bench_option bench_stage_options[] = {
    {"near", ".", "directory of the stage and of the local copy"},
    {"sample", "1024", "KiB in a sample"},
    {"epochs", "4", "number of epochs"},
    {"compute", "0", "seconds of computation after each record"},
    {NULL, NULL, NULL},
};

struct dataset {
    struct bench *b;
    MPI_Offset samples, length; /* number of samples, and doubles per sample */
    MPI_Offset *order;
    struct bench_plan all; /* this process's samples, in order */
};

/* Shuffles the samples. The order is the same on all processes. Epoch 0 is in order. */
static void shuffle(struct dataset *d, int epoch)
{
    unsigned seed = 1000U + (unsigned)epoch;
    for (MPI_Offset i = 0; i < d->samples; i++)
        d->order[i] = i;
    for (MPI_Offset i = d->samples - 1; epoch > 0 && i > 0; i--) {
        MPI_Offset j = rand_r(&seed) % (i + 1), at = d->order[i];
        d->order[i] = d->order[j];
        d->order[j] = at;
    }
}

/* Plans this process's part of an epoch: every nprocs-th sample of the order. */
static void plan(struct dataset *d, int epoch, struct bench_plan *p)
{
    *p = (struct bench_plan){.call = BENCH_INDEPENDENT};
    int dims[2] = {bench_dim(p, NC_UNLIMITED), bench_dim(p, d->length)};
    int var = bench_var(p, NC_DOUBLE, 2, dims);
    shuffle(d, epoch);
    for (MPI_Offset i = d->b->rank; i < d->samples; i += d->b->nprocs) {
        MPI_Offset start[2] = {d->order[i], 0}, count[2] = {1, d->length};
        bench_piece_slab(p, var, start, count);
    }
    bench_plan_finish(d->b, p);
    p->vars[0].begin = d->all.vars == NULL ? 0 : d->all.vars[0].begin;
    p->recsize = d->all.recsize;
}

static void run_epochs(struct dataset *d, const struct bench_way *way,
                       struct bench_handle h, const char *name)
{
    struct bench *b = d->b;
    int epochs = (int)bench_number(bench_option(b, "epochs"));
    for (int epoch = 1; epoch <= epochs; epoch++) {
        struct bench_plan p;
        struct bench_clock c;
        struct bench_stats before;
        char variant[32];
        snprintf(variant, sizeof variant, "%s %d", name, epoch);
        plan(d, epoch, &p);
        if (way == &bench_lib) bench_stats_read(b, h.id, &before);
        bench_begin(b, &c);
        way->move(&p, h, false);
        bench_end(b, &c, "epoch", way->name, variant, p.file_bytes);
        if (way == &bench_lib) bench_stats_report(b, h.id, &before, "epoch", variant);
        bench_check_memory(&p);
        bench_plan_free(&p);
    }
}

static int open_dataset(struct bench *b, bool staged)
{
    int ncid;
    MPI_Info info = bench_stats_hints(b);
    if (info == MPI_INFO_NULL) bench_need_mpi(MPI_Info_create(&info), "MPI_Info_create");
    MPI_Info_set(info, "nc_stage", staged ? "enable" : "disable");
    MPI_Info_set(info, "nc_stage_dirname", bench_option(b, "near"));
    bench_need(ncmpi_open(b->comm, b->file, NC_NOWRITE, info, &ncid), "ncmpi_open");
    bench_need_mpi(MPI_Info_free(&info), "MPI_Info_free");
    return ncid;
}

static void run_library(struct dataset *d, const char *name, bool staged, bool prefetch)
{
    struct bench_clock c;
    struct bench_handle h = {.id = open_dataset(d->b, staged)};
    /* Revalidates the file, which was just written. */
    bench_need(ncmpi_begin_indep_data(h.id), "ncmpi_begin_indep_data");
    bench_begin(d->b, &c);
    if (prefetch)
        bench_need(ncmpix_prefetch(h.id, NC_GLOBAL, NULL, NULL), "ncmpix_prefetch");
    bench_need(ncmpix_prefetch_wait(h.id), "ncmpix_prefetch_wait");
    if (prefetch) bench_end(d->b, &c, "prefetch", "lib", name, 0);
    run_epochs(d, &bench_lib, h, name);
    bench_need(ncmpi_close(h.id), "ncmpi_close");
}

/* Reads one record after another, and computes after each one. */
static void run_records(struct dataset *d, const char *name, bool staged)
{
    struct bench_clock c = {0};
    double *values = bench_alloc(d->length * 8);
    int ncid = open_dataset(d->b, staged);
    double compute = bench_number(bench_option(d->b, "compute"));
    for (MPI_Offset at[2] = {0, 0}, n[2] = {1, d->length}; at[0] < d->samples; at[0]++) {
        bench_clock_start(&c);
        bench_need(ncmpi_get_vara_double_all(ncid, 0, at, n, values), "a record");
        bench_clock_stop(&c);
        usleep((useconds_t)(compute * 1e6));
    }
    bench_need(ncmpi_close(ncid), "ncmpi_close");
    bench_report(d->b, &c, "records", "lib", name, d->samples * d->length * 8);
    free(values);
}

static void run_hdf5(struct dataset *d, const char *name, bool chunked)
{
    struct bench_handle h;
    d->all.chunked = chunked;
    bench_fill(&d->all);
    bench_hdf5.open(d->b, &d->all, BENCH_FRESH, &h);
    bench_hdf5.move(&d->all, h, true);
    bench_hdf5.close(d->b, &d->all, h, BENCH_FRESH);
    bench_hdf5.open(d->b, &d->all, BENCH_GET, &h);
    run_epochs(d, &bench_hdf5, h, name);
    bench_hdf5.close(d->b, &d->all, h, BENCH_GET);
    bench_remove(d->b, d->b->raw);
}

/* Reads this process's own local copy. */
static void run_copy(struct dataset *d)
{
    struct bench *b = d->b;
    char path[BENCH_PATH];
    snprintf(path, sizeof path, "%s/bench-stage.%d", bench_option(b, "near"), b->rank);
    struct bench_handle h = {.id = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600)};
    bench_need_system(h.id >= 0, path);
    int epochs = (int)bench_number(bench_option(b, "epochs"));
    for (int epoch = 0; epoch <= epochs; epoch++) {
        struct bench_plan p;
        plan(d, epoch, &p);
        bench_fill(&p);
        bench_raw.move(&p, h, true);
        bench_plan_free(&p);
    }
    run_epochs(d, &bench_raw, h, "copy");
    bench_need_system(close(h.id) == 0, path);
    bench_need_system(unlink(path) == 0, path);
}

/* Waits until the file is old enough, because nodes do not exchange data of files that
 * changed recently. */
static void age(struct bench *b)
{
    enum { YOUNG = 12 };
    if (bench_node_procs(b) < b->nprocs) sleep(YOUNG);
}

void bench_stage(struct bench *b)
{
    int64_t sample = (int64_t)bench_number(bench_option(b, "sample")) << 10;
    int64_t samples = b->options.bytes * b->nprocs / sample;
    struct dataset d = {.b = b, .length = sample / 8};
    d.samples = samples > b->nprocs ? samples : b->nprocs;
    d.order = bench_alloc(d.samples * (int64_t)sizeof *d.order);
    struct bench_handle h;
    struct bench_plan all;
    plan(&d, 0, &all);
    d.all = all;
    b->options.keep = true;
    bench_fill(&d.all);
    bench_lib.open(b, &d.all, BENCH_FRESH, &h);
    bench_lib.move(&d.all, h, true);
    bench_lib.close(b, &d.all, h, BENCH_FRESH);
    age(b);
    b->rep = 1;
    run_library(&d, "plain", false, false);
    run_library(&d, "staged", true, false);
    run_library(&d, "prestaged", true, true);
    if (b->options.hdf5 && bench_hdf5.can(b, &d.all)) {
        run_hdf5(&d, "contiguous", false);
        run_hdf5(&d, "cached", true);
    }
    if (!b->options.alone) run_copy(&d);
    run_records(&d, "plain", false);
    run_records(&d, "staged", true);
    bench_plan_free(&d.all);
    free(d.order);
}
