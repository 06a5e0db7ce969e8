/* A data workload: each way puts into a fresh file, puts over it, and gets. Library
 * and raw ways take turns at going first. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { MOST_RUNS = 4000000 }; /* a process; more take minutes one by one */

struct state {
    struct bench *b;
    struct bench_plan plan;
    int64_t contig_at; /* where this process writes in the way `contig` */
    bool known;        /* the file's layout is */
    const char *way;   /* of those below */
};

static void lib_put(struct state *s, const char *variant)
{
    struct bench *b = s->b;
    struct bench_plan *p = &s->plan;
    if (strcmp(variant, "fresh") == 0) {
        int ncid = bench_lib_create(b, p);
        bench_lib_layout(p, ncid);
        bench_need(ncmpi_close(ncid), "ncmpi_close");
    }
    int ncid = bench_lib_open(b, p, true);
    struct bench_clock c;
    bench_begin(b, &c);
    bench_lib_move(p, ncid, true);
    if (b->options.sync) bench_need(ncmpi_sync(ncid), "ncmpi_sync");
    bench_end(b, &c, "put", s->way, variant, p->file_bytes);
    bench_lib_close(p, ncid, true);
    if (b->rep == 0) bench_check_file(b, p);
}

static void lib_get(struct state *s)
{
    struct bench *b = s->b;
    struct bench_plan *p = &s->plan;
    if (b->rep == 0) memset(p->memory, 0xa5, (size_t)p->memory_bytes);
    int ncid = bench_lib_open(b, p, false);
    struct bench_clock c;
    bench_begin(b, &c);
    bench_lib_move(p, ncid, false);
    bench_end(b, &c, "get", s->way, "warm", p->file_bytes);
    bench_lib_close(p, ncid, false);
    if (b->rep == 0) bench_check_memory(p);
}

static void raw_move(struct state *s, bool put, const char *variant)
{
    struct bench *b = s->b;
    int fd = bench_raw_open(b->raw);
    struct bench_clock c;
    bench_begin(b, &c);
    if (strcmp(s->way, "runs") == 0) {
        bench_raw_runs(&s->plan, fd, put);
    } else {
        bench_raw_contig(&s->plan, fd, s->contig_at, put);
    }
    if (put && b->options.sync && fsync(fd) != 0) bench_stop(strerror(errno), "fsync");
    bench_end(b, &c, put ? "put" : "get", s->way, variant, s->plan.file_bytes);
    bench_raw_close(fd);
}

static void one_way(struct state *s, const char *way)
{
    bool lib = strcmp(way, "lib") == 0;
    s->way = way;
    bench_remove(s->b, lib ? s->b->file : s->b->raw);
    bench_fill(&s->plan);
    if (lib) {
        lib_put(s, "fresh");
        lib_put(s, "over");
        lib_get(s);
    } else {
        raw_move(s, true, "fresh");
        raw_move(s, true, "over");
        raw_move(s, false, "warm");
    }
    bench_remove(s->b, lib ? s->b->file : s->b->raw);
}

/* The first repetition, through the library first, finds the layout for the others. */
static void repetition(struct state *s, bool runs, bool contig)
{
    bool back = s->b->rep % 2 == 1;
    if (!back) one_way(s, "lib");
    if (runs && !back) one_way(s, "runs");
    if (contig) one_way(s, "contig");
    if (runs && back) one_way(s, "runs");
    if (back) one_way(s, "lib");
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

    bool contig = bench_sum(b, s.plan.nruns > 1) > 0; /* else it is what `runs` is */
    bool runs = bench_sum(b, s.plan.nruns > MOST_RUNS) == 0;
    for (b->rep = 0; b->rep <= b->options.reps; b->rep++)
        repetition(&s, runs, contig);
    bench_plan_free(&s.plan);
}
