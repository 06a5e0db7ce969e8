/* The program that burst_kill.sh kills, and checks of the files that it leaves behind.
 *
 *     burst_killed write FILE TOLD      puts values through the log, and also syncs,
 *                                       flushes, redefines, uses independent mode and
 *                                       closes
 *     burst_killed check FILE TOLD ALL  reopens the dataset, which replays the logs. With
 *                                       ALL `put`, every put that returned must be in it;
 *                                       with `synced`, every put before the last sync;
 *                                       with `refused`, an open for reading must fail
 *                                       with a message that names the logs
 *     burst_killed again FILE           repeats all puts, and checks them
 *     burst_killed restore SHADOW DIRECTORY SEED
 *                                       restores the files after a simulated power cut
 *
 * For each call that has returned, a process appends one letter to TOLD.RANK. It writes
 * its number of calls to TOLD.calls.RANK. burst_calls.h describes how processes are
 * killed. BURST_PUTS is the number of puts. With BURST_NETCDF4 the file is a netCDF-4
 * file. Without logs (BURST_LOGS=0), only puts that have returned on all processes are
 * checked, because until then the number of records is not in the file.
 *
 * Normally the program waits for a deferred close. With BURST_LEAVE=finalize,
 * MPI_Finalize completes the close instead; BURST_LEAVE=full does the same, but every
 * write to the file fails. With BURST_LEAVE=kill, the processes are killed after all have
 * closed the dataset. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "burst_calls.h"
#include "burst_shadow.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

static int rank, nprocs, told_fd, nputs = 30;
static bool logs = true, netcdf4;

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void tell(char letter)
{
    burst_calls_pause(1);
    if (write(told_fd, &letter, 1) != 1) need(NC_EWRITE, "told");
    burst_calls_pause(0);
}

/* ---- values and their locations ---- */

/* The location of the element that a put writes. Even puts write to the fixed-size
 * variable, odd ones to records. Every fifth put overwrites the element that another
 * process has just written. */
struct place {
    int varid, at; /* index of the element in the variable */
};

static struct place place_of(int put, int r, int n)
{
    int over = put % 5 == 4, from = over ? put - 1 : put;
    return (struct place){from % 2, from * n + (over ? (r + 1) % n : r)};
}

static int value_of(int put, int r)
{
    return 1000 * (put + 1) + r;
}

static void put(int ncid, int i, bool all)
{
    struct place p = place_of(i, rank, nprocs);
    MPI_Offset start[2] = {p.at / nprocs, p.at % nprocs}, one[2] = {1, 1};
    int value = value_of(i, rank);
    need(all ? ncmpi_put_vara_int_all(ncid, p.varid, start, one, &value)
             : ncmpi_put_vara_int(ncid, p.varid, start, one, &value),
         "put");
    if (all || logs) tell('.');
}

static void define(int ncid)
{
    int dims[3];
    need(ncmpi_def_dim(ncid, "put", nputs, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "process", nprocs, &dims[1]), "def_dim");
    need(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[2]), "def_dim");
    int record[2] = {dims[2], dims[1]}, v;
    need(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v), "def_var");
    need(ncmpi_def_var(ncid, "r", NC_INT, 2, record, &v), "def_var");
    need(ncmpi_def_var(ncid, "late", NC_INT, 1, dims, &v), "def_var");
    for (; netcdf4 && v >= 0; v--) /* HDF5 would leave arbitrary bytes in unwritten
                                    * elements */
        need(ncmpi_def_var_fill(ncid, v, 0, &(int){0}), "def_var_fill");
    need(ncmpi__enddef(ncid, 1024, 4, 0, 4), "enddef"); /* space for the attribute */
}

/* Redefines the dataset. The first time, the header has space for the new definitions.
 * The second time, data must move, and later log entries refer to the new definitions. */
static void redefine(int ncid, bool moves)
{
    static const int dims[2] = {2, 0};
    char text[2000];
    int v;
    memset(text, 'a', sizeof text);
    need(ncmpi_redef(ncid), "redef");
    if (moves) need(ncmpi_def_var(ncid, "more", NC_SHORT, 2, dims, &v), "def_var");
    need(ncmpi_put_att_text(ncid, NC_GLOBAL, moves ? "b" : "a", moves ? sizeof text : 4,
                            text),
         "put_att");
    need(ncmpi_enddef(ncid), "enddef");
    tell('d');
}

static void sync_all(int ncid)
{
    need(ncmpi_sync(ncid), "sync");
    tell('s');
}

/* Id of a one-dimensional variable. Each process puts its part of the variable only after
 * other variables have been synced. */
enum { LATE = 2 };

static int late_value(MPI_Offset i)
{
    return 5000 + (int)i;
}

static void put_late(int ncid)
{
    MPI_Offset start = (MPI_Offset)nputs * rank / nprocs;
    MPI_Offset count = (MPI_Offset)nputs * (rank + 1) / nprocs - start;
    int values[1024];
    for (MPI_Offset i = 0; i < count; i++)
        values[i] = late_value(start + i);
    need(ncmpi_put_vara_int_all(ncid, LATE, &start, &count, values), "put");
    tell('l');
}

static void leave_or_wait(const char *path)
{
    const char *leave = getenv("BURST_LEAVE");
    if (leave == NULL) {
        need(ncmpix_wait_closed(path), "wait_closed");
        tell('w');
    } else if (strcmp(leave, "kill") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        kill(getpid(), SIGKILL);
    } else if (strcmp(leave, "full") == 0) {
        signal(SIGXFSZ, SIG_IGN);
        need(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) == 0 ? NC_NOERR : NC_EINVAL,
             "setrlimit");
    }
}

/* Returns whether put i is made in independent mode: the fourth put from the end, and the
 * last two. The last put overwrites the element that another process has just put. */
static bool is_alone(int i)
{
    return i == nputs - 4 || i == nputs - 2 || i == nputs - 1;
}

static void put_alone(int ncid, int i)
{
    bool first = !is_alone(i - 1), last = !is_alone(i + 1);
    if (first) need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    put(ncid, i, false);
    if (!last && rank % 2) sync_all(ncid);
    if (!last && rank % 2 == 0) need(ncmpi_flush(ncid), "flush");
    if (!last) MPI_Barrier(MPI_COMM_WORLD);
    if (last) need(ncmpi_end_indep_data(ncid), "end_indep_data");
    for (int of = i; last && !logs && is_alone(of); of--)
        tell('.');
}

static void write_all(const char *path)
{
    int ncid;
    need(ncmpi_create(MPI_COMM_WORLD, path, netcdf4 ? NC_NETCDF4 : NC_64BIT_DATA,
                      MPI_INFO_NULL, &ncid),
         "create");
    define(ncid);
    for (int i = 0; i < nputs; i++) {
        if (is_alone(i))
            put_alone(ncid, i);
        else
            put(ncid, i, true);
        if (i == nputs / 5 || i == nputs / 5 + 2 || i == nputs * 3 / 5) sync_all(ncid);
        if (i == nputs * 3 / 10) put_late(ncid);
        if (i == nputs * 2 / 5 || i == nputs * 4 / 5) need(ncmpi_flush(ncid), "flush");
        if (i == nputs / 2 || i == nputs * 7 / 10) redefine(ncid, i > nputs / 2);
    }
    need(ncmpi_close(ncid), "close");
    tell('c');
    leave_or_wait(path);
}

/* ---- checks ---- */

/* Sets every entry of must[] to the smallest one, because only puts that have returned on
 * all processes count. */
static void level(int *must, int n)
{
    int least = must[0];
    for (int r = 1; r < n; r++)
        if (must[r] < least) least = must[r];
    for (int r = 0; r < n; r++)
        must[r] = least;
}

/* Sets must[r] to the number of puts by process r, counted from the first one, that must
 * be in the dataset. */
static void read_told(const char *told, bool synced, int *must, int n)
{
    for (int r = 0; r < n; r++) {
        char path[4096], letters[4096];
        snprintf(path, sizeof path, "%s.%d", told, r);
        int fd = open(path, O_RDONLY), done = 0;
        ssize_t length = fd < 0 ? 0 : read(fd, letters, sizeof letters);
        if (fd >= 0) close(fd);
        must[r] = 0;
        for (ssize_t i = 0; i < length; i++) {
            done += letters[i] == '.';
            if (!synced || letters[i] == 's') must[r] = done;
        }
    }
}

/* Returns whether the element may have this value. It must be the value of the last put
 * to the element that must be in the dataset, or of a later put. */
static bool may_be(int varid, int at, int value, const int *must, int n)
{
    int last = -1, from = value / 1000 - 1, r = value % 1000;
    for (int i = 0; i < nputs; i++)
        for (int who = 0; who < n; who++) {
            struct place p = place_of(i, who, n);
            if (p.varid == varid && p.at == at && i < must[who]) last = i;
        }
    if (last < 0 && value == 0) return true;
    if (from < last || from < 0 || from >= nputs || r >= n) return false;
    struct place p = place_of(from, r, n);
    return p.varid == varid && p.at == at;
}

static int check_var(int ncid, int varid, MPI_Offset rows, const int *must, int n)
{
    int *values = calloc((size_t)nputs * (size_t)n, sizeof *values), wrong = 0;
    MPI_Offset start[2] = {0, 0}, count[2] = {rows < nputs ? rows : nputs, n};
    if (values == NULL) return 1;
    need(ncmpi_get_vara_int_all(ncid, varid, start, count, values), "get");
    for (int at = 0; at < nputs * n; at++) {
        if (may_be(varid, at, values[at], must, n)) continue;
        fprintf(stderr, "variable %d, place %d: %d\n", varid, at, values[at]);
        wrong = 1;
    }
    free(values);
    return wrong;
}

/* Returns whether put_late has returned on all processes and, if `synced` is set, was
 * followed by a sync. */
static bool late_returned(const char *told, bool synced, int n)
{
    for (int r = 0; r < n; r++) {
        char path[4096], letters[4096] = "";
        snprintf(path, sizeof path, "%s.%d", told, r);
        int fd = open(path, O_RDONLY);
        ssize_t length = fd < 0 ? 0 : read(fd, letters, sizeof letters - 1);
        if (fd >= 0) close(fd);
        const char *put = length <= 0 ? NULL : strchr(letters, 'l');
        if (put == NULL || (synced && strchr(put, 's') == NULL)) return false;
    }
    return true;
}

static int check_late(int ncid, bool must)
{
    MPI_Offset start = 0, count = nputs;
    int values[1024], wrong = 0;
    need(ncmpi_get_vara_int_all(ncid, LATE, &start, &count, values), "get");
    for (int i = 0; i < nputs; i++) {
        if (values[i] == late_value(i) || (!must && values[i] == 0)) continue;
        fprintf(stderr, "late, place %d: %d\n", i, values[i]);
        wrong = 1;
    }
    return wrong;
}

static int check_all(const char *path, const char *told, bool synced)
{
    MPI_Offset n = 0, rows = 0;
    int ncid, must[64] = {0}, wrong = 0;
    read_told(told, synced, must, 64);
    int rc = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (rc != NC_NOERR && rc != NC_EBADLOG && must[0] == 0) return 0; /* not created */
    need(rc, "open");
    rc = ncmpi_inq_dimlen(ncid, 1, &n);
    if (rc == NC_EBADDIM && must[0] == 0) return ncmpi_close(ncid); /* not defined yet */
    need(rc, "inq_dimlen");
    need(ncmpi_inq_dimlen(ncid, 2, &rows), "inq_dimlen");
    if (!logs) level(must, (int)n);
    wrong |= check_var(ncid, 0, nputs, must, (int)n);
    wrong |= check_var(ncid, 1, rows, must, (int)n);
    wrong |= check_late(ncid, late_returned(told, synced, (int)n));
    need(ncmpi_close(ncid), "close");
    return wrong;
}

/* ---- writing again after a kill ---- */

static void all_rows(int ncid, int varid, int *values, bool puts)
{
    MPI_Offset n, start[2] = {0, 0}, count[2] = {nputs, 0};
    need(ncmpi_inq_dimlen(ncid, 1, &n), "inq_dimlen");
    start[1] = n * rank / nprocs;
    count[1] = n * (rank + 1) / nprocs - start[1];
    for (int i = 0; puts && i < count[0] * count[1]; i++)
        values[i] = 7000000 + 1000 * varid + i;
    need(puts ? ncmpi_put_vara_int_all(ncid, varid, start, count, values)
              : ncmpi_get_vara_int_all(ncid, varid, start, count, values),
         puts ? "put again" : "get again");
    for (int i = 0; !puts && i < count[0] * count[1]; i++)
        if (values[i] != 7000000 + 1000 * varid + i) need(NC_EREAD, "values put again");
}

/* Checks that a dataset left by a killed program accepts new values. */
static void write_again(const char *path)
{
    int ncid, nvars = 0, *values = calloc((size_t)nputs * 64, sizeof *values);
    int rc = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (rc != NC_NOERR || values == NULL) { /* if this is an error, `check` reports it */
        free(values);
        return;
    }
    need(ncmpi_inq_nvars(ncid, &nvars), "inq_nvars");
    for (int v = 0; v < nvars && v < 2; v++)
        all_rows(ncid, v, values, true);
    need(ncmpi_close(ncid), "close");
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    for (int v = 0; v < nvars && v < 2; v++)
        all_rows(ncid, v, values, false);
    need(ncmpi_close(ncid), "close");
    free(values);
}

static int check_refused(const char *path)
{
    int ncid, rc = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (rank == 0) printf("%s\n", ncmpi_strerror(rc));
    return rc != NC_EBADLOG;
}

/* ---- calls and arguments ---- */

static void note_calls(const char *told)
{
    char path[4096];
    burst_calls_pause(1);
    snprintf(path, sizeof path, "%s.calls.%d", told, rank);
    FILE *f = fopen(path, "w");
    if (f == NULL || fprintf(f, "%d\n", burst_calls()) < 0 || fclose(f) != 0)
        need(NC_EWRITE, path);
    burst_calls_pause(0);
}

static void write_and_record_calls(const char *path, const char *told)
{
    char own[4096];
    snprintf(own, sizeof own, "%s.%d", told, rank);
    told_fd = open(own, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (told_fd < 0) need(NC_EWRITE, own);
    write_all(path);
    if (getenv("BURST_LEAVE") == NULL) note_calls(told);
    close(told_fd);
}

int main(int argc, char **argv)
{
    int status = 2;
    const char *asked = getenv("BURST_PUTS"), *through = getenv("BURST_LOGS");
    if (asked != NULL && atoi(asked) < 1024) nputs = atoi(asked);
    netcdf4 = getenv("BURST_NETCDF4") != NULL;
    if (through != NULL) logs = atoi(through) != 0;
    if (argc == 5 && strcmp(argv[1], "restore") == 0)
        return burst_shadow_restore(argv[2], argv[3], (unsigned)atoi(argv[4]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    burst_calls_rank(rank);
    if (argc == 4 && strcmp(argv[1], "write") == 0) {
        write_and_record_calls(argv[2], argv[3]);
        status = 0;
    } else if (argc == 5 && strcmp(argv[1], "check") == 0) {
        status = strcmp(argv[4], "refused") == 0
                     ? check_refused(argv[2])
                     : check_all(argv[2], argv[3], strcmp(argv[4], "synced") == 0);
    } else if (argc == 3 && strcmp(argv[1], "again") == 0) {
        write_again(argv[2]);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
