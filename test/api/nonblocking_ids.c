/* Tests posting, waiting for and cancelling requests: data modes, request ids, statuses,
 * and the number of records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nonblocking.h"

enum { N = 7 }; /* elements per process */

static int t, x, fixed, record, bytes;

/* Creates fixed(x), record(t, x) and bytes(x) with N elements per process, and leaves the
 * dataset in define mode. */
static int three_variables(void)
{
    int ncid = new_dataset("a.nc");
    t = new_dim(ncid, "t", NC_UNLIMITED);
    x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    int dims[2] = {t, x};
    fixed = new_var(ncid, "fixed", NC_INT, 1, &x);
    record = new_var(ncid, "record", NC_INT, 2, dims);
    bytes = new_var(ncid, "bytes", NC_BYTE, 1, &x);
    return ncid;
}

/* Post a put or a get of element `i` in this process's part. */
static int post_put(int ncid, int varid, int i, const int *value, int *id)
{
    MPI_Offset start = (MPI_Offset)N * check.rank + i, count = 1;
    return ncmpi_iput_vara_int(ncid, varid, &start, &count, value, id);
}

static int post_get(int ncid, int varid, int i, int *value, int *id)
{
    MPI_Offset start = (MPI_Offset)N * check.rank + i, count = 1;
    return ncmpi_iget_vara_int(ncid, varid, &start, &count, value, id);
}

/* Posts a get into a signed char, which may be too small for the value. */
static int post_get_small(int ncid, int varid, int i, signed char *value, int *id)
{
    MPI_Offset start = (MPI_Offset)N * check.rank + i, count = 1;
    return ncmpi_iget_vara_schar(ncid, varid, &start, &count, value, id);
}

static int pending(int ncid)
{
    int n = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(ncid, &n));
    return n;
}

/* Returns the value that an element has in the file. */
static int stored(int ncid, int varid, int i)
{
    MPI_Offset start = (MPI_Offset)N * check.rank + i, count = 1;
    int value = -1;
    CHECK_NC(NC_NOERR, get_ints(ncid, varid, &start, &count, &value));
    return value;
}

/* ---- modes ---- */

static void requests_are_waited_for_in_another_mode_than_posted(void)
{
    int ncid = three_variables(), ids[6], statuses[6], back[3] = {0};
    const int values[3] = {10 + check.rank, 20 + check.rank, 30 + check.rank};
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &values[0], &ids[0]));
    CHECK_NC(NC_NOERR, post_get(ncid, fixed, 0, &back[0], &ids[3]));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 1, &values[1], &ids[1]));
    CHECK_NC(NC_NOERR, post_get(ncid, fixed, 1, &back[1], &ids[4]));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 2, &values[2], &ids[2]));
    CHECK_NC(NC_NOERR, post_get(ncid, fixed, 2, &back[2], &ids[5]));
    CHECK_EQ(6, pending(ncid));
    if (check.collective) CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid, 6, ids, statuses));
    CHECK_EQ(0, pending(ncid));
    CHECK_BYTES(values, back, sizeof back);
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(NC_REQ_NULL, ids[i]);
        CHECK_NC(NC_NOERR, statuses[i]);
    }
    end_data(ncid);
    close_dataset(ncid);
}

static void a_wait_in_the_wrong_mode_leaves_requests_pending(void)
{
    int ncid = three_variables(), id, status = 77;
    const int value = 5;
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &value, &id));
    const int kept = id;
    CHECK_NC(NC_EINDEFINE, ncmpi_wait(ncid, 1, &id, &status));
    CHECK_NC(NC_EINDEFINE, ncmpi_wait_all(ncid, 1, &id, &status));
    begin_data(ncid);
    if (check.collective)
        CHECK_NC(NC_ENOTINDEP, ncmpi_wait(ncid, 1, &id, &status));
    else
        CHECK_NC(NC_EINDEP, ncmpi_wait_all(ncid, 1, &id, &status));
    CHECK_EQ(kept, id);
    CHECK_EQ(1, pending(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &id, &status));
    CHECK_EQ(5, stored(ncid, fixed, 0));
    end_data(ncid);
    close_dataset(ncid);
}

static void puts_to_a_read_only_dataset_are_refused(void)
{
    int ncid = three_variables(), id = 5, value = 8, back = -1;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 1, &value, &id));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &id, NULL));
    end_data(ncid);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_EPERM, post_put(ncid, fixed, 1, &value, &id));
    CHECK_NC(NC_NOERR, post_get(ncid, fixed, 1, &back, &id));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, NULL));
    CHECK_EQ(8, back);
    close_dataset(ncid);
}

/* ---- ids and statuses ---- */

static void ids_are_waited_for_in_any_order(void)
{
    int ncid = three_variables(), ids[N], values[N], order[N];
    begin_data(ncid);
    for (int i = 0; i < N; i++) {
        values[i] = (int)check_random_own(1000);
        CHECK_NC(NC_NOERR, post_put(ncid, fixed, i, &values[i], &ids[i]));
        for (int k = 0; k < i; k++)
            CHECK(ids[k] != ids[i]);
    }
    shuffled(order, N);
    int some[N], statuses[N];
    for (int i = 0; i < N; i++)
        some[i] = ids[order[i]];
    CHECK_NC(NC_NOERR, wait_for(ncid, 3, some, statuses));
    CHECK_EQ(N - 3, pending(ncid));
    for (int i = 0; i < N; i++)
        CHECK_EQ(i < 3, some[i] == NC_REQ_NULL);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(values[order[i]], stored(ncid, fixed, order[i]));
    /* Three of these requests are already complete. */
    CHECK_NC(NC_NOERR, wait_for(ncid, N, some, statuses));
    for (int i = 0; i < N; i++)
        CHECK_EQ(values[i], stored(ncid, fixed, i));
    end_data(ncid);
    close_dataset(ncid);
}

static void each_request_has_its_own_status(void)
{
    int ncid = three_variables(), ids[4], statuses[4] = {1, 1, 1, 1}, back = -1;
    const int good = 6, bad = 300;
    signed char small;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, post_put(ncid, bytes, 0, &good, &ids[2]));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 1, &bad, &ids[0]));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &ids[2], NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &ids[0], NULL));
    CHECK_NC(NC_NOERR, post_get_small(ncid, fixed, 1, &small, &ids[2]));
    CHECK_NC(NC_NOERR, post_put(ncid, bytes, 2, &good, &ids[0]));
    CHECK_NC(NC_NOERR, post_get(ncid, bytes, 0, &back, &ids[1]));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 3, &bad, &ids[3]));
    CHECK_NC(NC_ERANGE, wait_for(ncid, 4, ids, statuses));
    for (int i = 0; i < 4; i++)
        CHECK_NC(i == 2 ? NC_ERANGE : NC_NOERR, statuses[i]);
    CHECK_EQ(6, back); /* read correctly although the other get failed */
    CHECK_EQ(6, stored(ncid, bytes, 2));
    CHECK_EQ(300, stored(ncid, fixed, 3));
    end_data(ncid);
    close_dataset(ncid);
}

static void without_statuses_wait_returns_the_first_error(void)
{
    int ncid = three_variables(), ids[3];
    const int good = 6, bad = 300;
    signed char small;
    begin_data(ncid);
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 1, &bad, &ids[1]));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &ids[1], NULL));
    CHECK_NC(NC_NOERR, post_put(ncid, bytes, 0, &good, &ids[0]));
    CHECK_NC(NC_NOERR, post_get_small(ncid, fixed, 1, &small, &ids[1]));
    ids[2] = NC_REQ_NULL;
    CHECK_NC(NC_ERANGE, wait_for(ncid, 3, ids, NULL));
    CHECK_EQ(6, stored(ncid, bytes, 0));
    end_data(ncid);
    close_dataset(ncid);
}

/* If a value is out of range, every kind of post returns NC_ERANGE, but posts the request
 * nevertheless. */
static void a_post_reports_values_out_of_range(void)
{
    int ncid = three_variables(), ids[4], statuses[4];
    const int ints[3] = {1, 300, 3};
    const int64_t fill = NC_FILL_BYTE;
    const double doubles[6] = {4, 0, 1e9, 0, NAN, 0};
    MPI_Offset start = (MPI_Offset)N * check.rank, count = 3, stride = 1, two = 2;
    MPI_Offset *starts[1] = {&start}, *counts[1] = {&count};
    begin_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 100));
    CHECK_NC(NC_ERANGE, ncmpi_iput_vara_int(ncid, bytes, &start, &count, ints, &ids[0]));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, ids, statuses));
    CHECK_NC(NC_NOERR, statuses[0]);
    CHECK_EQ(1, stored(ncid, bytes, 0));
    CHECK_EQ(fill, stored(ncid, bytes, 1));
    CHECK_EQ(3, stored(ncid, bytes, 2));

    CHECK_NC(NC_ERANGE, ncmpi_iput_varm_double(ncid, bytes, &start, &count, &stride, &two,
                                               doubles, &ids[0]));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_EQ(4, stored(ncid, bytes, 0));
    CHECK_EQ(fill, stored(ncid, bytes, 1));
    CHECK_EQ(fill, stored(ncid, bytes, 2));

    CHECK_NC(NC_ERANGE,
             ncmpi_bput_varn_int(ncid, bytes, 1, starts, counts, ints, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, fixed, &start, &count, ints, &ids[1]));
    CHECK_EQ(2, pending(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid, 2, ids, NULL));
    CHECK_EQ(fill, stored(ncid, bytes, 1));
    CHECK_EQ(300, stored(ncid, fixed, 1));
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    end_data(ncid);
    close_dataset(ncid);
}

static void unknown_and_repeated_ids_are_refused(void)
{
    int ncid = three_variables(), id, values[2] = {7, 8};
    begin_data(ncid);
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &values[0], &id));
    int ids[5] = {id + 1000, id, NC_REQ_NULL, id, -2}, statuses[5];
    const int left[5] = {id + 1000, NC_REQ_NULL, NC_REQ_NULL, id, -2};
    CHECK_NC(NC_EINVAL_REQUEST, wait_for(ncid, 5, ids, statuses));
    static const int expected[5] = {NC_EINVAL_REQUEST, NC_NOERR, NC_NOERR,
                                    NC_EINVAL_REQUEST, NC_EINVAL_REQUEST};
    for (int i = 0; i < 5; i++) {
        CHECK_NC(expected[i], statuses[i]);
        CHECK_EQ(left[i], ids[i]);
    }
    CHECK_EQ(7, stored(ncid, fixed, 0));
    ids[0] = id; /* already complete */
    CHECK_NC(NC_EINVAL_REQUEST, wait_for(ncid, 1, ids, statuses));
    CHECK_NC(NC_EINVAL_REQUEST, statuses[0]);
    ids[0] = id + 5;
    CHECK_NC(NC_EINVAL_REQUEST, ncmpi_cancel(ncid, 1, ids, statuses));
    CHECK_NC(NC_EINVAL_REQUEST, statuses[0]);
    CHECK_EQ(id + 5, ids[0]);
    end_data(ncid);
    close_dataset(ncid);
}

/* If a wait completes several puts to the same element, the one posted last takes effect,
 * even if other requests were posted in between. */
static void a_few_of_many_requests_are_waited_for(void)
{
    enum { MANY = 100 };
    int ncid = three_variables(), ids[MANY], values[MANY], statuses[4];
    begin_data(ncid);
    for (int i = 0; i < MANY; i++) {
        values[i] = 1000 * check.rank + i;
        CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &values[i], &ids[i]));
    }
    int far[4] = {ids[90], ids[3], ids[3], ids[40]}, near[2] = {ids[7], ids[5]};
    CHECK_NC(NC_EINVAL_REQUEST, wait_for(ncid, 4, far, statuses));
    for (int i = 0; i < 4; i++)
        CHECK_NC(i == 2 ? NC_EINVAL_REQUEST : NC_NOERR, statuses[i]);
    CHECK_EQ(MANY - 3, pending(ncid));
    CHECK_EQ(values[90], stored(ncid, fixed, 0));
    CHECK_NC(NC_NOERR, wait_for(ncid, 2, near, statuses));
    CHECK_EQ(values[7], stored(ncid, fixed, 0));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_PUT_REQ_ALL, NULL, NULL));
    CHECK_EQ(values[MANY - 1], stored(ncid, fixed, 0));
    CHECK_EQ(0, pending(ncid));
    end_data(ncid);
    close_dataset(ncid);
}

static void invalid_lists_are_refused(void)
{
    int ncid = three_variables(), id = 0;
    begin_data(ncid);
    CHECK_NC(NC_EINVAL, wait_for(ncid, 1, NULL, NULL));
    CHECK_NC(NC_EINVAL, wait_for(ncid, -100, &id, NULL));
    CHECK_NC(NC_EINVAL, ncmpi_cancel(ncid, 1, NULL, NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, 0, NULL, NULL));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 0, NULL, NULL));
    end_data(ncid);
    close_dataset(ncid);
}

static void all_requests_or_all_of_one_kind_are_waited_for(void)
{
    int ncid = three_variables(), back[2] = {-1, -1};
    int values[3] = {11, 12, 13};
    begin_data(ncid);
    for (int round = 0; round < 2; round++) {
        back[0] = back[1] = -1;
        CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &values[0], NULL));
        CHECK_NC(NC_NOERR, post_get(ncid, fixed, 0, &back[0], NULL));
        CHECK_NC(NC_NOERR, post_put(ncid, fixed, 1, &values[1], NULL));
        CHECK_NC(NC_NOERR, post_get(ncid, fixed, 1, &back[1], NULL));
        CHECK_NC(NC_NOERR,
                 wait_for(ncid, round ? NC_PUT_REQ_ALL : NC_REQ_ALL, NULL, NULL));
        CHECK_EQ(round ? 2 : 0, pending(ncid));
        CHECK_EQ(round ? -1 : 11, back[0]);
        CHECK_NC(NC_NOERR, post_put(ncid, fixed, 2, &values[2], NULL));
        CHECK_NC(NC_NOERR, wait_for(ncid, NC_GET_REQ_ALL, NULL, NULL));
        CHECK_EQ(1, pending(ncid));
        CHECK_EQ(11, back[0]);
        CHECK_EQ(12, back[1]);
        CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
        CHECK_EQ(0, pending(ncid));
    }
    end_data(ncid);
    close_dataset(ncid);
}

static void no_elements_or_an_error_give_no_request(void)
{
    int ncid = three_variables(), id = 5, value = 1, status = 5;
    MPI_Offset start = 0, count = 0;
    for (int round = 0; round < 2; round++) {
        CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, fixed, &start, &count, &value, &id));
        CHECK_EQ(NC_REQ_NULL, id);
        id = 5;
        CHECK_NC(NC_NOERR, ncmpi_iget_vara_int(ncid, fixed, &start, &count, &value, &id));
        CHECK_EQ(NC_REQ_NULL, id);
        CHECK_NC(NC_NOERR,
                 ncmpi_iput_vara_int(ncid, fixed, &start, &count, &value, NULL));
        CHECK_NC(NC_NOERR,
                 ncmpi_iget_vara_int(ncid, fixed, &start, &count, &value, NULL));
        /* There are no records yet. */
        CHECK_NC(NC_NOERR, ncmpi_iget_var_int(ncid, record, &value, &id));
        CHECK_EQ(NC_REQ_NULL, id);
        id = 5;
        CHECK_NC(NC_ENOTVAR, ncmpi_iput_var_int(ncid, 99, &value, &id));
        CHECK_EQ(NC_REQ_NULL, id);
        CHECK_NC(NC_EINVALCOORDS, post_put(ncid, fixed, N * check.nprocs, &value, &id));
        CHECK_NC(NC_EINVAL, post_put(ncid, fixed, 0, NULL, &id));
        CHECK_EQ(0, pending(ncid));
        if (round == 0) begin_data(ncid);
    }
    id = NC_REQ_NULL;
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &id, &status));
    CHECK_NC(NC_NOERR, status);
    end_data(ncid);
    close_dataset(ncid);
}

/* ---- cancel and close ---- */

static void a_cancelled_request_has_no_effect(void)
{
    int ncid = three_variables(), ids[3], statuses[2] = {1, 1}, back = -1;
    const int values[3] = {1, 2, 3}, zero[3] = {0, 0, 0};
    MPI_Offset start = (MPI_Offset)N * check.rank, count = 3;
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &values[0], &ids[0]));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 1, &values[1], &ids[1]));
    CHECK_NC(NC_NOERR, post_get(ncid, fixed, 2, &back, &ids[2]));
    int some[2] = {ids[2], ids[0]};
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 2, some, statuses)); /* in define mode */
    CHECK_NC(NC_NOERR, statuses[0]);
    CHECK_NC(NC_NOERR, statuses[1]);
    CHECK_EQ(NC_REQ_NULL, some[0]);
    CHECK_EQ(NC_REQ_NULL, some[1]);
    CHECK_EQ(1, pending(ncid));
    begin_data(ncid);
    CHECK_NC(NC_NOERR, put_ints(ncid, fixed, &start, &count, zero));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 2, &values[2], NULL));
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, NC_GET_REQ_ALL, NULL, NULL));
    CHECK_EQ(2, pending(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &ids[1], NULL));
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_EQ(0, pending(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_EQ(0, stored(ncid, fixed, 0));
    CHECK_EQ(2, stored(ncid, fixed, 1));
    CHECK_EQ(0, stored(ncid, fixed, 2));
    CHECK_EQ(-1, back);
    end_data(ncid);
    close_dataset(ncid);
}

static void close_refuses_pending_requests(void)
{
    int ncid = three_variables(), id, value = 9, lost = 10, back;
    MPI_Offset before, after;
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&before));
    begin_data(ncid);
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &value, &id));
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &id, NULL));
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &lost, NULL));
    CHECK_NC(NC_NOERR, post_get(ncid, fixed, 0, &back, NULL));
    end_data(ncid);
    CHECK_NC(NC_EPENDING, ncmpi_close(ncid));
    CHECK_NC(NC_EBADID, ncmpi_inq_nreqs(ncid, &id));
    complete_closes();
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&after));
    CHECK_EQ(0, after);

    ncid = open_dataset("a.nc", NC_WRITE);
    if (!check.collective) CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_EQ(9, stored(ncid, fixed, 0));
    end_data(ncid);
    if (check.rank == 0) CHECK_NC(NC_NOERR, post_get(ncid, fixed, 0, &back, NULL));
    int rc = ncmpi_close(ncid);
    if (check.rank == 0) CHECK_NC(NC_EPENDING, rc);
}

/* ---- number of records, and several processes ---- */

static void records_are_added_by_the_wait(void)
{
    int ncid = three_variables(), values[3] = {4, 5, 6};
    begin_data(ncid);
    static const int order[3] = {5, 1, 3};
    for (int i = 0; i < 3; i++) {
        MPI_Offset start[2] = {order[i], (MPI_Offset)N * check.rank}, count[2] = {1, 1};
        CHECK_NC(NC_NOERR,
                 ncmpi_iput_vara_int(ncid, record, start, count, &values[i], NULL));
    }
    CHECK_EQ(0, dim_length(ncid, t));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_EQ(6, dim_length(ncid, t));
    for (int i = 0; i < 3; i++) {
        MPI_Offset start[2] = {order[i], (MPI_Offset)N * check.rank}, count[2] = {1, 1};
        int back = -1;
        CHECK_NC(NC_NOERR, get_ints(ncid, record, start, count, &back));
        CHECK_EQ(values[i], back);
    }
    end_data(ncid);
    close_dataset(ncid);
}

/* The processes take turns: each posts a put that appends a record and waits for it,
 * while the others call the wait without requests. */
static void some_processes_may_wait_for_no_requests(void)
{
    int ncid = three_variables(), value, back = -1, id = NC_REQ_NULL;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    for (int who = 0; who < check.nprocs; who++) {
        MPI_Offset start[2] = {who + 3, 0}, count[2] = {1, 1};
        value = 50 + who;
        if (check.rank == who)
            CHECK_NC(NC_NOERR,
                     ncmpi_iput_vara_int(ncid, record, start, count, &value, &id));
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, check.rank == who, &id, NULL));
        CHECK_EQ(who + 4, dim_length(ncid, t));
        if (check.rank != who)
            CHECK_NC(NC_NOERR,
                     ncmpi_iget_vara_int(ncid, record, start, count, &back, NULL));
        CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
        if (check.rank != who) CHECK_EQ(value, back);
    }
    close_dataset(ncid);
}

/* If one process passes an invalid list, the others must not wait forever. */
static void an_invalid_list_of_one_process_affects_no_other(void)
{
    int ncid = three_variables(), id, value = 3;
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    bool bad = check.rank == check.nprocs - 1;
    CHECK_NC(NC_NOERR, post_put(ncid, fixed, 0, &value, &id));
    CHECK_NC(bad ? NC_EINVAL : NC_NOERR, ncmpi_wait_all(ncid, 1, bad ? NULL : &id, NULL));
    CHECK_EQ(bad, pending(ncid));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, NULL));
    CHECK_EQ(3, stored(ncid, fixed, 0));
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"requests are waited for in another mode than posted",
     requests_are_waited_for_in_another_mode_than_posted, CHECK_FORMATS | CHECK_MODES},
    {"a wait in the wrong mode leaves requests pending",
     a_wait_in_the_wrong_mode_leaves_requests_pending, CHECK_FORMATS | CHECK_MODES},
    {"puts to a read-only dataset are refused", puts_to_a_read_only_dataset_are_refused,
     CHECK_FORMATS},
    {"ids are waited for in any order", ids_are_waited_for_in_any_order,
     CHECK_FORMATS | CHECK_MODES},
    {"a post reports values out of range", a_post_reports_values_out_of_range,
     CHECK_MODES},
    {"each request has its own status", each_request_has_its_own_status,
     CHECK_FORMATS | CHECK_MODES},
    {"without statuses wait returns the first error",
     without_statuses_wait_returns_the_first_error, CHECK_FORMATS | CHECK_MODES},
    {"unknown and repeated ids are refused", unknown_and_repeated_ids_are_refused,
     CHECK_FORMATS | CHECK_MODES},
    {"a few of many requests are waited for", a_few_of_many_requests_are_waited_for,
     CHECK_FORMATS | CHECK_MODES},
    {"invalid lists are refused", invalid_lists_are_refused, CHECK_FORMATS | CHECK_MODES},
    {"all requests, or all of one kind, are waited for",
     all_requests_or_all_of_one_kind_are_waited_for, CHECK_FORMATS | CHECK_MODES},
    {"no elements or an error give no request", no_elements_or_an_error_give_no_request,
     CHECK_FORMATS | CHECK_MODES},
    {"a cancelled request has no effect", a_cancelled_request_has_no_effect,
     CHECK_FORMATS | CHECK_MODES},
    {"close refuses pending requests", close_refuses_pending_requests,
     CHECK_FORMATS | CHECK_MODES},
    {"records are added by the wait", records_are_added_by_the_wait,
     CHECK_FORMATS | CHECK_MODES},
    {"some processes may wait for no requests", some_processes_may_wait_for_no_requests,
     CHECK_FORMATS},
    {"an invalid list of one process affects no other",
     an_invalid_list_of_one_process_affects_no_other, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
