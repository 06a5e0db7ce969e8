/* ncmpijoin: makes one file of a dataset whose values are in subfiles, in parallel. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
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
    {COMPACT, "compact", NULL, "write subfiles anew, without what was put again"},
    {'v', "verbose", NULL, "say what was done"},
    {0},
};

static const struct util_tool tool = {
    .name = JOIN_TOOL,
    .synopsis = "[-f] [-c] [-r] [-v] NAME OUT | --compact [-v] NAME",
    .about = "Makes one ordinary netCDF file of a dataset whose values are in subfiles\n"
             "(NAME, NAME.0000, NAME.0001 ...), or makes its subfiles shorter.",
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
        util_message(JOIN_TOOL, NULL, -1,
                     o->compact ? "--compact takes one dataset, and -v alone"
                                : "which dataset, to which file?");
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

/* What the first process found is so for all. */
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

/* The first process looks at the dataset before the others do, who meet the same. */
static int open_dataset_all(struct join *j, bool *opened)
{
    int status = 0;
    *opened = false;
    if (j->rank == 0) status = util_classic_open(&j->in, JOIN_TOOL, j->options.from);
    *opened = j->rank == 0 && status == 0;
    if (*opened && util_blob_count(&j->in) == 0) {
        util_message(JOIN_TOOL, j->options.from, -1,
                     "an ordinary file: there is nothing to join");
        status = -1;
    }
    if (first_says_all(status) != 0) return -1;
    if (j->rank > 0) {
        status = util_classic_open(&j->in, JOIN_TOOL, j->options.from);
        *opened = status == 0;
    }
    return join_agree_all(status);
}

static int reserve_all(struct join *j)
{
    int64_t whole = cdf_file_size(&j->in.header);
    j->size = j->in.size > whole ? j->in.size : whole;
    j->bytes = base_malloc(JOIN_PIECE);
    j->others = base_malloc(JOIN_PIECE);
    bool lacks = j->bytes == NULL || j->others == NULL;
    if (lacks) util_message(JOIN_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
    return join_agree_all(lacks);
}

static void report_sum(void *to, const char *path, const char *reason)
{
    (void)to;
    util_message(JOIN_TOOL, path, -1, "%s", reason);
}

/* Each process compares a share of the blobs with their checksums. */
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
    snprintf(words, sizeof words, "%lld checksums hold; %lld blobs have none",
             (long long)all[0], (long long)all[1]);
    say(j, j->options.from,
        base_can_sum() ? words : "checksums were not compared: built without them");
    return join_agree_all(status);
}

static int create_all(struct join *j)
{
    int status = first_says_all(j->rank == 0 ? join_create(j) : 0);
    MPI_Bcast(j->temporary, sizeof j->temporary, MPI_CHAR, 0, MPI_COMM_WORLD);
    return status;
}

static int open_out_all(struct join *j)
{
    j->out = open(j->temporary, O_RDWR | O_CLOEXEC);
    if (j->out < 0) util_message(JOIN_TOOL, j->temporary, -1, "%s", strerror(errno));
    return join_agree_all(j->out < 0);
}

static int close_out_all(struct join *j, int status)
{
    if (j->out >= 0 && close(j->out) != 0 && status == 0) {
        util_message(JOIN_TOOL, j->temporary, -1, "%s", strerror(errno));
        status = -1;
    }
    j->out = -1;
    return join_agree_all(status);
}

static int fill_out_all(struct join *j)
{
    int status = open_out_all(j);
    if (status == 0) status = join_agree_all(join_write(j));
    if (status == 0 && j->options.check) status = join_compare(j);
    util_progress_end(&j->progress);
    return close_out_all(j, status);
}

static int join_all(struct join *j)
{
    const struct join_options *o = &j->options;
    int status = reserve_all(j);
    if (status == 0) status = first_says_all(j->rank == 0 ? join_hold(j) : 0);
    if (status == 0 && o->check) status = check_sums_all(j);
    if (status == 0) status = create_all(j);
    if (status == 0) status = fill_out_all(j);
    if (status == 0) status = first_says_all(j->rank == 0 ? join_is_held(j) : 0);
    if (status == 0) status = first_says_all(j->rank == 0 ? join_rename(j) : 0);
    if (status == 0) say(j, o->to, o->check ? "written and checked" : "written");
    if (status == 0 && o->remove) {
        status = first_says_all(j->rank == 0 ? join_remove(j) : 0);
        if (status == 0) say(j, o->from, "removed, and its subfiles");
    }
    if (j->rank == 0) join_give_up(j);
    base_free(j->bytes);
    base_free(j->others);
    return status;
}

static int compact_all(struct join *j)
{
    int64_t own = 0, all = 0;
    char words[64];
    int status = first_says_all(j->rank == 0 ? join_can_compact(j) : 0);
    if (status == 0) status = first_says_all(j->rank == 0 ? join_hold(j) : 0);
    if (status == 0) status = join_agree_all(join_compact(j, &own));
    MPI_Reduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    snprintf(words, sizeof words, "%lld bytes taken back", (long long)all);
    if (status == 0) say(j, j->options.from, words);
    return status;
}

static int run_all(struct join *j)
{
    bool opened;
    util_mute(false);
    int status = open_dataset_all(j, &opened);
    if (status == 0) status = j->options.compact ? compact_all(j) : join_all(j);
    if (opened) util_classic_close(&j->in);
    return status;
}

int main(int argc, char **argv)
{
    static struct join j = {.out = -1, .made = -1, .lock = -1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.nprocs);
    util_mute(j.rank != 0);
    int status = parse(&j.options, argc, argv);
    if (status == 0) status = run_all(&j);
    MPI_Finalize();
    return status == 0 || status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
}
