/* Tests that a deferred error is not lost. A write fails in one process, and only this
 * process gets the error. The next agreement must report it on all processes. In between,
 * any function of the interface may be called, with valid arguments or with arguments
 * that all processes refuse. */
#include <string.h>

#include "fault.h"
#include "one_bad.h"
#include "pnetcdf.h"

enum { FEW = 3 }; /* mistakes tried for each collective function */

static bool uninformed; /* this process has not got the error yet */
static int deferrals;   /* number of cases in which an error was deferred */

/* Records the result of a call. */
static void see(int rc)
{
    if (rc != NC_NOERR && rc != NC_ERANGE) uninformed = false;
}

/* Makes a collective put that fails on the last process. Returns whether some process was
 * not informed of that. */
static bool put_with_a_failing_write(void)
{
    int values[N];
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    for (int i = 0; i < N; i++)
        values[i] = one_bad_value(2, start + i);
    if (check.rank == check.nprocs - 1) CHECK(fault_arm("write:1+:EIO:*.nc*"));
    int rc = ncmpi_put_vara_int_all(scene.ncid, FIXED, &start, &count, values);
    uninformed = rc == NC_NOERR;
    int failed = cases_most(rc != NC_NOERR);
    (void)fault_disarm();
    bool is_deferred = failed && cases_most(uninformed);
    deferrals += is_deferred;
    return is_deferred;
}

/* Makes the calls that agree in the dataset's present mode, and closes it. */
static void finish_calls(const char *between, int mistake)
{
    int format;
    bool is_open = ncmpi_inq_format(scene.ncid, &format) == NC_NOERR;
    if (is_open) {
        int rc = ncmpi_enddef(scene.ncid);
        if (rc != NC_ENOTINDEFINE) see(rc);
        rc = ncmpi_end_indep_data(scene.ncid);
        if (rc != NC_NOERR) see(rc);
        see(ncmpi_sync(scene.ncid));
    }
    if (uninformed)
        complain(LOST, "%s, call %d: the next agreement did not report the error",
                 between, mistake);
    if (is_open) (void)ncmpi_close(scene.ncid);
}

/* Returns whether the library refused a call because of its arguments or the mode. Such
 * an error does not inform the process of the failed write. */
static bool is_refusal(int rc)
{
    return rc <= NC_EBADID && rc != NC_EIO && rc != NC_EWRITE && rc != NC_EFILE;
}

static void call_between(const struct bad_call *c, int mistake)
{
    cases_begin("%s, %s, call %d", way, c->function, mistake);
    set_up(TOGETHER);
    if (put_with_a_failing_write()) {
        int rc = c->call(mistake);
        if (mistake == 0 || !is_refusal(rc)) see(rc);
        finish_calls(c->function, mistake);
    } else {
        (void)ncmpi_close(scene.ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    cases_end();
}

static void data_call_between(const struct calls_row *row)
{
    int back[PLACES];
    cases_begin("%s, %s", way, row->name);
    set_up(TOGETHER);
    if (put_with_a_failing_write()) {
        int rc = data_call(row, 0, 3, back);
        if (!is_refusal(rc)) see(rc);
        finish_calls(row->name, 0);
    } else {
        (void)ncmpi_close(scene.ncid);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    cases_end();
}

/* Functions that are not collective, several at a time. */
static int inquire(int mistake)
{
    char text[NC_MAX_NAME + 1];
    int n, m, k, u;
    MPI_Offset length;
    nc_type type;
    (void)mistake;
    CHECK_NC(NC_NOERR, ncmpi_inq(scene.ncid, &n, &m, &k, &u));
    CHECK_NC(NC_NOERR, ncmpi_inq_dim(scene.ncid, T, text, &length));
    CHECK_NC(NC_NOERR, ncmpi_inq_att(scene.ncid, FIXED, "units", &type, &length));
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(scene.ncid, FIXED, "units", text));
    CHECK_NC(NC_ENOTATT, ncmpi_get_att_text(scene.ncid, FIXED, "none", text));
    CHECK_NC(NC_ENOTVAR, ncmpi_inq_varname(scene.ncid, 99, text));
    CHECK_NC(NC_NOERR, ncmpi_inq_nreqs(scene.ncid, &n));
    return NC_NOERR;
}

static int post_and_cancel(int mistake)
{
    int values[N] = {0}, req, status;
    MPI_Offset start = (MPI_Offset)N * check.rank, count = N;
    (void)mistake;
    CHECK_NC(NC_NOERR,
             ncmpi_iput_vara_int(scene.ncid, FIXED, &start, &count, values, &req));
    CHECK_NC(NC_NOERR, ncmpi_cancel(scene.ncid, 1, &req, &status));
    CHECK_NC(NC_NOERR, ncmpi_buffer_attach(scene.ncid, 1000));
    CHECK_NC(NC_NOERR,
             ncmpi_bput_vara_int(scene.ncid, FIXED, &start, &count, values, &req));
    CHECK_NC(NC_NOERR, ncmpi_cancel(scene.ncid, NC_REQ_ALL, NULL, NULL));
    CHECK_NC(NC_NOERR, ncmpi_buffer_detach(scene.ncid));
    return NC_NOERR;
}

static int ask_for_hints(int mistake)
{
    MPI_Info info;
    (void)mistake;
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(scene.ncid, &info));
    MPI_Info_free(&info);
    return NC_NOERR;
}

static const struct bad_call local_calls[] = {
    {"inquiries", 0, TOGETHER, inquire},
    {"a canceled put", 0, TOGETHER, post_and_cancel},
    {"ncmpi_inq_file_info", 0, TOGETHER, ask_for_hints},
    {NULL, 0, 0, NULL},
};

static void all_calls(const char *hints)
{
    way = hints;
    deferrals = 0;
    use_world();
    for (const struct bad_call *c = local_calls; c->function != NULL; c++)
        call_between(c, 0);
    for (const struct bad_call *c = bad_calls; c->function != NULL; c++)
        for (int m = 0; m <= c->mistakes && m < FEW; m++)
            if (m == 0 ? (c->modes & TOGETHER) != 0 : true) call_between(c, m);
    for (int r = 0; r < calls_row_count; r++)
        if (calls_rows[r].type == &calls_types[4] ||
            (calls_rows[r].type == NULL && calls_rows[r].kind == CALLS_vara))
            data_call_between(&calls_rows[r]);
    CHECK(deferrals > 100);
}

static void an_ordinary_file(void)
{
    cases_start("NCMPI_DEFERRED",
                1); /* in an exchange through a node, all are informed */
    all_calls("nc_transfer=direct");
    cases_table("deferred errors");
}

static void subfiles(void)
{
    cases_start("NCMPI_DEFERRED", 2);
    all_calls("nc_blob=enable;nc_num_subfiles=2");
    cases_table("deferred errors");
}

static const struct check_test tests[] = {
    {"a deferred error is reported, whatever is called: an ordinary file",
     an_ordinary_file, CHECK_SEVERAL},
    {"a deferred error is reported, whatever is called: subfiles", subfiles,
     CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "3");
}
