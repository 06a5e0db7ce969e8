/* Measures how much time the burst buffer hides. Each output pattern is written in
 * several ways: directly, logged and drained at the close, logged and drained
 * immediately, and logged with deferred closes. For comparison, the same bytes are also
 * written with plain pwrite calls. Prints, for each gap and way, the time in puts, the
 * visible time (in the library from enddef to close, or from create to close if each step
 * creates a file), the total time, and the maximum size of the log files.
 *
 * A gap is the time between two steps. Its unit is the time that the library's thread
 * needs to drain a step. If there is no thread, the unit is the time needed to write a
 * step directly. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/* Completes deferred closes. Weak, because other libraries do not provide it. */
int ncmpix_wait_closed(const char *path) __attribute__((weak));

const struct bench_option bench_burst_options[] = {
    {"ways", "raw,direct,close,immediate,deferred", "how to write"},
    {"gaps", "0,0.5,1,1.5,2", "gaps to measure, for checkpoints"},
    {"scale", "1", "factor for the number of puts, or for the bytes of a single put"},
    {"log", ".", "directory of the logs"},
    {"compute", "0", "1: processes compute in a gap instead of sleeping"},
    {NULL, NULL, NULL},
};

enum { MOST_VARS = 64 };

/* An output pattern. In each step, each process writes `puts` consecutive pieces of each
 * variable. */
struct pattern {
    int steps, vars, puts;
    int64_t bytes; /* bytes per piece */
    bool collective, records, post, gaps;
    bool files; /* true if each step creates a file */
};

/* The argument in the table is an index into this array. */
static const struct pattern patterns[] = {
    {1, 1, 40000, 64, false, false, false, false, false},
    {1, 1, 40000, 512, false, false, false, false, false},
    {1, 1, 10000, 4096, false, false, false, false, false},
    {1, 1, 16, 4 << 20, false, false, false, false, false},
    {10, 20, 1, 128 << 10, true, true, false, false, false},
    {10, 20, 1, 128 << 10, true, true, true, false, false},
    {1, 24, 1, 2560 << 10, true, false, false, false, false},
    {4, 8, 1, 4 << 20, true, false, false, true, false},
    {10, 8, 1, 4 << 20, true, false, false, true, true},
};

enum way { RAW, DIRECT, CLOSE, IMMEDIATE, DEFERRED, WAYS };
static const char *const way_names[WAYS] = {"raw", "direct", "close", "immediate",
                                            "deferred"};

/* One run of a pattern in one way. */
struct run {
    struct bench *b;
    const struct pattern *p;
    enum way way;
    double gap; /* seconds */
    double *values;
    int id;     /* id of the open dataset, or file descriptor */
    int64_t at; /* current offset in the raw file */
    struct bench_clock put, visible, total;
    double drained; /* seconds that the drain thread worked */
    double space;   /* largest size of the logs in bytes, on process 0 */
};

static int64_t elements(const struct pattern *p)
{
    return p->bytes / 8;
}

/* Returns a value that is unique to the piece. It is stored in the piece's first and last
 * elements. */
static double mark(const struct run *r, int step, int var, int put)
{
    const struct pattern *p = r->p;
    return 1 + put + p->puts * (var + p->vars * (step + p->steps * (double)r->b->rank));
}

/* Computes the position of a piece in the file. A pattern with one file per step has only
 * one row. */
static void locate(const struct run *r, int step, int put, MPI_Offset start[2])
{
    start[0] = r->p->files ? 0 : step;
    start[1] = elements(r->p) * (r->b->rank * (int64_t)r->p->puts + put);
}

static void name_file(const struct run *r, int step, char path[BENCH_PATH])
{
    const char *dir = r->way == RAW ? bench_option(r->b, "log") : r->b->options.dir;
    int rank = r->way == RAW ? r->b->rank : 0;
    snprintf(path, BENCH_PATH, "%s/bench-burst.%d.%d%s", dir, r->p->files ? step : 0,
             rank, r->way == RAW ? ".raw" : ".nc");
}

static MPI_Info make_info(const struct run *r)
{
    const char *const hints[][2] = {
        {"nc_burst_buf", "enable"},
        {"nc_burst_buf_dirname", bench_option(r->b, "log")},
        {"nc_statistics", "enable"},
        {"nc_burst_buf_flush", r->way == IMMEDIATE ? "flush_immediate" : "flush_onclose"},
        {"nc_deferred_close", r->way == DEFERRED ? "enable" : "disable"},
    };
    MPI_Info info;
    bench_need_mpi(MPI_Info_create(&info), "MPI_Info_create");
    for (int i = 0; i < 5 && r->way != DIRECT; i++)
        bench_need_mpi(MPI_Info_set(info, hints[i][0], hints[i][1]), hints[i][0]);
    return info;
}

static void create(struct run *r, const char *path)
{
    const struct pattern *p = r->p;
    MPI_Info info = make_info(r);
    int dims[2], var;
    char name[16];
    bench_need(ncmpi_create(r->b->comm, path, NC_CLOBBER | NC_64BIT_DATA, info, &r->id),
               path);
    MPI_Info_free(&info);
    MPI_Offset rows = p->records ? NC_UNLIMITED : p->files ? 1 : p->steps;
    bench_need(ncmpi_def_dim(r->id, "t", rows, &dims[0]), "def_dim");
    bench_need(ncmpi_def_dim(r->id, "x", elements(p) * p->puts * r->b->nprocs, &dims[1]),
               "def_dim");
    for (int i = 0; i < p->vars; i++) {
        snprintf(name, sizeof name, "v%d", i);
        bench_need(ncmpi_def_var(r->id, name, NC_DOUBLE, 2, dims, &var), "def_var");
    }
}

static void put_piece(struct run *r, int var, const MPI_Offset start[2], const double *v,
                      int *id)
{
    const struct pattern *p = r->p;
    MPI_Offset count[2] = {1, elements(p)};
    if (r->way == RAW) {
        ssize_t done = pwrite(r->id, v, (size_t)p->bytes, (off_t)r->at);
        bench_need_system(done == (ssize_t)p->bytes, "pwrite");
        r->at += p->bytes;
        return;
    }
    bench_need(p->post         ? ncmpi_iput_vara_double(r->id, var, start, count, v, id)
               : p->collective ? ncmpi_put_vara_double_all(r->id, var, start, count, v)
                               : ncmpi_put_vara_double(r->id, var, start, count, v),
               "put");
}

static void put_step(struct run *r, int step)
{
    const struct pattern *p = r->p;
    int ids[MOST_VARS], statuses[MOST_VARS];
    bench_clock_start(&r->put);
    for (int var = 0; var < p->vars; var++)
        for (int i = 0; i < p->puts; i++) {
            MPI_Offset start[2];
            double *v = r->values + (p->post ? elements(p) * var : 0);
            locate(r, step, i, start);
            v[0] = v[elements(p) - 1] = mark(r, step, var, i);
            put_piece(r, var, start, v, &ids[var]);
        }
    if (p->post && r->way != RAW)
        bench_need(ncmpi_wait_all(r->id, p->vars, ids, statuses), "wait_all");
    bench_clock_stop(&r->put);
}

/* Verifies the values of `steps` steps, starting with step `from`. */
static void verify(struct run *r, const char *path, int from, int steps)
{
    const struct pattern *p = r->p;
    int ncid;
    bench_need(ncmpi_open(r->b->comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), path);
    bench_need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int step = from; step < from + steps; step++)
        for (int var = 0; var < p->vars; var++)
            for (int i = 0; i < p->puts; i += 1 + p->puts / 7) {
                MPI_Offset at[2];
                double first, last, m = mark(r, step, var, i);
                locate(r, step, i, at);
                bench_need(ncmpi_get_var1_double(ncid, var, at, &first), "get");
                at[1] += elements(p) - 1;
                bench_need(ncmpi_get_var1_double(ncid, var, at, &last), "get");
                if (first != m || last != m) bench_stop("WRONG VALUES READ", path);
            }
    bench_need(ncmpi_close(ncid), "close");
}

/* Updates the largest number of bytes that files have occupied on the log's device. */
static void note_space(struct run *r)
{
    const char *dir = bench_option(r->b, "log");
    double bytes = 0;
    struct dirent *e;
    bench_need_mpi(MPI_Barrier(r->b->comm), "MPI_Barrier");
    DIR *d = r->b->rank == 0 && r->way != DIRECT ? opendir(dir) : NULL;
    bench_need_system(d != NULL || r->b->rank > 0 || r->way == DIRECT, dir);
    while (d != NULL && (e = readdir(d)) != NULL) {
        struct stat st;
        if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            bytes += (double)st.st_blocks * 512;
    }
    if (d != NULL) closedir(d);
    if (bytes > r->space) r->space = bytes;
    bench_need_mpi(MPI_Barrier(r->b->comm), "MPI_Barrier");
}

/* Waits between two steps. */
static void wait_gap(struct run *r)
{
    struct timespec t = {(time_t)r->gap, (long)((r->gap - (double)(time_t)r->gap) * 1e9)};
    double until = MPI_Wtime() + r->gap;
    if (r->gap > 0 && strcmp(bench_option(r->b, "compute"), "0") == 0)
        nanosleep(&t, NULL);
    while (MPI_Wtime() < until)
        continue;
}

/* Starts measuring the visible time after the file is created, unless each step creates a
 * file. */
static void open_file(struct run *r, const char *path)
{
    const struct pattern *p = r->p;
    if (r->way != RAW && !p->files) create(r, path);
    bench_need_mpi(MPI_Barrier(r->b->comm), "MPI_Barrier");
    if (!p->files) bench_clock_start(&r->total);
    bench_clock_start(&r->visible);
    if (r->way == RAW) {
        r->id = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        bench_need_system(r->id >= 0, path);
        r->at = 0;
    } else {
        if (p->files) create(r, path);
        bench_need(ncmpi_enddef(r->id), "enddef");
        if (!p->collective) bench_need(ncmpi_begin_indep_data(r->id), "begin_indep_data");
    }
    bench_clock_stop(&r->visible);
}

/* Removes the raw file at the end, as a log is removed when its dataset is closed. */
static void close_file(struct run *r, const char *path)
{
    bench_clock_start(&r->visible);
    if (r->way == RAW) {
        bench_need_system(close(r->id) == 0, "close");
        bench_need_system(unlink(path) == 0, path);
    } else {
        if (!r->p->collective) bench_need(ncmpi_end_indep_data(r->id), "end_indep_data");
        bench_need(ncmpi_close(r->id), "close");
    }
    bench_clock_stop(&r->visible);
}

/* Verifies and removes a complete file, outside of the visible time. */
static void drop_file(struct run *r, int step)
{
    char path[BENCH_PATH];
    if (step < 0 || r->way == RAW) return;
    name_file(r, step, path);
    if (r->b->rep == 0) verify(r, path, step, r->p->files ? 1 : r->p->steps);
    bench_need_mpi(MPI_Barrier(r->b->comm), "MPI_Barrier");
    if (r->b->rank == 0) bench_need_system(unlink(path) == 0, path);
}

/* If each step has its own file, the file is closed before the gap, and its values are
 * drained during the gap. `immediate` closes the file after the gap, because its thread
 * drains the open file. A deferred close may complete only in the next step, so files are
 * verified and removed two steps later. */
static void run(struct run *r)
{
    const struct pattern *p = r->p;
    char path[BENCH_PATH];
    if (p->files) bench_clock_start(&r->total);
    for (int step = 0; step < p->steps; step++) {
        bool last = p->files || step == p->steps - 1;
        bool early = !p->files || r->way == IMMEDIATE;
        if (p->files) drop_file(r, step - 2);
        name_file(r, step, path);
        if (p->files || step == 0) open_file(r, path);
        put_step(r, step);
        if (early) wait_gap(r);
        if (last) note_space(r);
        if (last && r->way == IMMEDIATE)
            r->drained += (double)bench_stat(r->id, "nc_stat_burst_hidden_us") / 1e6;
        if (last) close_file(r, path);
        if (last && p->files) note_space(r);
        if (!early) wait_gap(r);
    }
    bench_need_mpi(MPI_Barrier(r->b->comm), "MPI_Barrier");
    bench_clock_start(&r->visible);
    if (r->way == DEFERRED && ncmpix_wait_closed != NULL)
        bench_need(ncmpix_wait_closed(NULL), "wait_closed");
    bench_clock_stop(&r->visible);
    bench_clock_stop(&r->total);
    if (p->files) drop_file(r, p->steps - 2);
    drop_file(r, p->files ? p->steps - 1 : 0);
    r->visible.wall += r->put.wall;
    r->visible.cpu += r->put.cpu;
}

/* Measures all ways. Each round starts with a different one. */
static void measure(struct run *r, const char *gap)
{
    struct bench *b = r->b;
    int64_t bytes = r->p->bytes * r->p->puts * r->p->vars * r->p->steps;
    for (b->rep = 0; bench_again(b); b->rep++)
        for (int i = 0; i < WAYS; i++) {
            enum way way = (enum way)((i + b->rep) % WAYS);
            const char *name = way_names[way];
            if (!bench_listed(bench_option(b, "ways"), name)) continue;
            if (way == DEFERRED && !r->p->files) continue;
            struct run now = *r;
            now.way = way;
            run(&now);
            bench_report(b, &now.put, "put", name, gap, bytes);
            bench_report(b, &now.visible, "visible", name, gap, bytes);
            bench_report(b, &now.total, "total", name, gap, bytes);
            bench_print(b, "count", "put", name, gap, "log_bytes\t%.0f\t%.0f", now.space,
                        now.space);
        }
}

/* Returns the unit of gaps, measured in runs that are not reported. An earlier run
 * absorbs the cost of touching fresh memory. */
static double time_of_a_step(const struct run *r)
{
    struct run first = *r, direct = *r, thread = *r;
    first.way = direct.way = DIRECT;
    thread.way = IMMEDIATE;
    run(&first);
    run(&direct);
    double step = bench_most(r->b, direct.put.wall) / r->p->steps;
    thread.gap = 2 * step;
    run(&thread);
    double most = bench_most(r->b, thread.drained) / r->p->steps;
    return most > 0 ? most : step;
}

void bench_burst(struct bench *b)
{
    struct pattern p = patterns[b->row->arg];
    double scale = bench_number(bench_option(b, "scale"));
    if (p.puts > 1)
        p.puts = (int)(p.puts * scale) + 1;
    else
        p.bytes = ((int64_t)((double)p.bytes * scale) + 7) / 8 * 8;
    int64_t bytes = p.bytes * (p.post ? p.vars : 1);
    struct run r = {.b = b, .p = &p, .values = bench_alloc(bytes)};
    for (int64_t i = 0; i < bytes / 8; i++)
        r.values[i] = (double)i + 0.5;
    b->rep = 0;
    double unit = p.gaps ? time_of_a_step(&r) : 0;
    char list[256], *rest = list;
    snprintf(list, sizeof list, "%s", p.gaps ? bench_option(b, "gaps") : "0");
    for (char *gap; (gap = strtok_r(rest, ",", &rest)) != NULL;) {
        r.gap = bench_number(gap) * unit;
        measure(&r, gap);
    }
    free(r.values);
}
