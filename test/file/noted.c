/* Used by hurt.sh: records the results of calls while the file system fails, and then
 * checks the file.
 *
 *   noted FILE NOTES [moves]
 *   noted FILE NOTES PROCESSES
 *
 * In each round, every process puts its columns of a fixed-size variable and of the
 * round's record, and then calls sync. In every other round, it puts the fixed-size
 * variable in independent mode. With `moves`, every third round begins by moving all
 * data. Errors do not end the program. For each call, each process writes a line to
 * NOTES.RANK that begins with the round and the error code.
 *
 * The second form runs on one process. It reads these notes, and then the file, through a
 * mount that was not used for writing. A value must be in the file if its process
 * received no error from any call, from the put up to and including the sync. Each sync
 * must have succeeded either on all processes or on none, and the file must not contain
 * values that were never put. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grid.h"
#include "pnetcdf.h"

enum { ROWS = 64, WIDTH = 300, ROUNDS = 14 };
static int rank, nprocs;
static FILE *notes;

/* Returns the value that an element has in a round. It is never 0, and different in each
 * round. */
static int value_of(int round, MPI_Offset place)
{
    return 1000000 * round + (int)place + 1;
}

static void note(int round, const char *call, int rc)
{
    fprintf(notes, "%d %d %s: %s\n", round, rc, call, ncmpi_strerror(rc));
    fflush(notes);
}

static void open_notes(const char *name, int owner, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", name, owner);
    notes = fopen(path, mode);
    need(notes != NULL ? NC_NOERR : NC_EFILE, path);
}

/* ---- writing ---- */

static int define(const char *path)
{
    int dims[3], id, ncid = create_grid(path, ROWS, (MPI_Offset)WIDTH * nprocs, dims);
    need(ncmpi_def_var(ncid, "fixed", NC_INT, 2, dims + 1, &id), "def_var");
    need(ncmpi_def_var(ncid, "series", NC_INT, 3, dims, &id), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

static void put_round(int ncid, int round, int *values)
{
    MPI_Offset x = (MPI_Offset)WIDTH * ((rank + round) % nprocs);
    MPI_Offset start[3] = {round, 0, x}, count[3] = {1, ROWS, WIDTH};
    for (int i = 0; i < ROWS * WIDTH; i++)
        values[i] =
            value_of(round, i / WIDTH * (MPI_Offset)WIDTH * nprocs + x + i % WIDTH);
    if (round % 2 == 0) {
        note(round, "put", ncmpi_put_vara_int_all(ncid, 0, start + 1, count + 1, values));
    } else {
        note(round, "begin", ncmpi_begin_indep_data(ncid));
        note(round, "put alone",
             ncmpi_put_vara_int(ncid, 0, start + 1, count + 1, values));
        note(round, "end", ncmpi_end_indep_data(ncid));
    }
    note(round, "put", ncmpi_put_vara_int_all(ncid, 1, start, count, values));
    note(round, "sync", ncmpi_sync(ncid));
}

/* Adds to the header, which moves all data. */
static void move_all(int ncid, int round)
{
    static char text[ROUNDS * 5000];
    memset(text, 'a', sizeof text);
    note(round, "redef", ncmpi_redef(ncid));
    note(round, "put_att",
         ncmpi_put_att_text(ncid, NC_GLOBAL, "text", 5000 * (round + 1), text));
    note(round, "enddef", ncmpi_enddef(ncid));
}

static void write_rounds(const char *path, bool moves)
{
    int *values = malloc(ROWS * WIDTH * sizeof *values), ncid;
    need(values != NULL ? NC_NOERR : NC_ENOMEM, "memory");
    ncid = define(path);
    note(-1, "enddef", NC_NOERR);
    for (int round = 0; round < ROUNDS; round++) {
        if (moves && round % 3 == 2) move_all(ncid, round);
        put_round(ncid, round, values);
        usleep(20000);
    }
    note(ROUNDS, "close", ncmpi_close(ncid));
    free(values);
}

/* ---- reading ---- */

/* The results that a process recorded, for each round and in total. */
enum { FIXED, SERIES, NVARS };
struct notes {
    char kept[ROUNDS][NVARS]; /* true if the values must be in the file */
    char synced[ROUNDS + 1];  /* true if the sync succeeded; last element: the close */
    int begun;                /* number of rounds that were begun */
    int errors;               /* number of calls that returned an error */
};

static void read_notes(const char *name, int owner, struct notes *t)
{
    char line[1000], call[1000];
    int round, rc, nputs = 0, since = 0;
    *t = (struct notes){.begun = 0};
    open_notes(name, owner, "r");
    char put[ROUNDS][NVARS] = {{0}};
    while (fgets(line, sizeof line, notes) != NULL) {
        if (sscanf(line, "%d %d %999[^:]", &round, &rc, call) != 3 || round < 0) continue;
        if (round == t->begun && round < ROUNDS) t->begun++, nputs = 0;
        if (rc != NC_NOERR) {
            t->errors++, since = round, memset(put, 0, sizeof put);
            nputs += strncmp(call, "put", 3) == 0;
        } else if (strncmp(call, "put", 3) == 0) {
            put[round][nputs++] = 1;
        } else if (strcmp(call, "sync") == 0 || strcmp(call, "close") == 0) {
            t->synced[round] = 1;
            for (; since < t->begun; since++)
                memcpy(t->kept[since], put[since], NVARS);
        }
    }
    fclose(notes);
}

/* Counts the values of a part that were not put in any of these rounds, and prints the
 * first one. */
static int count_wrong(const int *values, int column, int writers, int from, int to)
{
    int wrong = 0;
    for (MPI_Offset y = 0; y < ROWS; y++) {
        for (MPI_Offset x = 0; x < WIDTH; x++) {
            MPI_Offset i = (y * writers + column) * WIDTH + x;
            int right = 0;
            for (int round = from; round <= to; round++)
                right |= values[i] == value_of(round, i);
            if (!right && wrong++ == 0)
                printf("in place of %d: %d\n", value_of(to, i), values[i]);
        }
    }
    return wrong;
}

/* Returns the process that puts a group of columns in a round. */
static int owner_of(int column, int round, int writers)
{
    return (column + writers * ROUNDS - round) % writers;
}

static int check_fixed(int ncid, int writers, const struct notes *noted, int *values)
{
    int wrong = 0;
    need(ncmpi_get_var_int_all(ncid, FIXED, values), "get");
    for (int column = 0; column < writers; column++) {
        int last = ROUNDS - 1;
        while (last >= 0 && !noted[owner_of(column, last, writers)].kept[last][FIXED])
            last--;
        if (last >= 0)
            wrong += count_wrong(values, column, writers, last, noted->begun - 1);
    }
    return wrong;
}

static int check_record(int ncid, int round, int writers, const struct notes *noted,
                        int *values)
{
    MPI_Offset start[3] = {round, 0, 0}, nrecs;
    MPI_Offset count[3] = {1, ROWS, (MPI_Offset)WIDTH * writers};
    int wrong = 0;
    need(ncmpi_inq_dimlen(ncid, 0, &nrecs), "inq_dimlen");
    memset(values, 0, (size_t)(count[1] * count[2]) * sizeof *values);
    if (round < nrecs)
        need(ncmpi_get_vara_int_all(ncid, SERIES, start, count, values), "get");
    for (int column = 0; column < writers; column++) {
        if (noted[owner_of(column, round, writers)].kept[round][SERIES])
            wrong += count_wrong(values, column, writers, round, round);
    }
    if (wrong > 0) printf("%d of record %d\n", wrong, round);
    return wrong;
}

/* Counts the sync results that differ from process 0's, over all rounds and processes. */
static int count_apart(const struct notes *noted, int writers)
{
    int apart = 0;
    for (int round = 0; round <= ROUNDS; round++) {
        for (int i = 1; i < writers; i++)
            apart += noted[i].synced[round] != noted[0].synced[round];
    }
    return apart;
}

static int check(const char *path, const char *name, int writers)
{
    int ncid, wrong, kept = 0;
    int *values = malloc((size_t)ROWS * WIDTH * (size_t)writers * sizeof *values);
    struct notes *noted = calloc((size_t)writers, sizeof *noted);
    need(values != NULL && noted != NULL ? NC_NOERR : NC_ENOMEM, "memory");
    for (int i = 0; i < writers; i++)
        read_notes(name, i, &noted[i]);
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    wrong = check_fixed(ncid, writers, noted, values);
    for (int round = 0; round < ROUNDS; round++) {
        wrong += check_record(ncid, round, writers, noted, values);
        kept += noted[0].kept[round][SERIES];
    }
    need(ncmpi_close(ncid), "close");
    int apart = count_apart(noted, writers), errors = 0;
    for (int i = 0; i < writers; i++)
        errors += noted[i].errors;
    printf(
        "%d values are wrong, processes disagreed %d times; %d errors, %d rounds kept of "
        "%d\n",
        wrong, apart, errors, kept, noted->begun);
    free(values);
    free(noted);
    return wrong > 0 || apart > 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    need(argc == 3 || argc == 4 ? NC_NOERR : NC_EINVAL, "usage: noted FILE NOTES [WHAT]");
    bool moves = argc == 4 && strcmp(argv[3], "moves") == 0;
    int rc = 0;
    if (argc == 4 && !moves) {
        rc = check(argv[1], argv[2], atoi(argv[3]));
    } else {
        open_notes(argv[2], rank, "w");
        write_rounds(argv[1], moves);
        fclose(notes);
    }
    MPI_Finalize();
    return rc;
}
