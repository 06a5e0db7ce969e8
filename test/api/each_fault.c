/* Makes calls fail on one process: the library's allocations, MPI calls, and system
 * calls. Each step in a dataset's life is run with its first call failing, then with its
 * second, and so on until none is left. This is repeated for every path that data can
 * take to the file.
 *
 * In each case, all processes must return. A process that reports success must have
 * produced the requested result, older data must be intact, the next call must work, and
 * nothing may leak.
 *
 * By default only a selection of the cases is run, the same one every time.
 * NCMPI_FAULTS=all runs all cases (see each_fault.sh), NCMPI_FAULTS=N runs N times as
 * many as by default, and NCMPI_FAULTS_STEP=STEP runs only the cases of one step. */
#include "each_fault.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
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
    {"blobs", "nc_blob=enable;nc_num_subfiles=2", false},
    {"blobs of each", "nc_blob=enable;nc_num_subfiles=64", false},
    {"log on blobs", "nc_blob=enable;nc_num_subfiles=2;nc_burst_buf=enable", false},
    {"frames", "nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd", false},
    {"quantized", "nc_quantize=bitround:9", false},
    {"quantized log", "nc_quantize=bitround:9;nc_burst_buf=enable", false},
    {"quantized frames",
     "nc_quantize=bitround:9;nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd", false},
};

/* A kind of fault: which calls fail, and with what error. If `files` is set, only calls
 * on the dataset's files fail. */
static const struct source {
    const char *name, *op, *what;
    bool later; /* whether all calls after the first failure also fail */
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
    {"device", "write", "part", true, true},
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
static const char *met; /* name of the call that failed in this process */

/* ---- leak detection ---- */

/* Returns how many entries in a /proc directory are links to the current case's files. */
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

/* The memory allocated by the library, and this process's open files and mappings. */
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

/* Returns whether the MPI call that failed leaves behind an object that this process
 * cannot free. For a window, this is true only of processes on the same node. */
static bool may_be_left(void)
{
    const char *asked = strstr(ways[way].hints, "nc_node_procs=");
    int node = asked == NULL ? check.nprocs : atoi(strchr(asked, '=') + 1);
    int mine = check.rank / node;
    bool lost = fault_mpi_lost(), window = fault_mpi_lost_window(), here = false;
    for (int k = 0; k * node < check.nprocs; k++)
        if (cases_most(lost && (!window || mine == k))) here = here || mine == k;
    return here;
}

/* Reports resources that are still in use after everything has been closed. */
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

/* ---- a single case ---- */

/* Returns how the selected calls fail. A failing device may stop in the middle of a
 * write, at any byte. During a close it stops only at page boundaries: when logs are
 * drained to subfiles, the close may write header pages, and no later call could repair a
 * partly written page. See doc/reliability.md. */
static const char *what_fails(void)
{
    bool last =
        strncmp(step->name, "close", 5) == 0 && strcmp(source->name, "device") == 0;
    return last ? "pages" : source->what;
}

static void arm(void)
{
    char plan[5000];
    if (check.rank != who) return;
    snprintf(plan, sizeof plan, "%s:%ld%s:%s:%s%s", source->op, nth,
             source->later ? "+" : "", what_fails(), source->files ? check_path("") : "",
             "*");
    if (source->op == NULL)
        shortage_arm(nth);
    else
        CHECK(fault_arm(plan));
}

/* Disarms the fault and returns whether it occurred. */
static bool disarm(void)
{
    if (check.rank != who) return false;
    bool failed = source->op == NULL ? shortage_disarm() : fault_disarm() > 0;
    met = source->op == NULL ? "memory" : fault_met();
    return failed;
}

static void judge(int rc)
{
    int worst = cases_most(rc != NC_NOERR), best = cases_most(rc == NC_NOERR);
    if (rc != NC_NOERR && !any_fault)
        complain(WRONG, "%s without a fault", ncmpi_strerror(rc));
    if (strncmp(ncmpi_strerrno(rc), "Unknown", 7) == 0) complain(WRONG, "code %d", rc);
    if (step->agreed && worst && best)
        complain(WRONG, "%s (%s), others were told otherwise", ncmpi_strerror(rc), met);
}

/* Runs one case and returns whether the fault occurred. */
static bool one_case(void)
{
    cases_begin("%d.%ld: %s, %s, %s %d, process %d, call %ld", row, nth, ways[way].name,
                source->name, step->name, variant, who, nth);
    any_fault = false;
    met = "";
    hints = ways[way].hints;
    before = held_now();
    step->before();
    arm();
    int rc = step->call();
    any_fault = cases_most(disarm()) > 0;
    bool was_met = any_fault;
    judge(rc);
    step->after(rc);
    count_leaks();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) remove_files();
    cases_end();
    return was_met;
}

/* Runs a step repeatedly, with a later call failing in each run. Skips some calls at
 * random unless all cases were requested. */
static void one_row(long first)
{
    nth = first;
    if (!cases.whole) nth += cases_chance(3);
    for (; nth < 400 && one_case(); nth++)
        if (!cases.whole) nth += cases_chance(6);
}

/* ---- all cases ---- */

/* Returns whether to test this step with this kind of fault. Unless all cases were
 * requested, tests only one combination in PART. Skips reads through file views, because
 * ROMIO leaves the other processes waiting if one process cannot read. */
static bool has_its_turn(void)
{
    enum { PART = 150 };
    const char *only = getenv("NCMPI_FAULTS_STEP");
    bool waits = ways[way].views && check.nprocs > 1 && strcmp(source->name, "read") == 0;
    if (waits || (only != NULL && strcmp(step->name, only) != 0)) return false;
    return cases_turn(PART);
}

static void try_all_steps(int the_way)
{
    const char *from = getenv("NCMPI_FAULTS_FROM");
    int first_row = from != NULL ? atoi(from) : 0;
    long first = from != NULL ? atol(strchr(from, '.') + 1) : 1;
    way = the_way;
    row = 0;
    cases_start("NCMPI_FAULTS", (uint32_t)(100 * check.nprocs + way));
    for (step = steps; step->name != NULL; step++)
        for (variant = 0; variant < step->variants; variant++)
            for (source = sources; source < sources + NSOURCES; source++)
                for (who = 0; who < check.nprocs; who++, row++)
                    if (row >= first_row && has_its_turn())
                        one_row(row == first_row ? first : 1);
    cases_table(ways[way].name);
}

static void by_choice(void)
{
    try_all_steps(0);
}

static void direct(void)
{
    try_all_steps(1);
}

static void node(void)
{
    try_all_steps(2);
}

static void nodes_of_one(void)
{
    try_all_steps(3);
}

static void nodes_of_two(void)
{
    try_all_steps(4);
}

static void nodes_of_three(void)
{
    try_all_steps(5);
}

static void view(void)
{
    try_all_steps(6);
}

static void collective_only(void)
{
    try_all_steps(7);
}

static void log_(void)
{
    try_all_steps(8);
}

static void log_drained_at_once(void)
{
    try_all_steps(9);
}

static void log_of_posts(void)
{
    try_all_steps(10);
}

static void log_of_a_node(void)
{
    try_all_steps(11);
}

static void blobs(void)
{
    try_all_steps(12);
}

static void blobs_of_each(void)
{
    try_all_steps(13);
}

static void log_on_blobs(void)
{
    try_all_steps(14);
}

static void frames(void)
{
    try_all_steps(15);
}

static void quantized(void)
{
    try_all_steps(16);
}

static void quantized_log(void)
{
    try_all_steps(17);
}

static void quantized_frames(void)
{
    try_all_steps(18);
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
    {"each fault: blobs", blobs, 0},
    {"each fault: blobs of each", blobs_of_each, 0},
    {"each fault: log on blobs", log_on_blobs, 0},
    {"each fault: frames", frames, 0},
    {"each fault: quantized", quantized, 0},
    {"each fault: quantized log", quantized_log, 0},
    {"each fault: quantized frames", quantized_frames, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
