/* The cases of doc/slow.md: slow_cases CASE FILE.
 *
 *     records   eight variables a step, each put by a collective call
 *     posted    the same, posted and waited for once a step
 *     late      process 0 has more to compute than the others
 *     even      the same work, shared out evenly
 *     notes     a file that is given one more attribute after each step
 *
 * Computing is sleeping here, so that it takes what it says on any machine. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pnetcdf.h"

enum { VARIABLES = 8, STEPS = 20, EACH = 2000, MUCH = 65536, LARGE = 1 << 21 };

static int rank, nprocs;
static float values[LARGE];

static void need(int rc)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s\n", ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(int milliseconds)
{
    const struct timespec time = {0, milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

/* A file with so many variables of `each` values a process, of records if `records`. */
static int create(const char *path, int n, MPI_Offset each, int records, int *ids)
{
    int ncid, dims[2];
    need(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &ncid));
    need(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    need(ncmpi_def_dim(ncid, "x", each * nprocs, &dims[1]));
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "field%d", i);
        need(ncmpi_def_var(ncid, name, NC_FLOAT, records ? 2 : 1,
                           records ? dims : &dims[1], &ids[i]));
    }
    need(ncmpi_enddef(ncid));
    return ncid;
}

static void put_records(const char *path, int posted)
{
    int ids[VARIABLES], requests[VARIABLES];
    int ncid = create(path, VARIABLES, EACH, 1, ids);
    for (int t = 0; t < STEPS; t++) {
        const MPI_Offset start[2] = {t, (MPI_Offset)EACH * rank}, count[2] = {1, EACH};
        compute(1);
        for (int i = 0; i < VARIABLES; i++)
            if (posted)
                need(ncmpi_iput_vara_float(ncid, ids[i], start, count, values,
                                           &requests[i]));
            else
                need(ncmpi_put_vara_float_all(ncid, ids[i], start, count, values));
        if (posted) need(ncmpi_wait_all(ncid, VARIABLES, requests, NULL));
    }
    need(ncmpi_close(ncid));
}

static void put_late(const char *path, int even)
{
    int id, ncid = create(path, 1, MUCH, 1, &id);
    for (int t = 0; t < STEPS; t++) {
        const MPI_Offset start[2] = {t, (MPI_Offset)MUCH * rank}, count[2] = {1, MUCH};
        compute(even ? 4 : rank == 0 ? 10 : 2);
        need(ncmpi_put_vara_float_all(ncid, id, start, count, values));
    }
    need(ncmpi_close(ncid));
}

static void put_notes(const char *path)
{
    int id, ncid = create(path, 1, LARGE, 0, &id);
    const MPI_Offset start = (MPI_Offset)LARGE * rank, count = LARGE;
    char text[600], name[16];
    memset(text, 'x', sizeof text);
    for (int t = 0; t < 6; t++) {
        compute(10);
        need(ncmpi_put_vara_float_all(ncid, id, &start, &count, values));
        snprintf(name, sizeof name, "note%d", t);
        need(ncmpi_redef(ncid));
        need(ncmpi_put_att_text(ncid, NC_GLOBAL, name, sizeof text, text));
        need(ncmpi_enddef(ncid));
    }
    need(ncmpi_close(ncid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    const char *which = argc == 3 ? argv[1] : "";
    if (strcmp(which, "records") == 0) put_records(argv[2], 0);
    if (strcmp(which, "posted") == 0) put_records(argv[2], 1);
    if (strcmp(which, "late") == 0) put_late(argv[2], 0);
    if (strcmp(which, "even") == 0) put_late(argv[2], 1);
    if (strcmp(which, "notes") == 0) put_notes(argv[2]);
    MPI_Finalize();
    return 0;
}
