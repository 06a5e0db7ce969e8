/* What the burst buffer hides: patterns of output written directly, logged and drained at
 * close, logged and drained at once, logged and closed later; and the same bytes by
 * pwrite alone.
 *
 *     burst_bench [-d DIRECTORY] [-l LOG_DIRECTORY] [-n NAME] [-r REPETITIONS]
 *                 [-g "GAP ..."] [-s SCALE] [-w "WAY ..."] [-k] [PATTERN ...]
 *
 * Uses nothing but pnetcdf.h and MPI, and ncmpix_wait_closed where it is linked with
 * that, so that the same source links with any library that offers them. A gap is the
 * time between two steps, in units of the time that a thread of the library takes to
 * drain a step, or, where there is none, of writing it directly; with -k the processes
 * compute in it, else they sleep. A line of output is one measurement: name, pattern,
 * gap, way, processes, bytes of a process, then seconds in puts, in the library (from
 * enddef to close; where each step makes a file, from create to close) and in all, of the
 * slowest process, and the bytes that log files had at most. */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_VARS = 64, MOST_GAPS = 16 };

/* Deferred closes are completed by it; other libraries have none. */
int ncmpix_wait_closed(const char *path) __attribute__((weak));

/* Each step, each process writes `puts` pieces to each variable, one after the other. */
struct pattern {
    const char *name;
    int steps, vars, puts;
    int64_t bytes; /* of a piece */
    bool collective, records, post, gaps;
    bool files; /* each step makes one */
};

static const struct pattern patterns[] = {
    {"small-64", 1, 1, 40000, 64, false, false, false, false, false},
    {"small-512", 1, 1, 40000, 512, false, false, false, false, false},
    {"small-4k", 1, 1, 10000, 4096, false, false, false, false, false},
    {"large", 1, 1, 16, 4 << 20, false, false, false, false, false},
    {"history", 10, 20, 1, 128 << 10, true, true, false, false, false},
    {"history-iput", 10, 20, 1, 128 << 10, true, true, true, false, false},
    {"flash", 1, 24, 1, 2560 << 10, true, false, false, false, false},
    {"checkpoint", 4, 8, 1, 4 << 20, true, false, false, true, false},
    {"checkpoints", 10, 8, 1, 4 << 20, true, false, false, true, true},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

enum way { RAW, DIRECT, CLOSE, IMMEDIATE, DEFERRED, WAYS };
static const char *const way_names[WAYS] = {"raw", "direct", "close", "immediate",
                                            "deferred"};

static struct {
    const char *dir, *log_dir, *name, *ways;
    double gaps[MOST_GAPS];
    int ngaps, repetitions;
    double scale;
    bool compute;
} options = {".", ".", "ours", "raw direct close immediate deferred", {0}, 0,
             5,   1,   false};

static int rank, nprocs;
static double *values;
static double drained; /* seconds that a thread has drained, in the last run */

struct times {
    double put, visible, total, space;
};

static void need(int err, const char *what)
{
    if (err == NC_NOERR) return;
    fprintf(stderr, "burst_bench: %s: %s\n", what, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void need_system(bool good, const char *what)
{
    if (good) return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- pieces ---- */

static int64_t elements(const struct pattern *p)
{
    return p->bytes / 8;
}

/* What tells a piece from all others, in its first and last element. */
static double mark(const struct pattern *p, int step, int var, int put)
{
    return 1 + put + p->puts * (var + p->vars * (step + p->steps * (double)rank));
}

static void *piece(const struct pattern *p, int step, int var, int put)
{
    double *v = values + (p->post ? elements(p) * var : 0);
    v[0] = v[elements(p) - 1] = mark(p, step, var, put);
    return v;
}

/* ---- by system calls ---- */

static void raw_step(const struct pattern *p, int step, int fd, int64_t *at)
{
    for (int var = 0; var < p->vars; var++)
        for (int i = 0; i < p->puts; i++) {
            ssize_t done =
                pwrite(fd, piece(p, step, var, i), (size_t)p->bytes, (off_t)*at);
            need_system(done == (ssize_t)p->bytes, "pwrite");
            *at += p->bytes;
        }
}

/* ---- by the library ---- */

static MPI_Info make_info(enum way way)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (way == DIRECT) return info;
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_burst_buf_dirname", options.log_dir);
    MPI_Info_set(info, "nc_statistics", "enable");
    MPI_Info_set(info, "nc_burst_buf_flush",
                 way == IMMEDIATE ? "flush_immediate" : "flush_onclose");
    MPI_Info_set(info, "nc_deferred_close", way == DEFERRED ? "enable" : "disable");
    return info;
}

static int create(const struct pattern *p, enum way way, const char *path)
{
    MPI_Info info = make_info(way);
    int ncid, dims[2], var;
    char name[16];
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid),
         "create");
    MPI_Info_free(&info);
    MPI_Offset rows = p->files ? 1 : p->steps;
    need(ncmpi_def_dim(ncid, "t", p->records ? NC_UNLIMITED : rows, &dims[0]), "dim");
    need(ncmpi_def_dim(ncid, "x", elements(p) * p->puts * nprocs, &dims[1]), "dim");
    for (int i = 0; i < p->vars; i++) {
        snprintf(name, sizeof name, "v%d", i);
        need(ncmpi_def_var(ncid, name, NC_DOUBLE, 2, dims, &var), "var");
    }
    return ncid;
}

/* Where its values lie in the file. */
static int row_of(const struct pattern *p, int step)
{
    return p->files ? 0 : step;
}

static void put_step(const struct pattern *p, int step, int ncid)
{
    int ids[MOST_VARS], statuses[MOST_VARS], n = 0;
    for (int var = 0; var < p->vars; var++)
        for (int i = 0; i < p->puts; i++) {
            MPI_Offset start[2] = {row_of(p, step),
                                   elements(p) * (rank * (int64_t)p->puts + i)};
            MPI_Offset count[2] = {1, elements(p)};
            double *v = piece(p, step, var, i);
            int err;
            if (p->post)
                err = ncmpi_iput_vara_double(ncid, var, start, count, v, &ids[n++]);
            else if (p->collective)
                err = ncmpi_put_vara_double_all(ncid, var, start, count, v);
            else
                err = ncmpi_put_vara_double(ncid, var, start, count, v);
            need(err, "put");
        }
    if (p->post) need(ncmpi_wait_all(ncid, n, ids, statuses), "wait_all");
}

/* Of this process, by the library's own count; 0 where it has none. */
static double time_drained(int ncid)
{
    char text[64] = "0";
    int there = 0;
    MPI_Info info;
    need(ncmpi_inq_file_info(ncid, &info), "inq_file_info");
    MPI_Info_get(info, "nc_stat_burst_hidden_us", sizeof text - 1, text, &there);
    MPI_Info_free(&info);
    return strtod(text, NULL) / 1e6;
}

/* What was put is what is there, of so many steps from one on. */
static void verify(const struct pattern *p, const char *path, int from, int steps)
{
    int ncid;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int step = from; step < from + steps; step++)
        for (int var = 0; var < p->vars; var++)
            for (int i = 0; i < p->puts; i += 1 + p->puts / 7) {
                MPI_Offset at[2] = {row_of(p, step),
                                    elements(p) * (rank * (int64_t)p->puts + i)};
                double first, last, m = mark(p, step, var, i);
                need(ncmpi_get_var1_double(ncid, var, at, &first), "get");
                at[1] += elements(p) - 1;
                need(ncmpi_get_var1_double(ncid, var, at, &last), "get");
                if (first == m && last == m) continue;
                fprintf(stderr, "burst_bench: %s: wrong values in %s\n", p->name, path);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    need(ncmpi_close(ncid), "close");
}

/* ---- time and space ---- */

/* Files that the device of the log holds now. */
static double log_space(void)
{
    double bytes = 0;
    struct dirent *e;
    DIR *d = opendir(options.log_dir);
    need_system(d != NULL, options.log_dir);
    while (d != NULL && (e = readdir(d)) != NULL) {
        struct stat st;
        if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            bytes += (double)st.st_blocks * 512;
    }
    if (d != NULL) closedir(d);
    return bytes;
}

static void gap(double seconds)
{
    double until = MPI_Wtime() + seconds;
    struct timespec t = {(time_t)seconds,
                         (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (seconds <= 0) return;
    if (!options.compute) nanosleep(&t, NULL);
    while (MPI_Wtime() < until)
        continue;
}

static struct times slowest(struct times t)
{
    struct times all;
    MPI_Allreduce(&t, &all, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static struct times run_raw(const struct pattern *p, double seconds)
{
    struct times t = {0};
    char path[4096];
    int64_t at = 0;
    snprintf(path, sizeof path, "%s/burst_bench.%d.raw", options.log_dir, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    need_system(fd >= 0, path);
    t.visible = MPI_Wtime() - begin;
    for (int step = 0; step < p->steps; step++) {
        double since = MPI_Wtime();
        raw_step(p, step, fd, &at);
        t.put += MPI_Wtime() - since;
        gap(seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) t.space = log_space();
    MPI_Barrier(MPI_COMM_WORLD);
    double since = MPI_Wtime();
    close(fd);
    unlink(path); /* as the log goes when the dataset is closed */
    t.visible += t.put + MPI_Wtime() - since;
    t.total = MPI_Wtime() - begin;
    return slowest(t);
}

static struct times run_library(const struct pattern *p, enum way way, double seconds,
                                bool check)
{
    struct times t = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/burst_bench.nc", options.dir);
    int ncid = create(p, way, path);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), since = begin;
    need(ncmpi_enddef(ncid), "enddef");
    if (!p->collective) need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    t.visible = MPI_Wtime() - since;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < p->steps; step++) {
        since = MPI_Wtime();
        put_step(p, step, ncid);
        t.put += MPI_Wtime() - since;
        gap(seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && way != DIRECT) t.space = log_space();
    drained = way == IMMEDIATE ? time_drained(ncid) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    since = MPI_Wtime();
    if (!p->collective) need(ncmpi_end_indep_data(ncid), "end_indep_data");
    need(ncmpi_close(ncid), "close");
    t.visible += t.put + MPI_Wtime() - since;
    t.total = MPI_Wtime() - begin;
    if (check) verify(p, path, 0, p->steps);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    return slowest(t);
}

/* ---- a file for each step ---- */

static void file_path(enum way way, int step, char *path, size_t size)
{
    if (way == RAW)
        snprintf(path, size, "%s/burst_bench.%d.%d.raw", options.log_dir, step, rank);
    else
        snprintf(path, size, "%s/burst_bench.%d.nc", options.dir, step);
}

/* It goes when it is complete, which nobody measures. */
static void drop_file(const struct pattern *p, enum way way, int step, bool check)
{
    char path[4096];
    if (step < 0 || way == RAW) return;
    file_path(way, step, path, sizeof path);
    if (check) verify(p, path, step, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
}

/* Its values, and what is behind them while they come to the file: the end of a file,
 * then a gap, or the other way round if threads drain an open one. */
static void write_file(const struct pattern *p, enum way way, int step, double seconds,
                       struct times *t)
{
    char path[4096];
    file_path(way, step, path, sizeof path);
    double since = MPI_Wtime();
    int ncid = create(p, way, path);
    need(ncmpi_enddef(ncid), "enddef");
    double before = MPI_Wtime();
    put_step(p, step, ncid);
    double after = MPI_Wtime();
    t->put += after - before;
    t->visible += after - since;
    if (way == IMMEDIATE) {
        gap(seconds);
        drained += time_drained(ncid);
    }
    since = MPI_Wtime();
    need(ncmpi_close(ncid), "close");
    t->visible += MPI_Wtime() - since;
}

/* The same bytes on the log's device; those of the step before go, as its log does. */
static void write_raw(const struct pattern *p, int step, struct times *t)
{
    char path[4096], last[4096];
    int64_t at = 0;
    file_path(RAW, step, path, sizeof path);
    file_path(RAW, step - 1, last, sizeof last);
    double since = MPI_Wtime();
    if (step > 0) unlink(last);
    if (step < p->steps) {
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        need_system(fd >= 0, path);
        double before = MPI_Wtime();
        raw_step(p, step, fd, &at);
        t->put += MPI_Wtime() - before;
        close(fd);
    }
    t->visible += MPI_Wtime() - since;
}

static struct times run_files(const struct pattern *p, enum way way, double seconds,
                              bool check)
{
    struct times t = {0};
    drained = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int step = 0; step < p->steps; step++) {
        drop_file(p, way, step - 2, check);
        MPI_Barrier(MPI_COMM_WORLD);
        if (way == RAW)
            write_raw(p, step, &t);
        else
            write_file(p, way, step, seconds, &t);
        MPI_Barrier(MPI_COMM_WORLD);
        double space = rank == 0 && way != DIRECT ? log_space() : 0;
        if (space > t.space) t.space = space;
        if (way != IMMEDIATE) gap(seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double since = MPI_Wtime();
    if (way == RAW) write_raw(p, p->steps, &t);
    if (way == DEFERRED && ncmpix_wait_closed != NULL)
        need(ncmpix_wait_closed(NULL), "wait_closed");
    if (way != RAW) t.visible += MPI_Wtime() - since;
    t.total = MPI_Wtime() - begin;
    drop_file(p, way, p->steps - 2, check);
    drop_file(p, way, p->steps - 1, check);
    return slowest(t);
}

/* ---- all of it ---- */

static struct times run(const struct pattern *p, enum way way, double seconds, bool check)
{
    if (p->files) return run_files(p, way, seconds, check);
    return way == RAW ? run_raw(p, seconds) : run_library(p, way, seconds, check);
}

static bool asked_for(const char *names, const char *name)
{
    const char *at = strstr(names, name);
    for (size_t n = strlen(name); at != NULL; at = strstr(at + 1, name))
        if ((at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* The ways take turns at going first; the first round is not told. */
static void measure(const struct pattern *p, double part, double seconds)
{
    for (int turn = -1; turn < options.repetitions; turn++)
        for (int i = 0; i < WAYS; i++) {
            enum way way = (enum way)((i + turn + 1) % WAYS);
            if (!asked_for(options.ways, way_names[way])) continue;
            if (way == DEFERRED && !p->files) continue;
            struct times t = run(p, way, seconds, turn < 0);
            if (rank > 0 || turn < 0) continue;
            printf("%s\t%s\t%g\t%s\t%d\t%lld\t%.6f\t%.6f\t%.6f\t%.0f\n", options.name,
                   p->name, part, way_names[way], nprocs,
                   (long long)p->bytes * p->puts * p->vars * p->steps, t.put, t.visible,
                   t.total, t.space);
            fflush(stdout);
        }
}

/* The unit of gaps, from runs of which nothing else is told. The first of all finds no
 * memory that was ever used. */
static double time_of_a_step(const struct pattern *p)
{
    run(p, DIRECT, 0, false);
    double direct = run(p, DIRECT, 0, false).put / p->steps, most = 0;
    run(p, IMMEDIATE, 2 * direct, false);
    MPI_Allreduce(&drained, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most > 0 ? most / p->steps : direct;
}

static void run_pattern(struct pattern p)
{
    p.puts = p.puts > 1 ? (int)(p.puts * options.scale) + 1 : p.puts;
    if (p.files && options.scale < 1)
        p.bytes = ((int64_t)((double)p.bytes * options.scale) / 8 + 1) * 8;
    size_t bytes = (size_t)p.bytes * (p.post ? (size_t)p.vars : 1);
    values = malloc(bytes);
    need_system(values != NULL, "memory");
    for (size_t i = 0; i < bytes / 8; i++)
        values[i] = (double)i + 0.5;
    double unit = p.gaps ? time_of_a_step(&p) : 0;
    for (int i = 0; i < (p.gaps ? options.ngaps : 1); i++) {
        double part = p.gaps ? options.gaps[i] : 0;
        measure(&p, part, part * unit);
    }
    free(values);
}

static void read_gaps(const char *text)
{
    char *end = NULL;
    for (options.ngaps = 0; options.ngaps < MOST_GAPS; text = end) {
        double g = strtod(text, &end);
        if (end == text) return;
        options.gaps[options.ngaps++] = g;
    }
}

static void read_options(int argc, char **argv)
{
    int c;
    read_gaps("0 0.5 1 1.5 2");
    while ((c = getopt(argc, argv, "d:l:n:r:g:s:w:k")) != -1)
        switch (c) {
        case 'd':
            options.dir = optarg;
            break;
        case 'l':
            options.log_dir = optarg;
            break;
        case 'n':
            options.name = optarg;
            break;
        case 'r':
            options.repetitions = (int)strtol(optarg, NULL, 10);
            break;
        case 'g':
            read_gaps(optarg);
            break;
        case 's':
            options.scale = strtod(optarg, NULL);
            break;
        case 'w':
            options.ways = optarg;
            break;
        case 'k':
            options.compute = true;
            break;
        default:
            exit(2);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    read_options(argc, argv);
    for (int i = 0; i < PATTERNS; i++) {
        bool wanted = optind == argc;
        for (int k = optind; k < argc; k++)
            if (strcmp(argv[k], patterns[i].name) == 0) wanted = true;
        if (wanted) run_pattern(patterns[i]);
    }
    MPI_Finalize();
    return 0;
}
