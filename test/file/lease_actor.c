/* A job that a script controls: lease_actor FILE SEED.
 *
 * First, process 0 prints a line with the process ids: "pids 4711 4712". Then it reads
 * commands from standard input, one per line. All processes execute each command, and
 * process 0 prints one line for it: "ok", followed by the results of the command if it
 * has any, or "error CODE" and the message. The line begins with "differ" if another
 * process has a different result.
 *
 *     create       creates FILE, with its definitions, and leaves define mode
 *     define       does what `create` does, but stays in define mode
 *     sync, close
 *     open, read   opens FILE for writing, or for reading
 *     put E        puts epoch E: record E, and all values of the fixed-size variable
 *     extend       adds a long attribute to FILE, which moves all values
 *     wait         waits until deferred closes are complete
 *     delete       deletes FILE, on process 0
 *     check E      opens FILE, and expects exactly the epochs before E
 *     newest E     like `check`, but only the first and last records must be correct
 *     beside E     opens FILE while a writer may have put the epochs before E: each value
 *                  must belong to one of them, or not have been put yet
 *     gate NAME    waits until a file of that name exists; prints nothing
 *     quit
 *
 * "check", "newest" and "beside" print the number of records and the number of wrong
 * values. Values depend on SEED, the epoch and the index. Hints are taken from
 * PNETCDF_HINTS. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pnetcdf.h"
#include "pnetcdf_ext.h"

enum { NX = 331, LINE = 1024, EPOCHS = 128, MOST = 8, NONE = -1 };

static int rank, nprocs, ncid = NONE;
static char file[LINE];
static uint64_t seed;

static int value_of(int var, int epoch, int x)
{
    uint64_t h = seed * 3 + (uint64_t)var;
    h = (h * 1000003 + (uint64_t)epoch) * 1000003 + (uint64_t)x;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    int value = (int)(h >> 33);
    return value == 0 ? 1 : value;
}

/* Returns the error `rc`, or the result of the next call if `rc` is not an error. */
static int first(int rc, int next)
{
    return rc != NC_NOERR ? rc : next;
}

/* ---- calls ---- */

static int create(bool defined)
{
    int dims[2], id;
    int rc = ncmpi_create(MPI_COMM_WORLD, file, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                          &ncid);
    if (rc != NC_NOERR) {
        ncid = NONE;
        return rc;
    }
    rc = ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    rc = first(rc, ncmpi_def_dim(ncid, "x", NX, &dims[1]));
    rc = first(rc, ncmpi_def_var(ncid, "fixed", NC_INT, 1, dims + 1, &id));
    rc = first(rc, ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &id));
    return rc == NC_NOERR && defined ? ncmpi_enddef(ncid) : rc;
}

static int open_file(int mode)
{
    int rc = ncmpi_open(MPI_COMM_WORLD, file, mode, MPI_INFO_NULL, &ncid);
    if (rc != NC_NOERR) ncid = NONE;
    return rc;
}

static int finish(int (*call)(int))
{
    int rc = call(ncid);
    ncid = NONE;
    return rc;
}

static int put(int epoch)
{
    int values[2][NX];
    MPI_Offset from = (MPI_Offset)NX * rank / nprocs;
    MPI_Offset n = (MPI_Offset)NX * (rank + 1) / nprocs - from;
    MPI_Offset start[2] = {epoch, from}, count[2] = {1, n};
    for (int i = 0; i < n; i++)
        for (int var = 0; var < 2; var++)
            values[var][i] = value_of(var, epoch, (int)from + i);
    int rc = ncmpi_put_vara_int_all(ncid, 1, start, count, values[1]);
    return first(rc, ncmpi_put_vara_int_all(ncid, 0, &from, &n, values[0]));
}

static int extend(void)
{
    static char text[8000];
    memset(text, 'x', sizeof text);
    int rc = ncmpi_redef(ncid);
    rc = first(rc, ncmpi_put_att_text(ncid, NC_GLOBAL, "history", sizeof text, text));
    return first(rc, ncmpi_enddef(ncid));
}

/* ---- checks ---- */

/* Returns true if the value was put in one of the epochs `from` to `to` - 1. */
static bool is_of(int var, int from, int to, int x, int value)
{
    for (int epoch = from; epoch < to; epoch++)
        if (value == value_of(var, epoch, x)) return true;
    return false;
}

enum expected { ANY, NEWEST, EXACT };

/* Counts wrong values and records. If `what` is ANY, a value may come from any of the
 * epochs, or be unwritten; otherwise it must come from the last epoch that put it. */
static int count_wrong(int epochs, enum expected what, MPI_Offset records, int *rc)
{
    const bool exact = what != ANY;
    static int values[NX];
    int wrong = 0;
    *rc = ncmpi_get_var_int_all(ncid, 0, values);
    for (int x = 0; x < NX && *rc == NC_NOERR; x++)
        wrong += !(is_of(0, exact ? epochs - 1 : 0, epochs, x, values[x]) ||
                   (values[x] == 0 && (!exact || epochs == 0)));
    for (int r = 0; r < records && *rc == NC_NOERR; r++) {
        MPI_Offset start[2] = {r, 0}, count[2] = {1, NX};
        *rc = ncmpi_get_vara_int_all(ncid, 1, start, count, values);
        for (int x = 0; x < NX && *rc == NC_NOERR; x++)
            wrong += !(values[x] == value_of(1, r, x) || (values[x] == 0 && !exact) ||
                       (what == NEWEST && r > 0 && r < epochs - 1));
    }
    if (records > epochs || (exact && records != epochs)) wrong += NX;
    return wrong;
}

static int look(int epochs, enum expected what, char *found)
{
    MPI_Offset records = 0;
    int wrong = 0, rc = open_file(NC_NOWRITE);
    if (rc != NC_NOERR) return rc;
    rc = ncmpi_inq_dimlen(ncid, 0, &records);
    if (rc == NC_NOERR) wrong = count_wrong(epochs, what, records, &rc);
    rc = first(rc, finish(ncmpi_close));
    snprintf(found, LINE, " %lld records, %d wrong", (long long)records, wrong);
    return rc;
}

/* ---- commands ---- */

static int execute(const char *command, char *found)
{
    char name[32] = "";
    int epoch = 0;
    (void)!sscanf(command, "%31s %d", name, &epoch);
    if (epoch < 0 || epoch > EPOCHS) return NC_EINVAL;
    if (strcmp(name, "create") == 0) return create(true);
    if (strcmp(name, "define") == 0) return create(false);
    if (strcmp(name, "open") == 0) return open_file(NC_WRITE);
    if (strcmp(name, "read") == 0) return open_file(NC_NOWRITE);
    if (strcmp(name, "put") == 0) return put(epoch);
    if (strcmp(name, "extend") == 0) return extend();
    if (strcmp(name, "sync") == 0) return ncmpi_sync(ncid);
    if (strcmp(name, "close") == 0) return finish(ncmpi_close);
    if (strcmp(name, "wait") == 0) return ncmpix_wait_closed(file);
    if (strcmp(name, "check") == 0) return look(epoch, EXACT, found);
    if (strcmp(name, "newest") == 0) return look(epoch, NEWEST, found);
    if (strcmp(name, "beside") == 0) return look(epoch, ANY, found);
    if (strcmp(name, "delete") == 0)
        return rank == 0 ? ncmpi_delete(file, MPI_INFO_NULL) : NC_NOERR;
    return NC_EINVAL;
}

/* Prints the result of a command. If another process has a different result, also prints
 * the first such result. */
static void report(const char *command, int rc, const char *found)
{
    const bool single = strncmp(command, "delete", 6) == 0;
    struct {
        int rc;
        char text[LINE];
    } mine = {.rc = rc}, all[MOST];
    snprintf(mine.text, LINE, "%s", rc == NC_NOERR ? found : ncmpi_strerror(rc));
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (rank > 0) return;
    for (int i = 1; i < nprocs && !single; i++)
        if (all[i].rc != rc || (rc == NC_NOERR && strcmp(all[i].text, found) != 0)) {
            printf("differ: process %d: %d %s; process 0: ", i, all[i].rc, all[i].text);
            break;
        }
    if (rc == NC_NOERR)
        printf("ok%s\n", found);
    else
        printf("error %d %s\n", rc, ncmpi_strerror(rc));
    fflush(stdout);
}

/* Broadcasts the next command from process 0. The other processes sleep while they wait.
 * Returns false if there are no more commands. */
static bool next_command(char *command)
{
    MPI_Request request;
    int done = 0;
    if (rank == 0 && fgets(command, LINE, stdin) == NULL) command[0] = '\0';
    MPI_Ibcast(command, LINE, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        usleep(500);
    command[strcspn(command, "\n")] = '\0';
    return command[0] != '\0' && strcmp(command, "quit") != 0;
}

static void print_pids(void)
{
    int pid = (int)getpid(), pids[MOST] = {0};
    if (nprocs > MOST) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0) return;
    printf("pids");
    for (int i = 0; i < nprocs; i++)
        printf(" %d", pids[i]);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char command[LINE] = "", found[LINE];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 1);
    snprintf(file, sizeof file, "%s", argv[1]);
    seed = strtoull(argv[2], NULL, 10);
    print_pids();
    while (next_command(command)) {
        found[0] = '\0';
        if (strncmp(command, "gate ", 5) == 0) {
            while (access(command + 5, F_OK) != 0)
                usleep(200);
        } else {
            int rc = execute(command, found);
            report(command, rc, found);
        }
    }
    MPI_Finalize();
    return 0;
}
