/* Declares the parts of the benchmark program.
 *
 * A benchmark is a row of the table in bench_table.c. Most rows are plans. A plan lists
 * variables, and the parts of them that this process reads and writes. The program runs a
 * plan in several ways:
 *
 *     lib      through the library
 *     runs     one pwrite for each contiguous run of bytes
 *     contig   the same number of bytes in one contiguous extent per process
 *     files    the same, with a separate file for each process (optional)
 *     view     through MPI-IO with a file view (optional)
 *     hdf5     through parallel HDF5 (optional)
 *
 * All benchmarks use the same options, clock and output: see bench_main.c and
 * bench_clock.c. The program uses only pnetcdf.h and MPI, so it links with any library
 * that provides them; BENCH_NCMPI adds the benchmarks that need functions of this
 * library. Any error terminates the program. */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench_count.h"

enum { BENCH_DIMS = 6, BENCH_PATH = 1024 };

/* Values of the options that all benchmarks share. The letters are in bench_main.c. */
struct bench_options {
    const char *dir;  /* directory of the files */
    const char *file; /* path of a file that is written once and kept; NULL if none */
    const char *maps; /* directory of real decompositions; NULL to generate them */
    int64_t bytes;    /* approximate bytes per process and repetition */
    int64_t most;     /* maximum number of names, segments or calls */
    int64_t reps;     /* number of repetitions, not counting the unreported warm-up */
    int64_t seconds;  /* time after which no repetition is started; 0 for no limit */
    bool alone;       /* skip the raw ways and measure only the library */
    bool keep;        /* put values right after enddef, without reopening the file */
    bool sync;        /* include the sync to the device in the time of a put */
    bool view;        /* also measure MPI-IO with a file view */
    bool hdf5;        /* also measure parallel HDF5 */
    bool other;       /* also read the values with a different decomposition */
    bool files;       /* also measure the raw ways with one file per process */
    bool leave;       /* do not delete the dataset, so that it can be inspected */
    bool stats;       /* also report the library's statistics */
    bool spoil;       /* corrupt the file before verification, which must then fail */
    bool list, versions, help;
};

struct bench {
    struct bench_options options;
    int nwords;
    char **words; /* names of benchmarks, and their options: KEY=VALUE */
    const struct bench_row *row;
    MPI_Comm comm;
    int rank, nprocs;
    int rep;      /* 0 for the warm-up, which is verified but not reported */
    double began; /* start time of the benchmark */
    char file[BENCH_PATH];
    char raw[BENCH_PATH];
};

struct bench_plan;

/* An option for a single benchmark: KEY=VALUE on the command line. */
struct bench_option {
    const char *key, *value, *about; /* `value` is the default */
};

struct bench_row {
    const char *name;
    const char *about;
    void (*plan)(struct bench *b, struct bench_plan *p); /* used by data workloads */
    void (*run)(struct bench *b); /* used by all other rows; both are NULL if the row
                                   * needs ncmpi */
    int64_t arg;
    const struct bench_option *options; /* terminated by a NULL key; NULL if none */
    bool named;                         /* the row runs only if it is named */
};

extern const struct bench_row bench_table[]; /* terminated by a NULL name */

/* bench_main.c. These functions terminate the program if an error occurs. */
void bench_need(int err, const char *what);     /* err: an NC_ code */
void bench_need_mpi(int err, const char *what); /* err: an MPI code */
int bench_node_procs(struct bench *b); /* number of processes on this node; collective */
void bench_need_system(bool good, const char *what); /* reports errno */
void bench_stop(const char *what, const char *of);
const char *bench_option(const struct bench *b, const char *key);
double bench_number(const char *text);
bool bench_listed(const char *list, const char *name);   /* list: separated by commas */
int64_t bench_at_most(const struct bench *b, int64_t n); /* returns n, or the limit set by
                                                          * -n if that is smaller */
void *bench_alloc(int64_t size);
void *bench_grow(void *old, int64_t count,
                 int64_t size); /* makes space for another element */

/* bench_clock.c: measures time and prints it. The measured time begins when the first
 * process calls bench_begin, and ends when the last one calls bench_end. Alternatively,
 * each process adds up several intervals, and bench_report prints the slowest process's
 * sum. */
struct bench_clock {
    double wall, cpu; /* seconds */
    double began;
    uint64_t counts[BENCH_COUNTS];
};

void bench_begin(struct bench *b, struct bench_clock *c);
void bench_end(struct bench *b, struct bench_clock *c, const char *op, const char *way,
               const char *variant, int64_t bytes);
void bench_clock_start(struct bench_clock *c);
void bench_clock_stop(struct bench_clock *c);
void bench_report(struct bench *b, const struct bench_clock *c, const char *op,
                  const char *way, const char *variant, int64_t bytes);
/* Prints a line: the kind, the benchmark's name, op, way and variant, the number of
 * processes, and the values, separated by tabs. Prints nothing in the warm-up. */
void bench_print(const struct bench *b, const char *kind, const char *op, const char *way,
                 const char *variant, const char *values, ...)
    __attribute__((format(printf, 6, 7)));
int64_t bench_sum(struct bench *b, int64_t value);
double bench_most(struct bench *b, double value);
bool bench_again(struct bench *b); /* whether to run repetition b->rep */
void bench_remove(struct bench *b, const char *path);

/* bench_stats.c: reports how the library's statistics changed between two readings. */
enum { BENCH_STATS = 64, BENCH_STAT_NAME = 48 };
struct bench_stats {
    int n;
    char names[BENCH_STATS][BENCH_STAT_NAME];
    int64_t values[BENCH_STATS];
};
MPI_Info bench_stats_hints(const struct bench *b);
int64_t bench_stat(int ncid,
                   const char *key); /* 0 if the library has no such statistic */
void bench_stats_read(const struct bench *b, int ncid, struct bench_stats *s);
void bench_stats_report(struct bench *b, int ncid, const struct bench_stats *before,
                        const char *op, const char *variant);

/* bench_plan.c: builds plans. */
enum bench_call { BENCH_BLOCKING, BENCH_NONBLOCKING, BENCH_BUFFERED, BENCH_INDEPENDENT };

struct bench_var {
    nc_type type; /* in the file */
    nc_type mem;  /* in memory */
    int ndims;
    int dims[BENCH_DIMS];
    MPI_Offset shape[BENCH_DIMS]; /* 0 for the record dimension */
    bool record;
    MPI_Offset begin; /* known once the file exists, as is plan->recsize */
};

/* One data call. It accesses one hyperslab, or several with varn. */
struct bench_piece {
    int var;
    bool varn;
    int64_t nsegs;
    MPI_Offset *start, *count; /* nsegs * ndims elements */
    MPI_Offset **starts, **counts;
    MPI_Offset stride[BENCH_DIMS]; /* all 0 if contiguous */
    int ghost; /* number of ghost cells on each side of the last three dimensions */
    int64_t nelems;
    unsigned char *buf;
    MPI_Offset nbuf; /* number of items of `type`, as passed to the library */
    MPI_Datatype type;
};

struct bench_plan {
    enum bench_call call;
    int64_t every; /* nonblocking calls between waits; 0 for a single wait */
    int ndims;
    MPI_Offset *dims; /* 0 for the record dimension */
    int nvars;
    struct bench_var *vars;
    int64_t npieces;
    struct bench_piece *pieces;
    int64_t file_bytes; /* bytes that this process accesses in the file */
    int64_t nruns;
    int64_t contig_at;     /* offset at which this process writes with `contig` */
    bool chunked;          /* HDF5: chunks have the shape of the first piece */
    bool deflate;          /* HDF5: chunks are shuffled and deflated at level 1 */
    unsigned char *memory; /* buffers of all pieces, one after the other */
    int64_t memory_bytes;
    MPI_Offset recsize;
};

int bench_dim(struct bench_plan *p, MPI_Offset length);
int bench_var(struct bench_plan *p, nc_type type, int ndims, const int dims[]);
struct bench_piece *bench_piece(struct bench_plan *p, int var, int64_t nsegs);
void bench_piece_slab(struct bench_plan *p, int var, const MPI_Offset start[],
                      const MPI_Offset count[]);
void bench_plan_finish(struct bench *b, struct bench_plan *p);
void bench_plan_free(struct bench_plan *p);
/* bench_other.c: plans reads of every variable that plan `p` covers completely, using a
 * different decomposition. Collective. */
void bench_plan_other(struct bench *b, const struct bench_plan *p, struct bench_plan *q);
/* Divides n into nparts nearly equal parts. Returns the start of one part and stores its
 * length in *count. */
MPI_Offset bench_part(MPI_Offset n, int nparts, int part, MPI_Offset *count);
/* Arranges the processes in a grid with ndims (at most 3) dimensions and computes this
 * process's coordinates. */
void bench_grid(struct bench *b, int ndims, int grid[], int place[]);
uint64_t bench_hash(uint64_t x);

/* bench_values.c: computes the value of element `index` of a variable. The value does not
 * depend on the process that writes it. */
int bench_type_size(nc_type type);
MPI_Datatype bench_type_mpi(nc_type type);
void bench_values(void *out, nc_type type, const struct bench_plan *p, int var,
                  int64_t index, int64_t n);
void bench_swap(void *values, nc_type type, int64_t n);

/* bench_runs.c: a run is n elements that are contiguous in the file and in memory. */
struct bench_run {
    const struct bench_piece *piece;
    int64_t index; /* index of the first element in the variable */
    int64_t mem;   /* index of the first element in the piece's buffer */
    int64_t n;
};
typedef void bench_visit(const struct bench_plan *p, const struct bench_run *run,
                         void *arg);
void bench_runs(const struct bench_plan *p, bench_visit *visit, void *arg);
int64_t bench_offset(const struct bench_plan *p, const struct bench_run *run);
void bench_fill(const struct bench_plan *p);
void bench_check_memory(const struct bench_plan *p);
void bench_check_file(struct bench *b, const struct bench_plan *p);

/* A way to transfer a plan's data. `lib` uses the file b->file, and all others b->raw. */
enum bench_step { BENCH_FRESH, BENCH_OVER, BENCH_GET };
struct bench_handle {
    int id;     /* id of a dataset, or a file descriptor */
    int64_t at; /* raw ways: file offset of contiguous data */
    MPI_File file;
    struct bench_hdf5 *hdf5;
};
struct bench_way {
    const char *name;
    bool exact; /* values that were put can be verified by a get */
    bool (*can)(struct bench *b, const struct bench_plan *p); /* NULL if always */
    void (*open)(struct bench *b, struct bench_plan *p, enum bench_step step,
                 struct bench_handle *h);
    /* Returns the number of bytes transferred. */
    int64_t (*move)(const struct bench_plan *p, struct bench_handle h, bool put);
    void (*sync)(struct bench_handle h);
    void (*close)(struct bench *b, const struct bench_plan *p, struct bench_handle h,
                  enum bench_step step);
};
extern const struct bench_way bench_lib, bench_raw, bench_contig, bench_files, bench_view,
    bench_hdf5; /* raw ways are in bench_raw.c; each other way has its own file */

/* bench_lib.c: parts of the way `lib`. */
int bench_lib_create(struct bench *b, struct bench_plan *p);
int bench_lib_open(struct bench *b, const struct bench_plan *p, bool writing);
void bench_lib_layout(struct bench_plan *p, int ncid);
void bench_lib_move(const struct bench_plan *p, int ncid, bool put);

/* bench_data.c: runs a plan in every way, or writes its values once to a file and keeps
 * the file. */
void bench_data(struct bench *b);
void bench_leave(struct bench *b);

/* The functions that the table uses, by source file. */
void bench_contig_1d(struct bench *b, struct bench_plan *p);
void bench_contig_3d(struct bench *b, struct bench_plan *p);
void bench_slices(struct bench *b, struct bench_plan *p);
void bench_block_3d(struct bench *b, struct bench_plan *p);
void bench_ghost_3d(struct bench *b, struct bench_plan *p);
void bench_columns(struct bench *b, struct bench_plan *p);
void bench_interleaved(struct bench *b, struct bench_plan *p);
void bench_strided(struct bench *b, struct bench_plan *p);
void bench_convert(struct bench *b, struct bench_plan *p);
void bench_history(struct bench *b, struct bench_plan *p);
void bench_append(struct bench *b, struct bench_plan *p);
void bench_small(struct bench *b, struct bench_plan *p);
void bench_mixed(struct bench *b, struct bench_plan *p);
void bench_unstructured(struct bench *b, struct bench_plan *p);
void bench_e3sm(struct bench *b, struct bench_plan *p);
void bench_flash(struct bench *b, struct bench_plan *p);
void bench_wrf(struct bench *b, struct bench_plan *p);
void bench_meta(struct bench *b);
void bench_openclose(struct bench *b);
void bench_redef(struct bench *b);
void bench_burst(struct bench *b);
void bench_compress(struct bench *b);
void bench_stage(struct bench *b);
void bench_requests(struct bench *b);
void bench_conv(struct bench *b);
void bench_region(struct bench *b);
void bench_cdf(struct bench *b);
extern const struct bench_option bench_redef_options[], bench_burst_options[],
    bench_compress_options[], bench_stage_options[], bench_conv_options[];

#endif
