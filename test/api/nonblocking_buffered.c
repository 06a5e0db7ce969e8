/* Tests bput, which copies values to an attached buffer, and the reported usage of that
 * buffer. */
#include <string.h>

#include "nonblocking.h"

static int v; /* v(x) consists of four doubles for each process */

static int one_variable(void)
{
    int ncid = new_dataset("a.nc"), x = new_dim(ncid, "x", 4 * check.nprocs);
    v = new_var(ncid, "v", NC_DOUBLE, 1, &x);
    return ncid;
}

static int bput(int ncid, int i, int n, const int *values, int *id)
{
    MPI_Offset start = 4 * check.rank + i, count = n;
    return ncmpi_bput_vara_int(ncid, v, &start, &count, values, id);
}

static MPI_Offset usage(int ncid)
{
    MPI_Offset n = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_usage(ncid, &n));
    return n;
}

static void check_stored(int ncid, const int *expected)
{
    MPI_Offset start = 4 * check.rank, count = 4;
    int back[4] = {0};
    CHECK_NC(NC_NOERR, get_ints(ncid, v, &start, &count, back));
    CHECK_BYTES(expected, back, sizeof back);
}

static void the_callers_values_may_change_after_bput(void)
{
    int ncid = one_variable(), values[4] = {1, 2, 3, 4}, id;
    const int expected[4] = {1, 2, 3, 4};
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 32));
    CHECK_NC(NC_NOERR, bput(ncid, 0, 4, values, &id));
    memset(values, 99, sizeof values);
    begin_data(ncid);
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &id, NULL));
    check_stored(ncid, expected);
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    end_data(ncid);
    close_dataset(ncid);
}

static void a_buffer_is_attached_and_detached(void)
{
    int ncid = one_variable(), id = 5;
    const int values[4] = {1, 2, 3, 4};
    MPI_Offset size;
    CHECK_NC(NC_ENULLABUF, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_ENULLABUF, ncmpi_inq_buffer_usage(ncid, &size));
    CHECK_NC(NC_ENULLABUF, ncmpi_inq_buffer_size(ncid, &size));
    if (!has_log(ncid)) {
        CHECK_NC(NC_ENULLABUF, bput(ncid, 0, 4, values, &id));
        CHECK_EQ(NC_REQ_NULL, id);
    }
    CHECK_NC(NC_ENULLBUF, ncmpi_buffer_attach(ncid, 0));
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 24));
    CHECK_NC(NC_EPREVATTACHBUF, ncmpi_buffer_attach(ncid, 24));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_size(ncid, &size));
    CHECK_EQ(24, size);
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 48));
    CHECK_NC(NC_NOERR, ncmpi_inq_buffer_size(ncid, &size));
    CHECK_EQ(48, size);
    close_dataset(ncid);
}

/* If the burst buffer is enabled, the log stores the values, so bput needs no attached
 * buffer. If a buffer is attached anyway, its size still limits bputs. */
static void with_a_log_no_buffer_needs_to_be_attached(void)
{
    static const char *const hints[] = {"nc_burst_buf=enable",
                                        "nc_burst_buf=enable;nc_burst_buf_log_at=post"};
    if (!PNETCDF_BURST_BUFFERING) check_skip("the burst buffer is not built");
    for (int i = 0; i < (PNETCDF_BURST_BUFFERING ? 2 : 0); i++) {
        int ncid = -1, ids[2], x, statuses[2], values[4] = {1, 2, 3, 4};
        const int expected[4] = {1, 2, 3, 4};
        MPI_Offset size;
        MPI_Info info = check_info(hints[i]);
        MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
        CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                        NC_CLOBBER | check.cmode, info, &ncid));
        MPI_Info_free(&info);
        x = new_dim(ncid, "x", 4 * check.nprocs);
        v = new_var(ncid, "v", NC_DOUBLE, 1, &x);
        CHECK_NC(NC_NOERR, bput(ncid, 0, 1, values, &ids[0])); /* in define mode */
        begin_data(ncid);
        CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 16));
        CHECK_NC(NC_EINSUFFBUF, bput(ncid, 1, 3, values + 1, &ids[1]));
        CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
        CHECK_NC(NC_ENULLABUF, ncmpi_inq_buffer_usage(ncid, &size));
        CHECK_NC(NC_NOERR, bput(ncid, 1, 3, values + 1, &ids[1]));
        memset(values, 99, sizeof values);
        CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 16));
        CHECK_EQ(0, usage(ncid));
        CHECK_NC(NC_NOERR, wait_for(ncid, 2, ids, statuses));
        CHECK_NC(NC_NOERR, statuses[0]);
        CHECK_NC(NC_NOERR, statuses[1]);
        CHECK_EQ(0, usage(ncid));
        check_stored(ncid, expected);
        CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
        end_data(ncid);
        close_dataset(ncid);
    }
}

/* Buffer usage is counted in bytes of the external type, so a double counts 8 bytes,
 * whatever the type in memory. */
static void completed_requests_free_their_part_of_the_buffer(void)
{
    int ncid = one_variable(), ids[3];
    const int values[4] = {1, 2, 3, 4}, expected[4] = {1, 2, 3, 1};
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 32));
    CHECK_EQ(0, usage(ncid));
    CHECK_NC(NC_NOERR, bput(ncid, 0, 3, values, &ids[0]));
    CHECK_EQ(24, usage(ncid));
    CHECK_NC(NC_EINSUFFBUF, bput(ncid, 0, 2, values, &ids[1]));
    CHECK_EQ(NC_REQ_NULL, ids[1]);
    CHECK_EQ(24, usage(ncid));
    CHECK_NC(NC_NOERR, bput(ncid, 3, 1, values, &ids[1]));
    CHECK_EQ(32, usage(ncid));
    CHECK_NC(NC_EINSUFFBUF, bput(ncid, 0, 1, values, &ids[2]));
    CHECK_NC(NC_NOERR, bput(ncid, 0, 0, values, &ids[2]));
    CHECK_EQ(NC_REQ_NULL, ids[2]);
    CHECK_NC(NC_EPENDINGBPUT, ncmpi_buffer_detach(ncid));
    begin_data(ncid);
    CHECK_NC(NC_NOERR, wait_for(ncid, 1, &ids[1], NULL));
    CHECK_EQ(24, usage(ncid));
    CHECK_NC(NC_EPENDINGBPUT, ncmpi_buffer_detach(ncid));
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_PUT_REQ_ALL, NULL, NULL));
    CHECK_EQ(0, usage(ncid));
    check_stored(ncid, expected);
    CHECK_NC(NC_NOERR, bput(ncid, 0, 4, values, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, ids, NULL));
    CHECK_EQ(0, usage(ncid));
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(ncid));
    end_data(ncid);
    close_dataset(ncid);
}

/* Posts puts with a list, a derived type and a map. Their values must be copied when they
 * are posted. */
static void every_kind_of_request_is_copied(void)
{
    int ncid = one_variable(), back[4] = {0, 5, 0, 6};
    MPI_Offset a = 4 * check.rank + 3, b = 4 * check.rank, *starts[2] = {&a, &b};
    MPI_Offset one = 4 * check.rank + 1, two = 2, imap = -1;
    int list[2] = {4, 1}, mapped[2] = {3, 2};
    const int expected[4] = {1, 2, 3, 4}, again[4] = {1, 5, 6, 4};
    MPI_Datatype type;
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 1000));
    begin_data(ncid);
    CHECK_NC(NC_NOERR, ncmpi_bput_varn_int(ncid, v, 2, starts, NULL, list, NULL));
    CHECK_NC(NC_NOERR,
             ncmpi_bput_varm_int(ncid, v, &one, &two, NULL, &imap, mapped + 1, NULL));
    CHECK_EQ(32, usage(ncid));
    memset(list, 0, sizeof list);
    memset(mapped, 0, sizeof mapped);
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    check_stored(ncid, expected);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK_NC(NC_NOERR, ncmpi_bput_vara(ncid, v, &one, &two, back + 1, 1, type, NULL));
    MPI_Type_free(&type);
    memset(back, 0, sizeof back);
    CHECK_NC(NC_NOERR, wait_for(ncid, NC_REQ_ALL, NULL, NULL));
    check_stored(ncid, again);
    CHECK_EQ(0, usage(ncid));
    end_data(ncid);
    close_dataset(ncid);
}

static void close_frees_an_attached_buffer(void)
{
    int ncid = one_variable();
    const int values[4] = {1, 2, 3, 4};
    MPI_Offset left;
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(ncid, 100));
    CHECK_NC(NC_NOERR, bput(ncid, 0, 4, values, NULL));
    CHECK_NC(NC_EPENDING, ncmpi_close(ncid));
    complete_closes();
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&left));
    CHECK_EQ(0, left);
}

static const struct check_test tests[] = {
    {"the caller's values may change after bput",
     the_callers_values_may_change_after_bput, CHECK_FORMATS | CHECK_MODES},
    {"a buffer is attached and detached", a_buffer_is_attached_and_detached,
     CHECK_FORMATS},
    {"with a log no buffer needs to be attached",
     with_a_log_no_buffer_needs_to_be_attached, CHECK_FORMATS | CHECK_MODES},
    {"completed requests free their part of the buffer",
     completed_requests_free_their_part_of_the_buffer, CHECK_FORMATS | CHECK_MODES},
    {"every kind of request is copied", every_kind_of_request_is_copied,
     CHECK_FORMATS | CHECK_MODES},
    {"close frees an attached buffer", close_frees_an_attached_buffer, CHECK_FORMATS},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, NULL);
}
