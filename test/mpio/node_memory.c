/* Makes one process's allocations in a collective call fail, one per run. The call must
 * return NC_NOERR or NC_ENOMEM on every process. If a get succeeds, its values must be
 * right. */
#include <string.h>

#include "check.h"
#include "pnetcdf.h"
#include "shortage.h"

enum { N = 3000, PARTS = 3 };

static int create(const char *procs, int *v)
{
    int ncid = -1, x;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_transfer", "node");
    MPI_Info_set(info, "nc_node_procs", procs);
    MPI_Info_set(info, "nc_node_share_size", "3000");
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), check.cmode, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", N * check.nprocs, &x));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 1, &x, v));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

/* Posts a few requests for all of this process's values (every nprocs-th element). */
static void queue(int ncid, int v, short *values, bool put)
{
    for (int i = 0; i < PARTS; i++) {
        MPI_Offset start = check.rank + (MPI_Offset)i * (N / PARTS) * check.nprocs;
        MPI_Offset count = N / PARTS, stride = check.nprocs;
        short *part = values + i * (N / PARTS);
        CHECK_NC(
            NC_NOERR,
            put ? ncmpi_iput_vars_short(ncid, v, &start, &count, &stride, part, NULL)
                : ncmpi_iget_vars_short(ncid, v, &start, &count, &stride, part, NULL));
    }
}

/* Makes the call's first allocation fail, then the second, and so on, until the call
 * makes no further allocations. */
static void fail_each(const char *procs, bool put)
{
    static short values[N], back[N];
    int more = 1, v = -1, ncid = create(procs, &v);
    for (int i = 0; i < N; i++)
        values[i] = (short)(i + check.rank);
    queue(ncid, v, values, true);
    CHECK_NC(NC_NOERR, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    for (long nth = 1; more; nth++) {
        bool mine = check.rank == nth % check.nprocs;
        memset(back, 0, sizeof back);
        queue(ncid, v, put ? values : back, put);
        if (mine) shortage_arm((nth - 1) / check.nprocs + 1);
        int rc = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
        int met = mine && shortage_disarm();
        CHECK(rc == NC_NOERR || rc == NC_ENOMEM);
        if (!put && rc == NC_NOERR) CHECK_BYTES(values, back, sizeof values);
        MPI_Allreduce(&met, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        (void)ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL);
    }
    (void)ncmpi_close(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void puts_on_one_node(void)
{
    fail_each("0", true);
}

static void gets_on_one_node(void)
{
    fail_each("0", false);
}

static void puts_across_nodes(void)
{
    fail_each("1", true);
    fail_each("2", true);
}

static void gets_across_nodes(void)
{
    fail_each("1", false);
    fail_each("2", false);
}

static const struct check_test tests[] = {
    {"puts on one node survive a shortage of memory", puts_on_one_node, 0},
    {"gets on one node survive a shortage of memory", gets_on_one_node, 0},
    {"puts across nodes survive a shortage of memory", puts_across_nodes, 0},
    {"gets across nodes survive a shortage of memory", gets_across_nodes, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
