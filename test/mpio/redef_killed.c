/* Changes a dataset's definitions. redef_kill.sh and other scripts kill the program while
 * it does so. Also checks the files that remain.
 *
 *   redef_killed make FILE                creates the dataset
 *   redef_killed try FILE CHANGE          opens, changes and closes it, or creates it
 *   redef_killed open FILE CHANGE         opens it for writing and closes it
 *   redef_killed check FILE CHANGE TOLD   opens it for writing, prints `old` or `new`,
 *                                         and changes definitions again; TOLD is the
 *                                         list of letters (see redef_change.h) of the
 *                                         steps that have returned success
 *   redef_killed read FILE                opens it for reading
 *   redef_killed self FILE CHANGE         each process opens it for writing by itself
 *                                         and checks its values
 *   redef_killed hold FILE                locks the journal as a process that moves
 *                                         data does, until its standard input ends
 *   redef_killed delete FILE              deletes it
 *   redef_killed restore SHADOW DIRECTORY SEED
 *                                         restores the files after a power cut
 *
 * CHANGE is a number; see redef_change.h. How processes are killed is described in
 * burst_calls.h. If REDEF_CALLS=FILE is set, each process writes the number of its calls
 * to FILE.RANK. If REDEF_TOLD=FILE is set, each process appends a letter to FILE.RANK
 * whenever a step succeeds. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_lock.h"
#include "burst_calls.h"
#include "burst_shadow.h"
#include "pnetcdf.h"
#include "redef_change.h"

static int rank;

static MPI_Info small_rounds(const char *path, int change)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_data_move_chunk_size", "8192");
    redef_hints(change, path, info);
    return info;
}

/* Writes text to this process's file, whose name is the value of an environment variable
 * followed by the rank. */
static void note(const char *variable, const char *mode, const char *text)
{
    char path[4096];
    const char *base = getenv(variable);
    if (base == NULL) return;
    burst_calls_pause(1);
    snprintf(path, sizeof path, "%s.%d", base, rank);
    FILE *f = fopen(path, mode);
    if (f != NULL) fputs(text, f);
    if (f != NULL) fclose(f);
    burst_calls_pause(0);
}

static void note_calls(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d\n", burst_calls());
    note("REDEF_CALLS", "w", text);
}

static void tell(char what)
{
    const char text[2] = {what, '\0'};
    note("REDEF_TOLD", "a", text);
}

/* Stores the dataset's current name and contents on the simulated device, as if they had
 * been synced. */
static void make_safe(const char *path)
{
    const char *directory = getenv("BURST_CALLS_DIR");
    burst_calls_pause(1);
    for (int i = 0; rank == 0 && directory != NULL && i < 2; i++) {
        int fd = open(i == 0 ? path : directory, O_RDONLY);
        if (fd < 0) continue;
        burst_shadow_sync(fd);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    burst_calls_pause(0);
}

static int try(const char *path, int change)
{
    MPI_Info info = small_rounds(path, change);
    make_safe(path);
    int err = change == redef_creation() ? redef_make(path, info, tell)
                                         : redef_try(path, change, info, tell);
    note_calls();
    MPI_Info_free(&info);
    if (err != NC_NOERR) fprintf(stderr, "%s\n", ncmpi_strerror(err));
    return err != NC_NOERR;
}

static int open_only(const char *path, int change)
{
    int ncid;
    MPI_Info info = small_rounds(path, change);
    make_safe(path);
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid);
    if (err == NC_NOERR) err = ncmpi_close(ncid);
    note_calls();
    MPI_Info_free(&info);
    if (err != NC_NOERR) fprintf(stderr, "%s\n", ncmpi_strerror(err));
    return err != NC_NOERR;
}

static int read_only(const char *path)
{
    int ncid;
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (err == NC_NOERR) err = ncmpi_close(ncid);
    if (err != NC_NOERR) fprintf(stderr, "%s\n", ncmpi_strerror(err));
    return err != NC_NOERR;
}

/* Opens the dataset separately on each process, with MPI_COMM_SELF. */
static int open_by_itself(const char *path, int change)
{
    int ncid, is = -1;
    int err = ncmpi_open(MPI_COMM_SELF, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (err == NC_NOERR) is = redef_is(ncid, change, false);
    if (err == NC_NOERR) err = ncmpi_close(ncid);
    if (err != NC_NOERR) fprintf(stderr, "%s\n", ncmpi_strerror(err));
    return err != NC_NOERR || is < 0;
}

/* Locks the journal, like a process that has outlived the first process of its job. */
static int hold(const char *path)
{
    char journal[4096], byte;
    snprintf(journal, sizeof journal, "%s.redef", path);
    int fd = open(journal, O_RDWR);
    if (fd < 0 || base_lock_try(fd, BASE_LOCK_MOVERS, false) != BASE_LOCKED) return 1;
    puts("held");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    close(fd);
    return 0;
}

/* Handles a failure to open the dataset, which is allowed only if the dataset was being
 * created. */
static int refused(int err, int change, const char *told)
{
    fprintf(stderr, "%s\n", ncmpi_strerror(err));
    if (change != redef_creation() || *told != '\0') return 1;
    if (rank == 0) puts("old");
    return 0;
}

static int check(const char *path, int change, const char *told)
{
    int ncid, is;
    MPI_Info info = small_rounds(path, change);
    bool put = strchr(told, 'p') != NULL;
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid);
    MPI_Info_free(&info);
    if (err != NC_NOERR) return refused(err, change, told);
    is = redef_is(ncid, change, put);
    if (is == 0 && strchr(told, 'd') != NULL) {
        fprintf(stderr, "what has returned is not there\n");
        is = -1;
    }
    if (err == NC_NOERR) err = ncmpi_redef(ncid);
    if (err == NC_NOERR) err = ncmpi__enddef(ncid, 0, 8192, 0, 512);
    if (err == NC_NOERR && is >= 0 && redef_is(ncid, change, put) < 0) is = -1;
    int closed = ncmpi_close(ncid);
    if (err == NC_NOERR) err = closed;
    if (err != NC_NOERR) fprintf(stderr, "%s\n", ncmpi_strerror(err));
    if (rank == 0 && is >= 0) puts(is ? "new" : "old");
    return err != NC_NOERR || is < 0;
}

int main(int argc, char **argv)
{
    int status = 2;
    if (argc == 5 && strcmp(argv[1], "restore") == 0)
        return burst_shadow_restore(argv[2], argv[3], (unsigned)atoi(argv[4]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    burst_calls_rank(rank);
    if (argc == 3 && strcmp(argv[1], "make") == 0)
        status = redef_make(argv[2], MPI_INFO_NULL, NULL) != NC_NOERR;
    else if (argc == 4 && strcmp(argv[1], "try") == 0)
        status = try(argv[2], atoi(argv[3]));
    else if (argc == 4 && strcmp(argv[1], "open") == 0)
        status = open_only(argv[2], atoi(argv[3]));
    else if (argc == 3 && strcmp(argv[1], "read") == 0)
        status = read_only(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "self") == 0)
        status = open_by_itself(argv[2], atoi(argv[3]));
    else if (argc == 3 && strcmp(argv[1], "hold") == 0)
        status = hold(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "delete") == 0)
        status = ncmpi_delete(argv[2], MPI_INFO_NULL) != NC_NOERR;
    else if (argc == 5 && strcmp(argv[1], "check") == 0)
        status = check(argv[2], atoi(argv[3]), argv[4]);
    MPI_Finalize();
    return status;
}
