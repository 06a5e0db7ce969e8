/* Tests that a driver layer inherits the slots that it does not implement. The program is
 * linked with empty_layer.c, which inserts empty layers above, below and between the
 * library's own layers. With every stack of layers, put, get, redefine, sync, abort and
 * close must work as usual. */
#include "api_dataset.h"
#include "check.h"
#include "made_dataset.h"
#include "pnetcdf.h"

enum { X = 6, RECORDS = 2 };

/* Hints for each kind of driver stack. */
static const char *const stacks[] = {
    "nc_report=0",
    "nc_blob=enable",
    "nc_burst_buf=enable",
    "nc_burst_buf=enable;nc_burst_buf_log_at=post",
    "nc_burst_buf=enable;nc_blob=enable",
    "nc_burst_buf=enable;nc_deferred_close=enable",
    "nc_stage=enable",
};
enum { STACKS = sizeof stacks / sizeof stacks[0] };

static int ncid, fixed, record;

static int value_of(int rank, int i)
{
    return 100 * rank + i + 1;
}

static void fill_values(int *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = value_of(check.rank, i);
}

/* Computes the start and count of this process's columns in `nrecs` records, beginning
 * with record `first`. */
static void find_place(MPI_Offset *start, MPI_Offset *count, int first, int nrecs)
{
    start[0] = first;
    start[1] = (MPI_Offset)X * check.rank;
    count[0] = nrecs;
    count[1] = X;
}

static void define(const char *hints)
{
    MPI_Info info = check_info(hints);
    int dims[2];
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", (MPI_Offset)X * check.nprocs, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "fixed", NC_INT, 1, &dims[1], &fixed));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &record));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

static void put_fixed(void)
{
    MPI_Offset start[2], count[2];
    int values[X];
    fill_values(values, X);
    find_place(start, count, 0, 1);
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, fixed, start + 1, count + 1, values));
}

/* Posts two puts, cancels the second, and waits for the first. */
static void post_record(int first)
{
    MPI_Offset start[2], count[2];
    int values[X], none[X] = {0}, ids[2], status[2];
    fill_values(values, X);
    find_place(start, count, first, 1);
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, record, start, count, values, &ids[0]));
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, record, start, count, none, &ids[1]));
    CHECK_NC(NC_NOERR, ncmpi_cancel(ncid, 1, &ids[1], &status[1]));
    CHECK_NC(NC_NOERR, status[1]);
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, ids, status));
    CHECK_NC(NC_NOERR, status[0]);
}

/* Checks the values that the next process put. */
static void check_neighbour(int varid, int first)
{
    MPI_Offset start[2], count[2];
    int values[X] = {0}, next = (check.rank + 1) % check.nprocs;
    int from = varid == record ? 0 : 1;
    find_place(start, count, first, 1);
    start[1] = (MPI_Offset)X * next;
    CHECK_NC(NC_NOERR,
             ncmpi_get_vara_int_all(ncid, varid, start + from, count + from, values));
    for (int i = 0; i < X; i++)
        CHECK_EQ(value_of(next, i), values[i]);
}

static void redefine(void)
{
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "more", 4, "room"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
}

/* Puts, syncs and gets in independent mode. */
static void put_and_sync_alone(void)
{
    MPI_Offset start[2], count[2];
    int values[X], back[X] = {0};
    fill_values(values, X);
    find_place(start, count, 1, 1);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int(ncid, record, start, count, values));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_NC(NC_NOERR, ncmpi_get_vara_int(ncid, record, start, count, back));
    CHECK_EQ(value_of(check.rank, X - 1), back[X - 1]);
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
}

static void finish(void)
{
    int done = 0;
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync_numrecs(ncid));
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    CHECK_NC(NC_NOERR, ncmpix_flush_start(ncid));
    CHECK_NC(NC_NOERR, ncmpix_flush_test(ncid, &done));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    CHECK_NC(NC_NOERR, ncmpix_wait_closed(check_path("a.nc")));
}

static void read_again(const char *hints)
{
    MPI_Info info = check_info(hints);
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, NC_GLOBAL, NULL, NULL));
    check_neighbour(fixed, 0);
    for (int i = 0; i < RECORDS; i++)
        check_neighbour(record, i);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* ---- the tests ---- */

static void values_pass_through_an_empty_layer(void)
{
    for (int i = 0; i < STACKS; i++) {
        define(stacks[i]);
        put_fixed();
        post_record(0);
        redefine();
        put_and_sync_alone();
        check_neighbour(fixed, 0);
        finish();
        read_again(stacks[i]);
    }
}

/* The top layer of the stack must be empty, and there must be an empty layer above each
 * of the others. */
static void the_stack_contains_an_empty_layer(void)
{
    struct api_dataset *d;
    define("nc_burst_buf=enable;nc_blob=enable");
    CHECK_NC(NC_NOERR, api_find(ncid, &d));
    int layers = 0;
    for (const struct driver *at = d->top; at != NULL; at = at->lower)
        layers++;
    CHECK_EQ(has_log(ncid) ? 7 : 6, layers);
    CHECK(d->top->posts == has_log(ncid));
    CHECK(d->top->at[0] == d->top);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Abort must remove a new file if enddef was never completed. */
static void an_abort_passes_through_an_empty_layer(void)
{
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_abort(ncid));
    CHECK_NC(NC_ENOENT, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                   MPI_INFO_NULL, &ncid));
}

static int put_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                   int error)
{
    (void)reqs, (void)n;
    self->prefers_merged_runs = true;
    return error;
}

/* If a layer implements put_all, it must see every request. Therefore the log below it
 * must not accept requests when they are posted, and the close must not be deferred. */
static void a_layer_that_implements_put_all_prevents_logged_posts(void)
{
    static const struct driver_ops slots = {.put_all = put_all};
    struct api_dataset *d;
    struct driver layer;
    define("nc_burst_buf=enable;nc_deferred_close=enable");
    CHECK_NC(NC_NOERR, api_find(ncid, &d));
    driver_stack(&layer, &slots, d->top, &d->ds);
    layer.prefers_merged_runs = false;
    CHECK(!layer.posts);
    CHECK_EQ(NC_EPERM, driver_call(&layer, posting.wait_all, NULL, 0, NC_EPERM));
    CHECK(layer.prefers_merged_runs); /* the layer's put_all was called */
    CHECK_EQ(DRIVER_NOW, driver_call(&layer, background.defer));
    CHECK_NC(NC_NOERR, driver_call(&layer, sync_all));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static const struct check_test tests[] = {
    {"values pass through an empty layer", values_pass_through_an_empty_layer,
     CHECK_FORMATS},
    {"the stack contains an empty layer", the_stack_contains_an_empty_layer, 0},
    {"an abort passes through an empty layer", an_abort_passes_through_an_empty_layer, 0},
    {"a layer that implements put_all prevents logged posts",
     a_layer_that_implements_put_all_prevents_logged_posts, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
