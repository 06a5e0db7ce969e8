/* Every call that can fail fails once on one process: allocations of the library, calls
 * of MPI, system calls; the first of them in a step of a dataset's life, the second, and
 * so on until there are no more. All processes return; who is told of success has what
 * was asked for, what was there before is still there, the next call works, nothing
 * leaks. For every way to the file. A part of it, the same each time, so that what fails
 * is the change; NCMPI_FAULTS=all: all of it, see each_fault.sh. */
#include "each_fault.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fault.h"
#include "fault_mpi.h"
#include "pnetcdf.h"
#include "shortage.h"

static const struct {
    const char *name, *hints;
    bool views;
} ways[] = {
    {"auto", "", false},
    {"direct", "nc_transfer=direct", false},
    {"node", "nc_transfer=node;nc_node_share_size=300", false},
    {"nodes of one", "nc_transfer=node;nc_node_procs=1;nc_node_share_size=300", false},
    {"nodes of two", "nc_transfer=node;nc_node_procs=2;nc_node_share_size=300", false},
    {"nodes of three", "nc_transfer=node;nc_node_procs=3;nc_node_share_size=300", false},
    {"view", "nc_transfer=view", true},
    {"collective only", "romio_no_indep_rw=true", true},
    {"log", "nc_burst_buf=enable", false},
    {"log, drained at once",
     "nc_burst_buf=enable;nc_burst_buf_flush=flush_immediate;nc_burst_buf_delay=0",
     false},
    {"log of posts", "nc_burst_buf=enable;nc_burst_buf_log_at=post", false},
    {"log of a node", "nc_burst_buf=enable;nc_burst_buf_shared_logs=enable", false},
};

/* What fails, and how; files: only those of the dataset. */
static const struct source {
    const char *name, *op, *what;
    bool later; /* from then on all */
    bool files;
} sources[] = {
    {"memory", NULL, NULL, false, false},
    {"MPI", "MPI_*", "ENOMEM", false, false},
    {"MPI's communicators", "MPI_Comm_*", "ENOMEM", true, false},
    {"map", "map", "ENOMEM", false, false},
    {"open", "open", "EMFILE", false, false},
    {"descriptors", "open", "EMFILE", true, false},
    {"write", "write", "EIO", false, true},
    {"space", "write", "ENOSPC", true, true},
    {"read", "read", "EIO", false, true},
    {"sync", "sync", "EIO", false, true},
    {"truncate", "truncate", "ENOSPC", false, true},
    {"allocate", "allocate", "ENOSPC", false, true},
    {"unlink", "unlink", "EACCES", false, true},
    {"rename", "rename", "EIO", false, true},
};
enum {
    NWAYS = sizeof ways / sizeof ways[0],
    NSOURCES = sizeof sources / sizeof *sources
};

const char *hints;
int variant;
bool any_fault;

static int way, row, who;
static const struct source *source;
static const struct step *step;
static long nth;
static const char *met; /* what failed here */
static bool whole;
static uint32_t dice;
static long cases, verdicts[VERDICTS];
static char place[512]; /* the case, in words */

/* ---- what is wrong ---- */

static const char *const words[VERDICTS] = {"lost", "lied", "wrong", "leaked"};

void complain(enum verdict v, const char *format, ...)
{
    va_list args;
    char text[600];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (verdicts[v]++ < 40)
        fprintf(stderr, "# %s, %s on process %d: %s\n", place, words[v], check.rank,
                text);
}

/* Where it hangs, or dies; who looks for all that do goes on behind it. */
static void end_here(const char *how)
{
    char text[600];
    int n = snprintf(text, sizeof text, "# %s: %s, after %ld cases\n", place, how, cases);
    if (write(STDERR_FILENO, text, (size_t)n) < 0 || whole) _exit(98);
}

static void too_long(int number)
{
    (void)number;
    end_here("no end");
}

static void killed(int number)
{
    end_here("died");
    signal(number, SIG_DFL);
    raise(number);
}

/* MPI has ended the program. */
static void ended(void)
{
    if (place[0] != '\0') end_here("died");
}

static void watch_time(void)
{
    const char *scale = getenv("NCMPI_TEST_TIME_SCALE");
    int factor = scale == NULL ? 1 : atoi(scale);
    signal(SIGALRM, too_long);
    signal(SIGSEGV, killed);
    signal(SIGBUS, killed);
    signal(SIGABRT, killed);
    alarm((unsigned)(factor > 0 ? 10 * factor : 10));
}

static int most_of(int value)
{
    int most;
    MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* ---- leaks ---- */

/* How many of this process's entries of a directory lead to the case's files. */
static int links_to_files(const char *directory)
{
    int n = 0;
    char link[512], path[4096];
    DIR *d = opendir(directory);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        snprintf(link, sizeof link, "%s/%.255s", directory, e->d_name);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length < 0) continue;
        path[length] = '\0';
        n += strstr(path, check_path("")) != NULL;
    }
    if (d != NULL) closedir(d);
    return n;
}

/* Of the library and of the system, what this process has. */
static struct held {
    MPI_Offset bytes;
    int descriptors, mappings;
} before;

static struct held held_now(void)
{
    struct held h = {.descriptors = links_to_files("/proc/self/fd"),
                     .mappings = links_to_files("/proc/self/map_files")};
    CHECK_NC(NC_NOERR, ncmpi_inq_malloc_size(&h.bytes));
    return h;
}

/* Did a call fail that leaves this process with what it cannot free? A window is that of
 * its node alone. */
static bool may_be_left(void)
{
    const char *asked = strstr(ways[way].hints, "nc_node_procs=");
    int node = asked == NULL ? check.nprocs : atoi(strchr(asked, '=') + 1);
    int mine = check.rank / node;
    bool lost = fault_mpi_lost(), window = fault_mpi_lost_window(), here = false;
    for (int k = 0; k * node < check.nprocs; k++)
        if (most_of(lost && (!window || mine == k))) here = here || mine == k;
    return here;
}

/* Everything is closed: what is there still that was not before? */
static void count_leaks(void)
{
    char text[256];
    fault_mpi_end_all();
    int lost = may_be_left(), left = fault_mpi_left(text, sizeof text);
    if (left > lost) complain(LEAKED, "%s (%s)", text, met);
    fault_mpi_sweep_all();
    struct held now = held_now();
    if (now.bytes != before.bytes)
        complain(LEAKED, "%lld bytes (%s)", (long long)(now.bytes - before.bytes), met);
    if (now.descriptors != before.descriptors)
        complain(LEAKED, "%d descriptors (%s)", now.descriptors - before.descriptors,
                 met);
    if (now.mappings != before.mappings)
        complain(LEAKED, "%d mappings (%s)", now.mappings - before.mappings, met);
}

/* ---- a case ---- */

static void arm(void)
{
    char plan[5000];
    if (check.rank != who) return;
    snprintf(plan, sizeof plan, "%s:%ld%s:%s:%s%s", source->op, nth,
             source->later ? "+" : "", source->what, source->files ? check_path("") : "",
             "*");
    if (source->op == NULL)
        shortage_arm(nth);
    else
        CHECK(fault_arm(plan));
}

/* Was it met? */
static bool disarm(void)
{
    if (check.rank != who) return false;
    bool failed = source->op == NULL ? shortage_disarm() : fault_disarm() > 0;
    met = source->op == NULL ? "memory" : fault_met();
    return failed;
}

static void judge(int rc)
{
    int worst = most_of(rc != NC_NOERR), best = most_of(rc == NC_NOERR);
    if (rc != NC_NOERR && !any_fault)
        complain(WRONG, "%s without a fault", ncmpi_strerror(rc));
    if (strncmp(ncmpi_strerrno(rc), "Unknown", 7) == 0) complain(WRONG, "code %d", rc);
    if (step->agreed && worst && best)
        complain(WRONG, "%s (%s), others were told otherwise", ncmpi_strerror(rc), met);
}

/* Was the fault met? */
static bool one_case(void)
{
    snprintf(place, sizeof place, "%d.%ld: %s, %s, %s %d, process %d, call %ld", row, nth,
             ways[way].name, source->name, step->name, variant, who, nth);
    watch_time();
    any_fault = false;
    met = "";
    hints = ways[way].hints;
    before = held_now();
    step->before();
    arm();
    int rc = step->call();
    any_fault = most_of(disarm()) > 0;
    bool was_met = any_fault;
    judge(rc);
    step->after(rc);
    count_leaks();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) (void)remove(check_path("a.nc"));
    if (check.rank == 0) (void)remove(check_path("a.nc.redef")); /* as the words say */
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    cases++;
    return was_met;
}

/* Some number below the limit, the same in each run and on all processes. */
static long chance(uint32_t limit)
{
    dice = dice * UINT32_C(1664525) + UINT32_C(1013904223);
    return (dice >> 16) % limit;
}

/* A step with one call after the other failing; of a part, some. */
static void one_row(long first)
{
    nth = first;
    if (!whole) nth += chance(3);
    for (; nth < 400 && one_case(); nth++)
        if (!whole) nth += chance(6);
}

/* ---- all of them ---- */

/* Is it this one's turn? One of so many is, if only a part is tried. ROMIO's collective
 * read leaves the others waiting when one process cannot read. */
static bool has_its_turn(void)
{
    enum { PART = 150 };
    bool waits = ways[way].views && check.nprocs > 1 && strcmp(source->name, "read") == 0;
    if (waits) return false;
    return whole || chance(PART) == 0;
}

static void print_table(void)
{
    long all[VERDICTS + 1];
    MPI_Reduce(verdicts, all, VERDICTS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        printf("# table: %s, %d processes: %ld cases, %ld lost, %ld lied, %ld wrong, "
               "%ld leaked\n",
               ways[way].name, check.nprocs, cases, all[LOST], all[LIED], all[WRONG],
               all[LEAKED]);
    for (int v = 0; v < VERDICTS; v++)
        CHECK_EQ(0, verdicts[v]);
}

static void go_this_way(int the_way)
{
    const char *all = getenv("NCMPI_FAULTS"), *from = getenv("NCMPI_FAULTS_FROM");
    int first_row = from != NULL ? atoi(from) : 0;
    long first = from != NULL ? atol(strchr(from, '.') + 1) : 1;
    whole = all != NULL && strcmp(all, "all") == 0;
    way = the_way;
    dice = (uint32_t)(100 * check.nprocs + way);
    row = 0;
    cases = 0;
    memset(verdicts, 0, sizeof verdicts);
    for (step = steps; step->name != NULL; step++)
        for (variant = 0; variant < step->variants; variant++)
            for (source = sources; source < sources + NSOURCES; source++)
                for (who = 0; who < check.nprocs; who++, row++)
                    if (row >= first_row && has_its_turn())
                        one_row(row == first_row ? first : 1);
    place[0] = '\0';
    print_table();
}

static void by_choice(void)
{
    go_this_way(0);
}

static void direct(void)
{
    go_this_way(1);
}

static void node(void)
{
    go_this_way(2);
}

static void nodes_of_one(void)
{
    go_this_way(3);
}

static void nodes_of_two(void)
{
    go_this_way(4);
}

static void nodes_of_three(void)
{
    go_this_way(5);
}

static void view(void)
{
    go_this_way(6);
}

static void collective_only(void)
{
    go_this_way(7);
}

static void log_(void)
{
    go_this_way(8);
}

static void log_drained_at_once(void)
{
    go_this_way(9);
}

static void log_of_posts(void)
{
    go_this_way(10);
}

static void log_of_a_node(void)
{
    go_this_way(11);
}

static const struct check_test tests[] = {
    {"each fault: auto", by_choice, 0},
    {"each fault: direct", direct, 0},
    {"each fault: node", node, 0},
    {"each fault: nodes of one", nodes_of_one, 0},
    {"each fault: nodes of two", nodes_of_two, 0},
    {"each fault: nodes of three", nodes_of_three, 0},
    {"each fault: view", view, 0},
    {"each fault: collective only", collective_only, 0},
    {"each fault: log", log_, 0},
    {"each fault: log, drained at once", log_drained_at_once, 0},
    {"each fault: log of posts", log_of_posts, 0},
    {"each fault: log of a node", log_of_a_node, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    (void)atexit(ended);
    return check_main(argc, argv, tests, "1 3");
}
