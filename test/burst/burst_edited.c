/* Programs that use a dataset and its log, for burst_edited.sh.
 *
 *     burst_edited make FILE              creates the dataset, with random values
 *     burst_edited die FILE SEED [now]    puts a column of values for SEED into a log,
 *                                         and kills itself; with `now`, drains the log
 *                                         first, edits the file, and puts once more
 *     burst_edited column FILE SEED UP GO puts a column of values for SEED + 1 in
 *                                         independent mode, creates UP, waits for GO, and
 *                                         puts the values for SEED
 *     burst_edited check FILE SEED        opens the dataset for writing, and checks that
 *                                         the column has the values for SEED
 *     burst_edited tick FILE              checks that each write to the file changes its
 *                                         modification time */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pnetcdf.h"

enum { ROWS = 1021, COLUMNS = 13, COLUMN = 5 };
static const MPI_Offset from[2] = {0, COLUMN}, rows[2] = {ROWS, 1};

static void need(int err, const char *what)
{
    if (err == NC_NOERR) return;
    printf("%s: %s\n", what, ncmpi_strerror(err));
    (void)fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(int *values, int n, unsigned seed)
{
    srandom(seed);
    for (int i = 0; i < n; i++)
        values[i] = (int)random();
}

static int open_for_writing(const char *path)
{
    int ncid;
    need(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "open");
    return ncid;
}

/* Makes a put on this process only. Leaves the dataset in independent mode. */
static void put_alone(int ncid, unsigned seed)
{
    int values[ROWS];
    fill(values, ROWS, seed);
    need(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    need(ncmpi_put_vara_int(ncid, 0, from, rows, values), "put");
}

static void put_column(int ncid, unsigned seed)
{
    put_alone(ncid, seed);
    need(ncmpi_end_indep_data(ncid), "end_indep_data");
}

static int make(const char *path)
{
    static int values[ROWS * COLUMNS];
    int ncid, dims[2], v;
    fill(values, ROWS * COLUMNS, 99);
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid), "create");
    need(ncmpi_def_dim(ncid, "y", ROWS, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "x", COLUMNS, &dims[1]), "def_dim");
    need(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &v), "def_var");
    need(ncmpi_enddef(ncid), "enddef");
    need(ncmpi_put_var_int_all(ncid, v, values), "put");
    need(ncmpi_close(ncid), "close");
    return 0;
}

/* Overwrites the last bytes of the file. */
static void edit(int fd, int value)
{
    off_t end = lseek(fd, 0, SEEK_END);
    if (pwrite(fd, &value, sizeof value, end - 4) != sizeof value)
        need(NC_EWRITE, "edit");
}

static int die(const char *path, unsigned seed, bool now)
{
    int ncid = open_for_writing(path), fd = open(path, O_RDWR);
    put_column(ncid, seed);
    if (now) {
        need(ncmpi_flush(ncid), "flush");
        edit(fd, (int)random());
        put_alone(ncid, seed); /* this put does not access the file */
    }
    return raise(SIGKILL);
}

static int column(const char *path, unsigned seed, const char *up, const char *go)
{
    int ncid = open_for_writing(path);
    put_column(ncid, seed + 1);
    (void)close(open(up, O_CREAT | O_WRONLY, 0600));
    while (access(go, F_OK) != 0)
        (void)usleep(1000);
    put_column(ncid, seed);
    need(ncmpi_close(ncid), "close");
    return 0;
}

static int check(const char *path, unsigned seed)
{
    int values[ROWS], found[ROWS], ncid = open_for_writing(path);
    fill(values, ROWS, seed);
    need(ncmpi_get_vara_int_all(ncid, 0, from, rows, found), "get");
    need(ncmpi_close(ncid), "close");
    if (memcmp(values, found, sizeof values) == 0) return 0;
    printf("the column has other values\n");
    return 1;
}

static int tick(const char *path)
{
    struct stat before, after;
    int fd = open(path, O_RDWR);
    edit(fd, 1);
    bool known = fstat(fd, &before) == 0;
    edit(fd, 2);
    known &= fstat(fd, &after) == 0;
    return known && before.st_mtim.tv_nsec != after.st_mtim.tv_nsec ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
    unsigned seed = argc > 3 ? (unsigned)atol(argv[3]) : 0;
    int status = 2;
    MPI_Init(&argc, &argv);
    if (strcmp(what, "make") == 0) status = make(path);
    if (strcmp(what, "die") == 0) status = die(path, seed, argc > 4);
    if (strcmp(what, "column") == 0 && argc > 5)
        status = column(path, seed, argv[4], argv[5]);
    if (strcmp(what, "check") == 0) status = check(path, seed);
    if (strcmp(what, "tick") == 0) status = tick(path);
    MPI_Finalize();
    return status;
}
