/* bench: the parts of the benchmark program.
 *
 * Most workloads are a plan: variables, and the pieces of them that this process
 * moves. A plan is run through the library (`lib`), by writing the same runs of bytes
 * one by one with pwrite (`runs`), and by writing the same number of bytes in one
 * stretch a process (`contig`); if asked also by MPI-IO with a file view (`view`) and by
 * parallel HDF5 (`hdf5`). Else only pnetcdf.h and MPI are used, so that the program
 * links with any library that offers them. Trouble ends the program. */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench_count.h"

enum { BENCH_DIMS = 5, BENCH_PATH = 1024 };

struct bench_options {
    const char *dir;  /* where the files go */
    const char *file; /* values are put once, into this file, which stays; or NULL */
    const char *maps; /* folder of real decompositions; NULL: generated ones */
    int64_t bytes;    /* about what a process moves in one repetition */
    int64_t most;     /* names, segments, calls: the largest number of them */
    int reps;         /* besides the first one, which is not reported */
    double seconds;   /* a workload begins no repetition later; 0: whenever */
    bool alone;       /* the library only, no raw ways */
    bool keep;        /* who defines a dataset puts its values, without a close between */
    bool sync;        /* a put ends with the bytes on the device */
    bool view;        /* MPI-IO with a file view, too */
    bool hdf5;        /* parallel HDF5, too */
    bool other;       /* what was put is also got by another decomposition */
    bool files;       /* raw, to a file of each process, too */
    bool leave;       /* the dataset stays: for who looks at it afterwards */
    bool stats;       /* also what the library counts */
    bool spoil;       /* damage the file before it is verified: must be noticed */
};

struct bench {
    struct bench_options options;
    const struct bench_workload *work;
    MPI_Comm comm;
    int rank, nprocs;
    int rep;      /* 0: the warm-up, verified and not reported */
    double began; /* the workload, by the clock */
    char file[BENCH_PATH];
    char raw[BENCH_PATH];
};

struct bench_plan;

struct bench_workload {
    const char *name;
    const char *about;
    void (*plan)(struct bench *b, struct bench_plan *p); /* data workloads */
    void (*run)(struct bench *b);                        /* all others */
    int64_t arg;
};

extern const struct bench_workload bench_table[]; /* ends with a NULL name */

/* bench_main.c: no way back from these. */
void bench_need(int err, const char *what);     /* err: an NC_ code */
void bench_need_mpi(int err, const char *what); /* err: an MPI code */
void bench_stop(const char *what, const char *of);
int64_t bench_at_most(const struct bench *b, int64_t n); /* n, or what -n allows */
void *bench_alloc(int64_t size);
void *bench_grow(void *old, int64_t count, int64_t size); /* room for one more */

/* bench_clock.c: what lies between begin and end is timed, from the first process'
 * start to the last one's end, and one line a repetition goes to standard output. */
struct bench_clock {
    double wall, cpu;
    uint64_t counts[BENCH_COUNTS];
};

void bench_begin(struct bench *b, struct bench_clock *c);
void bench_end(struct bench *b, struct bench_clock *c, const char *op, const char *way,
               const char *variant, int64_t bytes);
int64_t bench_sum(struct bench *b, int64_t value);
bool bench_again(struct bench *b); /* one more repetition? The first is b->rep = 0 */
void bench_remove(struct bench *b, const char *path);

/* bench_stats.c: what a dataset's library counts between two reads. */
enum { BENCH_STATS = 64, BENCH_STAT_NAME = 48 };
struct bench_stats {
    int n;
    char names[BENCH_STATS][BENCH_STAT_NAME];
    int64_t values[BENCH_STATS];
};
MPI_Info bench_stats_hints(const struct bench *b);
void bench_stats_read(const struct bench *b, int ncid, struct bench_stats *s);
void bench_stats_report(struct bench *b, int ncid, const struct bench_stats *before,
                        const char *op, const char *variant);

/* bench_plan.c: */
enum bench_way { BENCH_BLOCKING, BENCH_NONBLOCKING, BENCH_BUFFERED, BENCH_INDEPENDENT };

struct bench_var {
    nc_type type; /* in the file */
    nc_type mem;  /* in memory */
    int ndims;
    int dims[BENCH_DIMS];
    MPI_Offset shape[BENCH_DIMS]; /* 0: the record dimension */
    bool record;
    MPI_Offset begin; /* known once the file was made, as is plan->recsize */
};

/* One data call: a hyperslab, or several of them for a varn call. */
struct bench_piece {
    int var;
    bool varn;
    int64_t nsegs;
    MPI_Offset *start, *count; /* nsegs times ndims */
    MPI_Offset **starts, **counts;
    MPI_Offset stride[BENCH_DIMS]; /* all 0: none */
    int ghost;                     /* cells around the last three dimensions, in memory */
    int64_t nelems;
    unsigned char *buf;
    MPI_Offset nbuf; /* what the library is told the buffer holds ... */
    MPI_Datatype type;
};

struct bench_plan {
    enum bench_way way;
    int64_t every; /* pieces between two waits of nonblocking calls; 0: all */
    int ndims;
    MPI_Offset *dims; /* 0: the record dimension */
    int nvars;
    struct bench_var *vars;
    int64_t npieces;
    struct bench_piece *pieces;
    int64_t file_bytes; /* of this process */
    int64_t nruns;
    unsigned char *memory; /* of all pieces, one behind the other */
    int64_t memory_bytes;
    MPI_Offset recsize;
};

int bench_dim(struct bench_plan *p, MPI_Offset length);
int bench_var(struct bench_plan *p, nc_type type, int ndims, const int dims[]);
struct bench_piece *bench_piece(struct bench_plan *p, int var, int64_t nsegs);
void bench_piece_slab(struct bench_plan *p, int var, const MPI_Offset start[],
                      const MPI_Offset count[]);
void bench_plan_finish(struct bench_plan *p);
void bench_plan_free(struct bench_plan *p);
/* bench_other.c: the same variables, as far as all of one is in the plan, by another
 * decomposition. Collective. */
void bench_plan_other(struct bench *b, const struct bench_plan *p, struct bench_plan *q);
/* The part'th of nparts near-equal parts of n: returns its start. */
MPI_Offset bench_part(MPI_Offset n, int nparts, int part, MPI_Offset *count);
/* A grid of ndims (at most 3) over the processes, and this one's place in it. */
void bench_grid(struct bench *b, int ndims, int grid[], int place[]);
uint64_t bench_hash(uint64_t x);

/* bench_values.c: what element `index` of a variable is, whichever process writes it. */
int bench_type_size(nc_type type);
MPI_Datatype bench_type_mpi(nc_type type);
void bench_values(void *out, nc_type type, const struct bench_plan *p, int var,
                  int64_t index, int64_t n);
void bench_swap(void *values, nc_type type, int64_t n);

/* bench_runs.c: a run is n elements side by side both in file and memory. */
struct bench_run {
    const struct bench_piece *piece;
    int64_t index; /* of the first in the variable */
    int64_t mem;   /* of the first in the piece's buffer */
    int64_t n;
};
typedef void bench_visit(const struct bench_plan *p, const struct bench_run *run,
                         void *arg);
void bench_runs(const struct bench_plan *p, bench_visit *visit, void *arg);
int64_t bench_offset(const struct bench_plan *p, const struct bench_run *run);
void bench_fill(const struct bench_plan *p);
void bench_check_memory(const struct bench_plan *p);
void bench_check_file(struct bench *b, const struct bench_plan *p);

/* bench_raw.c: the same by system calls. */
int bench_raw_open(const char *path);
void bench_raw_close(int fd);
int64_t bench_raw_runs(const struct bench_plan *p, int fd, bool put); /* bytes moved */
void bench_raw_contig(const struct bench_plan *p, int fd, int64_t at, bool put);

/* bench_view.c: by MPI-IO with a file view. */
MPI_File bench_view_open(struct bench *b);
void bench_view_move(const struct bench_plan *p, MPI_File f, bool put);
void bench_view_close(MPI_File f, bool sync);

/* bench_hdf5.c: by parallel HDF5, where the plan can be put so. Ends the program if it
 * was built without. */
struct bench_hdf5;
bool bench_hdf5_can(struct bench *b, const struct bench_plan *p);
struct bench_hdf5 *bench_hdf5_open(struct bench *b, const struct bench_plan *p,
                                   bool fresh);
void bench_hdf5_move(const struct bench_plan *p, struct bench_hdf5 *h, bool put);
void bench_hdf5_sync(struct bench_hdf5 *h);
void bench_hdf5_close(struct bench_hdf5 *h);

/* bench_lib.c: through the library. */
int bench_lib_create(struct bench *b, struct bench_plan *p);
void bench_lib_begin(const struct bench_plan *p, int ncid, bool writing);
int bench_lib_open(struct bench *b, const struct bench_plan *p, bool writing);
void bench_lib_layout(struct bench_plan *p, int ncid);
void bench_lib_close(const struct bench_plan *p, int ncid, bool writing);
void bench_lib_move(const struct bench_plan *p, int ncid, bool put);

/* bench_data.c: runs a plan in every way; or puts its values once, into a file that
 * stays. */
void bench_data(struct bench *b);
void bench_leave(struct bench *b);

/* The workloads, by file. */
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
void bench_unstructured(struct bench *b, struct bench_plan *p);
void bench_e3sm(struct bench *b, struct bench_plan *p);
void bench_flash(struct bench *b, struct bench_plan *p);
void bench_wrf(struct bench *b, struct bench_plan *p);
void bench_meta(struct bench *b);
void bench_openclose(struct bench *b);
void bench_redef(struct bench *b);

#endif
