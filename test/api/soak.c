/* Runs random steps from each_fault.h for a long time, on every path that data can take
 * to the file, and injects a fault on one process into some of them. All results must be
 * correct. The library must free all of its memory after each round. After a warm-up,
 * other usage must not grow: memory of the process, descriptors, threads, MPI objects.
 * NCMPI_SOAK=SECONDS sets the duration (default: 2). Prints a table at the end. */
#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"
#include "each_fault.h"
#include "fault.h"
#include "fault_mpi.h"
#include "pnetcdf.h"
#include "shortage.h"

static const char *const ways[] = {
    "",
    "nc_transfer=direct",
    "nc_transfer=node;nc_node_share_size=300",
    "nc_transfer=node;nc_node_procs=2;nc_node_share_size=300",
    "nc_transfer=view",
    "nc_file_io=mpi",
    "nc_burst_buf=enable",
    "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
    "nc_burst_buf=enable;nc_burst_buf_log_at=post",
    "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable",
    "nc_blob=enable;nc_num_subfiles=2",
    "nc_blob=enable;nc_num_subfiles=64",
    "nc_blob=enable;nc_num_subfiles=2;nc_burst_buf=enable",
    "nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd",
    "nc_quantize=bitround:9",
    "nc_quantize=bitround:9;nc_burst_buf=enable",
    "nc_quantize=bitround:9;nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd",
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* Faults in calls on the dataset's files. NULL means that an allocation fails instead. */
static const char *const plans[] = {NULL,
                                    "write:%ld:EIO:%s*",
                                    "write:%ld+:ENOSPC:%s*",
                                    "sync:%ld:EIO:%s*",
                                    "open:%ld:EMFILE:%s*",
                                    "truncate:%ld:ENOSPC:%s*"};
enum { PLANS = sizeof plans / sizeof plans[0] };

const char *hints;
int variant;
bool any_fault;

static const struct step *step;
static long faults;

/* ---- resources of this process ---- */

enum { LIBRARY, HEAP, RESIDENT, DESCRIPTORS, THREADS, OBJECTS, HELD };
static const char *const names[HELD] = {
    "bytes of the library", "bytes of the heap", "KiB resident",
    "descriptors",          "threads",           "objects of MPI"};
/* How much the least usage of each resource may grow from the second to the last third of
 * a long run, and of a short one. The library must have freed everything after each
 * round. The rest belongs to MPI and the C library, which allocate in steps, and subfiles
 * need communicators. A short run never leaves the warm-up: in 48 rounds, the heap has
 * grown by up to 0.4 MiB, resident memory by up to 7 MiB, descriptors by 6 and objects
 * by 3. */
static const long slack[][HELD] = {{0, 4 << 20, 4096, 1, 0, 1},
                                   {0, 2 << 20, 16384, 8, 0, 4}};
enum { LONG_RUN = 600 };

static long entries_of(const char *directory)
{
    long n = 0;
    DIR *d = opendir(directory);
    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL) closedir(d);
    return n;
}

static long resident(void)
{
    long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (f != NULL) fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void measure(long *held)
{
    char text[200];
    MPI_Offset bytes = 0;
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&bytes));
    held[LIBRARY] = (long)bytes;
    held[HEAP] = (long)mallinfo2().uordblks;
    held[RESIDENT] = resident();
    held[DESCRIPTORS] = entries_of("/proc/self/fd");
    held[THREADS] = entries_of("/proc/self/task");
    held[OBJECTS] = fault_mpi_left(text, sizeof text);
}

/* ---- a round ---- */

static bool arm(int who, int plan, long nth)
{
    char text[4500];
    if (plan < 0 || check.rank != who) return false;
    if (plans[plan] == NULL) {
        shortage_arm(nth);
        return true;
    }
    snprintf(text, sizeof text, plans[plan], nth, check_path(""));
    return CHECK(fault_arm(text));
}

static void one_round(void)
{
    int nsteps = 0;
    while (steps[nsteps].name != NULL)
        nsteps++;
    step = &steps[check_random((uint64_t)nsteps)];
    variant = (int)check_random((uint64_t)step->variants);
    hints = ways[check_random(WAYS)];
    int who = (int)check_random((uint64_t)check.nprocs);
    int plan = check_random(4) == 0 ? (int)check_random(PLANS) : -1;
    long nth = 1 + (long)check_random(12);
    cases_begin("round %ld: %s, %s %d, fault %d at %ld on process %d", cases.tried, hints,
                step->name, variant, plan, nth, who);
    any_fault = false;
    step->before();
    bool armed = arm(who, plan, nth);
    int rc = step->call();
    bool met = armed && (plans[plan] == NULL ? shortage_disarm() : fault_disarm() > 0);
    any_fault = cases_most(met) > 0;
    if (rc != NC_NOERR && !any_fault) complain(WRONG, "%s", ncmpi_strerror(rc));
    faults += any_fault;
    step->after(rc);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) remove_files();
    cases_end();
}

/* ---- all rounds ---- */

/* Runs rounds for the given time, but at least `least` of them. Stores in `held` the
 * least usage of each resource after any round: caches come and go, but a leak stays. */
static void work_for(double seconds, int least, long *held)
{
    double since = MPI_Wtime();
    long now[HELD];
    for (int h = 0; h < HELD; h++)
        held[h] = LONG_MAX;
    for (int i = 0;; i++) {
        int done = i >= least && MPI_Wtime() - since > seconds;
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (done) break;
        one_round();
        measure(now);
        for (int h = 0; h < HELD; h++)
            if (now[h] < held[h]) held[h] = now[h];
    }
}

static void memory_and_descriptors_do_not_grow(void)
{
    const char *asked = getenv("NCMPI_SOAK");
    double seconds = asked == NULL ? 2 : atof(asked);
    long warm[HELD], late[HELD], worst[HELD], grown[HELD];
    char what[100];
    cases_start("NCMPI_SOAK", 0);
    work_for(seconds / 3, 48, warm);
    work_for(seconds / 3, 48, warm);
    work_for(seconds / 3, 48, late);
    for (int h = 0; h < HELD; h++) {
        grown[h] = late[h] - warm[h];
        if (grown[h] > slack[seconds < LONG_RUN][h])
            complain(LEAKED, "%s: %ld, then %ld", names[h], warm[h], late[h]);
    }
    snprintf(what, sizeof what, "soak of %.0f s, %ld rounds with a fault", seconds,
             faults);
    MPI_Reduce(grown, worst, HELD, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int h = 0; h < HELD && check.rank == 0; h++)
        printf("# table: %s, process 0: %ld in the second third, %ld in the last; most "
               "more on one process: %ld\n",
               names[h], warm[h], late[h], worst[h]);
    cases_table(what);
}

static const struct check_test tests[] = {
    {"memory and descriptors do not grow", memory_and_descriptors_do_not_grow, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "4");
}
