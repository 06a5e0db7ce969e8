/* trace_calls FILE [die]: makes calls of every kind that appears in traces. If `die` is
 * given, puts 1000 records and then kills itself. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { EACH = 5000, RECORDS = 20 };

static int rank, nprocs, fixed, records;
static double values[EACH];

static void need(int rc, const char *what)
{
    if (rc == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void define(int ncid)
{
    int old, dims[2];
    need(ncmpi_set_fill(ncid, NC_FILL, &old), "set_fill");
    need(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]), "def_dim");
    need(ncmpi_def_dim(ncid, "x", (MPI_Offset)EACH * nprocs, &dims[1]), "def_dim");
    need(ncmpi_def_var(ncid, "a \"b\" \xC3\xA9", NC_FLOAT, 1, &dims[1], &fixed),
         "def_var");
    need(ncmpi_def_var(ncid, "r", NC_DOUBLE, 2, dims, &records), "def_var");
    need(ncmpi_put_att_text(ncid, NC_GLOBAL, "about", 4, "this"), "put_att");
    need(ncmpi_enddef(ncid), "enddef");
}

static void put_record(int ncid, MPI_Offset t)
{
    const MPI_Offset start[2] = {t, (MPI_Offset)EACH * rank}, count[2] = {1, EACH};
    need(ncmpi_put_vara_double_all(ncid, records, start, count, values), "put_vara_all");
}

static void put_alone(int ncid, int times)
{
    const int value = 1;
    need(ncmpi_begin_indep_data(ncid), "begin_indep");
    for (int i = 0; i < times; i++) {
        const MPI_Offset at = (MPI_Offset)EACH * rank + i % EACH;
        need(ncmpi_put_var1_int(ncid, fixed, &at, &value), "put_var1");
    }
    need(ncmpi_end_indep_data(ncid), "end_indep");
}

/* Accesses every nprocs-th value, so that the values of all processes are interleaved. */
static void access_comb(int ncid, bool put)
{
    const MPI_Offset start = rank, count = EACH, stride = nprocs;
    if (put)
        need(ncmpi_put_vars_double_all(ncid, fixed, &start, &count, &stride, values),
             "put_vars_all");
    need(ncmpi_get_vars_double_all(ncid, fixed, &start, &count, &stride, values),
         "get_vars_all");
}

static void put_later(int ncid)
{
    MPI_Offset starts[2][1] = {{(MPI_Offset)EACH * rank}, {(MPI_Offset)EACH * rank + 9}};
    MPI_Offset counts[2][1] = {{4}, {3}};
    MPI_Offset *const s[2] = {starts[0], starts[1]}, *const c[2] = {counts[0], counts[1]};
    int ids[2];
    need(ncmpi_buffer_attach(ncid, (MPI_Offset)EACH * nprocs * 8), "attach");
    need(ncmpi_iput_varn_double(ncid, fixed, 2, s, c, values, &ids[0]), "iput_varn");
    double *all = calloc((size_t)EACH * (size_t)nprocs, sizeof *all);
    need(all == NULL ? NC_ENOMEM : NC_NOERR, "memory");
    need(ncmpi_bput_var_double(ncid, fixed, all, &ids[1]), "bput_var");
    free(all);
    need(ncmpi_wait_all(ncid, 2, ids, NULL), "wait_all");
    need(ncmpi_buffer_detach(ncid), "detach");
    int both[2] = {fixed, fixed};
    double *bufs[2] = {values, values + 4};
    need(ncmpi_mput_vara_double_all(ncid, 2, both, s, c, bufs), "mput_vara_all");
}

/* Makes the header outgrow its space. */
static void redefine(int ncid)
{
    static char text[3000];
    memset(text, 'x', sizeof text);
    need(ncmpi_redef(ncid), "redef");
    need(ncmpi_put_att_text(ncid, NC_GLOBAL, "much", sizeof text, text), "put_att");
    need(ncmpi_enddef(ncid), "enddef");
    need(ncmpi_put_att_text(ncid, NC_GLOBAL, "about", 4, "that"), "put_att");
}

/* Makes short calls, alternating between two datasets. */
static void use_both(int ncid, int other)
{
    const MPI_Offset at = (MPI_Offset)EACH * rank;
    double value;
    need(ncmpi_begin_indep_data(ncid), "begin_indep");
    need(ncmpi_begin_indep_data(other), "begin_indep");
    for (int i = 0; i < 100; i++)
        need(ncmpi_get_var1_double(i % 3 == 0 ? ncid : other, fixed, &at, &value), "get");
    need(ncmpi_close(other), "close");
    need(ncmpi_end_indep_data(ncid), "end_indep");
}

int main(int argc, char **argv)
{
    int ncid, other, level;
    const int cmode = NC_CLOBBER | NC_64BIT_DATA;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    bool die = argc > 2 && strcmp(argv[2], "die") == 0;
    need(ncmpi_create(MPI_COMM_WORLD, argv[1], cmode, MPI_INFO_NULL, &ncid), "create");
    define(ncid);
    for (int t = 0; t < (die ? 1000 : RECORDS); t++)
        put_record(ncid, t);
    if (die) raise(SIGKILL);
    need(ncmpi_fill_var_rec(ncid, records, RECORDS), "fill_var_rec");
    put_alone(ncid, 2000);
    access_comb(ncid, true);
    put_later(ncid);
    need(ncmpi_sync(ncid), "sync");
    redefine(ncid);
    need(ncmpi_close(ncid), "close");
    need(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    access_comb(ncid, false);
    need(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &other), "open");
    use_both(ncid, other);
    need(ncmpi_close(ncid), "close");
    MPI_Finalize();
    return 0;
}
