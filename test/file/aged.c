/* Used by hurt.sh: tests how the burst buffer treats logs of a killed job that are found
 * much later.
 *
 *   aged put FILE            puts values and is killed before they are in the file
 *   aged age LOGS SECONDS    sets the age of the logs in the directory LOGS
 *   aged get FILE            opens FILE for writing, and exits with 0 if it contains
 *                            the values
 *
 * PNETCDF_HINTS contains the directory of the logs. */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "burst_reader.h"
#include "pnetcdf.h"

enum { N = 100 };
static const MPI_Offset start = 0, count = N;

static int said(int err, const char *what)
{
    if (err != NC_NOERR) printf("%s: %s\n", what, ncmpi_strerror(err));
    return err;
}

static int put(const char *path)
{
    int ncid, dim, var, values[N];
    for (int i = 0; i < N; i++)
        values[i] = i + 1;
    int err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid);
    if (err == NC_NOERR) err = ncmpi_def_dim(ncid, "x", N, &dim);
    if (err == NC_NOERR) err = ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &var);
    if (err == NC_NOERR) err = ncmpi_enddef(ncid);
    if (err == NC_NOERR) err = ncmpi_put_vara_int_all(ncid, var, &start, &count, values);
    if (said(err, "putting") == NC_NOERR) (void)raise(SIGKILL);
    return 1;
}

static int get(const char *path)
{
    int ncid, wrong = 0, values[N] = {0};
    int err =
        said(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid), "opening");
    if (err != NC_NOERR) return 1;
    err = said(ncmpi_get_vara_int_all(ncid, 0, &start, &count, values), "getting");
    for (int i = 0; i < N; i++)
        wrong += values[i] != i + 1;
    printf("%d values are wrong\n", wrong);
    return said(ncmpi_close(ncid), "closing") != NC_NOERR || err != NC_NOERR || wrong > 0;
}

static int age_log(const char *path, int64_t seconds)
{
    struct burst_reader *r;
    int64_t then = ((int64_t)time(NULL) - seconds) * 1000000000;
    int err = burst_reader_open(path, 0, &r, NULL);
    if (err == NC_NOERR)
        err = burst_reader_set_note(r, (struct burst_note){.when = then, .mtime = then});
    burst_reader_close(r);
    return said(err, path);
}

static int age(const char *logs, int64_t seconds)
{
    char path[4096];
    int aged = 0;
    const struct dirent *e;
    DIR *d = opendir(logs);
    while (d != NULL && (e = readdir(d)) != NULL) {
        size_t n = strlen(e->d_name);
        snprintf(path, sizeof path, "%s/%s", logs, e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".meta") == 0)
            aged += age_log(path, seconds) == NC_NOERR;
    }
    if (d != NULL) (void)closedir(d);
    return aged == 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    int status = 2;
    MPI_Init(&argc, &argv);
    if (strcmp(what, "put") == 0) status = put(argv[2]);
    if (strcmp(what, "age") == 0 && argc > 3) status = age(argv[2], atoi(argv[3]));
    if (strcmp(what, "get") == 0) status = get(argv[2]);
    MPI_Finalize();
    return status;
}
