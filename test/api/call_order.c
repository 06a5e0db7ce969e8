/* Tests the order of collective puts. If different processes put to the same element in
 * two successive calls, the value from the second call must win, however the values reach
 * the file. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pnetcdf.h"

enum { SLOW_US = 20000 };

static const char *const ways[] = {
    "nc_transfer=auto",
    "nc_transfer=direct",
    "nc_transfer=node",
    "nc_transfer=node;nc_node_procs=2",
    "nc_transfer=view",
    "nc_file_io=mpi",
    "romio_no_indep_rw=true",
    "nc_burst_buf=enable",
    "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
    "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable",
    "nc_burst_buf=enable;nc_burst_buf_dirname=/nonexistent/there",
    "nc_burst_buf=enable;nc_burst_buf_dirname=/nonexistent/there;romio_no_indep_rw=true",
    "nc_blob=enable;nc_num_subfiles=2",
    "nc_blob=enable;nc_num_subfiles=64",
    "nc_blob=enable;nc_burst_buf=enable",
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* A function that makes a collective put of `value` to one element per process. */
typedef void put_one(int ncid, MPI_Offset place, int value);

static void put_blocking(int ncid, MPI_Offset place, int value)
{
    MPI_Offset one = 1;
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, 0, &place, &one, &value));
}

static void put_nonblocking(int ncid, MPI_Offset place, int value)
{
    MPI_Offset one = 1;
    int id, status;
    CHECK_NC(NC_NOERR, ncmpi_iput_vara_int(ncid, 0, &place, &one, &value, &id));
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, 1, &id, &status));
}

static void create(const char *way, int *ncid)
{
    int dim, v;
    MPI_Info info = check_info(way);
    if (strstr(way, "dirname") == NULL)
        MPI_Info_set(info, "nc_burst_buf_dirname", check_path(""));
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, ncid));
    MPI_Info_free(&info);
    /* Uses a fixed-size variable, because agreeing on the number of records would enforce
     * the order. */
    CHECK_NC(NC_NOERR, ncmpi_def_dim(*ncid, "x", check.nprocs, &dim));
    CHECK_NC(NC_NOERR, ncmpi_def_var(*ncid, "v", NC_INT, 1, &dim, &v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(*ncid));
}

/* Checks that each element has the value that the preceding process put in the second
 * call. */
static void check_all(int ncid, const char *way)
{
    int values[64] = {0}, wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, 0, values));
    for (int i = 0; i < check.nprocs; i++)
        wrong += values[i] != 1000 + (i + check.nprocs - 1) % check.nprocs;
    if (!CHECK_EQ(0, wrong)) CHECK_STR("the later values", way);
}

/* Delays one process before its first call. If the library did not make the others wait,
 * their second call would come before the delayed process's first. */
static void calls_keep_their_order(put_one *put)
{
    for (int i = 0; i < WAYS; i++) {
        int ncid;
        create(ways[i], &ncid);
        if (check.rank == check.nprocs - 1) usleep(SLOW_US);
        put(ncid, check.rank, check.rank);
        put(ncid, (check.rank + 1) % check.nprocs, 1000 + check.rank);
        check_all(ncid, ways[i]);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
        CHECK_NC(NC_NOERR, ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE,
                                      MPI_INFO_NULL, &ncid));
        check_all(ncid, ways[i]);
        CHECK_NC(NC_NOERR, ncmpi_close(ncid));
    }
}

static void collective_puts_keep_their_order(void)
{
    calls_keep_their_order(put_blocking);
}

static void waits_keep_their_order(void)
{
    calls_keep_their_order(put_nonblocking);
}

static const struct check_test tests[] = {
    {"collective puts keep their order", collective_puts_keep_their_order, CHECK_SEVERAL},
    {"waits for all keep their order", waits_keep_their_order, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "2 3 4");
}
