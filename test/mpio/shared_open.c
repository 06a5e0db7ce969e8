/* Tests that the processes on a node share one open file. If there are several nodes, one
 * process on each node opens the file and passes the descriptor to the others, whatever
 * the transfer method. If passing the descriptor fails or delivers a different file, each
 * process opens the file itself. If the device reports an error to one process, all
 * processes that share the open file must return it. The test simulates nodes with two
 * processes each and interposes sendmsg. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "counts.h"
#include "made_dataset.h"
#include "fault.h"

/* ---- interposed sendmsg ---- */

static enum { DELIVERED, REFUSED, LOST, ANOTHER } post;
static int another = -1; /* descriptor of a different file, to be sent instead */

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t (*next)(int, const struct msghdr *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    bool passes = head != NULL && head->cmsg_type == SCM_RIGHTS;
    if (passes && post == REFUSED) {
        errno = ETOOMANYREFS;
        return -1;
    }
    if (passes && post == LOST) return 1;
    if (passes && post == ANOTHER) memcpy(CMSG_DATA(head), &another, sizeof another);
    return next(fd, message, flags);
}

/* ---- common functions ---- */

enum { N = 700, ON_A_NODE = 2 };
static int v;

static int nodes(void)
{
    return (check.nprocs + ON_A_NODE - 1) / ON_A_NODE;
}

static MPI_Info hints(const char *way)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_statistics", "enable");
    MPI_Info_set(info, "nc_node_procs", "2");
    MPI_Info_set(info, "nc_transfer", way);
    MPI_Info_set(info, "nc_file_io", "posix");
    return info;
}

/* Creates a dataset with one variable, whose elements are distributed cyclically. */
static int new_one(const char *name, const char *way)
{
    int ncid = -1;
    MPI_Info info = hints(way);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path(name),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    int x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    return ncid;
}

static void put(int ncid, int salt)
{
    int values[N];
    MPI_Offset start = check.rank, count = N, stride = check.nprocs;
    for (int i = 0; i < N; i++)
        values[i] = salt + check.rank + check.nprocs * i;
    CHECK_NC(NC_NOERR, ncmpi_put_vars_int_all(ncid, v, &start, &count, &stride, values));
}

static void holds(int ncid, int salt)
{
    int *values = calloc((size_t)N * (size_t)check.nprocs, sizeof *values), wrong = 0;
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, v, values));
    for (int i = 0; i < N * check.nprocs; i++)
        wrong += values[i] != salt + i;
    CHECK_EQ(0, wrong);
    free(values);
}

static long long opens_of_all(int ncid)
{
    long long mine = count_of(ncid, "file_opens"), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static const char *const ways[] = {"node", "direct"};

static void a_node_opens_the_file_once(void)
{
    for (int i = 0; i < 2; i++) {
        int ncid = new_one("a.nc", ways[i]);
        CHECK_EQ(1, opens_of_all(ncid));
        put(ncid, i);
        holds(ncid, i);
        put(ncid, 10 + i);
        CHECK(opens_of_all(ncid) <= nodes());
        close_dataset(ncid);

        MPI_Info info = hints(ways[i]);
        CHECK_NC(NC_NOERR,
                 ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
        MPI_Info_free(&info);
        holds(ncid, 10 + i);
        CHECK(opens_of_all(ncid) <= nodes());
        close_dataset(ncid);
    }
}

/* Even when data moves to a new layout, the file must not be reopened. */
static void a_new_layout_does_not_reopen_the_file(void)
{
    int ncid = new_one("a.nc", "direct");
    close_dataset(ncid);
    MPI_Info info = hints("direct");
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    char text[5000] = "long";
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "t", sizeof text, text));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK(opens_of_all(ncid) <= nodes());
    close_dataset(ncid);
}

static void the_burst_buffer_uses_the_shared_descriptor(void)
{
    int ncid = -1;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_statistics", "enable");
    MPI_Info_set(info, "nc_burst_buf", "enable");
    MPI_Info_set(info, "nc_file_io", "posix");
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"),
                                    NC_CLOBBER | check.cmode, info, &ncid));
    MPI_Info_free(&info);
    int x = new_dim(ncid, "x", (MPI_Offset)N * check.nprocs);
    v = new_var(ncid, "v", NC_INT, 1, &x);
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    put(ncid, 5);
    CHECK_NC(NC_NOERR, ncmpi_flush(ncid));
    holds(ncid, 5);
    long long all = opens_of_all(ncid);
    CHECK(all == 1);
    close_dataset(ncid);
}

static void a_process_that_receives_no_descriptor_opens_the_file(void)
{
    another = open(check_path("other"), O_RDWR | O_CREAT, 0666);
    CHECK(another >= 0);
    for (int i = 0; i < 2; i++)
        for (post = REFUSED; post <= ANOTHER; post++) {
            int ncid = new_one("a.nc", ways[i]);
            put(ncid, (int)post);
            holds(ncid, (int)post);
            if (i == 1) CHECK_EQ(check.nprocs, opens_of_all(ncid));
            close_dataset(ncid);
        }
    post = DELIVERED;
    CHECK_EQ(0, lseek(another, 0, SEEK_END)); /* no process wrote to the other file */
    close(another);
}

/* The system reports a failed device only once per open file description, to the first
 * process that syncs. Nevertheless, all processes that share the description must return
 * the error. */
static void all_processes_that_share_a_descriptor_report_a_failed_sync(void)
{
    char plan[5000];
    int ncid = new_one("a.nc", "direct"), failed = 1;
    put(ncid, 1);
    CHECK_EQ(check.nprocs > 1 ? nodes() : 1, opens_of_all(ncid));
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    snprintf(plan, sizeof plan, "sync:1:EIO:%s:0", check_path("a.nc"));
    CHECK(fault_arm(plan));
    if (check.rank == 0) CHECK_NC(NC_EWRITE, ncmpi_sync(ncid));
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (check.rank == 1) CHECK_NC(NC_EWRITE, ncmpi_sync(ncid));
    CHECK_NC(NC_NOERR, ncmpi_sync(ncid));
    fault_disarm();
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    holds(ncid, 1);
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"a node opens the file once", a_node_opens_the_file_once, 0},
    {"a new layout does not reopen the file", a_new_layout_does_not_reopen_the_file, 0},
    {"the burst buffer uses the shared descriptor",
     the_burst_buffer_uses_the_shared_descriptor, 0},
    {"a process that receives no descriptor opens the file",
     a_process_that_receives_no_descriptor_opens_the_file, CHECK_SEVERAL},
    {"all processes that share a descriptor report a failed sync",
     all_processes_that_share_a_descriptor_report_a_failed_sync, CHECK_SEVERAL},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3 4");
}
