/* bench [options] [WORKLOAD...]: times the workloads of the table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

void bench_stop(const char *what, const char *of)
{
    fprintf(stderr, "bench: %s: %s\n", of, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void bench_need(int err, const char *what)
{
    if (err != NC_NOERR) bench_stop(ncmpi_strerror(err), what);
}

void bench_need_mpi(int err, const char *what)
{
    if (err != MPI_SUCCESS) bench_stop("MPI failed", what);
}

void *bench_alloc(int64_t size)
{
    void *p = malloc(size > 0 ? (size_t)size : 1);
    if (p == NULL) bench_stop("out of memory", "malloc");
    return p;
}

/* Doubles at every power of two, so that no capacity needs remembering. */
void *bench_grow(void *old, int64_t count, int64_t size)
{
    if ((count & (count - 1)) != 0) return old;
    void *p = realloc(old, (size_t)((count > 0 ? 2 * count : 1) * size));
    if (p == NULL) bench_stop("out of memory", "realloc");
    return p;
}

int64_t bench_at_most(const struct bench *b, int64_t n)
{
    return n < b->options.most ? n : b->options.most;
}

static void usage(FILE *out)
{
    fputs("usage: bench [options] [WORKLOAD...]\n"
          "  -d DIR    where the files go (default .)\n"
          "  -b MIB    about what a process moves in one repetition (default 64)\n"
          "  -n N      at most N names, segments or calls (default 1000000)\n"
          "  -r N      repetitions besides the warm-up (default 5)\n"
          "  -t SEC    a workload begins no repetition after so many seconds\n"
          "  -m DIR    folder with the model's decompositions, map_*_case_16p.nc\n"
          "  -o FILE   the values are put once, into FILE, and nothing is timed\n"
          "  -k        fresh files are not closed between definitions and values\n"
          "  -y        a put includes writing to the device (sync)\n"
          "  -a        the library alone, no system calls beside\n"
          "  -i        also by MPI-IO with a file view\n"
          "  -5        also by parallel HDF5 (make bench-hdf5)\n"
          "  -f        also by system calls to a file of each process\n"
          "  -g        what was put is also got by another decomposition\n"
          "  -e        the last dataset stays where it is\n"
          "  -c        also what the library counts, if it does\n"
          "  -x        damage each file before it is verified (must fail)\n"
          "  -l        list the workloads\n"
          "  -v        library and MPI in use\n",
          out);
}

static void list(void)
{
    for (const struct bench_workload *w = bench_table; w->name != NULL; w++)
        printf("%-22s %s\n", w->name, w->about);
}

static void about(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    bench_need_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    text[strcspn(text, "\n,")] = '\0';
    printf("%s; %s\n", ncmpi_inq_libvers(), text);
}

static int64_t number(const char *text, double times)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || value < 0) bench_stop("not a number", text);
    return (int64_t)(value * times);
}

/* Answers false if there is nothing left to do. */
static bool parse(struct bench *b, int argc, char **argv)
{
    struct bench_options *o = &b->options;
    *o =
        (struct bench_options){.dir = ".", .bytes = 64 << 20, .most = 1000000, .reps = 5};
    int c;
    while ((c = getopt(argc, argv, "kd:b:n:r:t:m:o:yai5fgecxlvh")) != -1) {
        switch (c) {
        case 'd':
            o->dir = optarg;
            break;
        case 'b':
            o->bytes = number(optarg, 1 << 20);
            break;
        case 'n':
            o->most = number(optarg, 1);
            break;
        case 'r':
            o->reps = (int)number(optarg, 1);
            break;
        case 't':
            o->seconds = (double)number(optarg, 1);
            break;
        case 'm':
            o->maps = optarg;
            break;
        case 'o':
            o->file = optarg;
            break;
        case 'k':
            o->keep = true;
            break;
        case 'y':
            o->sync = true;
            break;
        case 'a':
            o->alone = true;
            break;
        case 'i':
            o->view = true;
            break;
        case '5':
            o->hdf5 = true;
            break;
        case 'f':
            o->files = true;
            break;
        case 'e':
            o->leave = true;
            break;
        case 'g':
            o->other = true;
            break;
        case 'c':
            o->stats = true;
            break;
        case 'x':
            o->spoil = true;
            break;
        case 'l':
            if (b->rank == 0) list();
            return false;
        case 'v':
            if (b->rank == 0) about();
            return false;
        case 'h':
            if (b->rank == 0) usage(stdout);
            return false;
        default:
            if (b->rank == 0) usage(stderr);
            bench_stop("bad option", "bench");
        }
    }
    return true;
}

/* All processes use process 0's file names. */
static void name_files(struct bench *b)
{
    int pid = (int)getpid();
    bench_need_mpi(MPI_Bcast(&pid, 1, MPI_INT, 0, b->comm), "MPI_Bcast");
    const char *own = b->options.file;
    int n = own == NULL
                ? snprintf(b->file, sizeof b->file, "%s/bench-%d.nc", b->options.dir, pid)
                : snprintf(b->file, sizeof b->file, "%s", own);
    snprintf(b->raw, sizeof b->raw, "%s/bench-%d.raw", b->options.dir, pid);
    if (n >= (int)sizeof b->file) bench_stop("path too long", b->options.dir);
}

static void run(struct bench *b, const struct bench_workload *w)
{
    b->work = w;
    if (b->options.file != NULL) {
        bench_leave(b);
        return;
    }
    if (w->run != NULL) {
        w->run(b);
    } else {
        bench_data(b);
    }
    if (!b->options.leave) bench_remove(b, b->file);
    bench_remove(b, b->raw);
}

static const struct bench_workload *find(const char *name)
{
    const struct bench_workload *w = bench_table;
    while (w->name != NULL && strcmp(w->name, name) != 0)
        w++;
    if (w->name == NULL) bench_stop("no such workload (bench -l lists them)", name);
    return w;
}

int main(int argc, char **argv)
{
    struct bench b = {.comm = MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(b.comm, &b.rank);
    MPI_Comm_size(b.comm, &b.nprocs);
    if (parse(&b, argc, argv)) {
        name_files(&b);
        if (b.options.file != NULL && optind != argc - 1)
            bench_stop("takes one workload", "-o");
        for (int i = optind; i < argc; i++)
            run(&b, find(argv[i]));
        for (const struct bench_workload *w = bench_table; optind == argc && w->name; w++)
            run(&b, w);
    }
    MPI_Finalize();
    return 0;
}
