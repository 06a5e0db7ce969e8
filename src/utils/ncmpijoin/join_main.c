/* ncmpijoin: joins a dataset whose values are in subfiles into a single file, in
 * parallel, or compacts its subfiles.
 *
 * Steps of a join: acquire the lease, open the dataset, verify checksums (--check), join
 * it and compare the result (--check), remove the dataset (--remove). After each step all
 * processes agree on the result. */
#include <stdio.h>
#include <stdlib.h>

#include "base_sum.h"
#include "join.h"
#include "util_blob.h"
#include "util_message.h"
#include "util_options.h"

enum { COMPACT = 256 };

static const struct util_option options[] = {
    {'f', "force", NULL, "overwrite OUT if it exists"},
    {'c', "check", NULL, "read OUT again and compare it with the dataset"},
    {'r', "remove", NULL, "check, and then remove NAME and its subfiles"},
    {COMPACT, "compact", NULL, "rewrite subfiles without overwritten values"},
    {'v', "verbose", NULL, "report what was done"},
    {0},
};

static const struct util_tool tool = {
    .name = JOIN_TOOL,
    .synopsis = "[-f] [-c] [-r] [-v] NAME OUT | --compact [-v] NAME",
    .about =
        "Joins a dataset whose values are in subfiles (NAME, NAME.0000 ...) into one\n"
        "ordinary netCDF file, or compacts its subfiles.",
    .options = options,
    .examples = "  ncmpijoin run.nc whole.nc\n"
                "  mpiexec -n 4 ncmpijoin --remove run.nc whole.nc\n"
                "  ncmpijoin --compact run.nc\n",
};

static void apply(struct join_options *o, int letter)
{
    switch (letter) {
    case 'f':
        o->force = true;
        return;
    case 'c':
        o->check = true;
        return;
    case 'r':
        o->check = o->remove = true;
        return;
    case COMPACT:
        o->compact = true;
        return;
    default:
        o->verbose = true;
        return;
    }
}

static int parse(struct join_options *o, int argc, char **argv)
{
    const char *argument;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0)
        apply(o, letter);
    if (letter != UTIL_END) return letter;
    int first = util_first_operand();
    if (first != argc - (o->compact ? 1 : 2) || (o->compact && (o->force || o->check))) {
        util_message(
            JOIN_TOOL, NULL, -1,
            o->compact ? "--compact takes one dataset and allows no other option than -v"
                       : "a dataset and an output file are required");
        util_usage(&tool);
        return UTIL_WRONG;
    }
    o->from = argv[first];
    o->to = o->compact ? NULL : argv[first + 1];
    return 0;
}

/* ---- agreement ---- */

int join_agree_all(int status)
{
    int bad = status != 0;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return bad ? -1 : 0;
}

/* Returns the first process's status on all processes. */
static int first_says_all(int status)
{
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

static void say(const struct join *j, const char *path, const char *what)
{
    if (j->options.verbose && j->rank == 0) printf("%s: %s\n", path, what);
}

/* ---- steps ---- */

/* Acquires the lease and opens the dataset. Process 0 goes first: if it fails, the other
 * processes do not try, because they would only print the same errors. */
static int open_dataset_all(struct join *j, bool *opened)
{
    int status = 0;
    *opened = false;
    if (j->rank == 0) status = join_hold(j);
    if (j->rank == 0 && status == 0)
        status = util_classic_open(&j->in, JOIN_TOOL, j->options.from);
    *opened = j->rank == 0 && status == 0;
    if (*opened && util_blob_count(&j->in) == 0) {
        util_message(JOIN_TOOL, j->options.from, -1,
                     "it is an ordinary file: there is nothing to join");
        status = -1;
    }
    if (first_says_all(status) != 0) return -1;
    if (j->rank > 0) {
        status = util_classic_open(&j->in, JOIN_TOOL, j->options.from);
        *opened = status == 0;
    }
    return join_agree_all(status);
}

static void report_sum(void *to, const char *path, const char *reason)
{
    (void)to;
    util_message(JOIN_TOOL, path, -1, "%s", reason);
}

/* Verifies the checksums of blobs. Each process verifies a share. */
static int check_sums_all(struct join *j)
{
    struct util_blob_sums sums;
    util_progress_start(&j->progress, JOIN_TOOL,
                        j->rank == 0 ? util_blob_sum_turns(&j->in, 0, j->nprocs) : 0);
    int status = util_blob_check_sums(&j->in, j->rank, j->nprocs, report_sum, NULL,
                                      &j->progress, &sums);
    util_progress_end(&j->progress);
    int64_t own[2] = {sums.right, sums.none}, all[2] = {0, 0};
    MPI_Reduce(own, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    char words[128];
    snprintf(words, sizeof words, "%lld checksums are correct; %lld blobs have none",
             (long long)all[0], (long long)all[1]);
    say(j, j->options.from,
        base_can_sum() ? words
                       : "checksums were not verified: this program was built without "
                         "checksum support");
    return join_agree_all(status);
}

static int join_all(struct join *j)
{
    const struct join_options *o = &j->options;
    int status = first_says_all(j->rank == 0 ? join_begin(j) : 0);
    if (status == 0 && o->check) status = check_sums_all(j);
    if (status == 0) status = join_file_all(j);
    if (status == 0) say(j, o->to, o->check ? "written and checked" : "written");
    if (status == 0 && o->remove) {
        status = first_says_all(j->rank == 0 ? join_remove(j) : 0);
        if (status == 0) say(j, o->from, "removed, with its subfiles");
    }
    return status;
}

static int compact_all(struct join *j)
{
    int64_t own = 0, all = 0;
    char words[64];
    int status = first_says_all(j->rank == 0 ? join_can_compact(j) : 0);
    if (status == 0) status = first_says_all(j->rank == 0 ? join_begin(j) : 0);
    if (status == 0) status = join_agree_all(join_compact(j, &own));
    MPI_Reduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    snprintf(words, sizeof words, "%lld bytes reclaimed", (long long)all);
    if (status == 0) say(j, j->options.from, words);
    return status;
}

static int run_all(struct join *j)
{
    bool opened;
    util_mute(false);
    int status = open_dataset_all(j, &opened);
    if (status == 0) status = j->options.compact ? compact_all(j) : join_all(j);
    if (j->rank == 0) join_release(j);
    if (opened) util_classic_close(&j->in);
    return status;
}

int main(int argc, char **argv)
{
    static struct join j;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.nprocs);
    util_mute(j.rank != 0);
    int status = parse(&j.options, argc, argv);
    if (status == 0) status = run_all(&j);
    MPI_Finalize();
    return status == 0 || status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
}
