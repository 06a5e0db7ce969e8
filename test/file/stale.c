/* Used by mounts.sh: gets values that other nodes have overwritten since this node read
 * them, and values that a redefinition has moved.
 *
 *   stale FILE [ROUNDS [TURN]]
 *   stale FILE -ROUND PROCESSES
 *
 * In each round, every process puts parts that another process put in the previous round:
 * blocks, columns, alternate elements and records. After a sync and a barrier, all
 * processes get everything, which fills the caches of all nodes. Finally a redefinition
 * moves all data, and the file is read before and after reopening it. Process 0 prints
 * the number of wrong values.
 *
 * If TURN is given, process 0 creates a file of that name after each sync, and waits
 * until another job removes it. Before that, the other job checks the round with the
 * second form. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grid.h"
#include "pnetcdf.h"

enum { ROWS = 37, WIDTH = 24, RECORDS = 3, BLOCKS = 0, COLUMNS, PLACES, SERIES, NVARS };
static const char *const names[NVARS] = {"blocks", "columns", "places", "series"};

static int rank, nprocs, wrong;

/* Returns the value that an element has in a round. It is never 0, and different in each
 * round. */
static int value_of(int var, MPI_Offset place, int round)
{
    return (int)(1 + place + 100000 * var + 1000000 * (MPI_Offset)round);
}

static MPI_Offset size_of(int var)
{
    MPI_Offset plane = (MPI_Offset)ROWS * WIDTH * nprocs;
    return var == SERIES ? RECORDS * plane : plane;
}

/* ---- putting ---- */

/* A hyperslab of a variable. */
struct part {
    MPI_Offset start[3], count[3], stride[3];
};

static struct part part_of(int var, int owner)
{
    MPI_Offset n = (MPI_Offset)WIDTH * nprocs, from = (MPI_Offset)ROWS * owner / nprocs;
    MPI_Offset to = (MPI_Offset)ROWS * (owner + 1) / nprocs;
    switch (var) {
    case BLOCKS:
        return (struct part){{from, 0}, {to - from, n}, {1, 1}};
    case COLUMNS:
        return (struct part){{0, WIDTH * owner}, {ROWS, WIDTH}, {1, 1}};
    case PLACES:
        return (struct part){{0, owner}, {ROWS, WIDTH}, {1, nprocs}};
    default:
        return (struct part){{0, from, 0}, {RECORDS, to - from, n}, {1, 1, 1}};
    }
}

static MPI_Offset place_of(int var, const struct part *p, MPI_Offset i)
{
    int ndims = var == SERIES ? 3 : 2;
    MPI_Offset n = (MPI_Offset)WIDTH * nprocs, place = 0, unit = 1;
    for (int d = ndims - 1; d >= 0; d--) {
        place += unit * (p->start[d] + i % p->count[d] * p->stride[d]);
        i /= p->count[d];
        unit *= d == ndims - 1 ? n : ROWS;
    }
    return place;
}

static void put_part(int ncid, int var, int round, int *values)
{
    struct part p = part_of(var, (rank + round) % nprocs);
    MPI_Offset n = p.count[0] * p.count[1] * (var == SERIES ? p.count[2] : 1);
    for (MPI_Offset i = 0; i < n; i++)
        values[i] = value_of(var, place_of(var, &p, i), round);
    if (var == PLACES) {
        need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
        need(ncmpi_put_vars_int(ncid, var, p.start, p.count, p.stride, values), "put");
        need(ncmpi_end_indep_data(ncid), "end_indep_data");
    } else {
        need(ncmpi_put_vars_int_all(ncid, var, p.start, p.count, p.stride, values),
             "put");
    }
}

/* ---- getting ---- */

static void get_everything(int ncid, int round, int *values, const char *when)
{
    for (int var = 0; var < NVARS; var++) {
        int bad = 0;
        need(ncmpi_get_var_int_all(ncid, var, values), "get");
        for (MPI_Offset i = 0; i < size_of(var); i++)
            bad += values[i] != value_of(var, i, round);
        if (bad > 0)
            printf("process %d, %s: %d of %s are wrong\n", rank, when, bad, names[var]);
        wrong += bad;
    }
}

/* ---- the file ---- */

static int define(const char *path)
{
    int dims[3], id, ncid = create_grid(path, ROWS, (MPI_Offset)WIDTH * nprocs, dims);
    for (int var = 0; var < NVARS; var++) {
        bool records = var == SERIES;
        need(ncmpi_def_var(ncid, names[var], NC_INT, records ? 3 : 2, dims + !records,
                           &id),
             "def_var");
    }
    need(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

static void move_all(int ncid)
{
    static char text[9000];
    static const int x = 2;
    int id;
    memset(text, 'a', sizeof text);
    need(ncmpi_redef(ncid), "redef");
    need(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", sizeof text, text), "put_att");
    need(ncmpi_def_var(ncid, "more", NC_SHORT, 1, &x, &id), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
}

/* Creates the file `turn`, and waits until another job has read the dataset and removed
 * that file. */
static void wait_for_reader(const char *turn)
{
    if (rank == 0 && turn != NULL) {
        FILE *made = fopen(turn, "w");
        need(made != NULL && fclose(made) == 0 ? NC_NOERR : NC_EFILE, turn);
        while (access(turn, F_OK) == 0)
            usleep(20000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Checks the values that `writers` processes have put up to this round. Called by a
 * single process. */
static int read_round(const char *path, int round, int writers, int *values)
{
    int ncid;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    nprocs = writers;
    get_everything(ncid, round, values, "another job");
    need(ncmpi_close(ncid), "close");
    MPI_Finalize();
    return wrong > 0;
}

int main(int argc, char **argv)
{
    int ncid, rounds = argc > 2 ? atoi(argv[2]) : 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int writers = rounds < 0 ? atoi(argv[3]) : nprocs;
    int *values = malloc((size_t)size_of(SERIES) / (size_t)nprocs * (size_t)writers *
                         sizeof *values);
    need(argc > 1 && values != NULL ? NC_NOERR : NC_EINVAL, "usage: stale FILE [ROUNDS]");
    if (rounds < 0) return read_round(argv[1], -rounds, writers, values);

    ncid = define(argv[1]);
    for (int round = 1; round <= rounds; round++) {
        for (int var = 0; var < NVARS; var++)
            put_part(ncid, var, round, values);
        need(ncmpi_sync(ncid), "sync");
        MPI_Barrier(MPI_COMM_WORLD);
        wait_for_reader(argc > 3 ? argv[3] : NULL);
        get_everything(ncid, round, values, "after sync");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    move_all(ncid);
    get_everything(ncid, rounds, values, "moved");
    need(ncmpi_close(ncid), "close");
    need(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    get_everything(ncid, rounds, values, "opened again");
    need(ncmpi_close(ncid), "close");
    free(values);

    int all;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d values are wrong\n", all);
    MPI_Finalize();
    return 0; /* hydra may hang if a node's process returns a different status */
}
