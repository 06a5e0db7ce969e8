/* Tests threads: first, each thread uses its own dataset; then, all threads use one
 * dataset in independent data mode. A build with --enable-sanitizers=thread also detects
 * races that have no visible effect. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "nonblocking.h"
#include "rounded.h"

enum { THREADS = 3, ROUNDS = 20, N = 5, KEPT_BITS = 4 };

static bool quantized; /* whether floats are quantized */

static int as_kept(int value)
{
    return quantized ? rounded(value, KEPT_BITS) : value;
}

static MPI_Info new_hints(void)
{
    return check_info(quantized ? "nc_transfer=direct;nc_quantize=bitround:4"
                                : "nc_transfer=direct");
}

/* A thread's arguments and results. Threads count their failures here, because only the
 * main thread may record failed checks. */
struct worker {
    pthread_t thread;
    int number;
    MPI_Comm comm; /* the thread's own, so that no two threads duplicate the same one */
    MPI_Info info;
    char path[512];
    int ncid, fixed, record;
    int error; /* first error that a call returned */
    int line;
    int wrong; /* number of wrong values read */
};

static void note(struct worker *w, int err, int line)
{
    if (err == NC_NOERR || w->error != NC_NOERR) return;
    w->error = err;
    w->line = line;
}

#define TRY(w, call) note(w, call, __LINE__)

/* Returns whether MPI supports threads. The result is the same on all processes. */
static bool threads_work(void)
{
    int level;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) check_skip("MPI has no threads here");
    return level >= MPI_THREAD_MULTIPLE;
}

static void run_all(struct worker *workers, void *(*body)(void *))
{
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(0, pthread_create(&workers[i].thread, NULL, body, &workers[i]));
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(0, pthread_join(workers[i].thread, NULL));
        if (!CHECK_NC(NC_NOERR, workers[i].error)) CHECK_EQ(0, workers[i].line);
        CHECK_EQ(0, workers[i].wrong);
    }
}

static int value_of(const struct worker *w, int i)
{
    return 1000 * w->number + 100 * check.rank + i;
}

/* ---- one dataset per thread ---- */

/* Creates v(x) and r(t, x) in a dataset on `comm`, and ends define mode. */
static void make(struct worker *w, MPI_Comm comm, MPI_Info info)
{
    int dims[2], old;
    TRY(w, ncmpi_set_default_format(NC_FORMAT_CLASSIC, &old));
    TRY(w, ncmpi_create(comm, w->path, check.cmode, info, &w->ncid));
    TRY(w, ncmpi_def_dim(w->ncid, "t", NC_UNLIMITED, &dims[0]));
    TRY(w, ncmpi_def_dim(w->ncid, "x", N * check.nprocs, &dims[1]));
    TRY(w, ncmpi_def_var(w->ncid, "v", NC_FLOAT, 1, &dims[1], &w->fixed));
    TRY(w, ncmpi_def_var(w->ncid, "r", NC_INT, 2, dims, &w->record));
    TRY(w, ncmpi_put_att_text(w->ncid, w->fixed, "units", 5, "m s-1"));
    TRY(w, ncmpi_enddef(w->ncid));
}

/* Writes all values, with a different number of records in each thread. Collective over
 * the dataset's processes. */
static void write_all(struct worker *w)
{
    int values[N];
    MPI_Offset start[2] = {0, N * check.rank}, count[2] = {1, N};
    for (int i = 0; i < N; i++)
        values[i] = value_of(w, i);
    TRY(w, ncmpi_put_vara_int_all(w->ncid, w->fixed, start + 1, count + 1, values));
    for (start[0] = 0; start[0] < w->number + 2; start[0]++)
        TRY(w, ncmpi_iput_vara_int(w->ncid, w->record, start, count, values, NULL));
    TRY(w, ncmpi_wait_all(w->ncid, NC_REQ_ALL, NULL, NULL));
}

static void read_all(struct worker *w)
{
    int v = -1, r = -1, back[2][N];
    MPI_Offset start[2] = {w->number + 1, N * check.rank}, count[2] = {1, N}, length = -1;
    memset(back, 0, sizeof back);
    TRY(w, ncmpi_inq_varid(w->ncid, "v", &v));
    TRY(w, ncmpi_inq_varid(w->ncid, "r", &r));
    TRY(w, ncmpi_inq_dimlen(w->ncid, 0, &length));
    TRY(w, ncmpi_get_vara_int_all(w->ncid, v, start + 1, count + 1, back[0]));
    TRY(w, ncmpi_get_vara_int_all(w->ncid, r, start, count, back[1]));
    w->wrong += ncmpi_get_var_int_all(w->ncid, 99, back[0]) != NC_ENOTVAR;
    w->wrong += length != w->number + 2;
    for (int i = 0; i < N; i++)
        w->wrong +=
            (back[0][i] != as_kept(value_of(w, i))) + (back[1][i] != value_of(w, i));
}

static void *create_write_read(void *argument)
{
    struct worker *w = argument;
    for (int round = 0; round < 3; round++) {
        make(w, w->comm, w->info);
        write_all(w);
        TRY(w, ncmpi_close(w->ncid));
        TRY(w, ncmpi_open(w->comm, w->path, NC_NOWRITE, MPI_INFO_NULL, &w->ncid));
        read_all(w);
        TRY(w, ncmpi_close(w->ncid));
    }
    return NULL;
}

static void *write_read(void *argument)
{
    struct worker *w = argument;
    for (int round = 0; round < 3; round++) {
        write_all(w);
        read_all(w);
    }
    return NULL;
}

static void name_workers(struct worker *workers, bool own)
{
    memset(workers, 0, THREADS * sizeof *workers);
    for (int i = 0; i < THREADS; i++) {
        char name[32];
        workers[i].number = i;
        snprintf(name, sizeof name, "%d.%d.nc", i, own ? check.rank : 0);
        snprintf(workers[i].path, sizeof workers[i].path, "%s", check_path(name));
    }
}

static void each_thread_uses_its_own_dataset(void)
{
    struct worker workers[THREADS];
    if (!threads_work()) return;
    name_workers(workers, true);
    for (int i = 0; i < THREADS; i++) {
        CHECK(MPI_Comm_dup(MPI_COMM_SELF, &workers[i].comm) == MPI_SUCCESS);
        workers[i].info = quantized ? new_hints() : MPI_INFO_NULL;
    }
    run_all(workers, create_write_read);
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_free(&workers[i].comm);
        if (quantized) MPI_Info_free(&workers[i].info);
    }
}

/* Makes no collective MPI-IO calls, because ROMIO holds a lock during each of them. Two
 * processes would deadlock if their threads acquired the locks in different orders. */
static void threads_make_collective_calls_on_different_datasets(void)
{
    struct worker workers[THREADS];
    if (!threads_work()) return;
    MPI_Info info = new_hints();
    name_workers(workers, false);
    for (int i = 0; i < THREADS; i++)
        make(&workers[i], MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    run_all(workers, write_read);
    for (int i = 0; i < THREADS; i++)
        close_dataset(workers[i].ncid);
}

/* ---- one dataset ---- */

/* Each thread in a process owns N columns. Each round writes a different record. */
static void fill_round(const struct worker *w, int round, int *values)
{
    for (int i = 0; i < N; i++)
        values[i] = value_of(w, i) + 10000 * round;
}

static void write_round(struct worker *w, int round)
{
    MPI_Offset start[2] = {round, N * (THREADS * check.rank + w->number)};
    MPI_Offset count[2] = {1, N}, *starts[1] = {start + 1}, *counts[1] = {count + 1};
    int values[N], ids[3], statuses[3];
    fill_round(w, round, values);
    switch (round % 3) {
    case 0:
        TRY(w, ncmpi_put_vara_int(w->ncid, w->record, start, count, values));
        TRY(w, ncmpi_put_varn_int(w->ncid, w->fixed, 1, starts, counts, values));
        break;
    case 1:
        TRY(w, ncmpi_iput_vara_int(w->ncid, w->record, start, count, values, &ids[0]));
        TRY(w,
            ncmpi_iput_varn_int(w->ncid, w->fixed, 1, starts, counts, values, &ids[1]));
        TRY(w, ncmpi_iput_vara_int(w->ncid, w->record, start, count, values, &ids[2]));
        TRY(w, ncmpi_cancel(w->ncid, 1, &ids[2], NULL));
        TRY(w, ncmpi_wait(w->ncid, 2, ids, statuses));
        break;
    default:
        TRY(w, ncmpi_bput_vara_int(w->ncid, w->record, start, count, values, &ids[0]));
        memset(values, 0, sizeof values);
        TRY(w, ncmpi_wait(w->ncid, 1, ids, statuses));
    }
}

static void read_round(struct worker *w, int round)
{
    MPI_Offset start[2] = {round, N * (THREADS * check.rank + w->number)};
    MPI_Offset count[2] = {1, N};
    int values[N], back[N] = {0}, id;
    fill_round(w, round, values);
    for (int i = 0; i < N; i++)
        values[i] = as_kept(values[i]);
    if (round % 2) {
        TRY(w, ncmpi_get_vara_int(w->ncid, w->record, start, count, back));
    } else {
        TRY(w, ncmpi_iget_vara_int(w->ncid, w->record, start, count, back, &id));
        TRY(w, ncmpi_wait(w->ncid, 1, &id, NULL));
    }
    w->wrong += memcmp(values, back, sizeof back) != 0;
}

/* Queries properties that change while other threads write. */
static void ask(struct worker *w, int round)
{
    MPI_Offset length = 0, size = 0, usage = -1;
    int pending = -1, nfixed = 0;
    TRY(w, ncmpi_inq_dimlen(w->ncid, 0, &length));
    TRY(w, ncmpi_inq_put_size(w->ncid, &size));
    TRY(w, ncmpi_inq_nreqs(w->ncid, &pending));
    TRY(w, ncmpi_inq_buffer_usage(w->ncid, &usage));
    TRY(w, ncmpi_inq_num_fix_vars(w->ncid, &nfixed));
    w->wrong += length <= round || size <= 0 || pending < 0 || usage < 0 || nfixed != 1;
    if (ncmpi_get_var_int(w->ncid, 99, &pending) != NC_ENOTVAR) w->wrong++;
}

static pthread_barrier_t together;

static void *shared_dataset(void *argument)
{
    struct worker *w = argument;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&together);
        write_round(w, round);
        ask(w, round);
        read_round(w, round);
    }
    return NULL;
}

static void all_threads_use_one_dataset(void)
{
    struct worker workers[THREADS];
    if (!threads_work()) return;
    int ncid = -1;
    MPI_Info info = quantized ? new_hints() : MPI_INFO_NULL;
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    if (quantized) MPI_Info_free(&info);
    int t = new_dim(ncid, "t", NC_UNLIMITED);
    int dims[2] = {t, new_dim(ncid, "x", N * THREADS * check.nprocs)};
    int fixed = new_var(ncid, "fixed", NC_DOUBLE, 1, &dims[1]);
    int record = new_var(ncid, "record", quantized ? NC_FLOAT : NC_INT, 2, dims);
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].ncid = ncid;
        workers[i].fixed = fixed;
        workers[i].record = record;
    }
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, THREADS * N * 8));
    pthread_barrier_init(&together, NULL, THREADS);
    run_all(workers, shared_dataset);
    pthread_barrier_destroy(&together);
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_EQ(ROUNDS, dim_length(ncid, t));
    close_dataset(ncid);
}

/* ---- the same tests with quantized values, for which requests need memory ---- */

static void with_quantization(void (*test)(void))
{
    quantized = true;
    test();
    quantized = false;
}

static void quantized_alone(void)
{
    with_quantization(each_thread_uses_its_own_dataset);
}

static void quantized_together(void)
{
    with_quantization(threads_make_collective_calls_on_different_datasets);
}

static void quantized_on_one_dataset(void)
{
    with_quantization(all_threads_use_one_dataset);
}

static const struct check_test tests[] = {
    {"each thread uses its own dataset", each_thread_uses_its_own_dataset, CHECK_FORMATS},
    {"threads make collective calls on different datasets",
     threads_make_collective_calls_on_different_datasets, CHECK_FORMATS},
    {"all threads use one dataset", all_threads_use_one_dataset, CHECK_FORMATS},
    {"quantized, each thread uses its own dataset", quantized_alone, 0},
    {"quantized, threads make collective calls on different datasets", quantized_together,
     0},
    {"quantized, all threads use one dataset", quantized_on_one_dataset, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    check_thread_level = MPI_THREAD_MULTIPLE;
    return check_main(argc, argv, tests, "1 2");
}
