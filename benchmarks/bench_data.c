/* A data workload: each way puts into a fresh file, puts over it, and gets. Library
 * and raw ways take turns at going first. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { MOST_RUNS = 4000000 }; /* a process, in a view; more take minutes */

struct state {
    struct bench *b;
    struct bench_plan plan;
    struct bench_plan other; /* if it is wanted: got by another decomposition */
    int64_t contig_at;       /* where this process writes in the way `contig` */
    bool plain;              /* nothing is converted */
    const char *way;         /* of those below */
};

static void lib_put(struct state *s, const char *variant)
{
    struct bench *b = s->b;
    struct bench_plan *p = &s->plan;
    bool fresh = strcmp(variant, "fresh") == 0, keep = fresh && b->options.keep;
    int ncid = fresh ? bench_lib_create(b, p) : -1;
    if (fresh) bench_lib_layout(p, ncid);
    if (keep) bench_lib_begin(p, ncid, true);
    if (fresh && !keep) bench_need(ncmpi_close(ncid), "ncmpi_close");
    if (!keep) ncid = bench_lib_open(b, p, true);
    struct bench_clock c;
    struct bench_stats before;
    bench_stats_read(b, ncid, &before);
    bench_begin(b, &c);
    bench_lib_move(p, ncid, true);
    if (b->options.sync) bench_need(ncmpi_sync(ncid), "ncmpi_sync");
    bench_end(b, &c, "put", s->way, variant, p->file_bytes);
    bench_stats_report(b, ncid, &before, "put", variant);
    bench_lib_close(p, ncid, true);
    if (b->rep == 0) bench_check_file(b, p);
}

static void lib_get(struct state *s, const char *variant)
{
    struct bench *b = s->b;
    struct bench_plan *p = strcmp(variant, "other") == 0 ? &s->other : &s->plan;
    if (b->rep == 0) memset(p->memory, 0xa5, (size_t)p->memory_bytes);
    int ncid = bench_lib_open(b, p, false);
    struct bench_clock c;
    struct bench_stats before;
    bench_stats_read(b, ncid, &before);
    bench_begin(b, &c);
    bench_lib_move(p, ncid, false);
    bench_end(b, &c, "get", s->way, variant, p->file_bytes);
    bench_stats_report(b, ncid, &before, "get", variant);
    bench_lib_close(p, ncid, false);
    if (b->rep == 0) bench_check_memory(p);
}

static void raw_move(struct state *s, bool put, const char *variant)
{
    struct bench *b = s->b;
    int fd = bench_raw_open(b->raw);
    struct bench_clock c;
    int64_t bytes = s->plan.file_bytes;
    bench_begin(b, &c);
    if (strcmp(s->way, "runs") == 0) {
        bytes = bench_raw_runs(&s->plan, fd, put);
    } else {
        bench_raw_contig(&s->plan, fd, s->contig_at, put);
    }
    if (put && b->options.sync && fsync(fd) != 0) bench_stop(strerror(errno), "fsync");
    bench_end(b, &c, put ? "put" : "get", s->way, variant, bytes);
    bench_raw_close(fd);
}

/* A file of each process, in which its values lie one behind the other. */
static void file_move(struct state *s, bool put, const char *variant)
{
    struct bench *b = s->b;
    char path[BENCH_PATH + 16];
    snprintf(path, sizeof path, "%s.%d", b->raw, b->rank);
    int fd = bench_raw_open(path);
    struct bench_clock c;
    bench_begin(b, &c);
    bench_raw_contig(&s->plan, fd, 0, put);
    if (put && b->options.sync && fsync(fd) != 0) bench_stop(strerror(errno), "fsync");
    bench_end(b, &c, put ? "put" : "get", s->way, variant, s->plan.file_bytes);
    bench_raw_close(fd);
    if (!put && unlink(path) != 0) bench_stop(strerror(errno), path);
}

/* What another interface got is verified; what lies in its file is its own matter, so
 * what was put is only seen when it is got. */
static void forget(struct state *s, bool put)
{
    if (!put && s->b->rep == 0)
        memset(s->plan.memory, 0xa5, (size_t)s->plan.memory_bytes);
}

static void verify(struct state *s, bool put)
{
    if (!put && s->b->rep == 0) bench_check_memory(&s->plan);
}

static void view_move(struct state *s, bool put, const char *variant)
{
    struct bench *b = s->b;
    MPI_File f = bench_view_open(b);
    struct bench_clock c;
    forget(s, put);
    bench_begin(b, &c);
    bench_view_move(&s->plan, f, put);
    bench_end(b, &c, put ? "put" : "get", s->way, variant, s->plan.file_bytes);
    bench_view_close(f, put && b->options.sync);
    if (s->plain) verify(s, put);
}

static void hdf5_move(struct state *s, bool put, const char *variant)
{
    struct bench *b = s->b;
    struct bench_hdf5 *h =
        bench_hdf5_open(b, &s->plan, put && strcmp(variant, "fresh") == 0);
    struct bench_clock c;
    forget(s, put);
    bench_begin(b, &c);
    bench_hdf5_move(&s->plan, h, put);
    if (put && b->options.sync) bench_hdf5_sync(h);
    bench_end(b, &c, put ? "put" : "get", s->way, variant, s->plan.file_bytes);
    bench_hdf5_close(h);
    verify(s, put);
}

static void lib_move(struct state *s, bool put, const char *variant)
{
    if (put)
        lib_put(s, variant);
    else
        lib_get(s, variant);
}

enum { LIB, RUNS, CONTIG, FILES, VIEW, HDF5, WAYS };

static const struct {
    const char *name;
    void (*move)(struct state *s, bool put, const char *variant);
} ways[WAYS] = {[LIB] = {"lib", lib_move},       [RUNS] = {"runs", raw_move},
                [CONTIG] = {"contig", raw_move}, [FILES] = {"files", file_move},
                [VIEW] = {"view", view_move},    [HDF5] = {"hdf5", hdf5_move}};

static void one_way(struct state *s, int way)
{
    s->way = ways[way].name;
    const char *path = way == LIB ? s->b->file : s->b->raw;
    bench_remove(s->b, path);
    bench_fill(&s->plan);
    ways[way].move(s, true, "fresh");
    ways[way].move(s, true, "over");
    ways[way].move(s, false, "warm");
    if (way == LIB && s->b->options.other) ways[way].move(s, false, "other");
    if (way != LIB || !s->b->options.leave) bench_remove(s->b, path);
}

/* The first repetition, through the library first, finds the layout for the others. */
static void repetition(struct state *s, const bool *wanted)
{
    for (int i = 0; i < WAYS; i++) {
        int way = s->b->rep % 2 == 1 ? WAYS - 1 - i : i;
        if (wanted[way]) one_way(s, way);
    }
}

/* Are values in memory those in the file, but for the order of bytes? */
static bool is_plain(const struct bench_plan *p)
{
    for (int i = 0; i < p->nvars; i++)
        if (p->vars[i].type != p->vars[i].mem) return false;
    return true;
}

void bench_data(struct bench *b)
{
    struct state s = {.b = b};
    b->work->plan(b, &s.plan);
    bench_plan_finish(&s.plan);
    bench_need_mpi(
        MPI_Exscan(&s.plan.file_bytes, &s.contig_at, 1, MPI_INT64_T, MPI_SUM, b->comm),
        "MPI_Exscan");
    if (b->rank == 0) s.contig_at = 0;

    bool few = bench_sum(b, s.plan.nruns > MOST_RUNS) == 0;
    bool small = bench_sum(b, s.plan.memory_bytes > INT32_MAX) == 0;
    bool raw = !b->options.alone;
    bool several = bench_sum(b, s.plan.nruns > 1) > 0; /* else contig is what runs is */
    bool wanted[WAYS] = {[LIB] = true,
                         [RUNS] = raw,
                         [CONTIG] = raw && several,
                         [FILES] = raw && b->options.files,
                         [VIEW] = b->options.view && few && small,
                         [HDF5] = b->options.hdf5 && bench_hdf5_can(b, &s.plan)};
    s.plain = is_plain(&s.plan);
    if (b->options.other) bench_plan_other(b, &s.plan, &s.other);
    for (b->rep = 0; bench_again(b); b->rep++)
        repetition(&s, wanted);
    bench_plan_free(&s.plan);
    bench_plan_free(&s.other);
}

void bench_leave(struct bench *b)
{
    struct bench_plan p = {0};
    if (b->work->plan == NULL) {
        bench_stop("it has no values", b->work->name);
        return;
    }
    b->work->plan(b, &p);
    bench_plan_finish(&p);
    bench_fill(&p);
    int ncid = bench_lib_create(b, &p);
    bench_lib_layout(&p, ncid);
    bench_lib_begin(&p, ncid, true);
    bench_lib_move(&p, ncid, true);
    bench_lib_close(&p, ncid, true);
    bench_plan_free(&p);
}
