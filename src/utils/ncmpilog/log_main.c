/* ncmpilog lists, verifies, prints and replays the logs of the burst buffer.
 *
 * To list, verify or print them, each process handles a contiguous part of the sorted
 * logs, and process 0 prints the texts in order. Replay is collective (log_replay.c). */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base_mem.h"
#include "log.h"
#include "util_message.h"
#include "util_options.h"

static const struct util_option options[] = {
    {'d', "dataset", "FILE", "replay to FILE instead of the dataset named in the logs"},
    {'f', "force", NULL,
     "replay to FILE even if it is not the dataset named in the logs"},
    {'k', "keep-going", NULL, "replay as much as possible if part of the logs is lost"},
    {'r', "remove", NULL, "remove the logs after replaying them"},
    {'q', "quiet", NULL, "show neither progress nor what was replayed"},
    {'j', "json", NULL, "list, verify, print: write JSON"},
    {0, NULL, NULL, NULL},
};

static const struct util_tool tool = {
    .name = LOG_TOOL,
    .synopsis = "list|verify|print|replay [OPTION...] LOG.meta|DIRECTORY...",
    .about =
        "Lists the logs of the burst buffer, verifies them, prints their entries, or\n"
        "replays them to their datasets. Run it with any number of processes.",
    .options = options,
    .examples = "  ncmpilog list logs\n"
                "  ncmpilog verify logs && mpiexec -n 4 ncmpilog replay -r logs\n",
};

static int parse(int argc, char **argv, struct log_options *o)
{
    int letter;
    const char *argument;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) != UTIL_END) {
        if (letter == UTIL_ANSWERED) return 0;
        if (letter == UTIL_WRONG) return 2;
        if (letter == 'd') o->dataset = argument;
        if (letter == 'f') o->force = true;
        if (letter == 'k') o->keep_going = true;
        if (letter == 'r') o->remove = true;
        if (letter == 'q') o->quiet = true;
        if (letter == 'j') o->json = true;
    }
    return -1;
}

/* Writes text to standard output. Returns 0, or 2 after printing an error. */
static int print(const char *text, size_t length)
{
    errno = 0;
    if (fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0) return 0;
    util_message(LOG_TOOL, NULL, -1, "standard output: %s", strerror(errno));
    return 2;
}

/* Prints the texts from all processes on process 0, in rank order. */
static int print_all(const char *text, size_t length, int rank, int nprocs)
{
    int mine = (int)length, *lengths = NULL, *places = NULL;
    char *all = NULL;
    if (rank == 0) {
        lengths = base_calloc((size_t)nprocs, sizeof *lengths);
        places = base_calloc((size_t)nprocs, sizeof *places);
    }
    MPI_Gather(&mine, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    size_t total = 0;
    for (int i = 0; rank == 0 && lengths != NULL && places != NULL && i < nprocs; i++) {
        places[i] = (int)total;
        total += (size_t)lengths[i];
    }
    if (rank == 0) all = base_malloc(total);
    MPI_Gatherv(text, mine, MPI_CHAR, all, lengths, places, MPI_CHAR, 0, MPI_COMM_WORLD);
    int status = all == NULL ? 0 : print(all, total);
    base_free(all);
    base_free(lengths);
    base_free(places);
    return status;
}

/* Starts this process's part of the JSON array. The first process opens the array, and
 * the last one closes it; `before` is set if an object precedes this part. */
static void start_json(struct util_json *j, struct util_out *out, int rank, bool before)
{
    util_json_start(j, out);
    if (rank == 0) {
        util_json_open(j, NULL, '[');
        return;
    }
    j->depth = 1;
    j->comma = before;
}

/* Handles this process's part of the logs and prints the result. The parts are
 * contiguous, so that the text is in order. */
static int for_each(const struct log_list *list,
                    int (*each)(const char *, const struct log_out *), bool missing,
                    bool json)
{
    static struct util_out out;
    struct util_json j;
    struct log_out to = {&out, json ? &j : NULL};
    int rank, nprocs, status = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    util_out_init_memory(&out);
    int from = (int)((int64_t)list->n * rank / nprocs);
    int end = (int)((int64_t)list->n * (rank + 1) / nprocs);
    if (json) start_json(&j, &out, rank, from > 0);
    for (int i = from; i < end; i++)
        status |= each(list->paths[i], &to);
    if (missing && rank == nprocs - 1) status |= log_missing(list, &to);
    if (json && rank == nprocs - 1) util_json_close(&j, ']');
    if (util_out_flush(&out) != 0) {
        util_message(LOG_TOOL, NULL, -1, "%s", strerror(out.error));
        status = 2;
    }
    int printed = print_all(out.text, out.length, rank, nprocs);
    base_free(out.text);
    return printed != 0 ? printed : status;
}

static int run(const char *command, const struct log_list *list,
               const struct log_options *o)
{
    if (strcmp(command, "list") == 0) return for_each(list, log_show, false, o->json);
    if (strcmp(command, "verify") == 0) return for_each(list, log_verify, true, o->json);
    if (strcmp(command, "print") == 0) return for_each(list, log_print, false, o->json);
    int lost = o->keep_going ? for_each(list, log_verify, true, o->json) : 0;
    int status = log_replay(list, o);
    return status != 0 ? status : lost;
}

static bool is_command(const char *word)
{
    static const char *const commands[] = {"list", "verify", "print", "replay"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i]) == 0) return true;
    return false;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

int main(int argc, char **argv)
{
    struct log_options o = {0};
    struct log_list list;
    int status, rank, any;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    util_mute(rank != 0);
    status = parse(argc, argv, &o);
    int first = status < 0 ? util_first_operand() : argc;
    if (status < 0 && (argc - first < 2 || !is_command(argv[first]))) {
        if (rank == 0) util_usage(&tool);
        status = 2;
    }
    if (status < 0) {
        status = 0;
        int found = log_find_all(argv + first + 1, argc - first - 1, &list, &status);
        if (found > 0 || (found == 0 && o.json))
            status = worse(status, run(argv[first], &list, &o));
        else if (found == 0 && status == 0 && !o.quiet)
            util_message(LOG_TOOL, argv[first + 1], -1, "no logs");
        log_free(&list);
    }
    MPI_Allreduce(&status, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any;
}
