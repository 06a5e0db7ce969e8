/* Makes each socket, pipe and thread call in the staging code fail, once or permanently.
 * No library call of the program may fail as a result, the values that it reads must be
 * correct, no process may wait for long, and no descriptor may stay open. A single node
 * uses only threads, so test/stage/stage_nodes.sh runs this test on two nodes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "fault.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"
#include "stage_ints.h"

enum { BLOCK = 4096, BLOCKS = 12, N = BLOCKS * BLOCK / 4, MOST = 300 };

/* Adds a minute to the time, because nodes do not exchange blocks of a file that has just
 * changed. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += 60;
    return (int)result;
}

static void write_file(void)
{
    static int values[N];
    for (int i = 0; i < N; i++)
        values[i] = i * 3;
    write_ints(values, N, "");
}

static bool interrupted; /* true if a timer fires frequently, like a profiler's */

static void tick(int number)
{
    (void)number;
}

static void interrupt_every(int us)
{
    const struct itimerval often = {{0, us}, {0, us}};
    const struct sigaction how = {.sa_handler = tick};
    sigaction(SIGALRM, &how, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void get_all(int ncid)
{
    static int values[N];
    int wrong = 0;
    memset(values, 0, sizeof values);
    if (interrupted) interrupt_every(2000);
    CHECK_NC(NC_NOERR, ncmpi_get_var_int(ncid, 0, values));
    interrupt_every(0);
    for (int i = 0; i < N; i++)
        wrong += values[i] != i * 3;
    CHECK_EQ(0, wrong);
}

/* Half of the processes prefetch and get all blocks. Then all processes get all
 * blocks. */
static void live(const char *scope)
{
    int ncid;
    char text[200];
    snprintf(text, sizeof text,
             "nc_stage=enable;nc_stage_block_size=%d;nc_stage_scope=%s;"
             "nc_stage_exchange=enable",
             BLOCK, scope);
    MPI_Info info = check_info(text);
    MPI_Info_set(info, "nc_stage_dirname", check_path(""));
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, check_path("a.nc"), NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_begin_indep_data(ncid));
    if (check.rank % 2 == 0) CHECK_NC(NC_NOERR, ncmpix_prefetch(ncid, 0, NULL, NULL));
    if (check.rank % 2 == 0) get_all(ncid);
    MPI_Barrier(MPI_COMM_WORLD);
    get_all(ncid);
    CHECK_NC(NC_NOERR, ncmpix_prefetch_wait(ncid));
    CHECK_NC(NC_NOERR, ncmpi_end_indep_data(ncid));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

/* Runs the test repeatedly, making call number 1, 2, ... fail on one process or on all of
 * them, until no process makes that many calls. (From 6 on, the number grows by half each
 * time, up to MOST.) Returns the number of calls that failed on this process. */
static int each_call(const char *op, const char *what, const char *scope)
{
    int total = 0;
    for (int n = 1, met = 1; met != 0 && n <= MOST; n += n < 6 ? 1 : n / 2) {
        char plan[100];
        int before = check_descriptors();
        time_t begun = time(NULL);
        snprintf(plan, sizeof plan, "%s:%d%s:%s:*%s", op, n,
                 n % 3 == 0 && strcmp(what, "EINTR") != 0 ? "+" : "", what,
                 n % 2 == 0 ? ":0" : "");
        CHECK(fault_arm(plan));
        live(scope);
        met = fault_disarm();
        total += met;
        if (!CHECK(time(NULL) - begun < 20))
            printf("# %d seconds with %s\n", (int)(time(NULL) - begun), plan);
        if (!CHECK_EQ(before, check_descriptors())) printf("# with %s\n", plan);
        MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    return total;
}

static void failing_sockets_cause_no_errors(void)
{
    static const struct {
        const char *op, *what;
    } calls[] = {{"thread", "EAGAIN"}, {"socket", "EMFILE"},  {"bind", "EACCES"},
                 {"listen", "EMFILE"}, {"name", "ENOMEM"},    {"option", "ENOMEM"},
                 {"pipe", "EMFILE"},   {"connect", "EACCES"}, {"accept", "EMFILE"},
                 {"poll", "ENOMEM"},   {"poll", "EINTR"},     {"send", "ECONNRESET"},
                 {"send", "short"},    {"send", "EINTR"},     {"recv", "ECONNRESET"},
                 {"recv", "short"},    {"recv", "EAGAIN"},    {"accept", "EAGAIN"}};
    bool nodes = check_several_nodes();
    write_file();
    live("node"); /* MPI must open its own descriptors first */
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int met = each_call(calls[i].op, calls[i].what, i % 2 ? "node" : "global");
        MPI_Allreduce(MPI_IN_PLACE, &met, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(met > 0 || (!nodes && i > 0));
    }
}

/* A process must not wait forever for a node that does not accept connections, even if it
 * is interrupted repeatedly before its timeout. */
static void an_interrupted_process_does_not_wait_forever(void)
{
    write_file();
    time_t begun = time(NULL);
    CHECK(fault_arm("accept:1+:EMFILE:*"));
    interrupted = true;
    live("node");
    interrupted = false;
    CHECK_EQ(check_several_nodes(), fault_disarm() > 0);
    CHECK(time(NULL) - begun < 30);
}

static const struct check_test tests[] = {
    {"failing sockets cause no errors", failing_sockets_cause_no_errors, 0},
    {"an interrupted process does not wait forever",
     an_interrupted_process_does_not_wait_forever, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
