/* blob_history WHAT FILE [ARGUMENT]: performs one of a series of jobs on a dataset.
 *
 *     make     creates it, with two records
 *     append   adds a record, and puts the fixed-size variable again
 *     kill     appends; all processes are killed after the puts have returned
 *     exit     appends; all processes exit without a close
 *     sync     adds two records, each with a sync, after which process 0
 *              runs ARGUMENT in the shell; then adds one more record
 *     hold     appends, but first prints a line and waits for end of file
 *     behind   appends, then prints a line after the close and waits: with
 *              nc_blob_join=behind, the file is joined in the meantime
 *     own      acquires the lock of a program that joins the dataset, then
 *              prints a line and waits for end of file
 *     many     creates ARGUMENT files FILE.0.nc ..., all open at the same time
 *     check    exits with 0 if all values are those of one of these jobs; 2 if
 *              something could not be opened or read, after a message; 3 if
 *              there are other values
 *
 * The number of the job that wrote last is in the master file. Each process puts its
 * share of every other variable, so these variables are in subfiles if hints request
 * this. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_lock.h"
#include "pnetcdf.h"

enum { NX = 24, MOST = 64 };

static int rank, nprocs, ncid, fixed, record, job;

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Prints an error that a call has returned on all processes. The caller then exits
 * normally, because launchers may lose messages when a process calls MPI_Abort. */
static int tell(int rc, const char *what)
{
    if (rc != NC_NOERR) fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    return rc == NC_NOERR ? 0 : 2;
}

/* ---- values ---- */

/* Selects every nprocs-th element, so the decomposition consists of short runs. */
static int share(int values[NX], MPI_Offset at[NX][2], int base, MPI_Offset r)
{
    int n = 0;
    for (int x = rank; x < NX; x += nprocs) {
        at[n][0] = r;
        at[n][1] = x;
        values[n++] = base + x + 1;
    }
    return n;
}

static void put(int varid, int base, MPI_Offset r, const char *what)
{
    int values[NX];
    MPI_Offset at[NX][2], *starts[NX];
    int n = share(values, at, base, r);
    for (int i = 0; i < n; i++)
        starts[i] = r < 0 ? &at[i][1] : at[i];
    need(ncmpi_put_varn_int_all(ncid, varid, n, starts, NULL, values), what);
}

static void put_record(MPI_Offset r)
{
    put(record, 1000 * ((int)r + 1), r, "a record");
}

/* Puts the fixed-size variable, and the job's number. Only one process puts the number,
 * so it is stored in the master file. */
static void put_job(int number)
{
    MPI_Offset start = 0, count = rank == 0;
    put(fixed, 1000 * number, -1, "the fixed variable");
    need(ncmpi_put_vara_int_all(ncid, job, &start, &count, &number), "the job");
}

/* ---- jobs ---- */

static void find_variables(void)
{
    need(ncmpi_inq_varid(ncid, "fixed", &fixed), "fixed");
    need(ncmpi_inq_varid(ncid, "record", &record), "record");
    need(ncmpi_inq_varid(ncid, "job", &job), "job");
}

static MPI_Offset count_records(void)
{
    MPI_Offset n;
    need(ncmpi_inq_dimlen(ncid, 0, &n), "records");
    return n;
}

static int last_job(void)
{
    int number = 0;
    need(ncmpi_get_var_int_all(ncid, job, &number), "the job");
    return number;
}

static int make(const char *path)
{
    int dims[2], one;
    int rc = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                          &ncid);
    if (rc != NC_NOERR) return tell(rc, "create");
    need(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "time");
    need(ncmpi_def_dim(ncid, "x", NX, &dims[1]), "x");
    need(ncmpi_def_dim(ncid, "one", 1, &one), "one");
    need(ncmpi_def_var(ncid, "fixed", NC_INT, 1, dims + 1, &fixed), "fixed");
    need(ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &record), "record");
    need(ncmpi_def_var(ncid, "job", NC_INT, 1, &one, &job), "job");
    need(ncmpi_enddef(ncid), "enddef");
    put_job(1);
    put_record(0);
    put_record(1);
    return 0;
}

static int make_many(const char *path, int n)
{
    char name[4096];
    int made = 0, status = 0, *ids = malloc((size_t)n * sizeof *ids);
    for (; ids != NULL && made < n && status == 0; made += status == 0) {
        snprintf(name, sizeof name, "%s.%d.nc", path, made);
        status = make(name);
        ids[made] = ncid;
    }
    for (int i = 0; i < made; i++)
        need(ncmpi_close(ids[i]), "close");
    free(ids);
    return made == n ? 0 : status;
}

static int open_to_write(const char *path)
{
    int rc = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (rc == NC_NOERR) find_variables();
    return tell(rc, "open");
}

static void append(void)
{
    int number = last_job() + 1;
    put_record(count_records());
    put_job(number);
}

/* Appends records with syncs. The values after the last sync also belong to the job. */
static void append_with_syncs(const char *command)
{
    for (int i = 0; i < 2; i++) {
        put_record(count_records());
        need(ncmpi_sync(ncid), "sync");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && system(command) != 0) need(NC_EINVAL, command);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    put_record(count_records());
}

static void wait_for_end(void)
{
    if (rank == 0) {
        printf("there\n");
        fflush(stdout);
        while (getchar() != EOF)
            continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int own(const char *path)
{
    int fd = open(path, O_RDWR);
    if (base_lock_try(fd, BASE_LOCK_PARTS, true) != BASE_LOCKED) return 1;
    wait_for_end();
    return close(fd);
}

/* ---- checks ---- */

static int count_wrong(const int *values, int n, int base)
{
    int wrong = 0;
    for (int x = 0; x < n; x++)
        wrong += values[x] != base + x + 1;
    return wrong;
}

/* Checks that all values match the job number and the record count in the master file. */
static int look(void)
{
    int values[NX], number = last_job(), wrong;
    MPI_Offset n = count_records();
    need(ncmpi_get_var_int_all(ncid, fixed, values), "the fixed variable");
    wrong = count_wrong(values, NX, 1000 * number);
    for (MPI_Offset r = 0; r < n && r < MOST; r++) {
        MPI_Offset start[2] = {r, 0}, count[2] = {1, NX};
        need(ncmpi_get_vara_int_all(ncid, record, start, count, values), "a record");
        wrong += count_wrong(values, NX, 1000 * ((int)r + 1));
    }
    if (rank == 0)
        printf("job %d, %lld records, %d wrong values\n", number, (long long)n, wrong);
    return wrong == 0 ? 0 : 3;
}

static int check(const char *path)
{
    int rc = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (rc != NC_NOERR) return tell(rc, "open");
    find_variables();
    int status = look();
    need(ncmpi_close(ncid), "close");
    return status;
}

/* ---- */

static int work(int argc, char **argv)
{
    const char *what = argv[1], *path = argv[2];
    if (strcmp(what, "check") == 0) return check(path);
    if (strcmp(what, "own") == 0) return own(path);
    if (strcmp(what, "many") == 0) return make_many(path, argc > 3 ? atoi(argv[3]) : 1);
    bool made = strcmp(what, "make") == 0;
    if ((made ? make(path) : open_to_write(path)) != 0) return 2;
    if (strcmp(what, "sync") == 0) append_with_syncs(argc > 3 ? argv[3] : "true");
    if (strcmp(what, "hold") == 0) wait_for_end();
    if (strcmp(what, "sync") != 0 && !made) append();
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "kill") == 0) raise(SIGKILL);
    if (strcmp(what, "exit") == 0) _exit(0);
    int status = tell(ncmpi_close(ncid), "close");
    if (strcmp(what, "behind") == 0) wait_for_end();
    return status;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int status = argc > 2 ? work(argc, argv) : 1;
    MPI_Finalize();
    return status;
}
